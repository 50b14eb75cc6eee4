//! Products of which one operand was switched to another modulus [KPZ21, Alg. 2; Alg. 3 with Remark 3.4].

mod product;

use sunzi_math::{mod_inv, mul_mod};

use super::exact_extension::ExactExtension;
use super::rounded_division::RoundedDivision;
use super::scaler::{product_scales, scales};
use super::switched_lift::SwitchedLift;
use crate::error::{check_limbs, entry, part};
use crate::options::ModulusSwitching;
use crate::parallel::{Parallelism, block_of};
use crate::scratch::Scratch;
use crate::transform::Scale;
use crate::{Backend, Basis, Coefficient, Evaluation, Poly, RingError, Side, WordRing};

/// Tables of one level: from q = q_1⋯q_k to q′ = q_1⋯q_ℓ, through q′·P.
///
/// | step | what | transforms from evaluation form, for ℓ limbs of P |
/// |---|---|---|
/// | left | ⌊(P/q)·a⌉, lifted to q′·P [ModSwitch, Expand] | k + 2ℓ a part |
/// | right | ⌊(q′/q)·a⌉, lifted to q′·P [ModSwitchDown, Expand]; at the top a itself | k + 2ℓ, or 2k, a part |
/// | scale | ⌊(t/P)·a⌉ modulo q′ [ScaleDown, Remark 3.2] | 2ℓ, or ℓ if the part modulo q′ stays in evaluation form |
///
/// What wraps modulo q′P is a multiple of it, and t/P times that vanishes modulo q′: P need not hold the products.
pub(crate) struct OverQ {
    ring: WordRing,
    /// q_1, …, q_ℓ.
    base: WordRing,
    /// P.
    auxiliary: WordRing,
    /// Both.
    wide: WordRing,
    /// P·(q/q_i)^-1.
    left_scales: Vec<Scale>,
    left: SwitchedLift,
    right: Right,
    /// t/P over q′, t·(P/p_j)^-1 over P.
    product_scales: Vec<Scale>,
    /// t/P mod q_i.
    ratio: Vec<u64>,
    division: RoundedDivision,
}

#[expect(clippy::large_enum_variant, reason = "there is one a level")]
enum Right {
    /// At the top: (q/q_i)^-1.
    Extended { scales: Vec<Scale>, extension: ExactExtension },
    /// Below, for d = q/q′: d^-1·(q′/q_i)^-1 over q′ and (d/q_i)^-1 over d.
    Switched { scales: Vec<Scale>, lift: SwitchedLift },
}

impl OverQ {
    /// The tables for the first `level` moduli of `ring`, with the limbs of `auxiliary` for P.
    pub(crate) fn new(
        ring: &WordRing,
        level: usize,
        auxiliary: WordRing,
        t: u64,
        switching: ModulusSwitching,
    ) -> Result<Self, RingError> {
        let (q, p) = (ring.basis(), auxiliary.basis());
        let base = ring.at_level(level)?;
        let inside = base.basis().moduli();
        let left_factor = |(&m, &inverse): (&u64, &u64)| mul_mod(p.product_mod(m), inverse, m);
        let left_factors: Vec<u64> = q.values().iter().zip(q.quotient_inverses()).map(left_factor).collect();
        let ratio = ratios(t, p, base.basis())?;
        let digits = p.values().iter().zip(p.quotient_inverses());
        let digits: Vec<u64> = digits.map(|(&m, &inverse)| mul_mod(t % m, inverse, m)).collect();
        let ones: Vec<_> = inside.iter().map(|&modulus| (modulus, 1)).collect();
        Ok(Self {
            wide: base.concat(&auxiliary)?,
            left_scales: scales(ring, &left_factors)?,
            left: SwitchedLift::new(q, p, inside, switching)?,
            right: Right::new(ring, &base, &auxiliary, switching)?,
            product_scales: product_scales(&base, &ratio, &auxiliary, &digits)?,
            division: RoundedDivision::new(p, &ones, ModulusSwitching::Exact)?,
            ratio,
            ring: ring.clone(),
            base,
            auxiliary,
        })
    }

    pub(crate) fn wide(&self) -> &WordRing {
        &self.wide
    }

    pub(crate) fn extend(&self, a: &Poly<Evaluation>, side: Side) -> Result<Poly<Evaluation>, RingError> {
        let mut extended = self.wide.arbitrary();
        self.spread(a, side, extended.words_mut(), true)?;
        if side == Side::Right && self.keeps_right() {
            let (_, high) = extended.words_mut().split_at_mut(self.base.basis().len() * self.ring.degree());
            self.auxiliary.transform().forward(high)?;
        } else {
            self.wide.transform().forward(extended.words_mut())?;
        }
        Ok(extended)
    }

    /// Whether limbs modulo q′ of a right operand are those it has, in evaluation form.
    fn keeps_right(&self) -> bool {
        matches!(self.right, Right::Extended { .. })
    }

