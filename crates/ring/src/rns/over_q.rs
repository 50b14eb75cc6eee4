//! Products of which one operand was switched to another modulus [KPZ21, Alg. 2; Alg. 3 with Remark 3.4].

use std::ops::Range;

use sunzi_kernels::Modulus;
use sunzi_math::{mod_inv, mul_mod};

use super::exact_extension::ExactExtension;
use super::rounded_division::RoundedDivision;
use crate::error::{check_limbs, check_table, entry, part};
use crate::options::ModulusSwitching;
use crate::parallel::{Parallelism, Work, block_of};
use crate::scratch::Scratch;
use crate::transform::{Plan, Scale};
use crate::{Apart, Backend, Basis, Coefficient, Evaluation, Poly, RingError, Side, WordRing};

/// Tables of a product at one level: from q = q_1⋯q_k to q′ = q_1⋯q_ℓ, through q′·P.
///
/// | step | what | transforms from evaluation form, for ℓ limbs of P |
/// |---|---|---|
/// | left | ⌊(P/q)·a⌉, lifted to q′·P [ModSwitch, Expand] | k + 2ℓ a part |
/// | right | ⌊(q′/q)·a⌉, lifted to q′·P [ModSwitchDown, Expand]; at the top a itself | k + 2ℓ, or 2k, a part |
/// | scale | ⌊(t/P)·a⌉ modulo q′ [ScaleDown, Remark 3.2] | 2ℓ, or ℓ if the part modulo q′ stays in evaluation form |
///
/// Wrapping modulo q′P adds a multiple of q′P, and t/P times that vanishes modulo q′: P need not hold the products.
pub(crate) struct OverQ {
    ring: WordRing,
    /// Ring modulo the moduli q_1, …, q_ℓ of the level.
    base: WordRing,
    /// Ring modulo the auxiliary modulus P.
    auxiliary: WordRing,
    /// Ring of products, modulo q_1⋯q_ℓ·P.
    wide: WordRing,
    /// Factors P·(q/q_i)^-1 of a left operand's extension.
    left_scales: Vec<Scale>,
    left: SwitchedLift,
    right: Right,
    /// Factors t/P over q′, and t·(P/p_j)^-1 over P.
    product_scales: Vec<Scale>,
    /// Residues of t/P modulo every q_i.
    ratio: Vec<u64>,
    division: RoundedDivision,
}

