//! Radix decomposition, D and P of [BEHZ16, eq. (7)], and its smaller keys [B.2, eq. (22)].

use num_bigint::{BigInt, BigUint};
use num_traits::One;
use sunzi_kernels::MAX_TERMS;

use super::{BigPoly, BigRing};
use crate::error::{check_length, check_radix, no_such_digit};
use crate::{Coefficient, DigitBound, Evaluation, Gadget, GadgetOptions, PolyRing, RingError};

/// log2 ω unless the options say otherwise.
const RADIX_BITS: u32 = 32;

/// The ℓ = ⌈log_ω q⌉ digits of a radix ω for c in [−q/2, q/2), all in [−ω/2, ω/2] and without the lowest i:
/// c is taken for a multiple of ω^i.
#[derive(Clone, Debug)]
pub struct BigGadget {
    ring: BigRing,
    options: GadgetOptions,
    radix_bits: u32,
    /// ℓ, dropped ones included.
    digits: usize,
}

impl BigGadget {
    pub(super) fn new(ring: &BigRing, options: &GadgetOptions) -> Result<Self, RingError> {
        let radix_bits = options.radix_bits.unwrap_or(RADIX_BITS);
        check_radix(radix_bits)?;
        let digits = usize::try_from(ring.modulus().bits().div_ceil(u64::from(radix_bits)));
        let digits = digits.ok().filter(|&digits| digits <= MAX_TERMS).ok_or_else(|| {
            RingError::out_of_range("radix_bits", format_args!("at most {MAX_TERMS} digits"), radix_bits)
        })?;
        if options.dropped_limbs >= digits {
            let expected = format_args!("below {digits}, the number of digits");
            return Err(RingError::out_of_range("dropped_limbs", expected, options.dropped_limbs));
        }
        Ok(Self { ring: ring.clone(), options: *options, radix_bits, digits })
    }

    /// log2 ω^z for the i-th digit that is kept.
    fn exponent(&self, i: usize) -> u64 {
        (self.options.dropped_limbs + i) as u64 * u64::from(self.radix_bits)
    }

    /// The i-th kept digit of every coefficient: that of c + (ω/2)·(1 + ω + … + ω^(ℓ−2)), less ω/2; the last digit
    /// keeps what the rounding of the others carries into it.
    fn digit(&self, coefficients: &[BigInt], i: usize) -> Vec<BigInt> {
        let half = BigInt::one() << (self.radix_bits - 1);
        let lower = (0..self.digits as u64 - 1).map(|z| z * u64::from(self.radix_bits));
        let offset = lower.map(|exponent| &half << exponent).sum::<BigInt>();
        let mask = (BigInt::one() << self.radix_bits) - 1_u32;
        let digit = |c: &BigInt| {
            let shifted = (c + &offset) >> self.exponent(i);
            if i + 1 == self.digit_count() { shifted } else { (shifted & &mask) - &half }
        };
        coefficients.iter().map(digit).collect()
    }
}

impl Gadget<BigRing> for BigGadget {
    fn options(&self) -> &GadgetOptions {
        &self.options
    }

    fn digit_count(&self) -> usize {
        self.digits - self.options.dropped_limbs
    }

    fn digit_bounds(&self) -> Vec<DigitBound> {
        let whole = DigitBound { log2_bound: f64::from(self.radix_bits - 1), log2_mean: -1.0 };
        let mut bounds = vec![whole; self.digit_count()];
        if let Some(last) = bounds.last_mut() {
            // ⌈(q/2)/ω^(ℓ−1)⌉.
            let top = (self.ring.modulus() >> (self.exponent(self.digit_count() - 1) + 1)) + 1_u32;
            last.log2_bound = sunzi_math::log2(&top);
        }
        bounds
    }

    /// (ω/2)·(1 + ω + … + ω^(i−1)) for i dropped digits: more than |c|_{ω^i}/2 by a factor ω/(ω − 1).
    fn log2_truncation(&self) -> f64 {
        if self.options.dropped_limbs == 0 {
            return f64::NEG_INFINITY;
        }
        let radix = f64::from(self.radix_bits).exp2();
        self.exponent(0) as f64 + (radix / 2.0 / (radix - 1.0)).log2()
    }

    fn key_part(
        &self,
        zero: [BigPoly<Evaluation>; 2],
        source: &BigPoly<Evaluation>,
        i: usize,
    ) -> Result<[BigPoly<Evaluation>; 2], RingError> {
        if i >= self.digit_count() {
            return Err(no_such_digit(self.digit_count(), i));
        }
        let [mut b, a] = zero;
        self.ring.check(&a)?;
        let mut multiple = source.clone();
        self.ring.mul_integer_assign(&mut multiple, &(BigUint::one() << self.exponent(i)).into())?;
        self.ring.add_assign(&mut b, &multiple)?;
        Ok([b, a])
    }

    fn product(
        &self,
        a: &BigPoly<Coefficient>,
        key: [&[BigPoly<Evaluation>]; 2],
    ) -> Result<[BigPoly<Evaluation>; 2], RingError> {
        let (ring, digits) = (&self.ring, self.digit_count());
        key.iter().try_for_each(|half| check_length("polynomials of a key half", digits, half.len()))?;
        let coefficients = ring.to_integers(a)?;
        let [mut first, mut second] = [ring.zero(), ring.zero()];
        for (i, (b, a)) in key[0].iter().zip(key[1]).enumerate() {
            let digit = ring.from_integers(&self.digit(&coefficients, i))?.relabel();
            ring.mul_add_assign(&mut first, &digit, b)?;
            ring.mul_add_assign(&mut second, &digit, a)?;
        }
        Ok([first, second])
    }
}
