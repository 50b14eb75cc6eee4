//! What `[TSKJ20]` can have timed: the product with (q/q_i)^-1 as section 4.1 prints it, a shift to the right whose
//! results are wrong, beside the right ones; and FastBconv to B_sk with nothing hoisted out of the loop over B_sk.
//!
//! Versions for timing only: what computes wrong results is here and in no library.

use std::time::{Duration, Instant};

use num_bigint::BigUint;
use num_traits::ToPrimitive;
use sunzi_fermat::{FermatRing, FermatScaler, InverseCofactor, Shortcuts, Workspace};
use sunzi_kernels::Modulus;
use sunzi_ring::Ring;

use super::Options;
use super::subject::{BOTH, Operation, PLAIN, Subject};
use crate::repro::{LabError, Result, Row, Rule, Series, Table, Timed, alternate_timed};

/// Number of coefficients that are converted at once: few, since nothing hoisted takes a millisecond for each.
const COEFFICIENTS: usize = 2;
/// Speed-up of a multiplication that the paper prints, at this many bits.
const PRINTED: (usize, f64) = (16_384, 14.68);
/// Index of the shift that the paper prints, and of the shift that it can have meant.
const RIGHT_SHIFT: usize = 2;
const LEFT_SHIFT: usize = 3;

/// A way to compute |x·(q/q_i)^-1|_{q_i}.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Big integers that are allocated, as in a library for number theory.
    BigIntegers,
    /// A product and a division of slices of words, by Sunzi or by GMP.
    General,
    /// The shift to the right by h − i bits `[TSKJ20, 4.1]`, and the remainder of what is shorter than q_i.
    RightShift,
    /// The shift to the left by h − i bits, and a general division.
    LeftShift,
    /// Both shortcuts: one rotation.
    Rotation,
}

const STEPS: [(Step, &str); 5] = [
    (Step::BigIntegers, "no shortcuts, num-bigint"),
    (Step::General, "no shortcuts"),
    (Step::RightShift, "shift right as printed"),
    (Step::LeftShift, "shift left, division"),
    (Step::Rotation, "both, one rotation"),
];
/// Index of the version that all speed-ups are over.
const BASE: usize = 1;

/// Residues of a few coefficients, with the tables that convert them to B_sk.
struct Sample {
    /// Inverse cofactors of every component: without shortcuts, with a shift to the left, with both shortcuts.
    cofactors: [Vec<InverseCofactor>; 3],
    values: Vec<BigUint>,
    inverses: Vec<BigUint>,
    /// Residues of every coefficient, a list for each component.
    residues: Vec<Vec<Vec<u64>>>,
    targets: Vec<Target>,
}

/// A prime of B_sk with q/q_i modulo it for every component.
struct Target {
    modulus: Modulus,
    /// 2^64 modulo the prime.
    word: u64,
    quotients: Vec<u64>,
}

