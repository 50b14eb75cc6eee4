//! FastBconv and D_RNS of word-size residues, to compare with those of several words.

use sunzi_kernels::{Conversion, Modulus};
use sunzi_math::{DEFAULT_PRIME_BOUND, primes_below};
use sunzi_ring::{Basis, Coefficient, Poly};

use super::table1::primes;
use crate::Result;

/// Number of coefficients that are converted together.
const BLOCK: usize = 64;

/// The fewest primes of about one length that have `bits` bits together, and special primes for a third of them.
pub(super) fn moduli(bits: usize, index: u64) -> Result<(Vec<u64>, Vec<u64>)> {
    let count = primes(bits as u64) as usize;
    // A little more than an equal share, since primes lie below.
    let bound = (bits as f64 / count as f64 + 1e-3).exp2().min(DEFAULT_PRIME_BOUND as f64);
    let moduli = primes_below(bound as u64, index, count)?;
    let wanted = count.div_ceil(3) + 1;
    let all = primes_below(DEFAULT_PRIME_BOUND, index, count + wanted)?;
    let special = all.into_iter().filter(|p| !moduli.contains(p)).take(wanted).collect();
    Ok((moduli, special))
}

/// The two steps of FastBconv of word-size residues: products with (q/q_i)^-1, and a matrix product.
pub(super) struct WordConversions {
    basis: Basis,
    plain: Conversion,
    auxiliary: Conversion,
}

impl WordConversions {
    /// The conversions of word-size residues to {t, γ} and to B_sk.
    pub(super) fn new(basis: &Basis, t: u64, gamma: u64, auxiliary: &[u64]) -> Result<Self> {
        let to = |targets: &[u64]| -> Result<Conversion> {
            let columns: Vec<Vec<u64>> = targets.iter().map(|&p| basis.quotients_mod(p)).collect();
            let targets = targets.iter().map(|&p| Modulus::new(p)).collect::<Result<Vec<_>, _>>()?;
            let entry =
                |i: usize, j: usize| columns.get(j).and_then(|column| column.get(i)).copied().unwrap_or(0);
            Ok(Conversion::new(basis.moduli(), &targets, entry)?)
        };
        Ok(Self { plain: to(&[t, gamma])?, auxiliary: to(auxiliary)?, basis: basis.clone() })
    }

    /// The decomposition D_RNS with the factors (q/q_i)^-1 `[BEHZ16, 4.5]`.
    pub(super) fn decompose(&self, a: &Poly<Coefficient>) -> Result<Vec<u64>> {
        let mut digits = a.words().to_vec();
        let limbs = digits.chunks_exact_mut(a.shape().degree);
        for ((limb, modulus), &factor) in limbs.zip(self.basis.moduli()).zip(self.basis.quotient_inverses()) {
            modulus.mul_scalar_assign(limb, factor)?;
        }
        Ok(digits)
    }

    pub(super) fn to_plain(&self, a: &Poly<Coefficient>) -> Result<Vec<u64>> {
        self.convert(a, &self.plain)
    }

    pub(super) fn to_auxiliary(&self, a: &Poly<Coefficient>) -> Result<Vec<u64>> {
        self.convert(a, &self.auxiliary)
    }

    fn convert(&self, a: &Poly<Coefficient>, conversion: &Conversion) -> Result<Vec<u64>> {
        let (n, digits) = (a.shape().degree, self.decompose(a)?);
        let mut out = vec![0; n * conversion.to().len()];
        let mut inputs: Vec<_> = digits.chunks_exact(n).map(|limb| limb.chunks_exact(BLOCK)).collect();
        let mut outputs: Vec<_> = out.chunks_exact_mut(n).map(|limb| limb.chunks_exact_mut(BLOCK)).collect();
        for _ in 0..n / BLOCK {
            let rows: Vec<&[u64]> = inputs.iter_mut().filter_map(Iterator::next).collect();
            let mut targets: Vec<&mut [u64]> = outputs.iter_mut().filter_map(Iterator::next).collect();
            conversion.apply(&rows, &mut targets)?;
        }
        Ok(out)
    }
}
