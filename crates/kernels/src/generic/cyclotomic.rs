//! Transforms at the primitive m-th roots of unity: one axis after the other, each on tiles of eight columns.
//!
//! Columns are neighbours in memory, so tiles of all axes but the innermost are read and written in place. The innermost is
//! transposed on the way in, eight of its rows at a time, and not back: evaluation order keeps them interleaved.
#![expect(unsafe_code, reason = "tiles are read and written through pointers to rows")]
#![expect(clippy::indexing_slicing, reason = "rows of eight words times a length that is checked once")]

use super::arithmetic::{Butterflies, Register};
use super::lanes::WIDTH;
use super::registers::Registers;
use super::sweeps::{Constant, Path, Prepare, Rows, Sweeps, twiddle};
use crate::constants::Constants;
use crate::cyclotomic::{AxisTables, Convolution, ScaledKernel, Stage, Tables};

/// Terms of a sum between reductions, where `PERIOD` allows.
const RUN: usize = 8;
/// Sums computed side by side, so that none waits for itself.
const SUMS: usize = 4;

/// An axis on tiles.
#[derive(Clone, Copy)]
struct Task<'a> {
    constants: &'a Constants,
    sweeps: &'a Sweeps,
    axis: &'a AxisTables,
    kernel: &'a [u64],
    /// What words of the data are.
    prepare: Prepare,
    /// Whether results are canonical numbers.
    canonical: bool,
    /// Scratch memory: rows of a convolution, of an axis, at an edge of the data, of a matrix.
    tile: *mut u64,
    whole: *mut u64,
    edge: *mut u64,
    sums: *mut u64,
    /// A row of zeros, and one to write to.
    zeros: *mut u64,
    waste: *mut u64,
}

impl Task<'_> {
    /// Rows of eight words, one after the other.
    fn rows(&self, words: *mut u64) -> Rows {
        Rows { words, stride: WIDTH, absent: self.waste }
    }
}

/// All axes in the order of the tables.
#[inline(always)]
pub(crate) fn transform<A: Butterflies>(
    a: A,
    constants: &Constants,
    sweeps: &Sweeps,
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
            sweeps,
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
        tiles(a, task, data);
    }
}

/// Eight lanes, as many at a time as a register has.
#[inline(always)]
fn lanes<A: Butterflies>(a: A, task: Task<'_>, from: Rows, to: Rows) {
    for lane in (0..WIDTH).step_by(A::Registers::WORDS) {
        let (from, to) = (from.shifted(lane), to.shifted(lane));
        let task = Task {
            tile: task.tile.wrapping_add(lane),
            whole: task.whole.wrapping_add(lane),
            sums: task.sums.wrapping_add(lane),
            ..task
        };
        run(a, task, from, to);
    }
}

/// Where a tile is.
#[derive(Clone, Copy)]
enum Place {
    /// Eight columns of a block, in place.
    Columns { block: usize, column: usize },
    /// The last columns of a block, fewer than eight.
    Edge { block: usize, column: usize },
    /// Eight rows of the innermost axis.
    Rows { start: usize },
    /// Its last rows, fewer than eight.
    LastRows { start: usize },
}

impl Place {
    /// The `i`-th tile of an axis.
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

    /// How many there are.
    fn count(axis: &AxisTables, n: usize) -> usize {
        let AxisTables { degree, stride, .. } = *axis;
        if stride == 1 {
            (n / degree).div_ceil(WIDTH)
        } else {
            n / (degree * stride) * stride.div_ceil(WIDTH)
        }
    }
}

/// An axis, tile after tile.
#[inline(always)]
fn tiles<A: Butterflies>(a: A, task: Task<'_>, data: &mut [u64]) {
    let AxisTables { degree, stride, inverse, .. } = *task.axis;
    let edge = task.rows(task.edge);
    let mut places = 0..Place::count(task.axis, data.len());
    if task.axis.is_one_sweep() {
        whole_columns::<A>(task, data);
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
                    turn::<A, true>(a, &mut data[start..start + degree * WIDTH], task.edge, degree);
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
        lanes(a, task, from, to);
        match place {
            Place::Columns { .. } => {}
            Place::Edge { .. } | Place::LastRows { .. } => copy::<false>(task, data, place),
            Place::Rows { start } if inverse => {
                turn::<A, false>(a, &mut data[start..start + degree * WIDTH], task.edge, degree);
            }
            Place::Rows { .. } => {}
        }
    }
}

