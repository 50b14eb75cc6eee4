//! Operations that an instruction set supplies for arithmetic in double precision: registers of two or four words,
//! taken as numbers or as bits.

use super::lanes::Registers;
use super::lanes::{Integers, Lanes, WIDTH};
use super::rounding::Numbers;

/// Fused multiply-add on doubles, and the few integer operations that turn words into doubles and back.
///
/// Every result is rounded once, to nearest, ties to even.
pub trait Doubles: Registers {
    fn add(self, a: Self::R, b: Self::R) -> Self::R;
    fn sub(self, a: Self::R, b: Self::R) -> Self::R;
    fn multiply(self, a: Self::R, b: Self::R) -> Self::R;
    /// Computes the fused multiply-add a·b + c.
    fn multiply_add(self, a: Self::R, b: Self::R, c: Self::R) -> Self::R;
    /// Computes the fused multiply-subtract a·b − c.
    fn multiply_subtract(self, a: Self::R, b: Self::R, c: Self::R) -> Self::R;
    /// Computes the fused negated multiply-add c − a·b.
    fn subtract_product(self, a: Self::R, b: Self::R, c: Self::R) -> Self::R;

    fn sub_words(self, a: Self::R, b: Self::R) -> Self::R;
    /// Low 64 bits of the products of words.
    fn multiply_words(self, a: Self::R, b: Self::R) -> Self::R;
    fn and(self, a: Self::R, b: Self::R) -> Self::R;
    fn or(self, a: Self::R, b: Self::R) -> Self::R;
    /// Shifts every word left; a count of 64 or more gives zero.
    fn shift_left(self, a: Self::R, count: u32) -> Self::R;
    /// Shifts every word right; a count of 64 or more gives zero.
    fn shift_right(self, a: Self::R, count: u32) -> Self::R;
    /// Returns `a`, or `b` where the highest bit of `a` is set.
    fn unless_negative(self, a: Self::R, b: Self::R) -> Self::R;

    /// Positions in memory of the bytes of a register's words, for a number of bytes a word: see [`Lanes::pattern`].
    type Pattern: Copy;
    fn pattern(self, width: usize) -> Self::Pattern;
    /// Expands the words that start at byte `at` to a register.
    fn expand(self, bytes: &[u8; 8 * WIDTH], at: usize, pattern: Self::Pattern) -> Self::R;
}

/// Vectors of eight words made of `N` registers.
#[derive(Clone, Copy)]
pub struct Joined<D: Doubles, const N: usize>(pub(crate) D);

impl<D: Doubles, const N: usize> Joined<D, N> {
    #[inline(always)]
    fn zip(self, a: [D::R; N], b: [D::R; N], f: impl Fn(D, D::R, D::R) -> D::R) -> [D::R; N] {
        let mut out = a;
        for (x, y) in out.iter_mut().zip(b) {
            *x = f(self.0, *x, y);
        }
        out
    }
}

impl<D: Doubles, const N: usize> Integers for Joined<D, N> {
    type V = [D::R; N];
    #[inline(always)]
    fn splat(self, word: u64) -> Self::V {
        [self.0.splat(word); N]
    }
    #[inline(always)]
    fn add(self, a: Self::V, b: Self::V) -> Self::V {
        self.zip(a, b, D::add_words)
    }
    #[inline(always)]
    fn sub(self, a: Self::V, b: Self::V) -> Self::V {
        self.zip(a, b, D::sub_words)
    }
    #[inline(always)]
    fn unless_negative(self, a: Self::V, b: Self::V) -> Self::V {
        self.zip(a, b, D::unless_negative)
    }
    #[inline(always)]
    fn and(self, a: Self::V, b: Self::V) -> Self::V {
        self.zip(a, b, D::and)
    }
    #[inline(always)]
    fn shift_left(self, a: Self::V, count: u32) -> Self::V {
        self.zip(a, a, |d, x, _| d.shift_left(x, count))
    }
    #[inline(always)]
    fn shift_right(self, a: Self::V, count: u32) -> Self::V {
        self.zip(a, a, |d, x, _| d.shift_right(x, count))
    }
}

impl<D: Doubles, const N: usize> Lanes for Joined<D, N> {
    const LEVELS: u32 = D::LEVELS;
    /// Number of bytes of a word, and the pattern of its registers.
    type Pattern = (usize, D::Pattern);
    #[inline(always)]
    fn pattern(self, width: usize) -> Self::Pattern {
        (width, self.0.pattern(width))
    }
    #[inline(always)]
    fn expand(self, bytes: &[u8; 8 * WIDTH], (width, pattern): Self::Pattern) -> Self::V {
        let mut v = self.splat(0);
        for (i, part) in v.iter_mut().enumerate() {
            *part = self.0.expand(bytes, i * D::WORDS * width, pattern);
        }
        v
    }
    #[inline(always)]
    fn load(self, words: &[u64; WIDTH]) -> Self::V {
        let mut v = self.splat(0);
        for (part, words) in v.iter_mut().zip(words.chunks_exact(D::WORDS)) {
            *part = self.0.load(words);
        }
        v
    }
    #[inline(always)]
    fn store(self, words: &mut [u64; WIDTH], v: Self::V) {
        for (part, words) in v.into_iter().zip(words.chunks_exact_mut(D::WORDS)) {
            self.0.store(words, part);
        }
    }
    #[inline(always)]
    fn prefetch(self, address: *const u64) {
        self.0.prefetch(address);
    }
    #[inline(always)]
    #[expect(clippy::indexing_slicing, reason = "both indices run over a square of parts")]
    fn transpose(self, v: &mut [Self::V; WIDTH]) {
        let from = *v;
        for part in 0..N {
            let mut x = from.map(|v| v[part]);
            self.0.transpose(&mut x);
            for (k, x) in x.into_iter().enumerate() {
                v[part * D::WORDS + k % D::WORDS][k / D::WORDS] = x;
            }
        }
    }
}

impl<D: Doubles, const N: usize> Numbers for Joined<D, N> {
    #[inline(always)]
    fn or(self, a: Self::V, b: Self::V) -> Self::V {
        self.zip(a, b, D::or)
    }
    #[inline(always)]
    fn multiply_words(self, a: Self::V, b: Self::V) -> Self::V {
        self.zip(a, b, D::multiply_words)
    }
    #[inline(always)]
    fn add_doubles(self, a: Self::V, b: Self::V) -> Self::V {
        self.zip(a, b, D::add)
    }
    #[inline(always)]
    fn sub_doubles(self, a: Self::V, b: Self::V) -> Self::V {
        self.zip(a, b, D::sub)
    }
    #[inline(always)]
    fn multiply_doubles(self, a: Self::V, b: Self::V) -> Self::V {
        self.zip(a, b, D::multiply)
    }
}
