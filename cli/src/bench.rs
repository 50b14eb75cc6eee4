//! `sunzi bench`: how long the operations of each scheme take on this machine, every result checked.

mod schemes;

use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::columns::{empty_table, right_align};
use crate::error::CliError;
use crate::output;
use crate::progress::Progress;

/// log2 of the degrees that can be timed.
const LOG_DEGREES: RangeInclusive<u32> = 12..=15;
/// Names of the operations that are timed.
const OPERATIONS: [&str; 5] = ["encrypt", "decrypt", "add", "multiply", "rotate"];

/// A scheme that is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
pub(crate) enum TimedScheme {
    /// Integers, any operations
    #[serde(rename = "BFV")]
    Bfv,
    /// Integers, operations declared beforehand
    #[serde(rename = "BGV")]
    Bgv,
    /// Real and complex numbers
    #[serde(rename = "CKKS")]
    Ckks,
}

/// Options of `sunzi bench`.
#[derive(Debug, Args)]
#[command(
    after_help = "Times are of one thread, with parameters for one multiplication at 128 bits of security.\n\
    Multiplications are with relinearisation, rotations by one slot.\n\
    The laboratory times more, beside other libraries too: cargo lab bench, in a checkout.\n\
    Exit codes: 0 every result is right; 1 one is wrong; 2 the input was refused."
)]
pub(crate) struct BenchArgs {
    /// The schemes to time; all three unless given
    #[arg(value_enum, value_name = "SCHEME")]
    schemes: Vec<TimedScheme>,
    /// log2 of the ring degrees to time, 12 to 15
    #[arg(long, value_name = "L,...", value_delimiter = ',', default_values_t = [12, 13])]
    log_n: Vec<u32>,
    /// Rounds that each median stands on
    #[arg(long, value_name = "K", default_value_t = 21)]
    rounds: usize,
    /// Print a JSON array of rows
    #[arg(long)]
    json: bool,
    /// Show no progress bars
    #[arg(long, short)]
    quiet: bool,
}

/// Time that one operation of a scheme took, as a row of the report.
#[derive(Clone, Debug, Serialize)]
struct Row {
    scheme: TimedScheme,
    n: usize,
    operation: &'static str,
    /// Median of the times over the rounds, in microseconds.
    median_us: f64,
    /// Distance between the quartiles of the times, in microseconds.
    spread_us: f64,
    /// Whether every result of the operation opened to what it should.
    correct: bool,
}

/// A timed operation: does it once, says how long that took, and whether the result is right.
type Call<'a> = Box<dyn FnMut() -> Result<(Duration, bool), CliError> + 'a>;

/// Makes a timed operation from a computation and a check of its result.
fn call<'a, T>(
    mut work: impl FnMut() -> Result<T, CliError> + 'a,
    right: impl Fn(T) -> Result<bool, CliError> + 'a,
) -> Call<'a> {
    Box::new(move || {
        let begin = Instant::now();
        let result = work()?;
        let time = begin.elapsed();
        Ok((time, right(result)?))
    })
}

/// Times what was asked for on one thread and prints the rows.
pub(crate) fn run(args: &BenchArgs) -> Result<(), CliError> {
    validate(args)?;
    let progress = Progress::new(!args.json && !args.quiet);
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().map_err(CliError::failure)?;
    let rows = one.install(|| rows(args, &progress))?;
    drop(progress);
    output::report(args.json, &rows, |rows| table(rows))?;
    // In JSON the rows tell which of them are wrong.
    verdict(&rows).map_err(|error| if args.json { CliError::Reported(Box::new(error)) } else { error })
}

fn validate(args: &BenchArgs) -> Result<(), CliError> {
    if args.rounds == 0 {
        return Err(CliError::input("expected at least 1 rounds, got 0: raise --rounds"));
    }
    match args.log_n.iter().find(|log_n| !LOG_DEGREES.contains(log_n)) {
        None => Ok(()),
        Some(got) => {
            let (low, high) = LOG_DEGREES.into_inner();
            let message = format!("expected log2 n between {low} and {high}, got {got}: change --log-n");
            Err(CliError::input(message))
        }
    }
}

