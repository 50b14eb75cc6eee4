//! Errors are those of rings.

use std::fmt;

use sunzi_ring::RingError;

pub(crate) fn out_of_range(
    what: &'static str,
    expected: impl fmt::Display,
    got: impl fmt::Display,
) -> RingError {
    RingError::OutOfRange { what, expected: expected.to_string(), got: got.to_string() }
}

pub(crate) fn check_length(what: &'static str, expected: usize, got: usize) -> Result<(), RingError> {
    if expected == got { Ok(()) } else { Err(RingError::LengthMismatch { what, expected, got }) }
}
