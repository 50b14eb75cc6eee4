//! Rotations by every method of key switching, against the least time of their work: the transforms, and one
//! reading of the key.

mod compact;

use std::ops::RangeInclusive;

use sunzi_kernels::{Buffer, Modulus, NttPlan};

use crate::bench::report::{Bound, Counted, KeySwitch};
use crate::bench::{
    HOISTED, Job, Method, Options, PLAIN_MODULUS, Result, Row, Series, Shape, Stream, check, expected,
    hoisted_exponents, side_by_side, tally,
};

/// log2 of the ring degrees at which rotations are timed unless others are asked for.
pub const LOG_DEGREES: RangeInclusive<u32> = 14..=15;
/// Bar on the time of a rotation by hybrid key switching / its least time.
const BOUND_BAR: f64 = 1.4;

/// Times a rotation by every method at every degree asked for, on one thread.
///
/// # Errors
/// A degree without parameters; an operation that fails; threads that do not start.
pub fn run(options: &Options) -> Result<Vec<Row>> {
    options.rows(LOG_DEGREES, |log_n| {
        let mut rows = Vec::new();
        for shape in Shape::all(log_n) {
            rows.extend(rotations(&shape, options.rounds)?);
            if shape.method() == Method::Hybrid {
                rows.push(compact::row(&shape, options.rounds)?);
            }
        }
        Ok(rows)
    })
}

/// Name of each timed operation, and the number of rotations it consists of.
const OPERATIONS: [(&str, u64); 2] = [("rotate", 1), ("rotate_hoisted", *HOISTED.end() as u64)];

/// Number of forward and of inverse transforms that `rotations` rotations of one ciphertext in evaluation
/// form take.
///
/// A rotation brings c_1 to coefficients, every digit to all limbs that it is not made of; then two halves
/// are divided by P: their limbs modulo P go to coefficients, and what is subtracted returns.
fn transforms(shape: &Shape, rotations: u64) -> [u64; 2] {
    let (limbs, special) = (shape.limbs as u64, shape.special as u64);
    let digits = shape.digits() as u64;
    let divided = if special > 0 { 2 * limbs } else { 0 };
    [digits * (limbs + special) - limbs + rotations * divided, limbs + rotations * 2 * special]
}

fn rotations(shape: &Shape, rounds: usize) -> Result<Vec<Row>> {
    let n = shape.degree();
    let values = [1, 2].map(|seed| check::residues(n, PLAIN_MODULUS, seed));
    let parameters = shape.parameters(PLAIN_MODULUS)?;
    let plan = NttPlan::new(Modulus::new(parameters.moduli().first().copied().unwrap_or_default())?, n)?;
    // Many keys only where they are used.
    let hoisted = if shape.method() == Method::Hybrid { hoisted_exponents(n) } else { Vec::new() };
    let job = Job::new(&parameters, values.clone(), hoisted)?;
    let all = job.operations();
    let offered = OPERATIONS.iter().filter(|(name, _)| all.iter().any(|(other, _)| other == name));
    offered.map(|operation| row(shape, &job, &plan, &values, operation, rounds)).collect()
}

fn row(
    shape: &Shape,
    job: &Job,
    plan: &NttPlan,
    [left, right]: &[Vec<u64>; 2],
    (name, rotations): &(&str, u64),
    rounds: usize,
) -> Result<Row> {
    let words = check::residues(job.n(), plan.modulus().value(), 3);
    let mut data = [Buffer::from_slice(&words), Buffer::from_slice(&words)];
    let [there, back] = &mut data;
    let stream = Stream::new(job.rotation_key_bytes()? * *rotations as usize);
    let call = job.contender(name);
    let counted = tally::count(&call)?;
    let mut turns = (|| plan.forward(there), || plan.inverse(back), || stream.read());
    let series = side_by_side(rounds, [&mut { call }, &mut turns.0, &mut turns.1, &mut turns.2])?;
    let row = Row {
        name: format!("{name}, {shape}"),
        n: job.n(),
        log_q: job.log_q(),
        ours_us: series[0].median(),
        isa: Some(plan.modulus().isa().to_string()),
        bound: Some(bound(shape, *rotations, stream.bytes(), &series)),
        transforms: Some(counted.transforms()),
        conversion_products: Some(counted.conversion_products),
        correct: job.outcome(name)? == expected(name, left, right, PLAIN_MODULUS),
        rounds,
        ..Row::default()
    };
    Ok(row.judged())
}

fn bound(
    shape: &Shape,
    rotations: u64,
    key_bytes: u64,
    [ours, forward, inverse, read]: &[Series; 4],
) -> Bound {
    let [there, back] = transforms(shape, rotations);
    let least = forward.scaled(there as f64).plus(&inverse.scaled(back as f64)).plus(read);
    let counted = Counted::KeySwitch(KeySwitch {
        forward: there,
        inverse: back,
        forward_us: forward.median(),
        inverse_us: inverse.median(),
        key_bytes,
        bytes_per_ns: key_bytes as f64 / read.median() / 1e3,
    });
    let bar = (shape.method() == Method::Hybrid && rotations == 1).then_some(BOUND_BAR);
    Bound { bound_us: least.median(), over_bound: ours.over(&least).median, bound_bar: bar, counted }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_is_timed_and_right() {
        let rows = run(&Options { rounds: 1, log_n: vec![13], ..Options::default() }).unwrap();
        let hybrid = Shape::all(13).iter().filter(|shape| shape.method() == Method::Hybrid).count();
        // Each is timed alone, hybrid ones also hoisted and with a compact key.
        assert_eq!(rows.len(), Shape::all(13).len() + 2 * hybrid);
        for row in &rows {
            let over = row.bound.as_ref().map(|bound| bound.over_bound).or(row.ratio);
            assert!(row.correct && over.is_some_and(|over| over > 0.0), "{row:?}");
        }
    }

    #[test]
    fn transforms_are_those_of_the_formulas() {
        // BV: k inverse and k(k − 1) forward; hybrid: (d + 2)(k + α) in all.
        assert_eq!(transforms(&Shape { log_n: 14, limbs: 9, special: 0 }, 1), [72, 9]);
        let [forward, inverse] = transforms(&Shape { log_n: 15, limbs: 14, special: 4 }, 1);
        assert_eq!(forward + inverse, 6 * 18);
    }
}
