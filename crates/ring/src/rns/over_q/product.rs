//! A product of two ciphertexts, one limb of the wide ring after the other: what operands were spread to is transformed, multiplied and
//! scaled back while it is in the cache, in place of one pass over whole polynomials for each of these steps.

use super::OverQ;
use crate::error::entry;
use crate::parallel::Work;
use crate::scratch::Scratch;
use crate::transform::Plan;
use crate::{Apart, Backend, Evaluation, Poly, RingError, Side};

/// One limb of the four parts of both operands and of the three parts of their product.
struct Limb<'a> {
    /// Where it stands in the wide ring.
    at: usize,
    /// In coefficient form, but for those that stand in the operand.
    parts: [&'a mut [u64]; 4],
    outs: [&'a mut [u64]; 3],
}

impl OverQ {
    /// The parts of a product of two operands of two parts, each as [`scale_apart`](Self::scale_apart) has it; the last as
    /// [`scale`](Self::scale) has it if it is `whole`.
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

    /// The product modulo one number: t/P times it modulo q′, in coefficient form where it is to be `whole`, and modulo P what
    /// [`divided`](Self::divided) takes. `own` holds the values of the right operand modulo q′.
    fn multiply_limb(
        &self,
        limb: Limb<'_>,
        own: Option<[&Poly<Evaluation>; 2]>,
        whole: bool,
    ) -> Result<(), RingError> {
        let Limb { at, parts, outs: [c0, c1, c2] } = limb;
        let plan = self.wide.plan(at)?;
        // None modulo what P is a product of.
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

fn transformed<'a>(plan: &Plan, limb: &'a mut [u64]) -> Result<&'a [u64], RingError> {
    plan.forward(limb)?;
    Ok(limb)
}
