//! Signs, comparisons and maxima of encrypted numbers, by composition of minimax polynomials.
//!
//! All functions take numbers from −1 to 1, and refuse slots that may be larger by their declared bounds
//! ([`with_magnitude`](sunzi_ckks::Evaluator::with_magnitude)). Results are right outside the gap; within it they are undetermined.

use sunzi_ckks::{Ciphertext, CkksError, Evaluator};
use sunzi_rlwe::RelinearizationKey;

use crate::approximation::CompositeSign;
use crate::series::evaluate::bounded;
use crate::series::{Series, evaluate};

/// Evaluates sgn(x) slot by slot, for slots with gap ≤ |x| ≤ 1: off by at most the error of `sign`, in as many levels as it states. Within the
/// gap the values lie between −1 and 1.
///
/// ```
/// use sunzi_circuits::approximation::CompositeSign;
/// use sunzi_circuits::comparison::sign;
/// use sunzi_ckks::{Context, Encoder, Evaluator, LevelRange, Parameters};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let told = CompositeSign::new(0.25, 1e-2)?;
/// # let ranges = [LevelRange { levels: told.depth() + 1, scale_bits: 45 }];
/// # let security = sunzi_rlwe::Security::InsecureForResearchOnly;
/// # let context = Context::new(&Parameters::from_ranges(7, 55, &ranges, security)?.with_digits(4)?)?;
/// # let mut rng = sunzi_rlwe::randomness::from_os()?;
/// # let secret = sunzi_rlwe::SecretKey::generate(context.rlwe(), &mut rng)?;
/// # let key = sunzi_rlwe::RelinearizationKey::generate(context.rlwe(), &secret, &mut rng)?;
/// # let encoder = Encoder::new(&context, 2)?;
/// # let evaluator = Evaluator::new(&context);
/// # let mut encrypt = |x: &[f64]| -> Result<_, sunzi_ckks::CkksError> {
/// #     let fresh = context.encrypt_secret(&encoder.encode_real(x)?, &secret, &mut rng)?;
/// #     // A server that knows a bound on the numbers declares it.
/// #     evaluator.with_magnitude(&fresh, 0.5)
/// # };
/// let x = encrypt(&[0.5, -0.25])?;
/// let result = sign(&evaluator, &told, &x, &key)?;
/// let opened = encoder.decode_real(&context.decrypt(&result, &secret)?)?;
/// assert!((opened[0] - 1.0).abs() < 0.011 && (opened[1] + 1.0).abs() < 0.011);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`CkksError::Value`] for slots whose declared bound is above 1; [`CkksError::LevelExhausted`] with too few levels; every error of [`evaluate`].
pub fn sign(
    evaluator: &Evaluator,
    sign: &CompositeSign,
    x: &Ciphertext,
    key: &RelinearizationKey,
) -> Result<Ciphertext, CkksError> {
    mapped(evaluator, sign, x, [1.0, 0.0], key)
}

/// Evaluates 1 where x > 0 and 0 where x < 0, for slots with gap ≤ |x| ≤ 1: off by at most half of the error of `sign`.
///
/// ```
/// use sunzi_circuits::approximation::CompositeSign;
/// use sunzi_circuits::comparison::positive;
/// use sunzi_ckks::{Context, Encoder, Evaluator, LevelRange, Parameters};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let told = CompositeSign::new(0.25, 1e-2)?;
/// # let ranges = [LevelRange { levels: told.depth() + 1, scale_bits: 45 }];
/// # let security = sunzi_rlwe::Security::InsecureForResearchOnly;
/// # let context = Context::new(&Parameters::from_ranges(7, 55, &ranges, security)?.with_digits(4)?)?;
/// # let mut rng = sunzi_rlwe::randomness::from_os()?;
/// # let secret = sunzi_rlwe::SecretKey::generate(context.rlwe(), &mut rng)?;
/// # let key = sunzi_rlwe::RelinearizationKey::generate(context.rlwe(), &secret, &mut rng)?;
/// # let encoder = Encoder::new(&context, 2)?;
/// # let evaluator = Evaluator::new(&context);
/// # let mut encrypt = |x: &[f64]| -> Result<_, sunzi_ckks::CkksError> {
/// #     let fresh = context.encrypt_secret(&encoder.encode_real(x)?, &secret, &mut rng)?;
/// #     // A server that knows a bound on the numbers declares it.
/// #     evaluator.with_magnitude(&fresh, 0.5)
/// # };
/// let x = encrypt(&[0.5, -0.25])?;
/// let result = positive(&evaluator, &told, &x, &key)?;
/// let opened = encoder.decode_real(&context.decrypt(&result, &secret)?)?;
/// assert!((opened[0] - 1.0).abs() < 0.006 && opened[1].abs() < 0.006);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Every error of [`sign`].
pub fn positive(
    evaluator: &Evaluator,
    sign: &CompositeSign,
    x: &Ciphertext,
    key: &RelinearizationKey,
) -> Result<Ciphertext, CkksError> {
    mapped(evaluator, sign, x, [0.5, 0.5], key)
}

