//! Fingerprints: hashes that people read out to each other, as eight groups of four hexadecimal digits.

use std::fmt;

use sha2::{Digest as _, Sha256};

use crate::error::CliError;

/// Number of hexadecimal digits that people compare.
const DIGITS: usize = 32;

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
        for (at, pair) in self.0.chunks(2).take(DIGITS / 4).enumerate() {
            f.write_str(if at == 0 { "" } else { " " })?;
            pair.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
        }
        Ok(())
    }
}

/// Fails unless `got` is the fingerprint that was asked for, if one was; `what` has it.
pub(super) fn expect(expected: Option<&str>, got: &str, what: &str) -> Result<(), CliError> {
    let Some(text) = expected else { return Ok(()) };
    let expected = digits(text).filter(|digits| digits.len() == DIGITS).ok_or_else(|| {
        CliError::input(format!(
            "--expect takes a fingerprint of {DIGITS} hexadecimal digits: copy all of it"
        ))
    })?;
    if digits(got).as_deref() == Some(&*expected) {
        return Ok(());
    }
    Err(CliError::mismatch(format!(
        "{what}: expected fingerprint {text}, got {got}: another party has something else, or somebody changed it on its way; ask all parties for theirs"
    )))
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

/// Returns the digits of a fingerprint, whatever stands between its groups.
fn digits(text: &str) -> Option<String> {
    let signs = text.chars().filter(|sign| !matches!(sign, ' ' | '-' | ':'));
    signs.map(|sign| sign.is_ascii_hexdigit().then_some(sign.to_ascii_lowercase())).collect()
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
    fn fingerprints_are_read_as_they_are_shown() {
        let own = Fingerprint::of("test", [&b"a"[..], b"b"]);
        let shown = own.to_string();
        assert_eq!((shown.len(), shown.split(' ').count(), own.digits().len()), (39, 8, 64), "{shown}");
        for text in [shown.clone(), shown.replace(' ', ""), shown.to_uppercase().replace(' ', "-")] {
            assert!(expect(Some(&text), &shown, "x").is_ok(), "{text}");
        }
        for text in ["", "12", &shown[1..], &own.digits(), &shown.replace(' ', "x")] {
            assert_eq!(expect(Some(text), &shown, "x").unwrap_err().exit_code(), 2, "{text}");
        }
        assert_ne!(Fingerprint::of("test", [&b"ab"[..]]), own);
        assert!(expect(None, &shown, "x").is_ok());
        let other = expect(Some(&shown), &Fingerprint([0; 32]).to_string(), "the cards").unwrap_err();
        assert_eq!((other.exit_code(), other.to_string().starts_with("the cards: ")), (3, true));
    }
}
