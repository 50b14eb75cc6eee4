//! Fields of records in files: numbers one after the other, little-endian.

use super::WireError;

/// A writer of the fields of a record: numbers, texts and lists.
#[derive(Debug, Default)]
pub struct Fields(Vec<u8>);

impl Fields {
    /// Writes bytes into a record as they are.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// Writes a number as two bytes, little-endian.
    pub fn u16(&mut self, value: u16) {
        self.bytes(&value.to_le_bytes());
    }

    /// Writes a number as four bytes, little-endian.
    pub fn u32(&mut self, value: u32) {
        self.bytes(&value.to_le_bytes());
    }

    /// Writes a number as eight bytes, little-endian.
    pub fn u64(&mut self, value: u64) {
        self.bytes(&value.to_le_bytes());
    }

    /// Writes a double as its eight bytes, little-endian.
    pub fn f64(&mut self, value: f64) {
        self.u64(value.to_bits());
    }

    /// Writes a count or a level as eight bytes.
    pub fn usize(&mut self, value: usize) {
        self.u64(value as u64);
    }

    /// Writes an optional number: a flag whether it is there, then the number, or 0 for none.
    pub fn option(&mut self, value: Option<u64>) {
        self.u64(u64::from(value.is_some()));
        self.u64(value.unwrap_or(0));
    }

    /// Writes the index of a choice among all choices.
    pub fn choice<T: PartialEq>(&mut self, choice: &T, all: &[T]) {
        self.usize(all.iter().position(|other| other == choice).unwrap_or(all.len()));
    }

    /// Writes a list of numbers, their count first.
    pub fn list(&mut self, values: impl ExactSizeIterator<Item = u64>) {
        self.usize(values.len());
        values.for_each(|value| self.u64(value));
    }

    /// Writes text, the count of its bytes first.
    pub fn text(&mut self, text: &str) {
        self.usize(text.len());
        self.bytes(text.as_bytes());
    }

    /// The bytes of the record that were written so far.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the bytes of the record, as an owned list.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

/// A reader of the fields of a record, as [`Fields`] wrote them.
#[derive(Debug)]
pub struct FieldReader<'a>(&'a [u8]);

