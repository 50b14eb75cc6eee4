//! Pairs of words in a register that every processor of an architecture has.

pub use imp::Pair;

#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "intrinsics that need no detection")]
mod imp {
    use std::arch::x86_64::*;

    /// Two words in one of the registers that come with x86-64 (SSE2).
    #[derive(Clone, Copy)]
    pub struct Pair(__m128i);

    /// Calls intrinsics of SSE2.
    macro_rules! vector {
        ($body:expr) => {
            // SAFETY: SSE2 is part of x86-64.
            unsafe { $body }
        };
    }

    impl Pair {
        #[inline(always)]
        pub fn new([low, high]: [u64; 2]) -> Self {
            Self(vector!(_mm_set_epi64x(high.cast_signed(), low.cast_signed())))
        }
        #[inline(always)]
        pub fn load(words: &[u64; 2]) -> Self {
            // SAFETY: the words can be read; the instruction asks for no alignment.
            Self(unsafe { _mm_loadu_si128(words.as_ptr().cast()) })
        }
        #[inline(always)]
        pub fn store(self, words: &mut [u64; 2]) {
            // SAFETY: the words can be written; the instruction asks for no alignment.
            unsafe { _mm_storeu_si128(words.as_mut_ptr().cast(), self.0) }
        }
        #[inline(always)]
        pub(crate) fn add(self, other: Self) -> Self {
            Self(vector!(_mm_add_epi64(self.0, other.0)))
        }
        #[inline(always)]
        pub(crate) fn sub(self, other: Self) -> Self {
            Self(vector!(_mm_sub_epi64(self.0, other.0)))
        }
        #[inline(always)]
        pub(crate) fn and(self, other: Self) -> Self {
            Self(vector!(_mm_and_si128(self.0, other.0)))
        }
        /// Returns all ones for a word that is negative, else zero.
        #[inline(always)]
        pub(crate) fn sign(self) -> Self {
            Self(vector!(_mm_shuffle_epi32::<0b11_11_01_01>(_mm_srai_epi32::<31>(self.0))))
        }
        /// Returns the pair of first words and the pair of second words.
        #[inline(always)]
        pub(crate) fn transpose(self, other: Self) -> (Self, Self) {
            vector!((Self(_mm_unpacklo_epi64(self.0, other.0)), Self(_mm_unpackhi_epi64(self.0, other.0))))
        }
        /// Multiplies the low halves of the words of two pairs.
        #[inline(always)]
        pub(crate) fn multiply_halves(self, other: Self) -> Self {
            Self(vector!(_mm_mul_epu32(self.0, other.0)))
        }
        #[inline(always)]
        pub(crate) fn high_half(self) -> Self {
            Self(vector!(_mm_srli_epi64::<32>(self.0)))
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod imp {
    /// Two words in an array, where there are no vector registers.
    #[derive(Clone, Copy)]
    pub struct Pair([u64; 2]);

    impl Pair {
        fn map(self, other: Self, f: impl Fn(u64, u64) -> u64) -> Self {
            Self([f(self.0[0], other.0[0]), f(self.0[1], other.0[1])])
        }
        pub fn new(words: [u64; 2]) -> Self {
            Self(words)
        }
        pub fn load(words: &[u64; 2]) -> Self {
            Self(*words)
        }
        pub fn store(self, words: &mut [u64; 2]) {
            *words = self.0;
        }
        pub(crate) fn add(self, other: Self) -> Self {
            self.map(other, u64::wrapping_add)
        }
        pub(crate) fn sub(self, other: Self) -> Self {
            self.map(other, u64::wrapping_sub)
        }
        pub(crate) fn and(self, other: Self) -> Self {
            self.map(other, |a, b| a & b)
        }
        /// Returns all ones for a word that is negative, else zero.
        pub(crate) fn sign(self) -> Self {
            self.map(self, |a, _| (a.cast_signed() >> 63).cast_unsigned())
        }
        /// Returns the pair of first words and the pair of second words.
        pub(crate) fn transpose(self, other: Self) -> (Self, Self) {
            (Self([self.0[0], other.0[0]]), Self([self.0[1], other.0[1]]))
        }
        /// Multiplies the low halves of the words of two pairs.
        pub(crate) fn multiply_halves(self, other: Self) -> Self {
            self.map(other, |a, b| (a & 0xffff_ffff) * (b & 0xffff_ffff))
        }
        pub(crate) fn high_half(self) -> Self {
            self.map(self, |a, _| a >> 32)
        }
    }
}
