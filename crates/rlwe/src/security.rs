//! Security tables: limits on the modulus by the security guidelines of 2024.
//!
//! The security table has the largest log2 of the modulus of any key, ciphertext and special moduli together, for a
//! uniform ternary secret, σ = 3.19 and a classical adversary ("Security Guidelines for
//! Implementing Homomorphic Encryption", ePrint 2024/463, table 5.2). The error used here,
//! centred binomial on 21 + 21 bits, has σ = 3.24. Four entries are lower than theirs, where an attack is estimated
//! at less than what is claimed: 128 bits at n = 2^16 (theirs is 1747) and 2^17 (3523), 192 at n = 2^15 (597) and 256 at n = 2^17 (1866); see `docs/notes/security/`.
//!
//! A real ring of degree n has the limits of degree n. It is the maximal real subring of Z\[X\]/(X^2n + 1), a ring of integers of degree n, where RLWE
//! with errors spherical in the canonical embedding rests on worst cases of ideal lattices of dimension n as in any
//! number field ("Pseudorandomness of Ring-LWE for any ring and modulus", ePrint 2017/258), and encryption over it was proposed with this security
//! ("Approximate Homomorphic Encryption over the Conjugate-invariant Ring", Kim and Song, ePrint 2018/952; Lattigo has it too). In the orthogonal
//! basis 1, X^j + X^-j a sample is n LWE samples of dimension n, with secrets and errors distributed as in the table.
//!
//! Sparse secrets, of fixed Hamming weight, have a table of their own, for 128 bits only: weight 128 by the draft of
//! the guidelines (but at n = 2^14, where its 361 bits are estimated at 127.9: `docs/notes/security/`), 192 as in use for
//! bootstrapping, and 32 for the encapsulated secret of `[BTH22]`; no degree and no weight that was not estimated.

mod level;

pub use level::{Security, accepting_insecure};

use crate::{RlweError, SecretDistribution};

/// Ring degrees that the security table covers, as log2 n.
pub const LOG2_DEGREES: std::ops::RangeInclusive<u32> = 10..=17;

const TABLE_128: [u32; 8] = [26, 53, 106, 214, 430, 868, 1746, 3517];
const TABLE_192: [u32; 8] = [0, 36, 73, 147, 297, 596, 1199, 2411];
const TABLE_256: [u32; 8] = [0, 27, 56, 114, 230, 462, 929, 1865];

/// Triples of Hamming weight, log2 n and the largest log2 of a modulus for 128 bits, by ascending weight: those that
/// an estimate confirmed (`docs/notes/security/sparse.jsonl`). A heavier secret has at least the limit of a lighter
/// one.
const TABLE_SPARSE_128: [(usize, u32, u32); 5] =
    [(32, 16, 121), (128, 14, 359), (128, 15, 718), (128, 16, 1450), (192, 15, 768)];

/// Returns the largest log2 of a modulus at ring degree 2^`log2_degree`: `None` where the table has no
/// secure entry, and for [`Security::InsecureForResearchOnly`], which has no limit.
#[must_use]
pub fn max_log2_modulus(log2_degree: u32, security: Security) -> Option<u32> {
    let row = match security {
        Security::Bits128 => &TABLE_128,
        Security::Bits192 => &TABLE_192,
        Security::Bits256 => &TABLE_256,
        Security::InsecureForResearchOnly => return None,
    };
    let column = log2_degree.checked_sub(*LOG2_DEGREES.start())?;
    row.get(column as usize).copied().filter(|&bits| bits > 0)
}

/// Returns the largest log2 of a modulus for secrets of a distribution: for joint secrets that of a party's own, which is uniform ternary. A weight between two of the table has the limit
/// of the lower one; more than n/2 has none, since the table says nothing about secrets with so few zeros.
#[must_use]
pub fn max_log2_modulus_of(secret: SecretDistribution, log2_degree: u32, security: Security) -> Option<u32> {
    let SecretDistribution::FixedWeight(weight) = secret else {
        return max_log2_modulus(log2_degree, security);
    };
    let sparse = 1_usize.checked_shl(log2_degree).is_some_and(|degree| weight <= degree / 2);
    if security != Security::Bits128 || !sparse {
        return None;
    }
    let row = |&&(least, degree, _): &&(usize, u32, u32)| least <= weight && degree == log2_degree;
    TABLE_SPARSE_128.iter().rev().find(row).map(|&(_, _, bits)| bits)
}

