//! The tables and figures of the papers Sunzi implements, computed or timed again, each value beside the
//! printed one.
//!
//! ```
//! use lab::repro::behz::{Options, Part};
//! use lab::repro::report::Verdict;
//! use lab::repro::{Paper, run};
//!
//! let options = Options { parts: vec![Part::Table3], ..Options::quick() };
//! let report = run(&options, &mut |_, _, _| {})?;
//! assert!(report.tables[0].rows.iter().all(|row| row.verdict() == Some(Verdict::Equal)));
//! # Ok::<(), lab::LabError>(())
//! ```

pub mod akimoto;
pub mod bajard;
pub mod behz;
#[cfg(test)]
mod checks;
pub mod kpz;
mod noise;
mod parts;
mod printed;
pub mod report;
mod run;
mod slower;
pub mod takeshita;
mod value;
mod verdict;

pub use parts::Part;
pub use run::{Paper, Run, Tell, run};

use crate::alternate::{Budget, Series, Timed, alternate_timed, timed, upper_median};
use crate::report::{Figure, Machine, NOT_PRINTED, Panel};
use crate::repro::parts::parts;
use crate::repro::printed::{lines, number, numbers};
use crate::repro::report::{Row, Rule, Table, Value};
use crate::repro::run::Progress;
use crate::subjects::keys::Keys;
use crate::subjects::party::{Known, Party, research};
use crate::subjects::plaintexts;
use crate::threads::on_threads;
use crate::{LabError, Result};
