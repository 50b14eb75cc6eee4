//! What the user knows of the computation.

use serde::{Deserialize, Serialize};
use sunzi_encoding::PlainRequest;
use sunzi_rlwe::{RingShape, Security, SharingPolicy};

use super::KeySwitching;
use crate::{Algorithms, BfvError};

/// A request to the parameter builder; see [`ParametersBuilder`](crate::ParametersBuilder) for each setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// Multiplications of ciphertexts in a row.
    pub depth: u32,
    /// The numbers to compute with.
    pub plain: PlainRequest,
    /// Whether numbers are packed slot by slot.
    pub batching: bool,
    /// log2 of the terms summed at each level.
    pub additions: u32,
    /// Rotate-and-add steps at each level.
    pub rotations: u32,
    /// Plaintext products at each level.
    pub plain_products: u32,
    /// Numbers that one ciphertext must hold.
    pub slots: usize,
    /// The ring degree, if it is given: log2 n.
    pub log2_degree: Option<u32>,
    /// The ring index m, if it is given and no power of two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ring_index: Option<u64>,
    /// Bits of noise to be left in the end.
    pub margin: u32,
    /// What is shared of results: room is left for what hides their noise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sharing: Option<SharingPolicy>,
    /// The security to reach.
    pub security: Security,
    /// The algorithms to use.
    #[serde(default)]
    pub algorithms: Algorithms,
    /// The key switching to choose from, unless `algorithms` says more.
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
            security: Security::Bits128,
            algorithms: Algorithms::default(),
            key_switching: KeySwitching::default(),
        }
    }
}

/// Ring degrees tried unless a ring is given: log2 n.
const LOG2_DEGREES: std::ops::RangeInclusive<u32> = 11..=16;
/// No circuit in reach is deeper, and a bound keeps the search short.
const MAX_DEPTH: u32 = 200;
/// Bound on the other counts.
const MAX_COUNT: u32 = 100;

impl Request {
    /// Checks each setting by itself.
    pub(super) fn check(&self) -> Result<(), BfvError> {
        at_most("depth", self.depth, MAX_DEPTH)?;
        at_most("additions", self.additions, MAX_COUNT)?;
        at_most("rotations", self.rotations, MAX_COUNT)?;
        at_most("plain_products", self.plain_products, MAX_COUNT)?;
        at_most("margin", self.margin, MAX_COUNT)?;
        match self.log2_degree {
            Some(log2_degree) if !(6..=17).contains(&log2_degree) => {
                refuse("log2_degree", log2_degree, "it must be 6 to 17".to_owned())
            }
            _ => {
                self.ring_index.map_or(Ok(()), |m| RingShape::RingIndex(m).check())?;
                self.check_key_switching()
            }
        }
    }

    /// Bits that must be left after the last level in n coefficients: the margin, and room for sharing.
    pub(crate) fn bits_needed(&self, degree: usize) -> f64 {
        f64::from(self.margin) + self.sharing.map_or(0.0, |policy| policy.room(degree))
    }

    /// The rings to try.
    pub(super) fn rings(&self) -> Vec<RingShape> {
        match (self.ring_index, self.log2_degree) {
            (Some(m), _) => vec![RingShape::RingIndex(m)],
            (None, Some(log2_degree)) => vec![log2_degree.into()],
            (None, None) => LOG2_DEGREES.map(RingShape::from).collect(),
        }
    }

    fn check_key_switching(&self) -> Result<(), BfvError> {
        match self.key_switching {
            KeySwitching::Hybrid(0) => refuse("hybrid", 0, "there must be at least one digit".to_owned()),
            _ => Ok(self.plain.check(self.batching && self.ring_index.is_none())?),
        }
    }
}

fn at_most(what: &'static str, got: u32, limit: u32) -> Result<(), BfvError> {
    if got <= limit { Ok(()) } else { refuse(what, got, format!("it must be at most {limit}")) }
}

fn refuse(what: &'static str, got: impl ToString, expected: String) -> Result<(), BfvError> {
    Err(BfvError::Request { what, got: got.to_string(), expected })
}
