//! Choice of plaintext moduli for the numbers of a computation.

use std::fmt;

use num_bigint::BigUint;
use num_traits::ToPrimitive;
use serde::{Deserialize, Serialize};
use sunzi_math::{is_prime, multiplicative_order};

use crate::{EncodingError, PLAIN_MODULUS_LIMIT, check_plain_modulus};

/// Number of splittings of one range that are tried at each ring degree.
const MAX_SPLITTINGS: usize = 9;
/// Largest width of integers that a request may ask for, in bits.
const MAX_RANGE_BITS: u64 = 1000;

/// A request for plaintext moduli, by the numbers of a computation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlainRequest {
    /// Requests one plaintext modulus of at least this many bits.
    Bits(u32),
    /// Requests exactly the plaintext modulus given.
    Modulus(u64),
    /// Requests moduli for integers of at most this absolute value.
    Range(#[serde(with = "decimal")] BigUint),
}

/// Reason why no plaintext modulus meets a request in a ring.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PlainRefusal {
    /// No suitable plaintext modulus exists below 2^60.
    #[error("no plaintext modulus of that size is a prime ≡ 1 (mod {step}) below 2^60")]
    NoPlainModulus {
        /// Number modulo which a plaintext modulus would have to be 1.
        step: u64,
    },
    /// The requested plaintext modulus does not split into slots at this degree.
    #[error("batching needs t ≡ 1 (mod {step}), which {plain_modulus} is not")]
    NotBatchable {
        /// Plaintext modulus requested.
        plain_modulus: u64,
        /// Number modulo which the plaintext modulus would have to be 1.
        step: u64,
    },
    /// The requested plaintext modulus is no power of one prime.
    #[error("slots need a power of one prime as plaintext modulus, which {plain_modulus} is not")]
    NotPrimePower {
        /// Plaintext modulus requested.
        plain_modulus: u64,
    },
    /// The prime of the requested plaintext modulus divides the ring index: Φ_m is no product of different factors modulo it.
    #[error(
        "slots need a ring index that {prime} does not divide: instead of {index} take {instead}, or leave slots out"
    )]
    DividesIndex {
        /// Prime of the plaintext modulus.
        prime: u64,
        /// Ring index m.
        index: u64,
        /// Next larger index that the prime does not divide.
        instead: u64,
    },
}

impl PlainRequest {
    /// Checks the request as far as is possible before a ring is known.
    ///
    /// # Errors
    /// [`EncodingError::Request`]; [`EncodingError::PlainModulusOutOfRange`].
    pub fn check(&self, batching: bool) -> Result<(), EncodingError> {
        let refuse = |what, got: &dyn ToString, expected| {
            Err(EncodingError::Request { what, got: got.to_string(), expected })
        };
        match self {
            Self::Bits(bits) if !(1..=60).contains(bits) => {
                refuse("plain_bits", bits, "it must be 1 to 60; join several moduli for wider integers")
            }
            Self::Modulus(t) => {
                check_plain_modulus(*t)?;
                if batching && !is_prime(*t) {
                    let expected = "batching needs a prime; choose one or switch batching off";
                    return refuse("plain_modulus", t, expected);
                }
                Ok(())
            }
            Self::Range(magnitude) if magnitude.bits() == 0 || magnitude.bits() > MAX_RANGE_BITS => {
                refuse("plain_range", magnitude, "it must be at least 1 and below 2^1000")
            }
            _ => Ok(()),
        }
    }

    /// Returns [`modulus_for`](Self::modulus_for) the ring of degree 2^`log2_degree`.
    ///
    /// # Errors
    /// Every [`PlainRefusal`], by the request and the ring.
    pub fn modulus(&self, log2_degree: u32, batching: bool) -> Result<u64, PlainRefusal> {
        self.modulus_for(index(log2_degree), batching)
    }

