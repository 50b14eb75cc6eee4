//! Tables of the cyclic convolution along an axis of prime order, and of the transform along an axis of a power of two.
//!
//! Along an axis of prime p values at ζ^(g^t) are A_t = a_0 + Σ_s a_{g^-s}·ζ^(g^(t−s)), a cyclic convolution with a fixed kernel
//! [Rader68], and a_j is the difference of Σ_t A_t·(ζ^(−j·g^t) − 1)/p for j and for p − 1; there j is −g^-s, so that p − 1 stands at place 0.
//! A convolution of length N·b is b by b circulants at each frequency of Fourier transforms of length N = 2^a·3^c·5^d; without the
//! circulants if b = 1; or it is one longer Fourier transform of the kernel's period and zeros. Fourier transforms of coprime lengths are
//! dimensions of one, without twiddles between them [Good–Thomas].

use sunzi_math::{mod_pow, primitive_root_of_unity};

use super::axis::{Builder, generator};
use super::rows::ABSENT;
use super::tables::{Convolution, Kind, SIZES, Sweep};
use crate::buffer::Buffer;
use crate::error::KernelError;
use crate::twiddles::bit_reverse;

/// One dimension of a Fourier transform: a power of a radix, and the distance between neighbours.
#[derive(Clone, Copy)]
struct Dimension {
    radix: usize,
    size: usize,
    inner: usize,
    root: u64,
}

impl Dimension {
    /// Returns the frequency at a place along the dimension.
    fn frequency(&self, place: usize) -> usize {
        let (mut rest, mut digits, mut frequency) = (place, 1, 0);
        while digits < self.size {
            frequency = frequency * self.radix + rest % self.radix;
            rest /= self.radix;
            digits *= self.radix;
        }
        frequency
    }
}

/// Yields the powers of five, three and two in a length: (radix, power, product of the later powers).
fn powers(length: usize) -> impl Iterator<Item = (usize, usize, usize)> {
    let mut inner = length;
    let next = move |radix| {
        let mut size = 1;
        while inner.is_multiple_of(radix) {
            inner /= radix;
            size *= radix;
        }
        (radix, size, inner)
    };
    [5, 3, 2].into_iter().map(next).filter(|&(_, size, _)| size > 1)
}

/// Returns the register that a forward sweep loads as its `k`-th of `size`.
fn register(k: usize, size: usize) -> usize {
    if size.is_power_of_two() { bit_reverse(k, size.trailing_zeros()) } else { k }
}

/// Lists the rows of a sweep over blocks of `block` rows of a tile, in groups of `size`.
fn rows(len: usize, block: usize, size: usize, order: impl Fn(usize, usize) -> usize) -> Vec<u32> {
    let stride = block / size;
    let starts = (0..len).step_by(block.max(1)).flat_map(|first| first..first + stride);
    starts
        .flat_map(|at| (0..size).map(move |k| (at, k)))
        .map(|(at, k)| (at + order(k, size) * stride) as u32)
        .collect()
}

