//! Form of the values of a polynomial, recorded in the state of its residues.

use sunzi_ring::Residues;

/// Reduction that values still need to be those of a polynomial of degree below n; coefficients are always reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReducedForm {
    /// Form of the values of a polynomial of degree below n, which need no reduction.
    Reduced,
    /// Form of a sum of products of two polynomials of degree below n, which is still to be reduced.
    Product,
    /// Form of a sum of products that is still to be divided by M: products with keys, in
    /// [`Reduction::Mixed`](crate::Reduction::Mixed).
    KeyProduct,
}

impl ReducedForm {
    /// Returns the reduced form that is recorded in these residues.
    pub(crate) fn of(a: &Residues) -> Self {
        match a.state() {
            0 => Self::Reduced,
            1 => Self::Product,
            _ => Self::KeyProduct,
        }
    }

    /// Records this reduced form in residues.
    pub(crate) fn mark(self, a: &mut Residues) {
        a.set_state(match self {
            Self::Reduced => 0,
            Self::Product => 1,
            Self::KeyProduct => 2,
        });
    }
}