impl Sample {
    fn new(degree: usize, bits: usize) -> Result<Self> {
        let ring = FermatRing::new(2 * degree as u64, bits)?;
        let scaler = Ring::of(ring.clone()).scaler(PLAIN, &Default::default())?;
        let auxiliary = scaler.tables().map_or(&[][..], FermatScaler::auxiliary_moduli).to_vec();
        let [none, multiplication, _, both] = Shortcuts::ALL;
        let of = |shortcuts| ring.with_shortcuts(shortcuts).cofactors().to_vec();
        let q = ring.fermat_modulus().value();
        let components = ring.fermat_modulus().components();
        let values: Vec<BigUint> = components.iter().map(|component| component.value()).collect();
        let inverses = values.iter().filter_map(|value| (&q / value % value).modinv(value)).collect();
        let mut state = 1_u64;
        let mut word = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            u64::from((state >> 33) as u32) << 32 | state >> 32
        };
        let mut random = |length: usize| (0..length).map(|_| word()).collect::<Vec<u64>>();
        let mut coefficient = || components.iter().map(|c| (*c, random(c.bits() / 64))).collect::<Vec<_>>();
        let residue = |(c, x): (sunzi_fermat::Component, Vec<u64>)| {
            let mut out = vec![0; c.len()];
            c.reduce(&mut out, &x);
            out
        };
        let residues = (0..COEFFICIENTS).map(|_| coefficient().into_iter().map(residue).collect()).collect();
        let targets = auxiliary.iter().map(|&p| Target::new(p, &q, &values)).collect::<Result<_>>()?;
        Ok(Self { cofactors: [of(none), of(multiplication), of(both)], values, inverses, residues, targets })
    }

    /// Computes |x·(q/q_i)^-1|_{q_i} by a step.
    fn apply(&self, step: Step, i: usize, out: &mut [u64], x: &[u64], workspace: &mut Workspace) {
        let [none, left, both] = &self.cofactors;
        let by = match step {
            Step::General => none,
            Step::LeftShift => left,
            Step::Rotation => both,
            Step::RightShift => {
                let Some(cofactor) = none.get(i) else { return };
                return shift_right(out, x, cofactor.exponent());
            }
            Step::BigIntegers => {
                let (Some(value), Some(inverse)) = (self.values.get(i), self.inverses.get(i)) else { return };
                let digits = (integer(x) * inverse % value).to_u64_digits();
                out.fill(0);
                return out.iter_mut().zip(digits).for_each(|(out, digit)| *out = digit);
            }
        };
        if let Some(cofactor) = by.get(i) {
            cofactor.apply(out, x, workspace);
        }
    }

    /// The residues y_i of one coefficient by a step.
    fn digits(&self, step: Step, residues: &[Vec<u64>], out: &mut [Vec<u64>], workspace: &mut Workspace) {
        for (i, (out, x)) in out.iter_mut().zip(residues).enumerate() {
            self.apply(step, i, out, x, workspace);
        }
    }

    /// Converts all coefficients to B_sk: the y_i are computed once, or again for every prime of B_sk.
    fn convert(&self, step: Step, hoisted: bool) -> Vec<u64> {
        let mut workspace = Workspace::default();
        let mut converted = Vec::with_capacity(self.targets.len() * COEFFICIENTS);
        for residues in &self.residues {
            let mut y = residues.clone();
            self.digits(step, residues, &mut y, &mut workspace);
            for (j, target) in self.targets.iter().enumerate() {
                if !hoisted && j > 0 {
                    self.digits(step, residues, &mut y, &mut workspace);
                }
                converted.push(target.sum(&y));
            }
        }
        converted
    }

    /// Whether all y_i by a step are right.
    fn is_right(&self, step: Step) -> bool {
        let mut workspace = Workspace::default();
        self.residues.iter().all(|residues| {
            let mut y = residues.clone();
            self.digits(step, residues, &mut y, &mut workspace);
            let known = self.values.iter().zip(&self.inverses).zip(residues);
            known.zip(&y).all(|(((value, inverse), x), y)| integer(y) == integer(x) * inverse % value)
        })
    }

    /// Time of the products of all coefficients alone.
    fn time_step(&self, step: Step) -> Duration {
        let mut workspace = Workspace::default();
        let mut y = self.residues.clone();
        let begin = Instant::now();
        for (residues, y) in self.residues.iter().zip(&mut y) {
            self.digits(step, residues, y, &mut workspace);
        }
        begin.elapsed()
    }

    fn time_conversion(&self, step: Step, hoisted: bool) -> Duration {
        let begin = Instant::now();
        std::hint::black_box(self.convert(step, hoisted));
        begin.elapsed()
    }
}

impl Target {
    fn new(prime: u64, q: &BigUint, values: &[BigUint]) -> Result<Self> {
        let quotients = values.iter().map(|value| (q / value % prime).to_u64().unwrap_or(0)).collect();
        let modulus = Modulus::new(prime)?;
        Ok(Self { modulus, word: modulus.reduce_u128(1 << 64), quotients })
    }

    /// Computes Σ y_i·(q/q_i) modulo the prime.
    fn sum(&self, y: &[Vec<u64>]) -> u64 {
        let p = &self.modulus;
        let remainder = |words: &[u64]| {
            words.iter().rev().fold(0, |rest, &word| p.add(p.mul(rest, self.word), p.reduce(word)))
        };
        let terms = y.iter().zip(&self.quotients);
        terms.fold(0, |sum, (y, &quotient)| p.add(sum, p.mul(remainder(y), quotient)))
    }
}

