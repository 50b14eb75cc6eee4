//! Crafted files that take long or much memory to read: whole and with right checksums, for parts that cost
//! more than their bytes.

mod results;
mod tables;
mod words;

use std::ops::Range;

use sunzi_rlwe::wire::{CHECKSUM_LEN, HEADER_LEN, Kind};

use super::mutation::repair;
use super::{Failure, Specimen};

/// Number of bytes of an excessive part of a crafted file.
const LONG: usize = 1 << 20;

/// A crafted file that was made to take long to read.
pub struct Crafted {
    /// Name of the crafted file's part that is excessive.
    pub name: String,
    /// Bytes of a crafted file.
    pub bytes: Vec<u8>,
    /// Whether the crafted file is a description in JSON, whose objects are larger than its words.
    pub json: bool,
}

/// Makes crafted files of every specimen, one after the other, with their readers: each number of a small record
/// as large as can be, and for tables and results parts of up to a megabyte; all numbers if `thorough`, else
/// some of them.
///
/// # Errors
/// No error is expected of making crafted files.
pub fn crafted(
    specimens: &[Specimen],
    thorough: bool,
    mut visit: impl FnMut(&Specimen, &Crafted),
) -> Result<(), Failure> {
    for specimen in specimens {
        words::of_words(specimen, thorough, |file| visit(specimen, file));
        let more = match specimen.kind {
            Kind::Results => results::of_results(specimen)?,
            kind if kind.is_table() => tables::of_table(specimen)?,
            _ => Vec::new(),
        };
        more.iter().for_each(|file| visit(specimen, file));
    }
    Ok(())
}

/// Returns as many parts as a crafted text has room for, with commas between.
fn many(part: impl Fn(usize) -> String) -> String {
    let mut text = part(0);
    for i in 1.. {
        let part = part(i);
        if text.len() + part.len() >= LONG {
            break;
        }
        text.push(',');
        text.push_str(&part);
    }
    text
}

/// Returns the specimen's file with other bytes for a record.
fn craft(specimen: &Specimen, record: Range<usize>, name: &str, text: Vec<u8>) -> Crafted {
    let mut bytes = specimen.bytes.clone();
    let (old, new) = (record.len(), text.len());
    if specimen.kind != Kind::Results {
        // The length of a schema is the last word of the record before it.
        let at = record.start - CHECKSUM_LEN - 8;
        bytes.iter_mut().skip(at).zip((new as u64).to_le_bytes()).for_each(|(to, byte)| *to = byte);
    }
    bytes.splice(record.clone(), text);
    let moved = |at: usize| if at > record.start { at + new - old } else { at };
    let records: Vec<_> =
        specimen.records.iter().map(|record| moved(record.start)..moved(record.end)).collect();
    debug_assert!(record.start >= HEADER_LEN);
    repair(&mut bytes, &records, specimen.kind);
    Crafted { name: format!("{}, {name}", specimen.name), bytes, json: specimen.kind == Kind::Results }
}
