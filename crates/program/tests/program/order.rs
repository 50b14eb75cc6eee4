//! Order of rows in programs on encrypted integers: places of one column share a search, and tables may have several chunks.

use sunzi_program::analysis::{Plan, SchemeChoice};
use sunzi_program::results::Description;
use sunzi_program::run::{Cells, MISSING_UNIT, Table};
use sunzi_program::{Column, Opened, Options, Program, Schema};

use crate::common::Draw;
use crate::encrypted::{check, options};

/// Slots of a chunk.
const SLOTS: u64 = 256;

fn schema(rows: u64) -> Schema {
    let columns = vec![
        Column::integer("age", 18, 90),
        Column::decimal("cost", 1, -1500, 2500),
        Column::integer("few", 0, 3),
        Column::integer("seen", 3, 12).with_missing(),
        Column::category("region", &["north", "south", "nowhere"]),
        Column::integer("year", 2000, 2020).in_the_clear(),
    ];
    Schema::new(rows, columns).unwrap()
}

fn table(schema: &Schema, draw: &mut Draw) -> Table {
    let rows = schema.rows;
    let mut units = |low: i64, high: i64| -> Vec<i64> {
        (0..rows).map(|_| low + draw.below((high - low + 1) as u64) as i64).collect()
    };
    let (age, mut cost, few, mut seen, year) =
        (units(18, 90), units(-1500, 2500), units(0, 3), units(3, 12), units(2000, 2020));
    // The greatest number alone, and the least one several times, in the first chunk and in the last.
    let last = cost.len() - 1;
    cost[last] = 2500;
    cost[last / 2] = -1500;
    cost[0] = -1500;
    for cell in seen.iter_mut().step_by(7) {
        *cell = MISSING_UNIT;
    }
    let labels = Cells::Labels((0..rows).map(|row| (row % 3 / 2) as u32).collect());
    let numbers = [age, cost, few, seen].map(Cells::Units);
    Table::new(schema, numbers.into_iter().chain([labels, Cells::Units(year)]).collect()).unwrap()
}

fn planned(text: &str, rows: u64) -> Plan {
    let program = Program::parse(text, &schema(rows)).unwrap();
    Plan::new(&program, &options(SchemeChoice::Integers, 9)).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[track_caller]
fn computes(text: &str, rows: u64, seed: u64) -> Vec<Opened> {
    let plan = planned(text, rows);
    assert_eq!(plan.layout.chunks as u64, rows.div_ceil(SLOTS));
    check(&plan, &table(&schema(rows), &mut Draw(seed)), seed)
}

fn look_ups(text: &str, rows: u64) -> u64 {
    planned(text, rows).look_ups.unwrap().count
}

#[test]
fn places_of_one_column_share_a_search() {
    let listed = computes("top(cost, 5)", 60, 3);
    assert!(matches!(&listed[..], [Opened::Groups(places)] if places.len() == 5), "{listed:?}");
    computes("min(cost); median(cost); max(cost); quantile(cost, 0.9); top(few, 4); max(year)", 47, 4);
    // Up to four places take the look-ups of one but for the digits of the results, of 12 bits, and others share comparisons.
    let one = look_ups("max(cost)", 60);
    assert_eq!(look_ups("top(cost, 4)", 60), one + 3 * 3);
    let (age, both) = (look_ups("max(age)", 60), look_ups("max(age); max(cost)", 60));
    assert_eq!(both, age + one);
    assert!(look_ups("top(cost, 5)", 60) < 2 * one + 3 * 3);
}

#[test]
fn all_rows_are_listed_and_no_more() {
    computes("top(few, 9); sum(few)", 9, 5);
    let refused = Program::parse("top(few, 10)", &schema(9)).unwrap_err().to_string();
    assert!(refused.contains("from 1 to 9"), "{refused}");
}

#[test]
fn rows_of_several_chunks_have_an_order() {
    computes("max(cost); min(cost); top(few, 3)", 2 * SLOTS, 6);
    computes("median(age); quantile(cost, 0.25); max(year); median(year)", 2 * SLOTS + 77, 7);
    computes("max(seen); min(seen) by region", SLOTS + 1, 8);
}

#[test]
fn what_has_no_order_in_several_chunks_is_refused_by_name() {
    let rows = SLOTS + 1;
    for text in ["sort(age)", "sum(where(rank(cost) <= 3, cost, 0))"] {
        let program = Program::parse(text, &schema(rows)).unwrap();
        let told = Plan::new(&program, &options(SchemeChoice::Integers, 9)).unwrap_err().to_string();
        assert!(
            told.contains("at most 256 rows") && told.contains("min, max, median, quantile and top"),
            "{told}"
        );
    }
    // Chunks of several owners, whose rows are not known.
    let program = Program::parse("max(age)", &schema(rows)).unwrap();
    let parts = Options { parts: 3, ..options(SchemeChoice::Integers, 9) };
    let told = Plan::new(&program, &parts).unwrap_err().to_string();
    assert!(told.contains("several parts"), "{told}");
    let plan = Plan::new(&program, &options(SchemeChoice::Integers, 9)).unwrap();
    let description = Description::of(&plan).unwrap();
    assert!(description.clone().with_filled(vec![256, 1]).is_ok());
    let told = description.with_filled(vec![200, 57]).unwrap_err().to_string();
    assert!(told.contains("several parts"), "{told}");
}

/// Tests tables of more rows than slots at full size, by their plans.
#[test]
fn plans_of_hundreds_of_thousands_of_rows_have_an_order() {
    let mut before = 0;
    for rows in [1 << 15, 100_000, 300_000] {
        let program = Program::parse("max(cost)", &schema(rows)).unwrap();
        let plan = Plan::new(&program, &Options::default()).unwrap();
        let look_ups = plan.look_ups.unwrap();
        println!("{rows} rows: {look_ups:?}, {} bytes", plan.memory_bytes);
        assert!(look_ups.count > before);
        before = look_ups.count;
    }
}

/// Tests the look-ups of one place and of five, of 16 bits among 5 000 rows: 1 + 4 for a table and a comparison of the first digit, and so on.
#[test]
fn five_places_at_full_size_take_few_look_ups_more_than_one() {
    let schema = Schema::new(5_000, vec![Column::integer("x", 0, 65_535)]).unwrap();
    for (text, expected) in [
        ("max(x)", (1 + 4 + 1) + 2 * (1 + 4 + 1) + (1 + 4)),
        ("top(x, 5)", (1 + 4 + 2) + 2 * (2 + 4 + 2) + (2 + 4)),
    ] {
        let program = Program::parse(text, &schema).unwrap();
        let look_ups = Plan::new(&program, &Options::default()).unwrap().look_ups.unwrap();
        println!("{text}: {look_ups:?}");
        assert_eq!(look_ups.count, expected, "{text}");
    }
}