/// Evaluates [`positive`], where `before` may change the value before each polynomial of `sign`, counted from 0, by as much as the
/// [slack](CompositeSign::with_slack) of `sign`: by bootstrapping it.
///
/// ```
/// use sunzi_circuits::approximation::CompositeSign;
/// use sunzi_circuits::comparison::positive_between;
/// use sunzi_ckks::{Context, Encoder, Evaluator, LevelRange, Parameters};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let told = CompositeSign::new(0.25, 1e-2)?;
/// # let ranges = [LevelRange { levels: told.depth() + 1, scale_bits: 45 }];
/// # let security = sunzi_rlwe::Security::InsecureForResearchOnly;
/// # let context = Context::new(&Parameters::from_ranges(7, 55, &ranges, security)?.with_digits(4)?)?;
/// # let mut rng = sunzi_rlwe::randomness::from_os()?;
/// # let secret = sunzi_rlwe::SecretKey::generate(context.rlwe(), &mut rng)?;
/// # let key = sunzi_rlwe::RelinearizationKey::generate(context.rlwe(), &secret, &mut rng)?;
/// # let encoder = Encoder::new(&context, 2)?;
/// # let evaluator = Evaluator::new(&context);
/// # let mut encrypt = |x: &[f64]| -> Result<_, sunzi_ckks::CkksError> {
/// #     let fresh = context.encrypt_secret(&encoder.encode_real(x)?, &secret, &mut rng)?;
/// #     // A server that knows a bound on the numbers declares it.
/// #     evaluator.with_magnitude(&fresh, 0.5)
/// # };
/// let x = encrypt(&[0.5, -0.25])?;
/// let kept = |_, x| Ok::<_, sunzi_ckks::CkksError>(x);
/// let result = positive_between(&evaluator, &told, &x, &key, kept)?;
/// let opened = encoder.decode_real(&context.decrypt(&result, &secret)?)?;
/// assert!((opened[0] - 1.0).abs() < 0.006 && opened[1].abs() < 0.006);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Every error of [`positive`] and of `before`.
pub fn positive_between<E: From<CkksError>>(
    evaluator: &Evaluator,
    sign: &CompositeSign,
    x: &Ciphertext,
    key: &RelinearizationKey,
    before: impl FnMut(usize, Ciphertext) -> Result<Ciphertext, E>,
) -> Result<Ciphertext, E> {
    staged(evaluator, sign, x, [0.5, 0.5], key, before)
}

/// Evaluates 1 where a > b and 0 where a < b, for slots with gap ≤ |a − b| ≤ 1, whose declared bounds add up to at most 1: off by at most half of the error of
/// `sign`.
///
/// ```
/// use sunzi_circuits::approximation::CompositeSign;
/// use sunzi_circuits::comparison::greater;
/// use sunzi_ckks::{Context, Encoder, Evaluator, LevelRange, Parameters};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let told = CompositeSign::new(0.25, 1e-2)?;
/// # let ranges = [LevelRange { levels: told.depth() + 1, scale_bits: 45 }];
/// # let security = sunzi_rlwe::Security::InsecureForResearchOnly;
/// # let context = Context::new(&Parameters::from_ranges(7, 55, &ranges, security)?.with_digits(4)?)?;
/// # let mut rng = sunzi_rlwe::randomness::from_os()?;
/// # let secret = sunzi_rlwe::SecretKey::generate(context.rlwe(), &mut rng)?;
/// # let key = sunzi_rlwe::RelinearizationKey::generate(context.rlwe(), &secret, &mut rng)?;
/// # let encoder = Encoder::new(&context, 2)?;
/// # let evaluator = Evaluator::new(&context);
/// # let mut encrypt = |x: &[f64]| -> Result<_, sunzi_ckks::CkksError> {
/// #     let fresh = context.encrypt_secret(&encoder.encode_real(x)?, &secret, &mut rng)?;
/// #     // A server that knows a bound on the numbers declares it.
/// #     evaluator.with_magnitude(&fresh, 0.5)
/// # };
/// let (a, b) = (encrypt(&[0.4, -0.5])?, encrypt(&[-0.1, 0.5])?);
/// let result = greater(&evaluator, &told, &a, &b, &key)?;
/// let opened = encoder.decode_real(&context.decrypt(&result, &secret)?)?;
/// assert!((opened[0] - 1.0).abs() < 0.006 && opened[1].abs() < 0.006);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Every error of [`sign`] and of [`sub`](sunzi_rlwe::Evaluator::sub).
pub fn greater(
    evaluator: &Evaluator,
    sign: &CompositeSign,
    a: &Ciphertext,
    b: &Ciphertext,
    key: &RelinearizationKey,
) -> Result<Ciphertext, CkksError> {
    positive(evaluator, sign, &evaluator.sub(a, b)?, key)
}

