//! Vectors over a finite field: 1024 elements of GF(2^16) in one ciphertext, under BGV in a ring of general index.
//!
//! `cargo run --release -p sunzi --example 10_galois_slots`
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;

use sunzi::bgv::{Context, Evaluator, Parameters};
use sunzi::encoding::{Encoder, GaloisEncoder};
use sunzi::rlwe::{GaloisKeys, PublicKey, RelinearizationKey, SecretKey, randomness};

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    // m = 21845 = 5·17·257: the order of 2 modulo m is 16, so modulo 2 the polynomial Φ_m has φ(m)/16 factors of degree 16.
    let encoder = GaloisEncoder::new(21845, 2, 1)?;
    let field = encoder.ring();
    println!("{} slots of GF(2^{})", encoder.slots(), field.degree());

    // Two products in a row, and one automorphism after each.
    let builder = Parameters::builder().ring_index(21845).plain_modulus(2).depth(2).rotations_per_level(1);
    let parameters = builder.build()?;
    println!("ring degree {}, log2 Q = {:.0}", parameters.degree(), parameters.log2_modulus());
    let context = Context::new(&parameters)?;

    // X → X^2 squares every element; an automorphism of the ring needs a key, as rotations do.
    let frobenius = encoder.frobenius_exponent(1);
    let mut rng = randomness::from_os()?;
    let secret = SecretKey::generate(context.rlwe(), &mut rng)?;
    let public = PublicKey::generate(context.rlwe(), &secret, &mut rng)?;
    let relinearization = RelinearizationKey::generate(context.rlwe(), &secret, &mut rng)?;
    let galois = GaloisKeys::generate(context.rlwe(), &secret, [frobenius], &mut rng)?;

    // An element is a polynomial in Y of degree below 16: here the bits of a number.
    let element = |number: u64| -> Vec<u64> { (0..16).map(|bit| number >> bit & 1).collect() };
    let vector = |step: u64| -> Vec<Vec<u64>> {
        (0..encoder.slots() as u64).map(|slot| element(slot * step % 65_536)).collect()
    };
    let (left, right) = (vector(257), vector(12_345));
    let a = context.encrypt(&encoder.encode_elements(&left)?, &public, &mut rng)?;
    let b = context.encrypt(&encoder.encode_elements(&right)?, &public, &mut rng)?;

    // (a·b)² by the Frobenius map, which costs no level, times a: three factors at depth 2.
    let evaluator = Evaluator::new(&context);
    let product = evaluator.multiply(&a, &b, &relinearization)?;
    let squared = evaluator.automorphism(&product, frobenius, &galois)?;
    let result = evaluator.multiply(&squared, &a, &relinearization)?;

    let opened = encoder.decode_elements(&context.decrypt(&result, &secret)?)?;
    for (slot, ((x, y), got)) in left.iter().zip(&right).zip(&opened).enumerate() {
        let product = field.mul(x, y)?;
        if *got != field.mul(&field.mul(&product, &product)?, x)? {
            return Err(format!("slot {slot} is wrong").into());
        }
    }
    println!("(a·b)²·a is right in all {} slots, {:.0} bits left", opened.len(), context.bits_left(&result)?);
    Ok(())
}
