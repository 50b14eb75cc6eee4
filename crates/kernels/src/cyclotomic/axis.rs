//! Tables of one axis and one direction.
//!
//! Along an axis of prime p values at ζ^(g^t) are A_t = a_0 + Σ_s a_{g^-s}·ζ^(g^(t−s)), a cyclic convolution with a fixed kernel
//! [Rader68], and a_j is the difference of Σ_t A_t·(ζ^(−j·g^t) − 1)/p for j and for p − 1. Convolutions of length 2^a·b are
//! Fourier transforms of length 2^a of b rows, and b by b circulants at each frequency (Good–Thomas); or one longer Fourier transform
//! of the kernel's period and zeros. Along an axis of order p^e, x^(p^(e−1)) is a root of order p; then p by p matrices split
//! x^s − c into factors x^(s/p) − c_i.

use sunzi_math::{Axis, mod_inv, mod_pow, primitive_root_of_unity};

use crate::buffer::Buffer;
use crate::error::KernelError;
use crate::modulus::Modulus;
use crate::twiddles::bit_reverse;

/// A row that is not there.
pub(crate) const ABSENT: u32 = u32::MAX;
/// Words in a row of a tile.
const WIDTH: usize = 8;

/// What a sweep does.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Forward,
    /// Forward levels, products with the kernel, inverse levels.
    Middle,
    Inverse,
}

/// As many levels as fit registers, four at most.
#[derive(Clone)]
pub(crate) struct Sweep {
    pub(crate) kind: Kind,
    pub(crate) levels: u32,
    /// Rows of a block: those of its last inverse or its first forward level.
    pub(crate) block: usize,
    /// Pairs of twiddle and quotient, level by level, for each block or, inverse, for each place in a block.
    pub(crate) twiddles: Buffer,
    /// Those of the inverse levels of a middle.
    pub(crate) back: Buffer,
    /// Whether a middle that holds all rows subtracts the one in the middle, the coefficient of x^(p−1), and leaves its opposite there.
    pub(crate) subtracts: bool,
}

/// A convolution or a Fourier transform along the rows of an axis.
#[derive(Clone)]
pub(crate) struct Convolution {
    /// A power of two.
    pub(crate) length: usize,
    pub(crate) rows: usize,
    /// 0, 1, 2, … for every row of the tile.
    pub(crate) identity: Vec<u32>,
    /// Rows of the axis by rows of the tile.
    pub(crate) input: Vec<u32>,
    pub(crate) output: Vec<u32>,
    /// For several rows, circulants come between both halves of these.
    pub(crate) steps: Vec<Sweep>,
    /// Adds row 0 times this at frequency 0.
    pub(crate) add: Option<[u64; 2]>,
    /// Subtracts this row of the tile from all others in the end.
    pub(crate) subtract: Option<usize>,
    /// Multiplies rows by the kernel in the end.
    pub(crate) twists: bool,
}

/// Matrices that split every block of `size`·`stride` rows, or join them.
#[derive(Clone)]
pub(crate) struct Stage {
    pub(crate) size: usize,
    pub(crate) stride: usize,
    pub(crate) matrices: Buffer,
}

/// One axis.
#[derive(Clone)]
pub(crate) struct AxisTables {
    pub(crate) degree: usize,
    pub(crate) stride: usize,
    /// p^(e−1), or 1 for p = 2.
    pub(crate) block: usize,
    pub(crate) inverse: bool,
    pub(crate) convolution: Convolution,
    /// Pairs: products at each frequency, a circulant for each frequency, or twists.
    pub(crate) kernel: Buffer,
    pub(crate) stages: Vec<Stage>,
}

impl AxisTables {
    /// Whether columns that stand side by side need nothing but one sweep.
    pub(crate) fn is_one_sweep(&self) -> bool {
        let conv = &self.convolution;
        let finishes = conv.subtract.is_some() || conv.twists;
        self.stride > 1 && self.block == 1 && conv.rows == 1 && conv.steps.len() == 1 && !finishes
    }
}

