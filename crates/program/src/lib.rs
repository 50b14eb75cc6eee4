//! Programs: encrypted computations as data.
//!
//! A [`Program`] says what is computed from the columns of a table: a small expression graph, and the formulas that
//! the key holder evaluates on decrypted totals. It is written in a small language ([`parse`]) or built node by node
//! ([`Graph`]), is stored as JSON, and knows no scheme. A [`Plan`] chooses scheme, parameters and keys before
//! anything runs, and [`run`] computes.
#![forbid(unsafe_code)]

pub mod analysis;
mod bands;
pub mod contexts;
mod decimal;
mod enclosure;
mod error;
mod estimate;
mod formula;
mod function;
pub mod graph;
pub mod language;
mod number;
pub mod packed;
pub mod parse;
mod program;
pub mod results;
pub mod run;
pub mod schema;
pub mod sharing;
pub mod tape;

pub use analysis::{Options, Plan, Timing};
pub use contexts::{Agreed, Contexts};
pub use decimal::{Decimal, DecimalError, MAX_DECIMALS};
pub use enclosure::Undefined;
pub use error::ProgramError;
pub use formula::Formula;
pub use function::Function;
pub use graph::{Graph, Node, NodeId};
pub use number::{Number, nearest};
pub use parse::ParseError;
pub use program::{Group, Opened, Output, OutputValue, Program};
pub use schema::{Column, Kind, Schema};
pub use sharing::Sharing;
