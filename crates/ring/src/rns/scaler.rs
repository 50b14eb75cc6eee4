//! The three operations of BFV that leave R_q, over [BEHZ16, Alg. 1 to 3].

use std::fmt;
use std::sync::Arc;

use sunzi_kernels::{Conversion, InverseScale};
use sunzi_math::{mod_inv, mul_mod};

use super::auxiliary_basis;
use super::bounds::{ScalingBounds, check_scalable};
use super::decryption::Decryptor;
use super::extension::{Extension, Overflow};
use super::fast_base_conversion::row_factors;
use super::shenoy_kumaresan::{self, ShenoyKumaresan};
use super::{matrix_product, rns_floor};
use crate::parallel::{block_of, for_each_block};
use crate::scratch::Scratch;
use crate::{Basis, Coefficient, Evaluation, Poly, PolyRing, Ring, RingError, Scaler, ScalerOptions};

/// Extension to q ∪ B_sk, scaling by t/q back to q, and decryption, in residues throughout.
#[derive(Clone)]
pub struct RnsScaler(Arc<Inner>);

struct Inner {
    ring: Ring,
    /// q, then B, then m_sk.
    wide: Ring,
    /// The limbs B_sk of `wide`.
    auxiliary: Ring,
    /// m̃·(q/q_i)^-1, or without m̃, folded into the inverse transforms of an extension.
    extend_scales: Vec<InverseScale>,
    extension: Extension,
    /// t·(q/q_i)^-1 over q, t·q^-1 times the factors of Shenoy and Kumaresan over B_sk.
    floor_scales: Vec<InverseScale>,
    floor: Conversion,
    shenoy_kumaresan: ShenoyKumaresan,
    decryption: Decryptor,
    products: u64,
    bounds: ScalingBounds,
}

impl RnsScaler {
    pub(crate) fn new(ring: &Ring, t: u64, options: &ScalerOptions) -> Result<Self, RingError> {
        let q = ring.basis();
        check_scalable(q, t)?;
        let decryption = Decryptor::new(q, t, options.decryption)?;
        let m_tilde = options.m_tilde.value().unwrap_or(1);
        let chosen = auxiliary_basis::choose(q, ring.degree(), t, options)?;
        let b = Basis::with_isa(&chosen.b, q.isa())?;
        let m_sk = q.modulus(chosen.m_sk)?;
        let all: Vec<u64> = chosen.b.iter().copied().chain([chosen.m_sk]).collect();
        let auxiliary = Ring::with_isa(ring.index(), &all, ring.isa())?;
        let targets = auxiliary.basis().moduli();
        let sk_factors = shenoy_kumaresan::row_factors(&b, m_sk)?;
        let floor_columns = targets
            .iter()
            .zip(&sk_factors)
            .map(|(&target, &factor)| rns_floor::column(q, target, factor))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Self(Arc::new(Inner {
            wide: ring.concat(&auxiliary)?,
            extend_scales: scales(ring, &row_factors(q, |q_i| Ok(m_tilde % q_i))?)?,
            extension: Extension::new(q, options.m_tilde, targets)?,
            floor_scales: floor_scales(ring, &auxiliary, &sk_factors, t)?,
            floor: matrix_product(q.moduli(), targets, &floor_columns)?,
            shenoy_kumaresan: ShenoyKumaresan::new(&b, m_sk, q.moduli())?,
            bounds: ScalingBounds::of(Overflow::new(q.len(), options.m_tilde), q.len(), &decryption),
            decryption,
            products: chosen.products,
            ring: ring.clone(),
            auxiliary,
        })))
    }

    /// How many products of two extended ciphertexts may be summed in the wide ring before one
    /// [`scale`](Scaler::scale), each of which adds at most two products of polynomials to a coefficient
    /// polynomial [BEHZ16, eq. (14)]. At least 256, or 1 with [`Auxiliary::LikeModulus`](crate::Auxiliary).
    #[must_use]
    pub fn product_capacity(&self) -> u64 {
        self.0.products
    }

    /// Steps 2 to 4 of [`scale`](Scaler::scale) on one block of coefficients.
    fn scale_block(
        &self,
        words: &[u64],
        range: &std::ops::Range<usize>,
        output: &mut [&mut [u64]],
    ) -> Result<(), RingError> {
        let inner = &*self.0;
        let n = inner.ring.degree();
        let mut limbs = words.chunks_exact(n);
        let digits = block_of(limbs.by_ref().take(inner.ring.basis().len()), range);
        let mut floored = Scratch::new(inner.auxiliary.basis().len() * range.len());
        let mut rows: Vec<&mut [u64]> = floored.chunks_exact_mut(range.len()).collect();
        inner.floor.apply(&digits, &mut rows)?;
        for ((row, modulus), scaled) in rows.iter_mut().zip(inner.auxiliary.basis().moduli()).zip(limbs) {
            modulus.add_assign(row, scaled.get(range.clone()).unwrap_or_default())?;
        }
        let rows: Vec<&[u64]> = rows.into_iter().map(|row| &*row).collect();
        inner.shenoy_kumaresan.apply(&rows, output)
    }
}

