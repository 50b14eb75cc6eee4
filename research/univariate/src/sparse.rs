//! Reduction by X^m − 1 and by a sparse multiple Q_sp of Φ_m: additions alone `[BEHMSZ17, Alg. 2]`.

use sunzi_kernels::Modulus;
use sunzi_math::SparseMultiple;

use sunzi_ring::RingError;

/// Reduction by the sparse multiple Q_sp = Φ_d(Y) for Y = X^(m/d): polynomials are rows of m/d coefficients,
/// and the division is one of polynomials in Y.
pub(crate) struct SparseReduction {
    index: usize,
    step: usize,
    /// Number of rows φ(d) of a polynomial reduced by Q_sp.
    rows: usize,
    /// Terms of −Y^φ(d) = Σ ±Y^i: i and whether the sign is positive.
    terms: Vec<(usize, bool)>,
}

impl SparseReduction {
    pub(crate) fn new(m: usize, multiple: &SparseMultiple) -> Self {
        let (step, degree) = (multiple.step() as usize, multiple.degree());
        let lower = multiple.terms().iter().filter(|(at, _)| *at < degree);
        let terms = lower.map(|&(at, c)| (at / step.max(1), c > 0)).collect();
        Self { index: m, step, rows: degree / step.max(1), terms }
    }

    /// Reduces a polynomial c modulo Q_sp and modulo q, where it may be shorter than the words; returns the
    /// number of coefficients that are left.
    pub(crate) fn apply(&self, modulus: Modulus, c: &mut [u64], length: usize) -> Result<usize, RingError> {
        if length > self.index {
            let (low, high) = c.split_at_mut_checked(self.index).unwrap_or_default();
            let high = high.get(..length - self.index).unwrap_or_default();
            modulus.add_assign(low.get_mut(..high.len()).unwrap_or_default(), high)?;
        }
        let length = length.min(self.index);
        for row in (self.rows..length.div_ceil(self.step)).rev() {
            let (below, top) = c.split_at_mut_checked(row * self.step).unwrap_or_default();
            let top = top.get(..self.step.min(length - row * self.step)).unwrap_or_default();
            for &(at, positive) in &self.terms {
                let start = (row - self.rows + at) * self.step;
                let target = below.get_mut(start..start + top.len()).unwrap_or_default();
                if positive {
                    modulus.sub_assign(target, top)?;
                } else {
                    modulus.add_assign(target, top)?;
                }
            }
        }
        Ok(length.min(self.rows * self.step))
    }
}
