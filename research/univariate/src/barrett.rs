//! Barrett's reduction modulo Φ_m `[BEHMSZ17, Alg. 1]`.

use sunzi_kernels::Buffer;
use sunzi_math::cyclotomic_quotient;
use zeroize::Zeroizing;

use crate::cyclic::{CyclicPlan, CyclicScale, SHORTEST};
use crate::geometry::Geometry;
use sunzi_ring::RingError;
use sunzi_ring::storage::Scratch;

/// Tables of Barrett's reduction for polynomials of degree n + α.
pub(crate) struct Barrett {
    degree: usize,
    alpha: usize,
    /// Transform of the quotient ⌊X^(n+α)/Φ_m⌋, of length A from 2α + 1.
    quotient: Buffer,
    quotient_scale: CyclicScale,
    scale: CyclicScale,
}

/// Returns the residues of signed integers modulo the plan's prime, padded to `length`.
pub(crate) fn residues(plan: &CyclicPlan, coefficients: &[i64], length: usize) -> Buffer {
    let mut words = Buffer::zeroed(length);
    for (word, &c) in words.iter_mut().zip(coefficients) {
        *word = plan.modulus().reduce_i64(c);
    }
    words
}

impl Barrett {
    pub(crate) fn new(geometry: &Geometry, plan: &CyclicPlan, alpha: usize) -> Result<Self, RingError> {
        let quotient = cyclotomic_quotient(geometry.index as u64, alpha)?;
        let quotient = residues(plan, &quotient, quotient_length(alpha));
        Self::with_quotient([geometry.degree, geometry.length], plan, alpha, quotient)
    }

    /// Makes the tables of a monic polynomial of degree n with ⌊X^(n+α)/f⌋, in [`quotient_length`] words.
    pub(crate) fn with_quotient(
        [degree, length]: [usize; 2],
        plan: &CyclicPlan,
        alpha: usize,
        mut quotient: Buffer,
    ) -> Result<Self, RingError> {
        plan.forward(&mut quotient, false)?;
        let (quotient_scale, scale) = (plan.scale(quotient.len(), 1)?, plan.scale(length / 2, 1)?);
        Ok(Self { degree, alpha, quotient, quotient_scale, scale })
    }

    /// Reduces c modulo Φ_m: its first n + α + 1 words are read, its first n written. `phi` is Φ_m modulo X^(N/2) − 1, transformed.
    pub(crate) fn apply(&self, plan: &CyclicPlan, phi: &[u64], c: &mut [u64]) -> Result<(), RingError> {
        let (n, alpha, modulus) = (self.degree, self.alpha, plan.modulus());
        // 2. f = ⌊c/X^n⌋; 3. r = f·⌊X^(n+α)/Φ_m⌋.
        let mut f = padded(c.get(n..n + alpha + 1).unwrap_or_default(), self.quotient.len());
        plan.forward(&mut f, 2 * (alpha + 1) <= self.quotient.len() && self.quotient.len() > SHORTEST)?;
        modulus.mul_assign(&mut f, &self.quotient)?;
        plan.inverse(&mut f, &self.quotient_scale)?;
        // 4. r′ = ⌊r/X^α⌋; 5. d = r′·Φ_m modulo X^(N/2) − 1.
        let mut d = padded(f.get(alpha..2 * alpha + 1).unwrap_or_default(), phi.len());
        plan.forward(&mut d, 2 * (alpha + 1) <= phi.len() && phi.len() > SHORTEST)?;
        modulus.mul_assign(&mut d, phi)?;
        plan.inverse(&mut d, &self.scale)?;
        // 6. and 7.: c modulo X^(N/2) − 1, less d.
        let (low, high) = c.split_at_mut_checked(phi.len()).unwrap_or_default();
        let high = high.get(..(n + alpha + 1).saturating_sub(phi.len()).min(n)).unwrap_or_default();
        modulus.add_assign(low.get_mut(..high.len()).unwrap_or_default(), high)?;
        Ok(modulus.sub_assign(low.get_mut(..n).unwrap_or_default(), d.get(..n).unwrap_or_default())?)
    }
}

/// Returns the length A of the transform of ⌊X^(n+α)/f⌋.
pub(crate) fn quotient_length(alpha: usize) -> usize {
    (2 * alpha + 1).next_power_of_two().max(SHORTEST)
}

/// Pads words with zeros to `length`.
fn padded(words: &[u64], length: usize) -> Zeroizing<Scratch> {
    let mut padded = Zeroizing::new(Scratch::new(length));
    let (low, high) = padded.split_at_mut_checked(words.len()).unwrap_or_default();
    low.copy_from_slice(words);
    high.fill(0);
    padded
}
