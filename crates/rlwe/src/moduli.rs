//! Checks whether lists of ciphertext and special moduli make a ring and its keys.

use sunzi_math::is_prime;

/// Largest number of moduli of a ring, special moduli included: the 256 smallest of a ring of degree 2^17 exceed every
/// entry of the security table.
pub const MAX_MODULI: usize = 256;
/// Largest number of levels of a ring whose levels are sets of moduli: ciphertext levels, and as many for keys.
pub const MAX_RUNGS: usize = 2 * MAX_MODULI;
/// Bound below which every modulus lies, exclusive.
const MODULUS_LIMIT: u64 = 1 << 62;

/// An error of a list of moduli that makes no ring: what was expected, what came, what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModuliError {
    /// The list of moduli has no ciphertext modulus.
    #[error("no ciphertext modulus is given: give at least one")]
    Empty,
    /// The list of moduli is longer than any parameter set needs.
    #[error("{got} moduli: at most {limit} are supported")]
    TooMany {
        /// Number of moduli that were given.
        got: usize,
        /// Largest number of moduli that is allowed.
        limit: usize,
    },
    /// A modulus cannot be used by the number-theoretic transform.
    #[error("modulus {modulus} is not a prime below 2^62 of the form {index}k + 1")]
    Unusable {
        /// Value of the refused modulus.
        modulus: u64,
        /// Number modulo which the modulus must be 1.
        index: u64,
    },
    /// A modulus occurs twice in the list.
    #[error("modulus {modulus} occurs twice: moduli must be distinct")]
    Repeated {
        /// Value of the refused modulus.
        modulus: u64,
    },
}

/// Checks that there is a ciphertext modulus, and that moduli are not more than [`MAX_MODULI`] in all.
///
/// # Errors
/// [`ModuliError::Empty`] without ciphertext moduli; [`ModuliError::TooMany`] for more than [`MAX_MODULI`] together.
pub fn check_count(moduli: usize, special: usize) -> Result<(), ModuliError> {
    let (got, limit) = (moduli.saturating_add(special), MAX_MODULI);
    match moduli {
        0 => Err(ModuliError::Empty),
        _ if got > limit => Err(ModuliError::TooMany { got, limit }),
        _ => Ok(()),
    }
}

/// Checks the ciphertext moduli and special moduli of a ring: primes p < 2^62, p ≡ 1 modulo the order `index` of the roots that its transform
/// takes ([`Ring::root_order`](sunzi_ring::Ring::root_order)), all distinct. Where several primes share a word, the
/// primes are checked.
///
/// # Errors
/// Every error of [`check_count`]; [`ModuliError::Unusable`]; [`ModuliError::Repeated`].
pub fn check(index: u64, moduli: &[u64], special: &[u64]) -> Result<(), ModuliError> {
    check_count(moduli.len(), special.len())?;
    let all = || moduli.iter().chain(special).copied();
    for (i, modulus) in all().enumerate() {
        if modulus >= MODULUS_LIMIT || modulus.checked_rem(index) != Some(1) || !is_prime(modulus) {
            return Err(ModuliError::Unusable { modulus, index });
        }
        if all().skip(i + 1).any(|other| other == modulus) {
            return Err(ModuliError::Repeated { modulus });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bad_list_is_named() {
        let primes = sunzi_math::primes_below(1 << 62, 128, 3).unwrap();
        let [p, q, r] = primes[..] else { panic!("three primes") };
        check(128, &[p, q], &[r]).unwrap();
        assert_eq!(check(128, &[], &[p]), Err(ModuliError::Empty));
        for bad in [0, 1, 2, 4, p - 128, p - 1, (1 << 62) + 1, u64::MAX] {
            let error = Err(ModuliError::Unusable { modulus: bad, index: 128 });
            assert_eq!(check(128, &[p, bad], &[q]), error);
            assert_eq!(check(128, &[p], &[q, bad]), error);
        }
        assert_eq!(check(128, &[p, q, p], &[]), Err(ModuliError::Repeated { modulus: p }));
        assert_eq!(check(128, &[p, q], &[q]), Err(ModuliError::Repeated { modulus: q }));
        assert_eq!(check(128, &[p], &[r, r]), Err(ModuliError::Repeated { modulus: r }));
    }

    #[test]
    fn the_most_moduli_count_special_ones() {
        assert_eq!(check_count(MAX_MODULI, 0), Ok(()));
        assert_eq!(check_count(1, MAX_MODULI - 1), Ok(()));
        let limit = MAX_MODULI;
        assert_eq!(check_count(200, 57), Err(ModuliError::TooMany { got: 257, limit }));
        assert_eq!(check_count(usize::MAX, 1), Err(ModuliError::TooMany { got: usize::MAX, limit }));
    }

    #[test]
    fn no_index_is_a_panic() {
        let p = sunzi_math::primes_below(1 << 40, 128, 1).unwrap()[0];
        for index in [0, 126, 1 << 42, 1 << 63, u64::MAX] {
            assert!(matches!(check(index, &[p], &[]), Err(ModuliError::Unusable { .. })), "{index}");
        }
    }
}
