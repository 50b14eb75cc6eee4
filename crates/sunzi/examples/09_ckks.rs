//! CKKS: approximate numbers in slots, levels that take care of themselves, and precision that is told in advance.
//!
//! `cargo run --release -p sunzi --example 09_ckks`
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;

use sunzi::ckks::{CkksError, Complex64, Context, Encoder, Evaluator, Parameters, rotation};
use sunzi::prelude::{PublicKey, RelinearizationKey, SecretKey, randomness};

/// A polynomial next to the logistic function on [−1, 1].
fn logistic(x: f64) -> f64 {
    0.5 + 0.249 * x - 0.018 * x * x * x
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    // Say how many products follow each other and how many bits of the results must be right.
    let builder = Parameters::builder().depth(3).precision(20).slots(4096);
    println!("{}\n", builder.explain()?);
    let context = Context::new(&builder.build()?)?;
    let mut rng = randomness::from_os()?;
    let secret = SecretKey::generate(context.rlwe(), &mut rng)?;
    let public = PublicKey::generate(context.rlwe(), &secret, &mut rng)?;
    let relinearization = RelinearizationKey::generate(context.rlwe(), &secret, &mut rng)?;
    let steps = [1, 2, 4];
    let rotations = rotation::rotation_keys(&context, &secret, steps, true, context.depth(), &mut rng)?;

    // Eight slots: the vector repeats all over the ring, so that rotations go around it.
    let encoder = Encoder::new(&context, 8)?;
    let scores = [-0.9, -0.5, -0.25, 0.0, 0.125, 0.4, 0.7, 1.0];
    let x = context.encrypt(&encoder.encode_real(&scores)?, &public, &mut rng)?;

    // From here on no secret is needed. x² stands a level below x, x³ two: operands are brought together, and every
    // result has the exact scale of its level.
    let evaluator = Evaluator::new(&context);
    let square = evaluator.square(&x, &relinearization)?;
    let cubic = evaluator.multiply(&square, &evaluator.multiply_constant(&x, -0.018)?, &relinearization)?;
    let linear = evaluator.multiply_constant(&x, 0.249)?;
    let risk = evaluator.add_constant(&evaluator.add(&cubic, &linear)?, 0.5)?;

    // The mean over the slots, by rotations.
    let mut mean = evaluator.multiply_constant(&risk, 0.125)?;
    for step in steps {
        mean = evaluator.add(&mean, &evaluator.rotate(&mean, step, &rotations)?)?;
    }

    // Ciphertexts know how precise they are, before anybody decrypts.
    for (name, result, expected) in [
        ("risk", &risk, scores.map(logistic)),
        ("mean", &mean, [scores.map(logistic).iter().sum::<f64>() / 8.0; 8]),
    ] {
        let opened = encoder.decode_real(&context.decrypt(result, &secret)?)?;
        let worst =
            opened.iter().zip(expected).map(|(got, expected)| (got - expected).abs()).fold(0.0, f64::max);
        let (level, bits) = (result.metadata().level, result.metadata().precision.bits());
        println!(
            "{name}: level {level}, {bits:.1} bits by the estimate, {:.1} in the worst slot",
            -worst.log2()
        );
        if worst > 1e-6 {
            return Err("results are wrong".into());
        }
    }

    // Slots are complex: conjugation takes a key, multiplication by i takes nothing.
    let phases = [0.0, 0.7, 1.4, 2.1].map(|angle| Complex64::from_polar(1.0, angle));
    let z = context.encrypt(&encoder.encode(&phases)?, &public, &mut rng)?;
    let squared = evaluator.multiply(&z, &evaluator.conjugate(&z, &rotations)?, &relinearization)?;
    let turned = evaluator.multiply_by_i(&squared)?;
    let opened = encoder.decode(&context.decrypt(&turned, &secret)?)?;
    if opened.iter().take(4).any(|value| (value - Complex64::I).norm() > 1e-6) {
        return Err("i·|z|² is i on the unit circle".into());
    }

    // What cannot be is refused, and the error says what to do.
    match evaluator.multiply(&mean, &x, &relinearization) {
        Err(error @ CkksError::LevelExhausted { .. }) => println!("refused: {error}"),
        Err(other) => return Err(other.into()),
        Ok(_) => return Err("the mean stands at level 0".into()),
    }
    Ok(())
}
