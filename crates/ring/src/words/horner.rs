//! A step of Horner's rule: the phase of a ciphertext.

use crate::parallel::BLOCK;
use crate::{Backend, Evaluation, Poly, RingError, WordRing};

/// [`Backend::mul_add_restricted`]: one pass, restricted on the way.
pub(crate) fn mul_add(
    ring: &WordRing,
    [a, b, c]: [&Poly<Evaluation>; 3],
    level: usize,
) -> Result<Poly<Evaluation>, RingError> {
    let mut places = [const { Vec::new() }; 3];
    for (places, poly) in places.iter_mut().zip([a, b, c]) {
        *places = ring.nested(level, ring.level_of(poly)?)?;
    }
    let [of_a, of_b, of_c] = &places;
    let target = ring.at_level(level)?;
    let mut sum = target.arbitrary::<Evaluation>();
    target.for_each_modulus(&mut sum, |i, modulus, range, part| {
        let (a, b) = (a.part_at(of_a, i, range.clone())?, b.part_at(of_b, i, range.clone())?);
        let c = c.part_at(of_c, i, range)?;
        let factors = a.chunks(BLOCK).zip(b.chunks(BLOCK));
        // What is copied is still in the first-level cache when it is added to.
        for ((sum, (a, b)), c) in part.chunks_mut(BLOCK).zip(factors).zip(c.chunks(BLOCK)) {
            sum.copy_from_slice(c);
            modulus.mul_add_assign(sum, a, b)?;
        }
        Ok(())
    })?;
    Ok(sum)
}
