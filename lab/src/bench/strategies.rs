//! The three ways to share CKKS operations among threads against each other, at every level of the chain of the default set of
//! bootstrapping: collapsed loops should never be much slower than another way.

use std::ops::RangeInclusive;

use num_complex::Complex64;
use sunzi_circuits::bootstrap::Set;
use sunzi_ckks::rotation::rotation_keys;
use sunzi_ckks::{Ciphertext, CkksError, Context, Encoder, Evaluator, Parameters, Settings};
use sunzi_ring::{Parallelism, Poly, Ring};
use sunzi_rlwe::{GaloisKeys, RelinearizationKey, SecretKey, Security, randomness};

use crate::LabError;
use crate::alternate::take_turns;
use crate::bench::Options;
use crate::bench::bootstrapping::Message;
use crate::bench::report::Row;
use crate::threads::on_threads;

/// log2 of the degrees that are timed unless others are asked for.
pub const LOG_DEGREES: RangeInclusive<u32> = 15..=15;
/// Bar on collapsed loops / another strategy.
const BAR: f64 = 1.05;
/// How far a slot may be from what it should be.
const TOLERANCE: f64 = 1e-5;
/// What collapsed loops are compared with.
const OTHERS: [(Parallelism, &str); 2] =
    [(Parallelism::CoefficientWise, "coefficient-wise"), (Parallelism::ModulusWise, "modulus-wise")];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Operation {
    Multiply,
    Rescale,
    Rotate,
    Add,
}

/// The operations and their names.
const OPERATIONS: [(Operation, &str); 4] = [
    (Operation::Multiply, "multiply_relinearize"),
    (Operation::Rescale, "rescale"),
    (Operation::Rotate, "rotate"),
    (Operation::Add, "add"),
];

/// Two rows for every operation and level: collapsed loops against the two other strategies, on the threads of the options. All levels
/// from 1 on if `levels` is empty.
///
/// # Errors
/// A degree without parameters; an operation that fails; threads that do not start.
pub fn run(options: &Options, levels: &[usize]) -> Result<Vec<Row>, LabError> {
    options.validate()?;
    on_threads(options.threads, || {
        let mut rows = Vec::new();
        for log_n in options.log_degrees(LOG_DEGREES) {
            let subject = Subject::new(&chain(log_n).parameters()?)?;
            let all: Vec<usize> = (1..=subject.a.metadata().level).collect();
            for level in if levels.is_empty() { &all } else { levels } {
                rows.extend(subject.rows(*level, options)?);
            }
        }
        Ok(rows)
    })
}

/// The default set at this degree; without security where the ring is smaller.
fn chain(log_n: u32) -> Set {
    let set = Set::default_128();
    let security = if log_n < set.log2_degree { Security::InsecureForResearchOnly } else { set.security };
    Set { log2_degree: log_n, security, ..set }
}

/// One secret, its keys and two messages, for every strategy.
struct Subject {
    collapsed: Evaluator,
    others: Vec<(Evaluator, &'static str)>,
    secret: SecretKey<Ring>,
    relinearization: RelinearizationKey<Ring>,
    galois: GaloisKeys<Ring>,
    encoder: Encoder,
    messages: [Vec<Complex64>; 2],
    a: Ciphertext,
    b: Ciphertext,
}

/// Operands of one level; the product has the scale that a rescaling expects.
struct Operands {
    a: Ciphertext,
    b: Ciphertext,
    product: Ciphertext,
}

impl Subject {
    fn new(parameters: &Parameters) -> Result<Self, LabError> {
        let evaluator = |parallelism: Parallelism| {
            let ring = parameters.ring()?.with_parallelism(parallelism);
            Ok::<_, CkksError>(Evaluator::new(&Context::with_ring(ring, &Settings::from(parameters))?))
        };
        parameters.validate()?;
        let collapsed = evaluator(Parallelism::Collapsed)?;
        let mut others = Vec::new();
        for (parallelism, name) in OTHERS {
            others.push((evaluator(parallelism)?, name));
        }
        let context = collapsed.context();
        let mut rng = randomness::from_os()?;
        let secret = SecretKey::generate(context.rlwe(), &mut rng)?;
        let relinearization = RelinearizationKey::generate(context.rlwe(), &secret, &mut rng)?;
        let galois = rotation_keys(context, &secret, [1], false, context.depth(), &mut rng)?;
        let encoder = Encoder::new(context, context.max_slots())?;
        let messages = [0, 1].map(|number| Message::Random.slots(context.max_slots(), number));
        let [left, right] = &messages;
        let a = context.encrypt_secret(&encoder.encode(left)?, &secret, &mut rng)?;
        let b = context.encrypt_secret(&encoder.encode(right)?, &secret, &mut rng)?;
        Ok(Self { others, secret, relinearization, galois, encoder, a, b, messages, collapsed })
    }