/// The integer of words of 64 bits, the lowest first.
pub(super) fn integer(words: &[u64]) -> BigUint {
    BigUint::new(words.iter().flat_map(|&word| [word as u32, (word >> 32) as u32]).collect())
}

/// Shifts an integer of several words right: out ← ⌊x/2^bits⌋.
fn shift_right(out: &mut [u64], x: &[u64], bits: usize) {
    out.fill(0);
    let above = x.get(bits / 64..).unwrap_or_default();
    for (i, (out, &word)) in out.iter_mut().zip(above).enumerate() {
        let next = above.get(i + 1).copied().unwrap_or(0);
        *out = ((u128::from(next) << 64 | u128::from(word)) >> (bits % 64)) as u64;
    }
}

/// Times of all versions: the products alone, FastBconv, and FastBconv with nothing hoisted.
struct Times {
    parts: [Vec<Series>; 3],
    /// Number of primes of B_sk.
    targets: usize,
    /// Time in microseconds for a coefficient of a multiplication without its products with (q/q_i)^-1.
    rest: f64,
}

impl Times {
    fn of(sample: &Sample, options: &Options) -> Result<[Vec<Series>; 3]> {
        let timed = |of: &dyn Fn(Step) -> Duration| -> Result<Vec<Series>> {
            let contender = |&(step, _): &(Step, _)| Box::new(move || Ok(of(step))) as Timed<'_>;
            alternate_timed(options.budget, &mut STEPS.iter().map(contender).collect::<Vec<_>>())
        };
        Ok([
            timed(&|step| sample.time_step(step))?,
            timed(&|step| sample.time_conversion(step, true))?,
            timed(&|step| sample.time_conversion(step, false))?,
        ])
    }

    /// Median time of a part by a version in microseconds for a coefficient.
    fn micros(&self, part: usize, version: usize) -> f64 {
        let series = self.parts.get(part).and_then(|part| part.get(version));
        series.map_or(f64::NAN, Series::median) / COEFFICIENTS as f64
    }

    fn gain(&self, part: usize, version: usize) -> f64 {
        self.micros(part, BASE) / self.micros(part, version)
    }

    /// Speed-up of a multiplication composed of measured parts: seven conversions and one D_RNS, which takes no B_sk.
    fn composed(&self, version: usize, hoisted: bool) -> f64 {
        let count = if hoisted { 8 } else { 7 * self.targets + 1 } as f64;
        let of = |version| self.rest + count * self.micros(0, version);
        of(BASE) / of(version)
    }
}

/// Makes the table of the versions and the factors of the gap to the printed speed-up.
pub(super) fn compute(options: &Options) -> Result<[Table; 2]> {
    let degree = 1 << options.least_log2_degree;
    let bits = 1 << options.most_bits.clamp(128, PRINTED.0).ilog2();
    let sample = Sample::new(degree, bits)?;
    check(&sample, degree)?;
    let subject = Subject::with_versions(degree, bits, &[BOTH])?;
    let mut whole: Vec<Timed<'_>> = vec![Box::new(|| subject.time(Operation::Multiplication, BOTH))];
    let whole = alternate_timed(options.budget_at(degree * bits), &mut whole)?;
    let whole = whole.first().map_or(f64::NAN, Series::median) / degree as f64;
    let parts = Times::of(&sample, options)?;
    let mut times = Times { parts, targets: sample.targets.len(), rest: 0.0 };
    times.rest = whole - 8.0 * times.micros(0, STEPS.len() - 1);
    let rows = (0..STEPS.len()).map(|version| row(&sample, &times, version, bits)).collect();
    let title = format!(
        "versions of the products with (q/q_i)^-1 at n = {degree}, bit(q) = {bits}, over no shortcuts; multiplications \
         composed of measured parts, over our products of polynomials"
    );
    Ok([Table::new("Shifts", title, rows), gap(&times, bits)])
}

/// Checks the results of all right versions: each with what is hoisted and without.
fn check(sample: &Sample, degree: usize) -> Result<()> {
    let expected = sample.convert(Step::BigIntegers, true);
    for (step, name) in STEPS.into_iter().filter(|&(step, _)| step != Step::RightShift) {
        let right = sample.is_right(step)
            && sample.convert(step, true) == expected
            && sample.convert(step, false) == expected;
        LabError::unless(right, "FastBconv", name, degree)?;
    }
    Ok(())
}

