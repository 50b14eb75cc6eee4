//! Tables of the kernels for one modulus: pointers to functions compiled for one instruction set and one way of keeping words small.
//!
//! Tables of an instruction set share the groups of functions that are equal in all of them.

use std::sync::Arc;

use crate::constants::Constants;
use crate::cyclotomic::rows::{Constant, Matrices, Path, Prepare, Rows};
use crate::cyclotomic::tables::Sweep;
use crate::generic::rounding::{Double, Fixed, Nearest, Wrapping};
use crate::isa::Isa;
use crate::schedule::Pass;

/// Input of an out-of-place transform: its words, and an offset added to each; sums are below 2q.
#[derive(Clone, Copy)]
pub(crate) struct Elsewhere<'a> {
    pub(crate) words: &'a [u64],
    pub(crate) offset: u64,
}

impl Elsewhere<'_> {
    /// Writes the sums of the words and the offset to `data`.
    #[inline(always)]
    pub(crate) fn write_to(self, data: &mut [u64]) {
        for (to, from) in data.iter_mut().zip(self.words) {
            *to = from.wrapping_add(self.offset);
        }
    }
}

/// Factors of the last level of an inverse transform: c and w·c of c·(x + y) and w·c·(x − y), each with its quotient.
pub(crate) type LastFactors = [u64; 4];

/// Selection of some bits of every word, and an offset added to them.
pub(crate) struct Bits {
    pub(crate) shift: u32,
    pub(crate) mask: u64,
    /// Whether the bits are reduced modulo q before the offset is added.
    pub(crate) reduces: bool,
    pub(crate) offset: u64,
}

/// A target modulus of a conversion, with its column of the matrix.
#[derive(Clone)]
pub(crate) struct Column {
    /// Index of the target among the outputs.
    pub(crate) output: usize,
    pub(crate) to: Constants,
    /// Matrix entries M_0, M_1, … of the target, canonical.
    pub(crate) matrix: Vec<u64>,
}

/// Conversion to several targets that are computed together.
pub(crate) trait Together: Send + Sync {
    /// Converts input vectors to output vectors.
    fn convert(&self, input: &[&[u64]], out: &mut [&mut [u64]]);
}

/// Function of (source moduli, targets) that makes a conversion to all of them together, `None` where there is none.
pub(crate) type MakeTogether = unsafe fn(&[u64], &[Column]) -> Option<Arc<dyn Together>>;

/// Function of (constants, outs, first factors, second factors, constant factor) that computes a tensor product.
type Tensor = unsafe fn(&Constants, [&mut [u64]; 3], [&[u64]; 2], [&[u64]; 2], Option<u64>);
/// Function of (constants, out, first factors, second factors) that computes an inner product.
type InnerProduct = unsafe fn(&Constants, &mut [u64], &[&[u64]], &[&[u64]]);
/// Function of (constants, two outputs, first factors, two lists of second factors) that computes two inner products.
type InnerProductPair = unsafe fn(&Constants, [&mut [u64]; 2], &[&[u64]], [&[&[u64]]; 2]);
/// Function of (constants, two outputs, first factors, two lists of second factors in bytes) that computes two inner products.
type PackedInnerProducts = unsafe fn(&Constants, [&mut [u64]; 2], &[&[u64]], [&[&[u8]]; 2]);
/// Function of (constants, two outputs, two vectors, packed matrix) that computes the products of both vectors with every column.
type PackedMatrix = unsafe fn(&Constants, [&mut [u64]; 2], [&[u64]; 2], &[u8]);
/// Function of (constants, data, twiddles of its blocks, bytes to prefetch) that runs the tail of a forward transform.
type ForwardTail = unsafe fn(&Constants, &mut [u64], &[u64], [&[u8]; 2]);
/// Function of (constants, sweep, kernel, path) that runs one sweep of a cyclotomic transform.
type RunSweep = unsafe fn(&Constants, &Sweep, &[u64], &Path);

/// All kernels of one instruction set and one way of keeping words small.
///
/// # Safety
/// Every function may be called only where `isa` is available. Lengths are checked by the callers and
/// lead to wrong results, never to undefined behaviour, if they are not.
#[derive(Clone, Copy)]
pub(crate) struct Table {
    pub(crate) isa: Isa,
    /// Function of (constant factor, modulus) that returns the words which multiply by the factor in this table's arithmetic.
    pub(crate) factor: fn(u64, u64) -> [u64; 2],
    /// Largest modulus for which lazy words of the table do not overflow.
    pub(crate) widest: u64,
    pub(crate) elementwise: Elementwise,
    pub(crate) inner_products: InnerProducts,
    pub(crate) rounding: Rounding,
    /// Maker of conversions to several targets at once, where that saves work.
    pub(crate) together: Option<MakeTogether>,
    pub(crate) negacyclic: Negacyclic,
    pub(crate) cyclotomic: Cyclotomic,
}

