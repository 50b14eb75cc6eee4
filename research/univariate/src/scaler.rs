//! Scaler: the scale-invariant part of BFV, on the stored coefficients of a ring with reductions modulo Φ_m.

use std::fmt;
use std::ops::RangeInclusive;

use num_bigint::BigUint;
use num_traits::ToPrimitive;
use sunzi_kernels::Modulus;
use sunzi_math::{DEFAULT_PRIME_BOUND, mod_inv, mul_mod, primes_below};

use sunzi_ring::storage::{Decryptor, ExactExtension, RoundedDivision, Scratch, block_of, check_scalable};
use sunzi_ring::{
    Auxiliary, Backend, Coefficient, Evaluation, ModulusSwitching, Multiplication, Parallelism, Poly,
    Representation, Ring, RingError, ScalerBackend, ScalerOptions, ScalingBounds, Side,
};
use zeroize::Zeroizing;

use crate::UnivariateRing;
use crate::form::ReducedForm;
use crate::switching::scaled;

/// Scaler of BFV by exact lifts, scaling and conversion back `[HPS19; KPZ21, Alg. 1]`, whatever
/// multiplication the options name: variants differ in what conversions round, not in what is reduced.
///
/// Operands of the scaler with [`Reduction::Montgomery`](crate::Reduction::Montgomery) are lifted and rounded
/// times M: bounds grow by ‖M^-1‖ `[BEHMSZ17, Prop. 1]`.
pub(crate) struct UnivariateScaler {
    ring: UnivariateRing,
    t: u64,
    auxiliary: UnivariateRing,
    wide: UnivariateRing,
    decryption: Decryptor,
    bounds: ScalingBounds,
    extension: ExactExtension,
    /// Factors of the scaler: t·(q/q_i)^-1 over q, t·q^-1·(P/p_j)^-1 over P.
    factors: Vec<u64>,
    division: RoundedDivision,
    switch: ExactExtension,
    capacity: u64,
}

impl UnivariateScaler {
    pub(crate) fn new(ring: &UnivariateRing, t: u64, options: &ScalerOptions) -> Result<Self, RingError> {
        let q = ring.basis();
        check_scalable(q, t)?;
        let decryption = Decryptor::new(q, t, options.decryption)?;
        let (primes, capacity) = auxiliary_primes(ring, t, options.auxiliary)?;
        let auxiliary = ring.with_moduli(&primes)?;
        let p = auxiliary.basis();
        let targets: Vec<(Modulus, u64)> =
            p.moduli().iter().copied().zip(p.quotient_inverses().iter().copied()).collect();
        let digits = q.values().iter().zip(q.quotient_inverses());
        let mut factors: Vec<u64> = digits.map(|(&m, &inverse)| mul_mod(t % m, inverse, m)).collect();
        for &(modulus, inverse) in &targets {
            let m = modulus.value();
            factors.push(mul_mod(mul_mod(mod_inv(q.product_mod(m), m)?, t % m, m), inverse, m));
        }
        let exact = ScalerOptions { multiplication: Multiplication::Hps, ..*options };
        let mut bounds = ScalingBounds::of(&exact, q.len(), &decryption);
        let growth = ring.error_growth();
        bounds.overflow = growth * (1.0 + bounds.overflow) - 1.0;
        bounds.scale_error = growth * (0.5 + bounds.scale_error) - 0.5;
        Ok(Self {
            wide: ring.concat(&auxiliary)?,
            extension: ExactExtension::new(q, p.moduli())?,
            division: RoundedDivision::new(q, &targets, ModulusSwitching::Exact)?,
            switch: ExactExtension::new(p, q.moduli())?,
            ring: ring.clone(),
            t,
            auxiliary,
            decryption,
            bounds,
            factors,
            capacity,
        })
    }

    fn check_level(&self, level: usize) -> Result<(), RingError> {
        let top = self.ring.level();
        if level == top { Ok(()) } else { Err(RingError::out_of_range("level of a product", top, level)) }
    }
}

