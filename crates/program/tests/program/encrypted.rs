//! Tests of random programs on encrypted columns, in every scheme, against the reference in the clear: chosen
//! parameters suffice.

use crate::common::{Draw, schema, table};
use chacha20::ChaCha20Rng;
use chacha20::rand_core::SeedableRng;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use sunzi_program::analysis::{Layout, Options, Plan, SchemeChoice};
use sunzi_program::contexts::{Contexts, EncryptionKey, SecretKey};
use sunzi_program::results::{Description, ResultsReader, ResultsWriter};
use sunzi_program::run::{
    Cells, DeepKeys, Estimate, Input, Table, evaluate, evaluate_bootstrapped, evaluate_integers, reference,
};
use sunzi_program::{NodeId, Number, Opened, Program, ProgramError, Schema};
use sunzi_rlwe::security::accepting_insecure;
use sunzi_rlwe::{PublicKey, Security};

/// Error of a test's reader or program.
#[derive(Debug)]
pub(crate) struct Failed;

impl<E: std::error::Error> From<E> for Failed {
    fn from(error: E) -> Self {
        panic!("{error}")
    }
}

pub(crate) fn options(scheme: SchemeChoice, log2_degree: u32) -> Options {
    let security = Security::InsecureForResearchOnly;
    let (scheme, log2_degree) = (Some(scheme), Some(log2_degree));
    Options { scheme, precision: 20, security, log2_degree, ..Options::default() }
}

/// Runs a plan as three parties with a file, compares totals and columns with the reference, and returns what is opened.
pub(crate) fn check(plan: &Plan, table: &Table, seed: u64) -> Vec<Opened> {
    let filled: Vec<usize> = (0..plan.layout.chunks).map(|chunk| plan.layout.rows_of(chunk)).collect();
    check_filled(plan, table, &filled, seed)
}

/// Checks a plan whose chunks have `filled` rows each: compares decrypted totals and columns with the reference.
fn check_filled(plan: &Plan, table: &Table, filled: &[usize], seed: u64) -> Vec<Opened> {
    let (program, mut rng) = (&plan.program, ChaCha20Rng::seed_from_u64(seed));
    let contexts = Contexts::new(&plan.parameters).unwrap();
    let secret = SecretKey::generate(contexts.rlwe(), &mut rng).unwrap();
    let public = PublicKey::generate(contexts.rlwe(), &secret, &mut rng).unwrap();
    let codec = contexts.codec(&plan.layout).unwrap();
    let (mut keys, mut look_ups) = (None, None);
    let integers = plan.parameters.scheme() == SchemeChoice::Integers;
    if integers || plan.bootstraps.is_some() {
        look_ups = Some(contexts.bootstrapping_keys(&secret, &mut rng, |_, _| {}).unwrap());
    }
    if !integers {
        let (rotations, limbs) = (&plan.rotations, plan.rotation_limbs);
        keys = Some(contexts.evaluation_keys(&secret, rotations, limbs, &mut rng).unwrap());
    }
    let input = |id, chunk| {
        let node = program.graph().node(id).unwrap();
        let column = &program.schema().columns[node.column().unwrap()];
        let start = filled[..chunk].iter().sum::<usize>();
        let rows = rows_of(table, start..start + filled[chunk]);
        let cells = rows.cells(node.column().unwrap()).unwrap().clone();
        if !column.encrypted {
            return Ok(Input::Clear(cells));
        }
        let key = EncryptionKey::Public(&public);
        codec.encrypt(column, node.label(), &cells, key, &mut rng).map(Input::Encrypted)
    };
    let mut file = Vec::new();
    let description = Description::of(plan).unwrap().with_filled(filled.to_vec()).unwrap();
    let mut writer = ResultsWriter::new(&contexts, secret.id(), description, &mut file).unwrap();
    let column = |_, _, answer| writer.put(&answer).map_err(ProgramError::scheme);
    let done = AtomicU64::new(0);
    let progress = || {
        done.fetch_add(1, Ordering::Relaxed);
    };
    let totals = match (&keys, &look_ups) {
        (Some(keys), Some(bootstrapping)) => {
            let keys = DeepKeys { bootstrapping, rotations: keys.galois.as_ref().unwrap() };
            evaluate_bootstrapped(plan, &codec, keys, &progress, input, column)
        }
        (Some(keys), _) => evaluate(plan, &codec, keys, input, column),
        (_, Some(keys)) => evaluate_integers(plan, &codec, keys.whole(), &progress, input, column),
        _ => panic!("one of both was made"),
    };
    if let Some(look_ups) = &plan.look_ups {
        assert_eq!(look_ups.count, done.into_inner(), "a dry run counts the look-ups of a run");
    } else if let Some(bootstraps) = &plan.bootstraps {
        assert_eq!(bootstraps.count, done.into_inner(), "a dry run counts the bootstraps of a run");
    }
    let totals = totals.unwrap_or_else(|error| {
        panic!("{error}: {:?}\n{plan}", program.outputs().iter().map(|o| &o.name).collect::<Vec<_>>())
    });
    totals.values().for_each(|answer| writer.put(answer).unwrap());

    compare(plan, table, &secret, &file)
}