/// Evaluates the larger of a and b, (a + b)/2 + (a − b)·sgn(a − b)/2, for slots whose declared bounds add up to at most 1: off by at most half of the larger
/// of error and gap, in one level more than `sign` states.
///
/// ```
/// use sunzi_circuits::approximation::CompositeSign;
/// use sunzi_circuits::comparison::max;
/// use sunzi_ckks::{Context, Encoder, Evaluator, LevelRange, Parameters};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let told = CompositeSign::new(0.25, 1e-2)?;
/// # let ranges = [LevelRange { levels: told.depth() + 1, scale_bits: 45 }];
/// # let security = sunzi_rlwe::Security::InsecureForResearchOnly;
/// # let context = Context::new(&Parameters::from_ranges(7, 55, &ranges, security)?.with_digits(4)?)?;
/// # let mut rng = sunzi_rlwe::randomness::from_os()?;
/// # let secret = sunzi_rlwe::SecretKey::generate(context.rlwe(), &mut rng)?;
/// # let key = sunzi_rlwe::RelinearizationKey::generate(context.rlwe(), &secret, &mut rng)?;
/// # let encoder = Encoder::new(&context, 2)?;
/// # let evaluator = Evaluator::new(&context);
/// # let mut encrypt = |x: &[f64]| -> Result<_, sunzi_ckks::CkksError> {
/// #     let fresh = context.encrypt_secret(&encoder.encode_real(x)?, &secret, &mut rng)?;
/// #     // A server that knows a bound on the numbers declares it.
/// #     evaluator.with_magnitude(&fresh, 0.5)
/// # };
/// let (a, b) = (encrypt(&[0.4, -0.5])?, encrypt(&[-0.1, 0.5])?);
/// let result = max(&evaluator, &told, &a, &b, &key)?;
/// let opened = encoder.decode_real(&context.decrypt(&result, &secret)?)?;
/// assert!((opened[0] - 0.4).abs() < 0.13 && (opened[1] - 0.5).abs() < 0.13);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Every error of [`sign`] and of [`Evaluator::multiply`].
pub fn max(
    evaluator: &Evaluator,
    sign: &CompositeSign,
    a: &Ciphertext,
    b: &Ciphertext,
    key: &RelinearizationKey,
) -> Result<Ciphertext, CkksError> {
    let difference = evaluator.sub(a, b)?;
    let half = mapped(evaluator, sign, &difference, [0.5, 0.0], key)?;
    let distance = evaluator.multiply(&difference, &half, key)?;
    evaluator.add(&evaluator.multiply_constant(&evaluator.add(a, b)?, 0.5)?, &distance)
}

/// Evaluates slope·sgn(x) + shift: slope and shift are part of the last polynomial.
fn mapped(
    evaluator: &Evaluator,
    sign: &CompositeSign,
    x: &Ciphertext,
    [slope, shift]: [f64; 2],
    key: &RelinearizationKey,
) -> Result<Ciphertext, CkksError> {
    let (needed, level) = (sign.depth(), x.metadata().level);
    if level < needed {
        return Err(CkksError::LevelExhausted { operation: "tell the sign", needed, level });
    }
    staged(evaluator, sign, x, [slope, shift], key, |_, x| Ok(x))
}

