//! Tests of runs in exact arithmetic against the reference in the clear.

use crate::common::{Draw, schema, table};
use sunzi_circuits::{Clear as Counter, ClearCiphertext, ClearKeys};
use sunzi_math::Crt;
use sunzi_program::analysis::{Layout, Options, Plan, SchemeChoice};
use sunzi_program::run::exact::{Exact, Output, Value};
use sunzi_program::run::{Opening, Table, encrypted_inputs, reference, run};
use sunzi_program::{NodeId, Program, ProgramError};

const MODULI: [u64; 3] = [1_073_479_681, 1_073_184_769, 1_072_496_641];

/// Runs a program over clear residues in place of ciphertexts, and compares every total and every row.
fn check(program: &Program, table: &Table, row_length: usize) {
    let expected = reference(program, table).unwrap();
    let layout = Layout::new(program.schema().rows as usize, 2 * row_length);
    let crt = Crt::new(&MODULI).unwrap();
    let openings = Opening::exact(program).unwrap();
    let encrypted = encrypted_inputs(program);
    let mut residues: std::collections::BTreeMap<NodeId, Vec<u64>> = Default::default();
    let mut rows: std::collections::BTreeMap<NodeId, Vec<Vec<u64>>> = Default::default();
    for t in MODULI {
        let arithmetic = Counter::new(row_length, t);
        let keys = ClearKeys::all();
        let encode = |values: &[u64]| Ok(arithmetic.encode(values));
        let backend = Exact::new(program, &layout, &arithmetic, &keys, encode);
        let input = |id: NodeId, chunk| {
            if !encrypted.contains(&id) {
                return backend.clear_input(table, id, chunk);
            }
            let units = table.units(program.graph().node(id).unwrap(), &layout, chunk).unwrap();
            let reduced: Vec<u64> = units.iter().map(|v| v.rem_euclid(i128::from(t)) as u64).collect();
            Ok(Value::encrypted(arithmetic.encrypt(&reduced)))
        };
        let mut columns: std::collections::BTreeMap<NodeId, Vec<u64>> = Default::default();
        let column = |id, _, output: Output<ClearCiphertext>| {
            if let Output::Encrypted(chunk) = output {
                columns.entry(id).or_default().extend(&chunk.slots()[..layout.span]);
            }
            Ok(())
        };
        for (id, output) in run(program, &layout, &backend, input, column).unwrap() {
            match output {
                Output::Encrypted(sum) => residues.entry(id).or_default().push(sum.slots()[0]),
                Output::Clear(sum) => {
                    let residues = crt.residues(&sum);
                    let opened = openings[&id].total(&layout, &crt, &residues).unwrap();
                    assert_eq!(Some(&opened), expected.totals.get(&id));
                }
                Output::ClearColumn(_) => panic!("a total is no column"),
            }
        }
        columns.into_iter().for_each(|(id, slots)| rows.entry(id).or_default().push(slots));
    }
    for (id, residues) in residues {
        let opened = openings[&id].total(&layout, &crt, &residues).unwrap();
        let words = program.graph().describe(id, program.schema());
        assert_eq!(Some(&opened), expected.totals.get(&id), "{words}");
    }
    for (id, moduli) in rows {
        let sunzi_program::run::Clear::Units(units) = &expected.columns[&id] else { panic!("exact") };
        for (row, expected) in units.iter().enumerate() {
            let residues: Vec<u64> = moduli.iter().map(|slots| slots[row]).collect();
            assert_eq!(crt.reconstruct_centered(&residues).unwrap(), (*expected).into());
        }
    }
}

#[test]
fn random_programs_equal_the_oracle() {
    let mut draw = Draw(7);
    let mut totals = 0;
    for round in 0..200 {
        let schema = schema(1 + draw.below(70));
        let text = format!("{}; {}", draw.statement(), draw.statement());
        // Two equal statements are refused, and programs of large numbers do not fit three moduli.
        let Ok(program) = Program::parse(&text, &schema) else { continue };
        totals += program.totals().len();
        check(&program, &table(&schema, &mut draw), [4, 8, 64][round % 3]);
    }
    assert!(totals > 200, "{totals}");
}

#[test]
fn schemes_are_chosen_by_what_is_computed() {
    let schema = schema(5000);
    let plan = |text: &str, options: &Options| Plan::new(&Program::parse(text, &schema).unwrap(), options);
    let exact = plan("mean(x); corr(x, y)", &Options::default()).unwrap();
    assert!(["BFV", "BGV"].contains(&exact.parameters.name()), "{exact}");
    assert_eq!((exact.depth, exact.layout.chunks), (1, 5000_usize.div_ceil(exact.layout.span)));
    // Few values are compared by a table, exactly and in less work than by a sign.
    let told = plan("count(x > 3)", &Options::default()).unwrap();
    assert!(["BFV", "BGV"].contains(&told.parameters.name()), "{told}");
    let real = plan("sum(exp(x))", &Options::default()).unwrap();
    assert_eq!(real.parameters.name(), "CKKS", "{real}");
    let asked = Options { scheme: Some(SchemeChoice::Bfv), ..Options::default() };
    for (text, options, part) in [
        ("sum(exp(x))", &asked, "take CKKS"),
        ("sum(x^200)", &asked, "x"),
        ("sum(log(x))", &Options::default(), "interval"),
        (
            "sum((x > 3)^2 * sigmoid(tanh(sigmoid(exp(sigmoid(tanh(x))))) ^ 200))",
            &Options::default(),
            "levels",
        ),
    ] {
        match plan(text, options) {
            Err(ProgramError::Refused(refusal)) => {
                assert!(refusal.to_string().contains(part), "{text}: {refusal}");
                assert!(!refusal.expression.is_empty());
            }
            other => panic!("{text}: {other:?}"),
        }
    }
}
