//! Bases of a residue number system (RNS).

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use num_bigint::BigUint;
use num_traits::ToPrimitive;
use sunzi_kernels::{Isa, Modulus, active_isa};
use sunzi_math::Crt;

use crate::RingError;
use crate::error::entry;

/// An ordered list of pairwise coprime moduli q_1, …, q_k below 2^62 and the constants of their product q.
#[derive(Clone, Debug)]
pub struct Basis {
    moduli: Vec<Modulus>,
    isa: Isa,
    crt: Arc<Crt>,
    /// Tags of the bases of all levels, the lowest level first.
    tags: Arc<[u64]>,
}

impl Basis {
    /// The basis of the given moduli on the active instruction set.
    ///
    /// # Errors
    /// [`RingError::LengthMismatch`] for an empty list; [`RingError::NotCoprime`];
    /// [`RingError::Kernel`] for a modulus below 2 or from 2^62.
    pub fn new(moduli: &[u64]) -> Result<Self, RingError> {
        Self::with_isa(moduli, active_isa()?)
    }

    /// The basis of the given moduli on a given instruction set, as in [`Modulus::with_isa`].
    ///
    /// # Errors
    /// Every error of [`new`](Self::new); [`RingError::Kernel`] for an instruction set this processor lacks.
    pub fn with_isa(moduli: &[u64], isa: Isa) -> Result<Self, RingError> {
        let moduli = moduli.iter().map(|&q| Modulus::with_isa(q, isa)).collect::<Result<_, _>>()?;
        Self::from_moduli(moduli, isa)
    }

    /// The basis of moduli that are bound to their kernels already.
    pub fn from_moduli(moduli: Vec<Modulus>, isa: Isa) -> Result<Self, RingError> {
        if moduli.is_empty() {
            return Err(RingError::LengthMismatch {
                what: "moduli of a basis (at least)",
                expected: 1,
                got: 0,
            });
        }
        let crt = Crt::new(&moduli.iter().map(Modulus::value).collect::<Vec<_>>())?;
        let tags =
            (1..=moduli.len()).map(|level| tag_of(crt.moduli().get(..level).unwrap_or_default())).collect();
        Ok(Self { moduli, isa, crt: Arc::new(crt), tags })
    }

    /// The instruction set of the basis; a modulus that it cannot take runs on the portable one.
    #[must_use]
    pub const fn isa(&self) -> Isa {
        self.isa
    }

    /// Binds another modulus to the instruction set of this basis.
    pub(crate) fn modulus(&self, value: u64) -> Result<Modulus, RingError> {
        Ok(Modulus::with_isa(value, self.isa)?)
    }

    /// A hash of the list of moduli, by which polynomials of equal shape are told apart.
    pub(crate) fn tag(&self) -> u64 {
        self.tags.last().copied().unwrap_or_default()
    }

    /// The tag of the basis of the first `level` moduli; `None` where there are fewer.
    pub fn tag_at(&self, level: usize) -> Option<u64> {
        self.tags.get(level.checked_sub(1)?).copied()
    }

    /// Modulus i of the basis, which must exist.
    ///
    /// # Errors
    /// [`RingError::MissingTable`] where the basis has no modulus i.
    pub fn own(&self, i: usize) -> Result<Modulus, RingError> {
        entry("modulus", &self.moduli, i).copied()
    }

    /// The moduli of the basis, in order.
    #[must_use]
    pub fn moduli(&self) -> &[Modulus] {
        &self.moduli
    }

    /// The values of the moduli of the basis, in order.
    #[must_use]
    pub fn values(&self) -> &[u64] {
        self.crt.moduli()
    }

    /// The number k of moduli of the basis.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a basis is never empty")]
    pub const fn len(&self) -> usize {
        self.moduli.len()
    }

    /// The product q of the moduli of the basis.
    #[must_use]
    pub fn product(&self) -> &BigUint {
        self.crt.product()
    }

    /// Conversion between residues modulo the basis and big integers.
    #[must_use]
    pub fn crt(&self) -> &Crt {
        &self.crt
    }

    /// The inverses |(q/q_i)^-1|_{q_i} of the basis, in order of the moduli.
    #[must_use]
    pub fn quotient_inverses(&self) -> &[u64] {
        self.crt.inverses()
    }

    /// The product q of the moduli of the basis, reduced modulo p.
    #[must_use]
    pub fn product_mod(&self, p: u64) -> u64 {
        reduce(self.product(), p)
    }

    /// The quotients q/q_i mod p of the basis, in order of the moduli.
    #[must_use]
    pub fn quotients_mod(&self, p: u64) -> Vec<u64> {
        self.crt.quotients().iter().map(|quotient| reduce(quotient, p)).collect()
    }
}

/// A 64-bit hash of a list of moduli, which prevents accidents and no attack.
#[must_use]
pub fn tag_of(values: &[u64]) -> u64 {
    let mut hasher = DefaultHasher::new();
    values.hash(&mut hasher);
    hasher.finish()
}

fn reduce(x: &BigUint, p: u64) -> u64 {
    (x % p.max(1)).to_u64().unwrap_or(0)
}
