//! Samples of learning with errors: what becomes of a modulus stays in the second cache from the error to the end.

use rand_core::CryptoRng;
use zeroize::Zeroize;

use crate::parallel::{BLOCK, Work};
use crate::sampling::spherical_error;
use crate::{Backend, Evaluation, Poly, RingError, WordRing};

/// Does [`Backend::error_sample`] modulus by modulus.
pub(super) fn error_sample(
    ring: &WordRing,
    products: &[[&Poly<Evaluation>; 2]],
    errors: u32,
    negated: bool,
    rng: &mut dyn CryptoRng,
) -> Result<Poly<Evaluation>, RingError> {
    products.iter().flatten().try_for_each(|poly| ring.check(poly))?;
    let mut error = spherical_error(ring.ring_index(), rng)?;
    for _ in 1..errors {
        let more = spherical_error(ring.ring_index(), rng)?;
        error.iter_mut().zip(more.iter()).for_each(|(error, more)| *error += more);
    }
    let (n, mut sample) = (ring.degree(), ring.arbitrary());
    let done = ring.parallelism().for_each_limb(Work::Transform, sample.words_mut(), n, |i, limb| {
        let (plan, modulus) = (ring.plan(i)?, ring.basis().own(i)?);
        modulus.reduce_signed_into(limb, &error)?;
        plan.forward(limb)?;
        for (at, part) in limb.chunks_mut(BLOCK).enumerate() {
            let range = at * BLOCK..at * BLOCK + part.len();
            for [a, b] in products {
                modulus.mul_add_assign(part, a.part(i, range.clone())?, b.part(i, range.clone())?)?;
            }
            if negated {
                modulus.neg_assign(part);
            }
        }
        Ok(())
    });
    if let Err(failed) = done {
        sample.zeroize();
        return Err(failed);
    }
    Ok(sample)
}
