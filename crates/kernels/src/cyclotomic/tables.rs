//! Tables of a cyclotomic transform, as its functions read them.

use super::rows::WIDTH;
use crate::buffer::Buffer;

/// Numbers of rows that sweeps hold in registers; six rows take all registers there are.
pub(crate) const SIZES: [usize; 7] = [2, 4, 8, 16, 3, 5, 6];

/// Sequence of steps in a sweep.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Levels,
    /// Forward levels, products with the kernel, inverse levels in one sweep.
    Middle,
}

/// A sweep: as many levels as fit registers, four at most.
#[derive(Clone)]
pub(crate) struct Sweep {
    pub(crate) kind: Kind,
    /// Index of the sweep's size in [`SIZES`].
    pub(crate) function: usize,
    /// Indices of rows in the order in which they are loaded; the next field is the order in which they are
    /// stored.
    pub(crate) from: Vec<u32>,
    pub(crate) to: Vec<u32>,
    /// Number of uses of a set of twiddles before the next set, or again the first set.
    pub(crate) per: usize,
    /// Twiddles of the sweep, level by level, in sets.
    pub(crate) twiddles: Buffer,
    /// Twiddles of the inverse levels of a [`Kind::Middle`].
    pub(crate) back: Buffer,
    /// Whether the first set's twiddles, and so every level's at the first place, are 1.
    pub(crate) cyclic: bool,
    /// Whether the first row, the coefficient of x^(p−1), is subtracted from all others and replaced by its opposite.
    pub(crate) subtracts: bool,
}

/// A convolution or a Fourier transform along the rows of an axis.
#[derive(Clone)]
pub(crate) struct Convolution {
    pub(crate) length: usize,
    pub(crate) rows: usize,
    /// Sweeps of the convolution in order; for several rows, circulants come between both halves of the list.
    pub(crate) steps: Vec<Sweep>,
    /// Whether row 0 is added at frequency 0 of the convolution.
    pub(crate) adds: bool,
    /// Whether rows are multiplied by the kernel at the end.
    pub(crate) twists: bool,
}

/// Matrices that split every block of `size`·`stride` rows, or join its parts.
#[derive(Clone)]
pub(crate) struct Stage {
    pub(crate) size: usize,
    pub(crate) stride: usize,
    pub(crate) matrices: Buffer,
}

/// Tables for one axis of a cyclotomic transform.
#[derive(Clone)]
pub(crate) struct AxisTables {
    pub(crate) degree: usize,
    pub(crate) stride: usize,
    /// Block length p^(e−1) of the axis, or 1 for p = 2.
    pub(crate) block: usize,
    pub(crate) inverse: bool,
    pub(crate) convolution: Convolution,
    /// Constants of the axis: products at each frequency, a circulant for each frequency, or twists.
    pub(crate) kernel: Buffer,
    pub(crate) stages: Vec<Stage>,
}

impl AxisTables {
    /// Whether tiles of neighbouring columns of the axis need nothing but one sweep.
    pub(crate) fn is_one_sweep(&self) -> bool {
        let conv = &self.convolution;
        self.stride > 1 && self.block == 1 && conv.steps.len() == 1 && !conv.twists
    }

    /// Whether rows of an innermost axis serve as the tile themselves.
    pub(crate) fn in_place(&self) -> bool {
        let conv = &self.convolution;
        self.stride == 1 && self.block == 1 && conv.length * conv.rows == self.degree && !conv.twists
    }

    /// Returns the numbers of rows of scratch memory for a convolution, and for the axis at an edge.
    fn scratch_rows(&self, n: usize) -> (usize, usize) {
        let conv = &self.convolution;
        let whole_tiles = if self.stride == 1 { n / self.degree } else { self.stride }.is_multiple_of(WIDTH);
        let tile =
            if whole_tiles && (self.is_one_sweep() || self.in_place()) { 0 } else { conv.length * conv.rows };
        (tile, if whole_tiles && self.stride > 1 { 0 } else { self.degree })
    }
}

/// A kernel that replaces that of one axis, multiplied by a constant.
#[derive(Clone)]
pub(crate) struct ScaledKernel {
    pub(crate) axis: usize,
    pub(crate) words: Buffer,
}

/// Tables of all axes of a cyclotomic transform in one direction, in the order in which they run.
#[derive(Clone)]
pub(crate) struct Tables {
    pub(crate) n: usize,
    pub(crate) axes: Vec<AxisTables>,
}

impl Tables {
    /// Returns the offsets in the scratch memory of the rows of a convolution, of an axis, of an edge and of
    /// a matrix, then of a row of zeros and one of unused results.
    pub(crate) fn scratch_offsets(&self) -> [usize; 5] {
        let most = |f: &dyn Fn(&AxisTables) -> usize| self.axes.iter().map(f).max().unwrap_or(0) * WIDTH;
        let tile = most(&|axis| axis.scratch_rows(self.n).0);
        let whole = tile + most(&|axis| if axis.block > 1 { axis.degree } else { 0 });
        let edge = whole + most(&|axis| axis.scratch_rows(self.n).1);
        let matrices = |axis: &AxisTables| {
            let rows = Some(axis.convolution.rows).filter(|&rows| rows > 1);
            axis.stages.iter().map(|stage| stage.size).chain(rows).max().unwrap_or(0)
        };
        [0, tile, whole, edge, edge + most(&matrices)]
    }

    /// Number of words of scratch memory.
    pub(crate) fn scratch_words(&self) -> usize {
        self.scratch_offsets().into_iter().max().unwrap_or(0) + 2 * WIDTH
    }
}
