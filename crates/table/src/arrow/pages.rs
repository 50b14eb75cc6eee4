//! Checks of the metadata and page headers of a Parquet file before any page is decoded: a page of a few bytes can say that it has two gigabytes,
//! or values without end.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};

use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, RowGroupMetaData};

/// Largest number of bytes that pages decompress to, for each byte of a Parquet file.
const EXPANSION: u64 = 8;
/// Number of bytes that all pages of a column chunk of an encrypted table may have in any file, and one page of a table in the clear: writers make
/// pages of a megabyte.
const ALL: u64 = 1 << 16;
const ONE: u64 = 1 << 22;
/// Largest nesting depth of structures in a page header.
const DEPTH: u32 = 8;

/// First type of Thrift's compact protocol; the other types follow.
const TRUE: u8 = 1;
const FALSE: u8 = 2;
const BYTE: u8 = 3;
const I16: u8 = 4;
const I64: u8 = 6;
const DOUBLE: u8 = 7;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const SET: u8 = 10;
const STRUCT: u8 = 12;

/// The kind of table that a Parquet file is read as.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum TableKind {
    /// An encrypted table: a column chunk has at most as many values as the file has bytes, and is decoded as a whole.
    Encrypted,
    /// A table in the clear: rows are read a few at a time, and there may be any number of them.
    Clear,
}

/// Refuses row groups whose rows do not add up, columns that lie outside the file or overlap, and pages that hold more than a file of `len`
/// bytes may.
pub(super) fn check(
    file: &File,
    len: u64,
    metadata: &ParquetMetaData,
    kind: TableKind,
) -> Result<(), String> {
    let mut rows = metadata.row_groups().iter().map(|group| u64::try_from(group.num_rows()).ok());
    let rows = rows.try_fold(0, |sum: u64, rows| sum.checked_add(rows?));
    if rows != u64::try_from(metadata.file_metadata().num_rows()).ok() {
        return Err("its row groups have other rows than the file".to_owned());
    }
    let file = file.try_clone().map_err(|error| error.to_string())?;
    let mut pages = Pages { file: BufReader::new(file), left: 0, bytes: 0, values: 0, largest: 0 };
    let mut sum = 0;
    for column in metadata.row_groups().iter().flat_map(RowGroupMetaData::columns) {
        let (start, bytes) =
            range(column).filter(|&(start, bytes)| start + bytes <= len).ok_or_else(|| {
                format!("column {:?} lies outside of its {len} bytes", column.column_path().string())
            })?;
        sum += bytes;
        if sum > len {
            return Err("its columns lie in each other's place".to_owned());
        }
        pages.walk(start, bytes)?;
        let (held, floor) = if kind == TableKind::Clear { (pages.largest, ONE) } else { (pages.bytes, ALL) };
        let most = floor.max(EXPANSION * len);
        if held > most || (kind == TableKind::Encrypted && pages.values > len) {
            return Err(format!(
                "column {:?} has pages of {held} bytes and {} values: expected at most {most} and {len} in a file of this size",
                column.column_path().string(),
                pages.values
            ));
        }
    }
    Ok(())
}

/// Returns the range of a column chunk: its first byte and its length.
fn range(column: &ColumnChunkMetaData) -> Option<(u64, u64)> {
    let start = column.dictionary_page_offset().unwrap_or_else(|| column.data_page_offset());
    let (start, bytes) = (u64::try_from(start).ok()?, u64::try_from(column.compressed_size()).ok()?);
    start.checked_add(bytes).map(|_| (start, bytes))
}

/// Headers of pages, read one after the other.
struct Pages {
    file: BufReader<File>,
    /// Number of bytes of the column chunk that are left to read.
    left: u64,
    /// Number of bytes that the pages of this column chunk so far decompress to; the next field counts the values that they hold.
    bytes: u64,
    values: u64,
    /// Number of bytes that the largest page of this column chunk so far decompresses to.
    largest: u64,
}