/// One limb of the four parts of both operands and of the three parts of their product.
struct Limb<'a> {
    /// Place of the limb in the ring of products.
    at: usize,
    /// Parts of the limb in coefficient form, except those that are read from the operand.
    parts: [&'a mut [u64]; 4],
    outs: [&'a mut [u64]; 3],
}

#[expect(clippy::large_enum_variant, reason = "there is one a level")]
enum Right {
    /// Right operand at the highest level, with factors (q/q_i)^-1.
    Extended { scales: Vec<Scale>, extension: ExactExtension },
    /// Right operand below, for d = q/q′, with factors d^-1·(q′/q_i)^-1 over q′ and (d/q_i)^-1 over d.
    Switched { scales: Vec<Scale>, lift: SwitchedLift },
}

impl OverQ {
    /// The tables of a product for the first `level` moduli of `ring`, with the limbs of `auxiliary` for P.
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
            left_scales: ring.transform().scales(&left_factors)?,
            left: SwitchedLift::new(q, p, inside, switching)?,
            right: Right::new(ring, &base, &auxiliary, switching)?,
            product_scales: base.transform().scales_of_both(&ratio, auxiliary.transform(), &digits)?,
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

    /// Whether the limbs modulo q′ of a right operand are unchanged, in evaluation form.
    fn keeps_right(&self) -> bool {
        matches!(self.right, Right::Extended { .. })
    }

    /// Computes an operand in the wide ring, in coefficient form except the limbs that are [kept](Self::keeps_right),
    /// which are copied if asked for.
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
                let (own, dropped) = digits.split_at_mut(level * n);
                lift.apply(dropped, own, words, 0..level, n)
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

    /// Returns the scaled part −[t·a]_P/P modulo q′ from rows modulo P, plus `low` if it is given.
    fn divided(&self, high: &[u64], low: Option<&[u64]>) -> Result<Poly<Coefficient>, RingError> {
        let mut scaled = self.base.arbitrary();
        self.divide_into(&mut scaled, high, low)?;
        Ok(scaled)
    }

    /// Does [`divided`](Self::divided) in place, into `scaled`.
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

    /// Does [`scale`](Self::scale) with the result as a sum: t/P·a modulo q′, still in evaluation form, and the rest.
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

    /// Returns the parts of a product of two operands of two parts, each as [`scale_apart`](Self::scale_apart) does;
    /// the last as [`scale`](Self::scale) does if it is `whole`.
    pub(crate) fn multiply(
        &self,
        left: [&Poly<Evaluation>; 2],
        right: [&Poly<Evaluation>; 2],
        whole: bool,
    ) -> Result<[Apart; 3], RingError> {
        left.iter().chain(&right).try_for_each(|part| self.ring.check(part))?;
        let (n, level) = (self.ring.degree(), self.base.basis().len());
        let limbs = self.wide.basis().len();
        let ([a0, a1], [b0, b1]) = (left, right);
        let mut spread = [(); 4].map(|()| Scratch::new(limbs * n));
        let operands = [(a0, Side::Left), (a1, Side::Left), (b0, Side::Right), (b1, Side::Right)];
        let (parallelism, words) = (self.ring.parallelism(), limbs * n);
        let operands = operands.into_iter().zip(&mut spread).collect();
        parallelism.for_each(Work::Transform, 4 * words, operands, |((part, side), out)| {
            self.spread(part, side, out, false)
        })?;
        let mut low = [(); 3].map(|()| self.base.arbitrary::<Evaluation>());
        let mut high = [(); 3].map(|()| Scratch::new((limbs - level) * n));
        let mut parts = spread.each_mut().map(|words| words.chunks_exact_mut(n));
        let outs = low.each_mut().map(|poly| poly.words_mut()).into_iter().zip(&mut high);
        let mut outs: Vec<_> =
            outs.map(|(low, high)| low.chunks_exact_mut(n).chain(high.chunks_exact_mut(n))).collect();
        let limb = |at| Limb {
            at,
            parts: parts.each_mut().map(|limbs| limbs.next().unwrap_or_default()),
            outs: std::array::from_fn(|k| outs.get_mut(k).and_then(Iterator::next).unwrap_or_default()),
        };
        let tasks: Vec<Limb<'_>> = (0..limbs).map(limb).collect();
        let own = if self.keeps_right() { Some(right) } else { None };
        parallelism.for_each(Work::Transform, words, tasks, |limb| self.multiply_limb(limb, own, whole))?;
        drop(spread);
        let [low0, low1, low2] = low;
        let mut divided = [(); 3].map(|()| self.base.arbitrary());
        let added = [None, None, whole.then(|| low2.words())];
        let parts = divided.iter_mut().zip(high.iter().zip(added)).collect();
        parallelism.for_each(Work::Conversion, words, parts, |(out, (high, added))| {
            self.divide_into(out, high, added)
        })?;
        let [first, second, third] = divided;
        Ok([(first, Some(low0)), (second, Some(low1)), (third, (!whole).then_some(low2))])
    }

    /// Computes the product of two operands modulo one modulus: t/P times it modulo q′, in coefficient form
    /// where it is to be `whole`, and modulo P the rows that [`divided`](Self::divided) takes. `own` holds
    /// the values of the right operand modulo q′.
    fn multiply_limb(
        &self,
        limb: Limb<'_>,
        own: Option<[&Poly<Evaluation>; 2]>,
        whole: bool,
    ) -> Result<(), RingError> {
        let Limb { at, parts, outs: [c0, c1, c2] } = limb;
        let plan = self.wide.plan(at)?;
        // Moduli of P have no kept values.
        let is_kept = at < self.base.basis().len();
        let ratio = if is_kept { Some(*entry("ratio t/P", &self.ratio, at)?) } else { None };
        let transformed = |limb| transformed(plan, limb);
        let [a0, a1, b0, b1] = parts;
        let (a0, a1) = (transformed(a0)?, transformed(a1)?);
        let (b0, b1) = match own.filter(|_| ratio.is_some()) {
            Some([b0, b1]) => (b0.own_limb(at)?, b1.own_limb(at)?),
            None => (transformed(b0)?, transformed(b1)?),
        };
        let factor = ratio.unwrap_or(1);
        plan.modulus().tensor([&mut *c0, &mut *c1, &mut *c2], [a0, a1], [b0, b1], factor)?;
        if is_kept {
            return if whole { Ok(plan.inverse(c2)?) } else { Ok(()) };
        }
        let scale = entry("factor of an inverse transform", &self.product_scales, at)?;
        [c0, c1, c2].into_iter().try_for_each(|c| Ok(plan.inverse_scaled(c, scale)?))
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
            let scales = ring.transform().scales(ring.basis().quotient_inverses())?;
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
        Ok(Self::Switched { scales: ring.transform().scales(&factors)?, lift })
    }
}

/// Division and lift: from the residues of a to those of c = ⌊(b/q)·a⌉, an integer in [−b/2, b/2], modulo a basis of
/// product b and modulo others.
struct SwitchedLift {
    /// Division from the divisor's residues to w_j = |c·(b/b_j)^-1|_{b_j}, except for a residue of a itself.
    division: RoundedDivision,
    /// Pairs of a modulus b_j and b/b_j mod b_j, for the moduli of the new basis.
    own: Vec<(Modulus, u64)>,
    lift: ExactExtension,
}

impl SwitchedLift {
    /// Builds the division by the product of `dividing`, and the lift from `own` to `others`.
    fn new(
        dividing: &Basis,
        own: &Basis,
        others: &[Modulus],
        switching: ModulusSwitching,
    ) -> Result<Self, RingError> {
        let factors = own.moduli().iter().copied().zip(own.quotient_inverses().iter().copied());
        let targets: Vec<(Modulus, u64)> = factors.collect();
        let quotient = |&(modulus, inverse): &(Modulus, u64)| {
            Ok((modulus, sunzi_math::mod_inv(inverse, modulus.value())?))
        };
        Ok(Self {
            division: RoundedDivision::new(dividing, &targets, switching)?,
            own: targets.iter().map(quotient).collect::<Result<_, RingError>>()?,
            lift: ExactExtension::new(own, others)?,
        })
    }

    /// Divides and lifts; `digits`: limbs |a′·(d/d_i)^-1|_{d_i} over the divisor's basis, for its product d and the
    /// multiple a′ of a that the division expects; `added`: |a·d^-1·(b/b_j)^-1|_{b_j}, or nothing where that is zero.
    /// The results are the limbs `own` of the output and all others in their order.
    fn apply(
        &self,
        digits: &mut [u64],
        added: &[u64],
        output: &mut [u64],
        own: Range<usize>,
        n: usize,
    ) -> Result<(), RingError> {
        if !added.is_empty() {
            check_limbs("limb that is added", own.len(), n, added.len())?;
        }
        check_table("modulus of a lift", own.len(), self.own.len())?;
        self.division.prepare(digits, n)?;
        let digits = &*digits;
        Parallelism::Collapsed.for_each_block(output, n, |range, output| {
            let (before, rest) = output.split_at_mut(own.start);
            let (inside, after) = rest.split_at_mut(own.len());
            self.division.apply(&block_of(digits.chunks_exact(n), &range), inside)?;
            for ((limb, added), (modulus, _)) in inside.iter_mut().zip(added.chunks_exact(n)).zip(&self.own) {
                modulus.add_assign(limb, added.get(range.clone()).unwrap_or_default())?;
            }
            let rows: Vec<&[u64]> = inside.iter().map(|limb| &**limb).collect();
            let mut others: Vec<&mut [u64]> =
                before.iter_mut().chain(after.iter_mut()).map(|limb| &mut **limb).collect();
            self.lift.apply(&rows, &mut others)?;
            for (limb, &(modulus, factor)) in inside.iter_mut().zip(&self.own) {
                modulus.mul_scalar_assign(limb, factor)?;
            }
            Ok(())
        })
    }
}

fn transformed<'a>(plan: &Plan, limb: &'a mut [u64]) -> Result<&'a [u64], RingError> {
    plan.forward(limb)?;
    Ok(limb)
}

/// Returns the residues of t/p modulo every q_i, for the product p of a basis.
fn ratios(t: u64, p: &Basis, q: &Basis) -> Result<Vec<u64>, RingError> {
    q.values().iter().map(|&q| Ok(mul_mod(t % q, mod_inv(p.product_mod(q), q)?, q))).collect()
}
