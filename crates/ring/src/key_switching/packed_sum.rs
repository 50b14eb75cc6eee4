//! Sums of packed polynomials of keys: the terms stay packed, and are read once.

use sunzi_kernels::Modulus;

use super::KeyPoly;
use crate::{Backend, Evaluation, Poly, RingError, WordRing};

/// Number of residues that are added together: memory is read in longer runs than other loops need, since it is read once.
const BLOCK: usize = 4096;

impl KeyPoly {
    /// Returns the packed sum of polynomials of keys, which belong to the given ring; zero without any.
    pub(super) fn sum(parts: &[&Self], ring: &WordRing) -> Result<Self, RingError> {
        check(parts, ring)?;
        let (mut packed, mut sum) = (Self::empty(ring), vec![0; BLOCK.min(ring.degree())]);
        for (i, modulus) in ring.basis().moduli().iter().enumerate() {
            for start in (0..ring.degree()).step_by(BLOCK) {
                let sum = sum.get_mut(..BLOCK.min(ring.degree() - start)).unwrap_or_default();
                add(parts, (i, start), modulus, sum)?;
                packed.put(i, start, sum, modulus)?;
            }
        }
        Ok(packed)
    }

    /// Returns the sum of packed polynomials and of one that is not packed, which belong to the given ring, unpacked; zero without any.
    pub(crate) fn unpacked_sum(
        parts: &[&Self],
        plus: Option<&Poly<Evaluation>>,
        ring: &WordRing,
    ) -> Result<Poly<Evaluation>, RingError> {
        check(parts, ring)?;
        plus.map_or(Ok(()), |plus| ring.check(plus))?;
        let mut sum = ring.arbitrary();
        ring.for_each_modulus(&mut sum, |i, modulus, range, part| {
            for (at, sum) in part.chunks_mut(BLOCK).enumerate() {
                let start = range.start + at * BLOCK;
                add(parts, (i, start), &modulus, sum)?;
                if let Some(plus) = plus {
                    modulus.add_assign(sum, plus.part(i, start..start + sum.len())?)?;
                }
            }
            Ok(())
        })?;
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
