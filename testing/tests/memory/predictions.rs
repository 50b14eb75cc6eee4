//! Predictions of plans about keys, memory and time, compared with runs.

use std::collections::BTreeMap;
use std::time::Instant;

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use sunzi_program::analysis::SchemeChoice;
use sunzi_program::contexts::{EncryptionKey, SecretKey};
use sunzi_program::run::{Cells, Input, evaluate};
use sunzi_program::{Column, Contexts, NodeId, Options, Plan, Program, Schema, Timing};
use sunzi_rlwe::wire;
use sunzi_testing::process::again;

use crate::MEMORY;

/// Largest factor by which memory may be overestimated: it is planned for the worst case.
const MEMORY_FACTOR: f64 = 2.0;
const ROWS: u64 = 20_000;

const EXACT: &[SchemeChoice] = &[SchemeChoice::Bfv, SchemeChoice::Bgv];
const REAL: &[SchemeChoice] = &[SchemeChoice::Ckks];
const ALL: &[SchemeChoice] = &[SchemeChoice::Bfv, SchemeChoice::Bgv, SchemeChoice::Ckks];
/// Precision of cases, in bits, but for one that takes a key's sums for merged digits.
const PRECISION: u32 = 16;
/// Cases of several depths, with one total and with many.
const CASES: &[(&[SchemeChoice], u32, &str)] = &[
    (ALL, PRECISION, "sum(x)"),
    (ALL, PRECISION, "sum(x*y)"),
    (EXACT, PRECISION, "sum(x*y); var(x); mean(y); sum(x*y*z)"),
    (ALL, PRECISION, "sum(x*y*z*x)"),
    (ALL, PRECISION, "sum(x*y*z*x*y*z*x*y)"),
    (
        ALL,
        PRECISION,
        "sum(x); mean(y); mean(z); var(x); var(y); var(z); sum(x*y); sum(y*z); sum(x*z); sum(x*y*z)",
    ),
    (REAL, PRECISION, "mean(x); var(y)"),
    (REAL, PRECISION, "mean(x); corr(x, y); sum(sigmoid(0.1 * x - 0.5, -1, 1))"),
    (REAL, PRECISION, "sum(sigmoid(0.1 * x - 0.5, -1, 1) * y); sum(x*x*x)"),
    (REAL, PRECISION, "sum(x > 4); sum(y * z)"),
    (REAL, 20, SUMMED),
];
/// Case whose plan counts on sums of the relinearisation key.
const SUMMED: &str = "sum((x > y) * (y > z) * (z > 1) * x * y)";

struct Taken {
    /// Bytes of the files of keys.
    key_files: u64,
    /// Bytes of keys in memory.
    keys: f64,
    memory: f64,
    seconds: f64,
}

fn run(plan: &Plan) -> Taken {
    let contexts = Contexts::new(&plan.parameters).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(41);
    let secret = SecretKey::generate(contexts.rlwe(), &mut rng).unwrap();
    let codec = contexts.codec(&plan.layout).unwrap();
    let inputs = sunzi_program::run::encrypted_inputs(&plan.program);
    // As files of one chunk, which all are alike.
    let files: BTreeMap<NodeId, Vec<u8>> = inputs
        .into_iter()
        .map(|id| {
            let node = plan.program.graph().node(id).unwrap();
            let column = &plan.program.schema().columns[node.column().unwrap()];
            let cells = Cells::Units((0..plan.layout.span).map(|i| i as i64 % 10).collect());
            let key = EncryptionKey::Secret(&secret);
            let chunk = codec.encrypt(column, None, &cells, key, &mut rng).unwrap();
            (id, contexts.to_bytes(&chunk).unwrap())
        })
        .collect();
    let before = MEMORY.current_usage();
    let keys = contexts.evaluation_keys(&secret, &plan.rotations, plan.rotation_limbs, &mut rng).unwrap();
    let galois = wire::to_bytes(contexts.rlwe(), keys.galois.as_ref().unwrap()).unwrap().len();
    let relinearization =
        wire::to_bytes(contexts.rlwe(), keys.relinearization.as_ref().unwrap()).unwrap().len();
    let key_files = (galois + relinearization) as u64;
    MEMORY.reset_peak_usage();
    let start = Instant::now();
    let input = |id, _| Ok(Input::Encrypted(contexts.from_bytes(&files[&id], None).unwrap()));
    let totals = evaluate(plan, &codec, &keys, input, |_, _, _| Ok(())).unwrap();
    assert!(!totals.is_empty());
    let seconds = start.elapsed().as_secs_f64();
    let memory = (MEMORY.peak_usage() - before) as f64;
    Taken { key_files, keys: keys.byte_len() as f64, memory, seconds }
}

