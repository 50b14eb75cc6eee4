//! `sunzi intersect`: which of a client's items a secret table has, with their rows.

mod build;
#[cfg(feature = "serve")]
mod query;
#[cfg(feature = "serve")]
mod serve;

use crate::args::intersect::{IntersectArgs, IntersectCommand};
use crate::error::CliError;

/// File name of the items in the folder of a set, which are for the server alone.
const SET: &str = "set.sz";

/// Runs a command of intersections.
pub(crate) fn run(args: &IntersectArgs) -> Result<(), CliError> {
    match &args.command {
        IntersectCommand::Build(args) => build::run(args),
        #[cfg(feature = "serve")]
        IntersectCommand::Serve(args) => serve::run(args),
        #[cfg(feature = "serve")]
        IntersectCommand::Query(args) => query::run(args),
    }
}
