//! The operations of each scheme over parameters that its builder chooses for one multiplication.

use sunzi::bfv::row_rotation_exponent;
use sunzi::circuits::{Arithmetic, EvaluationKeys, Rotation};
use sunzi::ckks::{self, Complex64};
use sunzi::encoding::{BatchEncoder, Encoder, Plaintext};
use sunzi::rlwe::{GaloisKeys, PublicKey, RelinearizationKey, RlweContext, SecretKey, randomness};
use sunzi::{bfv, bgv};

use super::{Call, call};
use crate::error::CliError;

/// Bits of the plaintext modulus that is timed.
const PLAIN_BITS: u32 = 17;
/// Bits of precision of CKKS; the smallest degree has room for fewer.
const PRECISION: u32 = 20;
const LEAST_PRECISION: u32 = 10;
/// Largest distance of a slot of CKKS from its expected value: 2^-7, six deviations of the least precision.
const TOLERANCE: f64 = 1.0 / 128.0;

/// Receives the operations of a scheme, in the order of `OPERATIONS`.
type Measure<'a> = &'a mut dyn FnMut([Call<'_>; 5]) -> Result<(), CliError>;

/// Functions by which a scheme encrypts and decrypts.
struct Ways<E, D> {
    encrypt: E,
    decrypt: D,
}

/// Makes the functions by which a context of BFV or BGV encrypts and decrypts.
macro_rules! ways {
    ($context:expr) => {
        Ways {
            encrypt: |plaintext: &Plaintext, key: &PublicKey| {
                let mut rng = randomness::from_os().map_err(CliError::failure)?;
                $context.encrypt(plaintext, key, &mut rng).map_err(CliError::failure)
            },
            decrypt: |ciphertext: &_, key: &SecretKey| {
                $context.decrypt(ciphertext, key).map_err(CliError::failure)
            },
        }
    };
}

pub(super) fn bfv(log_n: u32, measure: Measure<'_>) -> Result<(), CliError> {
    let builder = bfv::Parameters::builder().log2_degree(log_n).depth(1).plain_bits(PLAIN_BITS);
    let parameters = builder.build().map_err(CliError::failure)?;
    let context = bfv::Context::new(&parameters).map_err(CliError::failure)?;
    exact(context.rlwe(), &bfv::Evaluator::new(&context), ways!(context), measure)
}

pub(super) fn bgv(log_n: u32, measure: Measure<'_>) -> Result<(), CliError> {
    let builder = bgv::Parameters::builder().log2_degree(log_n).depth(1).plain_bits(PLAIN_BITS);
    // BGV parameters take what was declared: the sum and the rotation are of fresh ciphertexts.
    let builder = builder.fresh_additions(1).fresh_rotations(1);
    let parameters = builder.build().map_err(CliError::failure)?;
    let context = bgv::Context::new(&parameters).map_err(CliError::failure)?;
    exact(context.rlwe(), &bgv::Evaluator::new(&context), ways!(context), measure)
}

/// Times the operations of a scheme over integers.
fn exact<A, E, D>(
    rlwe: &RlweContext,
    evaluator: &A,
    Ways { encrypt, decrypt }: Ways<E, D>,
    measure: Measure<'_>,
) -> Result<(), CliError>
where
    A: Arithmetic<Keys = EvaluationKeys>,
    E: Fn(&Plaintext, &PublicKey) -> Result<A::Ciphertext, CliError>,
    D: Fn(&A::Ciphertext, &SecretKey) -> Result<Plaintext, CliError>,
{
    let (n, t) = (rlwe.ring().degree(), evaluator.plain_modulus());
    let mut rng = randomness::from_os().map_err(CliError::failure)?;
    let secret = SecretKey::generate(rlwe, &mut rng).map_err(CliError::failure)?;
    let public = PublicKey::generate(rlwe, &secret, &mut rng).map_err(CliError::failure)?;
    let relinearization = RelinearizationKey::generate(rlwe, &secret, &mut rng).map_err(CliError::failure)?;
    let galois = GaloisKeys::generate(rlwe, &secret, [row_rotation_exponent(n, 1)], &mut rng)
        .map_err(CliError::failure)?;
    let keys = EvaluationKeys { relinearization: Some(relinearization), galois: Some(galois) };

    let encoder = BatchEncoder::new(n, t).map_err(CliError::failure)?;
    let slots = |factor: u64| (0..n as u64).map(|i| (i * factor + 1) % t).collect::<Vec<_>>();
    let (left, right) = (slots(7919), slots(104_729));
    let both = |f: fn(u64, u64) -> u64| left.iter().zip(&right).map(|(x, y)| f(*x, *y) % t).collect();
    let (sums, products): (Vec<u64>, Vec<u64>) = (both(|x, y| x + y), both(|x, y| x * y));
    let mut rotated = left.clone();
    rotated.chunks_mut(n / 2).for_each(|row| row.rotate_left(1));
    let plaintext = encoder.encode(&left).map_err(CliError::failure)?;
    let a = encrypt(&plaintext, &public)?;
    let b = encrypt(&encoder.encode(&right).map_err(CliError::failure)?, &public)?;

    let decoded = |plaintext: &Plaintext| encoder.decode(plaintext).map_err(CliError::failure);
    let opens = |ciphertext: A::Ciphertext, expected: &[u64]| {
        Ok(decoded(&decrypt(&ciphertext, &secret)?)? == expected)
    };
    measure([
        call(|| encrypt(&plaintext, &public), |made| opens(made, &left)),
        call(|| decrypt(&a, &secret), |opened| Ok(decoded(&opened)? == left)),
        call(|| evaluator.add(&a, &b).map_err(CliError::failure), |made| opens(made, &sums)),
        call(|| evaluator.multiply(&a, &b, &keys).map_err(CliError::failure), |made| opens(made, &products)),
        call(
            || evaluator.rotate(&a, Rotation::Rows(1), &keys).map_err(CliError::failure),
            |made| opens(made, &rotated),
        ),
    ])
}

/// Times the operations of CKKS over complex numbers of absolute value 1.
pub(super) fn ckks(log_n: u32, measure: Measure<'_>) -> Result<(), CliError> {
    let precision = if log_n == 12 { LEAST_PRECISION } else { PRECISION };
    let builder = ckks::Parameters::builder().log2_degree(log_n).depth(1).precision(precision);
    let context =
        ckks::Context::new(&builder.build().map_err(CliError::failure)?).map_err(CliError::failure)?;
    let mut rng = randomness::from_os().map_err(CliError::failure)?;
    let rlwe = context.rlwe();
    let secret = SecretKey::generate(rlwe, &mut rng).map_err(CliError::failure)?;
    let public = PublicKey::generate(rlwe, &secret, &mut rng).map_err(CliError::failure)?;
    let relinearization = RelinearizationKey::generate(rlwe, &secret, &mut rng).map_err(CliError::failure)?;
    let galois = ckks::rotation::rotation_keys(&context, &secret, [1], false, context.depth(), &mut rng)
        .map_err(CliError::failure)?;
    let evaluator = ckks::Evaluator::new(&context);
    let encoder = ckks::Encoder::new(&context, context.max_slots()).map_err(CliError::failure)?;

    let slots = |step: f64| -> Vec<Complex64> {
        (0..context.max_slots()).map(|i| Complex64::from_polar(1.0, i as f64 * step)).collect()
    };
    let (left, right) = (slots(0.37), slots(1.93));
    let pairs = || left.iter().zip(&right);
    let sums: Vec<Complex64> = pairs().map(|(x, y)| x + y).collect();
    let products: Vec<Complex64> = pairs().map(|(x, y)| x * y).collect();
    let mut rotated = left.clone();
    rotated.rotate_left(1);
    let encode = |slots: &[Complex64]| encoder.encode(slots).map_err(CliError::failure);
    let plaintext = encode(&left)?;
    let mut encrypt =
        |message: &ckks::Plaintext| context.encrypt(message, &public, &mut rng).map_err(CliError::failure);
    let (a, b) = (encrypt(&plaintext)?, encrypt(&encode(&right)?)?);

    let close = |plaintext: &ckks::Plaintext, expected: &[Complex64]| {
        let got = encoder.decode(plaintext).map_err(CliError::failure)?;
        let near = |(x, y): (&Complex64, &Complex64)| (x - y).norm() <= TOLERANCE;
        Ok(got.len() == expected.len() && got.iter().zip(expected).all(near))
    };
    let opens = |ciphertext: ckks::Ciphertext, expected: &[Complex64]| {
        close(&context.decrypt(&ciphertext, &secret).map_err(CliError::failure)?, expected)
    };
    measure([
        call(|| encrypt(&plaintext), |made| opens(made, &left)),
        call(|| context.decrypt(&a, &secret).map_err(CliError::failure), |opened| close(&opened, &left)),
        call(|| evaluator.add(&a, &b).map_err(CliError::failure), |made| opens(made, &sums)),
        call(
            || evaluator.multiply(&a, &b, &relinearization).map_err(CliError::failure),
            |made| opens(made, &products),
        ),
        call(|| evaluator.rotate(&a, 1, &galois).map_err(CliError::failure), |made| opens(made, &rotated)),
    ])
}
