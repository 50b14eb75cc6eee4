//! Noise: what uses it up, how decryption refuses, and what to do about it.
//!
//! `cargo run --release -p sunzi --example 06_noise_budget`
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;

use sunzi::prelude::*;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    // The product of eight numbers, with parameters for three products in a row.
    let numbers: [u64; 8] = [2, 3, 4, 1, 5, 2, 7, 6];
    let product: u64 = numbers.iter().product();
    let context = Context::new(&Parameters::builder().depth(3).plain_bits(17).build()?)?;
    let mut rng = randomness::from_os()?;
    let secret = SecretKey::generate(context.rlwe(), &mut rng)?;
    let public = PublicKey::generate(context.rlwe(), &secret, &mut rng)?;
    let key = RelinearizationKey::generate(context.rlwe(), &secret, &mut rng)?;
    let encoder = BatchEncoder::new(context.degree(), context.plain_modulus())?;
    let evaluator = Evaluator::new(&context);
    let encrypt = |&number: &u64| context.encrypt(&encoder.encode(&[number])?, &public, &mut rng);
    let fresh = numbers.iter().map(encrypt).collect::<Result<Vec<_>, _>>()?;

    // One factor after the other: seven products in a row, and each uses bits up. The bound is
    // kept without the secret key, so the server that computes sees it too.
    let mut chain = fresh.first().ok_or("there are eight numbers")?.clone();
    println!("fresh:     {:6.1} bits left", context.bits_left(&chain));
    for (i, factor) in fresh.iter().enumerate().skip(1) {
        chain = evaluator.multiply(&chain, factor, &key)?;
        println!("product {i}: {:6.1} bits left", context.bits_left(&chain));
    }

    // Below 0 the answer might be garbage, and garbage looks like any other number: so it is refused.
    match context.decrypt(&chain, &secret) {
        Err(error @ BfvError::NoiseExhausted { .. }) => println!("refused: {error}\n"),
        Err(other) => return Err(other.into()),
        Ok(_) => return Err("seven products in a row cannot fit parameters for three".into()),
    }

    // Every ciphertext knows which operations spent its bits: all of them in order, or by operation.
    println!("{}", chain.trace());
    let [most, ..] = chain.trace().totals()[..] else { return Err("there were operations".into()) };
    println!("{} x {} spent {:.1} bits, more than all else\n", most.operation, most.times, most.spent);
    if (most.operation, most.times) != ("multiply", 7) {
        return Err("seven products spent the budget".into());
    }

    // Remedy 1, free: multiply in pairs. Seven products as before, but only three in a row.
    let mut layer = fresh;
    while layer.len() > 1 {
        layer = layer
            .chunks(2)
            .map(|pair| match pair {
                [a, b] => evaluator.multiply(a, b, &key),
                single => evaluator.sum(single),
            })
            .collect::<Result<_, _>>()?;
        let left = layer.iter().map(|c| context.bits_left(c)).fold(f64::INFINITY, f64::min);
        println!("{} left to multiply: {left:5.1} bits left", layer.len());
    }
    let answer = layer.first().ok_or("one product is left")?;
    let opened = encoder.decode(&context.decrypt(answer, &secret)?)?;
    if opened.first() != Some(&product) {
        return Err("the product in pairs is wrong".into());
    }
    println!("decrypted: {product}\n");

    // Remedy 2, costly: parameters for the depth you need. A larger q takes a larger ring.
    for depth in [3, 7] {
        let choice = Parameters::builder().depth(depth).plain_bits(17).explain()?.chosen.ok_or("it fits")?;
        let left = choice.bits_left.last().copied().unwrap_or_default();
        let (n, kib) = (choice.parameters.degree(), choice.sizes.ciphertext / 1024);
        println!("depth {depth}: n = {n}, ciphertexts of {kib} KiB, {left:.1} bits left in the end");
        if left < 0.0 {
            return Err("chosen parameters must leave bits".into());
        }
    }
    Ok(())
}
