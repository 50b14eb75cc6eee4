//! Sums of packed polynomials of keys: the terms stay packed, and are read once.

use super::KeyPoly;
use crate::{Backend, Domain, Evaluation, RingError, WordRing};

/// Number of residues that are added together: memory is read in longer runs than other loops need, since it is read once.
const BLOCK: usize = 4096;

impl KeyPoly {
    /// Returns the packed sum of polynomials of keys, which belong to the given ring; zero without any.
    pub(super) fn sum(parts: &[&Self], ring: &WordRing) -> Result<Self, RingError> {
        parts.iter().try_for_each(|part| ring.check_basis(part.shape(), part.tag()))?;
        let Some(first) = parts.first() else {
            return Self::new(&ring.zero(Evaluation::REPRESENTATION).into(), ring);
        };
        let (mut packed, mut sum) = (first.like(), vec![0; BLOCK.min(ring.degree())]);
        for (i, modulus) in ring.basis().moduli().iter().enumerate() {
            for start in (0..ring.degree()).step_by(BLOCK) {
                let sum = sum.get_mut(..BLOCK.min(ring.degree() - start)).unwrap_or_default();
                let terms = parts.iter().filter_map(|part| part.from(i, start, modulus));
                modulus.sum_packed_into(sum, &terms.collect::<Vec<_>>())?;
                packed.put(i, start, sum, modulus)?;
            }
        }
        Ok(packed)
    }
}