/// Another kernel for one axis, times a constant.
#[derive(Clone)]
pub(crate) struct ScaledKernel {
    pub(crate) axis: usize,
    pub(crate) words: Buffer,
}

/// All axes of one direction, in the order in which they run.
#[derive(Clone)]
pub(crate) struct Tables {
    pub(crate) n: usize,
    pub(crate) axes: Vec<AxisTables>,
}

impl Tables {
    /// Where rows of a convolution, of an axis, of an edge and of a matrix start in the scratch memory, then a row of zeros and one of waste.
    pub(crate) fn scratch_offsets(&self) -> [usize; 5] {
        let most = |f: fn(&AxisTables) -> usize| self.axes.iter().map(f).max().unwrap_or(0) * WIDTH;
        let tile = most(|axis| axis.convolution.length * axis.convolution.rows);
        let degree = most(|axis| axis.degree);
        let size =
            most(|axis| axis.stages.iter().map(|stage| stage.size).fold(axis.convolution.rows, usize::max));
        let edge = tile + degree;
        [0, tile, edge, edge + degree, edge + degree + size]
    }

    /// Words of scratch memory.
    pub(crate) fn scratch_words(&self) -> usize {
        self.scratch_offsets().into_iter().max().unwrap_or(0) + 2 * WIDTH
    }
}

/// Builds the tables of one axis for one modulus.
pub(super) struct Builder<'a> {
    pub(super) modulus: Modulus,
    pub(super) axis: &'a Axis,
    /// A root of unity of the order of the axis.
    pub(super) root: u64,
}

