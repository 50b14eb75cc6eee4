//! Private retrieval: an entry of a public database by its number, from the query to the entry.

use std::time::Instant;

use rand_core::Rng;
use serde::Serialize;
use sunzi_bfv::{Ciphertext, Context, Evaluator};
use sunzi_circuits::EvaluationKeys;
use sunzi_circuits::retrieval::{Database, Layout, RetrievalError, parameters};
use sunzi_ring::sampling::SeededRng;
use sunzi_rlwe::wire;
use sunzi_rlwe::{SecretKey, randomness};

use crate::bench::matrices::{median, processor_seconds};
use crate::bench::{LabError, Result, on_threads};

/// Size of a database, and options of a measurement.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// Number of entries of the database.
    pub entries: u64,
    /// Bytes of each entry.
    pub entry_bytes: usize,
    /// Number of answers that are timed.
    pub rounds: usize,
    /// Number of queries that are answered together.
    pub together: usize,
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
    /// Number of queries that are answered together.
    pub together: usize,
    /// Time to prepare the database, by the clock.
    pub preparation_s: f64,
    /// Median time of the answers to all queries that are answered together, by the clock.
    pub answer_s: f64,
    /// Least time of these answers, by the clock.
    pub least_s: f64,
    /// Median processor time of these answers; where the system says and one thread computes.
    pub processor_s: Option<f64>,
    /// Median time in which the client makes its queries, by the clock.
    pub query_s: f64,
    /// Median time in which the client reads the answers, by the clock.
    pub read_s: f64,
    /// Bytes of the queries.
    pub upload_bytes: usize,
    /// Bytes of the answers.
    pub download_bytes: usize,
    /// Bytes of the keys, which are sent once.
    pub key_bytes: usize,
    /// Number of answers that were timed, each for other entries.
    pub rounds: usize,
    /// Whether every entry came back as it is in the database.
    pub correct: bool,
}

/// Times private retrievals.
///
/// # Errors
/// [`LabError::Usage`] without rounds or queries; [`LabError::Failed`] for a database that cannot be; threads that do not start.
pub fn run(request: Request) -> Result<Retrieval> {
    if request.rounds == 0 || request.together == 0 {
        return Err(LabError::Usage("no rounds or no queries: give at least 1 of both".to_owned()));
    }
    on_threads(request.threads, || retrieval(request).map_err(|error| LabError::Failed(error.to_string())))
}

/// Returns the bytes of an entry, which look random.
fn entry(number: u64, bytes: usize) -> Vec<u8> {
    let mut entry = vec![0; bytes];
    SeededRng::derive(&[3; 32], "entry", number).fill_bytes(&mut entry);
    entry
}

fn retrieval(request: Request) -> std::result::Result<Retrieval, Box<dyn std::error::Error>> {
    let Request { entries, entry_bytes, rounds, together, threads } = request;
    let parameters = parameters()?;
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
    // The first round makes tables, and is not timed.
    for round in 0..=rounds as u64 {
        let number =
            |at: usize| ((round + 997 * at as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 7) % entries;
        let numbers: Vec<u64> = (0..together).map(number).collect();
        let start = Instant::now();
        let queries = numbers.iter().map(|number| layout.query(&context, *number, &secret, &mut rng));
        let queries = queries.collect::<std::result::Result<Vec<_>, _>>()?;
        let query_s = start.elapsed().as_secs_f64();
        let (start, before) = (Instant::now(), processor_seconds());
        let answers = database.answer_all(&evaluator, &queries, &keys)?;
        let answer_s = start.elapsed().as_secs_f64();
        let used = processor_seconds().zip(before).map(|(after, before)| after - before);
        let start = Instant::now();
        for (number, answer) in numbers.iter().zip(&answers) {
            correct &= layout.read(&context, *number, answer, &secret)? == entry(*number, entry_bytes);
        }
        let read_s = start.elapsed().as_secs_f64();
        sizes = [bytes(&context, queries.iter())?, bytes(&context, answers.iter().flatten())?];
        if round > 0 {
            asked.push(query_s);
            answered.push(answer_s);
            processor.extend(used);
            read.push(read_s);
        }
    }
    let least_s = answered.iter().copied().fold(f64::INFINITY, f64::min);
    Ok(Retrieval {
        entries,
        entry_bytes,
        n: context.degree(),
        log_q: context.ring().modulus().bits() as f64,
        log_key_modulus: parameters.log2_key_modulus(),
        sides: layout.sides(),
        threads,
        together,
        preparation_s,
        answer_s: median(&mut answered).unwrap_or_default(),
        least_s,
        processor_s: (threads == 1).then(|| median(&mut processor)).flatten(),
        query_s: median(&mut asked).unwrap_or_default(),
        read_s: median(&mut read).unwrap_or_default(),
        upload_bytes: sizes[0],
        download_bytes: sizes[1],
        key_bytes: key_bytes(&context, &keys)?,
        rounds,
        correct,
    })
}

/// Returns the number of bytes of ciphertexts in files.
fn bytes<'a>(
    context: &Context,
    ciphertexts: impl Iterator<Item = &'a Ciphertext>,
) -> std::result::Result<usize, wire::WireError> {
    ciphertexts.map(|one| Ok(wire::to_bytes(context, one)?.len())).sum()
}

/// Returns the number of bytes of evaluation keys in files.
fn key_bytes(
    context: &Context,
    keys: &EvaluationKeys,
) -> std::result::Result<usize, Box<dyn std::error::Error>> {
    let rlwe = context.rlwe();
    let missing = || RetrievalError::from(sunzi_circuits::CircuitError::MissingRelinearizationKey);
    let galois = keys.galois.as_ref().ok_or_else(missing)?;
    let relinearization = keys.relinearization.as_ref().ok_or_else(missing)?;
    Ok(wire::to_bytes(rlwe, galois)?.len() + wire::to_bytes(rlwe, relinearization)?.len())
}
