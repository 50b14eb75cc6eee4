//! Digits, their transforms and the inner products with a key.

use sunzi_kernels::NttPlan;

use super::lift::{Form, Lift, lift_residue};
use super::{RnsGadget, Tables};
use crate::error::check_level;
use crate::parallel::{BLOCK, Work, block_of, for_each_limb, for_each_limb_pair};
use crate::scratch::Scratch;
use crate::{Evaluation, Gadget, Poly, PolyRing, RingError, Shape};

/// Words between two digits in scratch memory: without them, digits at a distance of a power of two would
/// compete for the same cache lines.
const PAD: usize = 72;

/// The digits of one polynomial, in evaluation form modulo every modulus of the key ring.
#[derive(Clone)]
pub struct RnsDecomposition {
    /// Modulus after modulus, all digits of each.
    words: Scratch,
    digits: usize,
    /// The tag of the key ring.
    tag: u64,
}

/// The digits of a: target modulus outermost, so that its twiddles are reused by all of them.
pub(super) fn decompose(gadget: &RnsGadget, a: &Poly<Evaluation>) -> Result<RnsDecomposition, RingError> {
    let tables = &*gadget.tables;
    tables.ring.check(a)?;
    let (n, digits) = (tables.ring.degree(), gadget.digit_count());
    let sources = sources(tables, a)?;
    let stride = n + PAD;
    let mut words = Scratch::new(tables.key_ring.basis().len() * digits * stride);
    for_each_limb(Work::Transform, &mut words, digits * stride, |j, words| {
        let Some(plan) = tables.key_ring.plans().get(j) else { return Ok(()) };
        for (out, lift) in words.chunks_exact_mut(stride).zip(&tables.lifts) {
            let Some(out) = out.get_mut(..n) else { continue };
            match a.limb(j).filter(|_| is_own(lift, j)) {
                Some(own) => out.copy_from_slice(own),
                None => {
                    lift_digit(out, &sources, lift, plan, j)?;
                    plan.forward(out)?;
                }
            }
        }
        Ok(())
    })?;
    Ok(RnsDecomposition { words, digits, tag: tables.key_ring.basis().tag() })
}

/// Whether limb j of the polynomial is the digit modulo q_j, as it stands.
fn is_own(lift: &Lift, j: usize) -> bool {
    let whole = match &lift.form {
        Form::Residue { digit, .. } => digit.is_whole(),
        Form::Remainder { .. } => true,
    };
    whole && lift.range.contains(&j)
}

/// What lifts start from: the rows of every limb, then the quotient of every digit that has one.
fn sources(tables: &Tables, a: &Poly<Evaluation>) -> Result<Scratch, RingError> {
    let n = tables.ring.degree();
    let remainders = tables.lifts.iter().any(|lift| matches!(lift.form, Form::Remainder { .. }));
    let quotients = if remainders { tables.lifts.len() } else { 0 };
    let mut sources = Scratch::new(a.words().len() + quotients * n);
    let (rows, quotients) = sources.split_at_mut_checked(a.words().len()).unwrap_or_default();
    for_each_limb(Work::Transform, rows, n, |i, row| {
        let lift = tables.lifts.iter().find(|lift| lift.range.contains(&i));
        let (Some(plan), Some(lift), Some(limb)) = (tables.ring.plans().get(i), lift, a.limb(i)) else {
            return Ok(());
        };
        row.copy_from_slice(limb);
        if let Some(scale) = lift.scales.get(i - lift.range.start) {
            plan.inverse_scaled(row, scale)?;
        }
        if let Form::Residue { half, rest, .. } = lift.form {
            let modulus = plan.modulus();
            row.iter_mut().for_each(|x| *x = modulus.add(*x, half) + rest);
        }
        Ok(())
    })?;
    let rows = &*rows;
    for_each_limb(Work::Elementwise, quotients, n, |i, out| {
        let Some(Lift { range, form: Form::Remainder { rounding, .. }, .. }) = tables.lifts.get(i) else {
            return Ok(());
        };
        let rows: Vec<&[u64]> = rows.chunks_exact(n).skip(range.start).take(range.len()).collect();
        Ok(rounding.apply(&rows, out)?)
    })?;
    Ok(sources)
}

