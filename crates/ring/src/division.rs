//! Division by a product of moduli with rounding: modulus switching, and the way down from R_QP.

use std::sync::Arc;

use sunzi_kernels::{Buffer, Conversion, InverseScale, Isa, Modulus, NttPlan, RoundedQuotient};
use sunzi_math::mod_inv;
use zeroize::Zeroizing;

use crate::RingError;
use crate::parallel::{Work, block_of, for_each_block, for_each_limb};
use crate::scratch::Scratch;

/// ⌊x/D⌉ modulo the target moduli for D = d_1⋯d_s: (x − r)/D with r = [x]_D the centred remainder.
///
/// With y_i = |x·d_i/D|_{d_i} and v = ⌊Σ y_i/d_i⌉ the remainder is r = Σ y_i·(D/d_i) − v·D [HPS19]: one matrix product with v as a
/// further row. In doubles v is off by one only where x/D is within [`RoundedQuotient::error`] of a half: ‖⌊x/D⌉ − x/D‖ ≤ 1/2 + that.
pub(crate) struct Division {
    divisor: Vec<Arc<NttPlan>>,
    targets: Vec<Arc<NttPlan>>,
    /// D/d_i to the power of −1, folded into inverse transforms.
    scales: Vec<InverseScale>,
    /// The same, for what does not come from a transform.
    factors: Vec<u64>,
    quotient: RoundedQuotient,
    /// From y and v to −r.
    remainder: Conversion,
    /// D^-1 modulo every target.
    inverses: Vec<u64>,
}

impl Division {
    pub(crate) fn new(
        divisor: &[Arc<NttPlan>],
        targets: &[Arc<NttPlan>],
        isa: Isa,
    ) -> Result<Self, RingError> {
        let moduli: Vec<Modulus> = divisor.iter().map(|plan| plan.modulus()).collect();
        let product_mod = |q: &Modulus, without: usize| {
            let others = moduli.iter().enumerate().filter(|&(i, _)| i != without);
            others.fold(1, |product, (_, d)| q.mul(product, q.reduce(d.value())))
        };
        let inverse_mod = |q: &Modulus, without| mod_inv(product_mod(q, without), q.value());
        let factors: Vec<u64> =
            moduli.iter().enumerate().map(|(i, d)| inverse_mod(d, i)).collect::<Result<_, _>>()?;
        let scales: Result<_, _> = divisor.iter().zip(&factors).map(|(plan, &c)| plan.scale(c)).collect();
        let to: Vec<Modulus> = targets.iter().map(|plan| plan.modulus()).collect();
        let inverses: Vec<u64> = to.iter().map(|q| inverse_mod(q, usize::MAX)).collect::<Result<_, _>>()?;
        let entry = |i: usize, j: usize| {
            let Some(q) = to.get(j) else { return 0 };
            if i < moduli.len() { q.neg(product_mod(q, i)) } else { product_mod(q, usize::MAX) }
        };
        let quotient = RoundedQuotient::new(isa, &moduli)?;
        let rows: Vec<Modulus> = moduli.iter().copied().chain([quotient.range()]).collect();
        let remainder = Conversion::new(&rows, &to, entry)?;
        let (divisor, targets) = (divisor.to_vec(), targets.to_vec());
        Ok(Self { divisor, targets, scales: scales?, factors, quotient, remainder, inverses })
    }

    /// ⌊(a + b)/D⌉ in evaluation form for a in evaluation form and b in coefficient form, both modulo the targets
    /// and then modulo the divisor.
    pub(crate) fn divide(&self, out: &mut [u64], a: &[u64], b: Option<&[u64]>) -> Result<(), RingError> {
        let n = self.degree();
        let low = self.targets.len() * n;
        let rows = self.rows(a.get(low..).unwrap_or_default(), b.and_then(|b| b.get(low..)))?;
        self.remainders(&rows, out)?;
        for_each_limb(Work::Transform, out, n, |j, limb| {
            let (Some(plan), Some(&inverse)) = (self.targets.get(j), self.inverses.get(j)) else {
                return Ok(());
            };
            let modulus = plan.modulus();
            if let Some(b) = b.and_then(|b| b.chunks_exact(n).nth(j)) {
                modulus.add_assign(limb, b)?;
            }
            plan.forward(limb)?;
            modulus.add_assign(limb, a.chunks_exact(n).nth(j).unwrap_or_default())?;
            Ok(modulus.mul_scalar_assign(limb, inverse)?)
        })
    }

    pub(crate) fn degree(&self) -> usize {
        self.divisor.first().map_or(0, |plan| plan.n())
    }

    /// y_1, …, y_s and v of a + b, for a in evaluation form and b in coefficient form, modulo the divisor.
    pub(crate) fn rows(&self, a: &[u64], b: Option<&[u64]>) -> Result<Scratch, RingError> {
        let n = self.degree();
        let mut rows = Scratch::new(a.len() + n);
        let (residues, quotients) = rows.split_at_mut_checked(a.len()).unwrap_or_default();
        for_each_limb(Work::Transform, residues, n, |i, limb| {
            let (Some(plan), Some(scale)) = (self.divisor.get(i), self.scales.get(i)) else { return Ok(()) };
            limb.copy_from_slice(a.chunks_exact(n).nth(i).unwrap_or_default());
            plan.inverse_scaled(limb, scale)?;
            if let (Some(b), Some(&factor)) = (b.and_then(|b| b.chunks_exact(n).nth(i)), self.factors.get(i))
            {
                // The errors and the message of an encryption.
                let mut scaled = Zeroizing::new(Buffer::from_slice(b));
                plan.modulus().mul_scalar_assign(&mut scaled, factor)?;
                plan.modulus().add_assign(limb, &scaled)?;
            }
            Ok(())
        })?;
        let residues = &*residues;
        for_each_block(quotients, n, |range, quotients| match quotients {
            [out] => Ok(self.quotient.apply(&block_of(residues.chunks_exact(n), &range), out)?),
            _ => Ok(()),
        })?;
        Ok(rows)
    }

    /// −r modulo every target.
    fn remainders(&self, rows: &[u64], out: &mut [u64]) -> Result<(), RingError> {
        let n = self.degree();
        for_each_block(out, n, |range, out| {
            Ok(self.remainder.apply(&block_of(rows.chunks_exact(n), &range), out)?)
        })
    }
}
