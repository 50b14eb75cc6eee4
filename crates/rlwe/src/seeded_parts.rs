//! Packed polynomials of keys, of which one half follows from a seed.

use std::borrow::Cow;

use sunzi_ring::PackedPoly;

use crate::RlweError;
use crate::uniform_half::UniformHalf;

/// Pairs (b_i, a_i) of packed polynomials of a key: the b_i are stored, and the a_i follow from a 32-byte seed.
#[derive(Clone)]
pub(crate) struct SeededParts {
    seed: [u8; 32],
    first: Vec<PackedPoly>,
    second: UniformHalf<Vec<PackedPoly>>,
}

/// First and uniform half of a key, packed for products with digits.
pub(crate) struct Halves<'a> {
    first: &'a [PackedPoly],
    second: Cow<'a, [PackedPoly]>,
}

impl Halves<'_> {
    pub(crate) fn both(&self) -> [&[PackedPoly]; 2] {
        [self.first, &self.second]
    }
}

impl SeededParts {
    pub(crate) fn new(seed: [u8; 32], first: Vec<PackedPoly>, second: UniformHalf<Vec<PackedPoly>>) -> Self {
        Self { seed, first, second }
    }

    pub(crate) fn seed(&self) -> &[u8; 32] {
        &self.seed
    }

    /// The stored half of the key.
    pub(crate) fn first(&self) -> &[PackedPoly] {
        &self.first
    }

    /// Drops the uniform half of the key: it is drawn anew for every use.
    pub(crate) fn forget_uniform(&mut self) {
        self.second.forget();
    }

    /// Returns both halves of the key, the uniform one drawn if needed.
    pub(crate) fn halves(
        &self,
        draw: impl FnOnce() -> Result<Vec<PackedPoly>, RlweError>,
    ) -> Result<Halves<'_>, RlweError> {
        let second = match self.second.get(draw)? {
            Cow::Borrowed(drawn) => Cow::Borrowed(drawn.as_slice()),
            Cow::Owned(drawn) => Cow::Owned(drawn),
        };
        Ok(Halves { first: &self.first, second })
    }

    /// Length of the halves in memory, in bytes: of the stored one alone while the other is not drawn.
    pub(crate) fn byte_len(&self) -> usize {
        let second = self.second.drawn().into_iter().flatten();
        self.first.iter().chain(second).map(PackedPoly::byte_len).sum()
    }
}
