//! Digits, their transforms and the inner products with a key.

use rayon::prelude::*;
use sunzi_kernels::{Modulus, NttPlan};

use super::digits::Digit;
use super::{Inner, RnsGadget};
use crate::error::check_length;
use crate::parallel::{BLOCK, Work, block_of, for_each_limb};
use crate::scratch::Scratch;
use crate::{Coefficient, Evaluation, Gadget, Poly, PolyRing, RingError};

/// Words between two digits in scratch memory: without them, digits at a distance of a power of two would
/// compete for the same cache lines.
const PAD: usize = 72;

/// ⟨decompose(a), key⟩ for both halves of a key, target modulus outermost: its twiddles are reused by all digits
/// and every key word is read once.
pub(super) fn product(
    gadget: &RnsGadget,
    a: &Poly<Coefficient>,
    key: [&[Poly<Evaluation>]; 2],
) -> Result<[Poly<Evaluation>; 2], RingError> {
    let inner = &*gadget.0;
    let ring = &inner.ring;
    ring.check(a)?;
    for half in key {
        check_length("polynomials of a key half", gadget.digit_count(), half.len())?;
        half.iter()
            .zip(inner.digits.digits())
            .try_for_each(|(part, digit)| gadget.check_part(part, digit))?;
    }
    let n = ring.degree();
    let residues = residues(inner, a)?;
    let mut halves = [ring.zero::<Evaluation>(), ring.zero::<Evaluation>()];
    let [first, second] = &mut halves;
    let terms: Vec<Vec<Term<'_>>> = (0..ring.basis().len()).map(|j| terms(inner, key, j)).collect();
    let most = terms.iter().map(Vec::len).max().unwrap_or(0);
    let scratch = || Scratch::new(most * (n + PAD));
    let run = |scratch: &mut Scratch, j: usize, out: [&mut [u64]; 2]| -> Result<(), RingError> {
        let (Some(plan), Some(terms)) = (ring.plans().get(j), terms.get(j)) else { return Ok(()) };
        for (lifted, term) in scratch.chunks_exact_mut(n + PAD).zip(terms) {
            let source = residues.chunks_exact(n).nth(term.digit.source);
            if let (Some(lifted), Some(source)) = (lifted.get_mut(..n), source) {
                lift(lifted, source, term.digit, &plan.modulus())?;
                plan.forward(lifted)?;
            }
        }
        accumulate(scratch, terms, plan, out)
    };
    if ring.basis().len() > 1 && Work::Transform.is_parallel(residues.len()) {
        let firsts = first.words_mut().par_chunks_exact_mut(n);
        let seconds = second.words_mut().par_chunks_exact_mut(n);
        let targets = firsts.zip(seconds).enumerate();
        targets.try_for_each_init(scratch, |scratch, (j, (a, b))| run(scratch, j, [a, b]))?;
    } else {
        let mut scratch = scratch();
        let targets = first.words_mut().chunks_exact_mut(n).zip(second.words_mut().chunks_exact_mut(n));
        for (j, (a, b)) in targets.enumerate() {
            run(&mut scratch, j, [a, b])?;
        }
    }
    Ok(halves)
}

/// One term of the inner products modulo one target.
struct Term<'a> {
    digit: &'a Digit,
    /// The target's limbs of both key halves.
    key: [&'a [u64]; 2],
}

/// The digits whose keys are not zero modulo target j.
fn terms<'a>(inner: &'a Inner, [first, second]: [&'a [Poly<Evaluation>]; 2], j: usize) -> Vec<Term<'a>> {
    let digits = inner.digits.digits().iter().zip(first).zip(second);
    let term = |((digit, first), second): ((&'a Digit, &'a Poly<_>), &'a Poly<_>)| {
        let limb = inner.digits.limb(digit.source, j)?;
        Some(Term { digit, key: [first.limb(limb)?, second.limb(limb)?] })
    };
    digits.filter_map(term).collect()
}

/// The inner products of lifted digits with both halves, block by block.
fn accumulate(
    lifted: &Scratch,
    terms: &[Term<'_>],
    plan: &NttPlan,
    [first, second]: [&mut [u64]; 2],
) -> Result<(), RingError> {
    let n = plan.n();
    for (b, outs) in first.chunks_mut(BLOCK).zip(second.chunks_mut(BLOCK)).enumerate() {
        let range = b * BLOCK..n.min((b + 1) * BLOCK);
        let lifted = block_of(lifted.chunks_exact(n + PAD).take(terms.len()), &range);
        for (half, out) in [outs.0, outs.1].into_iter().enumerate() {
            let key = block_of(terms.iter().filter_map(|term| term.key.get(half).copied()), &range);
            plan.modulus().inner_product(out, &lifted, &key)?;
        }
    }
    Ok(())
}

/// ξ_q(a), centred: D_j = [a·(q/q_j)^-1]_{q_j} in [−h_j, h_j] with h_j = (q_j − 1)/2, here as D_j + the offset that
/// makes its digits non-negative.
///
/// Centring halves the bound of [BEHZ16, Lemma 8], and without it the mean q_j/2 of the digits would gather
/// the noise of a key switch in the few roots of unity close to 1.
fn residues(inner: &Inner, a: &Poly<Coefficient>) -> Result<Scratch, RingError> {
    let basis = inner.ring.basis();
    let mut residues = Scratch::new(a.words().len());
    for_each_limb(Work::Elementwise, &mut residues, inner.ring.degree(), |j, out| {
        let constants = basis.moduli().get(j).zip(basis.quotient_inverses().get(j));
        let (Some((modulus, &inverse)), Some(limb)) = (constants, a.limb(j)) else { return Ok(()) };
        out.copy_from_slice(limb);
        modulus.mul_scalar_assign(out, inverse)?;
        let half = (modulus.value() - 1) / 2;
        out.iter_mut().for_each(|x| *x = modulus.add(*x, half));
        let rest = inner.digits.offset(j) - half;
        if rest > 0 {
            out.iter_mut().for_each(|x| *x += rest);
        }
        Ok(())
    })?;
    Ok(residues)
}

/// One digit of residues modulo `target`, in [0, 2p) as the transform takes it.
fn lift(lifted: &mut [u64], residues: &[u64], digit: &Digit, target: &Modulus) -> Result<(), RingError> {
    let Digit { shift, mask, bias, .. } = *digit;
    let (whole, narrow) = (digit.is_whole(), bias < target.value());
    // u − bias + p lies in (0, 2p) for a digit u in [0, 2·bias].
    let offset = if narrow { target.value() - bias } else { target.neg(target.reduce(bias)) };
    let pairs = lifted.iter_mut().zip(residues);
    match (whole, narrow) {
        (true, true) => pairs.for_each(|(to, from)| *to = from + offset),
        (false, true) => pairs.for_each(|(to, from)| *to = ((from >> shift) & mask) + offset),
        (true, false) => {
            target.reduce_into(lifted, residues)?;
            lifted.iter_mut().for_each(|x| *x = target.add(*x, offset));
        }
        (false, false) => {
            pairs.for_each(|(to, from)| *to = target.add(target.reduce((from >> shift) & mask), offset));
        }
    }
    Ok(())
}
