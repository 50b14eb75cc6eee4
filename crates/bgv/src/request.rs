//! A request for BGV parameters: what the user knows of a computation.

use std::fmt;

use serde::{Deserialize, Serialize};
use sunzi_encoding::PlainRequest;
use sunzi_rlwe::explain::write_parts;
use sunzi_rlwe::reencryption::Reencryptions;
use sunzi_rlwe::{RingShape, SecretDistribution, Security, SharingPolicy};

use crate::budget::{Budget, Operations};
use crate::error::BgvError;

/// Noise bounds by which the BGV builder chooses moduli.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoiseModel {
    /// Noise bounds that ciphertexts carry, exceeded with probability 2^-128.
    #[default]
    Tail,
    /// Worst-case noise bounds alone: larger moduli, and no probability of failure.
    WorstCase,
    /// Noise by eqs. (13) and (14) of `[KPZ21]` with its δ = 2√n, to reproduce the paper. What the bounds of
    /// ciphertexts do not support is refused all the same.
    Paper,
}

/// A request to the BGV builder; see [`ParametersBuilder`](crate::ParametersBuilder) for each setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// Number of ciphertext multiplications in a row.
    pub depth: usize,
    /// Numbers to compute with, which decide the plaintext modulus.
    pub plain: PlainRequest,
    /// Whether numbers are packed slot by slot.
    pub batching: bool,
    /// Operations between multiplications.
    pub budget: Budget,
    /// Number of slots that one ciphertext must have.
    pub slots: usize,
    /// Ring degree that was asked for, as log2 n.
    pub log2_degree: Option<u32>,
    /// Ring index m that was asked for, if it is no power of two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ring_index: Option<u64>,
    /// Whether the moduli of products follow the noise of their operands.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dynamic: bool,
    /// Whether small moduli of several levels may share a word.
    pub shared_moduli: bool,
    /// Number of digits d_num that was asked for.
    pub digits: Option<usize>,
    /// Bits of noise to be left at every level.
    pub margin: u32,
    /// Policy by which results are shared: room is left for the noise that hides theirs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sharing: Option<SharingPolicy>,
    /// Re-encryptions of a result in a row, for whose noise room is left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reencryptions: Option<Reencryptions>,
    /// Distribution of secrets: uniform ternary ones of one holder, or joint ones of several parties.
    #[serde(default)]
    pub secrets: SecretDistribution,
    /// Security that parameters must reach.
    pub security: Security,
    /// Noise bounds by which moduli are chosen.
    pub noise: NoiseModel,
}

impl Default for Request {
    fn default() -> Self {
        Self {
            depth: 1,
            plain: PlainRequest::Bits(17),
            batching: true,
            budget: Budget::default(),
            slots: 1,
            log2_degree: None,
            ring_index: None,
            dynamic: false,
            shared_moduli: true,
            digits: None,
            margin: 1,
            sharing: None,
            reencryptions: None,
            secrets: SecretDistribution::default(),
            security: Security::Bits128,
            noise: NoiseModel::default(),
        }
    }
}

/// Ring degrees tried unless a ring is given: log2 n.
const LOG2_DEGREES: std::ops::RangeInclusive<u32> = 11..=16;
/// Bound on the depth: no circuit in reach is deeper, and the search stays short.
const MAX_DEPTH: usize = 100;
/// Bound on the counts of operations other than the depth.
const MAX_COUNT: u32 = 100;

