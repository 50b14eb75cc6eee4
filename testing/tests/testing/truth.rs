//! Truth of printed intervals: random programs on misleading columns, in every scheme, through files.

use sunzi_program::analysis::{Options, SchemeChoice};
use sunzi_program::run::{Cells, Table};
use sunzi_program::{Column, Schema};
use sunzi_testing::Figure;
use sunzi_testing::truth::{Draw, Outcome, options, outcome, schema};

const SCHEMES: [SchemeChoice; 3] = [SchemeChoice::Bfv, SchemeChoice::Bgv, SchemeChoice::Ckks];
const PROGRAMS: usize = 10_000;

/// Checks `each` programs of each scheme: none wrong, at most a tenth refused.
fn law(each: usize) {
    let (mut wrong, mut refused, mut stopped, mut held) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for scheme in SCHEMES {
        for round in 0..each as u64 {
            let seed = round * 4 + scheme as u64;
            let mut draw = Draw::new(seed);
            let rows = 1 + draw.below(1500);
            let schema = schema(rows).unwrap();
            let table = draw.table(&schema).unwrap();
            let text = draw.program(scheme);
            match outcome(&text, &table, &options(scheme), seed) {
                Outcome::True(count) => held += count,
                Outcome::Refused(why) => refused.push(format!("{scheme:?} {text}: {why}")),
                Outcome::Stopped(why) => stopped.push(format!("{scheme:?} {seed}: {text}: {why}")),
                Outcome::Wrong(why) => wrong.push(format!("{scheme:?} {seed}: {text}: {why}")),
            }
        }
    }
    refused.iter().for_each(|refused| println!("refused: {refused}"));
    stopped.iter().for_each(|stopped| println!("stopped: {stopped}"));
    let none = 100.0 * (refused.len() + stopped.len()) as f64 / (3 * each) as f64;
    let programs = 3 * each;
    println!("{held} intervals hold, {} of {programs} programs are refused", refused.len());
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    let figure = |what| Figure::new(23, what).cases(programs, PROGRAMS);
    figure("printed intervals without the truth").none_wrong(wrong.len());
    figure("programs without an answer, %").at_most(none, 10.0);
    figure("of these refused when run, though planned, %")
        .at_most(100.0 * stopped.len() as f64 / programs as f64, 0.1);
}

#[test]
fn the_truth_lies_within_what_is_printed() {
    law(if cfg!(debug_assertions) { 40 } else { 100 });
}

#[test]
#[ignore = "long: ten thousand programs, a quarter of an hour"]
fn the_truth_lies_within_what_is_printed_of_ten_thousand_programs() {
    law(PROGRAMS.div_ceil(3));
}

/// Checks programs that were once planned with too little room.
#[test]
fn what_is_planned_has_room_for_its_run() {
    let masked = "dot((g == \"b\") * k, poly((s != \"m\"), 1, -2, 0.5)) by g";
    let twice = "sum(((s != \"m\") * (k > 3) - ((s != \"m\") + x))); sum((g == \"b\") * (k > 3) * (y + (k > 3))) by s";
    for (text, rows) in [(masked, 124), (twice, 74)] {
        let schema = schema(rows).unwrap();
        let table = Draw::new(rows).table(&schema).unwrap();
        let came = outcome(text, &table, &options(SchemeChoice::Bfv), 1);
        assert!(matches!(came, Outcome::True(_)), "{text}: {came:?}");
    }
}

/// Returns 2 000 rows of 17 digits, half of them just above 0.
fn near_zero() -> Table {
    let mut draw = Draw::new(3);
    let mut unit = || draw.below(1 << 30) as f64 / f64::from(1 << 30);
    let near = (0..1004).map(|_| 5e-5 + 2.5e-4 * unit()).collect::<Vec<f64>>();
    let far = (0..996).map(|_| 2.0 * unit() - 1.0);
    let cells = near.into_iter().chain(far).collect();
    let schema = Schema::new(2000, vec![Column::real("x", -1.0, 1.0)]).unwrap();
    Table::new(&schema, vec![Cells::Reals(cells)]).unwrap()
}

#[test]
fn comparisons_that_are_not_told_are_counted_or_refused() {
    let table = near_zero();
    let at = |precision| {
        let options = Options { precision, log2_degree: Some(11), ..options(SchemeChoice::Ckks) };
        outcome("count(x > 0)", &table, &options, 5)
    };
    match at(16) {
        Outcome::Refused(why) => {
            assert!(why.contains("of 2000 rows") && why.contains("--precision"), "{why}")
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(at(22), Outcome::True(1));
    // Columns are decrypted with undecided comparisons row by row.
    let options = Options { log2_degree: Some(11), ..options(SchemeChoice::Ckks) };
    assert_eq!(outcome("x > 0", &table, &options, 5), Outcome::True(2000));
}