/// One digit modulo target j, in coefficient form.
fn lift_digit(
    out: &mut [u64],
    sources: &Scratch,
    lift: &Lift,
    plan: &NttPlan,
    j: usize,
) -> Result<(), RingError> {
    let n = plan.n();
    let mut rows = sources.chunks_exact(n).skip(lift.range.start);
    match &lift.form {
        Form::Residue { digit, .. } => {
            lift_residue(out, rows.next().unwrap_or_default(), digit, &plan.modulus())
        }
        Form::Remainder { conversions, .. } => {
            let quotient = sources.chunks_exact(n).nth(lift.quotient);
            let rows: Vec<&[u64]> = rows.take(lift.range.len()).chain(quotient).collect();
            conversions.get(j).map_or(Ok(()), |conversion| Ok(conversion.apply(&rows, &mut [out])?))
        }
    }
}

/// ⟨digits, key⟩ for both halves of a key.
pub(super) fn product(
    gadget: &RnsGadget,
    digits: &RnsDecomposition,
    key: [&[Poly<Evaluation>]; 2],
) -> Result<[Poly<Evaluation>; 2], RingError> {
    let (top, tables) = (&*gadget.top, &*gadget.tables);
    let ring = &tables.key_ring;
    if digits.tag != ring.basis().tag() || digits.digits != gadget.digit_count() {
        return Err(RingError::OtherModulus {
            shape: Shape { degree: ring.degree(), limbs: ring.basis().len() },
        });
    }
    let level = top.key_level(key)?;
    top.check_key(key, level)?;
    check_level(gadget.level(), level)?;
    let n = ring.degree();
    let mut halves = [ring.arbitrary::<Evaluation>(), ring.arbitrary::<Evaluation>()];
    let [first, second] = halves.each_mut().map(Poly::words_mut);
    for_each_limb_pair(Work::Transform, first, second, n, |j, outs| {
        let at = |source| {
            if j < gadget.level() { top.digits.limb(source, j) } else { Some(j - gadget.level() + level) }
        };
        let (Some(plan), Some(lifted)) =
            (ring.plans().get(j), digits.words.chunks_exact(digits.digits * (n + PAD)).nth(j))
        else {
            return Ok(());
        };
        let parts = top.digits.digits().iter().zip(lifted.chunks_exact(n + PAD)).zip(key[0]).zip(key[1]);
        let terms = parts.filter_map(|(((digit, lifted), first), second)| {
            let limb = at(digit.source)?;
            Some((lifted.get(..n)?, [first.limb(limb)?, second.limb(limb)?]))
        });
        accumulate(&terms.collect::<Vec<_>>(), plan, outs)
    })?;
    Ok(halves)
}

/// The inner products of digits with both halves modulo one target, block by block.
fn accumulate(
    terms: &[(&[u64], [&[u64]; 2])],
    plan: &NttPlan,
    [first, second]: [&mut [u64]; 2],
) -> Result<(), RingError> {
    let n = plan.n();
    for (b, outs) in first.chunks_mut(BLOCK).zip(second.chunks_mut(BLOCK)).enumerate() {
        let range = b * BLOCK..n.min((b + 1) * BLOCK);
        let lifted = block_of(terms.iter().map(|(lifted, _)| *lifted), &range);
        for (half, out) in [outs.0, outs.1].into_iter().enumerate() {
            let key = block_of(terms.iter().filter_map(|(_, key)| key.get(half).copied()), &range);
            plan.modulus().inner_product(out, &lifted, &key)?;
        }
    }
    Ok(())
}