impl Request {
    /// Checks each setting of a BGV request by itself.
    pub(crate) fn check(&self) -> Result<(), BgvError> {
        at_most("depth", self.depth, MAX_DEPTH)?;
        at_most("margin", self.margin, MAX_COUNT)?;
        at_most("fresh_plain_products", self.budget.fresh.plain_products, MAX_COUNT as usize)?;
        at_most("plain_products_per_level", self.budget.per_level.plain_products, MAX_COUNT as usize)?;
        at_most("last_plain_products", self.budget.last.plain_products, MAX_COUNT as usize)?;
        if self.sharing.is_some() && self.noise == NoiseModel::Paper {
            return refuse("sharing", "the bounds of the paper", "those of ciphertexts must be taken");
        }
        if self.reencryptions.is_some() && self.noise == NoiseModel::Paper {
            return refuse("reencryptions", "the bounds of the paper", "those of ciphertexts must be taken");
        }
        self.reencryptions.as_ref().map_or(Ok(()), Reencryptions::check)?;
        if self.dynamic && self.noise == NoiseModel::Paper {
            return refuse(
                "dynamic_switching",
                "the bounds of the paper",
                "those of ciphertexts must be taken",
            );
        }
        if self.digits == Some(0) {
            return refuse("digits", 0, "it must be at least 1");
        }
        if self.secrets.parties() > 1 && self.noise == NoiseModel::Paper {
            return refuse("parties", "the bounds of the paper", "those of ciphertexts must be taken");
        }
        // The degree does not matter for secrets that are not sparse.
        self.secrets.check_dense(1)?;
        match self.ring() {
            Some(RingShape::Log2Degree(log2_degree)) if !(6..=17).contains(&log2_degree) => {
                return refuse("log2_degree", log2_degree, "it must be 6 to 17");
            }
            ring => ring.map_or(Ok(()), RingShape::check)?,
        }
        Ok(self.plain.check(self.batching && self.ring_index.is_none())?)
    }

    /// Bits of noise that must be left at every level: the margin, and room for sharing.
    pub(crate) fn bits_needed(&self, degree: usize) -> f64 {
        f64::from(self.margin)
            + self.sharing.map_or(0.0, |policy| policy.room_of(degree, self.secrets.parties()))
    }

    /// The ring that the request asks for, if it asks for one.
    fn ring(&self) -> Option<RingShape> {
        RingShape::of_names(self.log2_degree, self.ring_index)
    }

    /// The rings that the BGV builder tries.
    pub(crate) fn rings(&self) -> Vec<RingShape> {
        self.ring().map_or_else(|| LOG2_DEGREES.map(RingShape::from).collect(), |ring| vec![ring])
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { depth, plain, slots, budget: Budget { fresh, per_level, last }, .. } = self;
        let operations = [
            ("before the first multiplication", fresh),
            ("after each multiplication", per_level),
            ("besides after the last one", last),
        ];
        let first = [
            format!("depth {depth}, {plain}"),
            if self.batching { "batching" } else { "one number per coefficient" }.to_owned(),
        ];
        let last = [
            (*slots > 1).then(|| format!("at least {slots} slots")),
            self.ring().map(|ring| ring.to_string()),
            self.digits.map(|digits| format!("{digits} digits")),
            self.dynamic.then(|| "dynamic switching".to_owned()),
            match self.noise {
                NoiseModel::Tail => None,
                NoiseModel::WorstCase => Some("by the worst case".to_owned()),
                NoiseModel::Paper => Some("by the formulas of the paper".to_owned()),
            },
            (self.secrets.parties() > 1).then(|| self.secrets.to_string()),
            self.sharing.map(|policy| format!("room for {policy}")),
            self.reencryptions.map(|asked| asked.to_string()),
            Some(format!("{} security, {} bits to spare", self.security, self.margin)),
        ];
        let operations = operations.into_iter().flat_map(|(when, operations)| counted(operations, when));
        write_parts(f, first.map(Some).into_iter().chain(operations).chain(last))
    }
}

/// Writes declared counts of operations as text, with a word for when they happen.
fn counted(operations: &Operations, when: &str) -> [Option<String>; 3] {
    let Operations { additions, rotations, plain_products } = *operations;
    let counts =
        [(additions, "additions"), (rotations, "rotations"), (plain_products as u64, "plaintext products")];
    counts.map(|(count, what)| (count > 0).then(|| format!("{count} {what} {when}")))
}

fn at_most<N: PartialOrd + fmt::Display>(what: &'static str, got: N, limit: N) -> Result<(), BgvError> {
    if got <= limit { Ok(()) } else { refuse(what, got, &format!("it must be at most {limit}")) }
}

fn refuse(what: &'static str, got: impl ToString, expected: &str) -> Result<(), BgvError> {
    Err(BgvError::Request { what, got: got.to_string(), expected: expected.to_owned() })
}
