//! AVX-512's vectors of 512 bits, whatever instructions they multiply with.
#![expect(unsafe_code, reason = "intrinsics called from methods that a witness guards")]

use std::arch::x86_64::*;

use crate::generic::lanes::{Integers, Lanes, WIDTH, expanded};
use crate::generic::rounding::Numbers;

/// Witness that the processor has AVX-512 F, DQ and VL, and with `IFMA` also IFMA and VBMI.
#[derive(Clone, Copy)]
pub struct Avx512<const IFMA: bool>(());

impl<const IFMA: bool> Avx512<IFMA> {
    /// # Safety
    /// The processor must have the features that the witness stands for.
    #[inline(always)]
    pub(crate) unsafe fn new() -> Self {
        Self(())
    }
}

/// Selector of quarters 0 and 2 of both vector operands.
const EVEN: i32 = 0b10_00_10_00;
/// Selector of quarters 1 and 3 of both vector operands.
const ODD: i32 = 0b11_01_11_01;

/// For words of 1 to 8 bytes, the bytes of eight words that are not 0, and their positions.
#[expect(clippy::indexing_slicing, reason = "indices below the lengths, in a constant")]
static PATTERNS: [(__mmask64, [u8; 64]); 8] = {
    let mut patterns = [(0, [0; 64]); 8];
    let mut at = 0;
    while at < 8 * 64 {
        let (width, place) = (at / 64 + 1, at % 64);
        let (word, byte) = (place / 8, place % 8);
        if byte < width {
            let (mask, places) = &mut patterns[width - 1];
            *mask |= 1 << place;
            places[place] = (word * width + byte) as u8;
        }
        at += 1;
    }
    patterns
};

/// Calls intrinsics in a method of [`Avx512`].
macro_rules! vector {
    ($body:expr) => {
        // SAFETY: `self` witnesses that the processor has the instructions; references are valid for
        // the eight words they are typed for.
        unsafe { $body }
    };
}

pub(super) use vector;

impl<const IFMA: bool> Integers for Avx512<IFMA> {
    type V = __m512i;
    #[inline(always)]
    fn splat(self, word: u64) -> __m512i {
        vector!(_mm512_set1_epi64(word.cast_signed()))
    }
    #[inline(always)]
    fn add(self, a: __m512i, b: __m512i) -> __m512i {
        vector!(_mm512_add_epi64(a, b))
    }
    #[inline(always)]
    fn sub(self, a: __m512i, b: __m512i) -> __m512i {
        vector!(_mm512_sub_epi64(a, b))
    }
    #[inline(always)]
    fn unless_negative(self, a: __m512i, b: __m512i) -> __m512i {
        // A negative a, read without sign, is above every b.
        vector!(_mm512_min_epu64(a, b))
    }
    #[inline(always)]
    fn and(self, a: __m512i, b: __m512i) -> __m512i {
        vector!(_mm512_and_si512(a, b))
    }
    #[inline(always)]
    fn shift_left(self, a: __m512i, count: u32) -> __m512i {
        vector!(_mm512_sll_epi64(a, _mm_cvtsi64_si128(i64::from(count))))
    }
    #[inline(always)]
    fn shift_right(self, a: __m512i, count: u32) -> __m512i {
        vector!(_mm512_srl_epi64(a, _mm_cvtsi64_si128(i64::from(count))))
    }
}

