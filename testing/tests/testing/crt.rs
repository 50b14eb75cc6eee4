//! Contexts for several plaintext moduli: wide integers come back from a computation, and what belongs elsewhere is refused.

use chacha20::ChaCha20Rng;
use num_bigint::BigInt;
use rand_core::SeedableRng;
use sunzi_encoding::EncodingError;
use sunzi_rlwe::{
    Ciphertext, CrtContext, Exact, PublicKey, RelinearizationKey, RlweError, SecretKey, Security,
};

/// Plaintext moduli with slots in the rings of degree 64 and 128; their product has 80 bits.
const PLAIN_MODULI: [u64; 5] = [40961, 61441, 65537, 114_689, 147_457];
const INSECURE: Security = Security::InsecureForResearchOnly;

fn bfv(log2_degree: u32) -> sunzi_bfv::CrtContext {
    let largest = sunzi_bfv::Parameters::builder().depth(1).additions(1).plain_modulus(PLAIN_MODULI[4]);
    let largest = largest.log2_degree(log2_degree).security(INSECURE).build().unwrap();
    let moduli = largest.moduli().to_vec();
    let parameters = sunzi_bfv::CrtParameters::new(log2_degree, moduli, PLAIN_MODULI.to_vec(), INSECURE);
    parameters.with_algorithms(largest.algorithms().clone()).contexts().unwrap()
}

fn bgv_parameters(log2_degree: u32) -> sunzi_bgv::Parameters {
    let builder = sunzi_bgv::Parameters::builder().depth(1).plain_modulus(PLAIN_MODULI[4]);
    builder.additions_per_level(2).log2_degree(log2_degree).security(INSECURE).build().unwrap()
}

fn bgv(log2_degree: u32) -> sunzi_bgv::CrtContext {
    bgv_parameters(log2_degree).contexts(&PLAIN_MODULI).unwrap()
}

/// What a product of two ciphertexts takes in a context.
type Product<'a, S> = &'a dyn Fn(
    &<S as sunzi_rlwe::Homomorphic>::Context,
    [&Ciphertext<S>; 2],
    &RelinearizationKey,
) -> Ciphertext<S>;

fn wide_integers<S: Exact<Error: std::fmt::Debug>>(contexts: &CrtContext<S>, product: Product<'_, S>) {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let secret = SecretKey::generate(contexts.rlwe(), &mut rng).unwrap();
    let public = PublicKey::generate(contexts.rlwe(), &secret, &mut rng).unwrap();
    let key = RelinearizationKey::generate(contexts.rlwe(), &secret, &mut rng).unwrap();
    let encoder = contexts.encoder().unwrap();
    assert_eq!((contexts.len(), contexts.plain_moduli()), (5, PLAIN_MODULI.to_vec()));

    let xs = [-987_654_321_098_i128, 700_000_000_001, 0, -1];
    let ys = [500_000_000_000_i128, -123_456_789_012, 7, -1];
    let x = contexts.encrypt(&encoder.encode(&xs).unwrap(), &public, &mut rng).unwrap();
    let y = contexts.encrypt(&encoder.encode(&ys).unwrap(), &secret, &mut rng).unwrap();
    let step = |context: &S::Context, operands: [&Ciphertext<S>; 2]| {
        let product = product(context, operands, &key);
        sunzi_rlwe::Evaluator::<S>::new(context).add(&product, operands[0])
    };
    let computed = contexts.compute([&x, &y], step).unwrap();
    let opened = encoder.decode(&contexts.decrypt(&computed, &secret).unwrap()).unwrap();
    for ((x, y), z) in xs.iter().zip(&ys).zip(&opened) {
        assert_eq!(*z, x * y + x);
    }
    assert_eq!(opened.len(), contexts.rlwe().ring().degree());
    assert!(opened[4..].iter().all(|&z| z == 0));

    // Both ends of the range, which are wider than 64 bits.
    let (low, high) = encoder.bounds();
    assert!(high > BigInt::from(u64::MAX));
    let ends =
        contexts.encrypt(&encoder.encode_integers(&[low.clone(), high.clone()]).unwrap(), &public, &mut rng);
    let opened = encoder.decode_integers(&contexts.decrypt(&ends.unwrap(), &secret).unwrap()).unwrap();
    assert_eq!(opened[..2], [low, high]);
}

