//! Private retrieval: an entry of a public database by its number, from the query to the entry.

use std::time::Instant;

use rand_core::Rng;
use serde::Serialize;
use sunzi_bfv::{Context, Evaluator, Parameters};
use sunzi_circuits::EvaluationKeys;
use sunzi_circuits::retrieval::{Database, Layout, RetrievalError};
use sunzi_math::primes_below;
use sunzi_ring::sampling::SeededRng;
use sunzi_rlwe::wire;
use sunzi_rlwe::{SecretKey, randomness};

use crate::bench::matrices::{median, processor_seconds};
use crate::bench::{LabError, Result, on_threads, shape};

/// log2 of the ring degree.
const LOG2_DEGREE: u32 = 13;
/// Plaintext modulus, a prime: 29 bits of entries a coefficient. Its bits are spent three times, in coefficients, in products with entries and in products
/// of selections; beside them noise takes 58 bits. So three moduli of 50 bits hold 10 bits of entries for each word, and two would hold 6.5.
const PLAIN_MODULUS: u64 = (1 << 29) + 11;
/// Numbers of ciphertext moduli, and of special ones.
const MODULI: [usize; 2] = [3, 1];

/// Size of a database, and options of a measurement.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// Number of entries of the database.
    pub entries: u64,
    /// Bytes of each entry.
    pub entry_bytes: usize,
    /// Number of queries that are timed.
    pub rounds: usize,
    /// Threads of an answer.
    pub threads: usize,
}

/// Times and sizes of a private retrieval; times are in seconds.
#[derive(Clone, Debug, Serialize)]
pub struct Retrieval {
    /// Number of entries of the database.
    pub entries: u64,
    /// Bytes of each entry.
    pub entry_bytes: usize,
    /// Ring degree n.
    pub n: usize,
    /// log2 of the modulus of ciphertexts.
    pub log_q: f64,
    /// log2 of the modulus of keys.
    pub log_key_modulus: f64,
    /// Rows and columns of the matrix of plaintexts.
    pub sides: [usize; 2],
    /// Threads of an answer.
    pub threads: usize,
    /// Time to prepare the database, by the clock.
    pub preparation_s: f64,
    /// Median time of an answer, by the clock.
    pub answer_s: f64,
    /// Least time of an answer, by the clock.
    pub least_s: f64,
    /// Median processor time of an answer; where the system says and one thread computes.
    pub processor_s: Option<f64>,
    /// Median time of a query of the client, by the clock.
    pub query_s: f64,
    /// Median time in which the client reads an answer, by the clock.
    pub read_s: f64,
    /// Bytes of a query.
    pub upload_bytes: usize,
    /// Bytes of an answer.
    pub download_bytes: usize,
    /// Bytes of the keys, which are sent once.
    pub key_bytes: usize,
    /// Number of queries that were timed, each for another entry.
    pub rounds: usize,
    /// Whether every entry came back as it is in the database.
    pub correct: bool,
}

/// Times private retrievals.
///
/// # Errors
/// [`LabError::Usage`] without rounds; [`LabError::Failed`] for a database that cannot be; threads that do not start.
pub fn run(request: Request) -> Result<Retrieval> {
    if request.rounds == 0 {
        return Err(LabError::Usage("no rounds: give at least 1".to_owned()));
    }
    on_threads(request.threads, || retrieval(request).map_err(|error| LabError::Failed(error.to_string())))
}

/// Returns the bytes of an entry, which look random.
fn entry(number: u64, bytes: usize) -> Vec<u8> {
    let mut entry = vec![0; bytes];
    SeededRng::derive(&[3; 32], "entry", number).fill_bytes(&mut entry);
    entry
}

fn parameters() -> Result<Parameters> {
    let [own, special] = MODULI;
    let mut moduli = primes_below(1 << 50, 2 << LOG2_DEGREE, own + special)?;
    let special = moduli.drain(..special).collect();
    Ok(shape::parameters(LOG2_DEGREE, moduli, special, PLAIN_MODULUS))
}

fn retrieval(request: Request) -> std::result::Result<Retrieval, Box<dyn std::error::Error>> {
    let Request { entries, entry_bytes, rounds, threads } = request;
    let parameters = parameters().map_err(|error| error.to_string())?;
    let (context, mut rng) = (Context::new(&parameters)?, randomness::from_os()?);
    let (evaluator, layout) = (Evaluator::new(&context), Layout::new(&context, entries, entry_bytes)?);
    let secret = SecretKey::generate(context.rlwe(), &mut rng)?;
    let keys = EvaluationKeys::for_exponents(context.rlwe(), &secret, layout.exponents(), &mut rng)?;
    let start = Instant::now();
    let all = (0..entries).map(|number| entry(number, entry_bytes));
    let database = Database::new(&evaluator, &layout, all)?;
    let preparation_s = start.elapsed().as_secs_f64();
    let [mut asked, mut answered, mut processor, mut read] = [(); 4].map(|()| Vec::new());
    let (mut correct, mut sizes) = (true, [0; 2]);
    // The first query makes tables, and is not timed.
    for round in 0..=rounds as u64 {
        let number = (round.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 7) % entries;
        let start = Instant::now();
        let query = layout.query(&context, number, &secret, &mut rng)?;
        let query_s = start.elapsed().as_secs_f64();
        let (start, before) = (Instant::now(), processor_seconds());
        let answer = database.answer(&evaluator, &query, &keys)?;
        let answer_s = start.elapsed().as_secs_f64();
        let used = processor_seconds().zip(before).map(|(after, before)| after - before);
        let start = Instant::now();
        correct &= layout.read(&context, number, &answer, &secret)? == entry(number, entry_bytes);
        let read_s = start.elapsed().as_secs_f64();
        let bytes = answer.iter().map(|one| Ok(wire::to_bytes(&context, one)?.len()));
        let bytes = bytes.sum::<std::result::Result<usize, wire::WireError>>()?;
        sizes = [wire::to_bytes(&context, &query)?.len(), bytes];
        if round > 0 {
            asked.push(query_s);
            answered.push(answer_s);
            processor.extend(used);
            read.push(read_s);
        }
    }
    let rlwe = context.rlwe();
    let missing = || RetrievalError::from(sunzi_circuits::CircuitError::MissingRelinearizationKey);
    let galois = keys.galois.as_ref().ok_or_else(missing)?;
    let relinearization = keys.relinearization.as_ref().ok_or_else(missing)?;
    let key_bytes = wire::to_bytes(rlwe, galois)?.len() + wire::to_bytes(rlwe, relinearization)?.len();
    let least_s = answered.iter().copied().fold(f64::INFINITY, f64::min);
    Ok(Retrieval {
        entries,
        entry_bytes,
        n: context.degree(),
        log_q: context.ring().modulus().bits() as f64,
        log_key_modulus: parameters.log2_key_modulus(),
        sides: layout.sides(),
        threads,
        preparation_s,
        answer_s: median(&mut answered).unwrap_or_default(),
        least_s,
        processor_s: (threads == 1).then(|| median(&mut processor)).flatten(),
        query_s: median(&mut asked).unwrap_or_default(),
        read_s: median(&mut read).unwrap_or_default(),
        upload_bytes: sizes[0],
        download_bytes: sizes[1],
        key_bytes,
        rounds,
        correct,
    })
}
