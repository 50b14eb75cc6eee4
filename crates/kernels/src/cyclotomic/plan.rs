//! Plans of cyclotomic transforms: the tables of one index and one modulus.
#![expect(unsafe_code, reason = "calls through tables chosen for an available instruction set")]

use std::fmt;

use sunzi_math::{RingIndex, gcd, primitive_root_of_unity};
use zeroize::Zeroizing;

use super::axis::{Builder, joined_exponent};
use super::run::transform;
use super::tables::{ScaledKernel, Tables};
use crate::buffer::Buffer;
use crate::error::{KernelError, check_length};
use crate::modulus::Modulus;

/// A cyclotomic transform: maps polynomials in the powerful basis of [`RingIndex`] to their values at the primitive m-th roots of
/// unity modulo q, one axis after the other.
///
/// ```
/// use sunzi_kernels::{CyclotomicPlan, Modulus};
/// use sunzi_math::RingIndex;
/// let index = RingIndex::new(15)?;
/// let plan = CyclotomicPlan::new(Modulus::new(61)?, &index)?;
/// // x_2 = X^3 stands next to the constant.
/// let mut a = [0, 1, 0, 0, 0, 0, 0, 0];
/// plan.forward(&mut a)?;
/// let exponent = plan.evaluation_exponents()[5];
/// assert_eq!(a[5], plan.modulus().pow(plan.root(), 3 * exponent));
/// plan.inverse(&mut a)?;
/// assert_eq!(a, [0, 1, 0, 0, 0, 0, 0, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct CyclotomicPlan {
    modulus: Modulus,
    index: RingIndex,
    root: u64,
    forward: Tables,
    inverse: Tables,
    /// Index of the axis, in the order of the inverse transform, whose kernel is shortest.
    scaled: usize,
}

/// A constant that an inverse cyclotomic transform multiplies by at no cost, made by
/// [`CyclotomicPlan::scale`].
#[derive(Clone)]
pub struct CyclotomicScale {
    modulus: u64,
    m: u64,
    kernel: ScaledKernel,
}

impl fmt::Debug for CyclotomicScale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CyclotomicScale").field("modulus", &self.modulus).field("index", &self.m).finish()
    }
}

impl CyclotomicPlan {
    /// Makes the transform of this index modulo a prime q ≡ 1 modulo its [root order](RingIndex::root_order).
    ///
    /// The root ω of order m is the numerically smallest.
    ///
    /// # Errors
    /// [`KernelError::NoRootOfUnity`], also for a q that is no prime; [`KernelError::ModulusOutOfRange`].
    pub fn new(modulus: Modulus, index: &RingIndex) -> Result<Self, KernelError> {
        let (q, order) = (modulus.value(), index.root_order());
        if q > modulus.table.widest {
            return Err(KernelError::ModulusOutOfRange { value: q });
        }
        let missing = KernelError::NoRootOfUnity { modulus: q, order };
        if (q - 1) % order != 0 || !sunzi_math::is_prime(q) {
            return Err(missing);
        }
        let m = index.value();
        let some = primitive_root_of_unity(m, q).map_err(|_| missing.clone())?;
        let powers = std::iter::successors(Some(1), |&x| Some(modulus.mul(x, some)));
        let root = powers.zip(0..m).filter(|&(_, k)| gcd(k, m) == 1).map(|(x, _)| x).min().ok_or(missing)?;
        let tables = |inverse: bool| {
            let axes = index.axes().iter().map(|axis| {
                Builder { modulus, axis, root: modulus.pow(root, axis.weight()) }.tables(inverse)
            });
            axes.collect::<Result<Vec<_>, _>>()
        };
        let n = index.degree();
        let (forward, mut inverse) = (tables(false)?, tables(true)?);
        inverse.reverse();
        let shortest = inverse.iter().enumerate().min_by_key(|(_, axis)| axis.kernel.len());
        let scaled = shortest.map_or(0, |(i, _)| i);
        let [forward, inverse] = [forward, inverse].map(|axes| Tables { n, axes });
        Ok(Self { modulus, index: index.clone(), root, forward, inverse, scaled })
    }

    /// Degree n = φ(m) of the ring.
    #[must_use]
    #[inline]
    pub fn n(&self) -> usize {
        self.forward.n
    }

    /// Modulus of the cyclotomic transform.
    #[must_use]
    #[inline]
    pub fn modulus(&self) -> Modulus {
        self.modulus
    }

    /// Primitive m-th root of unity ω of the transform.
    #[must_use]
    #[inline]
    pub fn root(&self) -> u64 {
        self.root
    }

