//! The pace of memory that is read and written in order, one word after the other.

use std::hint::black_box;

use crate::Result;

/// Number of sums that are kept at once, so that no addition waits for the one before.
const LANES: usize = 16;

/// A block of memory as large as a key, read for its time.
pub(crate) struct Stream(Vec<u64>);

impl Stream {
    /// A block of memory of `bytes` bytes, rounded up to words.
    pub(crate) fn new(bytes: usize) -> Self {
        Self((0..bytes.div_ceil(size_of::<u64>()) as u64).collect())
    }

    /// Number of bytes of the memory block.
    pub(crate) fn bytes(&self) -> u64 {
        size_of_val(self.0.as_slice()) as u64
    }

    /// Reads every word of the memory block once and returns the sum of all.
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

    /// One reading of the memory block, as a call to time.
    pub(crate) fn read(&self) -> Result<()> {
        black_box(self.sum());
        Ok(())
    }
}

/// Two arrays, and a third one for their sum: the memory that an addition of ciphertexts moves.
pub(crate) struct Addition {
    a: Stream,
    b: Stream,
    sum: Vec<u64>,
}

impl Addition {
    /// Makes the three arrays of an addition, of `bytes` bytes each.
    pub(crate) fn new(bytes: usize) -> Self {
        let [a, b] = [bytes, bytes].map(Stream::new);
        let sum = b.0.clone();
        Self { a, b, sum }
    }

    /// One addition of the two arrays, as a call to time.
    pub(crate) fn add(&mut self) -> Result<()> {
        for ((sum, a), b) in self.sum.iter_mut().zip(&self.a.0).zip(&self.b.0) {
            *sum = a.wrapping_add(*b);
        }
        black_box(&mut self.sum);
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

    #[test]
    fn every_word_is_added() {
        let mut addition = Addition::new(800);
        addition.add().unwrap();
        assert!(addition.sum.iter().zip(0..).all(|(sum, at)| *sum == 2 * at));
    }
}
