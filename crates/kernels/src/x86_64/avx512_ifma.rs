//! Vectors of 512 bits with 52-bit multiply-add.
#![expect(unsafe_code, reason = "intrinsics called from methods that a witness guards")]

use std::arch::x86_64::*;
use std::sync::Arc;

use super::avx512::{Avx512, vector};
use crate::constants::Constants;
use crate::generic::arithmetic::Arithmetic;
use crate::generic::compile::{compile, rounding};
use crate::generic::conversion;
use crate::generic::conversion52::{self, Columns};
use crate::generic::lanes::Whole;
use crate::generic::lanes::{Integers, Lanes52, Lanes64};
use crate::generic::word52::Word52;
use crate::generic::word64::Word64;
use crate::isa::Isa;
use crate::table::{Column, Negacyclic, Table, Together};

/// Witness that the processor has AVX-512 F, DQ, VL, IFMA and VBMI.
pub type Avx512Ifma = Avx512<true>;

impl Avx512Ifma {
    /// Returns the witness, where the processor has all its features.
    #[must_use]
    pub fn detect() -> Option<Self> {
        // SAFETY: the processor has the features.
        Isa::Avx512Ifma.is_available().then(|| unsafe { Self::new() })
    }
}

impl Lanes52 for Avx512Ifma {
    #[inline(always)]
    fn carry(self, a: __m512i) -> __m512i {
        vector!(_mm512_srai_epi64::<52>(a))
    }
    #[inline(always)]
    fn multiply_add_low(self, acc: __m512i, a: __m512i, b: __m512i) -> __m512i {
        vector!(_mm512_madd52lo_epu64(acc, a, b))
    }
    #[inline(always)]
    fn multiply_add_high(self, acc: __m512i, a: __m512i, b: __m512i) -> __m512i {
        vector!(_mm512_madd52hi_epu64(acc, a, b))
    }
}

/// High words of products, mostly by the 52-bit multiplier: what it leaves out is below three.
impl Lanes64 for Avx512Ifma {
    type Registers = Whole<Self>;
    const ABOUT_IS_SHORT: bool = true;

    #[inline(always)]
    fn registers(self) -> Whole<Self> {
        Whole(self)
    }
    #[inline(always)]
    fn multiply_low(self, a: __m512i, b: __m512i) -> __m512i {
        vector!(_mm512_mullo_epi64(a, b))
    }
    #[inline(always)]
    fn multiply_high(self, a: __m512i, b: __m512i) -> __m512i {
        super::avx512_dq::multiply_high(self, a, b)
    }
    #[inline(always)]
    fn multiply_high_about(self, a: __m512i, b: __m512i) -> __m512i {
        self.multiply_high_split(a, (self.shift_right(b, 12), self.shift_left(b, 40)))
    }
    fn split(b: u64) -> [u64; 2] {
        [b >> 12, b << 40]
    }
    #[inline(always)]
    fn multiply_high_split(self, a: __m512i, (b1, b0): (__m512i, __m512i)) -> __m512i {
        // a = a1·2^52 + a0 and b·2^-64 = b1·2^-52 + b0·2^-64. The high word of a·b is
        // a1·b1 + a0·b1·2^-52 + a1·b0·2^-12, where each fraction is cut, + a0·b0·2^-64, which is left out.
        let a1 = self.shift_right(a, 52);
        let high = self.multiply_add_high(self.multiply_low(a1, b1), a, b1);
        // The multiplier reads b0·2^40.
        self.multiply_add_high(high, a1, b0)
    }
    #[inline(always)]
    fn add_wide(self, sum: (__m512i, __m512i), other: (__m512i, __m512i)) -> (__m512i, __m512i) {
        super::avx512_dq::add_wide(sum, other)
    }
}

/// Tables of kernels by modulus: those with the longest lazy runs first.
pub(crate) const TABLES: [&Table; 4] = [&PERIOD_4, &PERIOD_2, &PERIOD_1, &WIDE];

type Wide = Word64<Avx512Ifma>;

#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma,avx512vbmi")]
fn wide(c: &Constants) -> Wide {
    // SAFETY: the features are those of this function.
    Word64::new(unsafe { Avx512Ifma::new() }, c)
}

/// Converts residues to one target modulus.
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma,avx512vbmi")]
pub(crate) fn convert_column(c: &Constants, out: &mut [u64], input: &[&[u64]], column: &[u64]) {
    conversion::convert_column(wide(c), out, input, column);
}

type Period4 = Word52<Avx512Ifma, 4>;
type Period2 = Word52<Avx512Ifma, 2>;
type Period1 = Word52<Avx512Ifma, 1>;

#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma,avx512vbmi")]
fn arithmetic<const PERIOD: usize>(c: &Constants) -> Word52<Avx512Ifma, PERIOD> {
    // SAFETY: the features are those of this function.
    Word52::new(unsafe { Avx512Ifma::new() }, c)
}