/// Returns the primes of P, and the number of products that may be summed: P > s·δtq·(1 + 2^-20) for s of
/// them, with δ that of products of stored polynomials.
fn auxiliary_primes(
    ring: &UnivariateRing,
    t: u64,
    auxiliary: Auxiliary,
) -> Result<(Vec<u64>, u64), RingError> {
    let (bound, least) = match auxiliary {
        Auxiliary::Standard => (DEFAULT_PRIME_BOUND, 256),
        Auxiliary::LikeModulus => {
            (1 << ring.basis().moduli().iter().map(Modulus::bits).max().unwrap_or(0), 1)
        }
    };
    let growth = (ring.expansion_factor() * ring.error_growth()).ceil().to_u64().unwrap_or(u64::MAX);
    let product = ring.modulus() * t * growth;
    let product = &product + (&product >> 20_u32) + 4_u32;
    let spare = ring.level();
    let order = ring.geometry().length as u64;
    let unusable = |p: &u64| ring.basis().values().contains(p) || t.is_multiple_of(*p);
    for size in 1.. {
        let mut primes = primes_below(bound, order, size + spare + 1)?;
        primes.retain(|p| !unusable(p));
        primes.truncate(size);
        let room: BigUint = primes.iter().product();
        let products = ((&room - (&room >> 20_u32)) / &product).to_u64().unwrap_or(u64::MAX);
        if products >= least {
            return Ok((primes, products));
        }
    }
    Err(RingError::out_of_range("modulus", "one that auxiliary primes can cover", ring.modulus()))
}

impl ScalerBackend for UnivariateScaler {
    fn levels(&self) -> RangeInclusive<usize> {
        let top = self.ring.level();
        top..=top
    }

    fn wide(&self, level: usize) -> Result<Ring, RingError> {
        self.check_level(level)?;
        Ok(Ring::of(self.wide.clone()))
    }

    fn extend(&self, a: &Poly<Evaluation>, _: Side, level: usize) -> Result<Poly<Evaluation>, RingError> {
        self.check_level(level)?;
        let Self { ring, auxiliary, wide, extension, .. } = self;
        let n = ring.degree();
        let coefficients = ring.raw_coefficients(a)?;
        let digits = scaled(ring, &coefficients, ring.basis().quotient_inverses())?;
        let mut lifted = auxiliary.arbitrary::<Coefficient>();
        Parallelism::default().for_each_block(lifted.words_mut(), n, |range, output| {
            extension.apply(&block_of(digits.chunks_exact(n), &range), output)
        })?;
        let reduced = if ReducedForm::of(a) == ReducedForm::Reduced {
            None
        } else {
            Some(ring.raw_values(&coefficients)?)
        };
        let (low, high) = (reduced.as_ref().unwrap_or(a), auxiliary.raw_values(&lifted)?);
        let mut extended = wide.arbitrary::<Evaluation>();
        let (first, second) =
            extended.words_mut().split_at_mut_checked(low.words().len()).unwrap_or_default();
        first.copy_from_slice(low.words());
        second.copy_from_slice(high.words());
        Ok(extended)
    }

    fn scale(&self, a: Poly<Evaluation>, level: usize) -> Result<Poly<Coefficient>, RingError> {
        self.check_level(level)?;
        let Self { ring, auxiliary, wide, factors, division, switch, .. } = self;
        let n = ring.degree();
        let digits = scaled(wide, &wide.raw_coefficients(&a)?, factors)?;
        let (low, high) = digits.split_at(ring.level() * n);
        let targets = auxiliary.basis().moduli();
        let mut result = ring.arbitrary::<Coefficient>();
        Parallelism::default().for_each_block(result.words_mut(), n, |range, output| {
            let mut quotients = Scratch::new(targets.len() * range.len());
            let mut rows: Vec<&mut [u64]> = quotients.chunks_exact_mut(range.len()).collect();
            division.apply(&block_of(low.chunks_exact(n), &range), &mut rows)?;
            for ((row, modulus), high) in rows.iter_mut().zip(targets).zip(high.chunks_exact(n)) {
                modulus.add_assign(row, high.get(range.clone()).unwrap_or_default())?;
            }
            let rows: Vec<&[u64]> = rows.into_iter().map(|row| &*row).collect();
            switch.apply(&rows, output)
        })?;
        Ok(result)
    }

    fn decrypt(&self, a: &Poly<Coefficient>) -> Result<Vec<u64>, RingError> {
        let ring = &self.ring;
        ring.check_as(a, Representation::Coefficients)?;
        // M is removed here.
        let plain = Zeroizing::new(ring.with_factor(a.clone(), false)?);
        self.decryption.apply(plain.words(), ring.degree())
    }

    fn product_capacity(&self) -> u64 {
        self.capacity
    }

    fn bounds(&self) -> &ScalingBounds {
        &self.bounds
    }
}

impl fmt::Debug for UnivariateScaler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnivariateScaler").field("ring", &self.ring).field("t", &self.t).finish()
    }
}
