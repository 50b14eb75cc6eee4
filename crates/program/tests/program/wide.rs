//! Tests of functions on intervals whose ends are far apart, against the reference in the clear: errors hold for columns of any shape, and
//! refusals name ranges that work.

use crate::encrypted::{check, options};
use sunzi_program::analysis::{Options, Plan, SchemeChoice};
use sunzi_program::run::{Cells, Table};
use sunzi_program::{Column, Opened, Program, ProgramError, Schema};

const ROWS: u64 = 600;
/// Upper end of the ranges.
const HIGH: f64 = 100.0;

/// Columns of [low, high]: even, all at an end, at both ends in turn, clustered next to the lower end with one cell at the upper, and
/// spread by ratio.
fn shapes(low: f64, high: f64) -> [Vec<f64>; 6] {
    let rows = |cell: &dyn Fn(f64) -> f64| -> Vec<f64> {
        (0..ROWS).map(|i| cell(i as f64 / (ROWS - 1) as f64).clamp(low, high)).collect()
    };
    [
        rows(&|t| low + (high - low) * t),
        rows(&|_| low),
        rows(&|_| high),
        rows(&|t| if ((t * (ROWS - 1) as f64).round() as u64).is_multiple_of(2) { low } else { high }),
        rows(&|t| if t == 1.0 { high } else { low * (1.0 + 0.01 * t) }),
        rows(&|t| low * (high / low).powf(t)),
    ]
}

fn schema(low: f64, high: f64) -> Schema {
    Schema::new(ROWS, vec![Column::real("x", low, high), Column::real("y", -3.0, 5.0)]).unwrap()
}

fn table(schema: &Schema, x: Vec<f64>) -> Table {
    let y = (0..ROWS).map(|i| -3.0 + 8.0 * ((i * 37) % ROWS) as f64 / (ROWS - 1) as f64).collect();
    Table::new(schema, vec![Cells::Reals(x), Cells::Reals(y)]).unwrap()
}

/// Runs a program on every shape of a column, and checks that its stated error is at most `most`.
fn holds(text: &str, low: f64, high: f64, most: f64, shapes: &[Vec<f64>]) {
    let schema = schema(low, high);
    let program = Program::parse(text, &schema).unwrap();
    let plan = Plan::new(&program, &options(SchemeChoice::Ckks, 10)).unwrap();
    for (seed, x) in shapes.iter().enumerate() {
        let opened = check(&plan, &table(&schema, x.clone()), seed as u64);
        let Some(Opened::Number(Ok(mean))) = opened.first() else { panic!("{text}: {opened:?}") };
        assert!(mean.error <= most, "{text} from {low}: ± {:e} where {most:e} is asked", mean.error);
    }
}

/// Tests totals and every row, at 20 bits.
#[test]
fn errors_hold_at_ratios_up_to_ten_thousand() {
    for ratio in [10.0, 100.0, 1e4] {
        let low = HIGH / ratio;
        for (text, largest) in [
            ("mean(inverse(x)); inverse(x)", 1.0 / low),
            ("mean(sqrt(x)); sqrt(x)", 10.0),
            ("mean(log(x)); log(x)", 8.0),
            ("mean(y / x); y / x", 5.0 / low),
        ] {
            holds(text, low, HIGH, largest * 2e-5, &shapes(low, HIGH));
        }
    }
}

#[test]
fn reciprocals_of_negative_numbers() {
    let shapes = shapes(0.05, HIGH).map(|x| x.into_iter().map(|x| -x).collect());
    holds("mean(inverse(x)); y / x", -HIGH, -0.05, 1e-3, &shapes);
}

#[test]
fn functions_of_what_was_computed() {
    let shapes = shapes(0.02, 2.0);
    // The largest error of x / (y + 3.1), 2^-20 of 20, counts 400 times where the quotient is least.
    holds("mean(log(x / (y + 3.1)))", 0.02, 2.0, 4e-2, &shapes[..1]);
    holds("mean(sqrt(inverse(x)))", 0.02, 2.0, 1e-3, &shapes[3..5]);
}

/// Tests all bits that can be asked for, at the largest ratio: plans are found for parameters that are secure, at n = 2^16 where n = 2^15 has
/// too few levels.
#[test]
fn nothing_is_refused_up_to_ten_thousand() {
    let schema = schema(0.01, HIGH);
    for text in ["mean(inverse(x))", "mean(sqrt(x))", "mean(log(x))", "mean(y / x)"] {
        let program = Program::parse(text, &schema).unwrap();
        for precision in [4, 16, 24, 30] {
            let plan = Plan::new(&program, &Options { precision, ..Options::default() }).unwrap();
            let log2_degree = plan.parameters.degree().ilog2();
            assert!(log2_degree <= 16, "{text} {precision}: {plan}");
            assert!(plan.precision_bits().unwrap() >= f64::from(precision), "{plan}");
        }
    }
}

/// Returns the last number of a refusal.
fn last_number(text: &str) -> f64 {
    let words = text.split(|c: char| c.is_whitespace() || c == ';' || c == ',');
    words.filter_map(|word| word.parse().ok()).next_back().unwrap()
}

/// Tests that what is impossible is refused with a range that works.
#[test]
fn refusals_name_ends_that_work() {
    for function in ["inverse", "sqrt", "log"] {
        for precision in [4, 16, 24, 30] {
            let plan = |low: f64, high: f64| {
                let program = Program::parse(&format!("mean({function}(x))"), &schema(low, high)).unwrap();
                Plan::new(&program, &Options { precision, ..Options::default() })
            };
            let Err(ProgramError::Refused(refusal)) = plan(0.0, HIGH) else { panic!("{function} at 0") };
            assert!(refusal.reason.contains("keep it at least"), "{refusal:?}");
            let least = last_number(refusal.reason.split(", since").next().unwrap());
            assert!(least > 0.0 && least <= 0.01, "{function} {precision}: {least}");
            plan(least, HIGH).unwrap_or_else(|error| panic!("{function} {precision} from {least}: {error}"));
        }
    }
    let schema = schema(-HIGH, 0.0);
    let program = Program::parse("mean(y / x)", &schema).unwrap();
    let error = Plan::new(&program, &Options::default()).unwrap_err().to_string();
    assert!(error.contains("keep it at most -"), "{error}");
}
