//! Lanes in plain Rust, and the tables that together take every modulus.

mod conversion;
mod levels;
pub mod loose;
mod pair;
mod products;
pub mod short;
mod short_sums;
mod sums;
mod word;

use crate::constants::Constants;
use crate::generic::arithmetic::Arithmetic;
use crate::generic::compile::{compile, rounding};
use crate::generic::lanes::Whole;
use crate::generic::lanes::{Integers, Lanes, Lanes64, WIDTH, expanded};
use crate::generic::rounding::Numbers;
use crate::generic::word64::Word64;
use crate::isa::Isa;
use crate::table::{Elementwise, Table};
use loose::Loose;

pub(crate) use sums::convert_column;
use word::Word;

/// Lanes of eight words in an array.
#[derive(Clone, Copy)]
pub struct Portable;

#[inline(always)]
fn map(a: [u64; WIDTH], f: impl Fn(u64) -> u64) -> [u64; WIDTH] {
    a.map(f)
}

#[inline(always)]
fn zip(a: [u64; WIDTH], b: [u64; WIDTH], f: impl Fn(u64, u64) -> u64) -> [u64; WIDTH] {
    let mut out = a;
    for (x, y) in out.iter_mut().zip(b) {
        *x = f(*x, y);
    }
    out
}

impl Integers for Portable {
    type V = [u64; WIDTH];
    #[inline(always)]
    fn splat(self, word: u64) -> Self::V {
        [word; WIDTH]
    }
    #[inline(always)]
    fn add(self, a: Self::V, b: Self::V) -> Self::V {
        zip(a, b, u64::wrapping_add)
    }
    #[inline(always)]
    fn sub(self, a: Self::V, b: Self::V) -> Self::V {
        zip(a, b, u64::wrapping_sub)
    }
    #[inline(always)]
    fn unless_negative(self, a: Self::V, b: Self::V) -> Self::V {
        zip(a, b, |x, y| {
            let negative = (x.cast_signed() >> 63).cast_unsigned();
            (x & !negative) | (y & negative)
        })
    }
    #[inline(always)]
    fn and(self, a: Self::V, b: Self::V) -> Self::V {
        zip(a, b, |x, y| x & y)
    }
    #[inline(always)]
    fn shift_left(self, a: Self::V, count: u32) -> Self::V {
        map(a, |x| x.checked_shl(count).unwrap_or(0))
    }
    #[inline(always)]
    fn shift_right(self, a: Self::V, count: u32) -> Self::V {
        map(a, |x| x.checked_shr(count).unwrap_or(0))
    }
}

impl Lanes for Portable {
    const LEVELS: u32 = 1;
    type Pattern = usize;
    #[inline(always)]
    fn load(self, words: &[u64; WIDTH]) -> Self::V {
        *words
    }
    #[inline(always)]
    fn pattern(self, width: usize) -> usize {
        width
    }
    #[inline(always)]
    fn expand(self, bytes: &[u8; 8 * WIDTH], width: usize) -> Self::V {
        expanded(bytes, width)
    }
    #[inline(always)]
    fn store(self, words: &mut [u64; WIDTH], v: Self::V) {
        *words = v;
    }
    #[inline(always)]
    fn prefetch(self, _: *const u64) {}
    #[inline(always)]
    #[expect(clippy::indexing_slicing, reason = "both indices run over a square array")]
    fn transpose(self, v: &mut [Self::V; WIDTH]) {
        let from = *v;
        for (k, row) in v.iter_mut().enumerate() {
            for (i, word) in row.iter_mut().enumerate() {
                *word = from[i][k];
            }
        }
    }
}

impl Lanes64 for Portable {
    type Registers = Whole<Self>;

