//! The client of a lookup with its word, and the server with the public words.

use serde::Serialize;
use sunzi::bgv::{BgvError, Ciphertext, Context, Evaluator, Operations, Parameters};
use sunzi::circuits::lookup::LookupTable;
use sunzi::circuits::{CircuitError, EvaluationKeys};
use sunzi::encoding::{Encoder, GaloisEncoder, Plaintext};
use sunzi::rlwe::{PublicKey, SecretKey, randomness};

use super::public::Lookup;
use crate::encrypted::timed;
use crate::error::CliError;
use crate::progress::Progress;

/// Index of a ring with 1024 slots of GF(2^16): eight letters each, and 5, 17 and 257 make for a fast ring.
const RING_INDEX: u64 = 21845;

/// Seconds of each step of a lookup.
#[derive(Debug, Default, Serialize)]
pub(super) struct Times {
    /// Seconds for choosing parameters and building tables of the ring and its slots.
    pub(super) tables: f64,
    /// Seconds for encoding the public words as plaintexts.
    pub(super) encode: f64,
    /// Seconds for making all keys of the lookup.
    pub(super) keys: f64,
    /// Seconds for encrypting the secret word.
    pub(super) encrypt: f64,
    /// Seconds of the server's work: its search.
    pub(super) search: f64,
    /// Seconds for decrypting the answer of the search.
    pub(super) decrypt: f64,
}

/// Sizes of a lookup: bytes of keys in memory, and numbers of ciphertexts.
#[derive(Debug, Serialize)]
pub(super) struct Sizes {
    /// Bytes of the relinearisation and Galois keys.
    pub(super) keys: usize,
    /// Number of ciphertexts of the word; the answer has its own number.
    pub(super) query_ciphertexts: usize,
    pub(super) answer_ciphertexts: usize,
}

/// Counts of what the server did in a lookup.
#[derive(Debug, Serialize)]
pub(super) struct Work {
    /// Number of ciphertexts that the public words fill.
    pub(super) blocks: usize,
    /// Number of products of ciphertexts, each relinearised.
    pub(super) products: usize,
    /// Number of Frobenius maps of ciphertexts.
    pub(super) automorphisms: usize,
}

/// Outcome of an encrypted lookup: its parameters, positions, times and sizes.
pub(super) struct Outcome {
    pub(super) parameters: Parameters,
    pub(super) encoder: GaloisEncoder,
    /// Positions where the word is, by the decrypted answer, counted from 0.
    pub(super) positions: Vec<usize>,
    pub(super) bits_left: f64,
    pub(super) depth: usize,
    pub(super) times: Times,
    pub(super) sizes: Sizes,
    pub(super) work: Work,
}

/// Runs the whole lookup: tables, keys, query, search, answer.
pub(super) fn run(lookup: &Lookup, progress: &Progress) -> Result<Outcome, CliError> {
    let mut times = Times::default();
    progress.say("building tables");
    let encoder = timed(&mut times.tables, || GaloisEncoder::new(RING_INDEX, 2, 1));
    let encoder = encoder.map_err(CliError::failure)?;
    progress.say("encoding the public words");
    let table = timed(&mut times.encode, || LookupTable::new::<BgvError>(&encoder, &lookup.words));
    let table = table.map_err(CliError::failure)?;
    let (parameters, context) = timed(&mut times.tables, || context(&table)).map_err(CliError::failure)?;

    progress.say("making keys");
    let mut rng = randomness::from_os().map_err(CliError::failure)?;
    let secret = SecretKey::generate(context.rlwe(), &mut rng).map_err(CliError::failure)?;
    let keys = timed(&mut times.keys, || {
        EvaluationKeys::for_exponents(context.rlwe(), &secret, table.exponents(), &mut rng)
    });
    let keys = keys.map_err(CliError::failure)?;

    progress.say("encrypting the word");
    let query = timed(&mut times.encrypt, || -> Result<Vec<Ciphertext>, CircuitError<BgvError>> {
        let public = PublicKey::generate(context.rlwe(), &secret, &mut rng).map_err(BgvError::from)?;
        let plaintexts = table.query::<BgvError>(&lookup.query)?;
        let encrypted = plaintexts.iter().map(|plaintext| context.encrypt(plaintext, &public, &mut rng));
        Ok(encrypted.collect::<Result<_, _>>()?)
    });
    let query = query.map_err(CliError::failure)?;

    progress.begin(table.blocks());
    progress.say("searching");
    let evaluator = Evaluator::new(&context);
    let answers = timed(&mut times.search, || {
        table.find(&evaluator, &query, &keys, &mut |done| progress.at(done, table.blocks()))
    });
    let answers = answers.map_err(CliError::failure)?;
    let bits_left = answers.iter().map(|answer| context.bits_left(answer).unwrap_or(f64::NEG_INFINITY));
    let bits_left = bits_left.fold(f64::INFINITY, f64::min);
    let positions = timed(&mut times.decrypt, || -> Result<Vec<usize>, CircuitError<BgvError>> {
        let opened = answers.iter().map(|answer| context.decrypt(answer, &secret));
        table.matches(&opened.collect::<Result<Vec<Plaintext>, _>>()?)
    });
    let positions = positions.map_err(CliError::failure)?;
    let sizes =
        Sizes { keys: keys.byte_len(), query_ciphertexts: query.len(), answer_ciphertexts: answers.len() };
    let work = work(&table, &encoder, query.len());
    Ok(Outcome { parameters, positions, bits_left, depth: table.depth(), times, sizes, work, encoder })
}

/// Makes the context for the products of the search: a Frobenius map before each, and marks and a sum over
/// blocks at the end.
fn context(table: &LookupTable) -> Result<(Parameters, Context), BgvError> {
    let parameters = Parameters::builder()
        .ring_index(RING_INDEX)
        .plain_modulus(2)
        .depth(table.depth())
        .fresh_rotations(1)
        .rotations_per_level(1)
        .last_operations(Operations {
            additions: table.blocks() as u64,
            plain_products: 1,
            ..Default::default()
        })
        .build()?;
    let context = Context::new(&parameters)?;
    Ok((parameters, context))
}

fn work(table: &LookupTable, encoder: &GaloisEncoder, width: usize) -> Work {
    let norms = table.blocks() * width * encoder.ring().degree().ilog2() as usize;
    Work {
        blocks: table.blocks(),
        products: norms + table.blocks() * width.saturating_sub(1),
        automorphisms: norms,
    }
}

impl Outcome {
    /// Number of slots of a ciphertext of the lookup.
    pub(super) fn slots(&self) -> usize {
        self.encoder.slots()
    }
}