    /// Returns the smallest plaintext modulus that meets the request in a ring of index m = `index`: for batching t ≡ 1 (mod m), so that there are n
    /// slots of numbers, unless t is given and m is no power of two: then t = p^r for a prime p that does not divide m.
    ///
    /// # Errors
    /// Every [`PlainRefusal`], by the request and the ring.
    pub fn modulus_for(&self, index: u64, batching: bool) -> Result<u64, PlainRefusal> {
        let step = if batching { index } else { 1 };
        let least = match self {
            Self::Modulus(t) if batching && !index.is_power_of_two() => {
                return slot_order(*t, index).map(|_| *t);
            }
            Self::Modulus(t) if t % step == 1 % step => return Ok(*t),
            Self::Modulus(t) => return Err(PlainRefusal::NotBatchable { plain_modulus: *t, step }),
            Self::Bits(bits) => Some(1_u64 << bits.saturating_sub(1).min(60)),
            Self::Range(magnitude) => range(magnitude).to_u64(),
        };
        let least = least.filter(|&least| least < PLAIN_MODULUS_LIMIT);
        let modulus = match (least, step) {
            (Some(least), 1) => Some(least.max(2)),
            (Some(least), _) => primes_from(least, step, 1).and_then(|primes| primes.first().copied()),
            (None, _) => None,
        };
        modulus.ok_or(PlainRefusal::NoPlainModulus { step })
    }

    /// Returns [`moduli_for`](Self::moduli_for) the ring of degree 2^`log2_degree`.
    ///
    /// # Errors
    /// Every [`PlainRefusal`], by the request and the ring.
    pub fn moduli(&self, log2_degree: u32, batching: bool) -> Result<Vec<Vec<u64>>, PlainRefusal> {
        self.moduli_for(index(log2_degree), batching)
    }

    /// Returns how many numbers, or elements of a Galois ring, a plaintext of the ring of index m = `index` and degree n holds.
    #[must_use]
    pub fn slots(&self, index: u64, degree: usize, batching: bool) -> usize {
        match self {
            Self::Modulus(t) if batching && !index.is_power_of_two() => {
                slot_order(*t, index).map_or(degree, |order| degree / order.max(1) as usize)
            }
            _ => degree,
        }
    }

    /// Returns every set of plaintext moduli worth trying in a ring of index m = `index`: several for a range, one for all other requests.
    ///
    /// # Errors
    /// Every [`PlainRefusal`], by the request and the ring.
    pub fn moduli_for(&self, index: u64, batching: bool) -> Result<Vec<Vec<u64>>, PlainRefusal> {
        let Self::Range(magnitude) = self else {
            return Ok(vec![vec![self.modulus_for(index, batching)?]]);
        };
        let step = if batching { index } else { 1 };
        let options = splittings(&range(magnitude), step);
        if options.is_empty() { Err(PlainRefusal::NoPlainModulus { step }) } else { Ok(options) }
    }
}

impl fmt::Display for PlainRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bits(bits) => write!(f, "plaintext modulus of at least {bits} bits"),
            Self::Modulus(t) => write!(f, "plaintext modulus {t}"),
            Self::Range(magnitude) => write!(f, "integers up to ±{magnitude}"),
        }
    }
}

/// Returns the ring index m = 2n for log2 n, or 2^63, modulo which no t is 1, if it exceeds a word.
fn index(log2_degree: u32) -> u64 {
    2_u64.checked_shl(log2_degree).filter(|&index| index > 1).unwrap_or(1 << 63)
}

/// Returns d, the order of p modulo m = `index` for t = p^r: the dimension of slots.
fn slot_order(t: u64, index: u64) -> Result<u64, PlainRefusal> {
    let prime = prime_of(t).ok_or(PlainRefusal::NotPrimePower { plain_modulus: t })?;
    multiplicative_order(prime, index).map_err(|_| {
        let fits = |m: &u64| m % 4 != 2 && !m.is_multiple_of(prime);
        let instead = (index.saturating_add(1)..).find(fits).unwrap_or(index);
        PlainRefusal::DividesIndex { prime, index, instead }
    })
}

/// Returns the prime p of a plaintext modulus t = p^r.
pub(crate) fn prime_of(t: u64) -> Option<u64> {
    let exponents = (1..=t.checked_ilog2()?).rev();
    let base = |r: u32| {
        let near = (t as f64).powf(1.0 / f64::from(r)).round() as u64;
        (near.saturating_sub(1)..=near.saturating_add(1)).find(|p| p.checked_pow(r) == Some(t))
    };
    exponents.filter_map(base).next().filter(|&p| is_prime(p))
}

