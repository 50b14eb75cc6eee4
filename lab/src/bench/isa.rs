//! Transforms and BFV on every instruction set of this machine, against the one it would choose.

use std::ops::RangeInclusive;

use sunzi_bfv::{Context, Parameters, slot_sum_exponents};
use sunzi_kernels::{Buffer, Isa, Modulus, NttPlan};
use sunzi_math::primes_below;
use sunzi_ring::Ring;

use crate::alternate;
use crate::bench::operations::parameters;
use crate::bench::{Job, Options, Result, Row, Series, check};

/// log2 of the ring degrees at which instruction sets are compared unless others are asked for.
pub const LOG_DEGREES: RangeInclusive<u32> = 13..=14;
/// Bits of the wide modulus whose transforms are timed beside those of the default size.
const WIDE_BITS: u32 = 60;
/// The operations of BFV that are compared across instruction sets.
const OPERATIONS: [&str; 5] = ["encrypt_public", "decrypt", "multiply", "multiply_relinearize", "rotate"];
/// The operation of BFV that has bars for instruction sets.
const JUDGED: &str = "multiply_relinearize";

/// Bar on the time of an operation with `isa` over that with AVX-512 IFMA.
fn bar(isa: Isa) -> Option<f64> {
    match isa {
        Isa::Avx2 => Some(2.5),
        Isa::Portable => Some(5.0),
        _ => None,
    }
}

/// Times transforms and BFV on every instruction set at every degree asked for, on one thread.
///
/// # Errors
/// A degree without a default parameter set; an operation that fails; threads that do not start.
pub fn run(options: &Options) -> Result<Vec<Row>> {
    let isas: Vec<Isa> = Isa::ALL.into_iter().filter(|isa| isa.is_available()).collect();
    options.rows(LOG_DEGREES, |log_n| {
        let parameters = parameters(log_n)?;
        let mut rows = Vec::new();
        for q in parameters.moduli().iter().take(1).chain(&primes_below(1 << WIDE_BITS, 2 << log_n, 1)?) {
            rows.extend(transforms(&isas, 1 << log_n, *q, options.rounds)?);
        }
        rows.extend(operations(&isas, &parameters, options.rounds)?);
        Ok(rows)
    })
}

/// Times the forward and inverse transforms of one modulus on every instruction set.
fn transforms(isas: &[Isa], n: usize, q: u64, rounds: usize) -> Result<Vec<Row>> {
    let plans = isas.iter().map(|&isa| NttPlan::new(Modulus::with_isa(q, isa)?, n));
    let plans = plans.collect::<Result<Vec<_>, _>>()?;
    let words = check::residues(n, q, 3);
    let mut rows = Vec::new();
    for forward in [true, false] {
        let mut data = vec![Buffer::from_slice(&words); plans.len()];
        let mut calls: Vec<_> = plans
            .iter()
            .zip(&mut data)
            .map(|(plan, words)| move || if forward { plan.forward(words) } else { plan.inverse(words) })
            .collect();
        let series = alternate::take_turns(rounds, &mut calls)?;
        let name = if forward { "forward" } else { "inverse" };
        let row = Row { name: name.to_owned(), n, log_q: (q as f64).log2(), rounds, ..Row::default() };
        // Every table gives the same bits.
        let mut results = vec![Buffer::from_slice(&words); plans.len()];
        for (plan, words) in plans.iter().zip(&mut results) {
            if forward { plan.forward(words) } else { plan.inverse(words) }?;
        }
        let correct = results.windows(2).all(|pair| matches!(pair, [a, b] if a[..] == b[..]));
        rows.extend(compare(isas, &Row { correct, ..row }, &series));
    }
    Ok(rows)
}

fn operations(isas: &[Isa], parameters: &Parameters, rounds: usize) -> Result<Vec<Row>> {
    let t = parameters.plain_modulus();
    let job = |isa: &Isa| {
        let ring = Ring::with_isa(2 << parameters.log2_degree(), parameters.moduli(), *isa)?;
        let n = 1 << parameters.log2_degree();
        let context = Context::with_ring(ring, t, parameters.security())?;
        let values = [1, 2].map(|seed| check::residues(n, t, seed));
        Job::with_context(context, values, slot_sum_exponents(n, n))
    };
    let jobs = isas.iter().map(job).collect::<Result<Vec<_>>>()?;
    let mut correct = true;
    for job in &jobs {
        correct &= job.holds()?;
    }
    let mut rows = Vec::new();
    for name in OPERATIONS {
        let all: Vec<_> = jobs.iter().flat_map(Job::operations).filter(|(other, _)| *other == name).collect();
        let mut calls: Vec<_> = all.iter().map(|(_, operation)| || operation()).collect();
        let series = alternate::take_turns(rounds, &mut calls)?;
        let (n, log_q) = jobs.first().map_or((0, 0.0), |job| (job.n(), job.log_q()));
        let row = Row { name: name.to_owned(), n, log_q, correct, rounds, ..Row::default() };
        rows.extend(compare(isas, &row, &series));
    }
    Ok(rows)
}

/// One row for each instruction set, equal to `row` in all other fields.
fn compare(isas: &[Isa], row: &Row, series: &[Series]) -> Vec<Row> {
    let (Some(fastest), Some(first)) = (isas.first(), series.first()) else { return Vec::new() };
    let rows = isas.iter().zip(series).map(|(isa, ours)| {
        let judged = row.name == JUDGED && *fastest == Isa::Avx512Ifma;
        Row {
            name: format!("{}, {isa}", row.name),
            isa: Some(isa.to_string()),
            bar: if judged { bar(*isa) } else { None },
            ..row.clone()
        }
        .against(ours, fastest.to_string(), first)
        .judged()
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_instruction_set_is_timed_and_right() {
        let rows = run(&Options { rounds: 1, log_n: vec![12], ..Options::default() }).unwrap();
        let isas = Isa::ALL.into_iter().filter(|isa| isa.is_available()).count();
        assert_eq!(rows.len(), isas * (2 * 2 + OPERATIONS.len()));
        assert!(rows.iter().all(|row| row.correct && row.ratio.is_some()), "{rows:?}");
    }
}