/// All tiles of eight columns of an axis that takes one sweep.
#[inline(always)]
fn whole_columns<A: Butterflies>(task: Task<'_>, data: &mut [u64]) {
    let AxisTables { degree, stride, ref convolution, .. } = *task.axis;
    let Some(step) = convolution.steps.first() else { return };
    let Some(sweep) = task.sweeps.get(step.function) else { return };
    for block in data.chunks_exact_mut(degree * stride) {
        let rows = Rows { stride, ..task.rows(block.as_mut_ptr()) };
        let path = Path {
            from: rows.or(task.zeros),
            to: rows,
            prepare: task.prepare,
            canonical: task.canonical,
            constant: convolution.adds.then_some(Constant { rows, prepare: task.prepare }),
            columns: stride / WIDTH * (WIDTH / A::Registers::WORDS),
        };
        // SAFETY: as in `convolve`.
        unsafe { sweep(task.constants, step, task.kernel, &path) };
    }
}

/// A tile of fewer than eight columns to the edge, with zeros, or back.
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

/// Eight rows of `degree` words become `degree` rows of eight, or back.
#[inline(always)]
fn turn<A: Butterflies, const IN: bool>(a: A, group: &mut [u64], edge: *mut u64, degree: usize) {
    let r = a.registers();
    let len = A::Registers::WORDS;
    // SAFETY: as in `copy`.
    let edge = unsafe { std::slice::from_raw_parts_mut(edge, degree * WIDTH) };
    let square = degree - degree % len;
    for lane in (0..WIDTH).step_by(len) {
        for at in (0..square).step_by(len) {
            let mut x = [r.splat(0); WIDTH];
            for (k, x) in x.iter_mut().enumerate().take(len) {
                let from: &[u64] =
                    if IN { &group[(lane + k) * degree + at..] } else { &edge[(at + k) * WIDTH + lane..] };
                *x = r.load(from);
            }
            r.transpose(&mut x);
            for (k, x) in x.iter().enumerate().take(len) {
                let to: &mut [u64] = if IN {
                    &mut edge[(at + k) * WIDTH + lane..]
                } else {
                    &mut group[(lane + k) * degree + at..]
                };
                r.store(to, *x);
            }
        }
    }
    for at in square..degree {
        for lane in 0..WIDTH {
            if IN {
                edge[at * WIDTH + lane] = group[lane * degree + at];
            } else {
                group[lane * degree + at] = edge[at * WIDTH + lane];
            }
        }
    }
}

/// One axis on the lanes of a register.
#[inline(always)]
fn run<A: Butterflies>(a: A, task: Task<'_>, from: Rows, to: Rows) {
    let axis = task.axis;
    let whole = task.rows(task.whole);
    let powers = axis.block > 1;
    let mut inner = task;
    if powers {
        for row in 0..axis.degree {
            whole.store(a, row, from.load(a, row, task.prepare), false);
        }
        if axis.inverse {
            stages(a, task, &axis.stages);
        }
        let fresh = axis.inverse || task.prepare == Prepare::Input;
        inner.prepare = if fresh { Prepare::Fresh } else { Prepare::Words };
        inner.canonical = false;
    }
    for first in 0..axis.block {
        let rows = whole.every(axis.block, first);
        let (from, to) = if powers { (rows, rows) } else { (from, to) };
        convolve(a, inner, from, to);
    }
    if powers {
        if !axis.inverse {
            stages(a, task, &axis.stages);
        }
        for row in 0..axis.degree {
            to.store(a, row, whole.load(a, row, Prepare::Words), task.canonical);
        }
    }
}