/// Kernel loops that compute one result a word.
#[derive(Clone, Copy)]
pub(crate) struct Elementwise {
    pub(crate) add_assign: unsafe fn(&Constants, &mut [u64], &[u64]),
    pub(crate) sub_assign: unsafe fn(&Constants, &mut [u64], &[u64]),
    pub(crate) neg_assign: unsafe fn(&Constants, &mut [u64]),
    pub(crate) sum_difference_assign: unsafe fn(&Constants, &mut [u64], &mut [u64]),
    pub(crate) mul_assign: unsafe fn(&Constants, &mut [u64], &[u64]),
    /// Function of (constants, out, first, second) that computes sums, as `difference_into` does differences.
    pub(crate) sum_into: unsafe fn(&Constants, &mut [u64], &[u64], &[u64]),
    pub(crate) difference_into: unsafe fn(&Constants, &mut [u64], &[u64], &[u64]),
    /// Function of (constants, data, other, scalar) that computes data += scalar·other.
    pub(crate) add_scaled_assign: unsafe fn(&Constants, &mut [u64], &[u64], u64),
    pub(crate) add_scale_assign: unsafe fn(&Constants, &mut [u64], &[u64], u64),
    /// Function of (constants, first, last, scalar) that adds to each half of some words the scalar times the mirror image of the other.
    pub(crate) add_mirrored_assign: unsafe fn(&Constants, &mut [u64], &mut [u64], u64),
    /// Function of (constants, data, summand, unreduced summand) that shifts residues.
    pub(crate) shift_assign: unsafe fn(&Constants, &mut [u64], u64, u64),
    pub(crate) tensor: Tensor,
    pub(crate) lift_into: unsafe fn(&Constants, &mut [u64], &[u64], &Bits),
    pub(crate) mul_add_assign: unsafe fn(&Constants, &mut [u64], &[u64], &[u64]),
    pub(crate) mul_scalar_assign: unsafe fn(&Constants, &mut [u64], u64),
    pub(crate) reduce_into: unsafe fn(&Constants, &mut [u64], &[u64]),
    pub(crate) reduce_signed_into: unsafe fn(&Constants, &mut [u64], &[i64]),
    pub(crate) add_small_assign: unsafe fn(&Constants, &mut [u64], &[i64]),
    /// Function of (constants, out, packed terms) that computes sums of packed residues.
    pub(crate) sum_packed_into: unsafe fn(&Constants, &mut [u64], &[&[u8]]),
}

/// Functions that compute inner products Σ a_i·b_i.
#[derive(Clone, Copy)]
pub(crate) struct InnerProducts {
    pub(crate) one: InnerProduct,
    pub(crate) pair: InnerProductPair,
    pub(crate) packed: PackedInnerProducts,
    pub(crate) packed_matrix: PackedMatrix,
}

/// Sums of products that wrap or are rounded, functions of (constants, out, input vectors).
#[derive(Clone, Copy)]
pub(crate) struct Rounding {
    pub(crate) wrapping: unsafe fn(&Wrapping, &mut [u64], &[&[u64]]),
    pub(crate) double: unsafe fn(&Double, &mut [u64], &[&[u64]]),
    pub(crate) nearest: unsafe fn(&Nearest, &mut [u64], &[&[u64]]),
    pub(crate) fixed: unsafe fn(&Fixed, &mut [u64], &[&[u64]]),
}

/// Functions that run parts of negacyclic transforms.
#[derive(Clone, Copy)]
pub(crate) struct Negacyclic {
    pub(crate) enter: unsafe fn(Elsewhere<'_>, &mut [u64]),
    /// Function of (constants, pass, input unless it is the data, data, twiddles of its blocks) that runs a
    /// forward pass.
    pub(crate) forward_pass: unsafe fn(&Constants, Pass, Option<Elsewhere<'_>>, &mut [u64], &[u64]),
    /// Function that runs the forward tail on an even number of blocks, or on the single block of the
    /// shortest transform, whose words are inputs.
    pub(crate) forward_tail: ForwardTail,
    /// Function of (constants, pass, data, twiddles of its blocks, factors if the pass has the last level)
    /// that runs an inverse pass.
    pub(crate) inverse_pass: unsafe fn(&Constants, Pass, &mut [u64], &[u64], Option<&LastFactors>),
    /// Function of (constants, data, twiddles of its blocks, factors of the last level) that runs the inverse
    /// tail on an even number of blocks, or on the single block of the shortest transform.
    pub(crate) inverse_tail: unsafe fn(&Constants, &mut [u64], &[u64], &LastFactors),
}

/// Parts of cyclotomic transforms of one arithmetic, for any modulus of the tables that share them.
#[derive(Clone, Copy)]
pub(crate) struct Cyclotomic {
    /// Function of (constant, modulus) that returns the words which multiply by the constant; the first `words` of them are used.
    pub(crate) constant: fn(u64, u64) -> [u64; 3],
    pub(crate) words: usize,
    /// Number of words in a register of the sweeps.
    pub(crate) lanes: usize,
    /// Largest number of levels that a sweep runs at once.
    pub(crate) levels: u32,
    /// Functions of the sweeps, by the index of their size in `SIZES`.
    pub(crate) sweeps: [RunSweep; 7],
    /// Function of (constants, rows, scratch, words of matrices, shapes of the matrices and the rows they
    /// multiply) that multiplies rows.
    pub(crate) multiply: unsafe fn(&Constants, Rows, Rows, &[u64], Matrices),
    /// Takes (constants, rows of `degree` words, `degree` rows of eight, degree).
    pub(crate) transpose_in: unsafe fn(&Constants, &mut [u64], *mut u64, usize),
    pub(crate) transpose_out: unsafe fn(&Constants, &mut [u64], *mut u64, usize),
    /// Takes (constants, from, to, number of rows, range of their words, whether to write canonical numbers).
    pub(crate) copy: unsafe fn(&Constants, Rows, Rows, usize, Prepare, bool),
    /// Function of (constants, from, to, number of rows, factors, whether to write canonical numbers) that
    /// scales rows.
    pub(crate) scale: unsafe fn(&Constants, Rows, Rows, usize, &[u64], bool),
    /// Function of (constants, rows, number of rows, row to add to each) that adds a row.
    pub(crate) add: unsafe fn(&Constants, Rows, usize, Constant),
}
