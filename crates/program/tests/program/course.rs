//! Tests that the course of a plan tells the noise and levels of the run.

use std::collections::BTreeMap;

use sunzi_program::analysis::{Layout, Options, Plan, Role, SchemeChoice, Stage};
use sunzi_program::contexts::{Contexts, Encrypted, EncryptionKey, Parts};
use sunzi_program::packed::{Keys, Packing};
use sunzi_program::run::{Answer, Cells, Input, Table, evaluate};
use sunzi_program::{Column, Program, Schema};
use sunzi_ring::sampling::SeededRng;
use sunzi_rlwe::Security;

const ROWS: u64 = 40;

fn schema() -> Schema {
    Schema::new(ROWS, vec![Column::integer("x", -5, 9), Column::integer("y", 0, 9)]).unwrap()
}

fn options(scheme: SchemeChoice) -> Options {
    Options {
        scheme: Some(scheme),
        security: Security::InsecureForResearchOnly,
        log2_degree: Some(9),
        ..Options::default()
    }
}

fn cells() -> Vec<i64> {
    (0..ROWS as i64).map(|row| row % 9).collect()
}

/// Runs a plan on a table, and returns its sums by their expressions.
fn sums(plan: &Plan, contexts: &Contexts) -> BTreeMap<String, Encrypted> {
    // Two random tags of encryptions share their bit of an ancestry once in 256, which counts them as dependent.
    let mut rng = SeededRng::derive(&[1; 32], "course", 0);
    let keys = Keys::generate(plan, contexts).unwrap();
    let codec = contexts.codec(&plan.layout).unwrap();
    let (program, span) = (&plan.program, plan.layout.span);
    let input = |id, chunk: usize| {
        let column = program.graph().node(id).and_then(sunzi_program::Node::column).unwrap();
        let own = cells().into_iter().skip(chunk * span).take(span).collect();
        let key = EncryptionKey::Public(&keys.public);
        let column = &program.schema().columns[column];
        codec.encrypt(column, None, &Cells::Units(own), key, &mut rng).map(Input::Encrypted)
    };
    let answers = evaluate(plan, &codec, &keys.evaluation, input, |_, _, _| Ok(())).unwrap();
    let sum = |(id, answer)| match answer {
        Answer::Encrypted(sum) => (format!("sum({})", program.graph().describe(id, program.schema())), sum),
        _ => panic!("all columns are encrypted"),
    };
    answers.into_iter().map(sum).collect()
}

/// Fewest bits left in the ciphertexts of a sum, and the number of their moduli.
fn bits_left(contexts: &Contexts, sum: &Encrypted) -> (f64, usize) {
    match (contexts.parts(), sum) {
        (Parts::Bfv(contexts), Encrypted::Bfv(parts)) => {
            let left = contexts.iter().zip(parts).map(|(own, part)| own.bits_left(part.noise()));
            (left.fold(f64::INFINITY, f64::min), parts[0].parts()[0].shape().limbs)
        }
        (Parts::Bgv(contexts), Encrypted::Bgv(parts)) => {
            let left = contexts.iter().zip(parts).map(|(own, part)| own.bits_left(part).unwrap());
            (left.fold(f64::INFINITY, f64::min), parts[0].parts()[0].shape().limbs)
        }
        _ => panic!("an exact scheme"),
    }
}

fn check_bits(stage: &Stage, moduli: &[u64]) {
    let modulus: f64 = stage.limbs.iter().map(|&limb| (moduli[limb] as f64).log2()).sum();
    assert!((stage.modulus - modulus).abs() < 1e-9, "{stage:?}");
    assert!(stage.noise >= 0.0 && stage.room > 0.0 && stage.message() > 0.0, "{stage:?}");
    assert!((stage.noise + stage.message() + stage.room - modulus).abs() < 1e-9, "{stage:?}");
}

