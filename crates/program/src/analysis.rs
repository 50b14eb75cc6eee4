//! Analysis of a program before it runs: ranges, depth, scheme, parameters, keys, bytes.

mod approximate;
mod choice;
mod demand;
mod facts;
mod memory;
mod parameters;
mod room;
mod rounding;
mod timing;
mod within;

use std::fmt;

use serde::{Deserialize, Serialize};
use sunzi_circuits::Rotation;
use sunzi_encoding::doubling_steps;
use sunzi_rlwe::{Security, SharingPolicy, memory as machine};

pub use approximate::REAL_GAP;
pub(crate) use approximate::{Action, Lowered, Step, exp2, integral, stored_exponent};
pub(crate) use choice::{bgv_of, plain_moduli};
pub use facts::{Exact, Facts};
pub(crate) use facts::{facts, linear_units, of_graph as facts_of, polynomial_units};
pub(crate) use memory::packed_bytes;
pub(crate) use parameters::MULTIPLICATION;
pub use parameters::{Parameters, SchemeChoice};
pub use timing::Timing;

use crate::packed::{Packed, Packing};
use crate::{Program, ProgramError, packed};

/// Reason why a program does not fit, and its most costly expression.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("the program cannot be computed: {reason}; the costliest expression is {expression}")]
pub struct Refusal {
    /// Reason, and what would help.
    pub reason: String,
    /// Most costly expression.
    pub expression: String,
}

/// Layout of rows in slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    /// Number of rows of the table.
    pub rows: usize,
    /// Number of slots that a chunk fills, a power of two: sums go over them.
    pub span: usize,
    /// Number of chunks: ciphertexts of each column.
    pub chunks: usize,
}

impl Layout {
    /// Makes the layout of `rows` rows in as many chunks as ciphertexts of `slots` slots, a power of two, require.
    #[must_use]
    pub fn new(rows: usize, slots: usize) -> Self {
        let span = rows.max(1).checked_next_power_of_two().unwrap_or(slots).min(slots);
        Self { rows, span, chunks: rows.max(1).div_ceil(span.max(1)) }
    }

    /// Makes the layout of rows in `parts` parts that share no chunk: with as many chunks as these may take.
    #[must_use]
    pub fn of_parts(rows: usize, slots: usize, parts: usize) -> Self {
        let whole = Self::new(rows, slots);
        let beside = parts.max(1).saturating_mul(whole.span - 1);
        Self { chunks: rows.saturating_add(beside).div_euclid(whole.span).clamp(1, rows.max(1)), ..whole }
    }

    /// Number of rows of a chunk; all chunks before the last are full.
    #[must_use]
    pub fn rows_of(&self, chunk: usize) -> usize {
        self.rows.saturating_sub(chunk.saturating_mul(self.span)).min(self.span)
    }

    /// Whether chunks with these numbers of rows fit the layout.
    pub(crate) fn is_filled(&self, rows: &[usize]) -> bool {
        let sum = rows.iter().try_fold(0_usize, |sum, rows| sum.checked_add(*rows));
        let empty = self.rows == 0 && rows == [0];
        let each = empty || rows.iter().all(|rows| (1..=self.span).contains(rows));
        rows.len() == self.chunks && sum == Some(self.rows) && each
    }

    /// Checks that tables of `rows` rows can have this layout in ciphertexts of `slots` slots.
    pub(crate) fn check(&self, rows: u64, slots: usize) -> Result<(), ProgramError> {
        let Self { rows: own, span, chunks } = *self;
        let mismatch = |what, expected: String, got: usize| Err(ProgramError::mismatch(what, expected, got));
        if own as u64 != rows {
            return mismatch("rows", format!("the {rows} of the table"), own);
        }
        if !span.is_power_of_two() || span > slots {
            return mismatch("rows of a full chunk", format!("a power of two up to {slots}"), span);
        }
        if chunks < own.div_ceil(span).max(1) || chunks > own.max(1) {
            return mismatch("chunks", format!("{} to {own}", own.div_ceil(span)), chunks);
        }
        Ok(())
    }

    /// Number of slots that belong to no row.
    #[must_use]
    pub fn padding(&self) -> usize {
        (self.chunks * self.span).saturating_sub(self.rows)
    }

    /// Steps of the rotations that a sum adds to itself, in one row of slots.
    pub(crate) fn steps(&self) -> impl Iterator<Item = i64> {
        doubling_steps(1, self.span).map(|step| step as i64)
    }
}

/// Options of an analysis.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// Scheme of the plan; the cheapest that can compute the program unless set.
    pub scheme: Option<SchemeChoice>,
    /// CKKS: number of bits of every intermediate number that are right, counted from the end of its range; 16 unless set.
    pub precision: u32,
    /// Security level to reach.
    pub security: Security,
    /// Ring degree to use, as log2 n.
    pub log2_degree: Option<u32>,
    /// Number of parts of the table that share no chunk: the labels of a category that partitions it, 1 if there is none.
    #[serde(default = "one_part")]
    pub parts: usize,
    /// Policy under which results are shared: there is room for hiding noise, and in CKKS the precision is that with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sharing: Option<SharingPolicy>,
    /// The table is at hand and may be packed for this program, where that costs less: [`Plan::packed`] says whether it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packing: Option<Packing>,
}

fn one_part() -> usize {
    1
}

impl Default for Options {
    fn default() -> Self {
        let security = Security::Bits128;
        Self {
            scheme: None,
            precision: 16,
            security,
            log2_degree: None,
            parts: 1,
            sharing: None,
            packing: None,
        }
    }
}

