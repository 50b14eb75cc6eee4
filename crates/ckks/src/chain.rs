//! Chains of CKKS moduli for given scales: each q_l so near to Δ_l²/2^bits that the canonical scales stay near 2^bits.
//!
//! An error in the scale of one level counts twice at the next, Δ_(l−1) = Δ_l²/q_l, so each modulus makes up for the
//! one before. Larger scales than one [word](words) holds take several primes a level.

mod rational;

use serde::{Deserialize, Serialize};
use sunzi_rlwe::chains::{PrimeFinder, words};
use sunzi_rlwe::moduli::MAX_MODULI;

use crate::error::CkksError;

/// Range of log2 of a canonical scale: below, nothing is left of a message; above, its coefficients leave 127 bits.
pub(crate) const SCALE_BITS: std::ops::RangeInclusive<u32> = 10..=120;
/// Sizes of Q_0 in bits: for the least scale, or five words.
const FIRST_BITS: std::ops::RangeInclusive<u32> = 11..=240;

/// Range of consecutive CKKS levels at one scale.
///
/// ```
/// use sunzi_ckks::{LevelRange, Parameters};
/// use sunzi_rlwe::Security;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // Two levels of 2^35 below three of 2^45.
/// let ranges = [LevelRange { levels: 2, scale_bits: 35 }, LevelRange { levels: 3, scale_bits: 45 }];
/// let parameters = Parameters::from_ranges(8, 50, &ranges, Security::InsecureForResearchOnly)?;
/// assert_eq!(parameters.depth(), 5);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LevelRange {
    /// Number of rescalings that the range provides.
    pub levels: usize,
    /// log2 of the scale of the range.
    pub scale_bits: u32,
}

/// A chain of CKKS moduli, with the number of moduli of Q_0, Q_1, ….
pub(crate) struct Chain {
    pub(crate) moduli: Vec<u64>,
    pub(crate) levels: Vec<usize>,
    /// Sets of moduli of the levels of the ring; none where levels have the first moduli.
    pub(crate) rungs: Vec<Vec<usize>>,
}

impl Chain {
    /// Makes a chain of Q_0 of `first_bits` and ranges above it, the lowest first, of primes p ≡ 1 (mod `step`).
    pub(crate) fn new(step: u64, first_bits: u32, ranges: &[LevelRange]) -> Result<Self, CkksError> {
        check_ranges(first_bits, ranges)?;
        let mut finder = PrimeFinder::new(step, &[]);
        // Groups of primes, the highest level first.
        let mut groups = Vec::new();
        for range in ranges.iter().rev() {
            let bits = range.scale_bits;
            let target = f64::from(bits).exp2();
            let mut scale = target;
            for _ in 0..range.levels {
                let wanted = scale * (scale / target);
                let primes = product(&mut finder, step, wanted, words(f64::from(bits)))?;
                scale = scale * scale / primes.iter().map(|&p| p as f64).product::<f64>();
                groups.push(primes);
            }
        }
        let first = f64::from(first_bits);
        groups.push(product(&mut finder, step, first.exp2(), words(first))?);
        let mut levels = Vec::with_capacity(groups.len());
        let mut moduli = Vec::new();
        for group in groups.iter().rev() {
            moduli.extend(group);
            levels.push(moduli.len());
        }
        Ok(Self { moduli, levels, rungs: Vec::new() })
    }
}

/// Finds primes whose product is next to a given one; the error says how long each would be.
fn product(finder: &mut PrimeFinder, step: u64, wanted: f64, parts: usize) -> Result<Vec<u64>, CkksError> {
    let bits = wanted.log2() / parts.max(1) as f64;
    finder.product(wanted, parts).ok_or(CkksError::NoPrimes { bits, step })
}

/// Fails for ranges of levels that no CKKS parameter set has, before the search for primes.
fn check_ranges(first_bits: u32, ranges: &[LevelRange]) -> Result<(), CkksError> {
    let levels = ranges.iter().fold(0_usize, |sum, range| sum.saturating_add(range.levels));
    check_count("levels", levels)?;
    if !FIRST_BITS.contains(&first_bits) {
        let expected = "it must be 11 to 240";
        return Err(CkksError::Request { what: "first_bits", got: first_bits.to_string(), expected });
    }
    if let Some(bad) = ranges.iter().find(|range| !SCALE_BITS.contains(&range.scale_bits)) {
        let expected = "it must be 10 to 120";
        return Err(CkksError::Request { what: "scale_bits", got: bad.scale_bits.to_string(), expected });
    }
    Ok(())
}

/// Fails for a count larger than any CKKS parameter set has.
fn check_count(what: &'static str, got: usize) -> Result<(), CkksError> {
    if got <= MAX_MODULI {
        return Ok(());
    }
    Err(CkksError::Request { what, got: got.to_string(), expected: "there are at most 256 moduli" })
}