#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma,avx512vbmi")]
fn lanes() -> Avx512Ifma {
    // SAFETY: the features are those of this function.
    unsafe { Avx512Ifma::new() }
}

/// A base conversion on a processor that has IFMA: only [`together`] makes it.
struct Conversion(Columns);

impl Together for Conversion {
    fn convert(&self, input: &[&[u64]], out: &mut [&mut [u64]]) {
        #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma,avx512vbmi")]
        fn convert(columns: &Columns, input: &[&[u64]], out: &mut [&mut [u64]]) {
            // SAFETY: the features are those of this function.
            conversion52::convert(unsafe { Avx512Ifma::new() }, columns, input, out);
        }
        // SAFETY: the processor has the instructions, or `self` would not exist.
        unsafe { convert(&self.0, input, out) };
    }
}

#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma,avx512vbmi")]
fn together(from: &[u64], columns: &[Column]) -> Option<Arc<dyn Together>> {
    Some(Arc::new(Conversion(Columns::new(from, columns)?)))
}

/// Sums of products on a processor that has IFMA: only [`sums`] makes them.
struct Sums(Columns);

impl Together for Sums {
    fn convert(&self, input: &[&[u64]], out: &mut [&mut [u64]]) {
        #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma,avx512vbmi")]
        fn sum(columns: &Columns, input: &[&[u64]], out: &mut [&mut [u64]]) {
            // SAFETY: the features are those of this function.
            conversion52::sum(unsafe { Avx512Ifma::new() }, columns, input, out);
        }
        // SAFETY: the processor has the instructions, or `self` would not exist.
        unsafe { sum(&self.0, input, out) };
    }
}

/// Makes sums of words below these moduli times these columns that are not reduced, where the bounds allow.
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma,avx512vbmi")]
pub(crate) fn sums(from: &[u64], columns: &[Vec<u64>]) -> Option<Arc<dyn Together>> {
    Some(Arc::new(Sums(Columns::unreduced(from, columns)?)))
}

compile! {
    [#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma,avx512vbmi")]]
    elementwise WIDE_ELEMENTWISE = (Wide, wide);
    inner_products WIDE_INNER_PRODUCTS = (Wide, wide);
    negacyclic WIDE_NEGACYCLIC = (Wide, wide);
    cyclotomic WIDE_CYCLOTOMIC = (Wide, wide);
    elementwise ELEMENTWISE = (Period1, arithmetic::<1>);
    inner_products INNER_PRODUCTS = (Period1, arithmetic::<1>);
    negacyclic NEGACYCLIC_4 = (Period4, arithmetic::<4>);
    negacyclic NEGACYCLIC_2 = (Period2, arithmetic::<2>);
    negacyclic NEGACYCLIC_1 = (Period1, arithmetic::<1>);
    cyclotomic LONG_CYCLOTOMIC = (Period4, arithmetic::<4>);
    cyclotomic SHORT_CYCLOTOMIC = (Period1, arithmetic::<1>);
}

rounding! { [#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512ifma,avx512vbmi")]] ROUNDING = lanes }

/// Table of kernels for any modulus: the other tables are for narrow and odd moduli.
pub(crate) static WIDE: Table = Table {
    isa: Isa::Avx512Ifma,
    factor: Wide::factor,
    widest: Wide::WIDEST,
    elementwise: WIDE_ELEMENTWISE,
    inner_products: WIDE_INNER_PRODUCTS,
    rounding: ROUNDING,
    together: None,
    negacyclic: WIDE_NEGACYCLIC,
    cyclotomic: WIDE_CYCLOTOMIC,
};

/// Table of kernels for odd moduli below 2^52 / 18: four levels without a reduction.
pub(crate) static PERIOD_4: Table = Table {
    factor: Period4::factor,
    widest: Period4::WIDEST,
    elementwise: ELEMENTWISE,
    inner_products: INNER_PRODUCTS,
    together: Some(together),
    negacyclic: NEGACYCLIC_4,
    cyclotomic: LONG_CYCLOTOMIC,
    ..WIDE
};

/// Table of kernels for odd moduli below 2^52 / 10: two levels without a reduction.
pub(crate) static PERIOD_2: Table = Table {
    widest: Period2::WIDEST,
    negacyclic: Negacyclic {
        // Inverse levels of the shorter period.
        inverse_pass: NEGACYCLIC_1.inverse_pass,
        inverse_tail: NEGACYCLIC_1.inverse_tail,
        ..NEGACYCLIC_2
    },
    cyclotomic: SHORT_CYCLOTOMIC,
    ..PERIOD_4
};

/// Table of kernels for odd moduli below 2^49: a reduction before every level.
pub(crate) static PERIOD_1: Table = Table { widest: Period1::WIDEST, negacyclic: NEGACYCLIC_1, ..PERIOD_2 };
