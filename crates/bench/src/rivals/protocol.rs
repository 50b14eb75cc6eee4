//! What the harness and a rival say to each other: `peers/README.md` describes it for people.

use serde::{Deserialize, Serialize};

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
    /// Do it once and open the result. Answered by [`Outcome`].
    Verify { operation: String },
    /// Do it `calls` times in a row, after an untimed call if `warm`. Answered by [`Taken`].
    Run { operation: String, calls: u32, warm: bool },
    /// Stop. Not answered.
    Quit,
}

/// Parameters and operands.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Preparation {
    /// `bfv` or `ntt`.
    pub(crate) scheme: String,
    /// Ring degree.
    pub(crate) n: usize,
    /// Plaintext modulus; 0 for a transform.
    pub(crate) t: u64,
    /// Ciphertext moduli, or the one modulus of a transform.
    pub(crate) q: Vec<u64>,
    /// Special moduli.
    pub(crate) p: Vec<u64>,
    /// First operand: n slots, or n residues modulo the one modulus.
    pub(crate) left: Vec<u64>,
    /// Second operand.
    pub(crate) right: Vec<u64>,
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
}

/// The n slots that the result of an operation opens to; left·right modulo X^n + 1 for a transform.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Outcome {
    pub(crate) values: Vec<u64>,
}

/// How long all timed calls of a turn took together.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Taken {
    pub(crate) nanoseconds: u64,
}