    fn rows(&self, level: usize, options: &Options) -> Result<Vec<Row>, LabError> {
        let a = self.collapsed.level_to(&self.a, level)?;
        let b = self.collapsed.level_to(&self.b, level)?;
        let mut operands = Operands { product: a.clone(), a, b };
        operands.product = self.apply(Operation::Multiply, &self.collapsed, &operands)?;
        let context = self.collapsed.context();
        let mut rows = Vec::new();
        for (operation, name) in OPERATIONS {
            let evaluators =
                std::iter::once(&self.collapsed).chain(self.others.iter().map(|(other, _)| other));
            let mut calls: Vec<_> = evaluators
                .map(|evaluator| {
                    || {
                        std::hint::black_box(self.apply(operation, evaluator, &operands)?);
                        Ok(())
                    }
                })
                .collect();
            let series = take_turns(options.rounds, &mut calls)?;
            let [ours, theirs @ ..] = series.as_slice() else { continue };
            let own = self.apply(operation, &self.collapsed, &operands)?;
            let right = self.is_right(operation, &own)?;
            for ((other, strategy), times) in self.others.iter().zip(theirs) {
                let theirs = self.apply(operation, other, &operands)?;
                let same = own.parts().iter().map(Poly::words).eq(theirs.parts().iter().map(Poly::words));
                let row = Row {
                    name: format!("{name}, level {level}"),
                    n: context.degree(),
                    log_q: context.log2_modulus_at(level)?,
                    threads: Some(options.threads),
                    bar: Some(BAR),
                    correct: right && same,
                    rounds: options.rounds,
                    ..Row::default()
                };
                rows.push(row.against(ours, (*strategy).to_owned(), times).judged());
            }
        }
        Ok(rows)
    }

    fn apply(
        &self,
        operation: Operation,
        evaluator: &Evaluator,
        Operands { a, b, product }: &Operands,
    ) -> Result<Ciphertext, CkksError> {
        match operation {
            Operation::Multiply => {
                evaluator.relinearize(&evaluator.multiply_unscaled(a, b)?, &self.relinearization)
            }
            Operation::Rescale => evaluator.rescale(product),
            Operation::Rotate => evaluator.rotate(a, 1, &self.galois),
            Operation::Add => evaluator.add(a, b),
        }
    }

    fn is_right(&self, operation: Operation, result: &Ciphertext) -> Result<bool, LabError> {
        let opened = self.encoder.decode(&self.collapsed.context().decrypt(result, &self.secret)?)?;
        let [left, right] = &self.messages;
        let expected = |at: usize, (x, y): (&Complex64, &Complex64)| match operation {
            Operation::Multiply | Operation::Rescale => x * y,
            Operation::Rotate => left.get((at + 1) % left.len()).copied().unwrap_or_default(),
            Operation::Add => x + y,
        };
        let mut pairs = left.iter().zip(right).enumerate().zip(&opened);
        let close =
            |((at, pair), got): ((usize, _), &Complex64)| (expected(at, pair) - got).norm() <= TOLERANCE;
        Ok(opened.len() == left.len() && pairs.all(close))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strategies_agree_at_every_level() {
        let options = Options { rounds: 1, log_n: vec![10], threads: 2, ..Options::default() };
        let rows = run(&options, &[]).unwrap();
        let levels = Set::default_128().levels().unwrap().coeffs_to_slots;
        assert_eq!(rows.len(), levels * OPERATIONS.len() * OTHERS.len());
        assert!(rows.iter().all(|row| row.correct && row.ratio.is_some() && row.met.is_some()));
    }
}
