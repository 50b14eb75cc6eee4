//! Programs in the language of tables for Python: schemas, plans, keys, encrypted tables and results, in the forms of the command line's files.

mod columns;
mod folder;
mod keys;
mod party;
mod plan;
mod results;
mod run;
mod schema;

use sunzi_program::ProgramError;
use sunzi_program::analysis::SchemeChoice;

use crate::error::Failure;
pub(crate) use keys::Held;
pub(crate) use party::TableKeys;
pub(crate) use plan::{TablePlan, TableProgram};
pub(crate) use results::TableResults;
pub(crate) use run::TableBytes;
pub(crate) use schema::TableSchema;

/// Returns the failure for a part that does not belong to another.
fn mismatch(what: &str, expected: impl ToString, got: impl ToString) -> Failure {
    let (expected, got) = (expected.to_string(), got.to_string());
    Failure::new("Mismatch", format!("{what}: expected {expected}, got {got}"))
}

/// Returns the failure for a program that came from the library's side in an impossible form.
fn broken(what: &str) -> Failure {
    ProgramError::Invalid(what.to_owned()).into()
}

/// Returns the name of a scheme.
fn name_of(scheme: SchemeChoice) -> &'static str {
    match scheme {
        SchemeChoice::Bfv => "bfv",
        SchemeChoice::Bgv => "bgv",
        SchemeChoice::Ckks => "ckks",
        SchemeChoice::Integers => "integers",
    }
}
