//! Layout of an object's bytes: the range of every record, as the object is written.

use std::ops::Range;

use sunzi_ring::{Domain, Poly, Ring};
use sunzi_rlwe::wire::{CHECKSUM_LEN, Format, HEADER_LEN, Sink, WireError};

/// Recorder of where the records of a file begin and end.
struct Layout {
    at: usize,
    start: usize,
    records: Vec<Range<usize>>,
}

impl Sink for Layout {
    fn sealed(&mut self, bytes: &[u8]) -> Result<(), WireError> {
        self.at += bytes.len();
        self.seal()
    }

    fn poly<D: Domain>(&mut self, ring: &Ring, _: &Poly<D>) -> Result<(), WireError> {
        self.at += ring.packed_len();
        Ok(())
    }

    fn seal(&mut self) -> Result<(), WireError> {
        self.records.push(self.start..self.at);
        self.at += CHECKSUM_LEN;
        self.start = self.at;
        Ok(())
    }
}

/// Returns the ranges of the records of an object's bytes, without their checksums.
pub(super) fn records<T, C: Format<T>>(context: &C, object: &T) -> Result<Vec<Range<usize>>, WireError> {
    let mut layout = Layout { at: HEADER_LEN, start: HEADER_LEN, records: Vec::new() };
    context.put(object, &mut layout)?;
    Ok(layout.records)
}