fn row(sample: &Sample, times: &Times, version: usize, bits: usize) -> Row {
    let (step, name) = STEPS.get(version).copied().unwrap_or((Step::General, "none"));
    let result = if sample.is_right(step) { "right" } else { "wrong" };
    let shifts = [RIGHT_SHIFT, LEFT_SHIFT].contains(&version) && bits == PRINTED.0;
    let printed = shifts.then_some((PRINTED.1, 2));
    let composed = |hoisted| Some((times.composed(version, hoisted), 2));
    let reason = match step {
        Step::RightShift => {
            "a shift to the right leaves i bits of x: its results are wrong, and neither product nor division is left"
        }
        Step::LeftShift => "the general division is left, which takes as long as the product",
        _ => "not printed: the paper prints speed-ups of whole operations over its own baseline",
    };
    let row = Row::default().key("version", name).printed("result", "right", Some(result));
    let row = row
        .ours("products us", (times.micros(0, version), 2))
        .ours("products x", (times.gain(0, version), 2))
        .ours("FastBconv to B_sk x", (times.gain(1, version), 2))
        .ours("FastBconv, nothing hoisted x", (times.gain(2, version), 2))
        .judged("multiplication x", printed, composed(true), Rule::Larger(1.15))
        .judged("multiplication, nothing hoisted x", printed, composed(false), Rule::Larger(1.15));
    if row.holds() { row } else { row.because(Some(reason)) }
}

/// The printed speed-up as measured factors, and what is left.
fn gap(times: &Times, bits: usize) -> Table {
    let correct = times.composed(LEFT_SHIFT, true);
    let unhoisted = times.composed(LEFT_SHIFT, false);
    let wrong = times.composed(RIGHT_SHIFT, false);
    let factor =
        |name, x: f64, reason| Row::default().key("factor", name).ours("x", (x, 2)).because(Some(reason));
    let left = PRINTED.1 / wrong;
    let row = Row::default().key("factor", "printed 14.68 over all of these");
    let row = row.judged("x", (bits == PRINTED.0).then_some((1.0, 1)), Some((left, 2)), Rule::Factor(1.15));
    let open = if row.holds() {
        row
    } else {
        row.because(Some(
            "open: what the paper's other steps took is not printed; below 1, its products took longer",
        ))
    };
    let rows = vec![
        factor("a correct shift, y_i once", correct, "what shifts gain in a whole multiplication here"),
        factor("y_i again for every prime of B_sk", unhoisted / correct, "the formula of 2.3 read literally"),
        factor("the printed shift in place of the correct one", wrong / unhoisted, "results are wrong"),
        open,
    ];
    Table::new("Gap", "the printed 14.68 of shifts for multiplications as measured factors", rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_printed_shift_is_wrong_and_the_check_finds_a_wrong_table() {
        for bits in [128, 512] {
            let mut sample = Sample::new(128, bits).unwrap();
            for (step, name) in STEPS {
                assert_eq!(sample.is_right(step), step != Step::RightShift, "{name}");
            }
            check(&sample, 128).unwrap();
            let expected = sample.convert(Step::General, false);
            assert_ne!(sample.convert(Step::RightShift, true), expected);
            sample.inverses[0] += 1_u32;
            check(&sample, 128).unwrap_err();
        }
    }

    #[test]
    fn conversions_are_sums_of_integers() {
        let sample = Sample::new(128, 256).unwrap();
        let q: BigUint = sample.values.iter().product();
        let known = sample.residues.iter().flat_map(|residues| {
            let parts = sample.values.iter().zip(&sample.inverses).zip(residues);
            let sum: BigUint = parts.map(|((value, y), x)| integer(x) * y % value * (&q / value)).sum();
            sample.targets.iter().map(move |target| (&sum % target.modulus.value()).to_u64().unwrap())
        });
        assert_eq!(sample.convert(Step::General, true), known.collect::<Vec<_>>());
    }

    #[test]
    fn integers_are_shifted_right() {
        let x = [u64::MAX, 5, 1 << 63];
        for bits in [0, 1, 63, 64, 70, 191] {
            let mut out = [7; 3];
            shift_right(&mut out, &x, bits);
            assert_eq!(integer(&out), integer(&x) >> bits, "{bits}");
        }
    }
}
