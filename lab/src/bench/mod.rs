//! Timings of Sunzi's operations, on their own or beside rivals.
//!
//! Every figure of a benchmark is a median over many short rounds in which the contenders take turns
//! ([`crate::alternate`]); every result that is timed is checked, and a row says whether it was right.

pub mod bootstrapping;
mod bound;
mod check;
pub mod conversion;
pub mod cyclotomic;
pub mod growth;
pub mod intersection;
pub mod isa;
mod job;
pub mod keyswitch;
pub mod matrices;
pub mod matrix_batches;
pub mod model;
pub mod mp;
pub mod multiply;
pub mod nearest;
pub mod ntt;
pub mod operations;
mod options;
mod peer;
pub mod publish;
pub mod report;
pub mod retrieval;
pub mod rivals;
mod shape;
pub mod strategies;
mod stream;
pub(crate) mod tally;
mod values;
pub mod variants;
pub mod wire;

pub use options::Options;

use crate::alternate::{Series, side_by_side, take_turns};
use crate::bench::job::{HOISTED, Job, expected, hoisted_exponents};
use crate::bench::operations::PLAIN_MODULUS;
use crate::bench::options::CHANGE;
use crate::bench::report::Row;
use crate::bench::shape::{Method, Shape, key_switching};
use crate::bench::stream::Stream;
use crate::subjects::keys::Keys;
use crate::threads::on_threads;
use crate::{LabError, Result};
