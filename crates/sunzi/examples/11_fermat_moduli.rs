//! BFV modulo 2^g − 1, whose base conversions are shifts: the same API over another ring.
//!
//! `cargo run --release -p sunzi --features fermat --example 11_fermat_moduli`
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;

use sunzi::bfv::{Evaluator, FermatParameters};
use sunzi::encoding::{BatchEncoder, Encoder};
use sunzi::fermat::{FermatModulus, FermatRing};
use sunzi::rlwe::{PublicKey, RelinearizationKey, SecretKey, Security, randomness};

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    // 257 and 65537 divide 2^g − 1; this prime does not, and has slots.
    let t = FermatModulus::BATCHING;
    let parameters = FermatParameters::for_depth(1, t, Security::Bits128)?;
    let context = parameters.context()?;
    let ring: &FermatRing = context.ring().storage().ok_or("a ring modulo 2^g - 1")?;
    let modulus = ring.fermat_modulus();
    println!(
        "n = {}, q = 2^{} - 1 with {} components of {:?} bits",
        context.degree(),
        modulus.bits(),
        modulus.level(),
        modulus.components().iter().map(|component| component.bits()).collect::<Vec<_>>()
    );

    // From here on nothing knows of which integers the ring is made.
    let mut rng = randomness::from_os()?;
    let secret = SecretKey::generate(context.rlwe(), &mut rng)?;
    let public = PublicKey::generate(context.rlwe(), &secret, &mut rng)?;
    let relinearization = RelinearizationKey::generate(context.rlwe(), &secret, &mut rng)?;
    let encoder = BatchEncoder::new(context.degree(), t)?;
    let slots = |step: u64| -> Vec<u64> { (0..context.degree() as u64).map(|i| i * step % t).collect() };
    let (left, right) = (slots(7919), slots(104_729));
    let a = context.encrypt(&encoder.encode(&left)?, &public, &mut rng)?;
    let b = context.encrypt(&encoder.encode(&right)?, &public, &mut rng)?;
    let product = Evaluator::new(&context).multiply(&a, &b, &relinearization)?;

    let opened = encoder.decode(&context.decrypt(&product, &secret)?)?;
    if opened.iter().zip(left.iter().zip(&right)).any(|(got, (x, y))| *got != x * y % t) {
        return Err("a slot is wrong".into());
    }
    println!("a·b is right in all {} slots, {:.0} bits left", opened.len(), context.bits_left(&product));
    Ok(())
}
