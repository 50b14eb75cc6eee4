//! Tests of programs on packed tables: planned, run and read, against the program in the clear.

use std::sync::atomic::{AtomicUsize, Ordering};

use num_bigint::BigInt;
use sunzi_program::analysis::SchemeChoice;
use sunzi_program::packed::{Keys, Packing, Phase, Totals, run};
use sunzi_program::run::{Cells, Table, reference};
use sunzi_program::{
    Column, Contexts, Formula, Graph, Number, Options, Output, OutputValue, Plan, Program, ProgramError,
    Schema,
};
use sunzi_rlwe::Security;
use sunzi_rlwe::security::accepting_insecure;

const ROWS: usize = 40;

fn schema() -> Schema {
    let columns = vec![
        Column::integer("x", -20, 20),
        Column::decimal("y", 1, 0, 99),
        Column::integer("z", 5, 9),
        Column::category("region", &["north", "south", "west"]),
        Column::category("class", &["a", "b"]),
    ];
    Schema::new(ROWS as u64, columns).unwrap()
}

fn table() -> Table {
    let of = |f: fn(usize) -> usize| (0..ROWS).map(f);
    let units = |f: fn(usize) -> usize, low: i64| Cells::Units(of(f).map(|v| v as i64 + low).collect());
    let labels = |f: fn(usize) -> usize| Cells::Labels(of(f).map(|v| v as u32).collect());
    let cells = vec![
        units(|i| (i * 17 + 3) % 41, -20),
        units(|i| (i * i * 7 + 1) % 100, 0),
        units(|i| i % 5, 5),
        labels(|i| usize::from(i % 3 == 0) + usize::from(i % 9 == 0)),
        labels(|i| i / 7 % 2),
    ];
    Table::new(&schema(), cells).unwrap()
}

fn options(scheme: SchemeChoice, packing: Packing) -> Options {
    let security = Security::InsecureForResearchOnly;
    let (scheme, log2_degree) = (Some(scheme), Some(8));
    Options { scheme, security, log2_degree, packing: Some(packing), ..Options::default() }
}

fn opened(plan: &Plan, table: &Table) -> Result<Totals, ProgramError> {
    let contexts = Contexts::new(&plan.parameters)?;
    let keys = Keys::generate(plan, &contexts)?;
    let (steps, mut phases) = (AtomicUsize::new(0), Vec::new());
    let totals = run(plan, &contexts, &keys, table, &mut |phase| phases.push(phase), &|| {
        steps.fetch_add(1, Ordering::Relaxed);
    })?;
    assert_eq!(steps.into_inner(), plan.packed().unwrap().steps(&plan.parameters));
    assert_eq!((phases[0], phases.last()), (Phase::Encrypting, Some(&Phase::Decrypting)));
    assert!(totals.bits_left >= 0.0);
    Ok(totals)
}

