//! Private set intersection: labels of common items, from tokens to labels.

use std::time::Instant;

use rand_core::Rng;
use serde::Serialize;
use sunzi_bgv::{Ciphertext, Context, Evaluator};
use sunzi_circuits::intersection::{LabelledSet, Token, parameters};
use sunzi_ring::sampling::SeededRng;
use sunzi_rlwe::wire::{self, WireError};
use sunzi_rlwe::{RelinearizationKey, SecretKey, randomness};

use crate::bench::matrices::median;
use crate::bench::{LabError, Result, on_threads};

/// Sizes of both sides, and options of a measurement.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// Number of items of the set.
    pub items: usize,
    /// Bytes of each label.
    pub label_bytes: usize,
    /// Number of items of the client; half of them are in the set.
    pub asked: usize,
    /// Number of times that all of them are asked for.
    pub rounds: usize,
    /// Threads of an answer.
    pub threads: usize,
}

/// Times and sizes of a set intersection without its pseudorandom function; times are in seconds by the clock.
#[derive(Clone, Debug, Serialize)]
pub struct Intersection {
    /// Number of items of the set.
    pub items: usize,
    /// Bytes of each label.
    pub label_bytes: usize,
    /// Number of items of the client.
    pub asked: usize,
    /// Number of queries that these take.
    pub queries: usize,
    /// Number of ciphertexts of a query, and of an answer.
    pub ciphertexts: [usize; 2],
    /// Ring degree n.
    pub n: usize,
    /// Threads of an answer.
    pub threads: usize,
    /// Time to prepare the set.
    pub preparation_s: f64,
    /// Bytes of memory of the prepared set.
    pub prepared_bytes: usize,
    /// Median time of the answers to all queries.
    pub answer_s: f64,
    /// Least time of the answers to all queries.
    pub least_s: f64,
    /// Bytes of all queries.
    pub upload_bytes: usize,
    /// Bytes of all answers.
    pub download_bytes: usize,
    /// Bytes of the key, which is sent once.
    pub key_bytes: usize,
    /// Number of times that all items were asked for.
    pub rounds: usize,
    /// Whether all labels of common items came back, and no other.
    pub correct: bool,
}

/// Times set intersections.
///
/// # Errors
/// [`LabError::Usage`] without rounds or items of the client; [`LabError::Failed`] for a set that cannot be; threads that do not start.
pub fn run(request: Request) -> Result<Intersection> {
    if request.rounds == 0 || request.asked == 0 {
        return Err(LabError::Usage("no rounds or no items to ask for: give at least 1 of both".to_owned()));
    }
    on_threads(request.threads, || intersection(request).map_err(|error| LabError::Failed(error.to_string())))
}

/// Returns bytes that look random.
fn drawn<const N: usize>(domain: &str, number: usize) -> [u8; N] {
    let mut bytes = [0; N];
    SeededRng::derive(&[5; 32], domain, number as u64).fill_bytes(&mut bytes);
    bytes
}

fn intersection(request: Request) -> std::result::Result<Intersection, Box<dyn std::error::Error>> {
    let Request { items, label_bytes, asked, rounds, threads } = request;
    let (context, mut rng) = (Context::new(&parameters()?)?, randomness::from_os()?);
    let evaluator = Evaluator::new(&context);
    let token = |number| Token::new(drawn("token", number));
    let label =
        |number| drawn::<64>("label", number).into_iter().cycle().take(label_bytes).collect::<Vec<u8>>();
    let own: Vec<_> = (0..items).map(|number| (token(number), label(number))).collect();
    let start = Instant::now();
    let set = LabelledSet::new(&evaluator, &own, &mut rng)?;
    let preparation_s = start.elapsed().as_secs_f64();
    let layout = set.layout();
    // Every other item of the client is the next one of the set.
    let number = |at: usize| if at.is_multiple_of(2) { (at / 2) % items } else { items + at };
    let tokens: Vec<Token> = (0..asked).map(|at| token(number(at))).collect();
    let secret = SecretKey::generate(context.rlwe(), &mut rng)?;
    let key = RelinearizationKey::generate(context.rlwe(), &secret, &mut rng)?;
    let (mut answered, mut correct, mut queries, mut sizes) = (Vec::new(), true, 0, [0; 2]);
    // The first round makes tables, and is not timed.
    for round in 0..=rounds {
        let all = layout.arrange(&tokens, &mut rng);
        (queries, sizes) = (all.len(), [0; 2]);
        let (mut found, mut answer_s) = (0, 0.0);
        for bins in &all {
            let query = layout.query(&context, bins, &tokens, &secret, &mut rng)?;
            let start = Instant::now();
            let answer = set.answer(&evaluator, &query, &key)?;
            answer_s += start.elapsed().as_secs_f64();
            sizes = [sizes[0] + bytes(&context, &query)?, sizes[1] + bytes(&context, &answer)?];
            for (at, read) in layout.read(&context, bins, &tokens, &answer, &secret)? {
                correct &= at.is_multiple_of(2) && read == label(number(at));
                found += 1;
            }
        }
        correct &= found == asked.div_ceil(2);
        if round > 0 {
            answered.push(answer_s);
        }
    }
    Ok(Intersection {
        items,
        label_bytes,
        asked,
        queries,
        ciphertexts: [layout.sources(), layout.answers()],
        n: context.degree(),
        threads,
        preparation_s,
        prepared_bytes: set.byte_len(),
        least_s: answered.iter().copied().fold(f64::INFINITY, f64::min),
        answer_s: median(&mut answered).unwrap_or_default(),
        upload_bytes: sizes[0],
        download_bytes: sizes[1],
        key_bytes: wire::to_bytes(context.rlwe(), &key)?.len(),
        rounds,
        correct,
    })
}

/// Returns the number of bytes of ciphertexts in files.
fn bytes(context: &Context, ciphertexts: &[Ciphertext]) -> std::result::Result<usize, WireError> {
    ciphertexts.iter().map(|one| Ok(wire::to_bytes(context, one)?.len())).sum()
}
