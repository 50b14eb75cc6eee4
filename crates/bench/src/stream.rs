//! How fast memory is read, one word after the other.

use std::hint::black_box;

use crate::BenchError;

/// Sums that are kept at once, so that no addition waits for the one before.
const LANES: usize = 16;

/// As much memory as a key takes.
pub(crate) struct Stream(Vec<u64>);

impl Stream {
    /// Memory of so many bytes, rounded up to words.
    pub(crate) fn new(bytes: usize) -> Self {
        Self((0..bytes.div_ceil(size_of::<u64>()) as u64).collect())
    }

    /// How many bytes.
    pub(crate) fn bytes(&self) -> u64 {
        size_of_val(self.0.as_slice()) as u64
    }

    /// Reads every word once; the sum of all.
    fn sum(&self) -> u64 {
        let mut sums = [0_u64; LANES];
        let (blocks, rest) = self.0.as_chunks::<LANES>();
        for block in blocks {
            for (sum, word) in sums.iter_mut().zip(block) {
                *sum = sum.wrapping_add(*word);
            }
        }
        sums.iter().chain(rest).fold(0, |sum, word| sum.wrapping_add(*word))
    }

    /// One reading, as something to time.
    pub(crate) fn read(&self) -> Result<(), BenchError> {
        black_box(self.sum());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_read_once() {
        for words in [0, 1, LANES as u64, 1000] {
            assert_eq!(Stream::new(words as usize * 8).sum(), words * words.saturating_sub(1) / 2);
        }
        assert_eq!(Stream::new(17).0.len(), 3);
    }
}
