//! Transforms at the primitive m-th roots of unity: one axis after the other, each on tiles of eight columns.
//!
//! Columns are neighbours in memory, so tiles of all axes but the innermost are read and written in place. The innermost is
//! transposed on the way in, eight of its rows at a time, and not back: evaluation order keeps them interleaved.
#![expect(
    unsafe_code,
    reason = "calls through tables, and tiles that are read and written through pointers to rows"
)]
#![expect(clippy::indexing_slicing, reason = "rows of eight words times a length that is checked once")]

use super::rows::{Constant, Matrices, Path, Prepare, Rows, WIDTH};
use super::tables::{AxisTables, Convolution, ScaledKernel, Stage, Tables};
use crate::constants::Constants;
use crate::table::Cyclotomic;

/// Function that transposes rows into a tile or back: see [`Cyclotomic::transpose_in`].
type Transpose = unsafe fn(&Constants, &mut [u64], *mut u64, usize);

/// The transform of one axis, on tiles.
#[derive(Clone, Copy)]
struct Task<'a> {
    constants: &'a Constants,
    functions: &'a Cyclotomic,
    axis: &'a AxisTables,
    kernel: &'a [u64],
    /// Range of the words of the data.
    prepare: Prepare,
    /// Whether results are reduced below q.
    canonical: bool,
    /// Scratch memory: rows of a convolution, of an axis, at an edge of the data, of a matrix.
    tile: *mut u64,
    whole: *mut u64,
    edge: *mut u64,
    sums: *mut u64,
    /// A row of zeros to read, and one to write unused results to.
    zeros: *mut u64,
    waste: *mut u64,
}

impl Task<'_> {
    /// Views words as rows of eight, one after the other.
    fn rows(&self, words: *mut u64) -> Rows {
        Rows { words, stride: WIDTH, absent: self.waste }
    }

    /// Transposes eight rows of the data, from word `start` on, to the edge buffer, or back.
    fn transpose(&self, transpose: Transpose, data: &mut [u64], start: usize) {
        let degree = self.axis.degree;
        let group = data.get_mut(start..start + degree * WIDTH).unwrap_or_default();
        // SAFETY: the function is compiled for instructions that the processor has.
        unsafe { transpose(self.constants, group, self.edge, degree) };
    }

    /// Replaces rows by the products of matrices with them.
    fn multiply(&self, rows: Rows, words: &[u64], matrices: Matrices) {
        // SAFETY: as in `transpose`.
        unsafe { (self.functions.multiply)(self.constants, rows, self.rows(self.sums), words, matrices) };
    }

    /// Copies all rows of the axis.
    fn copy(&self, from: Rows, to: Rows, prepare: Prepare, canonical: bool) {
        // SAFETY: as in `transpose`.
        unsafe { (self.functions.copy)(self.constants, from, to, self.axis.degree, prepare, canonical) };
    }
}

/// Transforms all axes, in the order of the tables.
///
/// # Safety
/// The functions must be compiled for instructions that the processor has.
pub(super) unsafe fn transform(
    functions: &Cyclotomic,
    constants: &Constants,
    tables: &Tables,
    scaled: Option<&ScaledKernel>,
    data: &mut [u64],
    scratch: &mut [u64],
) {
    let count = tables.axes.len();
    let [tile, whole, edge, sums, zeros] = tables.scratch_offsets();
    // Tables are built for this length, and all accesses through pointers rely on it.
    if data.len() != tables.n || scratch.len() < tables.scratch_words() {
        return;
    }
    let scratch = scratch.as_mut_ptr();
    for (i, axis) in tables.axes.iter().enumerate() {
        let kernel = match scaled {
            Some(scaled) if scaled.axis == i => &scaled.words,
            _ => &axis.kernel,
        };
        let task = Task {
            constants,
            functions,
            axis,
            kernel,
            prepare: if i == 0 { Prepare::Input } else { Prepare::Words },
            canonical: i + 1 == count,
            tile: scratch.wrapping_add(tile),
            whole: scratch.wrapping_add(whole),
            edge: scratch.wrapping_add(edge),
            sums: scratch.wrapping_add(sums),
            zeros: scratch.wrapping_add(zeros),
            waste: scratch.wrapping_add(zeros + WIDTH),
        };
        tiles(task, data);
    }
}

