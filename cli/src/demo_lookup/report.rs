//! Report of the lookup: as JSON, or as text for people.

use serde::Serialize;
use sunzi::rlwe::words::bytes;

use super::encrypted::{Outcome, Sizes, Times, Work};
use super::public::{Lookup, Place};
use crate::error::CliError;
use crate::output::verdict;
use crate::report::memory;

/// Report of a lookup, as it is printed.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    pub(super) ok: bool,
    pub(super) source: String,
    #[serde(flatten)]
    pub(super) place: Place,
    pub(super) word: String,
    /// Positions where the word is, counted from 1: decrypted, and found in the clear.
    pub(super) positions: Vec<usize>,
    pub(super) plain_positions: Vec<usize>,
    pub(super) seconds: f64,
    pub(super) times: Times,
    pub(super) params: Params,
    pub(super) work: Work,
    pub(super) sizes: Sizes,
    pub(super) bits_left: f64,
    pub(super) isa: String,
    pub(super) threads: usize,
    pub(super) peak_memory_bytes: Option<u64>,
}

#[derive(Debug, Serialize)]
pub(super) struct Params {
    pub(super) scheme: &'static str,
    pub(super) ring_index: u64,
    pub(super) degree: usize,
    pub(super) plain_modulus: u64,
    pub(super) slots: usize,
    pub(super) slot_degree: usize,
    /// Number of bits that a ciphertext holds in its slots.
    pub(super) bit_slots: usize,
    pub(super) depth: usize,
    pub(super) moduli: usize,
    pub(super) log2_qp: f64,
    pub(super) security: String,
}

impl Report {
    pub(super) fn new(lookup: &Lookup, outcome: Outcome, seconds: f64) -> Result<Self, CliError> {
        let from_one = |positions: Vec<usize>| positions.into_iter().map(|at| at + 1).collect::<Vec<_>>();
        let plain_positions = from_one(lookup.positions.clone());
        let (parameters, slots) = (&outcome.parameters, outcome.slots());
        let slot_degree = outcome.encoder.ring().degree();
        let params = Params {
            scheme: "BGV",
            ring_index: parameters.ring().index(),
            degree: parameters.degree(),
            plain_modulus: parameters.plain_modulus(),
            slots,
            slot_degree,
            bit_slots: slots * slot_degree,
            depth: outcome.depth,
            moduli: parameters.moduli().len(),
            log2_qp: parameters.log2_key_modulus(),
            security: parameters.security().to_string(),
        };
        let positions = from_one(outcome.positions);
        Ok(Self {
            ok: positions == plain_positions,
            source: lookup.source.clone(),
            place: lookup.place.clone(),
            word: lookup.word.clone(),
            positions,
            plain_positions,
            seconds,
            times: outcome.times,
            params,
            work: outcome.work,
            sizes: outcome.sizes,
            bits_left: outcome.bits_left,
            isa: sunzi::kernels::active_isa().map_err(CliError::input)?.to_string(),
            threads: rayon::current_num_threads(),
            peak_memory_bytes: memory::peak(),
        })
    }

    /// Whether the encrypted answer of the lookup is the clear one.
    pub(super) fn ok(&self) -> bool {
        self.ok
    }

    /// Returns the report of a lookup as text for people.
    pub(super) fn text(&self) -> String {
        let Self { params, times, work, sizes, .. } = self;
        let memory =
            self.peak_memory_bytes.map_or_else(String::new, |peak| format!(", {} at most", bytes(peak)));
        format!(
            "{}: {}\n\
             The server sees what is public and ciphertexts, never the word or the answer.\n\n\
             parameters   {}, m = {}, n = {}, t = {}, log2 QP = {:.1} of {} moduli, security {}, {} products in a row\n\
             slots        {} of GF(2^{}), {} bits in one ciphertext: {}\n\
             work         {} blocks of words, {} products, {} Frobenius maps; every slot tested for zero by products of its conjugates\n\
             travelling   {} ciphertexts with the word, {} with the answer; {} of keys\n\
             seconds      {:.2}: tables {:.2}, public words {:.2}, keys {:.2}, word {:.2}, search {:.2}, answer {:.2}\n\
             machine      {} kernels, {} threads{memory}\n\n\
             {}\nencrypted    {}\nclear        {}\n{}\n",
            self.source,
            self.place.question(),
            params.scheme,
            params.ring_index,
            params.degree,
            params.plain_modulus,
            params.log2_qp,
            params.moduli,
            params.security,
            params.depth,
            params.slots,
            params.slot_degree,
            params.bit_slots,
            self.place.packing(sizes.query_ciphertexts),
            work.blocks,
            work.products,
            work.automorphisms,
            sizes.query_ciphertexts,
            sizes.answer_ciphertexts,
            bytes(sizes.keys as u64),
            self.seconds,
            times.tables,
            times.encode,
            times.keys,
            times.encrypt,
            times.search,
            times.decrypt,
            self.isa,
            self.threads,
            self.word,
            self.place.listed(&self.positions),
            self.place.listed(&self.plain_positions),
            verdict(
                self.ok,
                if self.ok { "the encrypted answer is the clear one" } else { "the answers DIFFER" }
            ),
        )
    }
}