#[test]
fn sums_of_exact_runs_have_the_bits_of_the_course() {
    let program =
        Program::parse("sum(x); sum(x * y); sum(x * x * y); dot(x + 3 * y, y * y)", &schema()).unwrap();
    for scheme in [SchemeChoice::Bfv, SchemeChoice::Bgv] {
        let plan = Plan::new(&program, &options(scheme)).unwrap();
        let contexts = Contexts::new(&plan.parameters).unwrap();
        let (course, sums) = (plan.course().unwrap(), sums(&plan, &contexts));
        let totals: Vec<&Stage> = course.iter().filter(|stage| stage.role == Role::Total).collect();
        assert_eq!(totals.len(), sums.len());
        for stage in totals {
            let (left, limbs) = bits_left(&contexts, &sums[&stage.expression]);
            assert!((stage.room - left).abs() < 0.01, "{scheme:?} {stage:?}: {left}");
            assert_eq!(stage.limbs.len(), limbs, "{scheme:?} {stage:?}");
        }
        let inputs = course.iter().filter(|stage| stage.role == Role::Input);
        assert_eq!(inputs.map(|stage| stage.expression.as_str()).collect::<Vec<_>>(), ["x", "y"]);
        assert!(course.iter().any(|stage| stage.role == Role::Step && stage.expression == "x * x"));
        course.iter().for_each(|stage| check_bits(stage, plan.parameters.moduli()));
        let rooms = course.iter().filter(|stage| stage.role == Role::Total).map(|stage| stage.room);
        let (least, first) = (rooms.clone().fold(f64::INFINITY, f64::min), rooms.clone().next().unwrap());
        assert!(first > least + 5.0, "products leave less room than a sum: {course:?}");
    }
}

#[test]
fn sums_of_ckks_have_the_levels_and_errors_of_the_course() {
    let program = Program::parse("sum(sigmoid(x, -5, 9)); sum(x * y)", &schema()).unwrap();
    let plan = Plan::new(&program, &options(SchemeChoice::Ckks)).unwrap();
    let contexts = Contexts::new(&plan.parameters).unwrap();
    let (course, sums) = (plan.course().unwrap(), sums(&plan, &contexts));
    for stage in course.iter().filter(|stage| stage.role == Role::Total) {
        let Encrypted::Ckks(sum) = &sums[&stage.expression] else { panic!("CKKS") };
        let noise = sum.metadata().scale.log2() - sum.metadata().precision.bits();
        assert!((stage.noise - noise).abs() < 0.01, "{stage:?}: {noise}");
        assert_eq!(stage.limbs.len(), sum.parts()[0].shape().limbs, "{stage:?}");
    }
    assert!(course.iter().all(|stage| stage.message() > 0.0), "{course:?}");
    let levels = plan.parameters.chain();
    assert_eq!(levels.len(), plan.depth + 1);
    assert!(course.iter().all(|stage| levels.contains(&stage.limbs)), "{course:?} {levels:?}");
}

#[test]
fn more_chunks_leave_less_room() {
    let program = Program::parse("sum(x * y)", &schema()).unwrap();
    let plan = Plan::new(&program, &options(SchemeChoice::Bfv)).unwrap();
    let layout = Layout { chunks: 8, span: 8, rows: ROWS as usize };
    let cut = Plan::for_layout(&program, &plan.parameters, layout, 16).unwrap();
    let room = |plan: &Plan| plan.course().unwrap().pop().unwrap().room;
    let contexts = Contexts::new(&plan.parameters).unwrap();
    let real = sums(&cut, &contexts);
    let (left, _) = bits_left(&contexts, real.values().next().unwrap());
    assert!(room(&cut) <= left + 1e-6 && room(&cut) > left - 4.0, "{} {left}", room(&cut));
}

#[test]
fn packed_plans_have_the_room_of_their_run() {
    let program = Program::parse("sum(x * y); sum(x)", &schema()).unwrap();
    let packing = Some(Packing { always: true, ..Packing::default() });
    let options = Options { packing, scheme: Some(SchemeChoice::Bfv), ..Options::default() };
    let plan = Plan::new(&program, &options).unwrap();
    let contexts = Contexts::new(&plan.parameters).unwrap();
    let keys = Keys::generate(&plan, &contexts).unwrap();
    let table = Table::new(&schema(), vec![Cells::Units(cells()), Cells::Units(cells())]).unwrap();
    let totals = sunzi_program::packed::run(&plan, &contexts, &keys, &table, &mut |_| {}, &|| {}).unwrap();
    let course = plan.course().unwrap();
    let last = course.last().unwrap();
    assert_eq!(last.expression, "sums of products");
    assert!((last.room - totals.bits_left).abs() < 3.0, "{last:?} {}", totals.bits_left);
    course.iter().for_each(|stage| check_bits(stage, plan.parameters.moduli()));
}

#[test]
fn sizes_of_keys_add_up() {
    let program = Program::parse("sum(x * y)", &schema()).unwrap();
    let plan = Plan::new(&program, &options(SchemeChoice::Bgv)).unwrap();
    let [relinearization, rotations] = plan.key_sizes().unwrap();
    assert_eq!(relinearization + rotations, plan.key_bytes);
    let each = rotations / plan.rotations.len() as u64;
    assert!(each > 0 && relinearization > each / 2 && relinearization < 3 * each, "{relinearization} {each}");
}
