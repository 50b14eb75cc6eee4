//! Programs in the language of tables for Python: schemas, plans, keys, encrypted tables and results, in the forms of the command line's files.

mod columns;
mod folder;
mod party;
mod plan;
mod results;
mod run;
mod schema;

use sunzi_program::analysis::SchemeChoice;

pub(crate) use party::TableKeys;
pub(crate) use plan::{TablePlan, TableProgram};
pub(crate) use results::TableResults;
pub(crate) use run::TableBytes;
pub(crate) use schema::TableSchema;

/// Returns the name of a scheme.
fn name_of(scheme: SchemeChoice) -> &'static str {
    match scheme {
        SchemeChoice::Bfv => "bfv",
        SchemeChoice::Bgv => "bgv",
        SchemeChoice::Ckks => "ckks",
        SchemeChoice::Integers => "integers",
    }
}
