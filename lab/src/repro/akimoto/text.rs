//! The numbers in the text of `[AS19]`.

use sunzi_ring::Parallelism;
use sunzi_rlwe::SecretDistribution;
use sunzi_rlwe::words::counted;

use super::Options;
use super::bootstrapping::{Bootstrapped, set};
use super::measured::{Measured, by_mix, of};
use super::printed::{LEVELS_LEFT, LOG2_DEGREE, PRECISION_BITS};
use super::tables::{gain, on_all_threads, single};
use crate::repro::{Row, Rule, Table, Value};
use crate::subjects::strategies::Operation;

/// Threads of the paper's fastest bootstrapping, and of its Figure 2.
const MOST_THREADS: usize = 32;
const FIGURE2_THREADS: usize = 16;
/// Why a value of HEAAN is missing.
const NO_BOOTSTRAPPING: &str =
    "with big integers the operations of Table 1 are computed here, not a bootstrapping";
/// Why values of other work are missing.
const OTHERS: &str = "a result of other work, which the paper cites";

/// All numbers in the text of `[AS19]`, from the measurements of its tables.
pub(super) fn table(options: &Options, measured: &Measured, timed: &[Bootstrapped]) -> Table {
    let mut rows = parameters(options);
    rows.extend(schemes(measured));
    rows.extend(precision(timed));
    rows.extend(threads(measured, timed));
    rows.extend(others());
    let reason = match options.table_log2_degree {
        LOG2_DEGREE => format!("on {} of another processor", counted(options.threads, "thread", "threads")),
        other => format!("N = 2^{other} here, 2^{LOG2_DEGREE} in the paper"),
    };
    let explained = |row: Row| {
        if row.is_unexplained() { row.because(Some(reason.as_str())) } else { row }
    };
    let rows = rows.into_iter().map(explained).collect();
    Table::new("Text", "numbers that the text states; 32 and 16 threads are simulated", rows)
}

fn claim(
    section: &'static str,
    claim: &'static str,
    paper: impl Into<Value>,
    ours: Option<impl Into<Value>>,
    rule: Rule,
) -> Row {
    Row::default().key("section", section).key("claim", claim).judged("value", Some(paper), ours, rule)
}

/// The parameters of section 5.
fn parameters(options: &Options) -> Vec<Row> {
    let set = set(options, true);
    let slots = 1_u64 << (options.table_log2_degree - 1);
    let SecretDistribution::FixedWeight(weight) = set.secret else { return Vec::new() };
    let radix = (slots as f64).powf(1.0 / set.coeffs_to_slots.levels as f64);
    vec![
        claim("abstract, 5", "slots of a ciphertext", 32_768_u64, Some(slots), Rule::Equal),
        claim("5", "Hamming weight of a secret", 64_u64, Some(weight), Rule::Equal),
        claim("5", "repetitions r of the sine", 8_u64, Some(set.eval_mod.doublings), Rule::Equal),
        claim("5", "radix of the Fourier transform", (8.0, 0), Some((radix, 1)), Rule::Equal),
        claim("5", "bits of security by the estimates of 2015", 80_u64, None::<u64>, Rule::Equal).because(
            Some("that estimator is not here; the default set beside it has 128 bits by the table of 2024"),
        ),
    ]
}

/// HEAAN against FullRNS-HEAAN on one thread.
fn schemes(measured: &Measured) -> Vec<Row> {
    let quotient = |operation| Some((of(&measured.heaan, operation)? / of(&measured.ours, operation)?, 2));
    let whole = by_mix(&measured.heaan).zip(by_mix(&measured.ours)).map(|(heaan, ours)| (heaan / ours, 2));
    let rule = Rule::Larger(1.15);
    vec![
        claim("5.1", "Mult, HEAAN over FullRNS", (2.76, 2), quotient(Operation::Multiply), rule),
        claim("5.1", "LeftRot, HEAAN over FullRNS", (1.28, 2), quotient(Operation::Rotate), rule),
        claim("5.1", "bootstrapping, HEAAN over FullRNS", (2.19, 2), whole, rule),
        claim("1.3, 5.3, 6", "the same, in short", (2.2, 1), whole, rule),
    ]
}

