//! Random mutations of files, with and without right checksums.

use std::ops::Range;

use rand_core::Rng;
use sunzi_rlwe::wire::{CHECKSUM_LEN, HEADER_LEN, Kind, checksum};

use super::Specimen;

/// Byte range in a file of the header's word for the length of the body.
const BODY_LEN: Range<usize> = 48..56;
/// Words that are most likely to be misread in a mutated file.
const WORDS: [u64; 16] = [
    0,
    1,
    2,
    3,
    16,
    17,
    0xFF,
    1 << 16,
    (1 << 32) - 1,
    1 << 32,
    1 << 62,
    1 << 63,
    u64::MAX,
    0x7FF0_0000_0000_0000,
    0x7FF8_0000_0000_0000,
    0xFFF0_0000_0000_0000,
];

/// Returns a specimen's file with a random change. Half of them have right checksums and lengths again, as an
/// attacker would give them.
pub fn mutant(specimen: &Specimen, rng: &mut impl Rng) -> Vec<u8> {
    let mut bytes = specimen.bytes.clone();
    let mut records = specimen.records.clone();
    for _ in 0..=below(rng, 3) {
        change(&mut bytes, &mut records, rng);
    }
    if rng.next_u32().is_multiple_of(2) {
        repair(&mut bytes, &records, specimen.kind);
    }
    bytes
}

/// Updates the checksums of a file's header and records to their contents, and the length in the header: of
/// results, which are several objects, only where the first is of unchanged length.
pub fn repair(bytes: &mut [u8], records: &[Range<usize>], kind: Kind) {
    for record in records {
        if let Some(sum) = bytes.get(record.clone()).map(checksum) {
            write(bytes, record.end, &sum.to_le_bytes());
        }
    }
    let end = match records.first() {
        Some(first) if kind == Kind::Results => first.end + CHECKSUM_LEN,
        _ => bytes.len(),
    };
    write(bytes, BODY_LEN.start, &(end.saturating_sub(HEADER_LEN) as u64).to_le_bytes());
    if let Some(sum) = bytes.get(..BODY_LEN.end).map(checksum) {
        write(bytes, BODY_LEN.end, &sum.to_le_bytes());
    }
}

/// Writes a value into a file, as many bytes as there is room for.
fn write(bytes: &mut [u8], at: usize, value: &[u8]) {
    bytes.iter_mut().skip(at).zip(value).for_each(|(to, &byte)| *to = byte);
}

fn below(rng: &mut impl Rng, bound: usize) -> usize {
    (rng.next_u64() % bound.max(1) as u64) as usize
}

fn change(bytes: &mut Vec<u8>, records: &mut Vec<Range<usize>>, rng: &mut impl Rng) {
    // Half of all changes hit the numbers, which are few, and not the residues.
    let small: Vec<_> = records.iter().filter(|record| record.len() <= 256).cloned().collect();
    let region = match small.get(below(rng, 2 * small.len())) {
        Some(record) => record.clone(),
        None => 0..bytes.len(),
    };
    let at = region.start + below(rng, region.len());
    match below(rng, 9) {
        0 | 1 => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << (rng.next_u32() % 8)),
        2 => write(bytes, at, &[rng.next_u32() as u8]),
        3 | 4 => {
            let word = WORDS.get(below(rng, WORDS.len())).copied().unwrap_or(0);
            let aligned = region.start + below(rng, region.len() / 8 + 1) * 8;
            write(bytes, aligned, &word.to_le_bytes());
        }
        5 => write(bytes, at, &rng.next_u64().to_le_bytes()),
        6 => {
            bytes.truncate(at);
            records.retain(|record| record.end <= at);
        }
        7 => bytes.extend((0..below(rng, 64)).map(|i| i as u8)),
        _ => {
            // A part of the file is moved elsewhere.
            let from = below(rng, bytes.len());
            let part = bytes.get(from..bytes.len().min(from + 64)).unwrap_or_default().to_vec();
            write(bytes, at, &part);
        }
    }
}
