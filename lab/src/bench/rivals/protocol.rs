//! What the harness and a rival say to each other: `peers/README.md` describes it for people.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::bench::bootstrapping::Facts;
use crate::bench::report::About;
use crate::bench::values::{Step, Values};

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

/// Who a rival is.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Hello {
    pub(crate) protocol: u32,
    pub(crate) library: String,
    pub(crate) version: String,
    /// How it was built and what it uses of the machine.
    pub(crate) features: String,
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
