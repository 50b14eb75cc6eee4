//! Gadget of multi-precision integers: D_{ω,q} and P_{ω,q} of [BEHZ16, eq. (7)], for Relin_FV.

use std::sync::Arc;

use num_bigint::BigUint;
use num_traits::One;
use sunzi_kernels::MAX_TERMS;
use sunzi_ring::storage::{
    BLOCK, Plan, Scale, Scratch, Work, block_of, check_length, check_level, no_such_digit,
};
use sunzi_ring::{
    Backend, Coefficient, DigitBound, Digits, Evaluation, Gadget, GadgetBackend, GadgetOptions, Opaque,
    PackedPoly, Parallelism, Poly, Representation, Ring, RingError, WordRing,
};
use zeroize::Zeroizing;

use super::groups::{Group, for_each_coefficient, group};
use super::lift::{Lift, half};
use super::scaler::{inverses, lift_residues};
use super::words::{self as integers, BITS, MASK, bits};

/// Words of padding between two digits in scratch memory, against conflicts of cache lines.
const PAD: usize = 72;
/// Largest log2 ω: a digit and its carry are one word.
const MAX_RADIX_BITS: u32 = 62;

/// Gadget of the centred digits of a radix ω: c = Σ d_i·ω^i with −ω/2 ≤ d_i ≤ ω/2 for c in [−q/2, q/2).
///
/// The option `radix_bits` is log2 ω, 1 to 62. Without it ω = 2^32 for moduli of at most 32 bits and 2^62 for
/// those above 48 bits, as `[BEHZ16, 5.3]` measures, and 2^48 between.
#[derive(Clone, Debug)]
pub struct MultiPrecisionGadget(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// Highest ring for which the multi-precision gadget was made.
    top: Ring,
    /// Ring of the multi-precision gadget's level; the next field is its storage.
    ring: Ring,
    words: WordRing,
    options: GadgetOptions,
    /// Radix of the gadget's digits as log2 ω.
    radix_bits: u32,
    /// Number of digits ℓ_{ω,q} = ⌈log_ω q⌉ of the gadget.
    count: usize,
    groups: Vec<Group>,
    lift: Lift,
    /// Factors (q/q_i)^-1 of the inverse transforms from which a lift starts.
    inverses: Vec<Scale>,
    /// Offset (ω/2)·(1 + ω + … + ω^(ℓ−1)) − ⌊q/2⌋: digits of a sum with it are d_i + ω/2.
    offset: Vec<u64>,
}

impl MultiPrecisionGadget {
    pub(super) fn new(ring: &Ring, options: &GadgetOptions) -> Result<Self, RingError> {
        let words = ring.words()?;
        words.check_prefixes()?;
        let basis = words.basis();
        let width = basis.moduli().iter().map(|modulus| modulus.bits()).max().unwrap_or(0);
        let radix_bits = options.radix_bits.unwrap_or(match width {
            0..=32 => 32,
            33..=48 => 48,
            _ => MAX_RADIX_BITS,
        });
        if !(1..=MAX_RADIX_BITS).contains(&radix_bits) {
            let expected = format_args!("1 to {MAX_RADIX_BITS}");
            return Err(RingError::out_of_range("radix bits of a gadget", expected, radix_bits));
        }
        if options.dropped_limbs != 0 {
            let expected = "0, since digits of a radix have no zero limbs";
            return Err(RingError::out_of_range("dropped limbs", expected, options.dropped_limbs));
        }
        if !options.special_moduli.is_empty() || options.digits.is_some() {
            let expected = "0, since digits of a radix need none";
            return Err(RingError::out_of_range("special moduli", expected, options.special_moduli.len()));
        }
        Self::with_level(ring, options, radix_bits, ring.level())
    }

    fn with_level(
        top: &Ring,
        options: &GadgetOptions,
        radix_bits: u32,
        level: usize,
    ) -> Result<Self, RingError> {
        let ring = top.at_level(level)?;
        let words = ring.words()?.clone();
        let (basis, q) = (words.basis(), ring.modulus());
        let count = digit_count(q, radix_bits);
        if count > MAX_TERMS {
            let expected = format_args!("at most {MAX_TERMS} digits");
            return Err(RingError::out_of_range("radix bits of a gadget", expected, radix_bits));
        }
        let halves = (0..count).map(|i| power(radix_bits, i) << (radix_bits - 1)).sum::<BigUint>();
        let length = integers::length(&(power(radix_bits, count) << 1_u32));
        let groups = group(basis.moduli())?;
        let lift = Lift::new(basis, &groups);
        let offset = integers::words(&(halves - half(q)), length.max(lift.length()));
        let (top, options) = (top.clone(), options.clone());
        let inverses = inverses(&words)?;
        Ok(Self(Arc::new(Inner {
            top,
            ring,
            words,
            options,
            radix_bits,
            count,
            groups,
            lift,
            inverses,
            offset,
        })))
    }
}

