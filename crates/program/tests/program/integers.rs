//! Programs on encrypted integers: order, tables and comparisons are those of the clear reference, to the last number.

use sunzi_program::analysis::{Plan, SchemeChoice};
use sunzi_program::run::{Cells, Opening, Table};
use sunzi_program::{Column, Opened, Options, Program, ProgramError, Schema};
use sunzi_rlwe::SharingPolicy;

use crate::common::Draw;
use crate::encrypted::{check, options};

/// Rows of tables: no power of two.
const ROWS: u64 = 23;

fn schema() -> Schema {
    let columns = vec![
        Column::integer("age", 18, 90),
        Column::decimal("cost", 1, -100, 150),
        Column::integer("far", 1000, 1003),
        Column::integer("seen", 3, 12).with_missing(),
        Column::integer("flag", 0, 1),
        Column::category("region", &["north", "south", "nowhere"]),
        Column::integer("year", 2000, 2020).in_the_clear(),
    ];
    Schema::new(ROWS, columns).unwrap()
}

fn table(schema: &Schema, draw: &mut Draw) -> Table {
    let mut units = |low: i64, high: i64| -> Vec<i64> {
        (0..ROWS).map(|_| low + draw.below((high - low + 1) as u64) as i64).collect()
    };
    let (mut age, cost, far, mut seen, flag, year) =
        (units(18, 90), units(-100, 150), units(1000, 1003), units(3, 12), units(0, 1), units(2000, 2020));
    // Ends, and rows at the thresholds of comparisons.
    age[..6].copy_from_slice(&[18, 90, 65, 65, 66, 64]);
    for cell in seen.iter_mut().step_by(7) {
        *cell = sunzi_program::run::MISSING_UNIT;
    }
    let labels = Cells::Labels((0..ROWS).map(|row| (row % 3 / 2) as u32).collect());
    let numbers = [age, cost, far, seen, flag].map(Cells::Units);
    Table::new(schema, numbers.into_iter().chain([labels, Cells::Units(year)]).collect()).unwrap()
}

fn files(name: &str) -> Result<String, String> {
    match name {
        "rates.csv" => Ok((0..100).map(|age| format!("{age},{}.{}\n", age * age, age % 10)).collect()),
        _ => Err(format!("no file {name:?}")),
    }
}

fn planned(text: &str) -> Result<Plan, ProgramError> {
    let program = Program::parse_with(text, &schema(), &files)?;
    Plan::new(&program, &options(SchemeChoice::Integers, 9))
}

