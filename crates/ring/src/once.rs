//! Tables that are built when they are first needed.

use std::sync::OnceLock;

use crate::RingError;

/// Returns the value in the cell, built first if the cell is empty.
pub fn get_or_try_init<T>(
    cell: &OnceLock<T>,
    make: impl FnOnce() -> Result<T, RingError>,
) -> Result<&T, RingError> {
    match cell.get() {
        Some(value) => Ok(value),
        None => {
            let value = make()?;
            Ok(cell.get_or_init(|| value))
        }
    }
}
