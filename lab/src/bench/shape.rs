//! The split of the modulus that security allows between ciphertexts and key switching.

use std::fmt;

use sunzi_bfv::{Algorithms, Parameters};
use sunzi_math::{DEFAULT_PRIME_BOUND, primes_below};
use sunzi_ring::{GadgetOptions, Multiplication, ScalerOptions};
use sunzi_rlwe::Security;
use sunzi_rlwe::security::max_log2_modulus;

use crate::Result;

/// A method of key switching, by how it cuts its input into digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    /// BV key switching: a digit for every limb, no special moduli.
    Bv,
    /// GHS key switching: one digit, and special moduli of its size.
    Ghs,
    /// Hybrid key switching: some digits, and special moduli of the size of one.
    Hybrid,
}

/// A split of the default primes at 128-bit security into ciphertext moduli and special moduli.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) log_n: u32,
    pub(crate) limbs: usize,
    /// Number of special moduli α, which is also the number of limbs of a digit.
    pub(crate) special: usize,
}

impl Shape {
    /// One split of the moduli for every number of digits: the one with the most ciphertext limbs.
    pub(crate) fn all(log_n: u32) -> Vec<Self> {
        let total = default_primes(log_n);
        let split = |special| Self { log_n, limbs: total - special, special };
        let mut all: Vec<Self> = Vec::new();
        for shape in (0..=total / 2).map(split) {
            if all.iter().all(|other| other.special == 0 || other.digits() != shape.digits()) {
                all.push(shape);
            }
        }
        if total % 2 == 1 {
            all.push(Self { log_n, limbs: total / 2, special: total / 2 });
        }
        all
    }

    pub(crate) fn degree(&self) -> usize {
        1 << self.log_n
    }

    pub(crate) fn digits(&self) -> usize {
        self.limbs.div_ceil(self.special.max(1))
    }

    pub(crate) fn method(&self) -> Method {
        match (self.special, self.digits()) {
            (0, _) => Method::Bv,
            (_, 1) => Method::Ghs,
            _ => Method::Hybrid,
        }
    }

    pub(crate) fn parameters(&self, t: u64) -> Result<Parameters> {
        // The largest are the special ones: P is at least as large as every digit.
        let mut special = primes_below(DEFAULT_PRIME_BOUND, 2 << self.log_n, self.limbs + self.special)?;
        let moduli = special.split_off(self.special);
        Ok(parameters(self.log_n, moduli, special, t))
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { limbs, special, .. } = self;
        match self.method() {
            Method::Bv => write!(f, "BV, {limbs} digits"),
            Method::Ghs => write!(f, "GHS, {limbs} + {special} limbs"),
            Method::Hybrid => write!(f, "hybrid, {} digits, {limbs} + {special} limbs", self.digits()),
        }
    }
}

/// Parameters of given ciphertext moduli and special ones, with digits as large as the special moduli allow
/// and the fastest multiplication.
pub(crate) fn parameters(log_n: u32, moduli: Vec<u64>, special_moduli: Vec<u64>, t: u64) -> Parameters {
    let key_switching = key_switching(moduli.len(), special_moduli);
    let scaling =
        ScalerOptions { multiplication: Multiplication::HpsOverQLeveled, ..ScalerOptions::default() };
    let algorithms = Algorithms { key_switching, scaling, ..Algorithms::default() };
    Parameters::new(log_n, moduli, t, Security::Bits128).with_algorithms(algorithms)
}

/// Options of key switching with digits of as many limbs as there are special moduli.
pub(crate) fn key_switching(limbs: usize, special_moduli: Vec<u64>) -> GadgetOptions {
    let digits = (!special_moduli.is_empty()).then(|| limbs.div_ceil(special_moduli.len()));
    GadgetOptions { digits, special_moduli, ..GadgetOptions::default() }
}

/// Number of default primes that 128-bit security allows at this degree.
pub(crate) fn default_primes(log_n: u32) -> usize {
    let limit = f64::from(max_log2_modulus(log_n, Security::Bits128).unwrap_or_default());
    (limit / (DEFAULT_PRIME_BOUND as f64).log2()).floor().max(1.0) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_of_digits_has_one_shape() {
        let text = |log_n| Shape::all(log_n).iter().map(Shape::to_string).collect::<Vec<_>>();
        assert_eq!(text(14).len(), 5);
        let all = text(15);
        assert_eq!(all.first().unwrap(), "BV, 18 digits");
        assert!(all.contains(&"hybrid, 4 digits, 14 + 4 limbs".to_owned()), "{all:?}");
        assert_eq!(all.last().unwrap(), "GHS, 9 + 9 limbs");
    }
}
