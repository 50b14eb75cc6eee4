//! BGV as a scheme of the RLWE layer.

use crate::Usage;

/// The scheme BGV, as a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bgv;

impl sunzi_rlwe::Scheme for Bgv {
    type Metadata = Metadata;
    const NAME: &'static str = "BGV";
}

/// A BGV ciphertext: u(s) = (Q/t)·(f·m mod t) + v (mod Q) for a message m, noise v, the factor f of its level, and Q
/// the product of the moduli its parts have.
pub type Ciphertext = sunzi_rlwe::Ciphertext<Bgv>;

/// What a BGV ciphertext carries besides polynomials and noise.
#[derive(Clone, Debug, PartialEq)]
pub struct Metadata {
    /// The plaintext modulus t.
    pub(crate) plain_modulus: u64,
    /// Multiplications that the ciphertext still allows.
    pub(crate) level: usize,
    /// Index i of the modulus Q_i that the ciphertext has: i is its level or the next.
    pub(crate) place: usize,
    /// The correction factor f of the ciphertext's level.
    pub(crate) factor: u64,
    /// What the ciphertext used at its level.
    pub(crate) usage: Usage,
}

impl Metadata {
    /// The plaintext modulus t.
    #[must_use]
    pub fn plain_modulus(&self) -> u64 {
        self.plain_modulus
    }

    /// Multiplications the ciphertext still allows.
    #[must_use]
    pub fn level(&self) -> usize {
        self.level
    }

    /// The correction factor f modulo t: the parts, read as BFV, hold f·m.
    #[must_use]
    pub fn factor(&self) -> u64 {
        self.factor
    }

    /// What the ciphertext used at its level.
    #[must_use]
    pub fn usage(&self) -> &Usage {
        &self.usage
    }
}
