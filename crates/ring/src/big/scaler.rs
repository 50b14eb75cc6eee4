//! The exact scale-invariant operations: division and rounding of integers.

use num_bigint::{BigInt, BigUint, Sign};
use num_integer::Integer;
use num_traits::{One, ToPrimitive};

use super::{BigPoly, BigRing};
use crate::error::check_plaintext_modulus;
use crate::{Coefficient, Evaluation, PolyRing, RingError, Scaler};

/// log2 of how many ciphertext products may be summed before scaling.
const LOG2_SUMS: u64 = 32;

/// DR of [BEHZ16, eq. (1)] over the integers: nothing is approximated.
#[derive(Clone, Debug)]
pub struct BigScaler {
    ring: BigRing,
    wide: BigRing,
    t: u64,
}

impl BigScaler {
    pub(super) fn new(ring: &BigRing, t: u64) -> Result<Self, RingError> {
        check_plaintext_modulus(t, 60)?;
        let q = ring.modulus();
        if *q <= BigUint::from(2 * t) {
            return Err(RingError::out_of_range("modulus", format_args!("above 2t = {}", 2 * t), q));
        }
        // Two products of lifts below q/2 add up to n·q²/2 at most, in either direction.
        let bits = 2 * q.bits() + u64::from(ring.degree().ilog2()) + LOG2_SUMS;
        let wide = BigRing::new(ring.index(), &(BigUint::one() << bits))?;
        Ok(Self { ring: ring.clone(), wide, t })
    }

    /// ⌊t·x/q⌉, a half rounding up.
    fn round(&self, x: &BigInt) -> BigInt {
        let q = BigInt::from_biguint(Sign::Plus, self.ring.modulus().clone());
        (x * self.t * 2_u32 + &q).div_floor(&(q * 2_u32))
    }
}

impl Scaler<BigRing> for BigScaler {
    fn wide(&self) -> &BigRing {
        &self.wide
    }

    fn extend(&self, a: &BigPoly<Evaluation>) -> Result<BigPoly<Evaluation>, RingError> {
        let coefficients = self.ring.to_integers(&a.clone().relabel())?;
        self.wide.to_evaluation(self.wide.from_integers(&coefficients)?)
    }

    fn scale(&self, a: BigPoly<Evaluation>) -> Result<BigPoly<Coefficient>, RingError> {
        let coefficients = self.wide.to_integers(&a.relabel())?;
        self.ring.from_integers(&coefficients.iter().map(|x| self.round(x)).collect::<Vec<_>>())
    }

    fn decrypt(&self, a: &BigPoly<Coefficient>) -> Result<Vec<u64>, RingError> {
        let t = BigInt::from(self.t);
        let message = |x: &BigInt| self.round(x).mod_floor(&t).to_u64().unwrap_or(0);
        Ok(self.ring.to_integers(a)?.iter().map(message).collect())
    }

    fn overflow(&self) -> f64 {
        0.0
    }

    fn scale_error(&self) -> f64 {
        0.0
    }

    fn decryption_margin(&self) -> f64 {
        0.5
    }
}