/// Compares what the key holder reads of a file with the reference.
fn compare(plan: &Plan, table: &Table, secret: &SecretKey, file: &[u8]) -> Vec<Opened> {
    let contexts = Contexts::new(&plan.parameters).unwrap();
    let codec = contexts.codec(&plan.layout).unwrap();
    let mut reader = ResultsReader::open(&contexts, file).unwrap();
    assert_eq!(reader.description().program, plan.program);
    let mut columns = Columns::default();
    let totals = reader.decrypt(&codec, secret, taken(&mut columns)).unwrap();
    compare_opened(plan, table, &totals, &columns)
}

/// Cells of output columns.
pub(crate) type Columns = BTreeMap<NodeId, Vec<Estimate>>;

/// Returns what takes chunks of columns.
pub(crate) fn taken(
    columns: &mut Columns,
) -> impl FnMut(NodeId, usize, Vec<Estimate>) -> Result<(), Failed> + '_ {
    |id, first, cells| {
        let column = columns.entry(id).or_default();
        assert_eq!(column.len(), first, "rows follow one another");
        column.extend(cells);
        Ok(())
    }
}

/// Compares what was opened with the reference.
pub(crate) fn compare_opened(
    plan: &Plan,
    table: &Table,
    totals: &BTreeMap<NodeId, Estimate>,
    columns: &Columns,
) -> Vec<Opened> {
    let program = &plan.program;
    let expected = reference(program, table).unwrap();
    for (id, got) in totals {
        let words = program.graph().describe(*id, program.schema());
        near(got, &expected.totals[id].clone().into(), &words);
    }
    for (id, rows) in columns {
        let numbers = expected.numbers(*id).unwrap();
        assert_eq!(rows.len(), numbers.len());
        let words = program.graph().describe(*id, program.schema());
        let valid = program.valid(*id).and_then(|valid| expected.numbers(valid));
        for (row, (got, expected)) in rows.iter().zip(numbers).enumerate() {
            let valid = valid.as_ref().is_none_or(|valid| valid[row].to_f64() == 1.0);
            assert_eq!(got.is_missing(), !valid, "{words}, row {row}");
            if valid {
                near(got, &expected.into(), &words);
            }
        }
    }
    let (got, expected) = (
        program.finish(|id| totals.get(&id).cloned()),
        program.finish(|id| Some(expected.totals.get(&id)?.clone().into())),
    );
    for ((name, got), (_, expected)) in got.iter().zip(&expected) {
        match (got, expected) {
            (Opened::Number(Ok(got)), Opened::Number(Ok(expected))) => near(got, expected, name),
            (Opened::Groups(got), Opened::Groups(expected)) => {
                for ((_, got), (_, expected)) in got.iter().zip(expected) {
                    if let (Ok(got), Ok(expected)) = (got, expected) {
                        near(got, expected, name);
                    }
                }
            }
            _ => {}
        }
    }
    got.into_iter().map(|(_, opened)| opened).collect()
}

/// Checks that two estimates are equal, or differ by no more than the stated error.
fn near(got: &Estimate, expected: &Estimate, words: &str) {
    if let (Number::Exact(_), Number::Exact(_)) = (&got.number, &expected.number) {
        return assert_eq!(got.number, expected.number, "{words}");
    }
    let off = (got.number.to_f64() - expected.number.to_f64()).abs();
    // Roots and sums of clear numbers are as exact as doubles.
    let rounding = 1e-12 * expected.number.to_f64().abs();
    assert!(off <= got.error + rounding, "{words}: {got:?}, expected {expected:?}, off by {off}");
}

