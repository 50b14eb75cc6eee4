//! The precision that is left to shared CKKS results.

use sunzi_ring::Ring;
use sunzi_ring::sampling::SeededRng;
use sunzi_rlwe::sharing::Flooding;
use sunzi_rlwe::{DeclaredNoise, PublicKey, RelinearizationKey, SecretKey, SharingPolicy};

use crate::precision::flooding_error;
use crate::{CkksError, Context, Encoder, Evaluator, Parameters, Settings};

/// The deviation in a slot of the flooding noise for the computation of the [builder](super::ParametersBuilder), whose
/// result is at most `largest`. The computation runs over a dry ring, whose polynomials have no coefficients.
///
/// # Errors
/// [`RlweError::SharingRoom`](sunzi_rlwe::RlweError::SharingRoom) in one; those of parameters that are none.
pub(super) fn added_deviation(
    parameters: &Parameters,
    policy: SharingPolicy,
    largest: f64,
) -> Result<f64, CkksError> {
    let ring = Ring::dry(parameters.shape(), parameters.moduli(), parameters.rungs())?;
    let context = Context::with_ring(ring, &Settings::from(parameters))?;
    // Nothing is encrypted under these keys, so that a fixed seed does no harm.
    let rng = &mut SeededRng::derive(&[0; 32], "sunzi builder", 0);
    let secret = SecretKey::generate(context.rlwe(), rng)?;
    let public = PublicKey::generate(context.rlwe(), &secret, rng)?;
    let key = RelinearizationKey::generate(context.rlwe(), &secret, rng)?;
    let (evaluator, slots) = (Evaluator::new(&context), parameters.max_slots());
    let zero = Encoder::new(&context, slots)?.encode_real(&[])?;
    let mut result = context.encrypt(&zero, &public, rng)?;
    for _ in 0..parameters.depth() {
        let square = evaluator.multiply(&result, &result, &key)?;
        result = evaluator.with_magnitude(&square, parameters.message_bound())?;
    }
    result = evaluator.with_magnitude(&result, largest)?;
    let noise = DeclaredNoise::of_own_run(result.noise(), context.ring().expansion());
    context.check_shareable(&result, noise, policy)?;
    let flooding = Flooding::new(policy, noise, parameters.degree())?;
    Ok(flooding_error(&flooding, parameters.secrets().parties(), slots, result.metadata().scale))
}