impl<const IFMA: bool> Lanes for Avx512<IFMA> {
    const LEVELS: u32 = 4;
    /// Number of bytes in a word, the bytes that are not 0, and their positions.
    type Pattern = (usize, __mmask64, __m512i);
    #[inline(always)]
    fn pattern(self, width: usize) -> Self::Pattern {
        let width = width.clamp(1, 8);
        let (mask, places) = PATTERNS.get(width - 1).map_or((0, &[0; 64]), |(mask, places)| (*mask, places));
        (width, mask, vector!(_mm512_loadu_si512(places.as_ptr().cast())))
    }
    #[inline(always)]
    fn expand(self, bytes: &[u8; 8 * WIDTH], (width, mask, places): Self::Pattern) -> __m512i {
        if IFMA {
            vector!(_mm512_maskz_permutexvar_epi8(mask, places, _mm512_loadu_si512(bytes.as_ptr().cast())))
        } else {
            self.load(&expanded(bytes, width))
        }
    }
    #[inline(always)]
    fn load(self, words: &[u64; WIDTH]) -> __m512i {
        vector!(_mm512_loadu_si512(words.as_ptr().cast()))
    }
    #[inline(always)]
    fn store(self, words: &mut [u64; WIDTH], v: __m512i) {
        vector!(_mm512_storeu_si512(words.as_mut_ptr().cast(), v));
    }
    #[inline(always)]
    fn prefetch(self, address: *const u64) {
        vector!(_mm_prefetch::<_MM_HINT_T0>(address.cast()));
    }
    #[inline(always)]
    fn transpose(self, v: &mut [__m512i; WIDTH]) {
        // Pairs of words, then pairs of pairs, then halves: 24 shuffles.
        vector!({
            let [v0, v1, v2, v3, v4, v5, v6, v7] = *v;
            let (a0, a1) = (_mm512_unpacklo_epi64(v0, v1), _mm512_unpackhi_epi64(v0, v1));
            let (a2, a3) = (_mm512_unpacklo_epi64(v2, v3), _mm512_unpackhi_epi64(v2, v3));
            let (a4, a5) = (_mm512_unpacklo_epi64(v4, v5), _mm512_unpackhi_epi64(v4, v5));
            let (a6, a7) = (_mm512_unpacklo_epi64(v6, v7), _mm512_unpackhi_epi64(v6, v7));
            let (b0, b2) = (_mm512_shuffle_i64x2::<EVEN>(a0, a2), _mm512_shuffle_i64x2::<ODD>(a0, a2));
            let (b1, b3) = (_mm512_shuffle_i64x2::<EVEN>(a1, a3), _mm512_shuffle_i64x2::<ODD>(a1, a3));
            let (b4, b6) = (_mm512_shuffle_i64x2::<EVEN>(a4, a6), _mm512_shuffle_i64x2::<ODD>(a4, a6));
            let (b5, b7) = (_mm512_shuffle_i64x2::<EVEN>(a5, a7), _mm512_shuffle_i64x2::<ODD>(a5, a7));
            *v = [
                _mm512_shuffle_i64x2::<EVEN>(b0, b4),
                _mm512_shuffle_i64x2::<EVEN>(b1, b5),
                _mm512_shuffle_i64x2::<EVEN>(b2, b6),
                _mm512_shuffle_i64x2::<EVEN>(b3, b7),
                _mm512_shuffle_i64x2::<ODD>(b0, b4),
                _mm512_shuffle_i64x2::<ODD>(b1, b5),
                _mm512_shuffle_i64x2::<ODD>(b2, b6),
                _mm512_shuffle_i64x2::<ODD>(b3, b7),
            ];
        });
    }
}

impl<const IFMA: bool> Numbers for Avx512<IFMA> {
    #[inline(always)]
    fn or(self, a: __m512i, b: __m512i) -> __m512i {
        vector!(_mm512_or_si512(a, b))
    }
    #[inline(always)]
    fn multiply_words(self, a: __m512i, b: __m512i) -> __m512i {
        vector!(_mm512_mullo_epi64(a, b))
    }
    #[inline(always)]
    fn add_doubles(self, a: __m512i, b: __m512i) -> __m512i {
        vector!(_mm512_castpd_si512(_mm512_add_pd(_mm512_castsi512_pd(a), _mm512_castsi512_pd(b))))
    }
    #[inline(always)]
    fn sub_doubles(self, a: __m512i, b: __m512i) -> __m512i {
        vector!(_mm512_castpd_si512(_mm512_sub_pd(_mm512_castsi512_pd(a), _mm512_castsi512_pd(b))))
    }
    #[inline(always)]
    fn multiply_doubles(self, a: __m512i, b: __m512i) -> __m512i {
        vector!(_mm512_castpd_si512(_mm512_mul_pd(_mm512_castsi512_pd(a), _mm512_castsi512_pd(b))))
    }
}
