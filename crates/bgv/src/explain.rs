//! Why the parameter builder chose what it chose.

use std::fmt;

use serde::{Deserialize, Serialize};
use sunzi_encoding::PlainRefusal;
use sunzi_rlwe::RingShape;

use crate::builder::{NoiseModel, Request};
use crate::{Operations, Parameters};

/// A request, every candidate considered, and the choice.
///
/// ```
/// use sunzi_bgv::Parameters;
///
/// let explanation = Parameters::builder().depth(3).plain_bits(17).explain()?;
/// assert!(explanation.chosen.is_some());
/// println!("{explanation}");
/// # Ok::<(), sunzi_bgv::BgvError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Explanation {
    /// What was asked.
    pub request: Request,
    /// Every candidate, smallest ring first, up to the chosen one.
    pub candidates: Vec<Candidate>,
    /// The parameters at the smallest ring degree that fits, if one does.
    pub chosen: Option<Parameters>,
}

/// The best moduli at one ring degree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// The ring.
    #[serde(flatten)]
    pub ring: RingShape,
    /// Largest log2 of a key's modulus that is secure; none if security was given up or cannot be reached.
    pub limit: Option<f64>,
    /// The plaintext modulus t; 0 before it is known.
    pub plain_modulus: u64,
    /// log2 of q_0, q_1, …, q_L, q_(L+1).
    pub log2_moduli: Vec<f64>,
    /// log2 QP; 0 if nothing fits.
    pub log2_key_modulus: f64,
    /// What became of it.
    pub verdict: Verdict,
}

impl Candidate {
    /// A candidate about which only the ring is known.
    pub(crate) fn empty(ring: RingShape, limit: Option<f64>) -> Self {
        let verdict = Verdict::Refused(Refusal::no_moduli(ring));
        Self { ring, limit, plain_modulus: 0, log2_moduli: Vec::new(), log2_key_modulus: 0.0, verdict }
    }
}

/// What became of a candidate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It fits, and no smaller ring does.
    Chosen,
    /// It does not fit.
    Refused(Refusal),
}

/// Why a candidate does not fit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Refusal {
    /// The ring has too few slots.
    TooFewSlots {
        /// Slots there are.
        slots: usize,
        /// Slots asked for.
        wanted: usize,
    },
    /// The security table has no entry for this ring degree.
    NotSecure,
    /// There are not enough primes for the moduli.
    NoModuli {
        /// What they must be 1 modulo.
        order: u64,
        /// The index of a ring as large that needs no other roots of unity.
        works: u64,
    },
    /// The chain is larger than security allows.
    TooLarge {
        /// log2 of the smallest product of the chain.
        log2_modulus: f64,
        /// The limit.
        limit: f64,
    },
    /// No digits of key switching that fit leave the margin.
    TooNoisy {
        /// Bits missing.
        bits_short: f64,
    },
    /// No plaintext modulus meets the request here.
    #[serde(untagged)]
    Plain(PlainRefusal),
}

impl Refusal {
    /// Too few primes for a ring: one of a power of two has more.
    pub(crate) fn no_moduli(ring: RingShape) -> Self {
        let works = (2 * ring.degree() as u64).next_power_of_two();
        Self::NoModuli { order: ring.root_order(), works }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFewSlots { slots, wanted } => {
                write!(f, "there are {slots} slots where {wanted} are wanted")
            }
            Self::NotSecure => f.write_str("no modulus is secure enough"),
            Self::Plain(refusal) => refusal.fmt(f),
            Self::NoModuli { order, works } => {
                write!(f, "there are too few primes q = 1 mod {order} for the moduli: m = {works} has enough")
            }
            Self::TooLarge { log2_modulus, limit } => {
                write!(f, "the moduli take {log2_modulus:.0} bits of {limit:.0}")
            }
            Self::TooNoisy { bits_short } => {
                write!(f, "key switching with what room there is leaves {bits_short:.1} bits too little")
            }
        }
    }
}

/// No parameter set meets a request.
#[derive(Clone, Debug, PartialEq, thiserror::Error, Serialize, Deserialize)]
#[error("no parameter set fits: {}; {}", reason(self), remedy(*depth))]
pub struct NothingFits {
    /// The largest ring considered.
    #[serde(flatten)]
    pub ring: RingShape,
    /// Why it was refused.
    pub refusal: Option<Refusal>,
    /// The largest depth that fits, with all else as asked.
    pub depth: Option<u32>,
}