#[test]
fn packed_totals_are_those_in_the_clear() {
    let text = "mean(x); var(y); cov(x, y); corr(x, z); count(region == \"south\"); sum(x + 2 * y - 1);
        mean(y) by region; cov(x, z) by region; sum((x - y) * (z + 1)); sum(x^2 - 3 * x) by region;
        sum(poly(z, 1, 0.5, 2)); sum(x) - sum(z); sum(x * (class == \"b\")) by region";
    let table = table();
    let program = Program::parse(text, &schema()).unwrap();
    let clear = reference(&program, &table).unwrap();
    for scheme in [SchemeChoice::Bfv, SchemeChoice::Bgv] {
        for longest_group in [None, Some(27)] {
            let packing = Packing { longest_group, ..Packing::default() };
            let plan = Plan::new(&program, &options(scheme, packing)).unwrap();
            assert_eq!(plan.packed().unwrap().layout().shape().groups, 3, "by region");
            let totals = opened(&plan, &table).unwrap();
            assert_eq!(totals.all, clear.totals, "{scheme:?}");
            let finished = program.finish(|id| totals.all.get(&id).cloned().map(Into::into));
            assert_eq!(finished, program.finish(|id| clear.totals.get(&id).cloned().map(Into::into)));
            // Labels add up to all rows, since every total is a sum over rows.
            for (id, all) in &totals.all {
                let exact = |number: &Number| match number {
                    Number::Exact(ratio) => ratio.clone(),
                    Number::Real(_) => panic!(),
                };
                let sum = totals.by_label.iter().map(|of| exact(&of[id]));
                assert_eq!(sum.reduce(|a, b| a + b), Some(exact(all)));
            }
        }
    }
}

#[test]
fn a_plan_packs_where_that_costs_less() {
    let asked = |text: &str, packing: Option<Packing>| {
        let program = Program::parse(text, &schema()).unwrap();
        let own = options(SchemeChoice::Bfv, Packing::default());
        Plan::new(&program, &Options { packing, ..own }).unwrap()
    };
    let some = || Some(Packing::default());
    let many = "cov(x, y); cov(x, z); cov(y, z); mean(x) by region";
    assert!(asked(many, some()).packed().is_some());
    assert!(asked(many, None).packed().is_none(), "only where it is asked for");
    // What cannot be packed: rows that come out, three columns in a product.
    for text in ["x + y", "sum(x * y * z)", "sum(x * y) by region, class"] {
        assert!(asked(text, some()).packed().is_none(), "{text}");
    }
    // One sum needs no units, unless it is wanted for each label too.
    let one = asked("sum(x)", some());
    let labels = asked("sum(x)", Some(Packing { by_label: true, ..Packing::default() }));
    assert!(one.packed().is_none() && labels.packed().is_some());
    // Only products that are needed, and no level without any.
    let products = |plan: &Plan| plan.packed().unwrap().layout().products().len();
    assert_eq!((products(&labels), labels.depth), (0, 0));
    assert_eq!(products(&asked("var(x); mean(y) by region", some())), 1);
}

#[test]
fn a_packed_plan_goes_through_json_and_others_are_refused() {
    let program = Program::parse("cov(x, y); cov(x, z); mean(z) by region", &schema()).unwrap();
    let packing =
        Packing { longest_group: Some(27), largest: Some(1 << 20), by_label: true, ..Packing::default() };
    let plan = Plan::new(&program, &options(SchemeChoice::Bgv, packing)).unwrap();
    let text = serde_json::to_string(&plan).unwrap();
    let read = |text: &str| accepting_insecure(|| serde_json::from_str::<Plan>(text));
    let back = read(&text).unwrap();
    assert_eq!((back.parameters.clone(), back.layout), (plan.parameters.clone(), plan.layout));
    assert_eq!(opened(&back, &table()).unwrap().all, reference(&program, &table()).unwrap().totals);
    for (from, to) in [
        (r#""longest_group":27"#, r#""longest_group":-1"#),
        (r#""largest":1048576"#, r#""largest":1152921504606846976000"#),
        (r#""by_label":true"#, r#""by_label":true,"more":1"#),
    ] {
        assert!(text.contains(from), "{from}");
        assert!(read(&text.replace(from, to)).is_err(), "{to}");
    }
    // A group that is longer than was said, another table, and a run of columns apart.
    let short = Packing { longest_group: Some(25), by_label: true, ..Packing::default() };
    let short = Plan::new(&program, &options(SchemeChoice::Bfv, short)).unwrap();
    assert!(matches!(opened(&short, &table()), Err(ProgramError::Mismatch { what: "rows of a group", .. })));
    let other = Schema::new(1, vec![Column::integer("x", 0, 1)]).unwrap();
    let other = Table::new(&other, vec![Cells::Units(vec![1])]).unwrap();
    assert!(matches!(opened(&plan, &other), Err(ProgramError::Mismatch { what: "the table", .. })));
    let contexts = Contexts::new(&plan.parameters).unwrap();
    let keys = Keys::generate(&plan, &contexts).unwrap();
    let codec = contexts.codec(&plan.layout).unwrap();
    let apart = sunzi_program::run::evaluate(
        &plan,
        &codec,
        &keys.evaluation,
        |_, _| panic!("nothing is read"),
        |_, _, _| Ok(()),
    );
    assert!(matches!(apart, Err(ProgramError::Mismatch { what: "the plan", .. })));
}

#[test]
fn wide_columns_are_exact_and_not_for_ckks() {
    let largest = 800_000_000_000_000_000_i64;
    let columns = vec![Column::integer("v", -largest, largest)];
    assert!(Schema::new(3, columns.clone()).is_err(), "only in memory");
    let schema = Schema { rows: 3, columns };
    let mut graph = Graph::default();
    let v = graph.column(0).unwrap();
    let square = graph.multiply(v, v).unwrap();
    let output = |id| Output { name: String::new(), value: OutputValue::Number(Formula::Total(id)) };
    let program = Program::new(schema.clone(), graph, vec![output(v), output(square)]).unwrap();
    let table = Table::new(&schema, vec![Cells::Units(vec![largest, -largest, 12_345])]).unwrap();
    let packing = Packing { by_label: true, ..Packing::default() };
    let plan = Plan::new(&program, &options(SchemeChoice::Bfv, packing.clone())).unwrap();
    let totals = opened(&plan, &table).unwrap();
    let squares = BigInt::from(largest) * largest * 2 + 12_345 * 12_345;
    assert_eq!(totals.all[&square], Number::scaled(squares, 0));
    assert_eq!(totals.all, totals.by_label[0]);
    let refused = Plan::new(&program, &options(SchemeChoice::Ckks, packing)).unwrap_err();
    assert!(refused.to_string().contains("2^53"), "{refused}");
}
