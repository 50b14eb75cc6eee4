//! Tests of runs in CKKS against the reference in the clear.

use chacha20::ChaCha20Rng;
use chacha20::rand_core::SeedableRng;
use sunzi_circuits::Rotation;
use sunzi_ckks::{Context, Encoder, Evaluator, rotation};
use sunzi_program::analysis::{Options, Parameters, Plan, SchemeChoice};
use sunzi_program::run::ckks::{Ckks, Keys, Output, Value, stored};
use sunzi_program::run::{Cells, Opening, Table, encrypted_inputs, reference, run};
use sunzi_program::{Column, Program, Schema};
use sunzi_rlwe::{RelinearizationKey, SecretKey, Security};

/// Compares every total of a program with the clear one, relative to rows times the largest value.
fn check(text: &str, allowed: f64) {
    let columns = vec![
        Column::integer("age", 20, 90),
        Column::real("bmi", 10.0, 60.0),
        Column::category("region", &["a", "b"]),
        Column::integer("year", 0, 9).in_the_clear(),
    ];
    let schema = Schema::new(700, columns).unwrap();
    let cells = vec![
        Cells::Units((0..700).map(|i| 20 + (i * 37) % 71).collect()),
        Cells::Reals((0..700).map(|i| 10.0 + f64::from(i % 101) / 2.0).collect()),
        Cells::Labels((0..700).map(|i| i / 3 % 2).collect()),
        Cells::Units((0..700).map(|i| i % 10).collect()),
    ];
    let table = Table::new(&schema, cells).unwrap();
    let program = Program::parse(text, &schema).unwrap();
    let options = Options {
        scheme: Some(SchemeChoice::Ckks),
        precision: 14,
        security: Security::InsecureForResearchOnly,
        log2_degree: Some(10),
        ..Options::default()
    };
    let plan = Plan::new(&program, &options).unwrap();
    let Parameters::Ckks(parameters) = &plan.parameters else { panic!("CKKS was asked for") };
    let context = Context::new(parameters).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(3);
    let secret = SecretKey::generate(context.rlwe(), &mut rng).unwrap();
    let relinearization = RelinearizationKey::generate(context.rlwe(), &secret, &mut rng).unwrap();
    let steps = plan.rotations.iter().map(|rotation| match rotation {
        Rotation::Rows(steps) => *steps,
        Rotation::Columns => panic!("CKKS has one row"),
    });
    let galois = rotation::rotation_keys(&context, &secret, steps, false, context.depth(), &mut rng).unwrap();
    let (evaluator, encoder) = (Evaluator::new(&context), Encoder::new(&context, plan.layout.span).unwrap());
    let keys = Keys { relinearization: &relinearization, galois: &galois };
    let backend = Ckks::new(&plan, &evaluator, &encoder, keys).unwrap();
    let encrypted = encrypted_inputs(&program);
    let input = |id, chunk| {
        if !encrypted.contains(&id) {
            return backend.clear_input(&table, id, chunk);
        }
        let plaintext = encoder.encode_real(&stored(&plan, &table, id, chunk)?).unwrap();
        Ok(Value::Encrypted(context.encrypt_secret(&plaintext, &secret, &mut rng).unwrap()))
    };
    let outputs = run(&program, &plan.layout, &backend, input, |_, _, _| Ok(())).unwrap();
    let expected = reference(&program, &table).unwrap();
    let openings = Opening::of(&plan).unwrap();
    for (id, output) in outputs {
        let Output::Encrypted(sum) = output else { continue };
        let slot = encoder.decode_real(&context.decrypt(&sum, &secret).unwrap()).unwrap()[0];
        let opened = openings[&id].real_total(&plan.layout, slot, 0.0).unwrap();
        let (got, expected) = (opened.number.to_f64(), expected.totals[&id].to_f64());
        let words = program.graph().describe(id, &schema);
        assert!((got - expected).abs() <= allowed, "{words}: {got}, expected {expected}");
    }
}

#[test]
fn moments_masks_and_clear_columns() {
    check("mean(age); var(bmi) by region; sum(bmi * (year > 4)); sum(0.3 * age - bmi + year)", 700.0);
}

#[test]
fn functions_and_comparisons() {
    check("sum(sigmoid(0.1 * bmi - 3, -4, 6)); sum(poly(bmi, 1, -0.05, 0.001)); count(age > 50)", 0.5);
}
