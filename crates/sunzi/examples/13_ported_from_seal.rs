//! The program of peers/porting/from_seal.py in Sunzi: a dot product and a chain of products, in BFV.
//!
//! `cargo run --release -p sunzi --example 13_ported_from_seal`
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use sunzi::prelude::*;

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let parameters = Parameters::builder().depth(2).rotations(3).plain_bits(20).build()?;
    let context = Context::new(&parameters)?;
    let mut rng = randomness::from_os()?;
    let secret = SecretKey::generate(context.rlwe(), &mut rng)?;
    let public = PublicKey::generate(context.rlwe(), &secret, &mut rng)?;
    let relinearization = RelinearizationKey::generate(context.rlwe(), &secret, &mut rng)?;
    let steps = slot_sum_exponents(context.degree(), 8);
    let galois = GaloisKeys::generate(context.rlwe(), &secret, steps, &mut rng)?;

    let encoder = BatchEncoder::new(context.degree(), context.plain_modulus())?;
    let x = context.encrypt(&encoder.encode(&[1, 2, 3, 4, 5, 6, 7, 8])?, &public, &mut rng)?;
    let y = context.encrypt(&encoder.encode(&[8, 7, 6, 5, 4, 3, 2, 1])?, &public, &mut rng)?;

    let evaluator = Evaluator::new(&context);
    let product = evaluator.multiply(&x, &y, &relinearization)?;
    let dot = evaluator.sum_segments(&product, 8, &galois)?;
    let chain = evaluator.multiply(&product, &x, &relinearization)?;

    let dot = encoder.decode(&context.decrypt(&dot, &secret)?)?;
    let chain = encoder.decode(&context.decrypt(&chain, &secret)?)?;
    println!("dot: {:?}", dot.get(..1).unwrap_or_default());
    println!("chain: {:?}", chain.get(..8).unwrap_or_default());
    if !(dot.starts_with(&[120]) && chain.starts_with(&[8, 28, 54, 80, 100, 108, 98, 64])) {
        return Err("wrong results".into());
    }
    Ok(())
}
