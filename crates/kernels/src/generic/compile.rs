//! Generic loops compiled for one arithmetic, behind attributes that enable its instructions.

/// Defines a function that calls a generic loop for one arithmetic.
macro_rules! function {
    ([$($attribute:tt)*] $new:path, $module:ident, $name:ident($($argument:ident: $type:ty),*)) => {
        $($attribute)*
        fn $name(c: &$crate::constants::Constants, $($argument: $type),*) {
            $crate::generic::$module::$name($new(c), $($argument),*);
        }
    };
}
pub(crate) use function;

/// Defines groups of functions from a list of `kind NAME = (arithmetic, constructor);` behind common attributes.
macro_rules! compile {
    ($attributes:tt $($kind:ident $name:ident = ($arithmetic:ty, $new:path);)*) => {
        $($crate::generic::compile::$kind! { $attributes $name, $arithmetic, $new })*
    };
}
pub(crate) use compile;

macro_rules! group {
    ($attributes:tt $name:ident: $group:ident = $module:ident($new:path); $($function:ident $arguments:tt)*) => {
        const $name: $crate::table::$group = {
            $($crate::generic::compile::function! { $attributes $new, $module, $function $arguments })*
            $crate::table::$group { $($function),* }
        };
    };
}
pub(crate) use group;

macro_rules! elementwise {
    ($attributes:tt $name:ident, $arithmetic:ty, $new:path) => {
        $crate::generic::compile::group! {
            $attributes $name: Elementwise = elementwise($new);
            add_assign(data: &mut [u64], other: &[u64])
            sub_assign(data: &mut [u64], other: &[u64])
            neg_assign(data: &mut [u64])
            sum_difference_assign(x: &mut [u64], y: &mut [u64])
            mul_assign(data: &mut [u64], other: &[u64])
            sum_into(out: &mut [u64], x: &[u64], y: &[u64])
            difference_into(out: &mut [u64], x: &[u64], y: &[u64])
            add_scaled_assign(data: &mut [u64], other: &[u64], scalar: u64)
            add_scale_assign(data: &mut [u64], other: &[u64], scalar: u64)
            add_mirrored_assign(first: &mut [u64], last: &mut [u64], scalar: u64)
            shift_assign(data: &mut [u64], half: u64, rest: u64)
            tensor(out: [&mut [u64]; 3], x: [&[u64]; 2], y: [&[u64]; 2], scalar: Option<u64>)
            lift_into(out: &mut [u64], words: &[u64], bits: &$crate::table::Bits)
            mul_add_assign(data: &mut [u64], x: &[u64], y: &[u64])
            mul_scalar_assign(data: &mut [u64], scalar: u64)
            reduce_into(out: &mut [u64], words: &[u64])
            reduce_signed_into(out: &mut [u64], words: &[i64])
            add_small_assign(data: &mut [u64], words: &[i64])
            sum_packed_into(out: &mut [u64], terms: &[&[u8]])
        }
    };
}
pub(crate) use elementwise;

macro_rules! inner_products {
    ($attributes:tt $name:ident, $arithmetic:ty, $new:path) => {
        $crate::generic::compile::group! {
            $attributes $name: InnerProducts = inner_product($new);
            one(out: &mut [u64], x: &[&[u64]], y: &[&[u64]])
            pair(out: [&mut [u64]; 2], x: &[&[u64]], y: [&[&[u64]]; 2])
            packed(out: [&mut [u64]; 2], x: &[&[u64]], y: [&[&[u8]]; 2])
            packed_matrix(out: [&mut [u64]; 2], x: [&[u64]; 2], m: &[u8])
        }
    };
}
pub(crate) use inner_products;