fn random_programs(scheme: SchemeChoice, log2_degree: u32, rounds: usize) -> usize {
    let mut draw = Draw(scheme as u64 + 11);
    let mut ran = 0;
    for round in 0..rounds {
        let schema = schema(1 + draw.below(3 << log2_degree));
        let text = format!("{}; {}", draw.statement(), draw.statement());
        let Ok(program) = Program::parse(&text, &schema) else { continue };
        match Plan::new(&program, &options(scheme, log2_degree)) {
            Ok(plan) => {
                // What was chosen for a program fits it, and a plan goes through JSON.
                let text = serde_json::to_string(&plan).unwrap();
                assert!(serde_json::from_str::<Plan>(&text).is_err(), "no security");
                let again: Plan = accepting_insecure(|| serde_json::from_str(&text)).unwrap();
                assert_eq!(again.parameters, plan.parameters);
                assert_eq!(
                    (again.layout, &again.rotations, again.rotation_limbs, again.memory_bytes),
                    (plan.layout, &plan.rotations, plan.rotation_limbs, plan.memory_bytes)
                );
                check(&plan, &table(&schema, &mut draw), round as u64);
                ran += 1;
            }
            Err(ProgramError::Refused(refusal)) => assert!(!refusal.expression.is_empty(), "{text}"),
            Err(error) => panic!("{text}: {error}"),
        }
    }
    ran
}

#[test]
fn random_programs_in_bfv() {
    let ran = random_programs(SchemeChoice::Bfv, 10, 30);
    assert!(ran >= 15, "{ran}");
}

#[test]
fn random_programs_in_bgv() {
    let ran = random_programs(SchemeChoice::Bgv, 10, 30);
    assert!(ran >= 15, "{ran}");
}

#[test]
fn random_programs_in_ckks() {
    let ran = random_programs(SchemeChoice::Ckks, 10, 30);
    assert!(ran >= 15, "{ran}");
}

#[test]
fn functions_and_comparisons_in_ckks() {
    let schema = schema(700);
    for text in [
        "count(x > 3) by sex; mean(y) by region; sigmoid(0.3 * x, -4, 4)",
        "sum(tanh(x * 0.1)); sum(sqrt(y, 0.2, 3)); mean((z == 3) * y)",
        "sum(exp(0.1 * x) * sigmoid(y, 0, 3)); sum(log(inverse(z, 1, 5), 0.1, 2))",
    ] {
        let program = Program::parse(text, &schema).unwrap();
        let plan = Plan::new(&program, &options(SchemeChoice::Ckks, 10)).unwrap();
        check(&plan, &table(&schema, &mut Draw(5)), 1);
    }
}

/// Returns some rows of a table.
pub(crate) fn rows_of(table: &Table, rows: std::ops::Range<usize>) -> Table {
    let schema = Schema { rows: rows.len() as u64, columns: table.schema().columns.clone() };
    let cells = (0..schema.columns.len()).map(|at| match table.cells(at).unwrap() {
        Cells::Units(v) => Cells::Units(v[rows.clone()].to_vec()),
        Cells::Reals(v) => Cells::Reals(v[rows.clone()].to_vec()),
        Cells::Labels(v) => Cells::Labels(v[rows.clone()].to_vec()),
        Cells::Unknown => Cells::Unknown,
    });
    Table::new(&schema, cells.collect()).unwrap()
}

