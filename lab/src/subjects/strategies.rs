//! CKKS operations by every strategy that shares work among threads, at every level: one secret, its keys and
//! two messages.

use num_complex::Complex64;
use sunzi_ckks::rotation::rotation_keys;
use sunzi_ckks::{Ciphertext, CkksError, Context, Encoder, Evaluator, Parameters, Settings};
use sunzi_ring::Parallelism;
use sunzi_rlwe::{GaloisKeys, RelinearizationKey, SecretKey, randomness};

use crate::Result;

/// The constant that a ciphertext is multiplied by.
const CONSTANT: f64 = 0.625;

/// A timed operation of CKKS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    /// The sum of both operands.
    Add,
    /// The product of the first operand and a constant with a scale of `scale_bits` bits.
    Constant {
        /// log2 of the constant's scale.
        scale_bits: u32,
    },
    /// The product of both operands with relinearisation, not rescaled.
    Multiply,
    /// The rescaling of a product of both operands.
    Rescale,
    /// The first operand rotated by one slot.
    Rotate,
}

/// Keys, messages and ciphertexts of CKKS, and an evaluator for every strategy; keys and ciphertexts are
/// shared by all.
pub(crate) struct Subject {
    evaluators: Vec<(Parallelism, Evaluator)>,
    secret: SecretKey,
    relinearization: RelinearizationKey,
    galois: GaloisKeys,
    encoder: Encoder,
    messages: [Vec<Complex64>; 2],
    tolerance: f64,
    a: Ciphertext,
    b: Ciphertext,
}

/// CKKS operands of one level; the product has the scale that a rescaling expects.
pub(crate) struct Operands {
    a: Ciphertext,
    b: Ciphertext,
    product: Ciphertext,
}

/// A CKKS context whose work is shared among threads by this strategy.
pub(crate) fn context(parameters: &Parameters, parallelism: Parallelism) -> Result<Context> {
    parameters.validate()?;
    Ok(Context::with_ring(parameters.ring()?.with_parallelism(parallelism), &Settings::from(parameters))?)
}

impl Subject {
    /// Makes CKKS keys for all levels and two messages in all slots, whose errors may be up to `tolerance`.
    pub(crate) fn new(
        parameters: &Parameters,
        messages: impl Fn(usize) -> [Vec<Complex64>; 2],
        tolerance: f64,
    ) -> Result<Self> {
        let mut evaluators = Vec::new();
        for parallelism in [Parallelism::Collapsed, Parallelism::CoefficientWise, Parallelism::ModulusWise] {
            evaluators.push((parallelism, Evaluator::new(&context(parameters, parallelism)?)));
        }
        let context = context(parameters, Parallelism::Collapsed)?;
        let mut rng = randomness::from_os()?;
        let secret = SecretKey::generate(context.rlwe(), &mut rng)?;
        let relinearization = RelinearizationKey::generate(context.rlwe(), &secret, &mut rng)?;
        let galois = rotation_keys(&context, &secret, [1], false, context.depth(), &mut rng)?;
        let encoder = Encoder::new(&context, context.max_slots())?;
        let messages = messages(context.max_slots());
        let [left, right] = &messages;
        let a = context.encrypt_secret(&encoder.encode(left)?, &secret, &mut rng)?;
        let b = context.encrypt_secret(&encoder.encode(right)?, &secret, &mut rng)?;
        Ok(Self { evaluators, secret, relinearization, galois, encoder, messages, tolerance, a, b })
    }

    /// The level of fresh CKKS ciphertexts.
    pub(crate) fn level(&self) -> usize {
        self.a.metadata().level
    }

    /// The context of the evaluator that shares limbs and coefficients.
    pub(crate) fn context(&self) -> Result<&Context> {
        Ok(self.evaluator(Parallelism::Collapsed)?.context())
    }

    /// The evaluator that shares work by this strategy.
    pub(crate) fn evaluator(&self, parallelism: Parallelism) -> Result<&Evaluator> {
        let found = self.evaluators.iter().find(|(other, _)| *other == parallelism);
        found.map(|(_, evaluator)| evaluator).ok_or(CkksError::Empty { what: "a list of strategies" }.into())
    }

    /// CKKS ciphertexts of this level, brought down from fresh ones.
    pub(crate) fn operands(&self, level: usize) -> Result<Operands> {
        let evaluator = self.evaluator(Parallelism::Collapsed)?;
        let a = evaluator.level_to(&self.a, level)?;
        let b = evaluator.level_to(&self.b, level)?;
        let product = evaluator.relinearize(&evaluator.multiply_unscaled(&a, &b)?, &self.relinearization)?;
        Ok(Operands { a, b, product })
    }

    /// The result of a CKKS operation by one strategy.
    pub(crate) fn apply(
        &self,
        operation: Operation,
        evaluator: &Evaluator,
        Operands { a, b, product }: &Operands,
    ) -> Result<Ciphertext, CkksError> {
        match operation {
            Operation::Add => evaluator.add(a, b),
            Operation::Constant { scale_bits } => {
                evaluator.multiply_constant_unscaled(a, CONSTANT, f64::from(scale_bits).exp2())
            }
            Operation::Multiply => {
                evaluator.relinearize(&evaluator.multiply_unscaled(a, b)?, &self.relinearization)
            }
            Operation::Rescale => evaluator.rescale(product),
            Operation::Rotate => evaluator.rotate(a, 1, &self.galois),
        }
    }

    /// Whether the result of a CKKS operation decrypts to what it should.
    pub(crate) fn is_right(&self, operation: Operation, result: &Ciphertext) -> Result<bool> {
        let context = self.context()?;
        let opened = self.encoder.decode(&context.decrypt(result, &self.secret)?)?;
        let [left, right] = &self.messages;
        let expected = |at: usize, (x, y): (&Complex64, &Complex64)| match operation {
            Operation::Add => x + y,
            Operation::Constant { .. } => x * CONSTANT,
            Operation::Multiply | Operation::Rescale => x * y,
            Operation::Rotate => left.get((at + 1) % left.len()).copied().unwrap_or_default(),
        };
        let mut pairs = left.iter().zip(right).enumerate().zip(&opened);
        let close =
            |((at, pair), got): ((usize, _), &Complex64)| (expected(at, pair) - got).norm() <= self.tolerance;
        Ok(opened.len() == left.len() && pairs.all(close))
    }
}