    /// An operand in the wide ring, in coefficient form but for what is [kept](Self::keeps_right), which is copied if it is to be.
    fn spread(
        &self,
        a: &Poly<Evaluation>,
        side: Side,
        words: &mut [u64],
        copies: bool,
    ) -> Result<(), RingError> {
        self.ring.check(a)?;
        let (n, level) = (self.ring.degree(), self.base.basis().len());
        let mut digits = Scratch::new(a.words().len());
        let transform = self.ring.transform();
        match (side, &self.right) {
            (Side::Left, _) => {
                transform.inverse_scaled_into(&mut digits, a, &self.left_scales)?;
                let own = level..self.wide.basis().len();
                self.left.apply(&mut digits, &[], words, own, n)
            }
            (Side::Right, Right::Switched { scales, lift }) => {
                transform.inverse_scaled_into(&mut digits, a, scales)?;
                let (kept, dropped) = digits.split_at_mut(level * n);
                lift.apply(dropped, kept, words, 0..level, n)
            }
            (Side::Right, Right::Extended { scales, extension }) => {
                let (low, high) = words.split_at_mut(level * n);
                if copies {
                    transform.inverse_scaled_from(&mut digits, a, low, scales)?;
                } else {
                    transform.inverse_scaled_into(&mut digits, a, scales)?;
                }
                Parallelism::Collapsed.for_each_block(high, n, |range, output| {
                    extension.apply(&block_of(digits.chunks_exact(n), &range), output)
                })
            }
        }
    }

    pub(crate) fn scale(&self, mut a: Poly<Evaluation>) -> Result<Poly<Coefficient>, RingError> {
        self.wide.check(&a)?;
        let n = self.ring.degree();
        self.wide.transform().inverse_scaled(a.words_mut(), &self.product_scales)?;
        let (low, high) = a.words().split_at(self.base.basis().len() * n);
        self.divided(high, Some(low))
    }

    /// −[t·a]_P/P modulo q′ from rows modulo P, plus what is there already.
    fn divided(&self, high: &[u64], low: Option<&[u64]>) -> Result<Poly<Coefficient>, RingError> {
        let mut scaled = self.base.arbitrary();
        self.divide_into(&mut scaled, high, low)?;
        Ok(scaled)
    }

    /// The same in place of `scaled`.
    fn divide_into(
        &self,
        scaled: &mut Poly<Coefficient>,
        high: &[u64],
        low: Option<&[u64]>,
    ) -> Result<(), RingError> {
        let n = self.ring.degree();
        if let Some(low) = low {
            check_limbs("limb of what is added", scaled.shape().limbs, n, low.len())?;
        }
        Parallelism::Collapsed.for_each_block(scaled.words_mut(), n, |range, output| {
            self.division.apply(&block_of(high.chunks_exact(n), &range), output)?;
            let low = low.map_or(&[][..], |low| low).chunks_exact(n);
            for ((out, modulus), low) in output.iter_mut().zip(self.base.basis().moduli()).zip(low) {
                modulus.add_assign(out, low.get(range.clone()).unwrap_or_default())?;
            }
            Ok(())
        })
    }

    /// [`scale`](Self::scale) as a sum of t/P·a modulo q′, still in evaluation form, and the rest.
    pub(crate) fn scale_apart(
        &self,
        mut a: Poly<Evaluation>,
    ) -> Result<(Poly<Coefficient>, Poly<Evaluation>), RingError> {
        self.wide.check(&a)?;
        let (n, level) = (self.ring.degree(), self.base.basis().len());
        let (_, high) = a.words_mut().split_at_mut(level * n);
        let all = &self.product_scales;
        let scales = part("factor of an inverse transform", all, level..all.len(), level)?;
        self.auxiliary.transform().inverse_scaled(high, scales)?;
        let rest = self.divided(high, None)?;
        let mut multiple = a;
        multiple.truncate(level, self.base.basis().tag());
        self.base.for_each_modulus(&mut multiple, |i, modulus, _, part| {
            Ok(modulus.mul_scalar_assign(part, *entry("ratio t/P", &self.ratio, i)?)?)
        })?;
        Ok((rest, multiple))
    }
}

impl Right {
    fn new(
        ring: &WordRing,
        base: &WordRing,
        auxiliary: &WordRing,
        switching: ModulusSwitching,
    ) -> Result<Self, RingError> {
        let (level, k) = (base.basis().len(), ring.basis().len());
        let targets = auxiliary.basis().moduli();
        if level == k {
            let scales = scales(ring, ring.basis().quotient_inverses())?;
            return Ok(Self::Extended { scales, extension: ExactExtension::new(ring.basis(), targets)? });
        }
        let dropped =
            Basis::from_moduli(ring.basis().moduli().get(level..).unwrap_or_default().to_vec(), ring.isa())?;
        let inside = base.basis();
        let mut factors = ratios(1, &dropped, inside)?;
        for ((factor, &q), &inverse) in
            factors.iter_mut().zip(inside.values()).zip(inside.quotient_inverses())
        {
            *factor = mul_mod(*factor, inverse, q);
        }
        factors.extend(dropped.quotient_inverses());
        let lift = SwitchedLift::new(&dropped, inside, targets, switching)?;
        Ok(Self::Switched { scales: scales(ring, &factors)?, lift })
    }
}

/// t/p modulo every q_i, for the product p of a basis.
fn ratios(t: u64, p: &Basis, q: &Basis) -> Result<Vec<u64>, RingError> {
    q.values().iter().map(|&q| Ok(mul_mod(t % q, mod_inv(p.product_mod(q), q)?, q))).collect()
}
