//! Radix decomposition, D and P of [BEHZ16, eq. (7)].

use num_bigint::{BigInt, BigUint};
use num_traits::One;

use super::{BigPoly, BigRing};
use crate::error::check_length;
use crate::{Coefficient, Evaluation, Gadget, GadgetOptions, PolyRing, RingError};

/// log2 ω: the digits of c in [−q/2, q/2) lie in [−2^31, 2^31].
const RADIX_BITS: u32 = 32;

/// ℓ_{ω,q} = ⌈log_ω q⌉ digits.
fn digit_count(q: &BigUint) -> usize {
    usize::try_from(q.bits().div_ceil(u64::from(RADIX_BITS))).unwrap_or(usize::MAX)
}

/// Digit i of `digits` of every centred coefficient: that of c + (ω/2)·(1 + ω + ω² + …), less ω/2.
fn digit(coefficients: &[BigInt], i: usize, digits: usize) -> Vec<BigInt> {
    let half = BigInt::one() << (RADIX_BITS - 1);
    let offset = (0..digits).map(|i| &half << (i * RADIX_BITS as usize)).sum::<BigInt>();
    let mask = (BigInt::one() << RADIX_BITS) - 1_u32;
    let digit = |c: &BigInt| {
        let shifted = (c + &offset) >> (i * RADIX_BITS as usize);
        // The last digit keeps what the rounding of the others carries into it.
        (if i + 1 == digits { shifted } else { shifted & &mask }) - &half
    };
    coefficients.iter().map(digit).collect()
}

/// g_i = ω^i.
fn power(i: usize) -> BigUint {
    BigUint::one() << (i * RADIX_BITS as usize)
}

/// The digits of a radix.
#[derive(Clone, Debug)]
pub struct BigGadget {
    ring: BigRing,
    options: GadgetOptions,
}

impl BigGadget {
    pub(super) fn new(ring: &BigRing, options: &GadgetOptions) -> Result<Self, RingError> {
        Ok(Self { ring: ring.clone(), options: *options })
    }

    fn check_digit(&self, i: usize) -> Result<(), RingError> {
        let count = self.digit_count();
        if i < count {
            Ok(())
        } else {
            Err(RingError::out_of_range("digit", format_args!("below {count}"), i))
        }
    }
}

impl Gadget<BigRing> for BigGadget {
    fn options(&self) -> &GadgetOptions {
        &self.options
    }

    fn digit_count(&self) -> usize {
        digit_count(self.ring.modulus())
    }

    fn log2_digit_bound(&self) -> f64 {
        f64::from(RADIX_BITS - 1)
    }

    fn mul_gadget(&self, a: &BigPoly<Evaluation>, i: usize) -> Result<BigPoly<Evaluation>, RingError> {
        self.check_digit(i)?;
        let mut scaled = a.clone();
        self.ring.mul_integer_assign(&mut scaled, &power(i).into())?;
        Ok(scaled)
    }

    fn compress(&self, a: BigPoly<Evaluation>, i: usize) -> Result<BigPoly<Evaluation>, RingError> {
        self.ring.check(&a)?;
        self.check_digit(i)?;
        Ok(a)
    }

    fn product(
        &self,
        a: &BigPoly<Coefficient>,
        key: [&[BigPoly<Evaluation>]; 2],
    ) -> Result<[BigPoly<Evaluation>; 2], RingError> {
        let ring = &self.ring;
        let (coefficients, digits) = (ring.to_integers(a)?, self.digit_count());
        let mut halves = [ring.zero(), ring.zero()];
        for (half, key) in halves.iter_mut().zip(key) {
            check_length("key", digits, key.len())?;
            for (i, key) in key.iter().enumerate() {
                let digit = ring.from_integers(&digit(&coefficients, i, digits))?;
                ring.mul_add_assign(half, &digit.relabel(), key)?;
            }
        }
        Ok(halves)
    }
}