impl<'a> FieldReader<'a> {
    /// Makes a reader of the fields in the given bytes.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Reads `N` bytes of a record as they are.
    ///
    /// # Errors
    /// [`WireError::Length`] if fewer bytes are left.
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], WireError> {
        match self.0.split_first_chunk() {
            Some((first, rest)) => {
                self.0 = rest;
                Ok(*first)
            }
            None => Err(WireError::Length { expected: N as u64, got: self.0.len() as u64 }),
        }
    }

    /// Reads a text of at most `most` bytes, which the count of its bytes precedes.
    ///
    /// # Errors
    /// [`WireError::Length`] where bytes are missing; [`WireError::Value`] for a longer text, and for one that is not
    /// UTF-8.
    pub fn text(&mut self, what: &'static str, most: usize) -> Result<&'a str, WireError> {
        let len = self.usize_in(what, 0..=most)?;
        let Some((text, rest)) = self.0.split_at_checked(len) else {
            return Err(WireError::Length { expected: len as u64, got: self.0.len() as u64 });
        };
        self.0 = rest;
        std::str::from_utf8(text).map_err(|_| WireError::value(what, "UTF-8", "other bytes"))
    }

    /// Reads a number of two bytes, little-endian.
    ///
    /// # Errors
    /// [`WireError::Length`] if fewer bytes are left.
    pub fn u16(&mut self) -> Result<u16, WireError> {
        self.array().map(u16::from_le_bytes)
    }

    /// Reads a number of four bytes, little-endian.
    ///
    /// # Errors
    /// [`WireError::Length`] if fewer bytes are left.
    pub fn u32(&mut self) -> Result<u32, WireError> {
        self.array().map(u32::from_le_bytes)
    }

    /// Reads a number of eight bytes, little-endian.
    ///
    /// # Errors
    /// [`WireError::Length`] if fewer bytes are left.
    pub fn u64(&mut self) -> Result<u64, WireError> {
        self.array().map(u64::from_le_bytes)
    }

    /// Reads a double of eight bytes, NaN and infinities included.
    ///
    /// # Errors
    /// [`WireError::Length`] if fewer bytes are left.
    pub fn f64(&mut self) -> Result<f64, WireError> {
        self.u64().map(f64::from_bits)
    }

    /// Reads a double that must lie in a range; NaN never does.
    ///
    /// # Errors
    /// [`WireError::Length`] if fewer bytes are left; [`WireError::Value`] for a double outside the range.
    pub fn f64_in(
        &mut self,
        what: &'static str,
        range: std::ops::RangeInclusive<f64>,
    ) -> Result<f64, WireError> {
        let value = self.f64()?;
        if range.contains(&value) {
            Ok(value)
        } else {
            Err(WireError::value(what, format!("{range:?}"), value))
        }
    }

    /// Reads a number of eight bytes that must lie in a range.
    ///
    /// # Errors
    /// [`WireError::Length`] if fewer bytes are left; [`WireError::Value`] for a number outside the range.
    pub fn usize_in(
        &mut self,
        what: &'static str,
        range: std::ops::RangeInclusive<usize>,
    ) -> Result<usize, WireError> {
        let value = self.u64()?;
        match usize::try_from(value) {
            Ok(value) if range.contains(&value) => Ok(value),
            _ => Err(WireError::value(what, format!("{range:?}"), value)),
        }
    }

    /// Reads a flag: a number of eight bytes, 0 or 1.
    ///
    /// # Errors
    /// [`WireError::Length`] if fewer bytes are left; [`WireError::Value`] for another number.
    pub fn flag(&mut self, what: &'static str) -> Result<bool, WireError> {
        Ok(self.usize_in(what, 0..=1)? == 1)
    }

    /// Reads an optional number, as [`Fields::option`] wrote it.
    ///
    /// # Errors
    /// [`WireError::Length`] if fewer bytes are left; [`WireError::Value`] for a flag that is not 0 or 1.
    pub fn option(&mut self, what: &'static str) -> Result<Option<u64>, WireError> {
        match (self.flag(what)?, self.u64()?) {
            (true, value) => Ok(Some(value)),
            (false, 0) => Ok(None),
            (false, value) => Err(WireError::value(what, "0 where it is missing", value)),
        }
    }

    /// Reads the index of a choice among all choices, and returns the choice.
    ///
    /// # Errors
    /// [`WireError::Length`] if fewer bytes are left; [`WireError::Value`] for a place past the last choice.
    pub fn choice<T: Copy>(&mut self, what: &'static str, all: &[T]) -> Result<T, WireError> {
        let last = all.len().saturating_sub(1);
        let at = self.usize_in(what, 0..=last)?;
        all.get(at).copied().ok_or_else(|| WireError::value(what, format!("0..={last}"), at))
    }

    /// Reads a list of at most `most` numbers. Memory is allocated only for numbers that are there.
    ///
    /// # Errors
    /// [`WireError::Length`] where numbers are missing; [`WireError::Value`] for more than `most`.
    pub fn list(&mut self, what: &'static str, most: usize) -> Result<Vec<u64>, WireError> {
        let count = self.usize_in(what, 0..=most)?;
        let mut values = Vec::new();
        for _ in 0..count {
            values.push(self.u64()?);
        }
        Ok(values)
    }

    /// Checks that all bytes of the record were read.
    ///
    /// # Errors
    /// [`WireError::Trailing`] where bytes are left.
    pub fn finish(self) -> Result<(), WireError> {
        if self.0.is_empty() { Ok(()) } else { Err(WireError::Trailing { extra: self.0.len() as u64 }) }
    }
}