/// Returns the number of digits ℓ_{ω,q} of an integer modulo q.
fn digit_count(q: &BigUint, radix_bits: u32) -> usize {
    usize::try_from(q.bits().div_ceil(u64::from(radix_bits))).unwrap_or(usize::MAX)
}

/// Returns the power ω^i of the gadget's radix ω.
fn power(radix_bits: u32, i: usize) -> BigUint {
    BigUint::one() << (i * radix_bits as usize)
}

impl Inner {
    /// Room for the residues |a·(q/q_i)^-1|_{q_i} of a polynomial, limb after limb.
    fn rows(&self) -> Poly<Coefficient> {
        Poly::from(self.words.zero(Representation::Coefficients))
    }

    /// Returns the radix digits, as d_i + ω/2, of every coefficient, digit after digit, from the rows of a polynomial.
    fn digits(&self, rows: &Poly<Coefficient>) -> Result<Scratch, RingError> {
        let (n, residues) = (self.ring.degree(), rows.words());
        let mut digits = Scratch::new(self.count * n);
        Parallelism::Collapsed.for_each_block(&mut digits, n, |range, digits| {
            self.digits_of_block(&block_of(residues.chunks_exact(n), &range), digits, range.len());
            Ok(())
        })?;
        Ok(digits)
    }

    fn digits_of_block(&self, rows: &[&[u64]], digits: &mut [&mut [u64]], length: usize) {
        let mut integer = vec![0; self.offset.len()];
        for_each_coefficient(&self.groups, rows, length, |i, residues| {
            let (lifted, rest) = integer.split_at_mut(self.lift.length());
            self.lift.apply(residues, lifted);
            rest.fill(0);
            let mut carry = 0;
            for (word, offset) in integer.iter_mut().zip(&self.offset) {
                let sum = *word + offset + carry;
                (*word, carry) = (sum & MASK, sum >> BITS);
            }
            for (d, digit) in digits.iter_mut().enumerate() {
                // The last digit keeps the carry from the rounding of the others.
                let count = self.radix_bits + u32::from(d + 1 == self.count);
                if let Some(digit) = digit.get_mut(i) {
                    *digit = bits(&integer, d as u64 * u64::from(self.radix_bits), count);
                }
            }
        });
    }

    /// Lifts every radix digit modulo the target of `plan`, in evaluation form.
    fn lift_digits(&self, lifted: &mut [u64], digits: &[u64], plan: &Plan) -> Result<(), RingError> {
        let (n, target) = (plan.n(), plan.modulus());
        let offset = target.neg(target.reduce(1 << (self.radix_bits - 1)));
        for (lifted, digit) in lifted.chunks_exact_mut(n + PAD).zip(digits.chunks_exact(n)) {
            let Some(lifted) = lifted.get_mut(..n) else { continue };
            target.lift_into(lifted, digit, (0, u64::MAX), offset, true)?;
            plan.forward(lifted)?;
        }
        Ok(())
    }
}

/// Gadget whose [`Digits`] are the rows from which a lift starts: radix digits are cheap beside their transforms.
impl GadgetBackend for MultiPrecisionGadget {
    fn options(&self) -> &GadgetOptions {
        &self.0.options
    }

    fn key_ring(&self) -> &Ring {
        &self.0.ring
    }

    fn level(&self) -> usize {
        self.0.ring.level()
    }

    fn at_level(&self, level: usize) -> Result<Gadget, RingError> {
        Self::with_level(&self.0.top, &self.0.options, self.0.radix_bits, level).map(Gadget::new)
    }

    fn log2_special(&self) -> f64 {
        0.0
    }

    fn restrict_key(&self, a: &Poly<Evaluation>) -> Result<Poly<Evaluation>, RingError> {
        self.0.top.restrict(a, self.level())
    }

    fn digit_count(&self) -> usize {
        self.0.count
    }

