//! Private nearest neighbours among vectors of integers, from the query to the scores.

use std::time::Instant;

use rand_core::Rng;
use serde::Serialize;
use sunzi_bfv::{Ciphertext, Context, Evaluator};
use sunzi_circuits::nearest::Measure;
use sunzi_circuits::nearest::integers::{Layout, Vectors, parameters};
use sunzi_ring::sampling::SeededRng;
use sunzi_rlwe::wire::{self, WireError};
use sunzi_rlwe::{EvaluationKeys, SecretKey, randomness};

use crate::bench::matrices::median;
use crate::bench::{LabError, Result, on_threads};

/// Largest absolute value of a coordinate: 8 bits with the sign.
const BOUND: u64 = 127;

/// Size of a database, and options of a measurement.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// Number of vectors of the database.
    pub vectors: usize,
    /// Number of coordinates of a vector, of 8 bits each.
    pub dimensions: usize,
    /// Number of answers that are timed.
    pub rounds: usize,
    /// Threads of an answer.
    pub threads: usize,
}

/// Times and sizes of nearest neighbours; times are in seconds by the clock.
#[derive(Clone, Debug, Serialize)]
pub struct Nearest {
    /// Number of vectors of the database.
    pub vectors: usize,
    /// Number of coordinates of a vector.
    pub dimensions: usize,
    /// Ring degree n.
    pub n: usize,
    /// log2 of the modulus of keys.
    pub log_key_modulus: f64,
    /// Threads of an answer.
    pub threads: usize,
    /// Time to prepare the database.
    pub preparation_s: f64,
    /// Bytes of memory of the prepared database.
    pub prepared_bytes: usize,
    /// Median time of an answer.
    pub answer_s: f64,
    /// Least time of an answer.
    pub least_s: f64,
    /// Bytes of a query.
    pub upload_bytes: usize,
    /// Bytes of an answer.
    pub download_bytes: usize,
    /// Number of answers that were timed.
    pub rounds: usize,
    /// Whether all scores are those of the clear vectors.
    pub correct: bool,
}

/// Times nearest neighbours.
///
/// # Errors
/// [`LabError::Usage`] without rounds or vectors; [`LabError::Failed`] for a database that cannot be; threads that do not start.
pub fn run(request: Request) -> Result<Nearest> {
    if request.rounds == 0 || request.vectors == 0 {
        return Err(LabError::Usage("no rounds or no vectors: give at least 1 of both".to_owned()));
    }
    on_threads(request.threads, || nearest(request).map_err(|error| LabError::Failed(error.to_string())))
}

/// Returns a vector that looks random.
fn vector(domain: &str, number: usize, dimensions: usize) -> Vec<i64> {
    let mut bytes = vec![0; dimensions];
    SeededRng::derive(&[6; 32], domain, number as u64).fill_bytes(&mut bytes);
    bytes.into_iter().map(|byte| i64::from(byte % 255) - 127).collect()
}

fn nearest(request: Request) -> std::result::Result<Nearest, Box<dyn std::error::Error>> {
    let Request { vectors, dimensions, rounds, threads } = request;
    let parameters = parameters(dimensions, BOUND)?;
    let (context, mut rng) = (Context::new(&parameters)?, randomness::from_os()?);
    let (evaluator, layout) =
        (Evaluator::new(&context), Layout::new(&context, dimensions, BOUND, Measure::Distance)?);
    let secret = SecretKey::generate(context.rlwe(), &mut rng)?;
    let keys = EvaluationKeys::for_exponents(context.rlwe(), &secret, layout.exponents(), &mut rng)?;
    let all: Vec<Vec<i64>> = (0..vectors).map(|number| vector("vector", number, dimensions)).collect();
    let start = Instant::now();
    let database = Vectors::new(&evaluator, &layout, &all)?;
    let preparation_s = start.elapsed().as_secs_f64();
    let (mut answered, mut correct, mut sizes) = (Vec::new(), true, [0; 2]);
    // The first round makes tables, and is not timed.
    for round in 0..=rounds {
        let asked = vector("query", round, dimensions);
        let query = layout.query(&context, &asked, &secret, &mut rng)?;
        let start = Instant::now();
        let answer = database.answer(&evaluator, &query, &keys)?;
        if round > 0 {
            answered.push(start.elapsed().as_secs_f64());
        }
        sizes = [bytes(&context, std::slice::from_ref(&query))?, bytes(&context, &answer)?];
        let scores = layout.read(&context, &asked, &answer, vectors, &secret)?;
        let clear =
            |vector: &Vec<i64>| vector.iter().zip(&asked).map(|(a, b)| (a - b) * (a - b)).sum::<i64>();
        correct &=
            scores.len() == vectors && scores.iter().zip(&all).all(|(score, vector)| *score == clear(vector));
    }
    Ok(Nearest {
        vectors,
        dimensions,
        n: context.degree(),
        log_key_modulus: parameters.log2_key_modulus(),
        threads,
        preparation_s,
        prepared_bytes: database.byte_len(),
        least_s: answered.iter().copied().fold(f64::INFINITY, f64::min),
        answer_s: median(&mut answered).unwrap_or_default(),
        upload_bytes: sizes[0],
        download_bytes: sizes[1],
        rounds,
        correct,
    })
}

/// Returns the number of bytes of ciphertexts in files.
fn bytes(context: &Context, ciphertexts: &[Ciphertext]) -> std::result::Result<usize, WireError> {
    ciphertexts.iter().map(|one| Ok(wire::to_bytes(context, one)?.len())).sum()
}
