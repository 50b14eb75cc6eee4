//! The RNS gadget: ξ_q and P_{RNS,q} of [BEHZ16, 4.5].

use std::fmt;

use rayon::prelude::*;
use sunzi_kernels::{Modulus, NttPlan};

use crate::error::check_length;
use crate::parallel::{BLOCK, Work, block_of, for_each_limb};
use crate::scratch::Scratch;
use crate::{Coefficient, Evaluation, Gadget, GadgetOptions, Poly, PolyRing, Ring, RingError};

/// The digits of an RNS basis, one for each modulus.
#[derive(Clone)]
pub struct RnsGadget {
    ring: Ring,
    options: GadgetOptions,
}

impl RnsGadget {
    pub(crate) fn new(ring: &Ring, options: &GadgetOptions) -> Result<Self, RingError> {
        Ok(Self { ring: ring.clone(), options: *options })
    }
}

impl Gadget<Ring> for RnsGadget {
    fn options(&self) -> &GadgetOptions {
        &self.options
    }

    fn digit_count(&self) -> usize {
        self.ring.basis().len()
    }

    fn log2_digit_bound(&self) -> f64 {
        // Digits are centred.
        self.ring.basis().values().iter().max().map_or(0.0, |&q| (q as f64).log2() - 1.0)
    }

    fn mul_gadget(&self, a: &Poly<Evaluation>, i: usize) -> Result<Poly<Evaluation>, RingError> {
        mul_gadget(&self.ring, a, i)
    }

    fn compress(&self, a: Poly<Evaluation>, i: usize) -> Result<Poly<Evaluation>, RingError> {
        self.ring.check(&a)?;
        if i < self.digit_count() { Ok(a) } else { Err(no_such_digit(self.digit_count(), i)) }
    }

    fn product(
        &self,
        a: &Poly<Coefficient>,
        key: [&[Poly<Evaluation>]; 2],
    ) -> Result<[Poly<Evaluation>; 2], RingError> {
        gadget_product(&self.ring, a, key)
    }
}

impl fmt::Debug for RnsGadget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RnsGadget").field("ring", &self.ring).field("options", &self.options).finish()
    }
}

fn no_such_digit(count: usize, i: usize) -> RingError {
    RingError::out_of_range("digit", format_args!("below {count}"), i)
}

/// a·q/q_i mod q [BEHZ16, Lemma 7]: zero but in limb i.
fn mul_gadget(ring: &Ring, a: &Poly<Evaluation>, i: usize) -> Result<Poly<Evaluation>, RingError> {
    ring.check(a)?;
    let (Some(&modulus), Some(limb)) = (ring.basis().moduli().get(i), a.limb(i)) else {
        return Err(no_such_digit(ring.basis().len(), i));
    };
    let quotient = ring.basis().quotients_mod(modulus.value()).get(i).copied().unwrap_or(0);
    let mut scaled = ring.zero();
    if let Some(target) = scaled.words_mut().chunks_exact_mut(ring.degree()).nth(i) {
        target.copy_from_slice(limb);
        modulus.mul_scalar_assign(target, quotient)?;
    }
    Ok(scaled)
}

/// Words between two digits in scratch memory: without them, digits at a distance of a power of two would
/// compete for the same cache lines.
const PAD: usize = 72;

/// ξ_q(c), centred: digit i is D_i = [c·(q/q_i)^-1]_{q_i} in [−h_i, h_i] with h_i = (q_i − 1)/2, here as D_i + h_i.
///
/// Centring halves the bound of [BEHZ16, Lemma 8], and without it the mean q_i/2 of the digits would gather
/// the noise of a key switch in the few roots of unity close to 1.
fn digits(ring: &Ring, a: &Poly<Coefficient>) -> Result<Scratch, RingError> {
    let mut digits = Scratch::new(a.words().len());
    let constants = ring.basis().moduli().iter().zip(ring.basis().quotient_inverses()).collect::<Vec<_>>();
    for_each_limb(Work::Elementwise, &mut digits, ring.degree(), |i, digit| {
        let (Some((modulus, inverse)), Some(limb)) = (constants.get(i), a.limb(i)) else { return Ok(()) };
        digit.copy_from_slice(limb);
        modulus.mul_scalar_assign(digit, **inverse)?;
        let half = half(modulus);
        for x in digit.iter_mut() {
            *x = modulus.add(*x, half);
        }
        Ok(())
    })?;
    Ok(digits)
}

/// h = (q − 1)/2 of an odd modulus.
fn half(modulus: &Modulus) -> u64 {
    (modulus.value() - 1) / 2
}

/// ⟨ξ_q(a), key⟩ for both halves of a key, target modulus outermost: its twiddles are reused by all digits and
/// every key word is read once.
fn gadget_product(
    ring: &Ring,
    a: &Poly<Coefficient>,
    key: [&[Poly<Evaluation>]; 2],
) -> Result<[Poly<Evaluation>; 2], RingError> {
    ring.check(a)?;
    for half in key {
        check_length("polynomials of a key half", ring.basis().len(), half.len())?;
        half.iter().try_for_each(|part| ring.check(part))?;
    }
    let n = ring.degree();
    let digits = digits(ring, a)?;
    let mut halves = [ring.zero::<Evaluation>(), ring.zero::<Evaluation>()];
    let [first, second] = &mut halves;
    let scratch = || Scratch::new(ring.basis().len() * (n + PAD));
    let run = |scratch: &mut Scratch, j: usize, out: [&mut [u64]; 2]| -> Result<(), RingError> {
        let Some(plan) = ring.plans().get(j) else { return Ok(()) };
        lift_digits(scratch, &digits, ring.basis().moduli(), plan)?;
        let [first, second] = out;
        for (b, outs) in first.chunks_mut(BLOCK).zip(second.chunks_mut(BLOCK)).enumerate() {
            let range = b * BLOCK..n.min((b + 1) * BLOCK);
            let lifted = block_of(scratch.chunks_exact(n + PAD), &range);
            for (out, key) in [outs.0, outs.1].into_iter().zip(key) {
                let key = block_of(key.iter().filter_map(|part| part.limb(j)), &range);
                plan.modulus().inner_product(out, &lifted, &key)?;
            }
        }
        Ok(())
    };
    if ring.basis().len() > 1 && Work::Transform.is_parallel(digits.len()) {
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

/// Every digit modulo the target of `plan`, in evaluation form.
fn lift_digits(
    lifted: &mut [u64],
    digits: &[u64],
    sources: &[Modulus],
    plan: &NttPlan,
) -> Result<(), RingError> {
    let n = plan.n();
    let target = plan.modulus();
    for ((lifted, digit), source) in lifted.chunks_exact_mut(n + PAD).zip(digits.chunks_exact(n)).zip(sources)
    {
        let Some(lifted) = lifted.get_mut(..n) else { continue };
        let half = half(source);
        if half < target.value() {
            // D_i + p lies in (0, 2p), which the transform takes as it is.
            let offset = target.value() - half;
            for (to, from) in lifted.iter_mut().zip(digit) {
                *to = from + offset;
            }
        } else {
            target.reduce_into(lifted, digit)?;
            let offset = target.neg(target.reduce(half));
            for x in lifted.iter_mut() {
                *x = target.add(*x, offset);
            }
        }
        plan.forward(lifted)?;
    }
    Ok(())
}
