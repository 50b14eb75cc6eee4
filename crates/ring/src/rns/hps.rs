//! Products of two exact lifts [HPS19, section 4; KPZ21, Alg. 1].

use sunzi_kernels::Modulus;
use sunzi_math::{mod_inv, mul_mod};

use super::exact_extension::ExactExtension;
use super::rounded_division::RoundedDivision;
use crate::options::ModulusSwitching;
use crate::parallel::{Parallelism, block_of};
use crate::scratch::Scratch;
use crate::transform::Scale;
use crate::{Backend, Coefficient, Evaluation, Poly, RingError, WordRing};

/// Tables of the steps of a product: expand from q to qP; ⌊(t/q)·a⌉ modulo P [ScaleDown]; from P to q
/// [SwitchBasis]. P holds the result of scaling.
pub(crate) struct Hps {
    ring: WordRing,
    auxiliary: WordRing,
    wide: WordRing,
    /// Factors (q/q_i)^-1 of an extension, folded into inverse transforms.
    extend_scales: Vec<Scale>,
    extension: ExactExtension,
    /// Factors t·(q/q_i)^-1 over q, and t·q^-1·(P/p_j)^-1 over P.
    product_scales: Vec<Scale>,
    division: RoundedDivision,
    switch: ExactExtension,
}

impl Hps {
    pub(crate) fn new(ring: &WordRing, auxiliary: WordRing, t: u64) -> Result<Self, RingError> {
        let (q, p) = (ring.basis(), auxiliary.basis());
        let digits = q.values().iter().zip(q.quotient_inverses());
        let digits: Vec<u64> = digits.map(|(&m, &inverse)| mul_mod(t % m, inverse, m)).collect();
        let targets: Vec<(Modulus, u64)> =
            p.moduli().iter().copied().zip(p.quotient_inverses().iter().copied()).collect();
        let quotient = |&(modulus, inverse): &(Modulus, u64)| {
            let m = modulus.value();
            Ok(mul_mod(mul_mod(mod_inv(q.product_mod(m), m)?, t % m, m), inverse, m))
        };
        let quotients = targets.iter().map(quotient).collect::<Result<Vec<_>, RingError>>()?;
        Ok(Self {
            wide: ring.concat(&auxiliary)?,
            extend_scales: ring.transform().scales(q.quotient_inverses())?,
            extension: ExactExtension::new(q, p.moduli())?,
            product_scales: ring.transform().scales_of_both(&digits, auxiliary.transform(), &quotients)?,
            division: RoundedDivision::new(q, &targets, ModulusSwitching::Exact)?,
            switch: ExactExtension::new(p, q.moduli())?,
            ring: ring.clone(),
            auxiliary,
        })
    }

    pub(crate) fn wide(&self) -> &WordRing {
        &self.wide
    }

    pub(crate) fn extend(&self, a: &Poly<Evaluation>) -> Result<Poly<Evaluation>, RingError> {
        self.ring.check(a)?;
        let n = self.ring.degree();
        let mut extended = self.wide.arbitrary();
        let (low, high) = extended.words_mut().split_at_mut(a.words().len());
        let mut digits = Scratch::new(a.words().len());
        self.ring.transform().inverse_scaled_from(&mut digits, a, low, &self.extend_scales)?;
        Parallelism::Collapsed.for_each_block(high, n, |range, output| {
            self.extension.apply(&block_of(digits.chunks_exact(n), &range), output)
        })?;
        self.auxiliary.transform().forward(high)?;
        Ok(extended)
    }

    pub(crate) fn scale(&self, mut a: Poly<Evaluation>) -> Result<Poly<Coefficient>, RingError> {
        self.wide.check(&a)?;
        let n = self.ring.degree();
        self.wide.transform().inverse_scaled(a.words_mut(), &self.product_scales)?;
        let (low, high) = a.words().split_at(self.ring.basis().len() * n);
        let targets = self.auxiliary.basis().moduli();
        let mut scaled = self.ring.arbitrary();
        Parallelism::Collapsed.for_each_block(scaled.words_mut(), n, |range, output| {
            let mut quotients = Scratch::new(targets.len() * range.len());
            let mut rows: Vec<&mut [u64]> = quotients.chunks_exact_mut(range.len()).collect();
            self.division.apply(&block_of(low.chunks_exact(n), &range), &mut rows)?;
            for ((row, modulus), high) in rows.iter_mut().zip(targets).zip(high.chunks_exact(n)) {
                modulus.add_assign(row, high.get(range.clone()).unwrap_or_default())?;
            }
            let rows: Vec<&[u64]> = rows.into_iter().map(|row| &*row).collect();
            self.switch.apply(&rows, output)
        })?;
        Ok(scaled)
    }
}
