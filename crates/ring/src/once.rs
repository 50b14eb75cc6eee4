//! Tables that are made when they are first needed.

use std::sync::OnceLock;

use crate::RingError;

/// What the cell holds, made if it holds nothing.
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
