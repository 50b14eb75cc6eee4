//! A request for BFV parameters: what the user knows of a computation.

use std::fmt;

use serde::{Deserialize, Serialize};
use sunzi_encoding::PlainRequest;
use sunzi_rlwe::explain::write_parts;
use sunzi_rlwe::reencryption::Reencryptions;
use sunzi_rlwe::{RingShape, SecretDistribution, Security, SharingPolicy};

use crate::{Algorithms, BfvError};

/// Method of key switching that the BFV builder may choose, which changes noise, sizes and speed, not results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeySwitching {
    /// Key switching by whatever method is cheapest.
    #[default]
    Automatic,
    /// BV key switching: one digit for each ciphertext modulus and no special moduli `[KPZ21, B.2.1]`.
    Bv,
    /// GHS key switching: one digit, and special moduli as large as the ciphertext modulus `[KPZ21, B.2.2]`.
    Ghs,
    /// Hybrid key switching: this many digits d_num, and special moduli as large as the largest digit `[KPZ21,
    /// B.2.3]`.
    Hybrid(usize),
}

/// A request to the BFV builder; see [`ParametersBuilder`](crate::ParametersBuilder) for each setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// Number of ciphertext multiplications in a row.
    pub depth: usize,
    /// Numbers to compute with, which decide the plaintext modulus.
    pub plain: PlainRequest,
    /// Whether numbers are packed slot by slot.
    pub batching: bool,
    /// log2 of the number of terms summed at each level.
    pub additions: u32,
    /// Number of rotate-and-add steps at each level.
    pub rotations: u32,
    /// Number of plaintext products at each level.
    pub plain_products: usize,
    /// Number of slots that one ciphertext must have.
    pub slots: usize,
    /// Ring degree that was asked for, as log2 n.
    pub log2_degree: Option<u32>,
    /// Ring index m that was asked for, if it is no power of two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ring_index: Option<u64>,
    /// Bits of noise to be left after the last level.
    pub margin: u32,
    /// Policy by which results are shared: room is left for the noise that hides theirs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sharing: Option<SharingPolicy>,
    /// Re-encryptions of a ciphertext in a row, for whose noise room is left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reencryptions: Option<Reencryptions>,
    /// Distribution of secrets: uniform ternary ones of one holder, or joint ones of several parties.
    #[serde(default)]
    pub secrets: SecretDistribution,
    /// Security that parameters must reach.
    pub security: Security,
    /// Algorithms of products, decryption and key switching.
    #[serde(default)]
    pub algorithms: Algorithms,
    /// Method of key switching, unless `algorithms` says more.
    #[serde(default)]
    pub key_switching: KeySwitching,
}

impl Default for Request {
    fn default() -> Self {
        Self {
            depth: 1,
            plain: PlainRequest::Bits(17),
            batching: true,
            additions: 0,
            rotations: 0,
            plain_products: 0,
            slots: 1,
            log2_degree: None,
            ring_index: None,
            margin: 2,
            sharing: None,
            reencryptions: None,
            secrets: SecretDistribution::default(),
            security: Security::Bits128,
            algorithms: Algorithms::default(),
            key_switching: KeySwitching::default(),
        }
    }
}

/// Ring degrees tried unless a ring is given: log2 n.
const LOG2_DEGREES: std::ops::RangeInclusive<u32> = 11..=16;
/// Bound on the depth: no circuit in reach is deeper, and the search stays short.
const MAX_DEPTH: usize = 200;
/// Bound on the counts of operations other than the depth.
const MAX_COUNT: u32 = 100;

impl Request {
    /// Checks each setting of a BFV request by itself.
    pub(crate) fn check(&self) -> Result<(), BfvError> {
        at_most("depth", self.depth, MAX_DEPTH)?;
        at_most("additions", self.additions, MAX_COUNT)?;
        at_most("rotations", self.rotations, MAX_COUNT)?;
        at_most("plain_products", self.plain_products, MAX_COUNT as usize)?;
        at_most("margin", self.margin, MAX_COUNT)?;
        match self.ring() {
            Some(RingShape::Log2Degree(log2_degree)) if !(6..=17).contains(&log2_degree) => {
                return refuse("log2_degree", log2_degree, "it must be 6 to 17".to_owned());
            }
            ring => ring.map_or(Ok(()), RingShape::check)?,
        }
        if self.key_switching == KeySwitching::Hybrid(0) {
            return refuse("hybrid", 0, "there must be at least one digit".to_owned());
        }
        self.reencryptions.as_ref().map_or(Ok(()), Reencryptions::check)?;
        // The degree does not matter for secrets that are not sparse.
        self.secrets.check_dense(1)?;
        Ok(self.plain.check(self.batching && self.ring_index.is_none())?)
    }

    /// Bits of noise that must be left after the last level: the margin, and room for sharing.
    pub(crate) fn bits_needed(&self, degree: usize) -> f64 {
        f64::from(self.margin) + self.sharing_room(degree)
    }

    /// Bits of noise that sharing takes: room for the flooding noise of one holder or of every party.
    pub(crate) fn sharing_room(&self, degree: usize) -> f64 {
        self.sharing.map_or(0.0, |policy| policy.room_of(degree, self.secrets.parties()))
    }

    /// The ring that the request asks for, if it asks for one.
    fn ring(&self) -> Option<RingShape> {
        RingShape::of_names(self.log2_degree, self.ring_index)
    }

    /// The rings that the BFV builder tries.
    pub(crate) fn rings(&self) -> Vec<RingShape> {
        self.ring().map_or_else(|| LOG2_DEGREES.map(RingShape::from).collect(), |ring| vec![ring])
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted = |any: bool, words: String| any.then_some(words);
        let Self { depth, plain, additions, rotations, plain_products, slots, .. } = self;
        let parts = [
            Some(format!("depth {depth}, {plain}")),
            Some(if self.batching { "batching" } else { "one number per coefficient" }.to_owned()),
            counted(*additions > 0, format!("sums of 2^{additions} terms")),
            counted(*rotations > 0, format!("{rotations} rotate-and-add steps a level")),
            counted(*plain_products > 0, format!("{plain_products} plaintext products a level")),
            (*slots > 1).then(|| format!("at least {slots} slots")),
            self.ring().map(|ring| ring.to_string()),
            (self.algorithms != Algorithms::default()).then(|| self.algorithms.to_string()),
            match self.key_switching {
                KeySwitching::Automatic => None,
                KeySwitching::Bv => Some("BV key switching".to_owned()),
                KeySwitching::Ghs => Some("GHS key switching".to_owned()),
                KeySwitching::Hybrid(digits) => Some(format!("hybrid key switching by {digits} digits")),
            },
            (self.secrets.parties() > 1).then(|| self.secrets.to_string()),
            self.sharing.map(|policy| format!("room for {policy}")),
            self.reencryptions.map(|asked| asked.to_string()),
            Some(format!("{} security, {} bits to spare", self.security, self.margin)),
        ];
        write_parts(f, parts)
    }
}

fn at_most<N: PartialOrd + fmt::Display>(what: &'static str, got: N, limit: N) -> Result<(), BfvError> {
    if got <= limit { Ok(()) } else { refuse(what, got, format!("it must be at most {limit}")) }
}

fn refuse(what: &'static str, got: impl ToString, expected: String) -> Result<(), BfvError> {
    Err(BfvError::Request { what, got: got.to_string(), expected })
}
