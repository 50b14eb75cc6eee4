//! Objects of every kind as files, each with its reader and all operations that take it: for tests of the wire format.

pub mod alloc;
mod crafted;
mod layout;
mod lookups;
pub mod mutation;
mod operate;
mod reencryption;
mod results;
mod sets;
mod specimens;
mod tables;

pub use crafted::{Crafted, crafted};
pub use operate::{Objects, Operate};
pub use results::packed_numbers;
pub use specimens::{Failure, Specimen, parameter_specimens, specimens};

/// Makes all specimens.
///
/// # Errors
/// No error is expected.
pub fn every_specimen() -> Result<Vec<Specimen>, Failure> {
    let mut all = specimens::scheme_specimens()?;
    all.extend(tables::table_specimens()?);
    all.extend(results::results_specimens()?);
    all.extend(reencryption::reencryption_specimens()?);
    all.extend(lookups::lookup_specimens()?);
    all.extend(sets::set_specimens()?);
    Ok(all)
}
