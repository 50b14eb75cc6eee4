//! Sums of packed polynomials of keys: the terms stay packed, and are read once.

use sunzi_kernels::Modulus;

use super::KeyPoly;
use crate::scratch::Scratch;
use crate::{Backend, Domain, Evaluation, Poly, RingError, WordRing};

/// Number of residues that are added together: memory is read in longer runs than other loops need, since it is read once.
const BLOCK: usize = 4096;

impl KeyPoly {
    /// Returns the packed sum of polynomials of keys, which belong to the given ring; zero without any.
    pub(super) fn sum(parts: &[&Self], ring: &WordRing) -> Result<Self, RingError> {
        let Some(first) = parts.first() else {
            return Self::new(&ring.zero(Evaluation::REPRESENTATION).into(), ring);
        };
        check(parts, ring)?;
        let (mut packed, mut sum) = (first.like(), vec![0; BLOCK.min(ring.degree())]);
        for (i, modulus) in ring.basis().moduli().iter().enumerate() {
            for start in (0..ring.degree()).step_by(BLOCK) {
                let sum = sum.get_mut(..BLOCK.min(ring.degree() - start)).unwrap_or_default();
                add(parts, (i, start), modulus, sum)?;
                packed.put(i, start, sum, modulus)?;
            }
        }
        Ok(packed)
    }

    /// Returns the sum of polynomials of keys, which belong to the given ring, unpacked; zero without any.
    pub(super) fn unpacked_sum(parts: &[&Self], ring: &WordRing) -> Result<Poly<Evaluation>, RingError> {
        let Some(first) = parts.first() else { return Ok(ring.zero(Evaluation::REPRESENTATION).into()) };
        check(parts, ring)?;
        let (degree, limbs) = (ring.degree(), ring.shape().limbs);
        let mut sum = Poly::new(Scratch::new(degree * limbs), degree, first.tag());
        let limbs = sum.words_mut().chunks_exact_mut(degree);
        for (i, (modulus, limb)) in ring.basis().moduli().iter().zip(limbs).enumerate() {
            add(parts, (i, 0), modulus, limb)?;
        }
        Ok(sum)
    }
}

fn check(parts: &[&KeyPoly], ring: &WordRing) -> Result<(), RingError> {
    parts.iter().try_for_each(|part| ring.check_basis(part.shape(), part.tag()))
}

/// Adds up residues of all parts, from a coefficient of a limb on.
fn add(
    parts: &[&KeyPoly],
    (i, start): (usize, usize),
    modulus: &Modulus,
    sum: &mut [u64],
) -> Result<(), RingError> {
    let terms = parts.iter().filter_map(|part| part.from(i, start, modulus));
    Ok(modulus.sum_packed_into(sum, &terms.collect::<Vec<_>>())?)
}
