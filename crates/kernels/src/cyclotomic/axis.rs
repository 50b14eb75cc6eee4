//! Tables for one axis of a cyclotomic transform, in one direction.
//!
//! Along an axis of order p^e, x^(p^(e−1)) is a root of order p: blocks of rows are transformed as for the prime; then p by p matrices split
//! x^s − c into factors x^(s/p) − c_i.

use sunzi_math::{Axis, mod_inv, mod_pow};

use super::tables::{AxisTables, Stage};
use crate::buffer::Buffer;
use crate::error::KernelError;
use crate::modulus::Modulus;
use crate::twiddles::bit_reverse;

/// Builds the tables of one axis for one modulus.
pub(super) struct Builder<'a> {
    pub(super) modulus: Modulus,
    pub(super) axis: &'a Axis,
    /// Root of unity of the order of the axis, p^e.
    pub(super) root: u64,
}

impl Builder<'_> {
    /// Returns the words of a table that multiply by these constants.
    pub(super) fn constants(&self, values: impl IntoIterator<Item = u64>) -> Buffer {
        let (transform, q) = (&self.modulus.table.cyclotomic, self.modulus.value());
        let words = |w| (transform.constant)(w, q).into_iter().take(transform.words);
        Buffer::from_slice(&values.into_iter().flat_map(words).collect::<Vec<_>>())
    }

    pub(super) fn prime(&self) -> usize {
        self.axis.prime() as usize
    }

    /// Number p^(e−1) of values that a block of the axis takes.
    pub(super) fn block(&self) -> usize {
        (self.axis.order() / self.axis.prime()) as usize
    }

    /// Returns the power root^(e mod order) for an exponent e.
    pub(super) fn power(&self, exponent: u64) -> u64 {
        self.modulus.pow(self.root, exponent % self.axis.order())
    }

    pub(super) fn inverse_of(&self, x: usize) -> u64 {
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

    /// Returns the kernel of the inverse transform of the axis, times c.
    pub(super) fn scaled_kernel(&self, c: u64) -> Result<Buffer, KernelError> {
        if self.prime() == 2 { Ok(self.twists(c)) } else { self.kernel(true, c) }
    }

    /// Returns the exponents of the root at the positions of a transformed axis.
    pub(super) fn exponents(&self) -> Vec<u64> {
        let (p, h) = (self.axis.prime(), self.axis.degree());
        if p == 2 {
            return (0..h).map(|i| 2 * bit_reverse(i, h.trailing_zeros()) as u64 + 1).collect();
        }
        let mut exponents = self.labels();
        for e in 1..self.axis.exponent() {
            exponents = exponents.iter().flat_map(|u| (0..p).map(move |i| u + i * p.pow(e))).collect();
        }
        exponents
    }

    /// Returns the twists c·ψ^-j/h of the inverse transform along an axis of a power of two.
    pub(super) fn twists(&self, c: u64) -> Buffer {
        let (h, q) = (self.axis.degree(), &self.modulus);
        let factor = q.mul(c, self.inverse_of(h));
        self.constants((0..h as u64).map(|j| q.mul(factor, self.power(2 * h as u64 - j))))
    }

    /// Returns the stages that split x^s − ω^(s·u) into factors x^(s/p) − ω^((s/p)·(u + i·p^e)), level after
    /// level.
    fn stages(&self, inverse: bool) -> Vec<Stage> {
        let (p, q) = (self.prime(), &self.modulus);
        let order = self.axis.order();
        let scale = if inverse { self.inverse_of(p) } else { 1 };
        let mut labels = self.labels();
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
            stages.push(Stage { size: p, stride, matrices: self.constants(values) });
            labels = labels.iter().flat_map(|u| (0..p as u64).map(move |i| u + i * period)).collect();
            period *= p as u64;
        }
        stages
    }
}

/// Returns the smallest generator of the units modulo a prime.
pub(super) fn generator(p: u64) -> u64 {
    let order = |g: u64| sunzi_math::prime_factors(p - 1).iter().all(|f| mod_pow(g, (p - 1) / f, p) != 1);
    (1..p).find(|&g| order(g)).unwrap_or(1)
}

/// Returns e with e·m/m_i ≡ u_i·m/m_i (mod m) for all axes, from all u_i.
pub(super) fn joined_exponent(axes: &[Axis], along: &[u64], m: u64) -> u64 {
    let term = |(axis, u): (&Axis, &u64)| {
        let inverse = mod_inv(axis.weight() % axis.order(), axis.order()).unwrap_or(0);
        u * inverse % axis.order() * axis.weight()
    };
    axes.iter().zip(along).map(term).sum::<u64>() % m
}