    #[inline(always)]
    fn registers(self) -> Whole<Self> {
        Whole(self)
    }
    #[inline(always)]
    fn multiply_low(self, a: Self::V, b: Self::V) -> Self::V {
        zip(a, b, u64::wrapping_mul)
    }
    #[inline(always)]
    fn multiply_high(self, a: Self::V, b: Self::V) -> Self::V {
        zip(a, b, |x, y| ((u128::from(x) * u128::from(y)) >> 64) as u64)
    }
    #[inline(always)]
    fn add_wide(self, sum: (Self::V, Self::V), other: (Self::V, Self::V)) -> (Self::V, Self::V) {
        let lo = self.add(sum.1, other.1);
        let carry = zip(lo, other.1, |x, y| u64::from(x < y));
        (self.add(self.add(sum.0, other.0), carry), lo)
    }
}

impl Numbers for Portable {
    #[inline(always)]
    fn or(self, a: Self::V, b: Self::V) -> Self::V {
        zip(a, b, |x, y| x | y)
    }
    #[inline(always)]
    fn multiply_words(self, a: Self::V, b: Self::V) -> Self::V {
        zip(a, b, u64::wrapping_mul)
    }
    #[inline(always)]
    fn add_doubles(self, a: Self::V, b: Self::V) -> Self::V {
        zip(a, b, |x, y| (f64::from_bits(x) + f64::from_bits(y)).to_bits())
    }
    #[inline(always)]
    fn sub_doubles(self, a: Self::V, b: Self::V) -> Self::V {
        zip(a, b, |x, y| (f64::from_bits(x) - f64::from_bits(y)).to_bits())
    }
    #[inline(always)]
    fn multiply_doubles(self, a: Self::V, b: Self::V) -> Self::V {
        zip(a, b, |x, y| (f64::from_bits(x) * f64::from_bits(y)).to_bits())
    }
}

type Wide = Word64<Portable>;
/// Arithmetic of portable transforms: one word at a time leaves room for others in the registers that every
/// processor has.
type Single = Word64<Word>;

fn wide(c: &Constants) -> Wide {
    Word64::new(Portable, c)
}

fn single(c: &Constants) -> Single {
    Word64::new(Word, c)
}

compile! {
    []
    elementwise ELEMENTWISE = (Wide, wide);
    negacyclic NEGACYCLIC = (Single, single);
    negacyclic LOOSE_NEGACYCLIC = (Loose, Loose::new);
    cyclotomic CYCLOTOMIC = (Single, single);
}

fn lanes() -> Portable {
    Portable
}

rounding! { [] ROUNDING = lanes }

/// Tables of kernels by modulus: those with the longest lazy runs first.
pub(crate) const TABLES: [&Table; 3] = [&SHORT, &LOOSE, &PORTABLE];

/// Table of kernels for any modulus. Products and their sums are scalar: vectors would only keep them from
/// the registers.
pub(crate) static PORTABLE: Table = Table {
    isa: Isa::Portable,
    factor: Wide::factor,
    widest: Wide::WIDEST,
    elementwise: Elementwise {
        mul_assign: products::mul_assign,
        mul_add_assign: products::mul_add_assign,
        mul_scalar_assign: products::mul_scalar_assign,
        add_scaled_assign: products::add_scaled_assign,
        add_scale_assign: products::add_scale_assign,
        add_mirrored_assign: products::add_mirrored_assign,
        tensor: products::tensor,
        ..ELEMENTWISE
    },
    inner_products: sums::inner_products::<sums::Wide>(),
    rounding: ROUNDING,
    together: None,
    negacyclic: NEGACYCLIC,
    cyclotomic: CYCLOTOMIC,
};
/// Table of kernels for moduli whose products fit one word.
static SHORT: Table = Table {
    factor: short::factor,
    widest: short::WIDEST,
    inner_products: sums::inner_products::<short_sums::Short>(),
    together: Some(short_sums::together),
    negacyclic: levels::NEGACYCLIC,
    ..PORTABLE
};
/// Table of kernels for moduli whose transforms reduce nothing before their last level.
static LOOSE: Table = Table {
    factor: loose::factor,
    widest: loose::WIDEST,
    together: Some(conversion::together),
    negacyclic: LOOSE_NEGACYCLIC,
    ..PORTABLE
};
