//! Form of the values of a polynomial, recorded in the state of its residues.

use sunzi_ring::Residues;

/// Reduction that values still need to be those of a polynomial of degree below n; coefficients are always reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReducedForm {
    /// Values of a polynomial of degree below n.
    Reduced,
    /// A sum of products of two such polynomials, which is still to be reduced.
    Product,
    /// A sum of products that is still to be divided by M: products with keys, in [`Reduction::Mixed`](crate::Reduction::Mixed).
    KeyProduct,
}

impl ReducedForm {
    /// Returns the form of these residues.
    pub(crate) fn of(a: &Residues) -> Self {
        match a.state() {
            0 => Self::Reduced,
            1 => Self::Product,
            _ => Self::KeyProduct,
        }
    }

    /// Marks residues with this form.
    pub(crate) fn mark(self, a: &mut Residues) {
        a.set_state(match self {
            Self::Reduced => 0,
            Self::Product => 1,
            Self::KeyProduct => 2,
        });
    }
}