/// Finds `count` special moduli of together at least `bits`, beside the given primes.
pub(crate) fn special_moduli(
    step: u64,
    bits: f64,
    count: usize,
    taken: &[u64],
) -> Result<Vec<u64>, CkksError> {
    check_count("special moduli", count)?;
    let bits = bits / count.max(1) as f64;
    PrimeFinder::new(step, taken).at_least(bits, count).ok_or(CkksError::NoPrimes { bits, step })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Parameters;
    use sunzi_rlwe::Security;
    use sunzi_rlwe::chains::longest_digit;

    /// Tests every scale of the library at a large ring: canonical scales within 1/8 bit of their target at all
    /// levels.
    #[test]
    fn canonical_scales_stay_near_their_target() {
        for (log2_degree, bits, depth) in [
            (12, 25, 10),
            (13, 30, 12),
            (14, 35, 10),
            (16, 40, 30),
            (16, 45, 25),
            (16, 47, 30),
            (15, 48, 8),
            (16, 48, 26),
            (17, 48, 40),
            (14, 50, 8),
            (16, 55, 25),
            (16, 58, 8),
            (16, 60, 20),
            (16, 100, 5),
        ] {
            let ranges = [LevelRange { levels: depth, scale_bits: bits }];
            let parameters =
                Parameters::from_ranges(log2_degree, bits + 8, &ranges, Security::InsecureForResearchOnly)
                    .unwrap();
            parameters.validate().unwrap();
            let off = |worst: f64, scale: &f64| worst.max((scale.log2() - f64::from(bits)).abs());
            let worst = parameters.scales().iter().fold(0.0, off);
            assert!(worst < 0.125, "scale 2^{bits} at 2^{log2_degree} is off by {worst} bits");
        }
    }

    #[test]
    fn ranges_start_at_their_own_scale() {
        let ranges = [
            LevelRange { levels: 3, scale_bits: 40 },
            LevelRange { levels: 2, scale_bits: 58 },
            LevelRange { levels: 2, scale_bits: 56 },
        ];
        let parameters = Parameters::from_ranges(13, 60, &ranges, Security::InsecureForResearchOnly).unwrap();
        parameters.validate().unwrap();
        assert_eq!(parameters.levels(), [2, 3, 4, 5, 7, 9, 11, 13]);
        let bits: Vec<i64> = parameters.scales().iter().map(|scale| scale.log2().round() as i64).collect();
        assert_eq!(bits, [40, 40, 40, 40, 58, 58, 56, 56]);
        assert_eq!(parameters.scales()[3], 40_f64.exp2());
        assert_eq!(parameters.scales()[5], 58_f64.exp2());
    }

    #[test]
    fn digits_of_many_lengths_are_balanced() {
        let powers = |bits: &[u32]| -> Vec<u64> { bits.iter().map(|&bits| 1 << bits).collect() };
        for (bits, digits, longest) in [
            (&[40, 40, 40, 40][..], 2, 80.0),
            (&[40, 40, 40, 40], 3, 80.0),
            (&[40, 40, 40, 40], 4, 40.0),
            (&[60, 40, 40, 29, 29, 29, 29], 3, 100.0),
            (&[60, 40, 40, 29, 29, 29, 29], 1, 256.0),
            (&[29, 29, 60], 2, 60.0),
        ] {
            let got = longest_digit(&powers(bits), digits);
            assert!((got - longest).abs() < 1e-6, "{bits:?} in {digits}: {got}");
        }
        let ranges = [
            LevelRange { levels: 5, scale_bits: 40 },
            LevelRange { levels: 4, scale_bits: 58 },
            LevelRange { levels: 2, scale_bits: 56 },
        ];
        let parameters = Parameters::from_ranges(13, 60, &ranges, Security::InsecureForResearchOnly).unwrap();
        for digits in 1..=8 {
            let made = parameters.clone().with_digits(digits).unwrap();
            made.validate().unwrap();
            let count = sunzi_ring::RnsDigits::new(made.key_switching(), made.moduli()).unwrap().count();
            let log2_special = made.log2_key_modulus() - made.log2_modulus();
            assert!(count <= digits, "{count} digits where {digits} were asked for");
            let fair = made.log2_modulus() / digits as f64;
            assert!(log2_special < fair + 30.0, "P of {log2_special} bits for {digits} digits");
        }
    }

    #[test]
    fn scales_without_primes_are_refused() {
        for (log2_degree, bits, levels) in [(16, 12, 1), (16, 18, 40), (13, 9, 1), (13, 121, 1), (13, 0, 1)] {
            let ranges = [LevelRange { levels, scale_bits: bits }];
            let got = Parameters::from_ranges(log2_degree, 60, &ranges, Security::InsecureForResearchOnly);
            assert!(got.is_err(), "{bits} bits at 2^{log2_degree}");
        }
        let insecure = Security::InsecureForResearchOnly;
        let long = [LevelRange { levels: usize::MAX, scale_bits: 40 }; 2];
        assert!(Parameters::from_ranges(6, 50, &long, insecure).is_err());
        for first_bits in [0, u32::MAX] {
            assert!(Parameters::from_ranges(6, first_bits, &[], insecure).is_err());
        }
        let good = Parameters::from_ranges(6, 50, &[], insecure).unwrap();
        for (count, bits) in [(usize::MAX, 40), (1, 63), (1, u32::MAX), (0, 0)] {
            let got = good.clone().with_special(count, bits);
            assert!(got.is_err() || got.is_ok_and(|got| got.key_switching().special_moduli.is_empty()));
        }
    }
}
