//! Lengths of encrypted integers: arrays of as many ciphertexts as the range of a column takes digits.

use sunzi_program::contexts::digits_of;
use sunzi_program::schema::Kind;
use sunzi_program::{Column, ProgramError, Schema};
use sunzi_rlwe::wire::{CHECKSUM_LEN, HEADER_LEN};

use crate::Input;

/// Number of bytes of an array of ciphertexts besides these: its header and their count.
const ARRAY_LEN: u64 = (HEADER_LEN + 8 + CHECKSUM_LEN) as u64;

/// Returns the number of bytes of so many digits, where one digit takes `one` bytes.
pub(super) fn array_len(digits: usize, one: u64) -> Option<u64> {
    one.checked_sub(ARRAY_LEN)?.checked_mul(digits as u64)?.checked_add(ARRAY_LEN)
}

/// Returns the number of bytes of one digit, where an input takes `len` bytes.
pub(super) fn one_of(len: u64, digits: usize) -> u64 {
    let own = len.saturating_sub(ARRAY_LEN).checked_div(digits as u64).unwrap_or(0);
    own.saturating_add(ARRAY_LEN)
}

/// Returns the number of digits of an input.
pub(super) fn of_input(schema: &Schema, input: &Input) -> Result<usize, ProgramError> {
    schema.columns.get(input.column).map_or(Ok(0), |column| digits_of(column, input.label.is_some()))
}

/// Returns the number of inputs of a schema and the number of all their digits, without a list of them.
pub(super) fn totals(schema: &Schema) -> Result<(usize, usize), ProgramError> {
    let of = |column: &Column| {
        let indicators = match &column.kind {
            Kind::Category { labels } => return Ok((labels.len(), labels.len() * digits_of(column, true)?)),
            _ => usize::from(column.has_indicator()),
        };
        let own = digits_of(column, false)?;
        let beside = if indicators > 0 { digits_of(column, true)? } else { 0 };
        Ok((1 + indicators, own + beside))
    };
    let mut all = schema.columns.iter().filter(|column| column.encrypted).map(of);
    all.try_fold((0, 0), |(inputs, digits), pair: Result<(usize, usize), ProgramError>| {
        pair.map(|(a, b)| (inputs + a, digits + b))
    })
}