macro_rules! negacyclic {
    ([$($attribute:tt)*] $name:ident, $arithmetic:ty, $new:path) => {
        const $name: $crate::table::Negacyclic = {
            use $crate::generic::compile::function;
            use $crate::schedule::Pass;
            use $crate::table::{Elsewhere, LastFactors};

            $($attribute)*
            fn enter(input: Elsewhere<'_>, data: &mut [u64]) {
                input.write_to(data);
            }
            function! { [$($attribute)*] $new, ntt_forward, forward_pass(pass: Pass, input: Option<Elsewhere<'_>>, data: &mut [u64], words: &[u64]) }
            function! { [$($attribute)*] $new, ntt_forward, forward_tail(data: &mut [u64], words: &[u64], later: [&[u8]; 2]) }
            function! { [$($attribute)*] $new, ntt_inverse, inverse_pass(pass: Pass, data: &mut [u64], words: &[u64], last: Option<&LastFactors>) }
            function! { [$($attribute)*] $new, ntt_inverse, inverse_tail(data: &mut [u64], words: &[u64], last: &LastFactors) }
            $crate::table::Negacyclic { enter, forward_pass, forward_tail, inverse_pass, inverse_tail }
        };
    };
}
pub(crate) use negacyclic;

/// Defines the functions of cyclotomic transforms. They take long to compile: tables share them where that costs no time.
macro_rules! cyclotomic {
    ([$($attribute:tt)*] $name:ident, $arithmetic:ty, $new:path) => {
        const $name: $crate::table::Cyclotomic = {
            use $crate::constants::Constants;
            use $crate::cyclotomic::rows::{Constant, Matrices, Path, Prepare, Rows};
            use $crate::cyclotomic::tables::Sweep;
            use $crate::generic::arithmetic::Butterflies;
            use $crate::generic::compile::function;
            use $crate::generic::lanes::Registers;
            use $crate::generic::sweeps;

            const WORDS: usize = <$arithmetic as Butterflies>::CONSTANT;
            $($attribute)*
            fn sweep_2(c: &Constants, sweep: &Sweep, kernel: &[u64], path: &Path) {
                sweeps::sweep::<_, 2, { 1 * WORDS }, { 2 * WORDS }>($new(c), sweep, kernel, path);
            }
            $($attribute)*
            fn sweep_4(c: &Constants, sweep: &Sweep, kernel: &[u64], path: &Path) {
                sweeps::sweep::<_, 4, { 3 * WORDS }, { 4 * WORDS }>($new(c), sweep, kernel, path);
            }
            $($attribute)*
            fn sweep_8(c: &Constants, sweep: &Sweep, kernel: &[u64], path: &Path) {
                sweeps::sweep::<_, 8, { 7 * WORDS }, { 8 * WORDS }>($new(c), sweep, kernel, path);
            }
            $($attribute)*
            fn sweep_16(c: &Constants, sweep: &Sweep, kernel: &[u64], path: &Path) {
                sweeps::sweep::<_, 16, { 15 * WORDS }, { 16 * WORDS }>($new(c), sweep, kernel, path);
            }
            $($attribute)*
            fn sweep_3(c: &Constants, sweep: &Sweep, kernel: &[u64], path: &Path) {
                sweeps::sweep::<_, 3, { 3 * WORDS }, { 3 * WORDS }>($new(c), sweep, kernel, path);
            }
            $($attribute)*
            fn sweep_5(c: &Constants, sweep: &Sweep, kernel: &[u64], path: &Path) {
                sweeps::sweep::<_, 5, { 9 * WORDS }, { 5 * WORDS }>($new(c), sweep, kernel, path);
            }
            $($attribute)*
            fn sweep_6(c: &Constants, sweep: &Sweep, kernel: &[u64], path: &Path) {
                sweeps::sweep::<_, 6, { 1 * WORDS }, { 6 * WORDS }>($new(c), sweep, kernel, path);
            }
            function! { [$($attribute)*] $new, cyclotomic, multiply(rows: Rows, sums: Rows, words: &[u64], matrices: Matrices) }
            function! { [$($attribute)*] $new, cyclotomic, transpose_in(group: &mut [u64], edge: *mut u64, degree: usize) }
            function! { [$($attribute)*] $new, cyclotomic, transpose_out(group: &mut [u64], edge: *mut u64, degree: usize) }
            function! { [$($attribute)*] $new, cyclotomic, copy(from: Rows, to: Rows, rows: usize, prepare: Prepare, canonical: bool) }
            function! { [$($attribute)*] $new, cyclotomic, scale(from: Rows, to: Rows, rows: usize, words: &[u64], canonical: bool) }
            function! { [$($attribute)*] $new, cyclotomic, add(rows: Rows, count: usize, constant: Constant) }
            $crate::table::Cyclotomic {
                constant: <$arithmetic as Butterflies>::constant_words,
                words: WORDS,
                lanes: <<$arithmetic as Butterflies>::Registers as Registers>::WORDS,
                levels: <<$arithmetic as Butterflies>::Registers as Registers>::LEVELS,
                sweeps: [sweep_2, sweep_4, sweep_8, sweep_16, sweep_3, sweep_5, sweep_6],
                multiply,
                transpose_in,
                transpose_out,
                copy,
                scale,
                add,
            }
        };
    };
}
pub(crate) use cyclotomic;

/// Defines the sums that need no arithmetic of a modulus, on the lanes that a function makes.
macro_rules! rounding {
    ([$($attribute:tt)*] $name:ident = $lanes:path) => {
        const $name: $crate::table::Rounding = {
            use $crate::generic::rounding::{self, Double, Fixed, Nearest, Wrapping};

            $($attribute)*
            fn wrapping(sum: &Wrapping, out: &mut [u64], input: &[&[u64]]) {
                rounding::wrapping($lanes(), sum, out, input);
            }
            $($attribute)*
            fn double(sum: &Double, out: &mut [u64], input: &[&[u64]]) {
                rounding::double($lanes(), sum, out, input);
            }
            $($attribute)*
            fn nearest(sum: &Nearest, out: &mut [u64], input: &[&[u64]]) {
                rounding::nearest($lanes(), sum, out, input);
            }
            $($attribute)*
            fn fixed(sum: &Fixed, out: &mut [u64], input: &[&[u64]]) {
                rounding::fixed($lanes(), sum, out, input);
            }
            $crate::table::Rounding { wrapping, double, nearest, fixed }
        };
    };
}
pub(crate) use rounding;
