//! AVX2's 256-bit vectors with fused multiply-add.
#![expect(unsafe_code, reason = "intrinsics called from methods that a witness guards")]

use std::arch::x86_64::*;
use std::sync::Arc;

use crate::constants::Constants;
use crate::generic::arithmetic::Arithmetic;
use crate::generic::compile::{compile, rounding};
use crate::generic::conversion_double::{self, Columns};
use crate::generic::double::{Double, Double48, Double50, ENDLESS};
use crate::generic::doubles::{Doubles, Joined};
use crate::generic::lanes::Registers;
use crate::generic::lanes::{WIDTH, sixteen};
use crate::isa::Isa;
use crate::table::{Column, Table, Together};

/// Witness that the processor has AVX2 and FMA.
#[derive(Clone, Copy)]
pub struct Avx2(());

impl Avx2 {
    /// # Safety
    /// The processor must have both features, AVX2 and FMA.
    #[inline(always)]
    pub(crate) unsafe fn new() -> Self {
        Self(())
    }

    /// Returns the witness, where the processor has both AVX2 and FMA.
    #[must_use]
    pub fn detect() -> Option<Self> {
        Isa::Avx2.is_available().then_some(Self(()))
    }
}

/// Selector of the low halves of both operands; the next constant selects the high halves.
const LOW: i32 = 0x20;
const HIGH: i32 = 0x31;

/// Calls intrinsics in a method of [`Avx2`].
macro_rules! vector {
    ($body:expr) => {
        // SAFETY: `self` witnesses that the processor has the instructions; references are valid for
        // the four words they are typed for.
        unsafe { $body }
    };
}

/// Defines an operation on words that computes on their bits as doubles.
macro_rules! words {
    ($operation:ident($($argument:expr),*)) => {
        vector!(_mm256_castsi256_pd($operation($($argument),*)))
    };
}

impl Avx2 {
    #[inline(always)]
    fn bits(self, a: __m256d) -> __m256i {
        vector!(_mm256_castpd_si256(a))
    }

    /// Transposes four registers of four words.
    #[inline(always)]
    fn transpose_square(self, [v0, v1, v2, v3]: [__m256d; 4]) -> [__m256d; 4] {
        vector!({
            let (a0, a1) = (_mm256_unpacklo_pd(v0, v1), _mm256_unpackhi_pd(v0, v1));
            let (a2, a3) = (_mm256_unpacklo_pd(v2, v3), _mm256_unpackhi_pd(v2, v3));
            [
                _mm256_permute2f128_pd::<LOW>(a0, a2),
                _mm256_permute2f128_pd::<LOW>(a1, a3),
                _mm256_permute2f128_pd::<HIGH>(a0, a2),
                _mm256_permute2f128_pd::<HIGH>(a1, a3),
            ]
        })
    }
}

impl Registers for Avx2 {
    type R = __m256d;
    const WORDS: usize = 4;
    const LEVELS: u32 = 3;

    #[inline(always)]
    fn load(self, words: &[u64]) -> __m256d {
        let words: &[u64; 4] = words.first_chunk().unwrap_or(&[0; 4]);
        vector!(_mm256_loadu_pd(words.as_ptr().cast()))
    }
    #[inline(always)]
    fn store(self, words: &mut [u64], r: __m256d) {
        if let Some(words) = words.first_chunk_mut::<4>() {
            vector!(_mm256_storeu_pd(words.as_mut_ptr().cast(), r));
        }
    }
    #[inline(always)]
    fn splat(self, word: u64) -> __m256d {
        vector!(_mm256_set1_pd(f64::from_bits(word)))
    }
    #[inline(always)]
    fn add_words(self, a: __m256d, b: __m256d) -> __m256d {
        words!(_mm256_add_epi64(self.bits(a), self.bits(b)))
    }
    #[inline(always)]
    fn transpose(self, x: &mut [__m256d; WIDTH]) {
        for square in x.as_chunks_mut().0 {
            *square = self.transpose_square(*square);
        }
    }
    #[inline(always)]
    fn prefetch(self, address: *const u64) {
        vector!(_mm_prefetch::<_MM_HINT_T0>(address.cast()));
    }
}

impl Doubles for Avx2 {
    #[inline(always)]
    fn add(self, a: __m256d, b: __m256d) -> __m256d {
        vector!(_mm256_add_pd(a, b))
    }
    #[inline(always)]
    fn sub(self, a: __m256d, b: __m256d) -> __m256d {
        vector!(_mm256_sub_pd(a, b))
    }
    #[inline(always)]
    fn multiply(self, a: __m256d, b: __m256d) -> __m256d {
        vector!(_mm256_mul_pd(a, b))
    }
    #[inline(always)]
    fn multiply_add(self, a: __m256d, b: __m256d, c: __m256d) -> __m256d {
        vector!(_mm256_fmadd_pd(a, b, c))
    }
    #[inline(always)]
    fn multiply_subtract(self, a: __m256d, b: __m256d, c: __m256d) -> __m256d {
        vector!(_mm256_fmsub_pd(a, b, c))
    }
    #[inline(always)]
    fn subtract_product(self, a: __m256d, b: __m256d, c: __m256d) -> __m256d {
        vector!(_mm256_fnmadd_pd(a, b, c))
    }

