//! Programs in CKKS that are deeper than any parameters: bootstraps come where the plan counted them, and stated errors hold.

use sunzi_circuits::bootstrap::BootstrapParameters;
use sunzi_program::analysis::{Bootstraps, Parameters, Plan, SchemeChoice};
use sunzi_program::run::{Cells, Table};
use sunzi_program::{
    Column, Decimal, Formula, Graph, NodeId, Opened, Options, Output, OutputValue, Program, Schema, Timing,
};
use sunzi_rlwe::Security;
use sunzi_rlwe::security::accepting_insecure;
use sunzi_rlwe::wire::Accept;

use crate::common::Draw;
use crate::encrypted::check;

/// Number of rows of tables: no power of two.
const ROWS: u64 = 83;

fn schema(rows: u64) -> Schema {
    let columns = vec![
        Column::real("x", -1.0, 1.0),
        Column::real("z", 0.25, 1.0),
        Column::integer("flag", 0, 1),
        Column::real("rate", 0.0, 1.0).in_the_clear(),
    ];
    Schema::new(rows, columns).unwrap()
}

/// Distributions of the cells of a table.
#[derive(Clone, Copy)]
enum Shape {
    Uniform,
    Edges,
    Clustered,
}

fn table(schema: &Schema, shape: Shape, draw: &mut Draw) -> Table {
    let rows = schema.rows;
    let mut reals = |low: f64, high: f64| {
        let number = |row: u64| {
            let part = match shape {
                Shape::Uniform => draw.below(1 << 20) as f64 / f64::from((1 << 20) - 1),
                Shape::Edges => (row % 3) as f64 / 2.0,
                Shape::Clustered => 0.8 + 1e-4 * (row % 7) as f64,
            };
            low + part * (high - low)
        };
        Cells::Reals((0..rows).map(number).collect())
    };
    let (x, z, rate) = (reals(-1.0, 1.0), reals(0.25, 1.0), reals(0.0, 1.0));
    let flag = Cells::Units((0..rows as i64).map(|row| row % 2).collect());
    Table::new(schema, vec![x, z, flag, rate]).unwrap()
}

fn small(precision: u32) -> Options {
    let security = Security::InsecureForResearchOnly;
    let scheme = Some(SchemeChoice::Ckks);
    Options { scheme, precision, security, log2_degree: Some(9), ..Options::default() }
}

fn decimal(mantissa: i128, decimals: u32) -> Decimal {
    Decimal::new(mantissa, decimals).unwrap()
}

/// Returns y ← y²/2 + x/4, as many times as `steps` says, each of two levels.
fn iterated(graph: &mut Graph, steps: usize) -> NodeId {
    let x = graph.column(0).unwrap();
    (0..steps).fold(x, |y, _| {
        let square = graph.multiply(y, y).unwrap();
        graph.linear(&[(square, decimal(5, 1)), (x, decimal(25, 2))], Decimal::ZERO).unwrap()
    })
}

fn output(name: &str, value: OutputValue) -> Output {
    Output { name: name.to_owned(), value }
}

/// Returns a program with the column and the sum of a node that takes a hundred levels.
fn hundred(rows: u64) -> Program {
    let mut graph = Graph::default();
    let y = iterated(&mut graph, 50);
    let outputs =
        vec![output("y", OutputValue::Column(y)), output("total", OutputValue::Number(Formula::Total(y)))];
    Program::new(schema(rows), graph, outputs).unwrap()
}

fn bootstraps(plan: &Plan) -> u64 {
    plan.bootstraps.unwrap_or_else(|| panic!("levels suffice: {plan}")).count
}

#[test]
fn a_hundred_levels_are_right_within_the_stated_error() {
    let program = hundred(ROWS);
    let plan = Plan::new(&program, &small(16)).unwrap();
    // Twelve levels come before the first bootstrap but for those that it takes, and nine or twelve after each.
    assert_eq!((plan.depth, bootstraps(&plan)), (100, 10));
    // Eleven levels, eight between two, would take one more.
    assert_eq!(set(&plan), "insecure-fast-9");
    assert!(plan.to_string().contains("a bootstrap raises to all 12 levels of insecure-fast-9"), "{plan}");
    let schema = schema(ROWS);
    for (seed, shape) in [Shape::Uniform, Shape::Edges, Shape::Clustered].into_iter().enumerate() {
        let opened = check(&plan, &table(&schema, shape, &mut Draw(seed as u64 + 1)), seed as u64);
        let Opened::Number(Ok(total)) = &opened[1] else { panic!("a number was asked for") };
        // A thousandth of a range of rows: the statement says something.
        assert!(total.error < 1e-3 * ROWS as f64, "{total:?}");
    }
}

/// Returns the name of the set of a plan.
fn set(plan: &Plan) -> &str {
    let Parameters::Bootstrapped(own) = &plan.parameters else { panic!("levels suffice: {plan}") };
    own.name()
}

