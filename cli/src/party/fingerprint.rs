//! Fingerprints of what parties agree on: hashes that people read out to each other.

use std::fmt;

use sha2::{Digest as _, Sha256};
use sunzi::rlwe::words::grouped;

/// A SHA-256 hash, of which people see the first half: protocols are bound to all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fingerprint(pub(super) [u8; 32]);

impl Fingerprint {
    /// Returns the hash of parts in a domain, the length of each before it.
    pub(super) fn of<'a>(domain: &'a str, parts: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut hash = Sha256::new();
        for part in [domain.as_bytes()].into_iter().chain(parts) {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        Self(hash.finalize().into())
    }

    /// All digits of the hash, for files.
    pub(super) fn digits(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&grouped(&self.0))
    }
}

/// Reads all digits of a hash as files have them.
pub(super) fn of_digits<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digit = |sign: u8| match sign {
        b'0'..=b'9' => Some(sign - b'0'),
        b'a'..=b'f' => Some(sign - b'a' + 10),
        _ => None,
    };
    let pairs = text.as_bytes().chunks(2).map(|pair| match *pair {
        [high, low] => Some(digit(high)? << 4 | digit(low)?),
        _ => None,
    });
    pairs.collect::<Option<Vec<u8>>>()?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_of_files_come_back() {
        let own = Fingerprint(std::array::from_fn(|at| (at * 37 + 5) as u8));
        let digits = own.digits();
        assert_eq!(of_digits(&digits), Some(own.0));
        for text in ["", "0", &digits[1..], &digits[2..], &digits.to_uppercase(), &digits.replace('5', "g")] {
            assert_eq!(of_digits::<32>(text), None, "{text}");
        }
    }

    #[test]
    fn parts_are_hashed_apart() {
        let own = Fingerprint::of("test", [&b"a"[..], b"b"]);
        assert_ne!(Fingerprint::of("test", [&b"ab"[..]]), own);
        assert_eq!((own.to_string().len(), own.digits().len()), (39, 64));
    }
}
