//! Transforms modulo word-size primes, shared by everything of one degree.

use std::sync::{Arc, Mutex, PoisonError};

use sunzi_kernels::{Modulus, NttPlan};
use sunzi_math::{DEFAULT_PRIME_BOUND, MathError, mul_mod, primes_below};
use sunzi_ring::RingError;

use crate::modulus::MOST_BITS;

/// Plans of transforms: the largest primes of default size that divide no 2^g − 1, with their transforms,
/// made at first use.
pub(crate) struct Plans {
    degree: usize,
    plans: Mutex<Vec<Arc<NttPlan>>>,
}

impl std::fmt::Debug for Plans {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Plans").field("degree", &self.degree).finish_non_exhaustive()
    }
}

impl Plans {
    pub(crate) fn new(degree: usize) -> Self {
        Self { degree, plans: Mutex::default() }
    }

    pub(crate) fn degree(&self) -> usize {
        self.degree
    }

    /// Returns the first `count` plans of transforms whose primes do not divide `t`.
    pub(crate) fn coprime_to(&self, t: u64, count: usize) -> Result<Vec<Arc<NttPlan>>, RingError> {
        // t < 2^62 has at most one of these primes as a factor.
        let all = self.first(count + 1)?;
        Ok(all.into_iter().filter(|plan| !t.is_multiple_of(plan.modulus().value())).take(count).collect())
    }

    /// Returns the first `count` plans of transforms.
    pub(crate) fn first(&self, count: usize) -> Result<Vec<Arc<NttPlan>>, RingError> {
        let mut plans = self.plans.lock().unwrap_or_else(PoisonError::into_inner);
        if plans.len() < count {
            let primes = self.primes(count)?;
            for &prime in primes.iter().skip(plans.len()) {
                plans.push(Arc::new(NttPlan::new(Modulus::new(prime)?, self.degree)?));
            }
        }
        Ok(plans.iter().take(count).cloned().collect())
    }

    fn primes(&self, count: usize) -> Result<Vec<u64>, RingError> {
        let step = 2 * self.degree as u64;
        // The prime factors of 2^16384 − 1 of this size that are known are few; look again where one is met.
        for spare in [0, 4, 16] {
            let primes = primes_below(DEFAULT_PRIME_BOUND, step, count + spare)?;
            let primes: Vec<u64> = primes.into_iter().filter(|&p| !divides(p)).take(count).collect();
            if primes.len() == count {
                return Ok(primes);
            }
        }
        Err(MathError::NotEnoughPrimes { bound: DEFAULT_PRIME_BOUND, step, requested: count, found: 0 }
            .into())
    }
}

/// Whether a prime p divides 2^16384 − 1, and with it perhaps a smaller modulus.
fn divides(p: u64) -> bool {
    (0..MOST_BITS.ilog2()).fold(2 % p, |power, _| mul_mod(power, power, p)) == 1
}
