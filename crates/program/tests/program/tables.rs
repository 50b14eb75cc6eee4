//! Tables and comparisons of few values in BFV and BGV: polynomials modulo the plaintext moduli, equal to the clear reference.

use std::collections::BTreeMap;

use sunzi_circuits::{Clear as Counter, ClearKeys};
use sunzi_program::analysis::{Layout, Parameters, Plan, SchemeChoice};
use sunzi_program::run::exact::{Exact, Output, Value};
use sunzi_program::run::{Cells, MISSING_UNIT, Table, reference, run};
use sunzi_program::{Column, Node, Number, Options, Program, ProgramError, Schema};
use sunzi_rlwe::security::accepting_insecure;

use crate::common::Draw;
use crate::encrypted::{check, options};

fn schema(rows: u64) -> Schema {
    let columns = vec![
        Column::integer("age", 18, 40),
        Column::decimal("cost", 1, -12, 15),
        Column::integer("one", 7, 7),
        Column::integer("seen", 3, 12).with_missing(),
        Column::integer("flag", 0, 1),
        Column::integer("wide", -100_000, 100_000),
        Column::category("region", &["north", "south"]),
        Column::integer("year", 2000, 2020).in_the_clear(),
    ];
    Schema::new(rows, columns).unwrap()
}

fn table(schema: &Schema, draw: &mut Draw) -> Table {
    let mut units = |low: i64, high: i64| -> Vec<i64> {
        // Both ends come first, and every number near the thresholds of the programs below.
        let ends = [low, high, (low + high) / 2, 0.clamp(low, high), 1.clamp(low, high)];
        let drawn = (0..).map(|_| low + draw.below((high - low + 1) as u64) as i64);
        ends.into_iter().chain(drawn).take(schema.rows as usize).collect()
    };
    let (age, cost, one, mut seen, flag, wide, year) = (
        units(18, 40),
        units(-12, 15),
        units(7, 7),
        units(3, 12),
        units(0, 1),
        units(-100_000, 100_000),
        units(2000, 2020),
    );
    seen.iter_mut().step_by(3).for_each(|cell| *cell = MISSING_UNIT);
    let labels = Cells::Labels((0..schema.rows).map(|row| (row % 3 / 2) as u32).collect());
    let numbers = [age, cost, one, seen, flag, wide].map(Cells::Units);
    Table::new(schema, numbers.into_iter().chain([labels, Cells::Units(year)]).collect()).unwrap()
}

fn files(name: &str) -> Result<String, String> {
    match name {
        "rates.csv" => {
            Ok((-12_i64..2021).map(|n| format!("{n},{}.{}\n", n * n % 91, (7 * n).rem_euclid(10))).collect())
        }
        _ => Err(format!("no file {name:?}")),
    }
}