/// Transforms eight lanes, as many at a time as a register has.
fn lanes(task: Task<'_>, from: Rows, to: Rows) {
    for lane in (0..WIDTH).step_by(task.functions.lanes) {
        let (from, to) = (from.shifted(lane), to.shifted(lane));
        let task = Task {
            tile: task.tile.wrapping_add(lane),
            whole: task.whole.wrapping_add(lane),
            sums: task.sums.wrapping_add(lane),
            ..task
        };
        run(task, from, to);
    }
}

/// Position of a tile in the data.
#[derive(Clone, Copy)]
enum Place {
    /// Eight columns of a block, in place.
    Columns { block: usize, column: usize },
    /// Last columns of a block, fewer than eight.
    Edge { block: usize, column: usize },
    /// Eight rows of the innermost axis.
    Rows { start: usize },
    /// Last rows of the innermost axis, fewer than eight.
    LastRows { start: usize },
}

impl Place {
    /// Returns the place of the `i`-th tile of an axis.
    fn of(axis: &AxisTables, n: usize, i: usize) -> Self {
        let AxisTables { degree, stride, .. } = *axis;
        if stride == 1 {
            let start = i * degree * WIDTH;
            return if start + degree * WIDTH <= n { Self::Rows { start } } else { Self::LastRows { start } };
        }
        let across = stride.div_ceil(WIDTH);
        let (block, column) = (i / across * degree * stride, i % across * WIDTH);
        if column + WIDTH <= stride { Self::Columns { block, column } } else { Self::Edge { block, column } }
    }

    /// Number of tiles of an axis.
    fn count(axis: &AxisTables, n: usize) -> usize {
        let AxisTables { degree, stride, .. } = *axis;
        if stride == 1 {
            (n / degree).div_ceil(WIDTH)
        } else {
            n / (degree * stride) * stride.div_ceil(WIDTH)
        }
    }
}

/// Transforms an axis, tile after tile.
fn tiles(task: Task<'_>, data: &mut [u64]) {
    let AxisTables { stride, inverse, .. } = *task.axis;
    let edge = task.rows(task.edge);
    let mut places = 0..Place::count(task.axis, data.len());
    if task.axis.is_one_sweep() {
        whole_columns(task, data);
        if stride.is_multiple_of(WIDTH) {
            places = 0..0;
        }
    }
    for i in places {
        let place = Place::of(task.axis, data.len(), i);
        if task.axis.is_one_sweep() && matches!(place, Place::Columns { .. }) {
            continue;
        }
        let (from, to) = match place {
            Place::Columns { block, column } => {
                let rows = Rows { stride, ..task.rows(data.as_mut_ptr().wrapping_add(block + column)) };
                (rows, rows)
            }
            Place::Edge { .. } | Place::LastRows { .. } => {
                copy::<true>(task, data, place);
                (edge, edge)
            }
            Place::Rows { start } => {
                let rows = task.rows(data.as_mut_ptr().wrapping_add(start));
                if !inverse {
                    task.transpose(task.functions.transpose_in, data, start);
                }
                if inverse { (rows, edge) } else { (edge, rows) }
            }
        };
        let task = match place {
            // Evaluations are in the order of the tile.
            Place::Rows { start } if task.axis.in_place() => {
                Task { tile: data.as_mut_ptr().wrapping_add(start), ..task }
            }
            _ => task,
        };
        lanes(task, from, to);
        match place {
            Place::Columns { .. } => {}
            Place::Edge { .. } | Place::LastRows { .. } => copy::<false>(task, data, place),
            Place::Rows { start } if inverse => task.transpose(task.functions.transpose_out, data, start),
            Place::Rows { .. } => {}
        }
    }
}

/// Transforms all tiles of eight columns of an axis that takes one sweep.
fn whole_columns(task: Task<'_>, data: &mut [u64]) {
    let AxisTables { degree, stride, ref convolution, .. } = *task.axis;
    let Some(step) = convolution.steps.first() else { return };
    let Some(sweep) = task.functions.sweeps.get(step.function) else { return };
    for block in data.chunks_exact_mut(degree * stride) {
        let rows = Rows { stride, ..task.rows(block.as_mut_ptr()) };
        let path = Path {
            from: rows.or(task.zeros),
            to: rows,
            prepare: task.prepare,
            canonical: task.canonical,
            constant: convolution.adds.then_some(Constant { rows, prepare: task.prepare }),
            columns: stride / WIDTH * (WIDTH / task.functions.lanes),
        };
        // SAFETY: as in `transpose`.
        unsafe { sweep(task.constants, step, task.kernel, &path) };
    }
}