impl Scaler<Ring> for RnsScaler {
    fn wide(&self) -> &Ring {
        &self.0.wide
    }

    /// [BEHZ16, Alg. 3, S0 and S1]: FastBconv of |m̃·a|_q to B_sk ∪ {m̃}, then Alg. 2, or FastBconv of |a|_q alone; the
    /// residues modulo q stay as they are.
    fn extend(&self, a: &Poly<Evaluation>) -> Result<Poly<Evaluation>, RingError> {
        let inner = &*self.0;
        inner.ring.check(a)?;
        let n = inner.ring.degree();
        let mut extended = inner.wide.zero();
        let (low, high) = extended.words_mut().split_at_mut(a.words().len());
        let mut digits = Scratch::new(a.words().len());
        inner.ring.transform().inverse_scaled_from(&mut digits, a, low, &inner.extend_scales)?;
        inner.extension.apply(&mut digits, high, n)?;
        inner.auxiliary.transform().forward(high)?;
        Ok(extended)
    }

    /// [BEHZ16, Alg. 3, S3 and S4]: 1. back to coefficients, times t; 2. fastRNSFloor_q in B_sk (Lemma 5);
    /// 3. α in m_sk and 4. conversion to q (Lemma 6).
    fn scale(&self, mut a: Poly<Evaluation>) -> Result<Poly<Coefficient>, RingError> {
        let inner = &*self.0;
        inner.wide.check(&a)?;
        inner.wide.transform().inverse_scaled(a.words_mut(), &inner.floor_scales)?;
        let mut scaled = inner.ring.zero();
        let words = a.words();
        for_each_block(scaled.words_mut(), inner.ring.degree(), |range, output| {
            self.scale_block(words, &range, output)
        })?;
        Ok(scaled)
    }

    fn decrypt(&self, a: &Poly<Coefficient>) -> Result<Vec<u64>, RingError> {
        self.0.ring.check(a)?;
        self.0.decryption.apply(a.words(), self.0.ring.degree())
    }

    /// ρ of [BEHZ16, Lemma 4].
    fn overflow(&self) -> f64 {
        self.0.bounds.overflow
    }

    /// k [BEHZ16, Lemma 5].
    fn scale_error(&self) -> f64 {
        self.0.bounds.scale_error
    }

    fn decryption_margin(&self) -> f64 {
        self.0.bounds.decryption_margin
    }
}

impl fmt::Debug for RnsScaler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RnsScaler").field("ring", &self.0.ring).field("auxiliary", &self.0.auxiliary).finish()
    }
}

/// The constants c_i of every limb as factors of its inverse transform.
fn scales(ring: &Ring, constants: &[u64]) -> Result<Vec<InverseScale>, RingError> {
    ring.plans().iter().zip(constants).map(|(plan, &c)| Ok(plan.scale(c)?)).collect()
}

fn floor_scales(
    ring: &Ring,
    auxiliary: &Ring,
    sk_factors: &[u64],
    t: u64,
) -> Result<Vec<InverseScale>, RingError> {
    let mut all = scales(ring, &row_factors(ring.basis(), |q| Ok(t % q))?)?;
    let mut constants = Vec::with_capacity(sk_factors.len());
    for (&p, &factor) in auxiliary.basis().values().iter().zip(sk_factors) {
        let inverse = mod_inv(ring.basis().product_mod(p), p)?;
        constants.push(mul_mod(mul_mod(inverse, t % p, p), factor, p));
    }
    all.extend(scales(auxiliary, &constants)?);
    Ok(all)
}
