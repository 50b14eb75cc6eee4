//! Lanes of a single word, for code that computes word by word.

use crate::generic::lanes::Registers;
use crate::generic::lanes::{Integers, Lanes64, WIDTH};

/// Lane of a single word in a register.
#[derive(Clone, Copy)]
pub struct Word;

impl Integers for Word {
    type V = u64;

    #[inline(always)]
    fn splat(self, word: u64) -> u64 {
        word
    }
    #[inline(always)]
    fn add(self, a: u64, b: u64) -> u64 {
        a.wrapping_add(b)
    }
    #[inline(always)]
    fn sub(self, a: u64, b: u64) -> u64 {
        a.wrapping_sub(b)
    }
    #[inline(always)]
    fn unless_negative(self, a: u64, b: u64) -> u64 {
        // A negative a, read without sign, is above every b.
        a.min(b)
    }
    #[inline(always)]
    fn and(self, a: u64, b: u64) -> u64 {
        a & b
    }
    #[inline(always)]
    fn shift_left(self, a: u64, count: u32) -> u64 {
        a.checked_shl(count).unwrap_or(0)
    }
    #[inline(always)]
    fn shift_right(self, a: u64, count: u32) -> u64 {
        a.checked_shr(count).unwrap_or(0)
    }
}

impl Lanes64 for Word {
    type Registers = Self;

    #[inline(always)]
    fn registers(self) -> Self {
        self
    }
    #[inline(always)]
    fn multiply_low(self, a: u64, b: u64) -> u64 {
        a.wrapping_mul(b)
    }
    #[inline(always)]
    fn multiply_high(self, a: u64, b: u64) -> u64 {
        ((u128::from(a) * u128::from(b)) >> 64) as u64
    }
    #[inline(always)]
    fn add_wide(self, sum: (u64, u64), other: (u64, u64)) -> (u64, u64) {
        let (low, carry) = sum.1.overflowing_add(other.1);
        (sum.0.wrapping_add(other.0).wrapping_add(u64::from(carry)), low)
    }
}

impl Registers for Word {
    type R = u64;
    const WORDS: usize = 1;
    const LEVELS: u32 = 3;

    #[inline(always)]
    fn load(self, words: &[u64]) -> u64 {
        words.first().copied().unwrap_or(0)
    }
    #[inline(always)]
    fn store(self, words: &mut [u64], r: u64) {
        if let Some(word) = words.first_mut() {
            *word = r;
        }
    }
    #[inline(always)]
    fn splat(self, word: u64) -> u64 {
        word
    }
    #[inline(always)]
    fn add_words(self, a: u64, b: u64) -> u64 {
        a.wrapping_add(b)
    }
    #[inline(always)]
    fn transpose(self, _: &mut [u64; WIDTH]) {}
    #[inline(always)]
    fn prefetch(self, _: *const u64) {}
}
