//! How large a modulus may be: the 2024 security guidelines.
//!
//! Largest log2 of the modulus of any key, ciphertext modulus and special modulus together, for a
//! uniform ternary secret, σ = 3.19 and a classical adversary ("Security Guidelines for
//! Implementing Homomorphic Encryption", ePrint 2024/463, table 5.2). The error used here,
//! centred binomial on 21 + 21 bits, has σ = 3.24.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::RlweError;

/// The ring degrees the table speaks about: log2 n.
pub const LOG2_DEGREES: std::ops::RangeInclusive<u32> = 10..=17;

const TABLE_128: [u32; 8] = [26, 53, 106, 214, 430, 868, 1747, 3523];
const TABLE_192: [u32; 8] = [0, 36, 73, 147, 297, 597, 1199, 2411];
const TABLE_256: [u32; 8] = [0, 27, 56, 114, 230, 462, 929, 1866];

/// The security a parameter set must reach, in bits against a classical adversary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Security {
    /// At least 128 bits: the default.
    #[default]
    Bits128,
    /// At least 192 bits.
    Bits192,
    /// At least 256 bits.
    Bits256,
    /// No check at all. For tests on small rings and for reproducing published parameter sets
    /// that today's estimates no longer cover. Never for data that matters.
    InsecureForResearchOnly,
}

impl fmt::Display for Security {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bits128 => "128-bit",
            Self::Bits192 => "192-bit",
            Self::Bits256 => "256-bit",
            Self::InsecureForResearchOnly => "INSECURE (research only)",
        })
    }
}

/// The largest log2 of a modulus at ring degree 2^`log2_degree`: `None` where the table has no
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

/// Checks one key's modulus, `log2_modulus` bits, against the table.
///
/// # Errors
/// [`RlweError::Insecure`] when the modulus exceeds the limit or the table has no entry.
pub fn check(degree: usize, log2_modulus: f64, security: Security) -> Result<(), RlweError> {
    if security == Security::InsecureForResearchOnly {
        return Ok(());
    }
    // Between two powers of two the smaller one's limit holds.
    let log2_degree = degree.checked_ilog2().unwrap_or(0);
    let limit = max_log2_modulus(log2_degree, security);
    match limit {
        Some(bits) if log2_modulus <= f64::from(bits) => Ok(()),
        _ => Err(RlweError::Insecure { degree, log2_modulus, limit, security }),
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
    fn degrees_outside_the_table_need_the_opt_out() {
        assert!(check(256, 10.0, Security::Bits128).is_err());
        assert!(check(1 << 18, 10.0, Security::Bits128).is_err());
        assert!(check(0, 10.0, Security::Bits128).is_err());
        assert!(check(256, 1e4, Security::InsecureForResearchOnly).is_ok());
        assert!(check(5000, 106.0, Security::Bits128).is_ok(), "n = 5000 keeps the limit of 2^12");
        assert!(check(5000, 107.0, Security::Bits128).is_err());
    }
}
