//! The three ways to share CKKS operations among threads, against each other at every level of the default
//! bootstrapping set's chain: collapsed loops should never be much slower than another way.

use std::ops::RangeInclusive;

use sunzi_circuits::bootstrap::Set;
use sunzi_ring::Parallelism;
use sunzi_rlwe::Security;

use crate::bench::bootstrapping::Message;
use crate::bench::{Options, Result, Row, take_turns};
use crate::subjects::strategies::{Operation, Subject};

/// log2 of the ring degrees at which sharing among threads is timed unless others are asked for.
pub const LOG_DEGREES: RangeInclusive<u32> = 15..=15;
/// Bar on the time with collapsed loops / with another way to share work among threads.
const BAR: f64 = 1.05;
/// Largest error allowed in a slot of a timed CKKS operation.
const TOLERANCE: f64 = 1e-5;
/// Ways to share work among threads that collapsed loops are compared with.
const OTHERS: [(Parallelism, &str); 2] =
    [(Parallelism::CoefficientWise, "coefficient-wise"), (Parallelism::ModulusWise, "modulus-wise")];

/// CKKS operations that are shared among threads, and their names.
const OPERATIONS: [(Operation, &str); 4] = [
    (Operation::Multiply, "multiply_relinearize"),
    (Operation::Rescale, "rescale"),
    (Operation::Rotate, "rotate"),
    (Operation::Add, "add"),
];

/// Two rows for every CKKS operation and level: collapsed loops against the two other ways to share work, on
/// the threads of the options. All levels from 1 on if `levels` is empty.
///
/// # Errors
/// A degree without parameters; an operation that fails; threads that do not start.
pub fn run(options: &Options, levels: &[usize]) -> Result<Vec<Row>> {
    options.rows(LOG_DEGREES, |log_n| {
        let messages = |slots| [0, 1].map(|number| Message::Random.slots(slots, number));
        let subject = Subject::new(&chain(log_n).parameters()?, messages, TOLERANCE)?;
        let all: Vec<usize> = (1..=subject.level()).collect();
        let levels = if levels.is_empty() { &all } else { levels };
        let rows = levels.iter().map(|level| rows_of(&subject, *level, options));
        Ok(rows.collect::<Result<Vec<_>>>()?.concat())
    })
}

/// The default bootstrapping set at this degree; without security where the ring is smaller.
fn chain(log_n: u32) -> Set {
    let set = Set::default_128();
    let security = if log_n < set.log2_degree { Security::InsecureForResearchOnly } else { set.security };
    Set { log2_degree: log_n, security, ..set }
}

fn rows_of(subject: &Subject, level: usize, options: &Options) -> Result<Vec<Row>> {
    let operands = subject.operands(level)?;
    let collapsed = subject.evaluator(Parallelism::Collapsed)?;
    let mut evaluators = vec![collapsed];
    for (parallelism, _) in OTHERS {
        evaluators.push(subject.evaluator(parallelism)?);
    }
    let context = collapsed.context();
    let mut rows = Vec::new();
    for (operation, name) in OPERATIONS {
        let calls = evaluators.iter().map(|evaluator| || subject.apply(operation, evaluator, &operands));
        let series = take_turns(options.rounds, &mut calls.collect::<Vec<_>>())?;
        let [ours, theirs @ ..] = series.as_slice() else { continue };
        let own = subject.apply(operation, collapsed, &operands)?;
        let right = subject.is_right(operation, &own)?;
        let others = OTHERS.iter().zip(evaluators.iter().skip(1));
        for (((_, strategy), other), times) in others.zip(theirs) {
            let theirs = subject.apply(operation, other, &operands)?;
            let same = own
                .parts()
                .iter()
                .map(|part| part.words())
                .eq(theirs.parts().iter().map(|part| part.words()));
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
