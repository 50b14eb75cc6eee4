//! Names that clients choose, and random names that the server makes.

use std::fmt;

use serde::Serialize;

use crate::refusal::Refusal;

/// Largest number of characters of a name.
pub const LONGEST_NAME: usize = 64;

/// Name of an account, of stored keys, a program or a table, or of a file of keys: letters and digits of ASCII, `.`, `_` and `-`, beginning
/// with a letter or digit. So it is never a path.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Name(String);

impl Name {
    /// Checks a name.
    ///
    /// # Errors
    /// A [`Refusal`] that says which names there are.
    ///
    /// ```
    /// use sunzi_service::Name;
    ///
    /// assert_eq!(Name::new("visits-2026.sz")?.as_str(), "visits-2026.sz");
    /// assert!(Name::new("../secret").is_err());
    /// # Ok::<(), sunzi_service::Refusal>(())
    /// ```
    pub fn new(text: &str) -> Result<Self, Refusal> {
        let begins = text.bytes().next().is_some_and(|first| first.is_ascii_alphanumeric());
        let all = text.bytes().all(|sign| sign.is_ascii_alphanumeric() || b"._-".contains(&sign));
        if begins && all && text.len() <= LONGEST_NAME {
            return Ok(Self(text.to_owned()));
        }
        let expected = format!(
            "1 to {LONGEST_NAME} of the characters a-z, A-Z, 0-9, '.', '_' and '-', the first of them a letter or digit"
        );
        Err(Refusal::input("this is no name").expected(expected).remedy("choose another name"))
    }

    /// Returns the name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Name of a job, drawn at random by the server: 32 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct JobId(String);

impl JobId {
    /// Makes the name of a job from 16 random bytes.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(hex(&bytes))
    }

    /// Reads the name of a job; `None` for a text that is none.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        is_hex(text, 32).then(|| Self(text.to_owned()))
    }

    /// Returns the name of the job as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Name of stored bytes: their SHA-256 in 64 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct BlobId(String);

impl BlobId {
    /// Makes the name of bytes from their SHA-256.
    #[must_use]
    pub fn from_hash(hash: &[u8; 32]) -> Self {
        Self(hex(hash))
    }

    /// Reads the name of stored bytes; `None` for a text that is none.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        is_hex(text, 64).then(|| Self(text.to_owned()))
    }

    /// Returns the first two digits, by which bytes are put into folders.
    pub(crate) fn beginning(&self) -> &str {
        self.0.get(..2).unwrap_or_default()
    }

    /// Returns the name of the bytes as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Returns bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use fmt::Write;
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Returns the bytes of hexadecimal digits in lower case; `None` for another text.
pub(crate) fn unhex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digit = |sign: &u8| char::from(*sign).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    if !is_hex(text, 2 * N) {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
        *byte = pair.iter().try_fold(0, |value, sign| Some(value * 16 + digit(sign)?))?;
    }
    Some(bytes)
}

pub(crate) fn is_hex(text: &str, len: usize) -> bool {
    text.len() == len && text.bytes().all(|sign| matches!(sign, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_never_paths() {
        for good in ["a", "0", "visits.sz", "a-b_c.d", &"x".repeat(LONGEST_NAME)] {
            assert_eq!(Name::new(good).unwrap().as_str(), good);
        }
        for bad in
            ["", ".", "..", ".a", "-a", "a/b", "a\\b", "a\0", "ä", "a b", &"x".repeat(LONGEST_NAME + 1)]
        {
            assert!(Name::new(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn hexadecimal_digits_there_and_back() {
        assert_eq!(unhex::<4>(&hex(&[0, 1, 0xab, 0xff])), Some([0, 1, 0xab, 0xff]));
        for bad in ["", "0", "00AB", "0x12", "zzzz"] {
            assert_eq!(unhex::<2>(bad), None, "{bad}");
        }
        assert!(JobId::parse(&"a".repeat(32)).is_some() && JobId::parse(&"A".repeat(32)).is_none());
        assert_eq!(BlobId::parse(BlobId::from_hash(&[7; 32]).as_str()), Some(BlobId::from_hash(&[7; 32])));
    }
}
