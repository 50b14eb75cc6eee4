//! CKKS as a scheme of the RLWE layer.

use crate::Precision;

/// The scheme CKKS, as a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ckks;

impl sunzi_rlwe::Scheme for Ckks {
    type Metadata = Metadata;
    const NAME: &'static str = "CKKS";
}

/// A CKKS ciphertext: ct(s) = m + e (mod Q_l), where the values of m at the roots of unity are the slots times the scale.
pub type Ciphertext = sunzi_rlwe::Ciphertext<Ckks>;

/// Metadata of a CKKS ciphertext: all that it carries besides polynomials and noise.
#[derive(Clone, Debug, PartialEq)]
pub struct Metadata {
    /// Level l of the ciphertext: rescalings that it still allows.
    pub level: usize,
    /// Scale of the ciphertext, by which the slots are multiplied.
    pub scale: f64,
    /// Number of slots of the message: a power of two. With fewer than n/2 the vector repeats.
    pub slots: usize,
    /// Precision: a bound on the slots, and an estimate of their errors.
    pub precision: Precision,
}

impl Metadata {
    /// The number of slots of the result of two operands, and the precision of each operand there: errors outside the
    /// subring of a sparse message count once the other has more slots.
    pub(crate) fn joint_slots(&self, other: &Self) -> (usize, [Precision; 2]) {
        let slots = self.slots.max(other.slots);
        let spread = |of: &Self| {
            let factor = (slots as f64 / of.slots as f64).sqrt();
            of.precision.with_deviation(of.precision.deviation() * factor)
        };
        (slots, [spread(self), spread(other)])
    }
}
