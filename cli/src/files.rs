//! Files with objects of Sunzi: `sunzi keygen`, `sunzi inspect` and `sunzi check`.

pub(crate) mod check;
pub(crate) mod inspect;
pub(crate) mod keygen;
pub(crate) mod stored;

use std::path::Path;

use sunzi::rlwe::wire::{Fault, WireError};

use crate::error::{CliError, quoted};

/// What went wrong with a file, by whose fault.
fn refuse(path: &Path, error: WireError) -> CliError {
    let message = format!("{}: {error}", quoted(&path.display().to_string()));
    match error.fault() {
        Fault::System | Fault::Object => CliError::input(message),
        Fault::Mismatch => CliError::mismatch(message),
        Fault::Damage => CliError::damaged(message),
    }
}