/// Programs run on a table that a category cuts into parts and of which some chunks are left out.
#[test]
fn chunks_need_not_be_full() {
    let exact = "mean(x); sum(x * y); corr(x, y); mean(y) by region; sum(z) by sex; x + y; c * 2";
    let real = "mean(x); sum(x * y); sum(z) by sex; mean(y) by region; x + y; c * 2";
    for scheme in [SchemeChoice::Bfv, SchemeChoice::Bgv, SchemeChoice::Ckks] {
        let schema = schema(2500);
        let text = if scheme == SchemeChoice::Ckks { real } else { exact };
        let options = Options { parts: 3, ..options(scheme, 10) };
        let made = Plan::new(&Program::parse(text, &schema).unwrap(), &options).unwrap();
        let whole = table(&schema, &mut Draw(9));
        let span = made.layout.span;
        // As many chunks as three parts may have, few of them full; one alone; the most that there are rows for.
        for filled in [vec![span, 1, 7, span - 1], vec![3], vec![1, 1, 1]] {
            let rows = filled.iter().sum::<usize>();
            let left = rows_of(&whole, 0..rows);
            let program = Program::parse(text, left.schema()).unwrap();
            let layout = Layout { rows, span, chunks: filled.len() };
            let plan = Plan::for_layout(&program, &made.parameters, layout, 20).unwrap();
            check_filled(&plan, &left, &filled, 3);
        }
    }
}

#[test]
fn layouts_that_no_table_has_are_refused() {
    let schema = schema(2500);
    let program = Program::parse("sum(x)", &schema).unwrap();
    let parameters = Plan::new(&program, &options(SchemeChoice::Bfv, 10)).unwrap().parameters;
    let slots = parameters.slots();
    let right = Layout::new(2500, slots);
    let within = |layout| Plan::for_layout(&program, &parameters, layout, 20);
    assert!(within(right).is_ok() && within(Layout { chunks: right.chunks + 1, ..right }).is_ok());
    for wrong in [
        Layout { rows: 2499, ..right },
        Layout { span: 2 * slots, ..right },
        Layout { span: slots - 1, ..right },
        Layout { span: 0, ..right },
        Layout { chunks: right.chunks - 1, ..right },
        Layout { chunks: 2501, ..right },
    ] {
        assert!(matches!(within(wrong), Err(ProgramError::Mismatch { .. })), "{wrong:?}");
    }
    let description = Description::of(&within(Layout { chunks: 4, ..right }).unwrap()).unwrap();
    for wrong in [
        vec![],
        vec![1024, 1024, 452],
        vec![1025, 1024, 450, 1],
        vec![1024, 1024, 452, 0],
        vec![usize::MAX; 4],
    ] {
        assert!(description.clone().with_filled(wrong).is_err());
    }
    assert_eq!(description.with_filled(vec![1000, 1024, 1, 475]).unwrap().rows_of(3), 475);
}

/// Checks that a program is refused in parameters that were made for another program.
fn refused(made_for: &str, text: &str, scheme: SchemeChoice, words: &[&str]) {
    let schema = schema(3000);
    let parse = |text: &str| Program::parse(text, &schema).unwrap();
    let parameters = Plan::new(&parse(made_for), &options(scheme, 11)).unwrap().parameters;
    assert!(Plan::within(&parse(made_for), &parameters, 20).is_ok(), "{made_for}");
    match Plan::within(&parse(text), &parameters, 20) {
        Err(ProgramError::Refused(refusal)) => {
            let message = refusal.to_string();
            assert!(words.iter().all(|word| message.contains(word)), "{text}: {message}");
        }
        Ok(plan) => panic!("{text}: {plan}"),
        Err(error) => panic!("{text}: {error}"),
    }
}

#[test]
fn programs_beyond_their_parameters_are_refused_before_anything_runs() {
    use SchemeChoice::{Bfv, Bgv, Ckks};
    for scheme in [Bfv, Bgv] {
        refused("mean(x)", "sum(poly(y, 1, 2, 3, 4, 5))", scheme, &["2^", "make parameters", "poly(y"]);
        refused(
            "sum(x * y)",
            "sum(x > 2)",
            scheme,
            &["4 products in a row", "make parameters", "(x - 2 > 0)"],
        );
    }
    refused("sum(1000000 * x)", "sum(x * x * x)", Bfv, &["bits of noise", "x * x"]);
    refused("sum(1000000 * x)", "sum(x * x)", Bgv, &["products in a row"]);
    refused("sum((x * x) * 1000000)", "sum((x + y + z + 5) * (9 * x - 9))", Bgv, &["operations at a level"]);
    refused("sum(x)", "sum(x * y * z)", Ckks, &["levels", "x * y"]);
    refused("sum(x * y)", "count(x > 2)", Ckks, &["levels"]);
}
