//! A polynomial at an encrypted point: how much noise and time each way of evaluating it takes.
//!
//! `cargo run --release -p sunzi --example 07_polynomial`
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::time::Instant;

use sunzi::circuits::polynomial::{Method, Polynomial, evaluate};
use sunzi::circuits::{Clear, ClearKeys, EvaluationKeys};
use sunzi::prelude::*;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    // 1 − 2x + 3x² − …, of degree 15, at thousands of points at once: one in each slot.
    let coefficients: Vec<i64> = (0..16).map(|i| if i % 2 == 0 { i + 1 } else { -i - 1 }).collect();
    let points: Vec<u64> = (0..1000).collect();

    // What will it take? A plan says, and why; a dry run over clear numbers shows the depth to ask parameters for.
    let clear = Clear::new(1024, 65537);
    let (dry, numbers) = (Polynomial::constants(&coefficients), clear.encrypt(&points));
    let expected = evaluate(&clear, &dry, &numbers, Method::Automatic, &ClearKeys::all())?;
    println!("{}", dry.plan(65537, Method::Automatic));
    println!("a dry run needs depth {}", expected.depth());

    let parameters =
        Parameters::builder().depth(expected.depth()).plain_modulus(65537).additions(7).build()?;
    let context = Context::new(&parameters)?;
    let mut rng = randomness::from_os()?;
    let secret = SecretKey::generate(context.rlwe(), &mut rng)?;
    let public = PublicKey::generate(context.rlwe(), &secret, &mut rng)?;
    // No rotations: a relinearisation key is all the server gets.
    let keys = EvaluationKeys::generate(context.rlwe(), &secret, [], &mut rng)?;
    let encoder = BatchEncoder::new(context.degree(), context.plain_modulus())?;
    let x = context.encrypt(&encoder.encode(&points)?, &public, &mut rng)?;

    let evaluator = Evaluator::new(&context);
    let polynomial = Polynomial::constants(&coefficients);
    for (name, method) in [("power basis", Method::PowerBasis), ("baby and giant steps", Method::Automatic)] {
        let plan = polynomial.plan(65537, method);
        let start = Instant::now();
        let y = evaluate(&evaluator, &polynomial, &x, method, &keys)?;
        let time = start.elapsed().as_secs_f64() * 1000.0;
        println!("{name}: {}; {time:.0} ms, {:.1} bits left", plan.cost(), context.bits_left(&y));

        let opened = encoder.decode(&context.decrypt(&y, &secret)?)?;
        if opened.get(..points.len()) != expected.slots().get(..points.len()) {
            return Err("the decrypted values are wrong".into());
        }
    }
    let at_one = expected.slots().get(1).copied().unwrap_or_default();
    println!("p(1) = {} modulo 65537, that is {}", at_one, at_one as i64 - 65537);
    Ok(())
}
