//! Guard around the reader of Parquet, which panics on some damaged pages (a width of 64 bits, a length of 0): panics become errors of the file.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

use super::refused;
use crate::TableError;

thread_local! {
    /// Whether this thread reads a file that may be damaged.
    static READS: Cell<bool> = const { Cell::new(false) };
}

/// Calls the reader of Parquet. A panic in it is returned as an error, and not printed on the terminal.
pub(super) fn guarded<T>(name: &str, read: impl FnOnce() -> Result<T, TableError>) -> Result<T, TableError> {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let others = take_hook();
        set_hook(Box::new(move |panic| {
            if !READS.get() {
                others(panic);
            }
        }));
    });
    READS.set(true);
    let result = catch_unwind(AssertUnwindSafe(read));
    READS.set(false);
    result.unwrap_or_else(|_| Err(refused(name)("a page or its header is damaged")))
}
