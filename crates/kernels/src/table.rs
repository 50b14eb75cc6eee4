//! One table of functions for each way of computing, chosen when a modulus is made.

use std::sync::Arc;

use crate::constants::Constants;
use crate::cyclotomic::{ScaledKernel, Tables};
use crate::generic::elementwise::Bits;
use crate::generic::ntt_forward::Elsewhere;
use crate::generic::ntt_inverse::LastFactors;
use crate::generic::rounding::{Double, Fixed, Nearest, Wrapping};
use crate::isa::Isa;
use crate::modulus::Modulus;
use crate::twiddles::Twiddles;

/// (constant factor, modulus)
pub(crate) type Factor = fn(u64, u64) -> [u64; 2];
/// (constants, out, first factors, second factors)
type InnerProduct = unsafe fn(&Constants, &mut [u64], &[&[u64]], &[&[u64]]);
/// The same for two outputs and two lists of second factors.
type InnerProductPair = unsafe fn(&Constants, [&mut [u64]; 2], &[&[u64]], [&[&[u64]]; 2]);
type PackedInnerProducts = unsafe fn(&Constants, [&mut [u64]; 2], &[&[u64]], [&[&[u8]]; 2]);
/// (constants, twiddles, factors of the last level, input that stands elsewhere, data)
type Inverse = unsafe fn(&Constants, &Twiddles, &LastFactors, Option<&[u64]>, &mut [u64]);
/// (constants, twiddles, what to transform unless it is the data, data)
type Outer = unsafe fn(&Constants, &Twiddles, Option<Elsewhere<'_>>, &mut [u64]);
/// (constants, twiddles, first chunk, chunks, what is read later)
type Inner = unsafe fn(&Constants, &Twiddles, usize, &mut [u64], [&[u8]; 2]);
/// (constants, outs, first factors, second factors, constant factor)
type Tensor = unsafe fn(&Constants, [&mut [u64]; 3], [&[u64]; 2], [&[u64]; 2], Option<u64>);
/// (constants, out, input vectors, matrix column)
type ConvertColumn = unsafe fn(&Constants, &mut [u64], &[&[u64]], &[u64]);

/// (constants, tables, kernel to replace one, data, scratch memory)
type Cyclotomic = unsafe fn(&Constants, &Tables, Option<&ScaledKernel>, &mut [u64], &mut [u64]);

/// A target of a conversion.
#[derive(Clone)]
pub(crate) struct Column {
    /// Its place among the outputs.
    pub(crate) output: usize,
    pub(crate) to: Modulus,
    /// M_0, M_1, …, canonical.
    pub(crate) matrix: Vec<u64>,
}

/// Targets that are computed together.
pub(crate) trait Together: Send + Sync {
    /// Converts input vectors to output vectors.
    fn convert(&self, input: &[&[u64]], out: &mut [&mut [u64]]);
}

/// (source moduli, targets) to what converts them together, where it can.
pub(crate) type MakeTogether = unsafe fn(&[Modulus], &[Column]) -> Option<Arc<dyn Together>>;

/// All kernels of one instruction set and one word discipline.
///
/// # Safety
/// Every function may be called only where `isa` is available. Lengths are checked by the callers and
/// lead to wrong results, never to undefined behaviour, if they are not.
pub(crate) struct Table {
    pub(crate) isa: Isa,
    /// What multiplies by a constant in this table's arithmetic.
    pub(crate) factor: Factor,
    /// The largest modulus whose lazy words fit.
    pub(crate) widest: u64,
    pub(crate) add_assign: unsafe fn(&Constants, &mut [u64], &[u64]),
    pub(crate) sub_assign: unsafe fn(&Constants, &mut [u64], &[u64]),
    pub(crate) neg_assign: unsafe fn(&Constants, &mut [u64]),
    pub(crate) sum_difference_assign: unsafe fn(&Constants, &mut [u64], &mut [u64]),
    pub(crate) mul_assign: unsafe fn(&Constants, &mut [u64], &[u64]),
    /// (constants, out, first, second), here and in the next.
    pub(crate) sum_into: unsafe fn(&Constants, &mut [u64], &[u64], &[u64]),
    pub(crate) difference_into: unsafe fn(&Constants, &mut [u64], &[u64], &[u64]),
    /// (constants, data, other, scalar), here and in the next.
    pub(crate) add_scaled_assign: unsafe fn(&Constants, &mut [u64], &[u64], u64),
    pub(crate) add_scale_assign: unsafe fn(&Constants, &mut [u64], &[u64], u64),
    /// (constants, data, summand, unreduced summand)
    pub(crate) shift_assign: unsafe fn(&Constants, &mut [u64], u64, u64),
    pub(crate) tensor: Tensor,
    pub(crate) lift_into: unsafe fn(&Constants, &mut [u64], &[u64], &Bits),
    pub(crate) mul_add_assign: unsafe fn(&Constants, &mut [u64], &[u64], &[u64]),
    pub(crate) mul_scalar_assign: unsafe fn(&Constants, &mut [u64], u64),
    pub(crate) reduce_into: unsafe fn(&Constants, &mut [u64], &[u64]),
    pub(crate) reduce_signed_into: unsafe fn(&Constants, &mut [u64], &[i64]),
    pub(crate) add_small_assign: unsafe fn(&Constants, &mut [u64], &[i64]),
    pub(crate) inner_product: InnerProduct,
    pub(crate) inner_product_pair: InnerProductPair,
    /// The same for second factors in bytes.
    pub(crate) packed_inner_products: PackedInnerProducts,
    pub(crate) convert_column: ConvertColumn,
    /// Converts to several targets at once, where that saves work.
    pub(crate) together: Option<MakeTogether>,
    /// (constants, out, input vectors), here and in the next three.
    pub(crate) wrapping_sum: unsafe fn(&Wrapping, &mut [u64], &[&[u64]]),
    pub(crate) round_double: unsafe fn(&Double, &mut [u64], &[&[u64]]),
    pub(crate) round_nearest: unsafe fn(&Nearest, &mut [u64], &[&[u64]]),
    pub(crate) round_fixed: unsafe fn(&Fixed, &mut [u64], &[&[u64]]),
    /// The passes of a forward transform over all words, then those of some chunks.
    pub(crate) ntt_outer: Outer,
    pub(crate) ntt_inner: Inner,
    pub(crate) ntt_inverse: Inverse,
    pub(crate) cyclotomic: Transform,
}

/// Cyclotomic transforms of one arithmetic, for any modulus of the tables that share them.
#[derive(Clone, Copy)]
pub(crate) struct Transform {
    /// What multiplies by a constant, and how many words of it count.
    pub(crate) constant: fn(u64, u64) -> [u64; 3],
    pub(crate) words: usize,
    /// Levels that it runs at once.
    pub(crate) levels: u32,
    pub(crate) run: Cyclotomic,
}

/// Compiles every generic loop for one arithmetic, behind an attribute that enables its instructions.
macro_rules! define_table {
    ($(#[doc = $doc:literal])* $(#[target_feature(enable = $features:literal)])?
     $visibility:vis static $name:ident = ($isa:expr, $arithmetic:ty, $new:path, $together:expr, $transform:expr);) => {
        $(#[doc = $doc])*
        $visibility static $name: $crate::table::Table = {
            use $crate::constants::Constants;
            use $crate::generic::arithmetic::Arithmetic as _;
            use $crate::generic::ntt_forward::Elsewhere;
            use $crate::generic::ntt_inverse::LastFactors;
            use $crate::generic::rounding::{self, Double, Fixed, Nearest, Wrapping};
            use $crate::generic::{conversion, elementwise, inner_product, ntt_forward, ntt_inverse};
            use $crate::twiddles::Twiddles;

            $(#[target_feature(enable = $features)])?
            fn add_assign(c: &Constants, data: &mut [u64], other: &[u64]) {
                elementwise::add_assign($new(c), data, other);
            }
            $(#[target_feature(enable = $features)])?
            fn sub_assign(c: &Constants, data: &mut [u64], other: &[u64]) {
                elementwise::sub_assign($new(c), data, other);
            }
            $(#[target_feature(enable = $features)])?
            fn neg_assign(c: &Constants, data: &mut [u64]) {
                elementwise::neg_assign($new(c), data);
            }
            $(#[target_feature(enable = $features)])?
            fn sum_difference_assign(c: &Constants, x: &mut [u64], y: &mut [u64]) {
                elementwise::sum_difference_assign($new(c), x, y);
            }
            $(#[target_feature(enable = $features)])?
            fn mul_assign(c: &Constants, data: &mut [u64], other: &[u64]) {
                elementwise::mul_assign($new(c), data, other);
            }
            $(#[target_feature(enable = $features)])?
            fn sum_into(c: &Constants, out: &mut [u64], x: &[u64], y: &[u64]) {
                elementwise::sum_into($new(c), out, x, y);
            }
            $(#[target_feature(enable = $features)])?
            fn difference_into(c: &Constants, out: &mut [u64], x: &[u64], y: &[u64]) {
                elementwise::difference_into($new(c), out, x, y);
            }
            $(#[target_feature(enable = $features)])?
            fn add_scaled_assign(c: &Constants, data: &mut [u64], other: &[u64], scalar: u64) {
                elementwise::add_scaled_assign($new(c), data, other, scalar, c.q);
            }
            $(#[target_feature(enable = $features)])?
            fn add_scale_assign(c: &Constants, data: &mut [u64], other: &[u64], scalar: u64) {
                elementwise::add_scale_assign($new(c), data, other, scalar, c.q);
            }
            $(#[target_feature(enable = $features)])?
            fn shift_assign(c: &Constants, data: &mut [u64], half: u64, rest: u64) {
                elementwise::shift_assign($new(c), data, half, rest);
            }
            $(#[target_feature(enable = $features)])?
            fn tensor(c: &Constants, out: [&mut [u64]; 3], x: [&[u64]; 2], y: [&[u64]; 2], scalar: Option<u64>) {
                let factor = scalar.map(|scalar| <$arithmetic>::factor(scalar, c.q));
                elementwise::tensor($new(c), out, x, y, factor);
            }
            $(#[target_feature(enable = $features)])?
            fn lift_into(c: &Constants, out: &mut [u64], words: &[u64], bits: &elementwise::Bits) {
                elementwise::lift_into($new(c), out, words, bits);
            }
            $(#[target_feature(enable = $features)])?
            fn mul_add_assign(c: &Constants, data: &mut [u64], x: &[u64], y: &[u64]) {
                elementwise::mul_add_assign($new(c), data, x, y);
            }
            $(#[target_feature(enable = $features)])?
            fn mul_scalar_assign(c: &Constants, data: &mut [u64], scalar: u64) {
                elementwise::mul_scalar_assign($new(c), data, scalar, c.q);
            }
            $(#[target_feature(enable = $features)])?
            fn reduce_into(c: &Constants, out: &mut [u64], words: &[u64]) {
                elementwise::reduce_into($new(c), out, words);
            }
            $(#[target_feature(enable = $features)])?
            fn reduce_signed_into(c: &Constants, out: &mut [u64], words: &[i64]) {
                elementwise::reduce_signed_into($new(c), out, words, c.q);
            }
            $(#[target_feature(enable = $features)])?
            fn add_small_assign(c: &Constants, data: &mut [u64], words: &[i64]) {
                elementwise::add_small_assign($new(c), data, words);
            }
            $(#[target_feature(enable = $features)])?
            fn inner_product_of(c: &Constants, out: &mut [u64], x: &[&[u64]], y: &[&[u64]]) {
                inner_product::inner_products($new(c), inner_product::Whole, [out], x, [y]);
            }
            $(#[target_feature(enable = $features)])?
            fn inner_product_pair(c: &Constants, out: [&mut [u64]; 2], x: &[&[u64]], y: [&[&[u64]]; 2]) {
                inner_product::inner_products($new(c), inner_product::Whole, out, x, y);
            }
            $(#[target_feature(enable = $features)])?
            fn packed_inner_products(c: &Constants, out: [&mut [u64]; 2], x: &[&[u64]], y: [&[&[u8]]; 2]) {
                let a = $new(c);
                inner_product::inner_products(a, inner_product::Packed::new(a, c.residue_bytes()), out, x, y);
            }
            $(#[target_feature(enable = $features)])?
            fn convert_column(c: &Constants, out: &mut [u64], input: &[&[u64]], column: &[u64]) {
                conversion::convert_column($new(c), out, input, column);
            }
            $(#[target_feature(enable = $features)])?
            fn wrapping_sum(sum: &Wrapping, out: &mut [u64], input: &[&[u64]]) {
                rounding::wrapping(sum, out, input);
            }
            $(#[target_feature(enable = $features)])?
            fn round_double(sum: &Double, out: &mut [u64], input: &[&[u64]]) {
                rounding::double(sum, out, input);
            }
            $(#[target_feature(enable = $features)])?
            fn round_nearest(sum: &Nearest, out: &mut [u64], input: &[&[u64]]) {
                rounding::nearest(sum, out, input);
            }
            $(#[target_feature(enable = $features)])?
            fn round_fixed(sum: &Fixed, out: &mut [u64], input: &[&[u64]]) {
                rounding::fixed(sum, out, input);
            }
            $(#[target_feature(enable = $features)])?
            fn outer(c: &Constants, twiddles: &Twiddles, input: Option<Elsewhere<'_>>, data: &mut [u64]) {
                ntt_forward::outer($new(c), twiddles, input, data);
            }
            $(#[target_feature(enable = $features)])?
            fn inner(c: &Constants, twiddles: &Twiddles, first: usize, data: &mut [u64], later: [&[u8]; 2]) {
                ntt_forward::inner($new(c), twiddles, first, data, later);
            }
            $(#[target_feature(enable = $features)])?
            fn inverse(
                c: &Constants,
                twiddles: &Twiddles,
                last: &LastFactors,
                input: Option<&[u64]>,
                data: &mut [u64],
            ) {
                ntt_inverse::inverse($new(c), twiddles, last, input, data);
            }
            $crate::table::Table {
                isa: $isa,
                factor: <$arithmetic>::factor,
                widest: <$arithmetic>::WIDEST,
                add_assign,
                sub_assign,
                neg_assign,
                sum_difference_assign,
                mul_assign,
                sum_into,
                difference_into,
                add_scaled_assign,
                add_scale_assign,
                shift_assign,
                tensor,
                lift_into,
                mul_add_assign,
                mul_scalar_assign,
                reduce_into,
                reduce_signed_into,
                add_small_assign,
                inner_product: inner_product_of,
                inner_product_pair,
                packed_inner_products,
                convert_column,
                together: $together,
                wrapping_sum,
                round_double,
                round_nearest,
                round_fixed,
                ntt_outer: outer,
                ntt_inner: inner,
                ntt_inverse: inverse,
                cyclotomic: $transform,
            }
        };
    };
}
pub(crate) use define_table;

/// Compiles cyclotomic transforms for one arithmetic. They take long to compile: tables share them where that costs no time.
macro_rules! define_transform {
    ($(#[doc = $doc:literal])* $(#[target_feature(enable = $features:literal)])?
     $visibility:vis static $name:ident = ($arithmetic:ty, $new:path);) => {
        $(#[doc = $doc])*
        $visibility static $name: $crate::table::Transform = {
            use $crate::constants::Constants;
            use $crate::cyclotomic::{ScaledKernel, Sweep, Tables};
            use $crate::generic::arithmetic::Butterflies;
            use $crate::generic::cyclotomic;
            use $crate::generic::registers::Registers;
            use $crate::generic::sweeps::{self, Path};

            const WORDS: usize = <$arithmetic as Butterflies>::CONSTANT;
            $(#[target_feature(enable = $features)])?
            fn sweep_2(c: &Constants, sweep: &Sweep, kernel: &[u64], path: &Path) {
                sweeps::sweep::<_, 2, { 1 * WORDS }, { 2 * WORDS }>($new(c), sweep, kernel, path);
            }
            $(#[target_feature(enable = $features)])?
            fn sweep_4(c: &Constants, sweep: &Sweep, kernel: &[u64], path: &Path) {
                sweeps::sweep::<_, 4, { 3 * WORDS }, { 4 * WORDS }>($new(c), sweep, kernel, path);
            }
            $(#[target_feature(enable = $features)])?
            fn sweep_8(c: &Constants, sweep: &Sweep, kernel: &[u64], path: &Path) {
                sweeps::sweep::<_, 8, { 7 * WORDS }, { 8 * WORDS }>($new(c), sweep, kernel, path);
            }
            $(#[target_feature(enable = $features)])?
            fn sweep_16(c: &Constants, sweep: &Sweep, kernel: &[u64], path: &Path) {
                sweeps::sweep::<_, 16, { 15 * WORDS }, { 16 * WORDS }>($new(c), sweep, kernel, path);
            }
            $(#[target_feature(enable = $features)])?
            fn sweep_3(c: &Constants, sweep: &Sweep, kernel: &[u64], path: &Path) {
                sweeps::sweep::<_, 3, { 3 * WORDS }, { 3 * WORDS }>($new(c), sweep, kernel, path);
            }
            $(#[target_feature(enable = $features)])?
            fn sweep_5(c: &Constants, sweep: &Sweep, kernel: &[u64], path: &Path) {
                sweeps::sweep::<_, 5, { 9 * WORDS }, { 5 * WORDS }>($new(c), sweep, kernel, path);
            }
            $(#[target_feature(enable = $features)])?
            fn sweep_6(c: &Constants, sweep: &Sweep, kernel: &[u64], path: &Path) {
                sweeps::sweep::<_, 6, { 1 * WORDS }, { 6 * WORDS }>($new(c), sweep, kernel, path);
            }
            $(#[target_feature(enable = $features)])?
            fn transform(
                c: &Constants,
                tables: &Tables,
                scaled: Option<&ScaledKernel>,
                data: &mut [u64],
                scratch: &mut [u64],
            ) {
                let by_size: &sweeps::Sweeps = &[sweep_2, sweep_4, sweep_8, sweep_16, sweep_3, sweep_5, sweep_6];
                cyclotomic::transform($new(c), c, by_size, tables, scaled, data, scratch);
            }
            $crate::table::Transform {
                constant: <$arithmetic as Butterflies>::constant_words,
                words: WORDS,
                levels: <<$arithmetic as Butterflies>::Registers as Registers>::LEVELS,
                run: transform,
            }
        };
    };
}
pub(crate) use define_transform;

/// The table for a modulus on an available instruction set.
pub(crate) fn choose(isa: Isa, q: u64) -> &'static Table {
    #[cfg(target_arch = "x86_64")]
    use crate::x86_64::{avx2, avx512_dq, avx512_ifma};
    let tables: &[&'static Table] = match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512Ifma if q % 2 == 1 => &avx512_ifma::TABLES,
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512Ifma => &[&avx512_ifma::WIDE],
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512Dq => &[&avx2::DOUBLE_48, &avx2::DOUBLE_50, &avx512_dq::WIDE],
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => &avx2::TABLES,
        #[cfg(target_arch = "aarch64")]
        Isa::Neon => &crate::aarch64::neon::TABLES,
        _ => &crate::portable::TABLES,
    };
    tables.iter().find(|table| q <= table.widest).copied().unwrap_or(&crate::portable::PORTABLE)
}

/// The table of an instruction set that takes any modulus, and words of any other.
pub(crate) fn widest(isa: Isa) -> &'static Table {
    choose(isa, (1 << 62) - 1)
}
