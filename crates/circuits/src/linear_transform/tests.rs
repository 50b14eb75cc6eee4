use chacha20::ChaCha20Rng;
use chacha20::rand_core::SeedableRng;
use sunzi_big::BigRing;
use sunzi_ckks::rotation::rotation_keys;
use sunzi_ckks::{Encoder, Parameters};
use sunzi_math::primes_below;
use sunzi_ring::GadgetOptions;
use sunzi_rlwe::{SecretKey, Security};

use super::*;

const LOG2_DEGREE: u32 = 8;
const DEPTH: usize = 3;

fn parameters() -> Parameters {
    let mut moduli = primes_below(1 << 40, 2 << LOG2_DEGREE, 7).unwrap();
    let special_moduli = moduli.split_off(5);
    let options = GadgetOptions { digits: Some(3), special_moduli, ..GadgetOptions::default() };
    // Two moduli at the bottom, so that the number of limbs of a level is not its index.
    Parameters::new(LOG2_DEGREE, moduli, vec![2, 3, 4, 5], 40, Security::InsecureForResearchOnly)
        .with_key_switching(options)
}

struct Party {
    context: Context,
    evaluator: Evaluator,
    secret: SecretKey,
    rng: ChaCha20Rng,
}

impl Party {
    fn new(context: Context) -> Self {
        let mut rng = ChaCha20Rng::seed_from_u64(5);
        let secret = SecretKey::generate(context.rlwe(), &mut rng).unwrap();
        Self { evaluator: Evaluator::new(&context), context, secret, rng }
    }

    fn encrypt(&mut self, values: &[Complex64]) -> Ciphertext {
        let encoder = Encoder::new(&self.context, values.len()).unwrap();
        self.context.encrypt_secret(&encoder.encode(values).unwrap(), &self.secret, &mut self.rng).unwrap()
    }

    fn open(&self, a: &Ciphertext) -> Vec<Complex64> {
        let encoder = Encoder::new(&self.context, a.metadata().slots).unwrap();
        encoder.decode(&self.context.decrypt(a, &self.secret).unwrap()).unwrap()
    }

    fn keys(&mut self, plan: &Plan) -> GaloisKeys {
        rotation_keys(&self.context, &self.secret, plan.rotations(), false, plan.level(), &mut self.rng)
            .unwrap()
    }

    /// Compares the product with a matrix at a level with the oracle's product; checks the plan's figures.
    fn check(&mut self, matrix: &Diagonals, slots: usize, level: usize) {
        let plan = Plan::new(&self.context, matrix, level).unwrap();
        let keys = self.keys(&plan);
        let transform = LinearTransform::encode(&self.context, matrix, plan.clone()).unwrap();
        assert!(transform.byte_len() <= plan.bytes(), "{} > {}", transform.byte_len(), plan.bytes());
        let mut vector = numbers(slots);
        if self.context.has_real_slots() {
            vector.iter_mut().for_each(|number| number.im = 0.0);
        }
        let a = self.encrypt(&vector);
        let product = transform.apply(&self.evaluator, &a, &keys).unwrap();
        let metadata = product.metadata();
        assert_eq!((metadata.level, metadata.slots), (level - 1, matrix.size()));
        assert_eq!(metadata.scale, self.context.scale(level - 1).unwrap());
        let wide: Vec<Complex64> = vector.iter().copied().cycle().take(matrix.size()).collect();
        let expected = matrix.apply(&wide).unwrap();
        let got = self.open(&product);
        let errors = got.iter().zip(&expected).map(|(a, b)| (a - b).norm());
        let (deviation, worst) = (metadata.precision.deviation(), errors.fold(0.0, f64::max));
        assert!(worst < 7.0 * deviation, "error {worst:e}, deviation {deviation:e}");
        assert!(worst > 0.05 * deviation, "error {worst:e}, deviation {deviation:e}: far too pessimistic");
        assert!(expected.iter().all(|value| value.norm() <= metadata.precision.magnitude() * (1.0 + 1e-9)));
    }
}

fn party() -> Party {
    Party::new(Context::new(&parameters()).unwrap())
}

fn numbers(count: usize) -> Vec<Complex64> {
    (0..count).map(|j| Complex64::new((j as f64 + 1.0).sin(), (3.0 * j as f64).cos()) * 0.7).collect()
}

fn dense(size: usize) -> Diagonals {
    Diagonals::from_entries(size, |i, j| {
        Complex64::new((i + 2 * j) as f64 % 7.0 - 3.0, (3 * i + j) as f64 % 5.0 - 2.0) / size as f64
    })
    .unwrap()
}

#[test]
fn dense_matrices_multiply_full_and_sparse_vectors() {
    let mut party = party();
    for size in [1, 2, 8, 32, 128] {
        party.check(&dense(size), size, DEPTH);
    }
    // A lower level, to which the ciphertext is brought.
    party.check(&dense(16), 16, 1);
    // A vector that repeats in what the matrix takes.
    party.check(&dense(32), 8, 2);
}