impl Builder<'_> {
    /// Makes the convolution of a power-of-two axis: X^h + 1 split again and again; back by a cyclic transform and twists.
    pub(super) fn negacyclic(&self, inverse: bool) -> Result<Convolution, KernelError> {
        let h = self.axis.degree();
        let parts = self.parts(h.trailing_zeros());
        let root = if inverse { self.modulus.mul(self.root, self.root) } else { self.root };
        let dimension = Dimension { radix: 2, size: h, inner: 1, root };
        let steps = if inverse {
            self.inverse_sweeps(&dimension, h, &parts, 0)
        } else {
            let tree = |blocks: usize, i: usize| {
                self.power(((2 * bit_reverse(i, blocks.trailing_zeros()) + 1) * (h / 2 / blocks)) as u64)
            };
            let mut steps = self.forward_sweeps(&dimension, h, &parts, tree);
            steps.iter_mut().for_each(|step| step.cyclic = false);
            steps
        };
        Ok(Convolution { length: h, rows: 1, steps, adds: false, twists: inverse })
    }

    /// Splits a number of levels into the parts that sweeps run, as equal as can be.
    fn parts(&self, levels: u32) -> Vec<u32> {
        let count = levels.div_ceil(self.modulus.table.cyclotomic.levels);
        (0..count).map(|i| (i + 1) * levels / count - i * levels / count).collect()
    }

    /// Returns the dimensions of Fourier transforms of this length, the outermost first.
    fn dimensions(&self, length: usize) -> Result<Vec<Dimension>, KernelError> {
        let modulus = self.modulus.value();
        let dimension = |(radix, size, inner)| {
            let order = size as u64;
            let missing = |_| KernelError::NoRootOfUnity { modulus, order };
            let root = primitive_root_of_unity(order, modulus).map_err(missing)?;
            Ok(Dimension { radix, size, inner, root })
        };
        powers(length).map(dimension).collect()
    }

    /// Returns the row of the tile at which place s of a cyclic list of length p − 1 stands.
    fn place(&self, s: usize) -> usize {
        let (length, rows) = self.axis.convolution();
        s % rows * length + powers(length).map(|(_, size, inner)| s % size * inner).sum::<usize>()
    }

    /// Returns the exponent of ζ at each place along the axis of the prime: places are rows of the tile.
    pub(super) fn labels(&self) -> Vec<u64> {
        let (length, rows) = self.axis.convolution();
        let p = self.axis.prime();
        let generator = generator(p);
        let mut labels = vec![0; p as usize - 1];
        for s in 0..p as usize - 1 {
            let at = if length * rows == p as usize - 1 { self.place(s) } else { s };
            labels.iter_mut().skip(at).take(1).for_each(|label| *label = mod_pow(generator, s as u64, p));
        }
        labels
    }

    pub(super) fn rader(&self, inverse: bool) -> Result<Convolution, KernelError> {
        let (length, rows) = self.axis.convolution();
        let p = self.axis.prime();
        let generator = generator(p);
        let period = p as usize - 1;
        let mut by_power = vec![ABSENT; length * rows];
        let mut by_place = by_power.clone();
        for s in 0..period {
            let at = self.place(s);
            let place = if length * rows == period { at } else { s };
            let j = mod_pow(generator, p - 1 - s as u64, p);
            // The input has no coefficient of x^(p−1): its opposite is left at row 0.
            let j = if inverse { (p - j) % (p - 1) } else { j };
            if let (Some(power), Some(row)) = (by_power.get_mut(at), by_place.get_mut(at)) {
                *power = if !inverse && j == p - 1 { ABSENT } else { j as u32 };
                *row = place as u32;
            }
        }
        let (input, output) = if inverse { (by_place, by_power) } else { (by_power, by_place) };
        let mut steps = self.convolution_sweeps(&self.dimensions(length)?, length * rows, rows > 1);
        let look_up = |list: &mut Vec<u32>, map: &[u32]| {
            list.iter_mut().for_each(|row| *row = map.get(*row as usize).copied().unwrap_or(ABSENT));
        };
        if let Some(first) = steps.first_mut() {
            look_up(&mut first.from, &input);
        }
        if let Some(last) = steps.last_mut() {
            look_up(&mut last.to, &output);
            last.subtracts = inverse;
        }
        Ok(Convolution { length, rows, steps, adds: !inverse, twists: false })
    }

    /// Makes the forward sweeps of all dimensions, then the inverse ones; if nothing comes between, the two
    /// sweeps in the middle are one.
    fn convolution_sweeps(&self, dimensions: &[Dimension], len: usize, apart: bool) -> Vec<Sweep> {
        let Some((twos, odd)) = dimensions.split_last() else { return Vec::new() };
        let levels = twos.size.trailing_zeros();
        // A single three and a single two stay in registers together.
        let six = match odd.last() {
            Some(last) if !apart && last.size == 3 && twos.size == 2 => Some(last),
            _ => None,
        };
        let odd = if six.is_some() { odd.get(..odd.len() - 1).unwrap_or(odd) } else { odd };
        let mut forward = Vec::new();
        let mut back = Vec::new();
        for dimension in odd {
            forward.extend(self.odd_sweeps(dimension, len, false));
            back.extend(self.odd_sweeps(dimension, len, true).into_iter().rev());
        }
        back.reverse();
        if let Some(three) = six {
            forward.push(self.six(three.root, len));
            return [forward, back].concat();
        }
        let tree = |blocks: usize, i: usize| {
            let exponent = bit_reverse(i, blocks.trailing_zeros()) * (twos.size / 2 / blocks);
            self.modulus.pow(twos.root, exponent as u64)
        };
        if apart {
            let parts = self.parts(levels);
            let [ahead, behind] =
                [self.forward_sweeps(twos, len, &parts, tree), self.inverse_sweeps(twos, len, &parts, 0)];
            return [forward, ahead, behind, back].concat();
        }
        let middle = levels.min(self.modulus.table.cyclotomic.levels);
        let outer = self.parts(levels - middle);
        let mut ahead = self.forward_sweeps(twos, len, &[outer.as_slice(), &[middle]].concat(), tree);
        if let Some(last) = ahead.last_mut() {
            let short = self.modulus.pow(twos.root, (twos.size >> middle) as u64);
            let short = Dimension { size: 1 << middle, root: short, ..*twos };
            let back = self.inverse_sweeps(&short, len, &[middle], 0).pop();
            last.kind = Kind::Middle;
            last.to = (0..len as u32).collect();
            last.back = back.map_or_else(Buffer::default, |sweep| sweep.twiddles);
        }
        [forward, ahead, self.inverse_sweeps(twos, len, &outer, middle), back].concat()
    }

    fn sweep(&self, size: usize, from: Vec<u32>, per: usize, values: Vec<u64>) -> Sweep {
        Sweep {
            kind: Kind::Levels,
            function: SIZES.iter().position(|&other| other == size).unwrap_or(0),
            to: from.clone(),
            from,
            per,
            twiddles: self.constants(values),
            back: Buffer::default(),
            cyclic: true,
            subtracts: false,
        }
    }

    /// Makes sweeps of levels with one twiddle a block, `twiddle(blocks of the level, block)`.
    fn forward_sweeps(
        &self,
        dimension: &Dimension,
        len: usize,
        parts: &[u32],
        twiddle: impl Fn(usize, usize) -> u64,
    ) -> Vec<Sweep> {
        let mut blocks = 1;
        let mut sweeps = Vec::new();
        for &levels in parts {
            let mut values = Vec::new();
            for i in 0..blocks {
                for r in 0..levels {
                    values.extend((0..1 << r).map(|g| twiddle(blocks << r, (i << r) + bit_reverse(g, r))));
                }
            }
            let (block, size) = (dimension.size * dimension.inner / blocks, 1 << levels);
            sweeps.push(self.sweep(size, rows(len, block, size, register), block / size, values));
            blocks <<= levels;
        }
        sweeps
    }

    /// Makes the sweeps of inverse levels from bit-reversed frequencies, after the first `done` levels.
    fn inverse_sweeps(&self, dimension: &Dimension, len: usize, parts: &[u32], done: u32) -> Vec<Sweep> {
        let mut half = 1_usize << done;
        let mut sweeps = Vec::new();
        for &levels in parts {
            let mut values = Vec::new();
            for j in 0..half {
                for r in 0..levels {
                    for k in 0..1 << r {
                        let exponent = (j + k * half) * (dimension.size / ((2 * half) << r));
                        values.push(self.modulus.pow(dimension.root, (dimension.size - exponent) as u64));
                    }
                }
            }
            let (block, size) = ((half << levels) * dimension.inner, 1 << levels);
            sweeps.push(self.sweep(size, rows(len, block, size, |k, _| k), dimension.inner, values));
            half <<= levels;
        }
        sweeps
    }

    /// Makes sweeps of radix three or five, which split blocks or, where inverse, join them.
    fn odd_sweeps(&self, dimension: &Dimension, len: usize, inverse: bool) -> Vec<Sweep> {
        let Dimension { radix, size, inner, root } = *dimension;
        let q = &self.modulus;
        let root = if inverse { q.pow(root, size as u64 - 1) } else { root };
        let multipliers = self.multipliers(q.pow(root, (size / radix) as u64), radix);
        let mut sweeps = Vec::new();
        let mut done = 1;
        while done < size {
            let mut values = Vec::new();
            for i in 0..done {
                // Blocks are labelled by the digits split off, or by places.
                let split = Dimension { size: done, ..*dimension };
                let exponent = if inverse { i } else { split.frequency(i) } * (size / (done * radix));
                values.extend((1..radix).map(|k| q.pow(root, (exponent * k) as u64)));
                values.extend(&multipliers);
            }
            let block = if inverse { done * radix } else { size / done } * inner;
            let per = if inverse { inner } else { block / radix };
            sweeps.push(self.sweep(radix, rows(len, block, radix, |k, _| k), per, values));
            done *= radix;
        }
        sweeps
    }

    /// Returns the constants of a radix: for three ρ; for five −1/4, (ρ + ρ^4 − ρ^2 − ρ^3)/4, and with sines
    /// s_k = (ρ^k − ρ^-k)/2 the numbers s_2, s_1 − s_2 and s_1 + s_2.
    fn multipliers(&self, root: u64, radix: usize) -> Vec<u64> {
        if radix == 3 {
            return vec![root];
        }
        let q = &self.modulus;
        let [half, quarter] = [2, 4].map(|x| self.inverse_of(x));
        let power = |k| q.pow(root, k);
        let cosines = q.sub(q.add(power(1), power(4)), q.add(power(2), power(3)));
        let [s1, s2] = [1, 2].map(|k| q.mul(half, q.sub(power(k), power(5 - k))));
        vec![q.neg(quarter), q.mul(quarter, cosines), s2, q.sub(s1, s2), q.add(s1, s2)]
    }

    /// Makes the sweep of the innermost radix three and radix two, in either direction.
    fn six(&self, root: u64, len: usize) -> Sweep {
        let back = self.constants([self.modulus.mul(root, root)]);
        let sweep = self.sweep(6, (0..len as u32).collect(), 1, vec![root]);
        Sweep { kind: Kind::Middle, back, ..sweep }
    }

    /// Returns the multipliers of the frequencies of the convolution, with 1/length and c: for several rows, a circulant for each frequency.
    pub(super) fn kernel(&self, inverse: bool, c: u64) -> Result<Buffer, KernelError> {
        let (length, rows) = self.axis.convolution();
        let (p, q) = (self.axis.prime(), &self.modulus);
        let generator = generator(p);
        let step = self.block() as u64;
        // ζ^(g^u) or (ζ^(g^−u) − 1)/p, over the length of the Fourier transform.
        let factor = q.mul(c, self.inverse_of(length));
        let last = q.mul(factor, self.inverse_of(p as usize));
        let value = |u: u64| {
            if inverse {
                q.mul(last, q.sub(self.power(mod_pow(generator, p - 1 - u, p) * step), 1))
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
        let dimensions = self.dimensions(length)?;
        for row in values.chunks_exact_mut(length) {
            dimensions.iter().for_each(|dimension| self.fourier(dimension, row));
        }
        if rows == 1 {
            return Ok(self.constants(values));
        }
        // Row i of a circulant starts `rows − i` places into twice its first column backwards.
        let entry = |frequency: usize, u: usize| (2 * rows - u) % rows * length + frequency;
        let order = (0..length).flat_map(|f| (0..2 * rows).map(move |u| entry(f, u)));
        Ok(self.constants(order.map(|at| values.get(at).copied().unwrap_or(0))))
    }

    /// Transforms one row along a dimension, level by level, in the order of frequencies.
    fn fourier(&self, dimension: &Dimension, row: &mut [u64]) {
        let Dimension { radix, size, inner, root } = *dimension;
        let q = &self.modulus;
        let powers: Vec<u64> = std::iter::successors(Some(1), |&x| Some(q.mul(x, root))).take(size).collect();
        let power = |exponent: usize| powers.get(exponent % size).copied().unwrap_or(0);
        let mut blocks = 1;
        while blocks < size {
            let (len, split) = (size / blocks, Dimension { size: blocks, ..*dimension });
            let stride = len / radix * inner;
            for (i, block) in row.chunks_exact_mut(len * inner).enumerate() {
                // X^len = root^(len·f) becomes X^(len/radix) = root^(len/radix·(f + blocks·k)).
                let f = split.frequency(i % blocks);
                for at in 0..stride {
                    let x: Vec<u64> = block.iter().skip(at).step_by(stride).copied().collect();
                    for (k, out) in block.iter_mut().skip(at).step_by(stride).enumerate() {
                        let exponent = len / radix * (f + blocks * k);
                        let term = |(j, &x): (usize, &u64)| q.mul(x, power(exponent * j));
                        *out = x.iter().enumerate().map(term).fold(0, |sum, term| q.add(sum, term));
                    }
                }
            }
            blocks *= radix;
        }
    }
}