    fn digit_bounds(&self) -> Vec<DigitBound> {
        let Inner { radix_bits, count, ring, .. } = &*self.0;
        let whole = DigitBound { log2_bound: f64::from(radix_bits - 1), log2_mean: -1.0 };
        let mut bounds = vec![whole; *count];
        if let Some(last) = bounds.last_mut() {
            // ⌈(q/2)/ω^(ℓ−1)⌉.
            let lower = u64::from(*radix_bits) * (*count as u64 - 1);
            last.log2_bound = sunzi_math::log2(&((ring.modulus() >> (lower + 1)) + 1_u32));
        }
        bounds
    }

    fn key_part(
        &self,
        zero: [Poly<Evaluation>; 2],
        source: &Poly<Evaluation>,
        i: usize,
    ) -> Result<[Poly<Evaluation>; 2], RingError> {
        if i >= self.0.count {
            return Err(no_such_digit(self.0.count, i));
        }
        let [mut b, a] = zero;
        self.0.words.check(&a)?;
        let mut multiple = Zeroizing::new(source.clone());
        self.0.ring.mul_integer_assign(&mut multiple, &power(self.0.radix_bits, i).into())?;
        self.0.ring.add_assign(&mut b, &multiple)?;
        Ok([b, a])
    }

    fn decompose(&self, a: &Poly<Evaluation>) -> Result<Digits, RingError> {
        let Inner { words, inverses, .. } = &*self.0;
        words.check(a)?;
        let mut rows = self.0.rows();
        rows.words_mut().copy_from_slice(a.words());
        words.transform().inverse_scaled(rows.words_mut(), inverses)?;
        Ok(Digits(Opaque::new(rows)))
    }

    fn decompose_coefficients(&self, a: &Poly<Coefficient>) -> Result<Digits, RingError> {
        let words = &self.0.words;
        words.check(a)?;
        let mut rows = self.0.rows();
        rows.words_mut().copy_from_slice(&lift_residues(words, a)?);
        Ok(Digits(Opaque::new(rows)))
    }

    fn product(&self, digits: &Digits, key: [&[PackedPoly]; 2]) -> Result<[Poly<Evaluation>; 2], RingError> {
        let a: &Poly<Coefficient> = digits.0.get()?;
        let (inner, [b, a_half]) = (&*self.0, key.map(polynomials));
        let key = [b?, a_half?];
        let ring = &inner.words;
        ring.check(a)?;
        let level = match key.iter().find_map(|half| half.first()) {
            Some(&part) => inner.top.level_of(part)?,
            None => self.level(),
        };
        check_level(self.level(), level)?;
        let q = inner.top.words()?.at_level(level)?;
        let count = digit_count(q.modulus(), inner.radix_bits);
        for half in &key {
            check_length("polynomials of a key half", count, half.len())?;
            half.iter().try_for_each(|part| q.check(part))?;
        }
        let n = ring.degree();
        let digits = inner.digits(a)?;
        let mut halves: [Poly<Evaluation>; 2] = [inner.ring.zero(), inner.ring.zero()];
        let [first, second] = halves.each_mut().map(|half| half.words_mut());
        Parallelism::Collapsed.for_each_limb_pair(
            Work::Transform,
            first,
            second,
            n,
            |j, [first, second]| {
                let plan = ring.plan(j)?;
                let mut lifted = Scratch::new(inner.count * (n + PAD));
                inner.lift_digits(&mut lifted, &digits, plan)?;
                for (b, outs) in first.chunks_mut(BLOCK).zip(second.chunks_mut(BLOCK)).enumerate() {
                    let range = b * BLOCK..n.min((b + 1) * BLOCK);
                    let lifted = block_of(lifted.chunks_exact(n + PAD), &range);
                    let [a, b] = key.each_ref().map(|half| -> Result<Vec<&[u64]>, RingError> {
                        let parts = half.iter().take(inner.count);
                        parts.map(|part| part.part(j, range.clone())).collect()
                    });
                    let (a, b) = (a?, b?);
                    plan.modulus().inner_product_pair([outs.0, outs.1], &lifted, [&a, &b])?;
                }
                Ok(())
            },
        )?;
        Ok(halves)
    }
}

/// Returns the polynomials of a half of a key-switching key.
fn polynomials(half: &[PackedPoly]) -> Result<Vec<&Poly<Evaluation>>, RingError> {
    half.iter().map(|part| part.0.get()).collect()
}
