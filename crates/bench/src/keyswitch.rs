//! Rotations by every method of key switching, against the least time of what they have to do: so many
//! transforms, and one reading of the key.

use std::ops::RangeInclusive;

use sunzi_kernels::{Buffer, Modulus, NttPlan};

use crate::alternate::{self, Series};
use crate::check;
use crate::job::{Job, expected};
use crate::operations::PLAIN_MODULUS;
use crate::options::on_threads;
use crate::report::{Bound, Counted, KeySwitch, Row};
use crate::shape::{Method, Shape};
use crate::stream::Stream;
use crate::{BenchError, Options};

/// log2 of the degrees that are timed unless others are asked for.
pub const LOG_DEGREES: RangeInclusive<u32> = 14..=15;
/// Bar on ours / bound of hybrid key switching.
const BOUND_BAR: f64 = 1.4;
/// What is timed.
const OPERATION: &str = "rotate";

/// Times a rotation by every method at every degree asked for, on one thread.
///
/// # Errors
/// A degree without parameters; an operation that fails; threads that do not start.
pub fn run(options: &Options) -> Result<Vec<Row>, BenchError> {
    options.validate()?;
    on_threads(1, || {
        let mut rows = Vec::new();
        for log_n in options.log_degrees(LOG_DEGREES) {
            for shape in Shape::all(log_n) {
                rows.push(rotation(&shape, options.rounds)?);
            }
        }
        Ok(rows)
    })
}

/// The forward and inverse transforms of one rotation of a ciphertext in evaluation form.
///
/// c_1 is brought to coefficients, every digit to all limbs that it is not made of, and two halves are divided by
/// P: their limbs modulo P go to coefficients, and what is subtracted returns.
fn transforms(shape: &Shape) -> [u64; 2] {
    let (limbs, special) = (shape.limbs as u64, shape.special as u64);
    let digits = shape.digits() as u64;
    let divided = if special > 0 { 2 * limbs } else { 0 };
    [digits * (limbs + special) - limbs + divided, limbs + 2 * special]
}

fn rotation(shape: &Shape, rounds: usize) -> Result<Row, BenchError> {
    let n = shape.degree();
    let values = [1, 2].map(|seed| check::residues(n, PLAIN_MODULUS, seed));
    let expected = {
        let [left, right] = &values;
        expected(OPERATION, left, right, PLAIN_MODULUS)
    };
    let parameters = shape.parameters()?;
    let q = parameters.moduli().first().copied().unwrap_or_default();
    let job = Job::new(&parameters, values, Vec::new())?;
    let plan = NttPlan::new(Modulus::new(q)?, n)?;
    let words = check::residues(n, q, 3);
    let mut data = [Buffer::from_slice(&words), Buffer::from_slice(&words)];
    let [there, back] = &mut data;
    let key_bytes = job.rotation_key_bytes()?;
    let stream = Stream::new(key_bytes);
    let rotate = job.contender(OPERATION)?;
    let series = alternate::alternate(
        rounds,
        &mut [
            &mut { rotate },
            &mut || Ok(plan.forward(there)?),
            &mut || Ok(plan.inverse(back)?),
            &mut || stream.read(),
        ],
    )?;
    let [ours, forward, inverse, read] = series.as_slice() else {
        return Err(BenchError::TooFewRounds { got: 0, least: 1 });
    };
    let row = Row {
        name: shape.to_string(),
        n,
        log_q: job.log_q(),
        ours_us: ours.median(),
        isa: Some(plan.modulus().isa().to_string()),
        bound: Some(bound(shape, ours, forward, inverse, read, key_bytes as u64)),
        correct: job.outcome(OPERATION)? == expected,
        rounds,
        ..Row::default()
    };
    Ok(row.judged())
}

fn bound(
    shape: &Shape,
    ours: &Series,
    forward: &Series,
    inverse: &Series,
    read: &Series,
    key_bytes: u64,
) -> Bound {
    let counts = transforms(shape);
    let [there, back] = counts;
    let least = forward.scaled(there as f64).plus(&inverse.scaled(back as f64)).plus(read);
    let counted = Counted::KeySwitch(KeySwitch {
        forward: there,
        inverse: back,
        forward_us: forward.median(),
        inverse_us: inverse.median(),
        key_bytes,
        bytes_per_ns: key_bytes as f64 / read.median() / 1e3,
    });
    let bar = (shape.method() == Method::Hybrid).then_some(BOUND_BAR);
    Bound { bound_us: least.median(), over_bound: ours.over(&least).median, bound_bar: bar, counted }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_is_timed_and_right() {
        let rows = run(&Options { rounds: 1, log_n: vec![13], ..Options::default() }).unwrap();
        assert_eq!(rows.len(), Shape::all(13).len());
        for row in &rows {
            assert!(row.correct && row.bound.as_ref().unwrap().over_bound > 0.5, "{row:?}");
        }
    }

    #[test]
    fn transforms_are_those_of_the_formulas() {
        // BV: k inverse and k(k − 1) forward; hybrid: (d + 2)(k + α) in all.
        assert_eq!(transforms(&Shape { log_n: 14, limbs: 9, special: 0 }), [72, 9]);
        let [forward, inverse] = transforms(&Shape { log_n: 15, limbs: 14, special: 4 });
        assert_eq!(forward + inverse, 6 * 18);
    }
}
