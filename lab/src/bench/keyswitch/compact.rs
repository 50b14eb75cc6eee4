//! Rotations with keys that keep seeds in place of their uniform halves, beside those with keys that keep all.

use std::hint::black_box;

use sunzi_bfv::{Context, Evaluator};
use sunzi_encoding::Plaintext;
use sunzi_rlwe::{GaloisKeys, SecretKey, randomness};

use crate::LabError;
use crate::alternate::take_turns;
use crate::bench::check;
use crate::bench::operations::PLAIN_MODULUS;
use crate::bench::report::Row;
use crate::bench::shape::Shape;

const EXPONENT: u64 = 3;

/// What half of the memory costs.
pub(super) fn row(shape: &Shape, rounds: usize) -> Result<Row, LabError> {
    let context = Context::new(&shape.parameters(PLAIN_MODULUS)?)?;
    let (rlwe, evaluator) = (context.rlwe(), Evaluator::new(&context));
    let mut rng = randomness::from_os()?;
    let secret = SecretKey::generate(rlwe, &mut rng)?;
    let keys = GaloisKeys::generate(rlwe, &secret, [EXPONENT], &mut rng)?;
    let compact = keys.clone().compact();
    let plaintext = Plaintext::new(check::residues(context.degree(), PLAIN_MODULUS, 1), PLAIN_MODULUS)?;
    let ciphertext = context.encrypt_secret(&plaintext, &secret, &mut rng)?;
    let open = |keys| -> Result<Plaintext, LabError> {
        Ok(context.decrypt(&evaluator.automorphism(&ciphertext, EXPONENT, keys)?, &secret)?)
    };
    let correct = open(&keys)? == open(&compact)?;
    let call = |keys| {
        let (evaluator, ciphertext) = (&evaluator, &ciphertext);
        move || -> Result<(), LabError> {
            black_box(evaluator.automorphism(ciphertext, EXPONENT, keys)?);
            Ok(())
        }
    };
    let series = take_turns(rounds, &mut [Box::new(call(&compact)), Box::new(call(&keys))])?;
    let [ours, kept] = series.as_slice() else {
        return Err(LabError::TooFewRounds { got: 0, least: 1 });
    };
    let ratio = ours.over(kept);
    Ok(Row {
        name: format!("rotate, compact key of {} bytes, {shape}", compact.byte_len()),
        n: context.degree(),
        log_q: rlwe.log2_modulus(),
        ours_us: ours.median(),
        peer: Some(format!("key of {} bytes", keys.byte_len())),
        peer_us: Some(kept.median()),
        ratio: Some(ratio.median),
        spread: Some(ratio.spread),
        correct,
        rounds,
        ..Row::default()
    })
}
