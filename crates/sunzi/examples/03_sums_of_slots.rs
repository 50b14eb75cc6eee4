//! Moving numbers between slots: rotations, and sums over segments of slots.
//!
//! `cargo run --release -p sunzi --example 03_sums_of_slots`
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;

use sunzi::prelude::*;

/// Days in a segment: a power of two, so a week has one slot of padding.
const SEGMENT: usize = 8;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    // No products, but log2(8) = 3 steps of "add a rotation of yourself".
    let builder = Parameters::builder().depth(0).rotations(3).plain_bits(17);
    let context = Context::new(&builder.build()?)?;
    let encoder = BatchEncoder::new(context.degree(), context.plain_modulus())?;

    // The slots form two rows of n/2; a rotation turns both, cyclically, each in itself.
    println!("{} slots in two rows of {}", encoder.slots(), encoder.row_length());

    // Each distance of a rotation needs its own key, as large as several ciphertexts. A sum over
    // segments of 8 needs the distances 1, 2 and 4 only: three keys serve all slots at once.
    let mut rng = randomness::from_os()?;
    let secret = SecretKey::generate(context.rlwe(), &mut rng)?;
    let public = PublicKey::generate(context.rlwe(), &secret, &mut rng)?;
    let exponents = slot_sum_exponents(context.degree(), SEGMENT);
    let galois = GaloisKeys::generate(context.rlwe(), &secret, exponents, &mut rng)?;
    let sizes = builder.explain()?.chosen.ok_or("parameters were found above")?.sizes;
    println!("{} Galois keys of {} KiB each", galois.exponents().count(), sizes.galois_key / 1024);

    // Steps of three walkers over a week, one segment each; the eighth slot stays 0.
    let week_of = |start: u64| (0..7).map(move |day| start + 100 * day).chain([0]);
    let slots: Vec<u64> = [3_000, 5_000, 8_000].into_iter().flat_map(week_of).collect();
    let steps = context.encrypt(&encoder.encode(&slots)?, &public, &mut rng)?;

    // Rotating by 1 moves slot i + 1 to slot i: tomorrow stands below today.
    let evaluator = Evaluator::new(&context);
    let tomorrow = evaluator.rotate_rows(&steps, 1, &galois)?;
    let change = evaluator.sub(&tomorrow, &steps)?;
    let opened = encoder.decode_signed(&context.decrypt(&change, &secret)?)?;
    if !opened.starts_with(&[100; 6]) {
        return Err("each day should have 100 steps more than the one before".into());
    }
    println!("the first walker's day-to-day changes: {:?}", &opened.get(..6).unwrap_or_default());

    // The first slot of each segment holds its sum. The other slots hold sums that run over into
    // the next segment: ignore them, or multiply them away with a plaintext of ones and zeros.
    let sums = evaluator.sum_segments(&steps, SEGMENT, &galois)?;
    let opened = encoder.decode(&context.decrypt(&sums, &secret)?)?;
    let totals: Vec<u64> = opened.iter().copied().step_by(SEGMENT).take(3).collect();
    if totals != [23_100, 37_100, 58_100] {
        return Err(format!("wrong totals: {totals:?}").into());
    }
    println!("steps in a week: {totals:?}");

    // A distance without a key is refused: what is missing stands in the error.
    match evaluator.rotate_rows(&steps, 3, &galois) {
        Err(error @ BfvError::Rlwe(RlweError::MissingGaloisKey { .. })) => println!("by 3: {error}"),
        Err(other) => return Err(other.into()),
        Ok(_) => return Err("there is no key for a rotation by 3".into()),
    }
    // 3 = 1 + 2: two rotations reach it, at twice the time and a little noise.
    let by_three = evaluator.rotate_rows(&tomorrow, 2, &galois)?;
    let opened = encoder.decode(&context.decrypt(&by_three, &secret)?)?;
    if opened.first() != slots.get(3) {
        return Err("slot 3 should have moved to slot 0".into());
    }
    println!("by 1 and then by 2: slot 0 now holds {}", opened.first().copied().unwrap_or_default());
    Ok(())
}
