//! What computes modulo one number: pointers to functions compiled for one instruction set and one way of keeping words small.
//!
//! Tables of an instruction set share the groups of functions that come out alike for all of them.

use std::sync::Arc;

use crate::constants::Constants;
use crate::cyclotomic::rows::{Constant, Matrices, Path, Prepare, Rows};
use crate::cyclotomic::tables::Sweep;
use crate::generic::rounding::{Double, Fixed, Nearest, Wrapping};
use crate::isa::Isa;
use crate::schedule::Pass;

/// As many words as a transform has, which stand elsewhere, and what is added to each: sums are below 2q.
#[derive(Clone, Copy)]
pub(crate) struct Elsewhere<'a> {
    pub(crate) words: &'a [u64],
    pub(crate) offset: u64,
}

impl Elsewhere<'_> {
    /// Writes the sums.
    #[inline(always)]
    pub(crate) fn write_to(self, data: &mut [u64]) {
        for (to, from) in data.iter_mut().zip(self.words) {
            *to = from.wrapping_add(self.offset);
        }
    }
}

/// The factors of the last level of an inverse transform: c·(x + y) and w·c·(x − y), each with its quotient.
pub(crate) type LastFactors = [u64; 4];

/// Some bits of every word, and what is added to them.
pub(crate) struct Bits {
    pub(crate) shift: u32,
    pub(crate) mask: u64,
    /// Whether they are reduced first.
    pub(crate) reduces: bool,
    pub(crate) offset: u64,
}

/// A target of a conversion.
#[derive(Clone)]
pub(crate) struct Column {
    /// Its place among the outputs.
    pub(crate) output: usize,
    pub(crate) to: Constants,
    /// M_0, M_1, …, canonical.
    pub(crate) matrix: Vec<u64>,
}

/// Targets that are computed together.
pub(crate) trait Together: Send + Sync {
    /// Converts input vectors to output vectors.
    fn convert(&self, input: &[&[u64]], out: &mut [&mut [u64]]);
}

/// (source moduli, targets) to what converts them together, where it can.
pub(crate) type MakeTogether = unsafe fn(&[u64], &[Column]) -> Option<Arc<dyn Together>>;

/// (constants, outs, first factors, second factors, constant factor)
type Tensor = unsafe fn(&Constants, [&mut [u64]; 3], [&[u64]; 2], [&[u64]; 2], Option<u64>);
/// (constants, out, first factors, second factors)
type InnerProduct = unsafe fn(&Constants, &mut [u64], &[&[u64]], &[&[u64]]);
/// (constants, two outputs, first factors, two lists of second factors)
type InnerProductPair = unsafe fn(&Constants, [&mut [u64]; 2], &[&[u64]], [&[&[u64]]; 2]);
/// (constants, two outputs, first factors, two lists of second factors in bytes)
type PackedInnerProducts = unsafe fn(&Constants, [&mut [u64]; 2], &[&[u64]], [&[&[u8]]; 2]);
/// (constants, data, twiddles of its blocks, what is read later)
type ForwardTail = unsafe fn(&Constants, &mut [u64], &[u64], [&[u8]; 2]);
/// (constants, sweep, kernel, path)
type RunSweep = unsafe fn(&Constants, &Sweep, &[u64], &Path);

/// All kernels of one instruction set and one word discipline.
///
/// # Safety
/// Every function may be called only where `isa` is available. Lengths are checked by the callers and
/// lead to wrong results, never to undefined behaviour, if they are not.
#[derive(Clone, Copy)]
pub(crate) struct Table {
    pub(crate) isa: Isa,
    /// (constant factor, modulus) to what multiplies by it in this table's arithmetic.
    pub(crate) factor: fn(u64, u64) -> [u64; 2],
    /// The largest modulus whose lazy words fit.
    pub(crate) widest: u64,
    pub(crate) elementwise: Elementwise,
    pub(crate) inner_products: InnerProducts,
    pub(crate) rounding: Rounding,
    /// Converts to several targets at once, where that saves work.
    pub(crate) together: Option<MakeTogether>,
    pub(crate) negacyclic: Negacyclic,
    pub(crate) cyclotomic: Cyclotomic,
}

/// One result a word.
#[derive(Clone, Copy)]
pub(crate) struct Elementwise {
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
}

/// Σ a_i·b_i.
#[derive(Clone, Copy)]
pub(crate) struct InnerProducts {
    pub(crate) one: InnerProduct,
    pub(crate) pair: InnerProductPair,
    pub(crate) packed: PackedInnerProducts,
}

/// Sums of products that wrap or are rounded: (constants, out, input vectors).
#[derive(Clone, Copy)]
pub(crate) struct Rounding {
    pub(crate) wrapping: unsafe fn(&Wrapping, &mut [u64], &[&[u64]]),
    pub(crate) double: unsafe fn(&Double, &mut [u64], &[&[u64]]),
    pub(crate) nearest: unsafe fn(&Nearest, &mut [u64], &[&[u64]]),
    pub(crate) fixed: unsafe fn(&Fixed, &mut [u64], &[&[u64]]),
}

/// Parts of negacyclic transforms.
#[derive(Clone, Copy)]
pub(crate) struct Negacyclic {
    pub(crate) enter: unsafe fn(Elsewhere<'_>, &mut [u64]),
    /// (constants, pass, what to transform unless it is the data, data, twiddles of its blocks)
    pub(crate) forward_pass: unsafe fn(&Constants, Pass, Option<Elsewhere<'_>>, &mut [u64], &[u64]),
    /// An even number of blocks, or the one of the shortest transform, which is inputs.
    pub(crate) forward_tail: ForwardTail,
    /// (constants, pass, data, twiddles of its blocks, factors where the last level is among these)
    pub(crate) inverse_pass: unsafe fn(&Constants, Pass, &mut [u64], &[u64], Option<&LastFactors>),
    /// (constants, data, twiddles of its blocks, factors of the last level): an even number of blocks, or the one of the shortest transform.
    pub(crate) inverse_tail: unsafe fn(&Constants, &mut [u64], &[u64], &LastFactors),
}

/// Parts of cyclotomic transforms of one arithmetic, for any modulus of the tables that share them.
#[derive(Clone, Copy)]
pub(crate) struct Cyclotomic {
    /// What multiplies by a constant, and how many words of it count.
    pub(crate) constant: fn(u64, u64) -> [u64; 3],
    pub(crate) words: usize,
    /// Words of a register.
    pub(crate) lanes: usize,
    /// Levels that it runs at once.
    pub(crate) levels: u32,
    /// By the places of their sizes in `SIZES`.
    pub(crate) sweeps: [RunSweep; 7],
    /// (constants, rows, scratch, words of matrices, what they multiply)
    pub(crate) multiply: unsafe fn(&Constants, Rows, Rows, &[u64], Matrices),
    /// (rows of `degree` words, `degree` rows of eight, degree)
    pub(crate) turn_in: unsafe fn(&Constants, &mut [u64], *mut u64, usize),
    pub(crate) turn_out: unsafe fn(&Constants, &mut [u64], *mut u64, usize),
    /// (constants, from, to, how many, what they are, whether canonical numbers are asked for)
    pub(crate) copy: unsafe fn(&Constants, Rows, Rows, usize, Prepare, bool),
    /// (constants, from, to, how many, factors, whether canonical numbers are asked for)
    pub(crate) scale: unsafe fn(&Constants, Rows, Rows, usize, &[u64], bool),
    /// (constants, rows, how many, what is added to each)
    pub(crate) add: unsafe fn(&Constants, Rows, usize, Constant),
}