#[track_caller]
fn computes(text: &str) -> Vec<Opened> {
    let plan = planned(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let schema = schema();
    check(&plan, &table(&schema, &mut Draw(7)), 1)
}

#[test]
fn sums_and_comparisons_are_exact() {
    computes(
        "sum(age); mean(cost); var(age); count(age > 65); count(cost <= 0); count(age == 65); count(flag)",
    );
}

#[test]
fn choices_and_masks_are_exact() {
    computes(
        "sum(where(age > 65, cost, 0)); where(region == \"north\", age, cost); where(cost < 0, -cost, cost); mean(age) by region",
    );
}

#[test]
fn equalities_are_exact() {
    computes(
        "count(age == 65); sum(where(age == 65, cost, -cost)); (age != 65) * cost + 2 * (cost == 0.5); count(age == 62 + 3 * flag); count(flag == 0); count(far == 1001)",
    );
    // Parts of an equality that are asked for themselves.
    computes(
        "count(age == 65) + count(age >= 65); count(cost > 0); count(cost == 0); sum(age * (age == 65))",
    );
}

#[test]
fn an_equality_takes_no_more_look_ups_than_a_comparison() {
    let look_ups = |text: &str| planned(text).unwrap().look_ups.unwrap().count;
    let sum = look_ups("count(flag)");
    for (condition, own) in
        [("age > 65", 2), ("age == 65", 2), ("cost == 0.5", 3), ("far == 1001", 1), ("far > 1001", 1)]
    {
        assert_eq!(look_ups(&format!("count({condition})")) - sum, own, "{condition}");
    }
    // One equality serves all sums, and where a part of it is asked for, two comparisons do.
    assert_eq!(look_ups("count(age == 65); count(age != 65)"), look_ups("count(age == 65); count(flag)"));
    assert_eq!(look_ups("count(age == 65); count(age >= 65)"), 2 * look_ups("count(age >= 65)"));
}

#[test]
fn products_and_polynomials_are_exact() {
    computes(
        "cov(age, cost); age * cost - 3 * age; poly(age, 1, -2, 0.5); poly(cost, 0, 0, 1); sum(age * year) + sum(year); 0.25 * far",
    );
}

#[test]
fn extremes_and_quantiles_are_exact() {
    computes("max(age) - min(age); max(cost); min(cost); min(far); median(far); quantile(cost, 0.1)");
}

#[test]
fn extremes_of_groups_and_of_missing_cells_are_exact() {
    let opened = computes("max(seen); min(seen) by region; max(year)");
    let Opened::Groups(groups) = &opened[1] else { panic!("groups were asked for") };
    assert!(groups[0].1.is_ok() && groups[2].1.is_err(), "there is no row of the third group: {groups:?}");
}

#[test]
fn rows_are_sorted_and_ranked() {
    computes("sort(age); sum(where(rank(far) <= 3, cost, 0)); top(cost, 2)");
}

#[test]
fn tables_are_looked_up() {
    computes(
        "lookup(age, \"rates.csv\"); sum(lookup(far, \"rates.csv\", -1.5)); max(age, 2 * flag); min(cost, 3)",
    );
}

#[test]
fn tables_have_up_to_sixteen_bits() {
    let of_range = |low: i64, high: i64| {
        let schema = Schema::new(ROWS, vec![Column::integer("code", low, high)]).unwrap();
        let files = |_: &str| Ok((low..=high).map(|code| format!("{code},{}\n", code * code % 13)).collect());
        let program = Program::parse_with("sum(lookup(code, \"codes.csv\"))", &schema, &files)?;
        Ok::<_, ProgramError>((schema, Plan::new(&program, &options(SchemeChoice::Integers, 9))?))
    };
    let (schema, plan) = of_range(-100, 9_000).unwrap();
    let mut units: Vec<i64> = (0..ROWS as i64).map(|row| row * 4_001 % 9_101 - 100).collect();
    units[..2].copy_from_slice(&[-100, 9_000]);
    let table = Table::new(&schema, vec![Cells::Units(units)]).unwrap();
    check(&plan, &table, 1);
    let back = serde_json::from_str::<Program>(&serde_json::to_string(&plan.program).unwrap()).unwrap();
    assert_eq!(back, plan.program);
    assert!(of_range(0, (1 << 16) - 1).is_ok());
    let told = of_range(0, 1 << 16).err().unwrap().to_string();
    assert!(told.contains("at most 65536 different numbers, and here are 65537"), "{told}");
}

#[test]
fn programs_are_refused_with_what_would_help() {
    for (text, said) in [
        ("exp(cost)", "no functions of real numbers"),
        (
            "lookup(age, \"rates.csv\") * lookup(age, \"rates.csv\") * cost * cost * cost * cost * cost * cost",
            "64 bits",
        ),
        ("median(seen)", "missing cells"),
        ("median(age) by region", "groups"),
        ("top(age, 24)", "from 1 to 23"),
        ("quantile(age, 1.5)", "from 0 to 1"),
        ("lookup(far, \"rates.csv\")", "has no line for 1000"),
        ("where(age, 1, 2)", "holds or not"),
        ("top(age, 2) + 1", "several numbers"),
    ] {
        let told = planned(text).err().unwrap_or_else(|| panic!("{text} is planned")).to_string();
        assert!(told.contains(said), "{text}: {told}");
    }
    // Without a scheme, programs of order take integers, and no other scheme has them.
    let program = Program::parse("median(age)", &schema()).unwrap();
    let plan = Plan::new(&program, &Options::default()).unwrap();
    assert_eq!(plan.parameters.scheme(), SchemeChoice::Integers);
    assert!(plan.look_ups.is_some_and(|look_ups| look_ups.count > 0 && look_ups.log2_failure < -128.0));
    for scheme in [SchemeChoice::Bfv, SchemeChoice::Bgv, SchemeChoice::Ckks] {
        let asked = Options { scheme: Some(scheme), ..Options::default() };
        assert!(Plan::new(&program, &asked).unwrap_err().to_string().contains("integers"));
    }
}

#[test]
fn results_are_not_shared_for_lack_of_room() {
    let program = Program::parse("sum(age); max(cost)", &schema()).unwrap();
    let room = |options: Options, bits: u32, queries: u64| -> u32 {
        let sharing = Some(SharingPolicy::new(bits, queries).unwrap());
        let told = Plan::new(&program, &Options { sharing, ..options }).unwrap_err().to_string();
        assert!(told.contains("take BFV or BGV"), "{told}");
        let bits = told.split_once("distance of 2^-").and_then(|(_, rest)| rest.split_once(" at best"));
        assert_eq!(bits.is_none(), told.contains("no room"), "{told}");
        bits.map_or(0, |(bits, _)| bits.parse().unwrap())
    };
    // Too little to be of use at full size, and less for more results: half a bit for twice as many.
    let full = Options { scheme: Some(SchemeChoice::Integers), ..Options::default() };
    let [one, many] = [room(full.clone(), 1, 1), room(full, 40, 1 << 12)];
    println!("room for 2^-{one} of one result, for 2^-{many} of 4 096");
    assert!(one < 10 && many == one.saturating_sub(6), "{one}, {many}");
    // What is asked for does not change what there is.
    let own = options(SchemeChoice::Integers, 9);
    assert_eq!(room(own.clone(), 1, 4), room(own, 60, 4));
}

#[test]
fn programs_have_no_end_of_products_in_a_row() {
    // Fifty choices, each a comparison of what the one before gave and a product.
    let deep =
        |depth: usize| (0..depth).fold("age".to_owned(), |inner, _| format!("min({inner} + flag, 100)"));
    computes(&format!("sum({})", deep(50)));
    // Ranges of choices are those of what is chosen from, however many follow each other.
    let chosen =
        (0..40).fold("age".to_owned(), |inner, _| format!("max(min({inner}, age + flag), 2 * flag)"));
    let plan = planned(&chosen).unwrap();
    let column = plan.program.outputs()[0].value.column().unwrap();
    let Opening::Digits { low, high, .. } = &Opening::of(&plan).unwrap()[&column] else { panic!("digits") };
    assert_eq!((*low, *high), (0, 91));
    // Without a word about schemes: what is too deep for all others is computed by look-ups.
    let text = format!("sum({})", (0..7).fold("flag".to_owned(), |x, _| format!("({x})^200 * flag")));
    let schema = schema();
    let program = Program::parse(&text, &schema).unwrap();
    let plan = Plan::new(&program, &Options::default()).unwrap();
    assert_eq!(plan.parameters.scheme(), SchemeChoice::Integers, "{plan}");
}
