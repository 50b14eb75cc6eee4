//! Candidates for the plaintext moduli.

use num_bigint::BigUint;
use num_traits::ToPrimitive;

use super::{PlainRequest, Request};
use crate::explain::Refusal;
use sunzi_encoding::PLAIN_MODULUS_LIMIT;

/// Splittings of one range that are tried at each ring degree.
const MAX_SPLITTINGS: usize = 9;

/// Every set of plaintext moduli to try at this ring degree; one modulus only if `single`.
pub(super) fn options(log2_degree: u32, request: &Request, single: bool) -> Result<Vec<Vec<u64>>, Refusal> {
    // Batching needs t ≡ 1 (mod 2n).
    let step = if request.batching { 2 << log2_degree } else { 1 };
    match &request.plain {
        PlainRequest::Bits(bits) => {
            let least = 1_u64 << bits.saturating_sub(1).min(60);
            if request.batching {
                Ok(vec![primes_from(least, step, 1).ok_or(Refusal::NoPlainModulus { step })?])
            } else {
                Ok(vec![vec![least.max(2)]])
            }
        }
        PlainRequest::Modulus(t) if t % step == 1 % step => Ok(vec![vec![*t]]),
        PlainRequest::Modulus(t) => Err(Refusal::NotBatchable { plain_modulus: *t, step }),
        PlainRequest::Range(magnitude) => {
            let options = splittings(&(magnitude * 2_u32 + 1_u32), step, single);
            if options.is_empty() { Err(Refusal::NoPlainModulus { step }) } else { Ok(options) }
        }
    }
}

/// Sets of 1, 2, … moduli whose product is at least `range`, each about as large as the others.
fn splittings(range: &BigUint, step: u64, single: bool) -> Vec<Vec<u64>> {
    let most = if single { 1 } else { u32::try_from(range.bits()).unwrap_or(u32::MAX) };
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

/// The least r with r^count ≥ value.
fn root_up(value: &BigUint, count: u32) -> BigUint {
    let root = value.nth_root(count);
    if root.pow(count) < *value { root + 1_u32 } else { root }
}

/// The `count` smallest plaintext moduli p ≡ 1 (mod `step`) from `least` on.
fn primes_from(least: u64, step: u64, count: usize) -> Option<Vec<u64>> {
    sunzi_math::primes_from(least, step, count, PLAIN_MODULUS_LIMIT, &[])
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
            let options = splittings(&range, 1 << 13, false);
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
            assert_eq!(splittings(&range, 1 << 13, true).is_empty(), bits >= 60);
        }
        assert_eq!(splittings(&BigUint::from(1001_u32), 1, true), [vec![1001]]);
    }
}
