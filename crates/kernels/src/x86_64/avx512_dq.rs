//! Vectors of 512 bits that multiply whole words: any modulus.
#![expect(unsafe_code, reason = "intrinsics called from methods that a witness guards")]

use std::arch::x86_64::*;

use super::avx2;
use super::avx512::{Avx512, vector};
use crate::constants::Constants;
use crate::generic::arithmetic::Arithmetic;
use crate::generic::compile::compile;
use crate::generic::conversion;
use crate::generic::lanes::Whole;
use crate::generic::lanes::{Integers, Lanes64};
use crate::generic::word64::Word64;
use crate::isa::Isa;
use crate::table::Table;

/// Witness that the processor has AVX-512 F, DQ and VL.
pub(crate) type Avx512Dq = Avx512<false>;

/// Returns the products of the low halves of words.
#[inline(always)]
fn multiply_halves<const IFMA: bool>(_: Avx512<IFMA>, a: __m512i, b: __m512i) -> __m512i {
    vector!(_mm512_mul_epu32(a, b))
}

/// Returns the high words of the products of words, from four products of halves.
#[inline(always)]
pub(super) fn multiply_high<const IFMA: bool>(l: Avx512<IFMA>, a: __m512i, b: __m512i) -> __m512i {
    let (a1, b1) = (l.shift_right(a, 32), l.shift_right(b, 32));
    let low = l.shift_right(multiply_halves(l, a, b), 32);
    // No sum overflows: (2^32 − 1)^2 + 2·(2^32 − 1) < 2^64.
    let first = l.add(multiply_halves(l, a1, b), low);
    let second = l.add(multiply_halves(l, a, b1), l.and(first, l.splat(0xffff_ffff)));
    let high = l.add(multiply_halves(l, a1, b1), l.shift_right(first, 32));
    l.add(high, l.shift_right(second, 32))
}

/// Returns the sums of 128-bit numbers, as (high, low).
#[inline(always)]
pub(super) fn add_wide(sum: (__m512i, __m512i), other: (__m512i, __m512i)) -> (__m512i, __m512i) {
    vector!({
        let low = _mm512_add_epi64(sum.1, other.1);
        let high = _mm512_add_epi64(sum.0, other.0);
        let carries = _mm512_cmplt_epu64_mask(low, other.1);
        (_mm512_mask_sub_epi64(high, carries, high, _mm512_set1_epi64(-1)), low)
    })
}

impl Lanes64 for Avx512Dq {
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
        multiply_high(self, a, b)
    }
    #[inline(always)]
    fn multiply_high_about(self, a: __m512i, b: __m512i) -> __m512i {
        // Both fractions are cut and the product of the low halves is left out.
        let (a1, b1) = (self.shift_right(a, 32), self.shift_right(b, 32));
        let first = self.shift_right(multiply_halves(self, a1, b), 32);
        let second = self.shift_right(multiply_halves(self, a, b1), 32);
        self.add(self.add(multiply_halves(self, a1, b1), first), second)
    }
    #[inline(always)]
    fn add_wide(self, sum: (__m512i, __m512i), other: (__m512i, __m512i)) -> (__m512i, __m512i) {
        add_wide(sum, other)
    }
}

type Wide = Word64<Avx512Dq>;

#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512vl")]
fn wide(c: &Constants) -> Wide {
    // SAFETY: the features are those of this function.
    Word64::new(unsafe { Avx512Dq::new() }, c)
}

/// Converts residues to one target modulus.
#[target_feature(enable = "avx512f,avx512dq,avx512vl")]
pub(crate) fn convert_column(c: &Constants, out: &mut [u64], input: &[&[u64]], column: &[u64]) {
    conversion::convert_column(wide(c), out, input, column);
}

compile! {
    [#[target_feature(enable = "avx512f,avx512dq,avx512vl")]]
    elementwise ELEMENTWISE = (Wide, wide);
    inner_products INNER_PRODUCTS = (Wide, wide);
    negacyclic NEGACYCLIC = (Wide, wide);
    cyclotomic CYCLOTOMIC = (Wide, wide);
}

/// Table of kernels for any modulus.
pub(crate) static WIDE: Table = Table {
    isa: Isa::Avx512Dq,
    factor: Wide::factor,
    widest: Wide::WIDEST,
    elementwise: ELEMENTWISE,
    inner_products: INNER_PRODUCTS,
    rounding: avx2::DOUBLE_48.rounding,
    together: None,
    negacyclic: NEGACYCLIC,
    cyclotomic: CYCLOTOMIC,
};
