//! Objects to bytes and back, beside a copy of the same bytes in memory.

use std::hint::black_box;
use std::ops::RangeInclusive;

use rand_core::CryptoRng;
use sunzi_bfv::{Bfv, Context};
use sunzi_encoding::Plaintext;
use sunzi_rlwe::wire::{self, Format};
use sunzi_rlwe::{Ciphertext, GaloisKeys, PublicKey, RelinearizationKey, SecretKey, randomness};

use crate::LabError;
use crate::alternate::take_turns;
use crate::bench::operations::PLAIN_MODULUS;
use crate::bench::report::Row;
use crate::bench::shape::{Method, Shape};
use crate::bench::{Options, check};
use crate::subjects::keys::Keys;
use crate::threads::on_threads;

/// log2 of the degrees that are timed unless others are asked for.
pub const LOG_DEGREES: RangeInclusive<u32> = 13..=15;
/// Bar on ours / copy.
const BAR: f64 = 2.0;

/// Times loading and storing of objects of every kind of BFV, from bytes in the caches and to new ones.
///
/// # Errors
/// A degree without parameters; an operation that fails; threads that do not start.
pub fn run(options: &Options) -> Result<Vec<Row>, LabError> {
    options.validate()?;
    on_threads(options.threads, || {
        let mut rows = Vec::new();
        for log_n in options.log_degrees(LOG_DEGREES) {
            let all = Shape::all(log_n);
            let hybrid = all.iter().find(|shape| shape.method() == Method::Hybrid);
            if let Some(shape) = hybrid {
                rows.extend(of_shape(shape, options)?);
            }
        }
        Ok(rows)
    })
}

fn of_shape(shape: &Shape, options: &Options) -> Result<Vec<Row>, LabError> {
    let context = Context::new(&shape.parameters(PLAIN_MODULUS)?)?;
    let mut rng = randomness::from_os()?;
    let objects = Objects::new(&context, &mut rng)?;
    let timed = Timed { context: &context, options };
    let (rlwe, mut rows) = (context.rlwe(), Vec::new());
    rows.extend(timed.rows::<Plaintext, _>("plaintext", &context, &objects.plaintext)?);
    rows.extend(timed.rows("ciphertext", &context, &objects.ciphertext)?);
    rows.extend(timed.rows("ciphertext with a seed", &context, &objects.fresh)?);
    rows.extend(timed.rows("secret key", rlwe, &objects.secret)?);
    rows.extend(timed.rows("public key", rlwe, &objects.public)?);
    rows.extend(timed.rows("relinearisation key", rlwe, &objects.relinearization)?);
    rows.extend(timed.rows("Galois key", rlwe, &objects.galois)?);
    Ok(rows)
}

/// One of each kind.
struct Objects {
    secret: SecretKey,
    public: PublicKey,
    relinearization: RelinearizationKey,
    galois: GaloisKeys,
    plaintext: Plaintext,
    ciphertext: Ciphertext<Bfv>,
    fresh: Ciphertext<Bfv>,
}

impl Objects {
    fn new(context: &Context, rng: &mut impl CryptoRng) -> Result<Self, LabError> {
        let rlwe = context.rlwe();
        let Keys { secret, public, relinearization } = Keys::generate(rlwe, rng)?;
        let values = check::residues(context.degree(), PLAIN_MODULUS, 1);
        let plaintext = Plaintext::new(values, PLAIN_MODULUS)?;
        Ok(Self {
            relinearization,
            galois: GaloisKeys::generate(rlwe, &secret, [3], rng)?,
            ciphertext: context.encrypt(&plaintext, &public, rng)?,
            fresh: context.encrypt_secret(&plaintext, &secret, rng)?,
            secret,
            public,
            plaintext,
        })
    }
}

struct Timed<'a> {
    context: &'a Context,
    options: &'a Options,
}

impl Timed<'_> {
    /// Storing and loading, in turn with a copy.
    fn rows<T, C: Format<T>>(&self, name: &str, format: &C, object: &T) -> Result<[Row; 2], LabError> {
        let bytes = wire::to_bytes(format, object)?;
        let mut copy = vec![0; bytes.len()];
        let again = wire::to_bytes(format, &wire::from_bytes::<T, C>(format, &bytes)?)?;
        let mut calls: [Box<dyn FnMut() -> Result<(), LabError> + '_>; 3] = [
            Box::new(|| {
                copy.copy_from_slice(black_box(&bytes));
                black_box(&mut copy);
                Ok(())
            }),
            Box::new(|| {
                black_box(wire::to_bytes(format, object)?);
                Ok(())
            }),
            Box::new(|| {
                black_box(wire::from_bytes::<T, C>(format, black_box(&bytes))?);
                Ok(())
            }),
        ];
        let series = take_turns(self.options.rounds, &mut calls)?;
        let [copied, stored, loaded] = series.as_slice() else {
            return Err(LabError::TooFewRounds { got: 0, least: 1 });
        };
        Ok([("store", stored), ("load", loaded)].map(|(verb, ours)| {
            let ratio = ours.over(copied);
            let row = Row {
                name: format!("{verb} a {name}, {} bytes", bytes.len()),
                n: self.context.degree(),
                log_q: self.context.rlwe().log2_modulus(),
                ours_us: ours.median(),
                threads: (self.options.threads != 1).then_some(self.options.threads),
                peer: Some("memory copy".to_owned()),
                peer_us: Some(copied.median()),
                ratio: Some(ratio.median),
                spread: Some(ratio.spread),
                bar: Some(BAR),
                correct: again == bytes,
                rounds: self.options.rounds,
                ..Row::default()
            };
            row.judged()
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