/// Returns the limit on log2 of a modulus as a bound: 0 where the table has no secure entry, infinite where security
/// was given up.
#[must_use]
pub fn limit_of(secret: SecretDistribution, log2_degree: u32, security: Security) -> f64 {
    match security {
        Security::InsecureForResearchOnly => f64::INFINITY,
        _ => max_log2_modulus_of(secret, log2_degree, security).map_or(0.0, f64::from),
    }
}

/// Checks the size of the modulus of a key, for a uniform ternary secret, against the security table.
///
/// # Errors
/// [`RlweError::Insecure`] when the modulus exceeds the limit or the table has no entry.
pub fn check(degree: usize, log2_modulus: f64, security: Security) -> Result<(), RlweError> {
    check_of(SecretDistribution::Ternary, degree, log2_modulus, security)
}

/// Checks the size of the modulus of a key, for secrets of a distribution, against the security table.
///
/// # Errors
/// Every error of [`check`].
pub fn check_of(
    secret: SecretDistribution,
    degree: usize,
    log2_modulus: f64,
    security: Security,
) -> Result<(), RlweError> {
    if security == Security::InsecureForResearchOnly {
        return Ok(());
    }
    // The limit of the smaller power of two holds between two of them.
    let log2_degree = degree.checked_ilog2().unwrap_or(0);
    let limit = max_log2_modulus_of(secret, log2_degree, security);
    match limit {
        Some(bits) if log2_modulus <= f64::from(bits) => Ok(()),
        _ => Err(RlweError::Insecure { degree, log2_modulus, secret, limit, security }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_bit_over_the_table_is_refused_at_every_degree_and_level() {
        for log2_degree in LOG2_DEGREES {
            for security in [Security::Bits128, Security::Bits192, Security::Bits256] {
                let degree = 1 << log2_degree;
                match max_log2_modulus(log2_degree, security) {
                    Some(limit) => {
                        assert!(check(degree, f64::from(limit), security).is_ok());
                        assert!(check(degree, f64::from(limit) + 1e-6, security).is_err());
                        assert!(check(degree, f64::from(limit + 1), security).is_err());
                    }
                    None => assert!(check(degree, 1.0, security).is_err()),
                }
            }
        }
    }

    #[test]
    fn one_bit_over_the_table_of_sparse_secrets_is_refused() {
        let check = |weight, log2_degree: u32, bits| {
            check_of(SecretDistribution::FixedWeight(weight), 1 << log2_degree, bits, Security::Bits128)
        };
        for (weight, log2_degree, bits) in TABLE_SPARSE_128 {
            assert!(check(weight, log2_degree, f64::from(bits)).is_ok());
            assert!(check(weight + 1, log2_degree, f64::from(bits)).is_ok());
            assert!(check(weight, log2_degree, f64::from(bits) + 1e-6).is_err());
            assert!(check(weight - 1, log2_degree, f64::from(bits)).is_err());
            assert!(bits < max_log2_modulus(log2_degree, Security::Bits128).unwrap());
            for security in [Security::Bits192, Security::Bits256] {
                let secret = SecretDistribution::FixedWeight(weight);
                assert!(check_of(secret, 1 << log2_degree, 1.0, security).is_err());
            }
        }
        for (weight, log2_degree) in [(31, 16), (0, 16), (32, 15), (256, 17), (127, 15), (256, 13), (256, 18)]
        {
            assert!(check(weight, log2_degree, 1.0).is_err(), "{weight} at 2^{log2_degree}");
        }
        assert!(check(1 << 13, 14, 359.0).is_ok() && check((1 << 13) + 1, 14, 1.0).is_err());
        let any = SecretDistribution::FixedWeight(1);
        assert!(check_of(any, 256, 1e4, Security::InsecureForResearchOnly).is_ok());
        let error = check(192, 16, 1451.0).unwrap_err().to_string();
        assert!(error.contains("192") && error.contains("1450"), "{error}");
    }

    #[test]
    fn degrees_outside_the_table_need_the_opt_out() {
        assert!(check(256, 10.0, Security::Bits128).is_err());
        assert!(check(1 << 18, 10.0, Security::Bits128).is_err());
        assert!(check(0, 10.0, Security::Bits128).is_err());
        assert!(check(256, 1e4, Security::InsecureForResearchOnly).is_ok());
        assert!(check(5000, 106.0, Security::Bits128).is_ok(), "n = 5000 keeps the limit of 2^12");
        assert!(check(5000, 107.0, Security::Bits128).is_err());
    }
}