impl Builder<'_> {
    fn pair(&self, w: u64) -> [u64; 2] {
        (self.modulus.table.lane_factor)(w, self.modulus.value())
    }

    fn pairs(&self, values: impl IntoIterator<Item = u64>) -> Buffer {
        let words: Vec<u64> = values.into_iter().flat_map(|w| self.pair(w)).collect();
        Buffer::from_slice(&words)
    }

    fn prime(&self) -> usize {
        self.axis.prime() as usize
    }

    /// p^(e−1).
    fn block(&self) -> usize {
        (self.axis.order() / self.axis.prime()) as usize
    }

    /// root^(e mod order).
    fn power(&self, exponent: u64) -> u64 {
        self.modulus.pow(self.root, exponent % self.axis.order())
    }

    fn inverse_of(&self, x: usize) -> u64 {
        self.modulus.inv(x as u64 % self.modulus.value()).unwrap_or(0)
    }

    pub(super) fn tables(&self, inverse: bool) -> Result<AxisTables, KernelError> {
        let (degree, stride) = (self.axis.degree(), self.axis.stride());
        if self.prime() == 2 {
            let convolution = self.negacyclic(inverse)?;
            let kernel = if inverse { self.twists(1) } else { Buffer::default() };
            return Ok(AxisTables {
                degree,
                stride,
                block: 1,
                inverse,
                convolution,
                kernel,
                stages: Vec::new(),
            });
        }
        let convolution = self.rader(inverse)?;
        let kernel = self.kernel(inverse, 1)?;
        let mut stages = self.stages(inverse);
        if inverse {
            stages.reverse();
        }
        Ok(AxisTables { degree, stride, block: self.block(), inverse, convolution, kernel, stages })
    }

    /// The kernel of the inverse transform times c.
    pub(super) fn scaled_kernel(&self, c: u64) -> Result<Buffer, KernelError> {
        if self.prime() == 2 { Ok(self.twists(c)) } else { self.kernel(true, c) }
    }

    /// The exponents of the root at the positions of a transformed axis.
    pub(super) fn exponents(&self) -> Vec<u64> {
        let (p, h) = (self.axis.prime(), self.axis.degree());
        if p == 2 {
            return (0..h).map(|i| 2 * bit_reverse(i, h.trailing_zeros()) as u64 + 1).collect();
        }
        let generator = generator(p);
        let mut exponents: Vec<u64> = (0..p - 1).map(|t| mod_pow(generator, t, p)).collect();
        for e in 1..self.axis.exponent() {
            exponents = exponents.iter().flat_map(|u| (0..p).map(move |i| u + i * p.pow(e))).collect();
        }
        exponents
    }

    /// A power-of-two axis: X^h + 1 split again and again; back by a cyclic transform and twists.
    fn negacyclic(&self, inverse: bool) -> Result<Convolution, KernelError> {
        let h = self.axis.degree();
        let parts = self.parts(h.trailing_zeros());
        let steps = if inverse {
            self.inverse_sweeps(h, self.modulus.mul(self.root, self.root), &parts, 0)
        } else {
            let tree = |blocks: usize, i: usize| {
                self.power(((2 * bit_reverse(i, blocks.trailing_zeros()) + 1) * (h / 2 / blocks)) as u64)
            };
            self.forward_sweeps(h, &parts, tree)
        };
        let identity: Vec<u32> = (0..h as u32).collect();
        let (input, output) = (identity.clone(), identity.clone());
        Ok(Convolution {
            length: h,
            rows: 1,
            identity,
            input,
            output,
            steps,
            add: None,
            subtract: None,
            twists: inverse,
        })
    }

    /// c·ψ^-j/h.
    fn twists(&self, c: u64) -> Buffer {
        let (h, q) = (self.axis.degree(), &self.modulus);
        let factor = q.mul(c, self.inverse_of(h));
        self.pairs((0..h as u64).map(|j| q.mul(factor, self.power(2 * h as u64 - j))))
    }

    /// A root of unity of the order of the Fourier transforms.
    fn short_root(&self) -> Result<u64, KernelError> {
        let (order, modulus) = (self.axis.convolution().0 as u64, self.modulus.value());
        primitive_root_of_unity(order, modulus).map_err(|_| KernelError::NoRootOfUnity { modulus, order })
    }

    /// Levels in parts, as equal as can be.
    fn parts(&self, levels: u32) -> Vec<u32> {
        let count = levels.div_ceil(self.modulus.table.levels);
        (0..count).map(|i| (i + 1) * levels / count - i * levels / count).collect()
    }

    /// The row of the tile at which place s of a cyclic list of length p − 1 stands.
    fn place(&self, s: usize) -> usize {
        let (length, rows) = self.axis.convolution();
        if rows == 1 { s } else { s % rows * length + s % length }
    }

    fn rader(&self, inverse: bool) -> Result<Convolution, KernelError> {
        let (length, rows) = self.axis.convolution();
        let p = self.axis.prime();
        let generator = generator(p);
        let mut by_power = vec![ABSENT; length * rows];
        let mut by_place = by_power.clone();
        let mut subtract = None;
        for s in 0..p as usize - 1 {
            let j = mod_pow(generator, p - 1 - s as u64, p);
            let at = self.place(s);
            if j == p - 1 {
                subtract = Some(at).filter(|_| inverse);
            } else if let Some(row) = by_power.get_mut(at) {
                *row = j as u32;
            }
            by_place.iter_mut().skip(at).take(1).for_each(|row| *row = s as u32);
        }
        let (input, output) = if inverse { (by_place, by_power) } else { (by_power, by_place) };
        let root = self.short_root()?;
        let tree = |blocks: usize, i: usize| self.tree(root, blocks, i);
        let levels = length.trailing_zeros();
        let mut steps = if rows > 1 {
            let parts = self.parts(levels);
            [self.forward_sweeps(length, &parts, tree), self.inverse_sweeps(length, root, &parts, 0)].concat()
        } else {
            let middle = levels.min(self.modulus.table.levels);
            let outer = self.parts(levels - middle);
            let mut steps = self.forward_sweeps(length, &[outer.as_slice(), &[middle]].concat(), tree);
            if let Some(last) = steps.last_mut() {
                let short = self.modulus.pow(root, (length >> middle) as u64);
                let back = self.inverse_sweeps(1 << middle, short, &[middle], 0).pop();
                last.kind = Kind::Middle;
                last.back = back.map_or_else(Buffer::default, |sweep| sweep.twiddles);
            }
            steps.extend(self.inverse_sweeps(length, root, &outer, middle));
            steps
        };
        let add = (!inverse).then(|| self.pair(1));
        // All rows in registers, and none but those: −1 is the power of the generator halfway.
        let mut output = output;
        if let ([only], Some(at)) = (steps.as_mut_slice(), subtract)
            && length * rows == p as usize - 1
            && rows == 1
        {
            only.subtracts = true;
            output.iter_mut().skip(at).take(1).for_each(|row| *row = 0);
            subtract = None;
        }
        let identity = (0..(length * rows) as u32).collect();
        Ok(Convolution { length, rows, identity, input, output, steps, add, subtract, twists: false })
    }

    /// What splits block i of so many in a cyclic transform whose root of unity this is.
    fn tree(&self, root: u64, blocks: usize, i: usize) -> u64 {
        let length = self.axis.convolution().0;
        let exponent = bit_reverse(i, blocks.trailing_zeros()) * (length / 2 / blocks);
        self.modulus.pow(root, exponent as u64)
    }

    /// Levels with a twiddle a block, `twiddle(blocks of the level, block)`.
    fn forward_sweeps(
        &self,
        length: usize,
        parts: &[u32],
        twiddle: impl Fn(usize, usize) -> u64,
    ) -> Vec<Sweep> {
        let mut blocks = 1;
        let mut sweeps = Vec::new();
        for &levels in parts {
            let mut values = Vec::new();
            for i in 0..blocks {
                for r in 0..levels {
                    values.extend((0..1 << r).map(|g| twiddle(blocks << r, (i << r) + g)));
                }
            }
            let (twiddles, back) = (self.pairs(values), Buffer::default());
            sweeps.push(Sweep {
                kind: Kind::Forward,
                levels,
                block: length / blocks,
                twiddles,
                back,
                subtracts: false,
            });
            blocks <<= levels;
        }
        sweeps
    }

    /// Levels from bit-reversed frequencies, after the first `done`.
    fn inverse_sweeps(&self, length: usize, root: u64, parts: &[u32], done: u32) -> Vec<Sweep> {
        let mut half = 1_usize << done;
        let mut sweeps = Vec::new();
        for &levels in parts {
            let mut values = Vec::new();
            for j in 0..half {
                for r in 0..levels {
                    for k in 0..1 << r {
                        let exponent = (j + k * half) * (length / ((2 * half) << r));
                        values.push(self.modulus.pow(root, (length - exponent) as u64));
                    }
                }
            }
            let (twiddles, back) = (self.pairs(values), Buffer::default());
            sweeps.push(Sweep {
                kind: Kind::Inverse,
                levels,
                block: half << levels,
                twiddles,
                back,
                subtracts: false,
            });
            half <<= levels;
        }
        sweeps
    }

    /// What the frequencies of the convolution are multiplied by, with 1/length and c: for several rows, a circulant each.
    fn kernel(&self, inverse: bool, c: u64) -> Result<Buffer, KernelError> {
        let (length, rows) = self.axis.convolution();
        let (p, q) = (self.axis.prime(), &self.modulus);
        let generator = generator(p);
        let step = self.block() as u64;
        // ζ^(g^u) or (ζ^(−g^−u) − 1)/p, over the length of the Fourier transform.
        let factor = q.mul(c, self.inverse_of(length));
        let last = q.mul(factor, self.inverse_of(p as usize));
        let value = |u: u64| {
            if inverse {
                let exponent = p - mod_pow(generator, p - 1 - u, p);
                q.mul(last, q.sub(self.power(exponent * step), 1))
            } else {
                q.mul(factor, self.power(mod_pow(generator, u, p) * step))
            }
        };
        let mut values = vec![0; length * rows];
        let period = p as usize - 1;
        for u in 0..period {
            let w = value(u as u64);
            let wrapped = (u > 0 && length * rows > period).then(|| length + u - period);
            for at in [Some(self.place(u)), wrapped].into_iter().flatten() {
                values.iter_mut().skip(at).take(1).for_each(|slot| *slot = w);
            }
        }
        let root = self.short_root()?;
        for row in values.chunks_exact_mut(length) {
            self.fourier(root, row);
        }
        if rows == 1 {
            return Ok(self.pairs(values));
        }
        // Row i of a circulant starts `rows − i` places into twice its first column backwards.
        let entry = |frequency: usize, u: usize| (2 * rows - u) % rows * length + frequency;
        let order = (0..length).flat_map(|f| (0..2 * rows).map(move |u| entry(f, u)));
        Ok(self.pairs(order.map(|at| values.get(at).copied().unwrap_or(0))))
    }

    /// The transform of one row, frequencies bit-reversed.
    fn fourier(&self, root: u64, row: &mut [u64]) {
        let q = &self.modulus;
        let mut blocks = 1;
        while blocks < row.len() {
            let len = row.len() / blocks;
            for (i, block) in row.chunks_exact_mut(len).enumerate() {
                let w = self.tree(root, blocks, i);
                let (x, y) = block.split_at_mut(len / 2);
                for (x, y) in x.iter_mut().zip(y) {
                    let t = q.mul(w, *y);
                    (*x, *y) = (q.add(*x, t), q.sub(*x, t));
                }
            }
            blocks *= 2;
        }
    }

    /// x^s − ω^(s·u) to x^(s/p) − ω^((s/p)·(u + i·p^e)), level after level.
    fn stages(&self, inverse: bool) -> Vec<Stage> {
        let (p, q) = (self.prime(), &self.modulus);
        let order = self.axis.order();
        let scale = if inverse { self.inverse_of(p) } else { 1 };
        let mut labels: Vec<u64> = {
            let generator = generator(p as u64);
            (0..p as u64 - 1).map(|t| mod_pow(generator, t, p as u64)).collect()
        };
        let mut stages = Vec::new();
        let (mut stride, mut period) = (self.block(), p as u64);
        while stride > 1 {
            stride /= p;
            let mut values = Vec::new();
            for &u in &labels {
                for row in 0..p as u64 {
                    for column in 0..p as u64 {
                        let (i, j) = if inverse { (column, row) } else { (row, column) };
                        let exponent = stride as u64 * (u + i * period) % order * j % order;
                        let w = self.power(if inverse { order - exponent } else { exponent });
                        values.push(q.mul(scale, w));
                    }
                }
            }
            stages.push(Stage { size: p, stride, matrices: self.pairs(values) });
            labels = labels.iter().flat_map(|u| (0..p as u64).map(move |i| u + i * period)).collect();
            period *= p as u64;
        }
        stages
    }
}

/// The smallest generator of the units modulo a prime.
fn generator(p: u64) -> u64 {
    let order = |g: u64| sunzi_math::prime_factors(p - 1).iter().all(|f| mod_pow(g, (p - 1) / f, p) != 1);
    (1..p).find(|&g| order(g)).unwrap_or(1)
}

/// e with e·m/m_i ≡ u_i·m/m_i (mod m) for all axes, from all u_i.
pub(super) fn joined_exponent(axes: &[Axis], along: &[u64], m: u64) -> u64 {
    let term = |(axis, u): (&Axis, &u64)| {
        let inverse = mod_inv(axis.weight() % axis.order(), axis.order()).unwrap_or(0);
        u * inverse % axis.order() * axis.weight()
    };
    axes.iter().zip(along).map(term).sum::<u64>() % m
}
