//! Forms of packed tables as bytes.

use std::collections::BTreeSet;

use sunzi_program::packed::PackedForm;
use sunzi_program::schema::{MAX_COLUMNS, MAX_ROWS};
use sunzi_rlwe::wire::{FieldReader, Fields, WireError};

/// Number of bytes of the leading numbers: n, slots of a segment, rows of a group, the bound in two words, group, columns, pairs.
pub(super) const NUMBERS_LEN: usize = 10 * 8;
/// Largest number of pairs: those of all columns would be eight times as many.
const MOST_PAIRS: usize = 1 << 20;
/// Largest ring degree.
const MOST_DEGREE: usize = 1 << 20;

/// Writes the numbers of a form, and its columns and pairs.
pub(super) fn put(form: &PackedForm) -> (Fields, Fields) {
    let (mut numbers, mut lists) = (Fields::default(), Fields::default());
    numbers.usize(form.degree);
    numbers.usize(form.segment);
    numbers.u64(form.longest_group);
    let largest = form.largest.unwrap_or(0);
    numbers.u64(largest as u64);
    numbers.u64((largest >> 64) as u64);
    numbers.option(form.group.map(|column| column as u64));
    numbers.usize(form.columns.len());
    numbers.usize(form.pairs.len());
    numbers.u64(0);
    for &(column, label) in &form.columns {
        lists.u32(column as u32);
        lists.u32(label.map_or(0, |label| label as u32 + 1));
    }
    for &(x, y) in &form.pairs {
        lists.u32(x as u32);
        lists.u32(y as u32);
    }
    (numbers, lists)
}

/// The numbers of a form that come before its lists.
pub(super) struct Numbers {
    form: PackedForm,
    columns: usize,
    pairs: usize,
}

/// Reads the numbers of a form.
pub(super) fn get(numbers: &mut FieldReader<'_>) -> Result<Numbers, WireError> {
    let degree = numbers.usize_in("slots of a packed table", 2..=MOST_DEGREE)?;
    let segment = numbers.usize_in("slots of a segment", 1..=MOST_DEGREE)?;
    let longest_group = numbers.usize_in("rows of a group", 1..=MAX_ROWS as usize)? as u64;
    let largest = u128::from(numbers.u64()?) | u128::from(numbers.u64()?) << 64;
    let group = numbers.option("the column of groups")?.map(|column| column as usize);
    let columns = numbers.usize_in("packed columns", 1..=MAX_COLUMNS)?;
    let pairs = numbers.usize_in("packed products", 0..=MOST_PAIRS)?;
    let largest = (largest != 0).then_some(largest);
    numbers.usize_in("a word without meaning", 0..=0)?;
    let (own, none) = (Vec::new(), BTreeSet::new());
    let form = PackedForm { degree, segment, longest_group, largest, group, columns: own, pairs: none };
    Ok(Numbers { form, columns, pairs })
}

impl Numbers {
    /// Number of bytes of the lists.
    pub(super) fn lists_len(&self) -> usize {
        8 * (self.columns + self.pairs)
    }

    /// Reads the lists.
    pub(super) fn lists(self, fields: &mut FieldReader<'_>) -> Result<PackedForm, WireError> {
        let Self { mut form, columns, pairs } = self;
        for _ in 0..columns {
            let (column, label) = (fields.u32()? as usize, fields.u32()?);
            form.columns.push((column, label.checked_sub(1).map(|label| label as usize)));
        }
        let mut last = None;
        for _ in 0..pairs {
            let pair = (fields.u32()? as usize, fields.u32()? as usize);
            if last.is_some_and(|last| last >= pair) {
                return Err(WireError::value("packed products", "each once, ascending", "others"));
            }
            last = Some(pair);
            form.pairs.insert(pair);
        }
        Ok(form)
    }
}