/// Returns the sum and the column of y ← tanh(x + y), as many times as `steps` says, each of six levels at once.
fn recurrent(rows: u64, steps: usize) -> Program {
    let value = (0..steps).fold("x".to_owned(), |y, _| format!("tanh(x + {y})"));
    Program::parse(&format!("sum({value}); {value}"), &schema(rows)).unwrap()
}

/// Tests that numbers are raised to nine levels of twelve where six are taken at once, though that is a bootstrap more, and to eleven where a chain needs no more.
#[test]
fn bootstraps_raise_no_higher_than_a_program_needs() {
    let whole = Parameters::Bootstrapped(BootstrapParameters::insecure(9).unwrap());
    let mut chain = Graph::default();
    let y = iterated(&mut chain, 25);
    let outputs = vec![output("total", OutputValue::Number(Formula::Total(y)))];
    let chain = Program::new(schema(ROWS), chain, outputs).unwrap();
    for (program, levels, counts) in [(recurrent(ROWS, 12), 9, [11, 10]), (chain, 11, [5, 5])] {
        let plan = Plan::new(&program, &small(16)).unwrap();
        let high = Plan::within(&program, &whole, 16).unwrap();
        assert_eq!(set(&plan), format!("insecure-fast-9-{levels}"), "{plan}");
        assert_eq!((plan.depth, [&plan, &high].map(bootstraps)), (high.depth, counts), "{plan}");
        let told = format!("raises to {levels} levels, not to the 12 of insecure-fast-9");
        assert!(plan.to_string().contains(&told), "{plan}");
        let [own, other] = [&plan, &high].map(|plan| {
            let Bootstraps { key_bytes, .. } = plan.bootstraps.unwrap();
            [plan.key_bytes, plan.memory_bytes, plan.ciphertext_bytes, key_bytes]
        });
        assert!(own.iter().zip(other).all(|(own, other)| *own < other), "{own:?} {other:?}");
        for shape in [Shape::Uniform, Shape::Edges, Shape::Clustered] {
            check(&plan, &table(&schema(ROWS), shape, &mut Draw(7)), 5);
        }
    }
}

/// Tests that programs bootstrap ciphertexts of a real ring within the stated errors, of half of the size and with as many bootstraps.
#[test]
fn ciphertexts_of_a_real_ring_are_bootstrapped() {
    let whole = BootstrapParameters::insecure(9).unwrap();
    let real = whole.with_real_slots().unwrap();
    let [whole, real] = [whole, real].map(|own| {
        let plan = Plan::within(&recurrent(300, 4), &Parameters::Bootstrapped(own), 16).unwrap();
        assert_eq!(plan.layout.chunks, 2);
        plan
    });
    assert_eq!((set(&real), bootstraps(&real)), ("insecure-fast-9-real", bootstraps(&whole)));
    assert_eq!(2 * real.ciphertext_bytes, whole.ciphertext_bytes);
    for shape in [Shape::Uniform, Shape::Edges] {
        check(&real, &table(&schema(300), shape, &mut Draw(11)), 8);
    }
}

#[test]
fn chunks_are_bootstrapped_each() {
    let rows = 300;
    let mut graph = Graph::default();
    let y = iterated(&mut graph, 8);
    let outputs = vec![output("total", OutputValue::Number(Formula::Total(y)))];
    let program = Program::new(schema(rows), graph, outputs).unwrap();
    let given = Plan::new(&hundred(ROWS), &small(16)).unwrap().parameters;
    let plan = Plan::within(&program, &given, 16).unwrap();
    assert_eq!((plan.layout.chunks, bootstraps(&plan)), (2, 2));
    check(&plan, &table(&schema(rows), Shape::Uniform, &mut Draw(3)), 1);
}

/// Returns a program that compares a number that takes 24 levels.
fn compared(rows: u64) -> Program {
    let mut graph = Graph::default();
    let y = iterated(&mut graph, 12);
    let above = graph.linear(&[(y, Decimal::ONE)], decimal(-1, 1)).unwrap();
    let above = graph.positive(above, false).unwrap();
    let flag = graph.column(2).unwrap();
    let both = graph.multiply(above, flag).unwrap();
    let outputs = vec![
        output("above", OutputValue::Number(Formula::Total(above))),
        output("both", OutputValue::Number(Formula::Total(both))),
    ];
    Program::new(schema(rows), graph, outputs).unwrap()
}

#[test]
fn comparisons_are_bootstrapped_between_their_polynomials() {
    let given = Plan::new(&hundred(ROWS), &small(16)).unwrap().parameters;
    let plan = Plan::within(&compared(ROWS), &given, 16).unwrap();
    assert!(bootstraps(&plan) > 3, "{plan}");
    for shape in [Shape::Uniform, Shape::Edges, Shape::Clustered] {
        let opened = check(&plan, &table(&schema(ROWS), shape, &mut Draw(9)), 4);
        let Opened::Number(Ok(total)) = &opened[0] else { panic!("a number was asked for") };
        assert!(total.error < 4.0, "{total:?}");
    }
}