/// A program with its scheme, parameters and layout; both sides make equal plans of equal programs and options.
///
/// Plans are stored as JSON: program, parameters, layout and precision are read, and all other fields are recomputed.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "Made")]
pub struct Plan {
    /// Program of the plan.
    pub program: Program,
    /// Scheme and parameters.
    pub parameters: Parameters,
    /// Layout of rows in slots.
    pub layout: Layout,
    /// Rotations that need keys.
    #[serde(serialize_with = "in_words")]
    pub rotations: Vec<Rotation>,
    /// Highest level of the ring at which ciphertexts are rotated, as its number of moduli where levels are prefixes: keys need no more.
    pub rotation_limbs: usize,
    /// Number of levels, or multiplicative depth.
    pub depth: usize,
    /// Number of bytes of evaluation keys in memory.
    pub key_bytes: u64,
    /// Number of bytes of one fresh ciphertext in memory, over all plaintext moduli.
    pub ciphertext_bytes: u64,
    /// Number of bytes that a run takes at most, approximately.
    pub memory_bytes: u64,
    /// CKKS: requested precision in bits; 0 for exact schemes.
    pub precision: u32,
    /// Number of ciphertexts of inputs, over all chunks.
    pub inputs: usize,
    /// Reasons for the choice, a sentence each.
    pub reasons: Vec<String>,
    #[serde(skip)]
    pub(crate) lowered: Option<Lowered>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) packed: Option<Packed>,
}

impl Plan {
    /// Analyses a program.
    ///
    /// # Errors
    /// [`ProgramError::Refused`], with the reason and the costliest expression.
    pub fn new(program: &Program, options: &Options) -> Result<Self, ProgramError> {
        let plan = choice::choose(program, options)?;
        if plan.packed.is_none() && options.packing.as_ref().is_some_and(|packing| packing.always) {
            return Err(packed::refusal(program, options).into());
        }
        Ok(plan.with_precision(options.precision))
    }

    /// How its table is packed; none where every column has ciphertexts of its own.
    #[must_use]
    pub fn packed(&self) -> Option<&Packed> {
        self.packed.as_ref()
    }

    /// Analyses a program for given parameters, and for CKKS a precision as in [`Options`].
    ///
    /// # Errors
    /// Every error of [`new`](Self::new).
    pub fn within(program: &Program, parameters: &Parameters, precision: u32) -> Result<Self, ProgramError> {
        let layout = Layout::new(program.schema().rows as usize, parameters.slots());
        Self::for_layout(program, parameters, layout, precision)
    }

    /// Analyses a program for a table whose chunks need not be full: one that was partitioned by a category, or of which some chunks were left out.
    ///
    /// # Errors
    /// Every error of [`new`](Self::new); [`ProgramError::Mismatch`] for a layout that such a table cannot have.
    pub fn for_layout(
        program: &Program,
        parameters: &Parameters,
        layout: Layout,
        precision: u32,
    ) -> Result<Self, ProgramError> {
        layout.check(program.schema().rows, parameters.slots())?;
        let precision = clamped(precision);
        Ok(within::within(program, parameters, layout, precision)?.with_precision(precision))
    }

    /// Number of bytes that a run takes at most, with the tables of its contexts, approximately.
    #[must_use]
    pub fn needed_bytes(&self) -> u64 {
        self.memory_bytes.saturating_add(self.parameters.table_bytes())
    }

    /// Checks that the machine has the memory that a run takes besides the tables of its contexts, which exist then.
    ///
    /// # Errors
    /// [`ProgramError::Memory`] if it has less.
    pub fn check_memory(&self) -> Result<(), ProgramError> {
        machine::require(self.memory_bytes).map_err(ProgramError::Memory)
    }

    /// Number of bytes in memory of all ciphertexts that the plan reads.
    #[must_use]
    pub fn table_bytes(&self) -> u64 {
        let moduli = self.parameters.plain_moduli().len().max(1) as u64;
        (self.inputs as u64).saturating_mul(self.ciphertext_bytes / moduli)
    }

    /// CKKS: number of bits of every intermediate number that are right, counted from the end of its range, as far as parameters determine it.
    #[must_use]
    pub fn precision_bits(&self) -> Option<f64> {
        if let Parameters::Ckks(parameters) = &self.parameters {
            parameters.predicted_precision().ok()
        } else {
            None
        }
    }

    fn with_precision(self, precision: u32) -> Self {
        let precision = if self.lowered.is_some() { clamped(precision) } else { 0 };
        Self { precision, ..self }
    }
}

fn in_words<S: serde::Serializer>(rotations: &[Rotation], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(rotations.iter().map(ToString::to_string))
}

/// Limits the number of bits requested of intermediate numbers.
fn clamped(precision: u32) -> u32 {
    precision.clamp(4, 30)
}

/// Inputs of a plan, from which it is made again.
#[derive(Deserialize)]
struct Made {
    program: Program,
    parameters: Parameters,
    layout: Layout,
    precision: u32,
    packed: Option<Packing>,
}

impl TryFrom<Made> for Plan {
    type Error = ProgramError;

    fn try_from(made: Made) -> Result<Self, ProgramError> {
        if let Some(packing) = &made.packed {
            return Self::within_packed(&made.program, &made.parameters, packing);
        }
        Self::for_layout(&made.program, &made.parameters, made.layout, made.precision)
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
        writeln!(f, "memory        about {} bytes", self.memory_bytes)?;
        writeln!(f, "tables        about {} bytes", self.parameters.table_bytes())?;
        if let Some(left) = machine::available().filter(|&left| left < self.needed_bytes()) {
            writeln!(f, "warning       this machine has {left} bytes left, less than a run takes")?;
        }
        writeln!(f, "inputs        {} ciphertexts of {} bytes", self.inputs, self.ciphertext_bytes)?;
        self.reasons.iter().try_for_each(|reason| writeln!(f, "because       {reason}"))
    }
}
