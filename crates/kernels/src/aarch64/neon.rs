//! Neon's 128-bit vectors with fused multiply-add.
#![expect(unsafe_code, reason = "intrinsics called from methods that a witness guards")]

use std::arch::aarch64::*;
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

/// Witness that the processor has Neon.
#[derive(Clone, Copy)]
pub struct Neon(());

impl Neon {
    /// # Safety
    /// The processor must have Neon.
    #[inline(always)]
    pub(crate) unsafe fn new() -> Self {
        Self(())
    }

    /// Returns the witness, where the processor has Neon.
    #[must_use]
    pub fn detect() -> Option<Self> {
        Isa::Neon.is_available().then_some(Self(()))
    }
}

/// Calls intrinsics in a method of [`Neon`].
macro_rules! vector {
    ($body:expr) => {
        // SAFETY: `self` witnesses that the processor has the instructions; references are valid for
        // the two words they are typed for.
        unsafe { $body }
    };
}

/// Defines an operation on words that computes on their bits as doubles.
macro_rules! words {
    ($operation:ident($a:expr, $b:expr)) => {
        vector!(vreinterpretq_f64_u64($operation(vreinterpretq_u64_f64($a), vreinterpretq_u64_f64($b))))
    };
}

impl Neon {
    /// Shifts bits left by `count`, or right where `count` is negative.
    #[inline(always)]
    fn shift(self, a: float64x2_t, count: i64) -> float64x2_t {
        vector!(vreinterpretq_f64_u64(vshlq_u64(vreinterpretq_u64_f64(a), vdupq_n_s64(count))))
    }
}

impl Registers for Neon {
    type R = float64x2_t;
    const WORDS: usize = 2;
    const LEVELS: u32 = 3;

    #[inline(always)]
    fn load(self, words: &[u64]) -> float64x2_t {
        let words: &[u64; 2] = words.first_chunk().unwrap_or(&[0; 2]);
        vector!(vreinterpretq_f64_u64(vld1q_u64(words.as_ptr())))
    }
    #[inline(always)]
    fn store(self, words: &mut [u64], r: float64x2_t) {
        if let Some(words) = words.first_chunk_mut::<2>() {
            vector!(vst1q_u64(words.as_mut_ptr(), vreinterpretq_u64_f64(r)));
        }
    }
    #[inline(always)]
    fn splat(self, word: u64) -> float64x2_t {
        vector!(vdupq_n_f64(f64::from_bits(word)))
    }
    #[inline(always)]
    fn add_words(self, a: float64x2_t, b: float64x2_t) -> float64x2_t {
        words!(vaddq_u64(a, b))
    }
    #[inline(always)]
    fn transpose(self, x: &mut [float64x2_t; WIDTH]) {
        for square in x.as_chunks_mut().0 {
            let [a, b] = *square;
            *square = vector!([vtrn1q_f64(a, b), vtrn2q_f64(a, b)]);
        }
    }
    #[inline(always)]
    fn prefetch(self, _: *const u64) {}
}

impl Doubles for Neon {
    #[inline(always)]
    fn add(self, a: float64x2_t, b: float64x2_t) -> float64x2_t {
        vector!(vaddq_f64(a, b))
    }
    #[inline(always)]
    fn sub(self, a: float64x2_t, b: float64x2_t) -> float64x2_t {
        vector!(vsubq_f64(a, b))
    }
    #[inline(always)]
    fn multiply(self, a: float64x2_t, b: float64x2_t) -> float64x2_t {
        vector!(vmulq_f64(a, b))
    }
    #[inline(always)]
    fn multiply_add(self, a: float64x2_t, b: float64x2_t, c: float64x2_t) -> float64x2_t {
        vector!(vfmaq_f64(c, a, b))
    }
    #[inline(always)]
    fn multiply_subtract(self, a: float64x2_t, b: float64x2_t, c: float64x2_t) -> float64x2_t {
        vector!(vfmaq_f64(vnegq_f64(c), a, b))
    }
    #[inline(always)]
    fn subtract_product(self, a: float64x2_t, b: float64x2_t, c: float64x2_t) -> float64x2_t {
        vector!(vfmsq_f64(c, a, b))
    }