fn parse(text: &str, rows: u64) -> Program {
    Program::parse_with(text, &schema(rows), &files).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Plans a program in a small ring, sends the plan through JSON, runs it and compares with the reference.
#[track_caller]
fn computes(text: &str, scheme: SchemeChoice, rows: u64) -> Plan {
    let program = parse(text, rows);
    let plan = Plan::new(&program, &options(scheme, 10)).unwrap_or_else(|error| panic!("{text}: {error}"));
    let again: Plan =
        accepting_insecure(|| serde_json::from_str(&serde_json::to_string(&plan).unwrap())).unwrap();
    assert_eq!(again.program, program, "a program stays as it was written");
    assert_eq!(
        (&again.parameters, again.inputs, again.memory_bytes),
        (&plan.parameters, plan.inputs, plan.memory_bytes)
    );
    check(&again, &table(&schema(rows), &mut Draw(rows)), 3);
    plan
}

/// Draws a number in every row that needs a table.
fn told(draw: &mut Draw, depth: u32) -> String {
    let a = if depth == 0 { String::new() } else { told(draw, depth - 1) };
    let leaf = match draw.below(9) {
        0 => "(age > 29)",
        1 => "(cost <= 0)",
        2 => "(age == 30)",
        3 => "lookup(age, \"rates.csv\")",
        4 => "lookup(cost, \"rates.csv\", -1.5)",
        5 => "(seen >= 7)",
        6 => "where(age < 20, 3, cost)",
        7 => "max(age, 30 - 2 * flag)",
        _ => "(year > 2010)",
    };
    match (depth, draw.below(4)) {
        (0, _) => leaf.to_owned(),
        (_, 0) => format!("({a} - 2 * {leaf})"),
        (_, 1) => format!("{a} * {leaf}"),
        (_, 2) => format!("({a} + age)"),
        _ => format!("({a} + year * {leaf})"),
    }
}

#[test]
fn random_programs_of_tables_equal_the_reference() {
    let (mut draw, mut ran) = (Draw(5), BTreeMap::new());
    for round in 0..12 {
        let scheme = [SchemeChoice::Bfv, SchemeChoice::Bgv][round % 2];
        let depth = draw.below(3) as u32;
        let by = ["", " by region"][draw.below(2) as usize];
        let text = format!("sum({}){by}; {}", told(&mut draw, depth), told(&mut draw, 1));
        let rows = 5 + draw.below(1500);
        let Ok(program) = Program::parse_with(&text, &schema(rows), &files) else { continue };
        match Plan::new(&program, &options(scheme, 10)) {
            Ok(_) => {
                computes(&text, scheme, rows);
                *ran.entry(scheme as u8).or_insert(0) += 1;
            }
            Err(ProgramError::Refused(refusal)) => assert!(!refusal.expression.is_empty(), "{text}"),
            Err(error) => panic!("{text}: {error}"),
        }
    }
    assert!(ran.len() == 2 && ran.values().all(|&count| count >= 3), "{ran:?}");
}

#[test]
fn tables_of_every_kind_are_exact() {
    for scheme in [SchemeChoice::Bfv, SchemeChoice::Bgv] {
        computes("lookup(one, \"rates.csv\"); sum(lookup(one, \"rates.csv\")); count(one > 7)", scheme, 9);
        computes("sum(lookup(flag, \"rates.csv\")); flag == 1", scheme, 23);
        computes("lookup(seen, \"rates.csv\", 2); mean(seen > 5); count(seen == 3) by region", scheme, 40);
        computes("lookup(year, \"rates.csv\") * (age > 20); sum(lookup(year, \"rates.csv\"))", scheme, 2100);
        // Two columns, at their thresholds: 2 * age + 1 against 60 and 61.
        computes(
            "count(age > 30 + cost); sum(where(age == 30, cost, 0)); count(2 * age + 1 > 60)",
            scheme,
            77,
        );
    }
}

/// Tests wide sums, which take several plaintext moduli with a polynomial for each.
#[test]
fn every_plaintext_modulus_has_its_polynomial() {
    let plan = computes(
        "sum(wide * wide * wide * wide * (age > 29) + lookup(age, \"rates.csv\"))",
        SchemeChoice::Bfv,
        31,
    );
    assert!(plan.parameters.plain_moduli().len() > 1, "{plan}");
}

/// Runs sum(lookup(x, …)) over so many entries modulo t, and returns the sum.
fn sum_modulo(entries: i64, t: u64) -> Result<(Vec<u64>, Program), ProgramError> {
    let column = Column::integer("x", -2, entries - 3);
    let schema = Schema::new(entries as u64, vec![column])?;
    let lines = |_: &str| Ok((-2..entries).map(|n| format!("{n},{}\n", n * n * n % 11)).collect());
    let program = Program::parse_with("lookup(x, \"rates.csv\")", &schema, &lines)?;
    let row = (entries as usize).next_power_of_two();
    let arithmetic = Counter::new(row, t);
    let (layout, keys) = (Layout::new(entries as usize, 2 * row), ClearKeys::all());
    let backend =
        Exact::new(&program, &layout, &arithmetic, &keys, |values: &[u64]| Ok(arithmetic.encode(values)));
    let cells: Vec<u64> = (-2..entries - 2).map(|v| v.rem_euclid(t as i64) as u64).collect();
    let mut slots = Vec::new();
    let column = |_, _, output| {
        if let Output::Encrypted(chunk) = output {
            let chunk: sunzi_circuits::ClearCiphertext = chunk;
            slots.extend_from_slice(chunk.slots());
        }
        Ok(())
    };
    run(&program, &layout, &backend, |_, _| Ok(Value::encrypted(arithmetic.encrypt(&cells))), column)?;
    Ok((slots, program))
}

#[test]
fn a_table_has_at_most_as_many_entries_as_the_plaintext_modulus() {
    for (entries, t) in [(1, 97), (2, 97), (3, 2_u64.pow(16) + 1), (96, 97), (97, 97), (256, 257)] {
        let (slots, program) = sum_modulo(entries, t).unwrap();
        let cells: Vec<i64> = (-2..entries - 2).collect();
        let table = Table::new(program.schema(), vec![Cells::Units(cells)]).unwrap();
        let id = *program.columns().first().unwrap();
        let expected = reference(&program, &table).unwrap().numbers(id).unwrap();
        for (slot, expected) in slots.iter().zip(&expected) {
            let Number::Exact(exact) = expected else { panic!("exact") };
            let units: i64 = exact.to_integer().try_into().unwrap();
            assert_eq!(*slot, units.rem_euclid(t as i64) as u64, "{entries} entries modulo {t}");
        }
        assert_eq!(expected.len(), entries as usize);
    }
    for (entries, t) in [(98, 97), (200, 97), (5, 4)] {
        let told = sum_modulo(entries, t).unwrap_err().to_string();
        assert!(told.contains("prime of at least"), "{told}");
    }
}

#[test]
fn what_depends_on_one_number_is_one_table() {
    let node = |text: &str| {
        let program = parse(text, 50);
        let tabled = program.with_tables().into_owned();
        let used: Vec<Node> =
            tabled.used().into_iter().filter_map(|id| tabled.graph().node(id).cloned()).collect();
        used
    };
    let tables = |nodes: &[Node]| nodes.iter().filter(|node| matches!(node, Node::LookUp { .. })).count();
    for text in [
        "count(age == 30)",
        "count((age > 20) * (age < 30))",
        "sum(lookup(age, \"rates.csv\") * (age > 20) + 3 * (age > 25))",
        "sum(poly(lookup(age, \"rates.csv\"), 1, 2, 3))",
        "sum((age > 20) * poly(age, 1, 2, 3))",
    ] {
        let nodes = node(text);
        assert_eq!((nodes.len(), tables(&nodes)), (2, 1), "{text}: {nodes:?}");
    }
    // What other outputs need too is there once, and equal tables are one.
    let nodes = node("count(age > 20); count(age > 25); count((age > 20) * (age > 25))");
    assert_eq!(tables(&nodes), 2, "{nodes:?}");
    let nodes = node("count(age > 20); count(age >= 21)");
    assert_eq!(tables(&nodes), 1, "{nodes:?}");
    // Wide numbers stay comparisons.
    assert_eq!(tables(&node("count(wide > 0)")), 0);
    assert_eq!(tables(&node("count(age > 30 + cost)")), 1);
}

#[test]
fn schemes_are_weighed_and_said_why() {
    let program = parse("sum(lookup(age, \"rates.csv\")); count(cost > 0)", 5000);
    let plan = Plan::new(&program, &Options::default()).unwrap();
    assert!(matches!(plan.parameters.scheme(), SchemeChoice::Bfv | SchemeChoice::Bgv), "{plan}");
    let text = plan.to_string();
    for said in ["is a table of", "relinearised products", "encrypted integers would take at least"] {
        assert!(text.contains(said), "{text}");
    }
    let program = parse("count(age > 30)", 5000);
    let plan = Plan::new(&program, &Options::default()).unwrap();
    assert!(plan.to_string().contains("of the work of CKKS"), "{plan}");
    let asked = Options { scheme: Some(SchemeChoice::Ckks), ..Options::default() };
    assert_eq!(Plan::new(&program, &asked).unwrap().parameters.scheme(), SchemeChoice::Ckks);
    // Wide comparisons stay in CKKS, and those whose tables are long where those cost more.
    let wide = Plan::new(&parse("count(wide > 0)", 5000), &Options::default()).unwrap();
    assert_eq!(wide.parameters.scheme(), SchemeChoice::Ckks, "{wide}");
}

#[test]
fn refusals_say_what_would_help() {
    let asked = |scheme| Options { scheme: Some(scheme), ..Options::default() };
    for scheme in [SchemeChoice::Bfv, SchemeChoice::Bgv] {
        for (text, said) in [
            ("count(wide > 0)", "at most 4096, and here are 200001"),
            ("median(age)", "encrypted integers alone have order"),
            ("sum(exp(cost))", "take CKKS"),
        ] {
            let told = Plan::new(&parse(text, 100), &asked(scheme)).unwrap_err().to_string();
            assert!(told.contains(said), "{text}: {told}");
        }
    }
    let told = Plan::new(&parse("sum(lookup(age, \"rates.csv\"))", 100), &asked(SchemeChoice::Ckks));
    let told = told.unwrap_err().to_string();
    assert!(told.contains("BFV for tables"), "{told}");
    // Parameters of sums alone have no room for a polynomial.
    let sums = Plan::new(&parse("sum(age)", 100), &asked(SchemeChoice::Bfv)).unwrap();
    let Parameters::Bfv(_) = &sums.parameters else { panic!("{sums}") };
    let told = Plan::within(&parse("count(age > 30)", 100), &sums.parameters, 16).unwrap_err().to_string();
    assert!(told.contains("make parameters for this program"), "{told}");
}

#[test]
fn plans_of_order_name_what_goes_alone() {
    let small = Options { log2_degree: None, ..Options::default() };
    let text = "median(age); n = count(cost > 0); t = sum(lookup(age, \"rates.csv\"))";
    let plan = Plan::new(&parse(text, 5000), &small).unwrap();
    assert_eq!(plan.parameters.scheme(), SchemeChoice::Integers);
    let advice = plan.reasons.iter().find(|reason| reason.contains("in a program of their own"));
    let advice = advice.unwrap_or_else(|| panic!("{plan}"));
    assert!(advice.contains("n; t would take") && advice.contains(" at n = "), "{advice}");
    // Nothing is said where nothing would be gained.
    let plan = Plan::new(&parse("median(age)", 5000), &small).unwrap();
    assert!(!plan.reasons.iter().any(|reason| reason.contains("of their own")), "{plan}");
}

#[test]
fn wide_tables_are_for_encrypted_integers() {
    let rows = |_: &str| Ok((0..5000).map(|code| format!("{code},{}\n", code % 7)).collect());
    for (high, scheme) in [(4095, SchemeChoice::Bfv), (4096, SchemeChoice::Integers)] {
        let schema = Schema::new(100, vec![Column::integer("code", 0, high)]).unwrap();
        let program = Program::parse_with("sum(lookup(code, \"codes.csv\"))", &schema, &rows).unwrap();
        let plan = Plan::new(&program, &Options::default()).unwrap();
        assert_eq!(plan.parameters.scheme(), scheme, "{plan}");
        let asked = Options { scheme: Some(SchemeChoice::Bfv), ..Options::default() };
        let told = Plan::new(&program, &asked).err().map(|error| error.to_string());
        let said =
            told.as_ref().is_some_and(|told| told.contains("at most 4096 entries, and this one has 4097"));
        assert_eq!(said, high == 4096, "{told:?}");
    }
}