/// Copies a tile of fewer than eight columns to the edge buffer, with zeros, or back.
fn copy<const IN: bool>(task: Task<'_>, data: &mut [u64], place: Place) {
    let AxisTables { degree, stride, inverse, .. } = *task.axis;
    // SAFETY: the scratch memory has an edge of as many rows, and nothing else refers to it.
    let edge = unsafe { std::slice::from_raw_parts_mut(task.edge, degree * WIDTH) };
    for (i, row) in edge.chunks_exact_mut(WIDTH).enumerate() {
        for (lane, word) in row.iter_mut().enumerate() {
            let at = match place {
                Place::Edge { block, column } => {
                    (column + lane < stride).then(|| block + i * stride + column + lane)
                }
                Place::LastRows { start } => {
                    // In natural order a row is a lane, in evaluation order rows are interleaved.
                    let width = (data.len() - start) / degree;
                    let at = if IN == inverse { i * width + lane } else { lane * degree + i };
                    (lane < width).then_some(start + at)
                }
                _ => None,
            };
            match at {
                Some(at) if IN => *word = data[at],
                Some(at) => data[at] = *word,
                None if IN => *word = 0,
                None => {}
            }
        }
    }
}

/// Transforms one axis on the lanes of a register.
fn run(task: Task<'_>, from: Rows, to: Rows) {
    let axis = task.axis;
    let whole = task.rows(task.whole);
    let powers = axis.block > 1;
    let mut inner = task;
    if powers {
        task.copy(from, whole, task.prepare, false);
        if axis.inverse {
            stages(task, &axis.stages);
        }
        let fresh = axis.inverse || task.prepare == Prepare::Input;
        inner.prepare = if fresh { Prepare::Fresh } else { Prepare::Words };
        inner.canonical = false;
    }
    for first in 0..axis.block {
        let rows = whole.every(axis.block, first);
        let (from, to) = if powers { (rows, rows) } else { (from, to) };
        convolve(inner, from, to);
    }
    if powers {
        if !axis.inverse {
            stages(task, &axis.stages);
        }
        task.copy(whole, to, Prepare::Words, task.canonical);
    }
}

/// Transforms along rows of prime order, or of an order that is a power of two.
fn convolve(task: Task<'_>, from: Rows, to: Rows) {
    let conv = &task.axis.convolution;
    let tile = task.rows(task.tile);
    let constant = conv.adds.then_some(Constant { rows: from, prepare: task.prepare });
    let steps = conv.steps.len();
    for (i, step) in conv.steps.iter().enumerate() {
        if conv.rows > 1 && i == steps / 2 {
            circulants(task, conv, constant);
        }
        let prepare = match i {
            0 => task.prepare,
            _ if conv.rows > 1 && i == steps / 2 => Prepare::Fresh,
            _ => Prepare::Words,
        };
        let ends = i + 1 == steps && !conv.twists;
        let path = Path {
            from: if i == 0 { from.or(task.zeros) } else { tile },
            to: if ends { to } else { tile },
            prepare,
            canonical: task.canonical && ends,
            constant,
            columns: 1,
        };
        if let Some(sweep) = task.functions.sweeps.get(step.function) {
            // SAFETY: as in `transpose`.
            unsafe { sweep(task.constants, step, task.kernel, &path) };
        }
    }
    if conv.twists {
        // The powers of ψ^-1, which make a cyclic transform a negacyclic one.
        // SAFETY: as in `transpose`.
        unsafe {
            (task.functions.scale)(task.constants, tile, to, conv.length, task.kernel, task.canonical);
        }
    }
}

/// Computes the cyclic convolutions of the rows of each frequency, by the definition.
fn circulants(task: Task<'_>, conv: &Convolution, constant: Option<Constant>) {
    let tile = task.rows(task.tile);
    let size = conv.rows;
    let matrices = Matrices {
        size,
        constants: 2 * size,
        first: size,
        back: 1,
        forth: 0,
        step: conv.length,
        sets: 1,
        next: 1,
    };
    task.multiply(tile, task.kernel, matrices);
    if let Some(constant) = constant {
        // SAFETY: as in `transpose`.
        unsafe { (task.functions.add)(task.constants, tile.every(conv.length, 0), size, constant) };
    }
}

/// Runs the levels of a prime power after its prime, or before it.
fn stages(task: Task<'_>, stages: &[Stage]) {
    for Stage { size, stride, matrices } in stages {
        let (size, stride) = (*size, *stride);
        let all = Matrices {
            size,
            constants: size * size,
            first: 0,
            back: 0,
            forth: size,
            step: stride,
            sets: stride,
            next: size * stride,
        };
        task.multiply(task.rows(task.whole), matrices, all);
    }
}
