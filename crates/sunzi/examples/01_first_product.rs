//! The whole journey once: encode, encrypt, multiply, decrypt.
//!
//! `cargo run --release -p sunzi --example 01_first_product`
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;

use sunzi::prelude::*;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    // Parameters follow from the computation: one product in a row (depth 1), and a plaintext
    // modulus t of at least 17 bits. All arithmetic is modulo t: signed results must stay within ±t/2.
    let parameters = Parameters::builder().depth(1).plain_bits(17).build()?;
    // Parameters are plain numbers; the context holds the tables made from them.
    let context = Context::new(&parameters)?;
    println!("numbers are integers modulo {}", context.plain_modulus());

    // Whoever has the secret key can decrypt. The public key encrypts, the relinearisation key
    // brings a product back to the size of a ciphertext: both may be given away.
    let mut rng = randomness::from_os()?;
    let secret = SecretKey::generate(context.rlwe(), &mut rng)?;
    let public = PublicKey::generate(context.rlwe(), &secret, &mut rng)?;
    let relinearization = RelinearizationKey::generate(context.rlwe(), &secret, &mut rng)?;

    // A ciphertext holds thousands of numbers in its slots, for the price of one. Encoding places
    // them there and hides nothing yet; slots that are not given hold 0.
    let encoder = BatchEncoder::new(context.degree(), context.plain_modulus())?;
    println!("one ciphertext has {} slots", encoder.slots());
    let prices = encoder.encode_signed(&[250, 399, 1_250])?;
    let pieces = encoder.encode_signed(&[12, -3, 8])?;

    let prices = context.encrypt(&prices, &public, &mut rng)?;
    let pieces = context.encrypt(&pieces, &public, &mut rng)?;
    println!("a fresh ciphertext has {:.0} bits left", context.bits_left(&prices));

    // Slot by slot, without any secret: this is the part that somebody else's machine does.
    let totals = Evaluator::new(&context).multiply(&prices, &pieces, &relinearization)?;

    // Every operation adds noise. At 0 bits left decryption would refuse; example 06 goes there.
    println!("their product has {:.0} bits left", context.bits_left(&totals));

    let opened = encoder.decode_signed(&context.decrypt(&totals, &secret)?)?;
    let expected = [250 * 12, -399 * 3, 1_250 * 8];
    if !opened.starts_with(&expected) {
        return Err("the decrypted products are wrong".into());
    }
    println!("decrypted: 250 · 12, 399 · −3, 1250 · 8 = {expected:?}");
    Ok(())
}