fn reason(error: &NothingFits) -> String {
    error
        .refusal
        .as_ref()
        .map_or_else(|| "there is no candidate".to_owned(), |refusal| format!("at {} {refusal}", error.ring))
}

fn remedy(depth: Option<u32>) -> String {
    depth.map_or_else(
        || {
            "less depth alone does not help: ask for fewer operations, smaller numbers or another ring"
                .to_owned()
        },
        |depth| format!("what would fit: depth {depth}"),
    )
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "depth {}, {}", self.depth, self.plain)?;
        f.write_str(if self.batching { ", batching" } else { ", one number per coefficient" })?;
        let mut operations = |when: &str, operations: &Operations| -> fmt::Result {
            let Operations { additions, rotations, plain_products } = operations;
            let counts = [
                ("additions", *additions),
                ("rotations", *rotations),
                ("plaintext products", (*plain_products).into()),
            ];
            counts
                .into_iter()
                .filter(|(_, count)| *count > 0)
                .try_for_each(|(what, count)| write!(f, ", {count} {what} {when}"))
        };
        operations("before the first multiplication", &self.budget.fresh)?;
        operations("after each multiplication", &self.budget.per_level)?;
        operations("besides after the last one", &self.budget.last)?;
        if self.slots > 1 {
            write!(f, ", at least {} slots", self.slots)?;
        }
        let ring = self.ring_index.map(RingShape::RingIndex).or(self.log2_degree.map(RingShape::Log2Degree));
        if let Some(ring) = ring {
            write!(f, ", {ring}")?;
        }
        if let Some(digits) = self.digits {
            write!(f, ", {digits} digits")?;
        }
        f.write_str(match self.noise {
            NoiseModel::Tail => "",
            NoiseModel::WorstCase => ", by the worst case",
            NoiseModel::Paper => ", by the formulas of the paper",
        })?;
        if let Some(policy) = self.sharing {
            write!(f, ", room for {policy}")?;
        }
        write!(f, ", {} security, {} bits to spare", self.security, self.margin)
    }
}

impl fmt::Display for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "n = {:>6}", self.ring.degree())?;
        if let [first, levels @ .., last] = self.log2_moduli.as_slice() {
            let total: f64 = self.log2_moduli.iter().sum();
            write!(f, "  log2 Q = {total:.1}: q_0 {first:.1}")?;
            if let Some(level) = levels.first() {
                write!(f, ", {} levels of {level:.1}", levels.len())?;
            }
            if *last > 0.0 {
                write!(f, ", {last:.1} for fresh noise")?;
            }
        }
        if self.log2_key_modulus > 0.0 {
            write!(f, ", with special moduli {:.1}", self.log2_key_modulus)?;
        }
        if let Some(limit) = self.limit {
            write!(f, ", limit {limit}")?;
        }
        match &self.verdict {
            Verdict::Chosen => f.write_str("  chosen: the smallest ring that fits"),
            Verdict::Refused(refusal) => write!(f, "  refused: {refusal}"),
        }
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "asked: {}", self.request)?;
        match &self.chosen {
            Some(parameters) => {
                writeln!(f, "chosen:")?;
                writeln!(f, "  ring degree n         {}", parameters.degree())?;
                writeln!(f, "  plaintext modulus     {}", parameters.plain_modulus())?;
                writeln!(f, "  multiplications       {}", parameters.depth())?;
                writeln!(f, "  ciphertext moduli     {}", parameters.moduli().len())?;
                writeln!(
                    f,
                    "  log2 Q, log2 QP       {:.1}, {:.1}",
                    parameters.log2_modulus(),
                    parameters.log2_key_modulus()
                )?;
                writeln!(f, "  key switching         {}", parameters.key_switching())?;
                writeln!(f, "  security              {}", parameters.security())?;
                if let Some(policy) = self.request.sharing {
                    let room = policy.room(parameters.degree());
                    writeln!(f, "  room for sharing      {room:.1} bits at every level, for {policy}")?;
                }
            }
            None => writeln!(f, "chosen: nothing fits")?,
        }
        f.write_str("considered:")?;
        self.candidates.iter().try_for_each(|candidate| write!(f, "\n  {candidate}"))
    }
}
