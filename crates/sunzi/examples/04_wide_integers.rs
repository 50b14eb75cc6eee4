//! Integers beyond 64 bits: several plaintext moduli, joined by the Chinese remainder theorem.
//!
//! `cargo run --release -p sunzi --example 04_wide_integers`
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;

use sunzi::prelude::*;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    // x·y + x² for numbers up to 10^12: the result may reach 2·10^24, far beyond 64 bits.
    let xs: [i128; 4] = [-987_654_321_098, 1_000_000_000_000, 123_456_789_012, -5];
    let ys: [i128; 4] = [999_999_999_999, -999_999_999_989, 1, 1_000_000_000_000];

    // Noise grows with the plaintext modulus, so one that wide would be very costly. Instead every
    // integer is kept as its remainders modulo several smaller t_i, one ciphertext for each: sums
    // and products of remainders are remainders of sums and products.
    let builder = Parameters::builder().depth(1).additions(1).plain_range(2 * 10_u128.pow(24));
    let parameters = builder.build_crt()?;
    println!("{} plaintext moduli: {:?}", parameters.plain_moduli().len(), parameters.plain_moduli());

    // One context for each t_i, all with one ring and one set of keys.
    let contexts = parameters.contexts()?;
    let mut rng = randomness::from_os()?;
    let secret = SecretKey::generate(contexts.rlwe(), &mut rng)?;
    let public = PublicKey::generate(contexts.rlwe(), &secret, &mut rng)?;
    let relinearization = RelinearizationKey::generate(contexts.rlwe(), &secret, &mut rng)?;

    let encoder = contexts.encoder()?;
    let (low, high) = encoder.bounds();
    println!("a slot holds integers from {low} to {high}");
    let x = contexts.encrypt(&encoder.encode(&xs)?, &public, &mut rng)?;
    let y = contexts.encrypt(&encoder.encode(&ys)?, &public, &mut rng)?;

    // One computation for each t_i. Ciphertexts of two t_i never mix: the context refuses it.
    let answers = contexts.compute([&x, &y], |context, [x, y]| {
        let evaluator = Evaluator::new(context);
        let product = evaluator.multiply(x, y, &relinearization)?;
        let square = evaluator.square(x, &relinearization)?;
        evaluator.add(&product, &square)
    })?;

    // Decoding joins the remainders; only now do the wide integers exist.
    let opened = encoder.decode(&contexts.decrypt(&answers, &secret)?)?;
    for ((x, y), answer) in xs.iter().zip(&ys).zip(&opened) {
        println!("({x}) · ({y}) + ({x})² = {answer}");
        if *answer != x * y + x * x {
            return Err("an answer is wrong".into());
        }
    }
    if opened.iter().all(|answer| u64::try_from(answer.unsigned_abs()).is_ok()) {
        return Err("the answers should not fit 64 bits".into());
    }
    Ok(())
}
