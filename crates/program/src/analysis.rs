//! What a program needs, before anything runs: ranges, depth, scheme, parameters, keys, bytes.

mod approximate;
mod choice;
mod facts;

use std::fmt;

use serde::{Deserialize, Serialize};
use sunzi_circuits::Rotation;
use sunzi_encoding::doubling_steps;
use sunzi_rlwe::Security;

pub use approximate::REAL_GAP;
pub(crate) use approximate::{Action, Lowered, Step, exp2, integral};
pub use choice::{Parameters, SchemeChoice};
pub use facts::{Exact, Facts};
pub(crate) use facts::{facts, linear_units, polynomial_units};

use crate::{Program, ProgramError};

/// Why a program does not fit, and which expression costs most.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("the program cannot be computed: {reason}; the costliest expression is {expression}")]
pub struct Refusal {
    /// Why, and what would help.
    pub reason: String,
    /// The expression.
    pub expression: String,
}

/// Where rows stand in slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    /// Rows of the table.
    pub rows: usize,
    /// Slots that a chunk fills, a power of two: sums go over them.
    pub span: usize,
    /// Chunks: ciphertexts of each column.
    pub chunks: usize,
}

impl Layout {
    /// Rows in as many chunks as ciphertexts of `slots` slots, a power of two, ask for.
    #[must_use]
    pub fn new(rows: usize, slots: usize) -> Self {
        let span = rows.max(1).checked_next_power_of_two().unwrap_or(slots).min(slots);
        Self { rows, span, chunks: rows.max(1).div_ceil(span.max(1)) }
    }

    /// Slots that belong to no row.
    #[must_use]
    pub fn padding(&self) -> usize {
        (self.chunks * self.span).saturating_sub(self.rows)
    }

    /// By how much sums are rotated and added to themselves, in one row of slots.
    pub(crate) fn steps(&self) -> impl Iterator<Item = i64> {
        doubling_steps(1, self.span).map(|step| step as i64)
    }
}

/// What may be asked of an analysis.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// The scheme; the cheapest that can compute the program unless set.
    pub scheme: Option<SchemeChoice>,
    /// CKKS: bits of every intermediate number that are right, counted from the end of its range; 16 unless set.
    pub precision: u32,
    /// The security to reach.
    pub security: Security,
    /// Exactly this ring degree, as log2 n.
    pub log2_degree: Option<u32>,
}

impl Default for Options {
    fn default() -> Self {
        Self { scheme: None, precision: 16, security: Security::Bits128, log2_degree: None }
    }
}

/// A program with all that is needed to run it; both sides make the same plan of the same program and options.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The program.
    pub program: Program,
    /// Scheme and parameters.
    pub parameters: Parameters,
    /// Where rows stand.
    pub layout: Layout,
    /// Rotations to make keys for.
    pub rotations: Vec<Rotation>,
    /// Levels, or products in a row.
    pub depth: usize,
    /// Bytes of evaluation keys in memory.
    pub key_bytes: u64,
    /// Bytes of one fresh ciphertext in memory, over all plaintext moduli.
    pub ciphertext_bytes: u64,
    /// Ciphertexts of inputs, over all chunks.
    pub inputs: usize,
    /// Why it was chosen so, a sentence each.
    pub reasons: Vec<String>,
    pub(crate) lowered: Option<Lowered>,
}

impl Plan {
    /// Analyses a program.
    ///
    /// # Errors
    /// [`ProgramError::Refused`], with the reason and the costliest expression.
    pub fn new(program: &Program, options: &Options) -> Result<Self, ProgramError> {
        Ok(choice::choose(program, options)?)
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Layout { rows, span, chunks } = self.layout;
        writeln!(f, "scheme        {}, n = {}", self.parameters.name(), self.parameters.degree())?;
        writeln!(f, "rows          {rows} in {chunks} chunk(s) of {span} slots")?;
        writeln!(f, "depth         {}", self.depth)?;
        writeln!(f, "rotations     {}", self.rotations.len())?;
        writeln!(f, "keys          {} bytes", self.key_bytes)?;
        writeln!(f, "inputs        {} ciphertexts of {} bytes", self.inputs, self.ciphertext_bytes)?;
        self.reasons.iter().try_for_each(|reason| writeln!(f, "because       {reason}"))
    }
}