/// Evaluates all polynomials of a sign, with what `before` makes of the value before each.
fn staged<E: From<CkksError>>(
    evaluator: &Evaluator,
    sign: &CompositeSign,
    x: &Ciphertext,
    [slope, shift]: [f64; 2],
    key: &RelinearizationKey,
    mut before: impl FnMut(usize, Ciphertext) -> Result<Ciphertext, E>,
) -> Result<Ciphertext, E> {
    let Some((last, stages)) = sign.stages().split_last() else { return Ok(x.clone()) };
    let mut value = x.clone();
    for (place, stage) in stages.iter().enumerate() {
        value = before(place, value)?;
        // No stage leaves [−1, 1].
        value = bounded(evaluate(evaluator, stage, &value, key)?, 1.0);
    }
    value = before(stages.len(), value)?;
    let mut coefficients: Vec<f64> = last.coefficients().iter().map(|c| c * slope).collect();
    if let Some(free) = coefficients.first_mut() {
        *free += shift;
    }
    let last = Series::new(last.basis(), coefficients).unwrap_or_else(|_| last.clone());
    Ok(evaluate(evaluator, &last, &value, key)?)
}

#[cfg(test)]
mod tests {
    use chacha20::ChaCha20Rng;
    use chacha20::rand_core::SeedableRng;
    use sunzi_ckks::{Context, Encoder, LevelRange, Parameters};
    use sunzi_rlwe::{SecretKey, Security};

    use super::*;

    const SLOTS: usize = 256;

    #[test]
    fn signs_comparisons_and_maxima() {
        let told = CompositeSign::new(1.0 / 32.0, 1e-3).unwrap();
        let ranges = [LevelRange { levels: told.depth() + 1, scale_bits: 45 }];
        let security = Security::InsecureForResearchOnly;
        let parameters = Parameters::from_ranges(9, 55, &ranges, security).unwrap().with_digits(4).unwrap();
        let context = Context::new(&parameters).unwrap();
        let mut rng = ChaCha20Rng::seed_from_u64(11);
        let secret = SecretKey::generate(context.rlwe(), &mut rng).unwrap();
        let key = RelinearizationKey::generate(context.rlwe(), &secret, &mut rng).unwrap();
        let encoder = Encoder::new(&context, SLOTS).unwrap();
        let evaluator = Evaluator::new(&context);
        let mut encrypt = |values: &[f64]| {
            let plaintext = encoder.encode_real(values).unwrap();
            context.encrypt_secret(&plaintext, &secret, &mut rng).unwrap()
        };
        // Differences from −1 to 1, both ends and both sides of the gap among them.
        let left: Vec<f64> = (0..SLOTS).map(|i| i as f64 / 255.0 - 0.5).collect();
        let right: Vec<f64> = left.iter().map(|a| -a).collect();
        let large = encrypt(&left);
        let declared = |a: &Ciphertext| evaluator.with_magnitude(a, 0.5).unwrap();
        let (a, b) = (declared(&large), declared(&encrypt(&right)));
        let open = |c: &Ciphertext| encoder.decode_real(&context.decrypt(c, &secret).unwrap()).unwrap();
        let x = evaluator.sub(&a, &b).unwrap();
        let outcomes = [
            open(&sign(&evaluator, &told, &x, &key).unwrap()),
            open(&greater(&evaluator, &told, &a, &b, &key).unwrap()),
            open(&max(&evaluator, &told, &a, &b, &key).unwrap()),
        ];
        for (i, (l, r)) in left.iter().zip(&right).enumerate() {
            let [sign, greater, max] = [0, 1, 2].map(|k: usize| outcomes[k][i]);
            let slack = told.error() + 1e-6;
            if (l - r).abs() >= told.gap() {
                assert!((sign - (l - r).signum()).abs() <= slack, "{l} {r}: {sign}");
                assert!((greater - if l > r { 1.0 } else { 0.0 }).abs() <= slack / 2.0, "{l} {r}: {greater}");
            } else {
                assert!(sign.abs() <= 1.0 + slack);
            }
            assert!((max - l.max(*r)).abs() <= told.gap().max(slack) / 2.0, "{l} {r}: {max}");
        }
        // Bounded by 1 each, the operands may be 2 apart.
        for refused in
            [greater(&evaluator, &told, &large, &b, &key), max(&evaluator, &told, &large, &b, &key)]
        {
            let error = refused.err().unwrap();
            assert!(matches!(error, CkksError::Value { .. }), "{error}");
        }
        let low = evaluator.drop_to(&x, told.depth() - 1).unwrap();
        let error = sign(&evaluator, &told, &low, &key).err().unwrap();
        assert!(matches!(error, CkksError::LevelExhausted { operation: "tell the sign", .. }));
    }
}