fn precision(timed: &[Bootstrapped]) -> Vec<Row> {
    let one = single(timed);
    let rule = Rule::Larger(1.0);
    let (bits, levels) = (one.map(|one| (one.mean_bits, 1)), one.map(|one| one.levels_left));
    vec![
        claim("5.1", "bits after bootstrapping, FullRNS", (PRECISION_BITS, 0), bits, rule),
        claim("5.1", "levels after bootstrapping, FullRNS", LEVELS_LEFT, levels, rule),
        claim("5.1", "bits after bootstrapping, HEAAN", (PRECISION_BITS, 0), None::<u64>, rule)
            .because(Some(NO_BOOTSTRAPPING)),
        claim("5.1", "levels after bootstrapping, HEAAN", LEVELS_LEFT, None::<u64>, rule)
            .because(Some(NO_BOOTSTRAPPING)),
    ]
}

/// Claims of the text about the speed-up by threads.
fn threads(measured: &Measured, timed: &[Bootstrapped]) -> Vec<Row> {
    let shared = measured.shared.as_ref();
    let simulated = shared.and_then(|shared| shared.speed_up(Parallelism::Collapsed, MOST_THREADS));
    let milliseconds = single(timed).zip(simulated).map(|(one, gain)| one.milliseconds / gain);
    let each = |one: Option<&Bootstrapped>| one.map(|one| (one.milliseconds / one.slots as f64, 3));
    let rotation = |strategy| of(&shared?.simulated(strategy, FIGURE2_THREADS), Operation::Rotate);
    let by_moduli = rotation(Parallelism::ModulusWise);
    let saved = by_moduli.zip(rotation(Parallelism::Collapsed)).map(|(moduli, both)| (moduli - both, 1));
    let single_rotation = of(&measured.ours, Operation::Rotate).unwrap_or(f64::NAN);
    let smaller = Rule::Smaller(1.0);
    let seconds = milliseconds.map(|ms| (ms / 1e3, 2));
    vec![
        claim(
            "5.3",
            "Coef&Mod-wise on 32 threads over one",
            (7.46, 2),
            simulated.map(|gain| (gain, 2)),
            Rule::Larger(1.15),
        ),
        claim(
            "5.3",
            "the same; ours measured on all threads here",
            (7.46, 2),
            on_all_threads(timed).and_then(|one| gain(timed, one)),
            Rule::Larger(1.15),
        ),
        claim("abstract", "seconds of a bootstrapping on 32 threads", (30.0, 0), seconds, smaller),
        claim(
            "abstract, 1.3, 5.3, 6",
            "ms a slot on 32 threads; ours on all here",
            (0.92, 2),
            each(on_all_threads(timed)),
            smaller,
        ),
        claim(
            "1.1, 5.3, 6",
            "ms a slot aimed at; ours on one thread",
            (1.0, 0),
            each(single(timed)),
            smaller,
        ),
        claim(
            "5.2.2",
            "ms that LeftRot gains at level 32 on 16 threads, Coef&Mod-wise against Modulus-wise",
            (140.0, 0),
            saved,
            Rule::Larger(1.15),
        )
        .because(Some(format!(
            "all of LeftRot takes {single_rotation:.0} ms on one thread here, 3018 in the paper"
        ))),
    ]
}

fn others() -> Vec<Row> {
    let row = |name, value: Value| claim("1.2", name, value, None::<u64>, Rule::Equal).because(Some(OTHERS));
    vec![
        row("minutes of Gentry's first bootstrapping", Value::Integer(30)),
        row("ms a slot, BGV [4]", Value::Integer(312)),
        row("ms a slot, HEAAN [12, 13]", Value::Decimal(3.8, 1)),
        row("ms of a TFHE bootstrapping at most", Value::Integer(100)),
    ]
}
