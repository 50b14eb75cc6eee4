//! Packed tables: columns and groups side by side in one ciphertext, so that sums, counts and sums of products take
//! few rotations.
//!
//! A table is packed for a program: rows stand in segments of one label each, and a ciphertext holds a different column in each of
//! its units, or one column in all of them, so that one product multiplies a column with many others and one set of rotations sums all of it
//! ([`Layout`]). The server learns the number of labels up to a power of two, and an upper bound on the rows of the largest group; the groups'
//! sizes stay encrypted. Programs whose totals are sums over rows, or over the rows of each label of one category, of products of at most two
//! encrypted columns can be packed; a [`Plan`](crate::Plan) is where that costs less ([`Packing`]).
//!
//! ```
//! use sunzi_program::contexts::EncryptionKey;
//! use sunzi_program::packed::{Keys, Packed, Packer, Packing, evaluate};
//! use sunzi_program::results::{Description, ResultsReader, ResultsWriter};
//! use sunzi_program::run::{Answer, Cells, Table};
//! use sunzi_program::{Column, Contexts, Options, Plan, Program, Schema};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let schema = Schema::new(3, vec![Column::integer("x", 0, 9), Column::integer("y", 0, 9)])?;
//! let program = Program::parse("sum(x * y)", &schema)?;
//! let packing = Some(Packing { always: true, ..Packing::default() });
//! let plan = Plan::new(&program, &Options { packing, ..Options::default() })?;
//! let contexts = Contexts::new(&plan.parameters)?;
//! let (keys, codec) = (Keys::generate(&plan, &contexts)?, contexts.codec(&plan.layout)?);
//!
//! // The owner of the table encrypts chunk by chunk, and the server computes.
//! let table = Table::new(&schema, vec![Cells::Units(vec![1, 2, 3]), Cells::Units(vec![4, 5, 6])])?;
//! let packer = Packer::new(&plan, &codec, &table)?;
//! let inputs: Vec<_> = plan.packed().map(Packed::layout).into_iter().flat_map(|own| own.inputs()).collect();
//! let encrypt = |chunk| {
//!     let key = EncryptionKey::Public(&keys.public);
//!     inputs.iter().map(|&input| packer.encrypt(chunk, input, key)).collect()
//! };
//! let sums = evaluate(&plan, &contexts, &keys.evaluation, encrypt, &|| {})?;
//! let mut file = Vec::new();
//! let mut writer = ResultsWriter::new(&contexts, keys.secret.id(), Description::of(&plan)?, &mut file)?;
//! sums.results.into_iter().try_for_each(|sum| writer.put(&Answer::Encrypted(sum)))?;
//!
//! // The key holder reads totals as those of any other table.
//! let mut reader = ResultsReader::open(&contexts, &file[..])?;
//! let nothing = |_, _, _| Ok::<_, Box<dyn std::error::Error>>(());
//! let totals = reader.decrypt(&codec, &keys.secret, nothing)?;
//! let sum = totals.into_values().next().map(|total| total.number.to_f64());
//! assert_eq!(sum, Some(32.0));
//! # Ok(())
//! # }
//! ```

mod choice;
mod form;
mod moments;
mod pack;
mod read;
mod run;
mod server;
mod work;

use serde::{Deserialize, Serialize};
pub use sunzi_circuits::statistics::{Input, Layout};

pub(crate) use choice::{choose, refusal, within};
pub use form::PackedForm;
use moments::Moments;
pub use pack::Packer;
pub(crate) use read::Reader;
pub use run::{Keys, Totals, run};
pub use server::{EncryptedTotals, Phase, evaluate};
pub use work::{Sizes, Work};

use crate::ProgramError;
use crate::analysis::Parameters;

/// Request for a packed table: what is known of the table, and what the packing has to give.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Packing {
    /// Number of rows of the largest group; all rows unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest_group: Option<u64>,
    /// Largest magnitude of any count, sum and sum of products in units of the last decimal; derived from the ranges
    /// of columns unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub largest: Option<u128>,
    /// Whether every total is wanted for each label too, which columns apart give only where the program masks them.
    #[serde(default)]
    pub by_label: bool,
    /// Whether to pack at any cost; programs that cannot be packed are then refused.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub always: bool,
    /// Number of slots of a segment, a power of two; that of the cheapest layout unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub segment: Option<usize>,
}

/// Packing of a plan's table: layout, totals, predicted work and sizes.
#[derive(Clone, Debug)]
pub struct Packed {
    layout: Layout,
    packing: Packing,
    moments: Moments,
    work: Work,
    sizes: Sizes,
}

/// Packed plans are stored as their [`Packing`], from which a plan makes them again.
impl Serialize for Packed {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.packing().serialize(serializer)
    }
}

fn not_ckks() -> ProgramError {
    ProgramError::mismatch("the scheme", "BFV or BGV", "CKKS")
}

impl Packed {
    /// Returns the layout of cells in slots.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Returns the requested packing with the segment that was chosen; a plan of this packing has the same layout.
    #[must_use]
    pub fn packing(&self) -> Packing {
        Packing { segment: Some(self.layout.segment()), ..self.packing.clone() }
    }

    /// Returns the predicted work of all parties.
    #[must_use]
    pub fn work(&self) -> Work {
        self.work
    }

    /// Returns the bytes of keys and ciphertexts.
    #[must_use]
    pub fn sizes(&self) -> Sizes {
        self.sizes
    }

    /// Returns the number of progress calls of a run, over all plaintext moduli: one for each product of each chunk
    /// and for each sum.
    #[must_use]
    pub fn steps(&self, parameters: &Parameters) -> usize {
        self.layout.steps() * parameters.plain_moduli().len()
    }
}