/// Environment variable that tells a child process its case.
const CASE: &str = "SUNZI_PREDICTED_CASE";

fn cases() -> impl Iterator<Item = (SchemeChoice, u32, &'static str)> {
    CASES
        .iter()
        .flat_map(|(schemes, precision, text)| schemes.iter().map(move |scheme| (*scheme, *precision, *text)))
}

/// Runs each case in a process of its own: the peak is that of the process, and memory that one run leaves for reuse would not be taken by the next.
#[test]
fn runs_take_what_plans_say() {
    if let Some(case) = std::env::var(CASE).ok().and_then(|case| case.parse().ok()) {
        return one_run_takes_what_its_plan_says(case);
    }
    let failed: Vec<_> = (0..cases().count())
        .filter(|case| {
            let mut child = again("predictions::runs_take_what_plans_say").unwrap();
            let output = child.env(CASE, case.to_string()).output().unwrap();
            let told = String::from_utf8_lossy(&output.stdout);
            told.lines()
                .filter(|line| line.starts_with("  ") || line.contains(" n = 2^"))
                .for_each(|line| println!("{line}"));
            !output.status.success() || !told.contains("bytes of keys")
        })
        .collect();
    assert!(failed.is_empty(), "{failed:?}");
}

/// Checks keys and memory of one run. Time is printed and not checked: other programs run as well.
fn one_run_takes_what_its_plan_says(case: usize) {
    let (scheme, precision, text) = cases().nth(case).unwrap();
    let columns = ["x", "y", "z"].map(|name| Column::integer(name, 0, 9));
    let schema = Schema::new(ROWS, columns.to_vec()).unwrap();
    let options = Options { scheme: Some(scheme), precision, ..Options::default() };
    let plan = Plan::new(&Program::parse(text, &schema).unwrap(), &options).unwrap();
    let summed = plan.reasons.iter().any(|reason| reason.starts_with("sums of the relinearisation key"));
    assert_eq!(summed, text == SUMMED, "{:?}", plan.reasons);
    let Taken { key_files, keys, memory, seconds } = run(&plan);
    let (parameters, n) = (&plan.parameters, plan.parameters.degree());
    println!(
        "{}, {text}: n = 2^{}, {} moduli, {} plaintext moduli, depth {}",
        parameters.name(),
        n.ilog2(),
        parameters.moduli().len(),
        parameters.plain_moduli().len(),
        plan.depth
    );
    let rows = |bytes: f64| (bytes - keys) / 8.0 / n as f64;
    println!("  limbs beside keys: {:.1} planned, {:.1} taken", rows(plan.memory_bytes as f64), rows(memory));
    let predicted = Timing::measure(&plan).unwrap().seconds(&plan);
    println!("  seconds: {predicted:.3} predicted, {seconds:.3} taken, {:.2}", predicted / seconds);
    println!("  bytes of keys: {} planned, {key_files} in files", plan.key_bytes);
    assert_eq!(plan.key_bytes, key_files);
    let ratio = plan.memory_bytes as f64 / memory;
    println!("  bytes: {:.3e} planned, {memory:.3e} taken, {ratio:.2}", plan.memory_bytes as f64);
    assert!((1.0..=MEMORY_FACTOR).contains(&ratio), "bytes: {ratio:.2}");
}
