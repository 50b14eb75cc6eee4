//! Clear columns beside encrypted integers: plaintexts, whose results are those of the clear reference, and cost no look-up of their own.

use sunzi_program::analysis::{LookUps, Plan, SchemeChoice};
use sunzi_program::run::{Cells, Table};
use sunzi_program::{Column, Program, Schema};

use crate::common::Draw;
use crate::encrypted::{check, options};

/// Rows of tables: no power of two.
const ROWS: u64 = 29;

/// Where cells lie in their ranges.
#[derive(Clone, Copy, Debug)]
enum Shape {
    Uniform,
    Low,
    High,
    Middle,
}

/// Integer columns: name, range, and whether they are clear.
const COLUMNS: [(&str, i64, i64, bool); 7] = [
    ("age", 18, 90, false),
    ("gain", -100, 150, false),
    ("seen", 0, 1, false),
    ("year", 2000, 2020, true),
    ("shift", -7, 9, true),
    ("open", 0, 1, true),
    ("far", -300, 400, true),
];

fn schema() -> Schema {
    let mut columns: Vec<Column> = COLUMNS
        .iter()
        .map(|&(name, low, high, clear)| {
            let column = Column::integer(name, low, high);
            if clear { column.in_the_clear() } else { column }
        })
        .collect();
    columns.push(Column::category("site", &["north", "south", "nowhere"]).in_the_clear());
    columns.push(Column::category("kind", &["a", "b"]));
    columns.push(Column::decimal("rate", 2, 0, 125).in_the_clear());
    Schema::new(ROWS, columns).unwrap()
}

fn table(schema: &Schema, shape: Shape, draw: &mut Draw) -> Table {
    let mut unit = |low: i64, high: i64| match shape {
        Shape::Uniform => low + draw.below((high - low + 1) as u64) as i64,
        Shape::Low => low,
        Shape::High => high,
        Shape::Middle => low + (high - low) / 2,
    };
    let mut cells: Vec<Cells> = COLUMNS
        .iter()
        .map(|&(_, low, high, _)| Cells::Units((0..ROWS).map(|_| unit(low, high)).collect()))
        .collect();
    cells.push(Cells::Labels((0..ROWS).map(|row| (row % 5 / 3) as u32).collect()));
    cells.push(Cells::Labels((0..ROWS).map(|row| (row % 2) as u32).collect()));
    cells.push(Cells::Units((0..ROWS).map(|_| unit(0, 125)).collect()));
    Table::new(schema, cells).unwrap()
}

fn planned(text: &str) -> Plan {
    let program = Program::parse(text, &schema()).unwrap_or_else(|error| panic!("{text}: {error}"));
    Plan::new(&program, &options(SchemeChoice::Integers, 9)).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn look_ups(text: &str) -> LookUps {
    planned(text).look_ups.unwrap()
}

/// Runs a program on tables of every shape, and compares counts and results.
#[track_caller]
fn computes(text: &str, shapes: &[Shape]) {
    let (plan, schema) = (planned(text), schema());
    for (seed, shape) in shapes.iter().enumerate() {
        check(&plan, &table(&schema, *shape, &mut Draw(seed as u64 + 3)), seed as u64);
    }
}

#[test]
fn sums_and_comparisons_with_clear_columns_are_exact() {
    let text = "age + year; 3 * gain - 2 * year - 40; sum(age - far); 0.5 * age + rate; \
                count(age + year > 2050); count(gain <= far); count(age == shift + 50); count(seen + open > 1)";
    computes(text, &[Shape::Uniform, Shape::Low, Shape::High]);
}

#[test]
fn products_with_clear_columns_are_exact() {
    let text = "age * year; gain * shift; sum(gain * far * shift); cov(age, year); seen * year; seen * open; \
                sum(age * rate); sum((age * shift) * (gain + open)); poly(age * open, 1, -2, 1)";
    computes(text, &[Shape::Uniform, Shape::Low, Shape::High, Shape::Middle]);
}

#[test]
fn choices_by_clear_conditions_are_exact() {
    let text = "sum(where(year > 2010, gain, 0)); where(year > 2010, age, gain); where(open == 1, far, gain); \
                where(age > 50, year, 0); mean(age) by site; count(age > 40) by site; mean(year) by kind; \
                sum(where((year > 2010) * (age > 40), gain, 0))";
    computes(text, &[Shape::Uniform, Shape::Middle]);
}

#[test]
fn order_beside_clear_columns_is_exact() {
    computes(
        "max(age, year - 1950); min(gain, far); max(age * open); median(shift); sort(far)",
        &[Shape::Uniform],
    );
}

#[test]
fn what_is_clear_is_never_looked_up() {
    let [alone, beside] =
        ["sum(age)", "sum(age); sum(year * far); max(shift); median(far); count(year > 2010); sort(rate)"]
            .map(look_ups);
    assert_eq!((alone.count, alone.key_switches), (beside.count, beside.key_switches));
    assert_eq!((alone.plain_products, beside.plain_products), (0, 0));
    // Nor is what is computed of clear columns first.
    let [one, several] = ["age + year", "age + (year + 2 * open * open - open - open)"].map(look_ups);
    assert_eq!(one.count, several.count);
    let plan = planned("sum(year * far); max(shift)");
    assert_eq!((plan.inputs, plan.look_ups.unwrap().count), (0, 0));
    check(&plan, &table(&schema(), Shape::Uniform, &mut Draw(5)), 1);
}

#[test]
fn plans_count_no_relinearisation_for_clear_factors() {
    for text in ["age * year", "gain * far", "seen * open", "where(open == 1, age, 0)"] {
        let own = look_ups(text);
        assert!(own.key_switches == 0 && own.plain_products > 0, "{text}: {own:?}");
    }
    for (clear, encrypted) in [("age * year", "age * gain"), ("age * shift", "age * age")] {
        let [clear, encrypted] = [clear, encrypted].map(look_ups);
        assert!(clear.key_switches < encrypted.key_switches, "{clear:?}, {encrypted:?}");
    }
    // A digit that is wanted from 0 to 15 takes a look-up, and nothing else does.
    assert_eq!(look_ups("gain * shift").count, 3);
    assert!(look_ups("seen * open").count <= 1);
}

#[test]
fn products_with_wide_clear_columns_are_refused_or_exact() {
    let columns = vec![Column::integer("a", 0, 1 << 29), Column::integer("b", 0, 1 << 33).in_the_clear()];
    let schema = Schema::new(4, columns).unwrap();
    let plan = |text: &str| {
        let program = Program::parse(text, &schema).unwrap();
        Plan::new(&program, &options(SchemeChoice::Integers, 9))
    };
    let own = plan("a * b - b").unwrap();
    let cells = [[0, 1 << 29, 12345, 1 << 29], [1 << 33, 0, (1 << 33) - 1, 1 << 33]];
    check(&own, &Table::new(&schema, cells.map(|cells| Cells::Units(cells.to_vec())).to_vec()).unwrap(), 1);
    let told = plan("a * b * b").unwrap_err().to_string();
    assert!(told.contains("64 bits"), "{told}");
}
