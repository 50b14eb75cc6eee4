//! What the passes of a transform hold eight of at a time: a whole vector, or as much of it as an
//! instruction set has registers for.

use super::lanes::{Lanes, WIDTH};

/// Registers of 8, 4 or 2 words.
pub trait Registers: Copy {
    type R: Copy;
    /// Words in a register.
    const WORDS: usize;
    /// Levels of a transform along rows that registers hold all words of.
    const LEVELS: u32;

    /// The first words of the slice; zeros if there are too few.
    fn load(self, words: &[u64]) -> Self::R;
    /// Writes the first words of the slice; nothing if there are too few.
    fn store(self, words: &mut [u64], r: Self::R);
    /// The word in every lane.
    fn splat(self, word: u64) -> Self::R;
    /// Sums of words, as integers.
    fn add_words(self, a: Self::R, b: Self::R) -> Self::R;
    /// Word `i` of register `k` becomes word `k` of register `i`, in each group of `WORDS` registers.
    fn transpose(self, x: &mut [Self::R; WIDTH]);
    /// Says that the words at this address will be read soon. The address need not be valid.
    fn prefetch(self, address: *const u64);
}

/// A register is a vector.
#[derive(Clone, Copy)]
pub struct Whole<L: Lanes>(pub(crate) L);

impl<L: Lanes> Registers for Whole<L> {
    type R = L::V;
    const WORDS: usize = WIDTH;
    const LEVELS: u32 = L::LEVELS;

    #[inline(always)]
    fn load(self, words: &[u64]) -> L::V {
        self.0.load(words.first_chunk().unwrap_or(&[0; WIDTH]))
    }
    #[inline(always)]
    fn store(self, words: &mut [u64], r: L::V) {
        if let Some(words) = words.first_chunk_mut() {
            self.0.store(words, r);
        }
    }
    #[inline(always)]
    fn splat(self, word: u64) -> L::V {
        self.0.splat(word)
    }
    #[inline(always)]
    fn add_words(self, a: L::V, b: L::V) -> L::V {
        self.0.add(a, b)
    }
    #[inline(always)]
    fn transpose(self, x: &mut [L::V; WIDTH]) {
        self.0.transpose(x);
    }
    #[inline(always)]
    fn prefetch(self, address: *const u64) {
        self.0.prefetch(address);
    }
}
