//! Storing and loading of objects, beside a copy of the same bytes in memory.

use std::hint::black_box;
use std::ops::RangeInclusive;

use sunzi_bfv::Context;
use sunzi_encoding::Plaintext;
use sunzi_rlwe::wire::{self, Format};
use sunzi_rlwe::{GaloisKeys, randomness};

use crate::bench::{Keys, LabError, Method, Options, PLAIN_MODULUS, Result, Row, Shape, check, side_by_side};

/// log2 of the ring degrees at which storing and loading is timed unless others are asked for.
pub const LOG_DEGREES: RangeInclusive<u32> = 13..=15;
/// Bar on the time of storing or loading / that of a copy.
const BAR: f64 = 2.0;

/// Times loading and storing of objects of every kind of BFV, from bytes in the caches and to new ones.
///
/// # Errors
/// A degree without parameters; an operation that fails; threads that do not start.
pub fn run(options: &Options) -> Result<Vec<Row>> {
    options.rows(LOG_DEGREES, |log_n| {
        let all = Shape::all(log_n);
        let hybrid = all.iter().find(|shape| shape.method() == Method::Hybrid);
        hybrid.map_or(Ok(Vec::new()), |shape| of_shape(shape, options))
    })
}

fn of_shape(shape: &Shape, options: &Options) -> Result<Vec<Row>> {
    let context = Context::new(&shape.parameters(PLAIN_MODULUS)?)?;
    let mut rng = randomness::from_os()?;
    let rlwe = context.rlwe();
    let Keys { secret, public, relinearization } = Keys::generate(rlwe, &mut rng)?;
    let galois = GaloisKeys::generate(rlwe, &secret, [3], &mut rng)?;
    let plaintext = Plaintext::new(check::residues(context.degree(), PLAIN_MODULUS, 1), PLAIN_MODULUS)?;
    let ciphertext = context.encrypt(&plaintext, &public, &mut rng)?;
    let fresh = context.encrypt_secret(&plaintext, &secret, &mut rng)?;
    let timed = Timed { context: &context, options };
    let rows = [
        timed.rows::<Plaintext, _>("plaintext", &context, &plaintext)?,
        timed.rows("ciphertext", &context, &ciphertext)?,
        timed.rows("ciphertext with a seed", &context, &fresh)?,
        timed.rows("secret key", rlwe, &secret)?,
        timed.rows("public key", rlwe, &public)?,
        timed.rows("relinearisation key", rlwe, &relinearization)?,
        timed.rows("Galois key", rlwe, &galois)?,
    ];
    Ok(rows.concat())
}

struct Timed<'a> {
    context: &'a Context,
    options: &'a Options,
}

impl Timed<'_> {
    /// Times storing and loading of one object, in turn with a copy of its bytes.
    fn rows<T, C: Format<T>>(&self, name: &str, format: &C, object: &T) -> Result<[Row; 2]> {
        let bytes = wire::to_bytes(format, object)?;
        let mut copy = vec![0; bytes.len()];
        let again = wire::to_bytes(format, &wire::from_bytes::<T, C>(format, &bytes)?)?;
        let [copied, stored, loaded] = side_by_side(
            self.options.rounds,
            [
                &mut || {
                    copy.copy_from_slice(black_box(&bytes));
                    black_box(&mut copy);
                    Ok::<_, LabError>(())
                },
                &mut || wire::to_bytes(format, object),
                &mut || wire::from_bytes::<T, C>(format, black_box(&bytes)),
            ],
        )?;
        Ok([("store", stored), ("load", loaded)].map(|(verb, ours)| {
            let row = Row {
                name: format!("{verb} a {name}, {} bytes", bytes.len()),
                n: self.context.degree(),
                log_q: self.context.rlwe().log2_modulus(),
                threads: (self.options.threads != 1).then_some(self.options.threads),
                bar: Some(BAR),
                correct: again == bytes,
                rounds: self.options.rounds,
                ..Row::default()
            };
            row.against(&ours, "memory copy".to_owned(), &copied).judged()
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_stored_and_loaded() {
        let rows = run(&Options { rounds: 1, log_n: vec![13], ..Options::default() }).unwrap();
        assert_eq!(rows.len(), 14);
        for row in &rows {
            assert!(row.correct && row.ratio.is_some_and(|ratio| ratio > 0.0), "{row:?}");
        }
    }
}