impl Pages {
    fn walk(&mut self, start: u64, bytes: u64) -> Result<(), String> {
        (self.left, self.bytes, self.values, self.largest) = (bytes, 0, 0, 0);
        self.file.seek(SeekFrom::Start(start)).map_err(|error| error.to_string())?;
        while self.left > 0 {
            self.page().ok_or("a page has a header that cannot be read")?;
        }
        Ok(())
    }

    /// Reads the header of a page and skips the page.
    fn page(&mut self) -> Option<()> {
        let (mut field, mut decompressed, mut compressed) = (0, None, None);
        while let Some((next, kind)) = self.field(field)? {
            field = next;
            match (field, kind) {
                (2, _) if decompressed.is_none() => decompressed = Some(self.count()?),
                (3, _) if compressed.is_none() => compressed = Some(self.count()?),
                // A size that is given twice could be read as either.
                (2 | 3, _) => return None,
                (5 | 7 | 8, STRUCT) => self.values()?,
                _ => self.skip(kind, DEPTH)?,
            }
        }
        let (compressed, decompressed) = (compressed?, decompressed?);
        self.bytes = self.bytes.checked_add(decompressed)?;
        self.largest = self.largest.max(decompressed);
        self.left = self.left.checked_sub(compressed)?;
        self.file.seek_relative(i64::try_from(compressed).ok()?).ok()
    }

    /// Adds the number of values of a page of data or of a dictionary.
    fn values(&mut self) -> Option<()> {
        let mut field = 0;
        while let Some((next, kind)) = self.field(field)? {
            field = next;
            if field == 1 {
                self.values = self.values.checked_add(self.count()?)?;
            } else {
                self.skip(kind, DEPTH)?;
            }
        }
        Some(())
    }

    /// Reads the number and type of the next field of a page header, or that there is none.
    fn field(&mut self, before: i64) -> Option<Option<(i64, u8)>> {
        let byte = self.byte()?;
        let (step, kind) = (byte >> 4, byte & 15);
        if kind == 0 {
            return Some(None);
        }
        let number = if step == 0 { self.signed()? } else { before.checked_add(i64::from(step))? };
        Some(Some((number, kind)))
    }

    fn byte(&mut self) -> Option<u8> {
        self.left = self.left.checked_sub(1)?;
        let mut byte = [0];
        self.file.read_exact(&mut byte).ok()?;
        Some(u8::from_le_bytes(byte))
    }

    fn unsigned(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 127) << shift;
            if byte < 128 {
                return Some(value);
            }
        }
        None
    }

    fn signed(&mut self) -> Option<i64> {
        let value = self.unsigned()?;
        Some((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// Reads a number of a page header that is not negative.
    fn count(&mut self) -> Option<u64> {
        u64::try_from(self.signed()?).ok()
    }

    fn skip(&mut self, kind: u8, depth: u32) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        match kind {
            TRUE | FALSE => {}
            BYTE => drop(self.byte()?),
            I16..=I64 => drop(self.unsigned()?),
            DOUBLE => (0..8).try_for_each(|_| self.byte().map(drop))?,
            BINARY => {
                let bytes = self.unsigned()?;
                self.left = self.left.checked_sub(bytes)?;
                self.file.seek_relative(i64::try_from(bytes).ok()?).ok()?;
            }
            LIST | SET => {
                let byte = self.byte()?;
                let count = if byte >> 4 == 15 { self.unsigned()? } else { u64::from(byte >> 4) };
                for _ in 0..count {
                    match byte & 15 {
                        TRUE | FALSE => drop(self.byte()?),
                        kind => self.skip(kind, depth)?,
                    }
                }
            }
            STRUCT => {
                let mut field = 0;
                while let Some((next, kind)) = self.field(field)? {
                    field = next;
                    self.skip(kind, depth)?;
                }
            }
            // Maps and later types occur in no header.
            _ => return None,
        }
        Some(())
    }
}
