//! What the harness and a rival say to each other: `peers/README.md` describes it for people.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sunzi_ring::{Evaluation, Poly};
use sunzi_rlwe::RlweContext;

use crate::bench::bootstrapping::Facts;
use crate::bench::report::About;
use crate::bench::rivals::circuits::Step;
use crate::bench::{LabError, Result};

/// Version of the protocol.
pub(crate) const VERSION: u32 = 1;

/// A request with the number that its answer must repeat.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Numbered {
    pub(crate) id: u64,
    #[serde(flatten)]
    pub(crate) request: Request,
}

/// What a rival is asked for.
#[derive(Debug, Deserialize, Serialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub(crate) enum Request {
    /// Who are you? Answered by [`Hello`].
    Hello { protocol: u32 },
    /// Make keys and data. Answered by [`Prepared`].
    Prepare(Preparation),
    /// Other operands for the same keys. Answered by [`Replaced`].
    Replace { left: Values },
    /// Do it once and open the result. Answered by [`Outcome`].
    Verify { operation: String },
    /// Run a circuit on the operands and open its last value. Answered by [`Outcome`].
    Circuit { steps: Vec<Step> },
    /// Do it `calls` times in a row, after an untimed call if `warm`. Answered by [`Taken`].
    Run { operation: String, calls: u32, warm: bool },
    /// Stop. Not answered.
    Quit,
}

/// Parameters and operands.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Preparation {
    /// `bfv`, `bgv`, `ckks`, `bootstrapping` or `ntt`.
    pub(crate) scheme: String,
    /// Ring degree.
    pub(crate) n: usize,
    /// Plaintext modulus; 0 where there is none.
    pub(crate) t: u64,
    /// log2 of the scale of CKKS.
    #[serde(default)]
    pub(crate) log_scale: u32,
    /// Ciphertext moduli, or the one modulus of a transform.
    pub(crate) q: Vec<u64>,
    /// How many of them make Q_0 of CKKS; every other one is a level.
    #[serde(default)]
    pub(crate) base: usize,
    /// Special moduli.
    pub(crate) p: Vec<u64>,
    /// A named set of parameters for bootstrapping, instead of moduli.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) set: Option<String>,
    /// First operand: n slots, n residues modulo the one modulus, or n/2 complex slots.
    pub(crate) left: Values,
    /// Second operand.
    pub(crate) right: Values,
}

/// Operands and results.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(untagged)]
pub(crate) enum Values {
    /// Slots modulo t, or residues.
    Words(Vec<u64>),
    /// Complex slots: real and imaginary part in turn.
    Reals(Vec<f64>),
}

/// How far a real part or an imaginary one may be from what it should be, over the largest that should be, or 1.
const TOLERANCE: f64 = 1e-4;

impl Values {
    /// The words; none where there are real numbers.
    pub(crate) fn words(&self) -> Result<&[u64]> {
        match self {
            Self::Words(words) => Ok(words),
            Self::Reals(_) => Err(LabError::request("expected whole numbers, got real ones")),
        }
    }

    /// As real numbers. A list in which no number has a point may have been meant so.
    pub(crate) fn reals(&self) -> Cow<'_, [f64]> {
        match self {
            Self::Words(words) => words.iter().map(|word| *word as f64).collect(),
            Self::Reals(reals) => Cow::Borrowed(reals),
        }
    }

    /// Whether these are the values expected: exactly for words, closely for real numbers.
    pub(crate) fn agree(&self, expected: &Self) -> bool {
        match (self, expected) {
            (Self::Words(got), Self::Words(expected)) => got == expected,
            (got, expected) => {
                let (got, expected) = (got.reals(), expected.reals());
                let largest = expected.iter().fold(1.0, |largest: f64, part| largest.max(part.abs()));
                let close = |(x, y): (&f64, &f64)| (x - y).abs() <= TOLERANCE * largest;
                got.len() == expected.len() && got.iter().zip(expected.iter()).all(close)
            }
        }
    }
}

impl Default for Values {
    fn default() -> Self {
        Self::Words(Vec::new())
    }
}

/// Who a rival is.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Hello {
    pub(crate) protocol: u32,
    pub(crate) library: String,
    pub(crate) version: String,
    /// How it was built and what it uses of the machine.
    pub(crate) features: String,
}

impl About {
    /// Parameters and sizes of ours, from a fresh ciphertext and the bytes of two keys.
    pub(crate) fn ours(
        context: &RlweContext,
        parts: &[Poly<Evaluation>],
        [relinearization_key_bytes, galois_key_bytes]: [usize; 2],
    ) -> Self {
        Self {
            log_q: Some(context.log2_modulus()),
            log_key_modulus: Some(context.log2_key_modulus()),
            security_bits: None,
            secret: Some(context.secrets().to_string()),
            digits: Some(context.gadget().digit_count()),
            ciphertext_bytes: Some(parts.iter().map(|part| part.byte_len()).sum()),
            relinearization_key_bytes: Some(relinearization_key_bytes),
            galois_key_bytes: Some(galois_key_bytes),
        }
    }
}

/// What can now be verified and run.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Prepared {
    pub(crate) operations: Vec<String>,
    /// Why others cannot.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) not_offered: BTreeMap<String, String>,
    /// Parameters and sizes.
    #[serde(default)]
    pub(crate) about: About,
    /// What a named set comes to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) facts: Option<Facts>,
}

/// The operands are replaced.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Replaced {}

/// The slots that the result of an operation opens to; left·right modulo X^n + 1 for a transform.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Outcome {
    pub(crate) values: Values,
}

/// How long all timed calls of a turn took together.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Taken {
    pub(crate) nanoseconds: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_without_a_point_may_be_meant_as_real_ones() {
        let read = |text| serde_json::from_str::<Values>(text).unwrap();
        assert_eq!(read("[18446744073709551615, 0]").words().unwrap(), [u64::MAX, 0]);
        assert!(read("[0.5, 1]").words().is_err());
        assert_eq!(*read("[1, 0]").reals(), [1.0, 0.0]);
        assert!(read("[1, 0]").agree(&Values::Reals(vec![1.0, 1e-5])));
        assert!(!read("[1, 0]").agree(&Values::Reals(vec![1.0, 1e-3])));
        assert!(!read("[1, 0]").agree(&Values::Reals(vec![1.0])));
        assert!(!read("[1.0, -1e3]").agree(&read("[1.0, 1.0]")));
        assert!(read("[3, 4]").agree(&read("[3, 4]")) && !read("[3, 4]").agree(&read("[3, 5]")));
        assert!(!Values::Reals(vec![f64::NAN]).agree(&Values::Reals(vec![0.0])));
    }
}