    #[inline(always)]
    fn sub_words(self, a: __m256d, b: __m256d) -> __m256d {
        words!(_mm256_sub_epi64(self.bits(a), self.bits(b)))
    }
    #[inline(always)]
    fn multiply_words(self, a: __m256d, b: __m256d) -> __m256d {
        let (a, b) = (self.bits(a), self.bits(b));
        vector!({
            let (a1, b1) = (_mm256_srli_epi64::<32>(a), _mm256_srli_epi64::<32>(b));
            let middle = _mm256_add_epi64(_mm256_mul_epu32(a1, b), _mm256_mul_epu32(a, b1));
            let product = _mm256_add_epi64(_mm256_mul_epu32(a, b), _mm256_slli_epi64::<32>(middle));
            _mm256_castsi256_pd(product)
        })
    }
    #[inline(always)]
    fn and(self, a: __m256d, b: __m256d) -> __m256d {
        vector!(_mm256_and_pd(a, b))
    }
    #[inline(always)]
    fn or(self, a: __m256d, b: __m256d) -> __m256d {
        vector!(_mm256_or_pd(a, b))
    }
    #[inline(always)]
    fn shift_left(self, a: __m256d, count: u32) -> __m256d {
        words!(_mm256_sll_epi64(self.bits(a), _mm_cvtsi64_si128(i64::from(count))))
    }
    #[inline(always)]
    fn shift_right(self, a: __m256d, count: u32) -> __m256d {
        words!(_mm256_srl_epi64(self.bits(a), _mm_cvtsi64_si128(i64::from(count))))
    }
    #[inline(always)]
    fn unless_negative(self, a: __m256d, b: __m256d) -> __m256d {
        vector!(_mm256_blendv_pd(a, b, a))
    }

    /// Number of bytes of two words, and positions of the bytes of both.
    type Pattern = (usize, __m256i);

    #[inline(always)]
    fn pattern(self, width: usize) -> Self::Pattern {
        let width = width.min(8);
        let mut places = [0x80_u8; 32];
        for (half, words) in places.chunks_exact_mut(8).enumerate() {
            for (i, place) in words.iter_mut().take(width).enumerate() {
                *place = (half % 2 * width + i) as u8;
            }
        }
        (2 * width, vector!(_mm256_loadu_si256(places.as_ptr().cast())))
    }
    #[inline(always)]
    fn expand(self, bytes: &[u8; 8 * WIDTH], at: usize, (pair, places): Self::Pattern) -> __m256d {
        let (low, high) = (sixteen(bytes, at), sixteen(bytes, at + pair));
        words!(_mm256_shuffle_epi8(_mm256_loadu2_m128i(high.as_ptr().cast(), low.as_ptr().cast()), places))
    }
}

/// Tables of kernels by modulus: those with the longest lazy runs first.
pub(crate) const TABLES: [&Table; 2] = [&DOUBLE_48, &DOUBLE_50];

#[inline]
#[target_feature(enable = "avx2,fma")]
fn arithmetic<const PERIOD: usize>(c: &Constants) -> Double<Avx2, 2, PERIOD> {
    // SAFETY: the features are those of this function.
    Double::new(unsafe { Avx2::new() }, c)
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn lanes() -> Joined<Avx2, 2> {
    // SAFETY: the features are those of this function.
    Joined(unsafe { Avx2::new() })
}

/// A base conversion on a processor that has AVX2 and FMA: only [`together`] makes it.
struct Conversion(Columns);

impl Together for Conversion {
    fn convert(&self, input: &[&[u64]], out: &mut [&mut [u64]]) {
        #[target_feature(enable = "avx2,fma")]
        fn convert(columns: &Columns, input: &[&[u64]], out: &mut [&mut [u64]]) {
            // SAFETY: the features are those of this function.
            conversion_double::convert(unsafe { Avx2::new() }, columns, input, out);
        }
        // SAFETY: the processor has the instructions, or `self` would not exist.
        unsafe { convert(&self.0, input, out) };
    }
}

#[target_feature(enable = "avx2,fma")]
fn together(from: &[u64], columns: &[Column]) -> Option<Arc<dyn Together>> {
    Some(Arc::new(Conversion(Columns::new(from, columns)?)))
}

compile! {
    [#[target_feature(enable = "avx2,fma")]]
    elementwise ELEMENTWISE = (Double50<Avx2, 2>, arithmetic::<3>);
    inner_products INNER_PRODUCTS_48 = (Double48<Avx2, 2>, arithmetic::<ENDLESS>);
    inner_products INNER_PRODUCTS_50 = (Double50<Avx2, 2>, arithmetic::<3>);
    negacyclic NEGACYCLIC_48 = (Double48<Avx2, 2>, arithmetic::<ENDLESS>);
    negacyclic NEGACYCLIC_50 = (Double50<Avx2, 2>, arithmetic::<3>);
    cyclotomic CYCLOTOMIC = (Double50<Avx2, 2>, arithmetic::<3>);
}

rounding! { [#[target_feature(enable = "avx2,fma")]] ROUNDING = lanes }

/// Table of kernels for moduli up to 2^48: no reduction in a forward transform.
pub(crate) static DOUBLE_48: Table = Table {
    isa: Isa::Avx2,
    factor: Double48::<Avx2, 2>::factor,
    widest: Double48::<Avx2, 2>::WIDEST,
    elementwise: ELEMENTWISE,
    inner_products: INNER_PRODUCTS_48,
    rounding: ROUNDING,
    together: Some(together),
    negacyclic: NEGACYCLIC_48,
    // No sweep is longer than the period of the wider moduli.
    cyclotomic: CYCLOTOMIC,
};

/// Table of kernels for moduli up to 2^50.
pub(crate) static DOUBLE_50: Table = Table {
    widest: Double50::<Avx2, 2>::WIDEST,
    inner_products: INNER_PRODUCTS_50,
    negacyclic: NEGACYCLIC_50,
    ..DOUBLE_48
};
