//! Scaler of the oracle: exact scale-invariant operations, by division and rounding of integers.

use std::ops::RangeInclusive;

use num_bigint::{BigInt, BigUint, Sign};
use num_integer::Integer;
use num_traits::{One, ToPrimitive};
use sunzi_ring::storage::check_plaintext_modulus;
use sunzi_ring::{
    Coefficient, Evaluation, Multiplication, Poly, Ring, RingError, ScalerBackend, ScalerOptions,
    ScalingBounds, Side, SwitchingBounds,
};

use super::BigRing;

/// log2 of the number of ciphertext products that may be summed before scaling.
const LOG2_SUMS: u64 = 32;

/// Scaler of the oracle: products of BFV by the definitions, without approximation.
///
/// Lifts of the oracle's scaler are centred. Where products are scaled by t/q `[BEHZ16, eq. (1); KPZ21, Alg. 1]`
/// the wide ring holds their sums; where one operand is switched to P `[KPZ21, Alg. 2 and 3]` P = q′ + 1, which
/// has no factor in common with q′, and what wraps modulo q′P vanishes.
#[derive(Clone, Debug)]
pub struct BigScaler {
    /// Big-integer ring of the scaler.
    ring: Ring,
    t: u64,
    multiplication: Multiplication,
    bounds: ScalingBounds,
}

impl BigScaler {
    /// Makes the oracle's scaler for a ring of big integers.
    pub(super) fn new(ring: &Ring, t: u64, options: &ScalerOptions) -> Result<Self, RingError> {
        check_plaintext_modulus(t, 60)?;
        let q = ring.modulus();
        if *q <= BigUint::from(2 * t) {
            return Err(RingError::out_of_range("modulus", format_args!("above 2t = {}", 2 * t), q));
        }
        let multiplication = options.multiplication;
        let switching = SwitchingBounds { error: 0.5, variance: 1.0 / 12.0, left_weight: 1.0 };
        let bounds = ScalingBounds {
            overflow: 0.0,
            scale_error: 0.0,
            decryption_margin: 0.5,
            switching: multiplication.switches_operands().then_some(switching),
        };
        Ok(Self { ring: ring.clone(), t, multiplication, bounds })
    }

    /// Returns the auxiliary modulus P of a level.
    fn auxiliary(&self, base: &Ring) -> BigUint {
        base.modulus() + 1_u32
    }

    /// Returns the ring modulo q′, the modulus of the products.
    fn base(&self, level: usize) -> Result<Ring, RingError> {
        if self.levels().contains(&level) {
            return self.ring.at_level(level);
        }
        let expected = format_args!("one of {:?}", self.levels());
        Err(RingError::out_of_range("level of a product", expected, level))
    }

    /// Returns the scaled integer ⌊t·x/q⌉ of BFV's rounding.
    fn scaled(&self, x: &BigInt, q: &BigUint) -> BigInt {
        divide(&(x * self.t), q)
    }
}

fn signed(x: &BigUint) -> BigInt {
    BigInt::from_biguint(Sign::Plus, x.clone())
}

/// Returns the rounded quotient ⌊x/q⌉ of integers, a half rounding up.
fn divide(x: &BigInt, q: &BigUint) -> BigInt {
    (x * 2_u32 + signed(q)).div_floor(&signed(&(q * 2_u32)))
}

impl ScalerBackend for BigScaler {
    fn levels(&self) -> RangeInclusive<usize> {
        let top = self.ring.level();
        let below = |&level: &usize| {
            self.ring.at_level(level).is_ok_and(|base| *base.modulus() <= BigUint::from(2 * self.t))
        };
        match self.multiplication {
            Multiplication::HpsOverQLeveled => (1..top).take_while(below).count() + 1..=top,
            _ => top..=top,
        }
    }

    fn wide(&self, level: usize) -> Result<Ring, RingError> {
        let base = self.base(level)?;
        if self.multiplication.switches_operands() {
            return BigRing::new(base.ring_index(), &(base.modulus() * self.auxiliary(&base)));
        }
        // Two products of lifts below q/2 add up to δ·q²/2 at most, in either direction.
        let bits = 2 * base.modulus().bits() + base.expansion().factor().log2().ceil() as u64 + LOG2_SUMS;
        BigRing::new(base.ring_index(), &(BigUint::one() << bits))
    }

    fn extend(&self, a: &Poly<Evaluation>, side: Side, level: usize) -> Result<Poly<Evaluation>, RingError> {
        let (base, wide) = (self.base(level)?, self.wide(level)?);
        let mut coefficients = self.ring.to_integers(&a.clone().relabel())?;
        if self.multiplication.switches_operands() {
            let target = match side {
                Side::Left => self.auxiliary(&base),
                Side::Right => base.modulus().clone(),
            };
            let target_ring = BigRing::new(base.ring_index(), &target)?;
            let switched = |x: &BigInt| divide(&(x * signed(&target)), self.ring.modulus());
            let switched: Vec<BigInt> = coefficients.iter().map(switched).collect();
            // Centred again: q/2 may round up.
            coefficients = target_ring.to_integers(&target_ring.from_integers(&switched)?)?;
        }
        wide.to_evaluation(wide.from_integers(&coefficients)?)
    }

    fn scale(&self, a: Poly<Evaluation>, level: usize) -> Result<Poly<Coefficient>, RingError> {
        let base = self.base(level)?;
        let divisor = match self.multiplication.switches_operands() {
            true => self.auxiliary(&base),
            false => base.modulus().clone(),
        };
        let coefficients = self.wide(level)?.to_integers(&a.relabel())?;
        base.from_integers(&coefficients.iter().map(|x| self.scaled(x, &divisor)).collect::<Vec<_>>())
    }

    fn decrypt(&self, a: &Poly<Coefficient>) -> Result<Vec<u64>, RingError> {
        let t = BigInt::from(self.t);
        let message = |x: &BigInt| self.scaled(x, self.ring.modulus()).mod_floor(&t).to_u64().unwrap_or(0);
        Ok(self.ring.to_integers(a)?.iter().map(message).collect())
    }

    fn product_capacity(&self) -> u64 {
        if self.multiplication.switches_operands() { u64::MAX } else { 1 << LOG2_SUMS }
    }

    fn bounds(&self) -> &ScalingBounds {
        &self.bounds
    }
}