fn refusals<S>(contexts: &CrtContext<S>, larger: &CrtContext<S>)
where
    S: Exact<Error: std::error::Error>,
{
    let mut rng = ChaCha20Rng::seed_from_u64(2);
    let keys = |contexts: &CrtContext<S>, rng: &mut ChaCha20Rng| {
        let secret = SecretKey::generate(contexts.rlwe(), rng).unwrap();
        (PublicKey::generate(contexts.rlwe(), &secret, rng).unwrap(), secret)
    };
    let ((public, secret), (larger_public, larger_secret)) =
        (keys(contexts, &mut rng), keys(larger, &mut rng));
    let plaintexts = contexts.encoder().unwrap().encode(&[-5, 7]).unwrap();
    let x = contexts.encrypt(&plaintexts, &public, &mut rng).unwrap();
    let text = |error: S::Error| error.to_string();
    let add = |context: &S::Context, [a, b]: [&Ciphertext<S>; 2]| {
        sunzi_rlwe::Evaluator::<S>::new(context).add(a, b)
    };

    // Residues of another plaintext modulus.
    let mut mixed = x.clone();
    mixed.swap(0, 1);
    let error = text(contexts.decrypt(&mixed, &secret).unwrap_err());
    assert!(error.contains("plaintext modulus 61441, the context 40961"), "{error}");
    assert!(text(contexts.compute([&x, &mixed], add).err().unwrap()).contains("plaintext modulus"));
    let mut turned = plaintexts.clone();
    turned.reverse();
    assert!(contexts.encrypt(&turned, &public, &mut rng).is_err());

    // Too few, and too many.
    for count in [0, 4, 6] {
        let cycled: Vec<_> = x.iter().cycle().take(count).cloned().collect();
        let expected = RlweError::CiphertextCount { expected: 5, got: count }.to_string();
        assert_eq!(text(contexts.decrypt(&cycled, &secret).unwrap_err()), expected);
        assert_eq!(text(contexts.compute([&x, &cycled], add).err().unwrap()), expected);
        let expected = EncodingError::PlaintextCount { expected: 5, got: count }.to_string();
        let cycled: Vec<_> = plaintexts.iter().cycle().take(count).cloned().collect();
        assert_eq!(text(contexts.encrypt(&cycled, &public, &mut rng).err().unwrap()), expected);
    }

    // Another ring.
    assert!(contexts.encrypt(&plaintexts, &larger_public, &mut rng).is_err());
    assert!(larger.encrypt(&plaintexts, &larger_public, &mut rng).is_err());
    assert!(larger.decrypt(&x, &larger_secret).is_err());
    let wide = larger.encoder().unwrap().encode(&[1]).unwrap();
    let foreign = larger.encrypt(&wide, &larger_public, &mut rng).unwrap();
    assert!(contexts.decrypt(&foreign, &secret).is_err());
    assert!(contexts.compute([&x, &foreign], add).is_err());

    // Another key of the same ring.
    let (_, other) = keys(contexts, &mut rng);
    let expected = RlweError::KeyMismatch { what: "the secret key" }.to_string();
    assert_eq!(text(contexts.decrypt(&x, &other).unwrap_err()), expected);

    // Plaintext moduli that are none together.
    let first = contexts.first().unwrap();
    let none = CrtContext::<S>::new(first, &[]).err().unwrap();
    assert_eq!(text(none), EncodingError::NoPlainModuli.to_string());
    let twice = CrtContext::<S>::new(first, &[257, 769, 257]).err().unwrap();
    assert_eq!(text(twice), EncodingError::PlainModuliNotCoprime { left: 257, right: 257 }.to_string());
}

#[test]
fn wide_integers_of_bfv() {
    wide_integers(&bfv(6), &|context, [a, b], key| {
        sunzi_bfv::Evaluator::new(context).multiply(a, b, key).unwrap()
    });
}

#[test]
fn wide_integers_of_bgv() {
    wide_integers(&bgv(6), &|context, [a, b], key| {
        sunzi_bgv::Evaluator::new(context).multiply(a, b, key).unwrap()
    });
}

#[test]
fn what_belongs_elsewhere_is_refused_in_bfv() {
    refusals(&bfv(6), &bfv(7));
}

#[test]
fn what_belongs_elsewhere_is_refused_in_bgv() {
    refusals(&bgv(6), &bgv(7));
}

#[test]
fn plaintext_moduli_of_parameters_are_checked() {
    let parameters = bgv_parameters(6);
    let text = |plain_moduli: &[u64]| parameters.contexts(plain_moduli).err().unwrap().to_string();
    assert_eq!(text(&[]), EncodingError::NoPlainModuli.to_string());
    assert_eq!(text(&[6, 9]), EncodingError::PlainModuliNotCoprime { left: 6, right: 9 }.to_string());
    let unusable = parameters.clone().with_plain_modulus(1).validate().unwrap_err();
    assert_eq!(text(&[40961, 1]), unusable.to_string());
}