fn rows(args: &BenchArgs, progress: &Progress) -> Result<Vec<Row>, CliError> {
    let all = TimedScheme::value_variants();
    let schemes = if args.schemes.is_empty() { all } else { &args.schemes };
    let mut rows = Vec::new();
    progress.begin(schemes.len() * args.log_n.len() * OPERATIONS.len());
    for &scheme in schemes {
        for &log_n in &args.log_n {
            let n = 1 << log_n;
            let mut measured = |operations: [Call<'_>; 5]| {
                for (operation, mut call) in OPERATIONS.into_iter().zip(operations) {
                    progress.say(&format!("{scheme:?}, n = {n}: {operation}"));
                    let (times, correct) = measure(args.rounds, &mut call)?;
                    let [lower, median_us, upper] = [0.25, 0.5, 0.75].map(|share| quantile(&times, share));
                    rows.push(Row { scheme, n, operation, median_us, spread_us: upper - lower, correct });
                    progress.step();
                }
                Ok(())
            };
            match scheme {
                TimedScheme::Bfv => schemes::bfv(log_n, &mut measured),
                TimedScheme::Bgv => schemes::bgv(log_n, &mut measured),
                TimedScheme::Ckks => schemes::ckks(log_n, &mut measured),
            }?;
        }
    }
    Ok(rows)
}

/// Returns the times of an operation in microseconds, sorted, and whether every result was right. A first
/// call is not timed: it brings data to the caches.
fn measure(rounds: usize, call: &mut Call<'_>) -> Result<(Vec<f64>, bool), CliError> {
    let (_, mut correct) = call()?;
    let mut times = Vec::with_capacity(rounds);
    for _ in 0..rounds {
        let (time, right) = call()?;
        times.push(time.as_secs_f64() * 1e6);
        correct &= right;
    }
    times.sort_by(f64::total_cmp);
    Ok((times, correct))
}

/// Returns the value below which this share of the sorted values lies, by linear interpolation; NaN without
/// values.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let position = share * sorted.len().saturating_sub(1) as f64;
    match (sorted.get(position.floor() as usize), sorted.get(position.ceil() as usize)) {
        (Some(below), Some(above)) => below + (above - below) * position.fract(),
        _ => f64::NAN,
    }
}

fn table(rows: &[Row]) -> String {
    let mut table = empty_table(&["scheme", "n", "operation", "median µs", "spread µs", "right"]);
    for Row { scheme, n, operation, median_us, spread_us, correct } in rows {
        table.add_row([
            format!("{scheme:?}").to_uppercase(),
            n.to_string(),
            (*operation).to_owned(),
            format!("{median_us:.1}"),
            format!("{spread_us:.1}"),
            if *correct { "yes" } else { "NO" }.to_owned(),
        ]);
    }
    right_align(&mut table, 3..5);
    format!("{table}\n")
}

/// Returns an error if a result of an operation was wrong.
fn verdict(rows: &[Row]) -> Result<(), CliError> {
    let wrong = "a result that was timed is wrong: see the rows that say so";
    match rows.iter().all(|row| row.correct) {
        true => Ok(()),
        false => Err(CliError::Check(wrong.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_result_in_any_round_is_a_check_that_did_not_hold() {
        for wrong in 0..4 {
            let mut round = 0;
            let mut operation = call(
                || {
                    round += 1;
                    Ok(round - 1)
                },
                |round| Ok(round != wrong),
            );
            let (times, correct) = measure(3, &mut operation).unwrap();
            assert_eq!((times.len(), correct), (3, false), "{wrong}");
            let row = Row {
                scheme: TimedScheme::Bgv,
                n: 4096,
                operation: "add",
                median_us: 1.0,
                spread_us: 0.5,
                correct,
            };
            assert!(table(std::slice::from_ref(&row)).contains("NO"));
            assert_eq!(verdict(&[row]).unwrap_err().exit_code(), 1);
        }
        let mut right = call(|| Ok(()), |()| Ok(true));
        assert!(measure(3, &mut right).unwrap().1);
    }

    #[test]
    fn quantiles_interpolate() {
        let sorted = [1.0, 2.0, 3.0, 4.0];
        assert_eq!([0.0, 0.25, 0.5, 1.0].map(|share| quantile(&sorted, share)), [1.0, 1.75, 2.5, 4.0]);
        assert!(quantile(&[], 0.5).is_nan());
    }
}