/// The transform of a prime, or of a power of two, along rows.
#[inline(always)]
fn convolve<A: Butterflies>(a: A, task: Task<'_>, from: Rows, to: Rows) {
    let conv = &task.axis.convolution;
    let tile = task.rows(task.tile);
    let constant = conv.adds.then_some(Constant { rows: from, prepare: task.prepare });
    let steps = conv.steps.len();
    for (i, step) in conv.steps.iter().enumerate() {
        if conv.rows > 1 && i == steps / 2 {
            circulants(a, task, conv, constant);
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
        if let Some(sweep) = task.sweeps.get(step.function) {
            // SAFETY: it is compiled for the instruction set that this function was chosen for.
            unsafe { sweep(task.constants, step, task.kernel, &path) };
        }
    }
    if conv.twists {
        // The powers of ψ^-1, which make a cyclic transform a negacyclic one.
        for row in 0..conv.length {
            let x = a.product(tile.load(a, row, Prepare::Words), twiddle(a, task.kernel, row));
            to.store(a, row, x, task.canonical);
        }
    }
}

/// Cyclic convolutions of the rows of each frequency, by the definition.
#[inline(always)]
fn circulants<A: Butterflies>(a: A, task: Task<'_>, conv: &Convolution, constant: Option<Constant>) {
    let tile = task.rows(task.tile);
    let size = conv.rows;
    for (frequency, words) in task.kernel.chunks_exact(2 * A::CONSTANT * size).enumerate() {
        let rows = tile.every(conv.length, frequency);
        matrix(a, task, rows, size, words, Starts { first: size, back: 1, forth: 0 });
        if frequency == 0
            && let Some(constant) = constant
        {
            for row in 0..size {
                rows.store(a, row, constant.plus(a, rows.load(a, row, Prepare::Words)), false);
            }
        }
    }
}

/// The levels of a prime power after its prime, or before it.
#[inline(always)]
fn stages<A: Butterflies>(a: A, task: Task<'_>, stages: &[Stage]) {
    let whole = task.rows(task.whole);
    for stage in stages {
        let block = stage.size * stage.stride;
        for (i, words) in stage.matrices.chunks_exact(A::CONSTANT * stage.size * stage.size).enumerate() {
            for at in 0..stage.stride {
                let rows = whole.every(stage.stride, i * block + at);
                matrix(a, task, rows, stage.size, words, Starts { first: 0, back: 0, forth: stage.size });
            }
        }
    }
}

/// Where row i of a matrix starts among its words: at `first` − i·`back` + i·`forth`.
#[derive(Clone, Copy)]
struct Starts {
    first: usize,
    back: usize,
    forth: usize,
}

/// Rows become sums of rows times constants, below FRESH·q.
#[inline(always)]
fn matrix<A: Butterflies>(a: A, task: Task<'_>, rows: Rows, size: usize, words: &[u64], starts: Starts) {
    let sums = task.rows(task.sums);
    for first in (0..size).step_by(SUMS) {
        let mut acc = [a.registers().splat(0); SUMS];
        for column in 0..size {
            let y = rows.load(a, column, Prepare::Words);
            let full = column % A::PERIOD.min(RUN) == 0;
            for (k, acc) in acc.iter_mut().enumerate() {
                let row = (first + k).min(size - 1);
                let at = starts.first + row * starts.forth - row * starts.back + column;
                let w = twiddle(a, words, at);
                *acc = term(a, *acc, y, w, column, full);
            }
        }
        for (k, acc) in acc.into_iter().enumerate() {
            if first + k < size {
                sums.store(a, first + k, a.reduce_lazy(acc), false);
            }
        }
    }
    for row in 0..size {
        rows.store(a, row, sums.load(a, row, Prepare::Words), false);
    }
}

/// acc + w·y.
#[inline(always)]
fn term<A: Butterflies>(
    a: A,
    acc: Register<A>,
    y: Register<A>,
    w: A::Constant,
    column: usize,
    full: bool,
) -> Register<A> {
    if column == 0 {
        return a.product(y, w);
    }
    let acc = if full { a.reduce_lazy(acc) } else { acc };
    a.constant_butterfly(acc, y, w).0
}
