//! Messages between the harness and a rival: `peers/README.md` describes the protocol for people.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sunzi_math::log2_product;

use crate::bench::bootstrapping::Facts;
use crate::bench::report::About;
use crate::bench::values::{Step, Values};

/// Version of the protocol between harness and rivals.
pub(crate) const VERSION: u32 = 1;

/// A request with the number that its answer must repeat.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Numbered {
    pub(crate) id: u64,
    #[serde(flatten)]
    pub(crate) request: Request,
}

/// A request of the harness to a rival.
#[derive(Debug, Deserialize, Serialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub(crate) enum Request {
    /// Request for the rival's name and version. Answered by [`Hello`].
    Hello { protocol: u32 },
    /// Request to make keys and data. Answered by [`Prepared`].
    Prepare(Preparation),
    /// Request to take another left operand for the same keys. Answered by [`Replaced`].
    Replace { left: Values },
    /// Request to do an operation once and decrypt the result. Answered by [`Outcome`].
    Verify { operation: String },
    /// Request to run a circuit on the operands and decrypt its last value. Answered by [`Outcome`].
    Circuit { steps: Vec<Step> },
    /// Request to do an operation `calls` times in a row, after an untimed call if `warm`. Answered by [`Taken`].
    Run { operation: String, calls: u32, warm: bool },
    /// Request to stop, which is not answered.
    Quit,
}

/// Parameters and operands that a rival is to prepare.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Preparation {
    /// Name of the scheme to prepare: `bfv`, `bgv`, `ckks`, `bootstrapping` or `ntt`.
    pub(crate) scheme: String,
    /// Ring degree n to prepare.
    pub(crate) n: usize,
    /// Plaintext modulus t; 0 where there is none.
    pub(crate) t: u64,
    /// log2 of the scale of CKKS.
    #[serde(default)]
    pub(crate) log_scale: u32,
    /// Ciphertext moduli, or the one modulus of a transform.
    pub(crate) q: Vec<u64>,
    /// Number of ciphertext moduli that make Q_0 of CKKS; every other one is a level.
    #[serde(default)]
    pub(crate) base: usize,
    /// Special moduli of key switching.
    pub(crate) p: Vec<u64>,
    /// Name of a bootstrapping parameter set, instead of moduli.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) set: Option<String>,
    /// Number of parties of the scheme `parties`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) parties: Option<u32>,
    /// log2 of the deviation of the flooding noise of each party, as Sunzi derives it from the noise of a ciphertext.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) flooding_bits: Option<f64>,
    /// log2 of the modulus at which the parties make shares of a decryption.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) open_bits: Option<f64>,
    /// Left operand: n slots, n residues modulo the one modulus, or n/2 complex slots.
    pub(crate) left: Values,
    /// Right operand: n slots, n residues modulo the one modulus, or n/2 complex slots.
    pub(crate) right: Values,
}

impl Preparation {
    /// log2 Q and log2 QP of the moduli to prepare.
    pub(crate) fn log_sizes(&self) -> [f64; 2] {
        let log_q = log2_product(&self.q);
        [log_q, log_q + log2_product(&self.p)]
    }
}

/// A rival's answer with its name and version.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Hello {
    pub(crate) protocol: u32,
    pub(crate) library: String,
    pub(crate) version: String,
    /// How the rival library was built and what it uses of the machine.
    pub(crate) features: String,
}

/// A rival's answer with the operations that can be verified and run.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(crate) struct Prepared {
    pub(crate) operations: Vec<String>,
    /// Operations that the rival does not offer, each with the reason.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) not_offered: BTreeMap<String, String>,
    /// Work of the rival that is not Sunzi's, in operations that are compared all the same.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) differs: BTreeMap<String, String>,
    /// Parameters and sizes of the prepared keys and data.
    #[serde(default)]
    pub(crate) about: About,
    /// Sizes of a named bootstrapping set and its keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) facts: Option<Facts>,
}

/// A rival's answer that its left operand is replaced.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Replaced {}

/// A rival's answer with the slots that an operation's result decrypts to; left·right modulo X^n + 1 for a
/// transform.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Outcome {
    pub(crate) values: Values,
}

/// A rival's answer with the time that all timed calls of a turn took together.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Taken {
    pub(crate) nanoseconds: u64,
}
