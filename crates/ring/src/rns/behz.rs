//! Extension and scaling of [BEHZ16, Alg. 3].

use sunzi_kernels::Conversion;
use sunzi_math::{mod_inv, mul_mod};

use super::auxiliary_basis;
use super::extension::Extension;
use super::fast_base_conversion::row_factors;
use super::shenoy_kumaresan::{self, ShenoyKumaresan};
use super::{matrix_product, rns_floor};
use crate::error::check_table;
use crate::parallel::{Parallelism, block_of};
use crate::scratch::Scratch;
use crate::transform::Scale;
use crate::{
    Backend, Basis, Coefficient, Evaluation, Poly, Representation, RingError, ScalerOptions, WordRing,
};

/// Tables for extension to q ∪ B_sk, and for scaling by t/q back to q.
pub(crate) struct Behz {
    ring: WordRing,
    /// Wide ring with moduli q, then B, then m_sk.
    wide: WordRing,
    /// Auxiliary ring of the limbs B_sk of `wide`.
    auxiliary: WordRing,
    /// Factors m̃·(q/q_i)^-1, or (q/q_i)^-1 without m̃, folded into the inverse transforms of an extension.
    extend_scales: Vec<Scale>,
    extension: Extension,
    /// Factors t·(q/q_i)^-1 over q, and t·q^-1 times the factors of Shenoy and Kumaresan over B_sk.
    floor_scales: Vec<Scale>,
    floor: Conversion,
    shenoy_kumaresan: ShenoyKumaresan,
    products: u64,
}

impl Behz {
    pub(crate) fn new(ring: &WordRing, t: u64, options: &ScalerOptions) -> Result<Self, RingError> {
        let q = ring.basis();
        let m_tilde = options.m_tilde.value().unwrap_or(1);
        let chosen = auxiliary_basis::choose(q, ring.ring_index(), t, options)?;
        let b = Basis::with_isa(&chosen.b, q.isa())?;
        let m_sk = q.modulus(chosen.m_sk)?;
        let all: Vec<u64> = chosen.b.iter().copied().chain([chosen.m_sk]).collect();
        let auxiliary = WordRing::with_isa(ring.ring_index(), &all, ring.isa())?;
        let targets = auxiliary.basis().moduli();
        let sk_factors = shenoy_kumaresan::row_factors(&b, m_sk)?;
        let floor_columns = targets
            .iter()
            .zip(&sk_factors)
            .map(|(&target, &factor)| rns_floor::column(q, target, factor))
            .collect::<Result<Vec<_>, _>>()?;
        let mut quotients = Vec::with_capacity(sk_factors.len());
        for (&p, &factor) in auxiliary.basis().values().iter().zip(&sk_factors) {
            let inverse = mod_inv(q.product_mod(p), p)?;
            quotients.push(mul_mod(mul_mod(inverse, t % p, p), factor, p));
        }
        Ok(Self {
            wide: ring.concat(&auxiliary)?,
            extend_scales: ring.transform().scales(&row_factors(q, |q_i| Ok(m_tilde % q_i))?)?,
            extension: Extension::new(q, options.m_tilde, targets)?,
            floor_scales: ring.transform().scales_of_both(
                &row_factors(q, |q| Ok(t % q))?,
                auxiliary.transform(),
                &quotients,
            )?,
            floor: matrix_product(q.moduli(), targets, &floor_columns)?,
            shenoy_kumaresan: ShenoyKumaresan::new(&b, m_sk, q.moduli())?,
            products: chosen.products,
            ring: ring.clone(),
            auxiliary,
        })
    }

    pub(crate) fn wide(&self) -> &WordRing {
        &self.wide
    }

    /// The number of products that fit the wide ring [BEHZ16, eq. (14)].
    pub(crate) fn product_capacity(&self) -> u64 {
        self.products
    }

    /// Does steps 2 to 4 of [`scale`](Self::scale) on one block of coefficients of a polynomial.
    fn scale_block(
        &self,
        words: &[u64],
        range: &std::ops::Range<usize>,
        output: &mut [&mut [u64]],
    ) -> Result<(), RingError> {
        let n = self.ring.degree();
        let mut limbs = words.chunks_exact(n);
        let digits = block_of(limbs.by_ref().take(self.ring.basis().len()), range);
        let mut floored = Scratch::new(self.auxiliary.basis().len() * range.len());
        let mut rows: Vec<&mut [u64]> = floored.chunks_exact_mut(range.len()).collect();
        self.floor.apply(&digits, &mut rows)?;
        check_table("limb modulo B_sk", rows.len(), limbs.len())?;
        for ((row, modulus), scaled) in rows.iter_mut().zip(self.auxiliary.basis().moduli()).zip(limbs) {
            modulus.add_assign(row, scaled.get(range.clone()).unwrap_or_default())?;
        }
        let rows: Vec<&[u64]> = rows.into_iter().map(|row| &*row).collect();
        self.shenoy_kumaresan.apply(&rows, output)
    }

    /// Extends a, [BEHZ16, Alg. 3, S0 and S1]: FastBconv of |m̃·a|_q to B_sk ∪ {m̃}, then Alg. 2, or FastBconv of
    /// |a|_q alone; the residues modulo q stay as they are.
    pub(crate) fn extend(&self, a: &Poly<Evaluation>) -> Result<Poly<Evaluation>, RingError> {
        self.ring.check(a)?;
        let n = self.ring.degree();
        let mut extended = Poly::from(self.wide.zero(Representation::Values));
        let (low, high) = extended.words_mut().split_at_mut(a.words().len());
        let mut digits = Scratch::new(a.words().len());
        self.ring.transform().inverse_scaled_from(&mut digits, a, low, &self.extend_scales)?;
        self.extension.apply(&mut digits, high, n)?;
        self.auxiliary.transform().forward(high)?;
        Ok(extended)
    }

    /// Scales a, [BEHZ16, Alg. 3, S3 and S4]: 1. back to coefficients, times t; 2. fastRNSFloor_q in B_sk (Lemma 5);
    /// 3. α in m_sk and 4. conversion to q (Lemma 6).
    pub(crate) fn scale(&self, mut a: Poly<Evaluation>) -> Result<Poly<Coefficient>, RingError> {
        self.wide.check(&a)?;
        self.wide.transform().inverse_scaled(a.words_mut(), &self.floor_scales)?;
        let mut scaled = Poly::from(self.ring.zero(Representation::Coefficients));
        let words = a.words();
        Parallelism::Collapsed.for_each_block(scaled.words_mut(), self.ring.degree(), |range, output| {
            self.scale_block(words, &range, output)
        })?;
        Ok(scaled)
    }
}