    /// Returns for each position of a transformed polynomial the exponent e, below m, such that it holds the value at X = ω^e. Exponents are equal for all
    /// moduli and instruction sets.
    ///
    /// Along an axis of prime p places stand for g^s modulo p, g the smallest generator, in the order in which the dimensions of the convolution
    /// have s (`docs/format.md`); of order p^e, i_1·p + i_2·p² + … is added for
    /// digits i_1, i_2, … in lexicographic order; along an axis of order 2^e, place i stands for 2·bitrev(i) + 1.
    /// Exponents of ω^(m/m_i) so chosen are those of e. Axes are row-major, but the innermost one: the values of eight of
    /// its rows, or of as many as are left, are interleaved.
    #[must_use]
    pub fn evaluation_exponents(&self) -> Vec<u64> {
        evaluation_exponents(&self.index, self.modulus)
    }

    fn run(&self, a: &mut [u64], tables: &Tables, scaled: Option<&ScaledKernel>) -> Result<(), KernelError> {
        check_length(self.n(), a.len())?;
        let mut scratch = Zeroizing::new(Buffer::zeroed(tables.scratch_words()));
        let (table, constants) = (self.modulus.table, &self.modulus.constants);
        // SAFETY: the table was chosen for an available instruction set.
        unsafe { transform(&table.cyclotomic, constants, tables, scaled, a, &mut scratch) };
        Ok(())
    }

    /// Transforms coefficients, each below 2q, to canonical evaluations, in place.
    ///
    /// # Errors
    /// [`KernelError::LengthMismatch`] unless `a` has n words.
    pub fn forward(&self, a: &mut [u64]) -> Result<(), KernelError> {
        #[cfg(feature = "tally")]
        crate::tally::forward();
        self.run(a, &self.forward, None)
    }

    /// Transforms canonical evaluations to canonical coefficients, in place.
    ///
    /// # Errors
    /// [`KernelError::LengthMismatch`] unless `a` has n words.
    pub fn inverse(&self, a: &mut [u64]) -> Result<(), KernelError> {
        #[cfg(feature = "tally")]
        crate::tally::inverse();
        self.run(a, &self.inverse, None)
    }

    /// Prepares an inverse cyclotomic transform that also multiplies by `c`.
    ///
    /// # Errors
    /// [`KernelError::NotReduced`] unless c < q.
    pub fn scale(&self, c: u64) -> Result<CyclotomicScale, KernelError> {
        self.modulus.check_reduced(c)?;
        let last = self.index.axes().len() - 1;
        let Some(axis) = self.index.axes().get(last - self.scaled) else {
            return Err(KernelError::UnsupportedLength { n: self.n() });
        };
        let root = self.modulus.pow(self.root, axis.weight());
        let words = Builder { modulus: self.modulus, axis, root }.scaled_kernel(c)?;
        let kernel = ScaledKernel { axis: self.scaled, words };
        Ok(CyclotomicScale { modulus: self.modulus.value(), m: self.index.value(), kernel })
    }

    /// Runs [`inverse`](Self::inverse) times the constant of `scale`, at the same cost.
    ///
    /// # Errors
    /// [`KernelError::LengthMismatch`] unless `a` and the scale have n words,
    /// [`KernelError::ModulusMismatch`] for a scale of another modulus.
    pub fn inverse_scaled(&self, a: &mut [u64], scale: &CyclotomicScale) -> Result<(), KernelError> {
        if scale.m != self.index.value() {
            return Err(KernelError::LengthMismatch { expected: self.n(), got: 0 });
        }
        if scale.modulus != self.modulus.value() {
            return Err(KernelError::ModulusMismatch { expected: self.modulus.value(), got: scale.modulus });
        }
        #[cfg(feature = "tally")]
        crate::tally::inverse();
        self.run(a, &self.inverse, Some(&scale.kernel))
    }
}

fn evaluation_exponents(index: &RingIndex, modulus: Modulus) -> Vec<u64> {
    let axes = index.axes();
    let lists: Vec<Vec<u64>> =
        axes.iter().map(|axis| Builder { modulus, axis, root: 1 }.exponents()).collect();
    let (n, inner) = (index.degree(), axes.last().map_or(1, |axis| axis.degree()));
    let rows = n / inner;
    (0..n)
        .map(|position| {
            // A group of rows, a place along the innermost axis, a row of the group.
            let first = position / (8 * inner) * 8;
            let width = 8.min(rows - first);
            let rest = position - first * inner;
            let natural = (first + rest % width) * inner + rest / width;
            let along: Vec<u64> = axes
                .iter()
                .zip(&lists)
                .map(|(axis, list)| list.get(natural / axis.stride() % axis.degree()).copied().unwrap_or(0))
                .collect();
            joined_exponent(axes, &along, index.value())
        })
        .collect()
}
