//! Rotations with keys that keep seeds in place of their uniform halves, beside keys that keep both halves.

use sunzi_bfv::{Context, Evaluator};
use sunzi_encoding::Plaintext;
use sunzi_rlwe::{GaloisKeys, SecretKey, randomness};

use crate::bench::{PLAIN_MODULUS, Result, Row, Shape, check, side_by_side};

const EXPONENT: u64 = 3;

/// The row that compares the time of a rotation with a compact key to one with a full key.
pub(super) fn row(shape: &Shape, rounds: usize) -> Result<Row> {
    let context = Context::new(&shape.parameters(PLAIN_MODULUS)?)?;
    let (rlwe, evaluator) = (context.rlwe(), Evaluator::new(&context));
    let mut rng = randomness::from_os()?;
    let secret = SecretKey::generate(rlwe, &mut rng)?;
    let keys = GaloisKeys::generate(rlwe, &secret, [EXPONENT], &mut rng)?;
    let compact = keys.clone().compact();
    let plaintext = Plaintext::new(check::residues(context.degree(), PLAIN_MODULUS, 1), PLAIN_MODULUS)?;
    let ciphertext = context.encrypt_secret(&plaintext, &secret, &mut rng)?;
    let open = |keys| -> Result<Plaintext> {
        Ok(context.decrypt(&evaluator.automorphism(&ciphertext, EXPONENT, keys)?, &secret)?)
    };
    let correct = open(&keys)? == open(&compact)?;
    let mut calls = [&compact, &keys].map(|keys| {
        let (evaluator, ciphertext) = (&evaluator, &ciphertext);
        move || evaluator.automorphism(ciphertext, EXPONENT, keys)
    });
    let [with_seeds, whole] = &mut calls;
    let [ours, kept] = side_by_side(rounds, [with_seeds, whole])?;
    let row = Row {
        name: format!("rotate, compact key of {} bytes, {shape}", compact.byte_len()),
        n: context.degree(),
        log_q: rlwe.log2_modulus(),
        correct,
        rounds,
        ..Row::default()
    };
    Ok(row.against(&ours, format!("key of {} bytes", keys.byte_len()), &kept))
}