/// Returns the number of integers up to ±`magnitude`.
fn range(magnitude: &BigUint) -> BigUint {
    magnitude * 2_u32 + 1_u32
}

/// Returns sets of 1, 2, … moduli whose product is at least `range`, moduli of a set being of about equal size.
fn splittings(range: &BigUint, step: u64) -> Vec<Vec<u64>> {
    let most = u32::try_from(range.bits()).unwrap_or(u32::MAX);
    let mut options = Vec::new();
    for count in 1..=most {
        let least = root_up(range, count).to_u64().filter(|&least| least < PLAIN_MODULUS_LIMIT);
        let Some(least) = least else { continue };
        // Primes ≡ 1 (mod step) are sparse near the step: more of them would only be slower.
        if count > 1 && least < 2 * step.max(256) {
            break;
        }
        let option = match (count, step) {
            (1, 1) => Some(vec![least.max(2)]),
            _ => primes_from(least, step, count as usize),
        };
        options.extend(option);
        if options.len() == MAX_SPLITTINGS {
            break;
        }
    }
    options
}

/// Returns the least root r with r^count ≥ value.
fn root_up(value: &BigUint, count: u32) -> BigUint {
    let root = value.nth_root(count);
    if root.pow(count) < *value { root + 1_u32 } else { root }
}

/// Returns the `count` smallest plaintext moduli p ≡ 1 (mod `step`) from `least` on.
fn primes_from(least: u64, step: u64, count: usize) -> Option<Vec<u64>> {
    sunzi_math::primes_from(least, step, count, PLAIN_MODULUS_LIMIT, &[])
}