    #[inline(always)]
    fn sub_words(self, a: float64x2_t, b: float64x2_t) -> float64x2_t {
        words!(vsubq_u64(a, b))
    }
    #[inline(always)]
    fn multiply_words(self, a: float64x2_t, b: float64x2_t) -> float64x2_t {
        // Products of halves: Neon multiplies no whole words.
        vector!({
            let (a, b) = (vreinterpretq_u64_f64(a), vreinterpretq_u64_f64(b));
            let (a0, b0) = (vmovn_u64(a), vmovn_u64(b));
            let (a1, b1) = (vshrn_n_u64::<32>(a), vshrn_n_u64::<32>(b));
            let middle = vmlal_u32(vmull_u32(a1, b0), a0, b1);
            vreinterpretq_f64_u64(vmlal_u32(vshlq_n_u64::<32>(middle), a0, b0))
        })
    }
    #[inline(always)]
    fn and(self, a: float64x2_t, b: float64x2_t) -> float64x2_t {
        words!(vandq_u64(a, b))
    }
    #[inline(always)]
    fn or(self, a: float64x2_t, b: float64x2_t) -> float64x2_t {
        words!(vorrq_u64(a, b))
    }
    #[inline(always)]
    fn shift_left(self, a: float64x2_t, count: u32) -> float64x2_t {
        self.shift(a, i64::from(count.min(64)))
    }
    #[inline(always)]
    fn shift_right(self, a: float64x2_t, count: u32) -> float64x2_t {
        self.shift(a, -i64::from(count.min(64)))
    }
    #[inline(always)]
    fn unless_negative(self, a: float64x2_t, b: float64x2_t) -> float64x2_t {
        vector!({
            let negative = vcltzq_s64(vreinterpretq_s64_f64(a));
            vbslq_f64(negative, b, a)
        })
    }

    /// Positions in memory of the bytes of both words of a register.
    type Pattern = uint8x16_t;

    #[inline(always)]
    fn pattern(self, width: usize) -> uint8x16_t {
        let width = width.min(8);
        let mut places = [0xFF_u8; 16];
        for (half, words) in places.chunks_exact_mut(8).enumerate() {
            for (i, place) in words.iter_mut().take(width).enumerate() {
                *place = (half * width + i) as u8;
            }
        }
        vector!(vld1q_u8(places.as_ptr()))
    }
    #[inline(always)]
    fn expand(self, bytes: &[u8; 8 * WIDTH], at: usize, places: uint8x16_t) -> float64x2_t {
        vector!(vreinterpretq_f64_u8(vqtbl1q_u8(vld1q_u8(sixteen(bytes, at).as_ptr()), places)))
    }
}

/// Tables of kernels by modulus: those with the longest lazy runs first.
pub(crate) const TABLES: [&Table; 2] = [&DOUBLE_48, &DOUBLE_50];

#[inline]
#[target_feature(enable = "neon")]
fn arithmetic<const PERIOD: usize>(c: &Constants) -> Double<Neon, 4, PERIOD> {
    // SAFETY: the feature is that of this function.
    Double::new(unsafe { Neon::new() }, c)
}

#[inline]
#[target_feature(enable = "neon")]
fn lanes() -> Joined<Neon, 4> {
    // SAFETY: the feature is that of this function.
    Joined(unsafe { Neon::new() })
}

/// A base conversion on a processor that has Neon: only [`together`] makes it.
struct Conversion(Columns);

impl Together for Conversion {
    fn convert(&self, input: &[&[u64]], out: &mut [&mut [u64]]) {
        #[target_feature(enable = "neon")]
        fn convert(columns: &Columns, input: &[&[u64]], out: &mut [&mut [u64]]) {
            // SAFETY: the feature is that of this function.
            conversion_double::convert(unsafe { Neon::new() }, columns, input, out);
        }
        // SAFETY: the processor has the instructions, or `self` would not exist.
        unsafe { convert(&self.0, input, out) };
    }
}

#[target_feature(enable = "neon")]
fn together(from: &[u64], columns: &[Column]) -> Option<Arc<dyn Together>> {
    Some(Arc::new(Conversion(Columns::new(from, columns)?)))
}

compile! {
    [#[target_feature(enable = "neon")]]
    elementwise ELEMENTWISE = (Double50<Neon, 4>, arithmetic::<3>);
    inner_products INNER_PRODUCTS_48 = (Double48<Neon, 4>, arithmetic::<ENDLESS>);
    inner_products INNER_PRODUCTS_50 = (Double50<Neon, 4>, arithmetic::<3>);
    negacyclic NEGACYCLIC_48 = (Double48<Neon, 4>, arithmetic::<ENDLESS>);
    negacyclic NEGACYCLIC_50 = (Double50<Neon, 4>, arithmetic::<3>);
    cyclotomic CYCLOTOMIC = (Double50<Neon, 4>, arithmetic::<3>);
}

rounding! { [#[target_feature(enable = "neon")]] ROUNDING = lanes }

/// Table of kernels for moduli up to 2^48: no reduction in a forward transform.
pub(crate) static DOUBLE_48: Table = Table {
    isa: Isa::Neon,
    factor: Double48::<Neon, 4>::factor,
    widest: Double48::<Neon, 4>::WIDEST,
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
    widest: Double50::<Neon, 4>::WIDEST,
    inner_products: INNER_PRODUCTS_50,
    negacyclic: NEGACYCLIC_50,
    ..DOUBLE_48
};