#[test]
fn real_matrices_multiply_vectors_of_real_slots() {
    let mut moduli = primes_below(1 << 40, 4 << LOG2_DEGREE, 7).unwrap();
    let special_moduli = moduli.split_off(5);
    let options = GadgetOptions { digits: Some(3), special_moduli, ..GadgetOptions::default() };
    let security = Security::InsecureForResearchOnly;
    let parameters = Parameters::new(LOG2_DEGREE, moduli, vec![2, 3, 4, 5], 40, security).with_real_slots();
    let mut party = Party::new(Context::new(&parameters.with_key_switching(options)).unwrap());
    let real = |size: usize| {
        let entry = |i: usize, j: usize| ((i + 2 * j) as f64 % 7.0 - 3.0) / size as f64;
        Diagonals::from_entries(size, |i, j| entry(i, j).into()).unwrap()
    };
    for size in [1, 8, 32, 256] {
        party.check(&real(size), size, DEPTH);
    }
    party.check(&real(16), 16, 1);
    party.check(&real(32), 8, 2);
    let plan = Plan::new(&party.context, &dense(8), DEPTH).unwrap();
    let refused = LinearTransform::encode(&party.context, &dense(8), plan).err().unwrap();
    assert!(refused.to_string().contains("imaginary part"), "{refused}");
}

#[test]
fn few_diagonals_take_few_rotations() {
    let mut party = party();
    let mut matrix = Diagonals::new(64).unwrap();
    for d in [-24, -16, -8, 0, 8, 16, 24] {
        matrix.add(d, &numbers(16)).unwrap();
    }
    let plan = Plan::new(&party.context, &matrix, DEPTH).unwrap();
    assert!(plan.rotations().len() <= 5, "{:?}", plan.rotations());
    assert_eq!(plan.products(), 7);
    party.check(&matrix, 64, DEPTH);
    // Short periods take an eighth of the memory, and their polynomials are as good.
    let long = Plan::new(&party.context, &dense(128), DEPTH).unwrap();
    assert_eq!(plan.bytes() * 128 * 8, long.bytes() * 7);
}

#[test]
fn the_oracle_ring_agrees() {
    let chain: Vec<_> = parameters().moduli().iter().map(|&q| q.into()).collect();
    let ring = BigRing::with_chain(2 << LOG2_DEGREE, &chain).unwrap();
    let mut settings = sunzi_ckks::Settings::from(&parameters());
    settings.key_switching = GadgetOptions { radix_bits: Some(8), ..GadgetOptions::default() };
    let mut party = Party::new(Context::with_ring(ring, &settings).unwrap());
    party.check(&dense(4), 4, 2);
}

#[test]
fn a_matrix_of_zeros_gives_zeros() {
    let mut party = party();
    let matrix = Diagonals::new(8).unwrap();
    let plan = Plan::new(&party.context, &matrix, DEPTH).unwrap();
    let keys = party.keys(&plan);
    let transform = LinearTransform::encode(&party.context, &matrix, plan).unwrap();
    let a = party.encrypt(&numbers(8));
    let product = transform.apply(&party.evaluator, &a, &keys).unwrap();
    assert!(party.open(&product).iter().all(|value| value.norm() < 1e-9));
}

#[test]
fn scales_can_be_changed_on_the_way() {
    let mut party = party();
    let matrix = dense(16);
    let plan = Plan::new(&party.context, &matrix, DEPTH).unwrap();
    let keys = party.keys(&plan);
    let (from, to) = (party.context.scale(DEPTH).unwrap(), 33_f64.exp2());
    let transform = LinearTransform::encode_between(&party.context, &matrix, plan, from, to).unwrap();
    let a = party.encrypt(&numbers(16));
    let product = transform.apply(&party.evaluator, &a, &keys).unwrap();
    assert!((product.metadata().scale / to - 1.0).abs() < 1e-12);
    let expected = matrix.apply(&numbers(16)).unwrap();
    assert!(party.open(&product).iter().zip(&expected).all(|(a, b)| (a - b).norm() < 1e-5));
}

#[test]
fn what_does_not_fit_is_refused() {
    let mut party = party();
    let matrix = dense(16);
    let plan = Plan::new(&party.context, &matrix, 2).unwrap();
    let transform = LinearTransform::encode(&party.context, &matrix, plan.clone()).unwrap();
    let none = rotation_keys(&party.context, &party.secret, [1], false, 3, &mut party.rng).unwrap();
    let a = party.encrypt(&numbers(16));
    let missing = transform.apply(&party.evaluator, &a, &none);
    assert!(matches!(missing, Err(LinearTransformError::Ckks(CkksError::MissingRotation { .. }))));
    let low = party.evaluator.level_to(&a, 1).unwrap();
    assert!(matches!(
        transform.apply(&party.evaluator, &low, &none),
        Err(LinearTransformError::Ckks(CkksError::LevelTooLow { got: 1, wanted: 2, .. }))
    ));
    let long = party.encrypt(&numbers(32));
    let keys = party.keys(&plan);
    assert!(matches!(
        transform.apply(&party.evaluator, &long, &keys),
        Err(LinearTransformError::Slots { size: 16, got: 32 })
    ));
    let other = dense(8);
    let unequal = LinearTransform::encode(&party.context, &other, plan);
    assert!(matches!(unequal, Err(LinearTransformError::PlanMismatch)));
    assert!(Plan::new(&party.context, &dense(256), 1).is_err());
    assert!(Plan::new(&party.context, &other, DEPTH + 1).is_err());
    let last = Plan::new(&party.context, &other, 0).unwrap();
    assert!(matches!(
        LinearTransform::encode(&party.context, &other, last),
        Err(LinearTransformError::Ckks(CkksError::LevelExhausted { .. }))
    ));
    let mut huge = Diagonals::new(8).unwrap();
    huge.add(0, &[Complex64::from(1e30)]).unwrap();
    let plan = Plan::new(&party.context, &huge, 1).unwrap();
    assert!(LinearTransform::encode(&party.context, &huge, plan).is_err());
}
