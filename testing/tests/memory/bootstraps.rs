//! Predictions of plans with bootstraps about memory and time, compared with runs.

use std::collections::BTreeMap;
use std::time::Instant;

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use sunzi_program::analysis::SchemeChoice;
use sunzi_program::contexts::{EncryptionKey, SecretKey};
use sunzi_program::run::{Cells, DeepKeys, Input, encrypted_inputs, evaluate_bootstrapped};
use sunzi_program::{
    Column, Contexts, Decimal, Formula, Graph, NodeId, Options, Output, OutputValue, Plan, Program, Schema,
    Timing,
};
use sunzi_rlwe::Security;
use sunzi_testing::process::alone;

use crate::MEMORY;

/// Largest factor by which memory may be overestimated.
const MEMORY_FACTOR: f64 = 1.5;

/// Returns y ← y²/2 + x/4, as many times as `steps` says, for each of some columns; two levels a step.
fn program(steps: usize, columns: usize) -> Program {
    let mut graph = Graph::default();
    let decimal = |mantissa, decimals| Decimal::new(mantissa, decimals).unwrap();
    let outputs = (0..columns).map(|column| {
        let x = graph.column(column).unwrap();
        let y = (0..steps).fold(x, |y, _| {
            let square = graph.multiply(y, y).unwrap();
            graph.linear(&[(square, decimal(5, 1)), (x, decimal(25, 2))], Decimal::ZERO).unwrap()
        });
        Output { name: format!("y{column}"), value: OutputValue::Number(Formula::Total(y)) }
    });
    let outputs = outputs.collect();
    let schema = (0..columns).map(|column| Column::real(&format!("x{column}"), -1.0, 1.0)).collect();
    Program::new(Schema::new(1000, schema).unwrap(), graph, outputs).unwrap()
}

/// Runs a plan, and returns the peak of its memory and its seconds, reading of inputs and matrices included.
fn taken(plan: &Plan) -> [f64; 2] {
    let contexts = Contexts::new(&plan.parameters).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(41);
    let secret = SecretKey::generate(contexts.rlwe(), &mut rng).unwrap();
    let codec = contexts.codec(&plan.layout).unwrap();
    let files: BTreeMap<NodeId, Vec<u8>> = encrypted_inputs(&plan.program)
        .into_iter()
        .map(|id| {
            let column =
                &plan.program.schema().columns[plan.program.graph().node(id).unwrap().column().unwrap()];
            let cells = Cells::Reals((0..1000).map(|row| f64::from(row % 7) / 7.0).collect());
            let chunk =
                codec.encrypt(column, None, &cells, EncryptionKey::Secret(&secret), &mut rng).unwrap();
            (id, contexts.to_bytes(&chunk).unwrap())
        })
        .collect();
    let before = MEMORY.current_usage();
    let bootstrapping = contexts.bootstrapping_keys(&secret, &mut rng, |_, _| {}).unwrap();
    let keys = contexts.evaluation_keys(&secret, &plan.rotations, plan.rotation_limbs, &mut rng).unwrap();
    let keys = DeepKeys { bootstrapping: &bootstrapping, rotations: keys.galois.as_ref().unwrap() };
    MEMORY.reset_peak_usage();
    let start = Instant::now();
    let input = |id, _| Ok(Input::Encrypted(contexts.from_bytes(&files[&id], None).unwrap()));
    let totals = evaluate_bootstrapped(plan, &codec, keys, &|| {}, input, |_, _, _| Ok(())).unwrap();
    assert!(!totals.is_empty());
    [(MEMORY.peak_usage() - before) as f64, start.elapsed().as_secs_f64()]
}

/// Prints what a plan says beside what its run took, and checks the memory.
fn compare(steps: usize, columns: usize, options: &Options) {
    let plan = Plan::new(&program(steps, columns), options).unwrap();
    let bootstraps = plan.bootstraps.unwrap();
    let [memory, seconds] = taken(&plan);
    // After the run: buffers that it leaves for reuse would not be counted.
    let predicted = Timing::measure(&plan).unwrap();
    let (told, ratio) = (predicted.seconds(&plan), plan.memory_bytes as f64 / memory);
    println!(
        "  n = 2^{}, {} bootstraps: {:.3e} bytes planned ({:.3e} of keys, {:.3e} of matrices), {memory:.3e} taken, {ratio:.2}",
        plan.parameters.degree().ilog2(),
        bootstraps.count,
        plan.memory_bytes as f64,
        bootstraps.key_bytes as f64,
        bootstraps.matrix_bytes as f64
    );
    println!("  seconds: {told:.3} planned, {seconds:.3} taken, {:.2}; {predicted:?}", told / seconds);
    assert!((1.0..=MEMORY_FACTOR).contains(&ratio), "bytes: {ratio:.2}");
}

#[test]
fn small_runs_with_bootstraps_take_what_plans_say() {
    alone("bootstraps::small_runs_with_bootstraps_take_what_plans_say", || {
        let security = Security::InsecureForResearchOnly;
        let options = Options {
            scheme: Some(SchemeChoice::Ckks),
            security,
            log2_degree: Some(12),
            ..Options::default()
        };
        compare(50, 1, &options);
    });
}

#[test]
#[ignore = "long: n = 2^16, two minutes, 5 GiB"]
fn runs_with_bootstraps_take_what_plans_say() {
    alone("bootstraps::runs_with_bootstraps_take_what_plans_say", || {
        let options = Options { scheme: Some(SchemeChoice::Ckks), ..Options::default() };
        compare(50, 1, &options);
    });
}
