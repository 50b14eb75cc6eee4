//! Crafted files in which a number of a small record is as large as can be.

use sunzi_rlwe::wire::{HEADER_LEN, Kind};

use super::Crafted;
use crate::wire::Specimen;
use crate::wire::mutation::repair;

/// Excessive values for a count, a length or a level in a crafted file.
const CLAIMS: [u64; 9] = [0, 1, 255, 256, 4096, 1 << 20, 1 << 32, 1 << 61, u64::MAX];
/// Length in bytes of the longest record whose numbers are exchanged: longer ones are residues.
const SMALL: usize = 1 << 12;
/// Largest number of exchanged records of a file, and then of numbers in a record: later ones are alike.
const RECORDS: usize = 6;
const NUMBERS: usize = 12;
/// Offset in a file of the header's word for the length of the body.
const BODY_LEN: usize = 48;

/// Makes crafted files in which one number is exchanged, with right checksums; then one whose header claims
/// more bytes than there are.
pub(super) fn of_words(specimen: &Specimen, thorough: bool, mut visit: impl FnMut(&Crafted)) {
    let made = |name: String, bytes: Vec<u8>| {
        let name = format!("{}, {name}", specimen.name);
        Crafted { name, bytes, json: specimen.kind == Kind::Results }
    };
    for record in specimen.records.iter().filter(|record| record.len() <= SMALL).take(RECORDS) {
        // Parameters begin with a byte or two: numbers stand at any place, and every byte of theirs is tried.
        let (step, most) = if specimen.kind.is_parameters() { (1, SMALL) } else { (8, NUMBERS) };
        let (step, claims) = if thorough { (step, 1) } else { (2 * step, 4) };
        for at in record.clone().step_by(step).take(most) {
            for claim in CLAIMS.into_iter().step_by(claims) {
                let mut bytes = specimen.bytes.clone();
                let place = at..record.end.min(at + 8);
                bytes
                    .iter_mut()
                    .skip(at)
                    .take(place.len())
                    .zip(claim.to_le_bytes())
                    .for_each(|(to, byte)| *to = byte);
                repair(&mut bytes, &specimen.records, specimen.kind);
                visit(&made(format!("{claim} at {at}"), bytes));
            }
        }
    }
    for claim in CLAIMS {
        let mut bytes = specimen.bytes.clone();
        bytes.iter_mut().skip(BODY_LEN).zip(claim.to_le_bytes()).for_each(|(to, byte)| *to = byte);
        let sum = sunzi_rlwe::wire::checksum(bytes.get(..HEADER_LEN - 8).unwrap_or_default());
        bytes.iter_mut().skip(HEADER_LEN - 8).zip(sum.to_le_bytes()).for_each(|(to, byte)| *to = byte);
        visit(&made(format!("a body of {claim} bytes"), bytes));
    }
}
