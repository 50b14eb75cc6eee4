//! Keys and numbers for the CKKS tests.
use crate::storage::stored;
use chacha20::ChaCha20Rng;
use chacha20::rand_core::SeedableRng;
use num_complex::Complex64;
use rand::RngExt;
use sunzi_big::BigRing;
use sunzi_ckks::rotation::rotation_keys;
use sunzi_ckks::{Ciphertext, Context, Encoder, Evaluator, LevelRange, Parameters, Settings};
use sunzi_ring::Storage;
use sunzi_rlwe::{GaloisKeys, PublicKey, RelinearizationKey, RingShape, SecretKey, Security};

/// Rotations for which the tests have keys.
pub(crate) const STEPS: [i64; 4] = [1, -1, 5, 16];

/// Makes a real ring of degree 2^`log2_degree`.
pub(crate) fn real(log2_degree: u32) -> RingShape {
    RingShape::RealLog2Degree(log2_degree)
}

/// Makes CKKS parameters on a small ring: `depth` levels at one scale.
pub(crate) fn parameters(
    ring: impl Into<RingShape>,
    scale_bits: u32,
    depth: usize,
    digits: usize,
) -> Parameters {
    let ranges = [LevelRange { levels: depth, scale_bits }];
    Parameters::from_ranges(ring, scale_bits + 7, &ranges, Security::InsecureForResearchOnly)
        .unwrap()
        .with_digits(digits)
        .unwrap()
}

/// Makes CKKS parameters of `depth` levels of `scale_bits` bits each, where levels are sets of moduli.
pub(crate) fn rational(
    ring: impl Into<RingShape>,
    scale_bits: u32,
    depth: usize,
    digits: usize,
) -> Parameters {
    let ranges = [LevelRange { levels: depth, scale_bits }];
    let security = Security::InsecureForResearchOnly;
    let parameters = Parameters::from_ranges_rational(ring, scale_bits + 7, &ranges, security).unwrap();
    parameters.with_digits(digits).unwrap()
}

/// Context, keys and random numbers of key holder and server together.
pub(crate) struct Party {
    pub(crate) context: Context,
    pub(crate) evaluator: Evaluator,
    pub(crate) secret: SecretKey,
    pub(crate) public: PublicKey,
    pub(crate) relinearization: RelinearizationKey,
    pub(crate) rotations: GaloisKeys,
    pub(crate) encoder: Encoder,
    pub(crate) rng: ChaCha20Rng,
}

impl Party {
    pub(crate) fn new(parameters: &Parameters, slots: usize) -> Self {
        Self::over(Context::new(parameters).unwrap(), slots)
    }
}

impl Party {
    /// Makes a party whose ring computes with big integers.
    pub(crate) fn oracle(parameters: &Parameters, slots: usize) -> Self {
        let moduli: Vec<_> = parameters.moduli().iter().map(|&q| q.into()).collect();
        let index = parameters.shape();
        let ring = match parameters.rungs() {
            [] => stored(BigRing::with_chain(index, &moduli).unwrap(), Storage::Big),
            rungs => stored(BigRing::with_rungs(index, &moduli, rungs).unwrap(), Storage::Big),
        };
        Self::over(Context::with_ring(ring, &Settings::from(parameters)).unwrap(), slots)
    }
}

impl Party {
    pub(crate) fn over(context: Context, slots: usize) -> Self {
        let mut rng = ChaCha20Rng::seed_from_u64(5);
        let rlwe = context.rlwe();
        let secret = SecretKey::generate(rlwe, &mut rng).unwrap();
        let public = PublicKey::generate(rlwe, &secret, &mut rng).unwrap();
        let relinearization = RelinearizationKey::generate(rlwe, &secret, &mut rng).unwrap();
        let rotations =
            rotation_keys(&context, &secret, STEPS, !context.has_real_slots(), context.depth(), &mut rng)
                .unwrap();
        let encoder = Encoder::new(&context, slots).unwrap();
        let evaluator = Evaluator::new(&context);
        Self { context, evaluator, secret, public, relinearization, rotations, encoder, rng }
    }

    /// Makes random numbers in the unit disk, one for each slot, or on its real axis.
    pub(crate) fn numbers(&mut self) -> Vec<Complex64> {
        let mut number = || {
            let radius: f64 = self.rng.random::<f64>().sqrt();
            Complex64::from_polar(radius, self.rng.random_range(0.0..std::f64::consts::TAU))
        };
        let mut numbers: Vec<Complex64> = (0..self.encoder.slots()).map(|_| number()).collect();
        numbers.iter_mut().for_each(|number| *number = self.number(*number));
        numbers
    }

    /// Returns a number that slots can hold: itself, or its real part.
    pub(crate) fn number(&self, number: Complex64) -> Complex64 {
        if self.context.has_real_slots() { number.re.into() } else { number }
    }

    pub(crate) fn encrypt(&mut self, values: &[Complex64]) -> Ciphertext {
        let plaintext = self.encoder.encode(values).unwrap();
        self.context.encrypt(&plaintext, &self.public, &mut self.rng).unwrap()
    }

    pub(crate) fn open(&self, ciphertext: &Ciphertext) -> Vec<Complex64> {
        self.encoder.decode(&self.context.decrypt(ciphertext, &self.secret).unwrap()).unwrap()
    }

    /// The root of the mean square error of the slots.
    pub(crate) fn error(&self, ciphertext: &Ciphertext, expected: &[Complex64]) -> f64 {
        let opened = self.open(ciphertext);
        assert_eq!(opened.len(), expected.len());
        let squares: f64 = opened.iter().zip(expected).map(|(a, b)| (a - b).norm_sqr()).sum();
        (squares / expected.len() as f64).sqrt()
    }

    /// Fails unless the error of the slots is about what the ciphertext says, next to that of doubles.
    pub(crate) fn check(&self, ciphertext: &Ciphertext, expected: &[Complex64], what: &str) {
        let precision = ciphertext.metadata().precision;
        let (got, estimate, bound) =
            (self.error(ciphertext, expected), precision.deviation(), precision.magnitude());
        // The mean of few slots varies more.
        let factor = 1.2 + 3.0 / (expected.len() as f64).sqrt();
        assert!(got <= factor * estimate + 4e-15 * bound, "{what}: error {got:e}, estimate {estimate:e}");
        let magnitude = expected.iter().map(|value| value.norm()).fold(0.0, f64::max);
        assert!(magnitude <= bound * (1.0 + 1e-9), "{what}: slots of {magnitude}, bound {bound}");
    }
}

/// Applies a function to two vectors slot by slot.
pub(crate) fn zip(
    a: &[Complex64],
    b: &[Complex64],
    f: impl Fn(Complex64, Complex64) -> Complex64,
) -> Vec<Complex64> {
    a.iter().zip(b).map(|(&a, &b)| f(a, b)).collect()
}

pub(crate) fn map(a: &[Complex64], f: impl Fn(Complex64) -> Complex64) -> Vec<Complex64> {
    a.iter().map(|&a| f(a)).collect()
}

/// Rotates a vector: slot i + steps moves to slot i.
pub(crate) fn rotated(a: &[Complex64], steps: i64) -> Vec<Complex64> {
    let mut rotated = a.to_vec();
    rotated.rotate_left(steps.rem_euclid(a.len() as i64) as usize);
    rotated
}
