//! Contexts and keys over polynomials without coefficients, in which programs and tapes are rehearsed.

use sunzi_bfv::CrtParameters;
use sunzi_circuits::EvaluationKeys;
use sunzi_ring::Ring;
use sunzi_ring::sampling::SeededRng;
use sunzi_rlwe::{PublicKey, RlweContext, RlweError, SecretDistribution, SecretKey};

use crate::ProgramError;

/// Makes a context of BFV for the largest of the plaintext moduli, which has the most noise.
pub(crate) fn bfv(parameters: &CrtParameters) -> Result<sunzi_bfv::Context, ProgramError> {
    let largest = parameters.parts().into_iter().max_by_key(sunzi_bfv::Parameters::plain_modulus);
    let own = largest.ok_or_else(|| ProgramError::Invalid("no plaintext modulus".to_owned()))?;
    let ring = Ring::dry(own.ring().index(), own.moduli(), &[]).map_err(ProgramError::scheme)?;
    let (t, security) = (own.plain_modulus(), own.security());
    let context = sunzi_bfv::Context::with_algorithms(ring, t, security, own.algorithms());
    match own.secrets() {
        SecretDistribution::Ternary => context,
        secrets => context.and_then(|context| context.with_secrets(secrets)),
    }
    .map_err(ProgramError::scheme)
}

/// Makes a context of BGV for the largest of the plaintext moduli.
pub(crate) fn bgv(
    parameters: &sunzi_bgv::Parameters,
    plain_moduli: &[u64],
) -> Result<sunzi_bgv::Context, ProgramError> {
    let largest = plain_moduli.iter().copied().max().unwrap_or(parameters.plain_modulus());
    let own = parameters.clone().with_plain_modulus(largest);
    let ring = Ring::dry(own.ring().index(), own.moduli(), own.rungs()).map_err(ProgramError::scheme)?;
    sunzi_bgv::Context::with_ring(ring, &sunzi_bgv::Settings::from(&own)).map_err(ProgramError::scheme)
}

/// Makes a context of CKKS.
pub(crate) fn ckks(own: &sunzi_ckks::Parameters) -> Result<sunzi_ckks::Context, ProgramError> {
    let ring = Ring::dry(own.shape(), own.moduli(), own.rungs()).map_err(ProgramError::scheme)?;
    sunzi_ckks::Context::with_ring(ring, &sunzi_ckks::Settings::from(own)).map_err(ProgramError::scheme)
}

/// Makes a public key, and evaluation keys for the automorphisms of these exponents.
pub(crate) fn keys(
    context: &RlweContext,
    exponents: impl IntoIterator<Item = u64>,
) -> Result<(PublicKey, EvaluationKeys), RlweError> {
    let rng = &mut randomness();
    let secret = SecretKey::generate(context, rng)?;
    let public = PublicKey::generate(context, &secret, rng)?;
    Ok((public, EvaluationKeys::for_exponents(context, &secret, exponents, rng)?))
}

/// Makes a ciphertext of a column, to which every party adds an encryption of its own rows.
pub(crate) fn rows_of_all<C>(
    parties: u32,
    mut fresh: impl FnMut() -> Result<C, ProgramError>,
    add: impl Fn(&C, &C) -> Result<C, ProgramError>,
) -> Result<C, ProgramError> {
    let first = fresh()?;
    (1..parties).try_fold(first, |sum, _| add(&sum, &fresh()?))
}

/// Returns constant randomness for polynomials without coefficients, where nothing is hidden.
pub(crate) fn randomness() -> SeededRng {
    SeededRng::from_key(&[0; 32])
}
