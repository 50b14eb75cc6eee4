//! The five operations of the paper on real ciphertexts.

use std::time::{Duration, Instant};

use num_complex::Complex64;
use sunzi_ckks::rotation::rotation_keys;
use sunzi_ckks::{Ciphertext, CkksError, Context, Encoder, Evaluator, LevelRange, Parameters, Settings};
use sunzi_ring::{Parallelism, Ring};
use sunzi_rlwe::{GaloisKeys, RelinearizationKey, SecretKey, Security, randomness};

use super::printed::{DEPTH, FIRST_BITS, SCALE_BITS};
use crate::LabError;

/// Digits of key switching.
const DIGITS: usize = 3;
/// A constant for CMult.
const CONSTANT: f64 = 0.625;
/// How far a slot may be from what it should be.
const TOLERANCE: f64 = 1e-6;

/// An operation of Table 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    Add,
    Constant,
    Multiply,
    Rescale,
    Rotate,
}

impl Operation {
    /// In the paper's order.
    pub(super) const ALL: [Self; 5] =
        [Self::Add, Self::Constant, Self::Multiply, Self::Rescale, Self::Rotate];

    /// The paper's name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Add => "Add",
            Self::Constant => "CMult",
            Self::Multiply => "Mult",
            Self::Rescale => "Rescale",
            Self::Rotate => "LeftRot",
        }
    }
}

/// The three strategies, with the paper's names.
pub(super) const STRATEGIES: [(Parallelism, &str); 3] = [
    (Parallelism::CoefficientWise, "Coefficient-wise"),
    (Parallelism::ModulusWise, "Modulus-wise"),
    (Parallelism::Collapsed, "Coef&Mod-wise"),
];

/// Ciphertexts with the paper's moduli, and one evaluator for every strategy: keys and ciphertexts are the same.
pub(super) struct Subject {
    evaluators: Vec<(Parallelism, Evaluator)>,
    secret: SecretKey<Ring>,
    relinearization: RelinearizationKey<Ring>,
    galois: GaloisKeys<Ring>,
    encoder: Encoder,
    left: Vec<Complex64>,
    right: Vec<Complex64>,
    a: Ciphertext,
    b: Ciphertext,
}

/// Operands of one level.
pub(super) struct Operands {
    a: Ciphertext,
    b: Ciphertext,
    product: Ciphertext,
}

/// A context whose work is shared in this way.
pub(super) fn context(parameters: &Parameters, parallelism: Parallelism) -> Result<Context, LabError> {
    parameters.validate()?;
    Ok(Context::with_ring(parameters.ring()?.with_parallelism(parallelism), &Settings::from(parameters))?)
}

impl Subject {
    /// At N = 2^`log2_degree`, for levels up to 32.
    pub(super) fn new(log2_degree: u32) -> Result<Self, LabError> {
        let ranges = [LevelRange { levels: DEPTH, scale_bits: SCALE_BITS }];
        let research = Security::InsecureForResearchOnly;
        let parameters =
            Parameters::from_ranges(log2_degree, FIRST_BITS, &ranges, research)?.with_digits(DIGITS)?;
        let mut evaluators = Vec::new();
        for (parallelism, _) in STRATEGIES {
            evaluators.push((parallelism, Evaluator::new(&context(&parameters, parallelism)?)));
        }
        let context = Context::new(&parameters)?;
        let mut rng = randomness::from_os()?;
        let secret = SecretKey::generate(context.rlwe(), &mut rng)?;
        let relinearization = RelinearizationKey::generate(context.rlwe(), &secret, &mut rng)?;
        let galois = rotation_keys(&context, &secret, [1], false, context.depth(), &mut rng)?;
        let encoder = Encoder::new(&context, context.max_slots())?;
        let [left, right] = [0.37, 1.93].map(|step| message(context.max_slots(), step));
        let a = context.encrypt_secret(&encoder.encode(&left)?, &secret, &mut rng)?;
        let b = context.encrypt_secret(&encoder.encode(&right)?, &secret, &mut rng)?;
        Ok(Self { evaluators, secret, relinearization, galois, encoder, left, right, a, b })
    }

    /// Ciphertexts of this level.
    pub(super) fn operands(&self, level: usize) -> Result<Operands, LabError> {
        let evaluator = self.evaluator(Parallelism::Collapsed)?;
        let a = evaluator.level_to(&self.a, level)?;
        let b = evaluator.level_to(&self.b, level)?;
        let product = evaluator.relinearize(&evaluator.multiply_unscaled(&a, &b)?, &self.relinearization)?;
        Ok(Operands { a, b, product })
    }

    /// How long one operation takes; its result is opened and must be right.
    pub(super) fn time(
        &self,
        operation: Operation,
        parallelism: Parallelism,
        operands: &Operands,
    ) -> Result<Duration, LabError> {
        let evaluator = self.evaluator(parallelism)?;
        let begin = Instant::now();
        let result = self.apply(operation, evaluator, operands)?;
        let taken = begin.elapsed();
        let opened = self.encoder.decode(&evaluator.context().decrypt(&result, &self.secret)?)?;
        let right = self.expected(operation).iter().zip(&opened).all(|(x, y)| (x - y).norm() <= TOLERANCE);
        match right && opened.len() == self.left.len() {
            true => Ok(taken),
            false => Err(LabError::Wrong {
                operation: operation.name(),
                variant: "CKKS",
                degree: evaluator.context().degree(),
            }),
        }
    }

    fn evaluator(&self, parallelism: Parallelism) -> Result<&Evaluator, LabError> {
        let found = self.evaluators.iter().find(|(other, _)| *other == parallelism);
        found.map(|(_, evaluator)| evaluator).ok_or(CkksError::Empty { what: "a list of strategies" }.into())
    }

    fn apply(
        &self,
        operation: Operation,
        evaluator: &Evaluator,
        Operands { a, b, product }: &Operands,
    ) -> Result<Ciphertext, CkksError> {
        match operation {
            Operation::Add => evaluator.add(a, b),
            Operation::Constant => {
                evaluator.multiply_constant_unscaled(a, CONSTANT, f64::from(SCALE_BITS).exp2())
            }
            Operation::Multiply => {
                evaluator.relinearize(&evaluator.multiply_unscaled(a, b)?, &self.relinearization)
            }
            Operation::Rescale => evaluator.rescale(product),
            Operation::Rotate => evaluator.rotate(a, 1, &self.galois),
        }
    }

    fn expected(&self, operation: Operation) -> Vec<Complex64> {
        let both = |f: fn(Complex64, Complex64) -> Complex64| {
            self.left.iter().zip(&self.right).map(|(x, y)| f(*x, *y)).collect()
        };
        match operation {
            Operation::Add => both(|x, y| x + y),
            Operation::Constant => self.left.iter().map(|x| x * CONSTANT).collect(),
            Operation::Multiply | Operation::Rescale => both(|x, y| x * y),
            Operation::Rotate => {
                let mut turned = self.left.clone();
                turned.rotate_left(1);
                turned
            }
        }
    }
}

/// Complex numbers in the unit disc that look random.
pub(super) fn message(slots: usize, step: f64) -> Vec<Complex64> {
    let part = |at: f64| (at * step).sin() * 0.7;
    (0..slots).map(|at| Complex64::new(part(at as f64), part(at as f64 * 1.618 + 0.5))).collect()
}
