//! The parameters that a set intersection is made for.

use sunzi_bgv::{Budget, Operations, Parameters};
use sunzi_math::{DEFAULT_PRIME_BOUND, primes_below};
use sunzi_ring::GadgetOptions;
use sunzi_rlwe::Security;

use super::IntersectionError;
use super::powers::{SOURCES, reach};

/// log2 of the ring degree.
const LOG2_DEGREE: u32 = 13;
/// Plaintext modulus, a prime that is 1 modulo 2^14: 23 bits of a sealed label a slot.
const PLAIN_MODULUS: u64 = (1 << 23) + (1 << 14) + 1;
/// Bits of the moduli from the lowest on. One is left in an answer; the next two go after the products with polynomials, the last after the first product.
const BITS: [u32; 4] = [42, 37, 37, 40];
/// Numbers of moduli of each level.
const LEVELS: [usize; 3] = [1, 3, 4];

/// Returns the parameters that a set intersection is made for, of 128 bits of security: 8192 bins.
///
/// # Errors
/// [`IntersectionError::Setting`] never, since there are primes enough.
///
/// ```
/// use sunzi_bgv::Context;
/// use sunzi_circuits::intersection::parameters;
///
/// assert_eq!(Context::new(&parameters()?)?.degree(), 8192);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn parameters() -> Result<Parameters, IntersectionError> {
    let below = |bound: u64, taken: &[u64]| {
        let found = primes_below(bound, 2 << LOG2_DEGREE, taken.len() + 1).ok();
        let free = found.and_then(|found| found.into_iter().find(|prime| !taken.contains(prime)));
        free.ok_or_else(|| IntersectionError::setting("the moduli", "primes", format!("none below {bound}")))
    };
    let mut moduli = Vec::new();
    for bits in BITS {
        moduli.push(below(1 << bits, &moduli)?);
    }
    let special_moduli = vec![below(DEFAULT_PRIME_BOUND, &moduli)?];
    let key_switching =
        GadgetOptions { digits: Some(moduli.len()), special_moduli, ..GadgetOptions::default() };
    let additions = reach(SOURCES.len()) as u64;
    let last = Operations { additions, rotations: 0, plain_products: 1 };
    let parameters = Parameters::new(LOG2_DEGREE, moduli, PLAIN_MODULUS, Security::Bits128);
    Ok(parameters
        .with_levels(LEVELS.to_vec())
        .with_key_switching(key_switching)
        .with_budget(Budget { last, ..Budget::default() }))
}