#[test]
fn functions_clear_columns_and_shared_operands() {
    let given = Plan::new(&hundred(ROWS), &small(16)).unwrap().parameters;
    let text = "sum(tanh(sigmoid(sqrt(z) * x, -2, 2) * x) * rate); \
                mean(tanh(exp(x) * inverse(z)) * sqrt(z) * x); sum((x * z)^3 * flag + 2 * x)";
    let program = Program::parse(text, &schema(ROWS)).unwrap();
    let plan = Plan::within(&program, &given, 16).unwrap();
    assert!(bootstraps(&plan) > 0, "{plan}");
    check(&plan, &table(&schema(ROWS), Shape::Uniform, &mut Draw(5)), 2);
    check(&plan, &table(&schema(ROWS), Shape::Edges, &mut Draw(5)), 2);
}

#[test]
fn plans_and_parameters_go_through_files() {
    let plan = Plan::new(&hundred(ROWS), &small(16)).unwrap();
    let text = serde_json::to_string(&plan).unwrap();
    assert!(serde_json::from_str::<Plan>(&text).is_err(), "no security");
    let again: Plan = accepting_insecure(|| serde_json::from_str(&text)).unwrap();
    assert_eq!((again.bootstraps, again.key_bytes), (plan.bootstraps, plan.key_bytes));
    // The height is in the name.
    let lower = Plan::new(&recurrent(ROWS, 12), &small(16)).unwrap();
    let text = serde_json::to_string(&lower).unwrap();
    let again: Plan = accepting_insecure(|| serde_json::from_str(&text)).unwrap();
    assert_eq!((set(&again), again.bootstraps), (set(&lower), lower.bootstraps));
    assert_eq!((again.key_bytes, again.memory_bytes), (lower.key_bytes, lower.memory_bytes));
    let mut bytes = Vec::new();
    lower.parameters.write(&mut bytes).unwrap();
    let read = Parameters::read_as(Accept::InsecureForResearchOnly, bytes.as_slice()).unwrap();
    assert_eq!(read, lower.parameters);
    bytes.clear();
    plan.parameters.write(&mut bytes).unwrap();
    assert!(Parameters::read(bytes.as_slice()).is_err(), "no security");
    assert_eq!(
        Parameters::read_as(Accept::InsecureForResearchOnly, bytes.as_slice()).unwrap(),
        plan.parameters
    );
}

#[test]
fn plans_at_full_size_take_a_secure_set() {
    let mut program = hundred(1000);
    for _ in 0..2 {
        let plan = Plan::new(&program, &Options::default()).unwrap();
        assert_eq!(plan.parameters.name(), "CKKS with bootstrapping");
        assert_eq!(plan.parameters.security(), Security::Bits128);
        assert_eq!(bootstraps(&plan), 10);
        assert!(plan.bootstraps.unwrap().log2_failure < -100.0);
        assert!(plan.to_string().contains("bootstraps    10, "), "{plan}");
        program = hundred(2000);
    }
    let plan = Plan::new(&compared(20_000), &Options::default()).unwrap();
    assert!(bootstraps(&plan) > 3, "{plan}");
}

#[test]
fn plans_with_bootstraps_tell_time() {
    let plan = Plan::new(&hundred(ROWS), &small(16)).unwrap();
    let time = Timing::measure(&plan).unwrap();
    assert!(time.bootstrap > time.relinearization && time.set_up > 0.0 && time.rotation > 0.0, "{time:?}");
    // The time is what is counted: bootstraps beside what every plan has.
    let without = Timing { bootstrap: 0.0, ..time };
    let bootstraps = time.seconds(&plan) - without.seconds(&plan);
    assert!((bootstraps / (10.0 * time.bootstrap) - 1.0).abs() < 1e-9, "{time:?}");
    let rest = Timing { set_up: 0.0, ..without }.seconds(&plan);
    assert!(rest > 50.0 * time.relinearization * 0.1, "fifty squares at lower levels: {rest}, {time:?}");
    // Chunks are computed one after the other.
    let plan = Plan::within(&hundred(300), &plan.parameters, 16).unwrap();
    let two = time.seconds(&plan) - Timing { bootstrap: 0.0, ..time }.seconds(&plan);
    assert!((two / bootstraps - 2.0).abs() < 1e-9, "{time:?}");
}

#[test]
fn programs_are_refused_with_what_would_help() {
    let given = Plan::new(&hundred(ROWS), &small(16)).unwrap().parameters;
    // More levels at once than lie between two bootstraps.
    let program = Program::parse("sum(tanh(3 * tanh(100 * tanh(3 * x))))", &schema(ROWS)).unwrap();
    let told = Plan::within(&program, &given, 16).unwrap_err().to_string();
    assert!(told.contains("9 levels at once"), "{told}");
    // More bits than any set leaves.
    let program = hundred(ROWS);
    let told = Plan::within(&program, &given, 24).unwrap_err().to_string();
    assert!(told.contains("ask for less precision"), "{told}");
    // No set has another security.
    let options =
        Options { security: Security::Bits256, scheme: Some(SchemeChoice::Ckks), ..Options::default() };
    let told = Plan::new(&hundred(ROWS), &options).unwrap_err().to_string();
    assert!(told.contains("levels with"), "{told}");
}