/// Serialisation of big integers as decimal text.
mod decimal {
    use super::BigUint;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(value: &BigUint, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(value)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BigUint, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn primes_are_the_smallest_that_fit() {
        assert_eq!(primes_from(1 << 16, 1 << 14, 1), Some(vec![65537]));
        assert_eq!(primes_from(65538, 1 << 14, 1), Some(vec![114_689]));
        assert_eq!(primes_from(1, 8, 4), Some(vec![17, 41, 73, 89]));
        assert_eq!(primes_from(2, 1, 4), Some(vec![2, 3, 5, 7]));
        assert_eq!(primes_from(PLAIN_MODULUS_LIMIT - 10, 1 << 17, 1), None);
    }

    #[test]
    fn roots_are_rounded_up() {
        for (value, count, root) in [(8_u32, 3, 2_u32), (9, 3, 3), (1, 5, 1), (17, 1, 17), (65537, 2, 257)] {
            assert_eq!(root_up(&value.into(), count), root.into(), "{value} {count}");
        }
    }

    #[test]
    fn splittings_cover_the_range_with_distinct_batching_primes() {
        for bits in [20_u32, 59, 60, 61, 120, 121, 300] {
            let range = (BigUint::from(1_u32) << bits) + 1_u32;
            let options = splittings(&range, 1 << 13);
            assert!(!options.is_empty());
            assert!(
                options.iter().any(|option| option.len() == (bits as usize + 1).div_ceil(60)) || bits >= 59
            );
            for option in &options {
                assert!(option.iter().product::<BigUint>() >= range);
                assert!(option.windows(2).all(|pair| pair[0] < pair[1]));
                assert!(
                    option
                        .iter()
                        .all(|&p| sunzi_math::is_prime(p) && p % (1 << 13) == 1 && p < PLAIN_MODULUS_LIMIT)
                );
            }
            let one = PlainRequest::Range(range >> 1_u32).modulus(12, true);
            assert_eq!(one.is_err(), bits >= 60, "{bits}");
            assert!(one.is_err() || options[0] == [one.unwrap()], "{bits}");
        }
        let request = PlainRequest::Range(BigUint::from(500_u32));
        assert_eq!(request.modulus(12, false), Ok(1001));
        assert_eq!(request.moduli(12, false).unwrap()[0], [1001]);
    }

    #[test]
    fn the_smallest_modulus_is_taken_at_any_degree() {
        for (bits, batching, t) in [(17, true, 65537), (17, false, 65536), (1, false, 2), (1, true, 40961)] {
            let request = PlainRequest::Bits(bits);
            request.check(batching).unwrap();
            assert_eq!(request.modulus(12, batching), Ok(t), "{bits}");
            assert_eq!(request.moduli(12, batching), Ok(vec![vec![t]]), "{bits}");
        }
        for log2_degree in [0, 6, 17, 62, 63, 64, u32::MAX] {
            for request in [PlainRequest::Bits(60), PlainRequest::Bits(u32::MAX), PlainRequest::Modulus(0)] {
                let _ = (request.modulus(log2_degree, true), request.moduli(log2_degree, false));
            }
        }
        let refused = PlainRefusal::NotBatchable { plain_modulus: 257, step: 8192 };
        assert_eq!(PlainRequest::Modulus(257).modulus(12, true), Err(refused));
        assert_eq!(PlainRequest::Modulus(257).modulus(12, false), Ok(257));
    }

    #[test]
    fn general_rings_take_powers_of_primes_that_do_not_divide_the_index() {
        for (t, index, slots) in
            [(2, 21_845, 1024), (16, 21_845, 1024), (49, 15, 2), (127, 4369, 4096 / 16), (31, 15, 8)]
        {
            let request = PlainRequest::Modulus(t);
            assert_eq!(request.modulus_for(index, true), Ok(t));
            let degree = sunzi_math::euler_phi(index) as usize;
            let order = multiplicative_order(prime_of(t).unwrap(), index).unwrap() as usize;
            assert_eq!(request.slots(index, degree, true), degree / order);
            if t != 127 {
                assert_eq!(degree / order, slots, "{t} at {index}");
            }
            assert_eq!(request.slots(index, degree, false), degree);
        }
        let request = PlainRequest::Modulus(25);
        let refused = PlainRefusal::DividesIndex { prime: 5, index: 21_845, instead: 21_847 };
        assert_eq!(request.modulus_for(21_845, true), Err(refused));
        assert_eq!(request.modulus_for(21_845, false), Ok(25));
        for t in [6, 12, 2 * 3 * 5, (1 << 59) + 2] {
            let refused = Err(PlainRefusal::NotPrimePower { plain_modulus: t });
            assert_eq!(PlainRequest::Modulus(t).modulus_for(21_845, true), refused);
        }
        let full = PlainRequest::Bits(20).modulus_for(4369, true).unwrap();
        assert!(sunzi_math::is_prime(full) && full % 4369 == 1 && full >= 1 << 19);
    }

    #[test]
    fn powers_of_primes_are_recognised() {
        for p in [2_u64, 3, 7, 17, 127, 65_537, 4_294_967_291] {
            for r in 1.. {
                let Some(t) = p.checked_pow(r).filter(|&t| t < PLAIN_MODULUS_LIMIT) else { break };
                assert_eq!(prime_of(t), Some(p), "{p}^{r}");
                assert_eq!(
                    prime_of(t + 1).filter(|_| p > 2 && !is_prime(t + 1) && r > 1),
                    None,
                    "{p}^{r} + 1"
                );
            }
        }
        assert_eq!((prime_of(0), prime_of(1), prime_of(u64::MAX)), (None, None, None));
    }

    #[test]
    fn requests_out_of_range_are_named() {
        let wide = PlainRequest::Range(BigUint::from(1_u32) << 1000);
        let zero = PlainRequest::Range(BigUint::ZERO);
        for (request, name) in [
            (PlainRequest::Bits(0), "plain_bits: 0"),
            (PlainRequest::Bits(61), "plain_bits: 61"),
            (PlainRequest::Modulus(1), "plaintext modulus 1"),
            (PlainRequest::Modulus(65536), "plain_modulus: 65536"),
            (zero, "plain_range: 0"),
            (wide, "plain_range"),
        ] {
            let error = request.check(true).unwrap_err().to_string();
            assert!(error.starts_with(name), "{error}");
        }
        assert!(PlainRequest::Modulus(65536).check(false).is_ok());
    }
}
