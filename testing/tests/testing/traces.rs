//! Operations that all schemes share leave one step in a trace, by the scheme's name for it, and continue the trace of their operand.

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use sunzi_encoding::Plaintext;
use sunzi_rlwe::{
    Ciphertext, Evaluator, Exact, GaloisKeys, Homomorphic, PublicKey, RelinearizationKey, RlweContext,
    SecretKey, Security,
};

/// An exponent whose key there is.
const EXPONENT: u64 = 5;

struct Keys {
    public: PublicKey,
    relinearization: RelinearizationKey,
    galois: GaloisKeys,
}

fn keys(context: &RlweContext) -> (Keys, ChaCha20Rng) {
    let mut rng = ChaCha20Rng::seed_from_u64(11);
    let secret = SecretKey::generate(context, &mut rng).unwrap();
    let keys = Keys {
        public: PublicKey::generate(context, &secret, &mut rng).unwrap(),
        relinearization: RelinearizationKey::generate(context, &secret, &mut rng).unwrap(),
        galois: GaloisKeys::generate(context, &secret, [3, EXPONENT], &mut rng).unwrap(),
    };
    (keys, rng)
}

fn names<S: Homomorphic>(ciphertext: Result<Ciphertext<S>, S::Error>) -> Vec<&'static str>
where
    S::Error: std::fmt::Debug,
{
    ciphertext.unwrap().trace().steps().iter().map(|step| step.operation).collect()
}

/// Checks every operation that takes a ciphertext whose trace is `before`.
fn shared<S: Homomorphic>(
    evaluator: &Evaluator<S>,
    a: &Ciphertext<S>,
    m: &S::Plaintext,
    keys: &Keys,
    before: &[&'static str],
) where
    S::Error: std::fmt::Debug,
{
    let after = |name| [before, &[name]].concat();
    assert_eq!(names::<S>(evaluator.add(a, a)), after("add"));
    assert_eq!(names::<S>(evaluator.sub(a, a)), after("subtract"));
    assert_eq!(names::<S>(evaluator.negate(a)), before);
    assert_eq!(names::<S>(evaluator.add_plain(a, m)), after("add a plaintext"));
    assert_eq!(names::<S>(evaluator.sub_plain(a, m)), after("subtract a plaintext"));
    assert_eq!(names::<S>(evaluator.automorphism(a, EXPONENT, &keys.galois)), after(S::AUTOMORPHISM));
    assert_eq!(names::<S>(evaluator.automorphism(a, 1, &keys.galois)), before);
    let hoisted = evaluator.hoist(a).unwrap();
    assert_eq!(names::<S>(hoisted.automorphism(EXPONENT, &keys.galois)), after("rotate"));
    assert_eq!(names::<S>(evaluator.relinearize(a, &keys.relinearization)), after("relinearize"));
}

/// Checks the operations of BFV and BGV besides.
fn exact<S: Exact>(
    evaluator: &Evaluator<S>,
    a: &Ciphertext<S>,
    m: &Plaintext,
    keys: &Keys,
    before: &[&'static str],
) where
    S::Error: std::fmt::Debug,
{
    let after = |name| [before, &[name]].concat();
    assert_eq!(names::<S>(evaluator.multiply_plain(a, m)), after("multiply by a plaintext"));
    assert_eq!(names::<S>(evaluator.multiply_scalar(a, 2)), after("multiply by a constant"));
    assert_eq!(names::<S>(evaluator.rotate_rows(a, 1, &keys.galois)), after("rotate"));
    let m = evaluator.prepare_multiplier(m).unwrap();
    let steps = [(1, vec![(1, &m), (EXPONENT, &m)])];
    assert_eq!(names::<S>(evaluator.linear_map(a, &steps, &keys.galois)), after("apply a linear map"));
}

#[test]
fn bfv() {
    let parameters = sunzi_bfv::Parameters::builder()
        .depth(3)
        .plain_modulus(257)
        .batching(false)
        .log2_degree(6)
        .security(Security::InsecureForResearchOnly)
        .build()
        .unwrap();
    let context = sunzi_bfv::Context::new(&parameters).unwrap();
    let (keys, mut rng) = keys(context.rlwe());
    let m = Plaintext::new(vec![1; 64], 257).unwrap();
    let fresh = context.encrypt(&m, &keys.public, &mut rng).unwrap();
    let evaluator = sunzi_bfv::Evaluator::new(&context);
    let product = evaluator.multiply(&fresh, &fresh, &keys.relinearization).unwrap();
    for (a, before) in [(&fresh, &["encrypt"] as &[_]), (&product, &["encrypt", "multiply"])] {
        shared(&evaluator, a, &m, &keys, before);
        exact(&evaluator, a, &m, &keys, before);
    }
}

#[test]
fn bgv() {
    let mut builder = sunzi_bgv::Parameters::builder()
        .depth(3)
        .plain_modulus(257)
        .batching(false)
        .log2_degree(6)
        .security(Security::InsecureForResearchOnly);
    builder = builder.fresh_additions(8).additions_per_level(8).fresh_rotations(8).rotations_per_level(8);
    let parameters = builder.fresh_plain_products(2).plain_products_per_level(2).build().unwrap();
    let context = sunzi_bgv::Context::new(&parameters).unwrap();
    let (keys, mut rng) = keys(context.rlwe());
    let m = Plaintext::new(vec![1; 64], 257).unwrap();
    let fresh = context.encrypt(&m, &keys.public, &mut rng).unwrap();
    let evaluator = sunzi_bgv::Evaluator::new(&context);
    let product = evaluator.multiply(&fresh, &fresh, &keys.relinearization).unwrap();
    for (a, before) in [(&fresh, &["encrypt"] as &[_]), (&product, &["encrypt", "multiply"])] {
        shared(&evaluator, a, &m, &keys, before);
        exact(&evaluator, a, &m, &keys, before);
    }
}

#[test]
fn ckks() {
    let parameters = sunzi_ckks::Parameters::builder()
        .depth(3)
        .log2_degree(6)
        .security(Security::InsecureForResearchOnly)
        .build()
        .unwrap();
    let context = sunzi_ckks::Context::new(&parameters).unwrap();
    let (keys, mut rng) = keys(context.rlwe());
    let m = sunzi_ckks::Encoder::new(&context, 32).unwrap().encode_real(&[0.5; 32]).unwrap();
    let fresh = context.encrypt(&m, &keys.public, &mut rng).unwrap();
    let evaluator = sunzi_ckks::Evaluator::new(&context);
    let product = evaluator.multiply(&fresh, &fresh, &keys.relinearization).unwrap();
    // A rescaled result begins a trace with its operands' steps.
    for (a, before) in [(&fresh, &["encrypt"] as &[_]), (&product, &["encrypt", "multiply"])] {
        shared(&evaluator, a, &m, &keys, before);
    }
}
