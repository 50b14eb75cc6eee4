//! Fingerprints: hashes that people read out to each other, as eight groups of four hexadecimal digits.

use crate::error::CliError;

/// Number of hexadecimal digits that people compare.
const DIGITS: usize = 32;

/// Advice to parties whose fingerprints of an agreement or of all cards differ.
#[cfg(feature = "net")]
pub(crate) const OF_PARTIES: &str =
    "another party has something else, or somebody changed it on its way; ask all parties for theirs";

/// Fails unless `got` is the fingerprint that was asked for, if one was; `what` has it, and `remedy` says what to do about another one.
pub(crate) fn expect(expected: Option<&str>, got: &str, what: &str, remedy: &str) -> Result<(), CliError> {
    let Some(text) = expected else { return Ok(()) };
    let expected = digits(text).filter(|digits| digits.len() == DIGITS).ok_or_else(|| {
        CliError::input(format!(
            "--expect takes a fingerprint of {DIGITS} hexadecimal digits: copy all of it"
        ))
    })?;
    if digits(got).as_deref() == Some(&*expected) {
        return Ok(());
    }
    Err(CliError::mismatch(format!("{what}: expected fingerprint {text}, got {got}: {remedy}")))
}

/// Returns the digits of a fingerprint, whatever stands between its groups.
fn digits(text: &str) -> Option<String> {
    let signs = text.chars().filter(|sign| !matches!(sign, ' ' | '-' | ':'));
    signs.map(|sign| sign.is_ascii_hexdigit().then_some(sign.to_ascii_lowercase())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sunzi::rlwe::words::grouped;

    #[test]
    fn fingerprints_are_read_as_they_are_shown() {
        let shown = grouped(&[0xa5; 32]);
        assert_eq!((shown.len(), shown.split(' ').count()), (39, 8), "{shown}");
        for text in [shown.clone(), shown.replace(' ', ""), shown.to_uppercase().replace(' ', "-")] {
            assert!(expect(Some(&text), &shown, "x", "ask").is_ok(), "{text}");
        }
        for text in ["", "12", &shown[1..], &"a5".repeat(32), &shown.replace(' ', "x")] {
            assert_eq!(expect(Some(text), &shown, "x", "ask").unwrap_err().exit_code(), 2, "{text}");
        }
        assert!(expect(None, &shown, "x", "ask").is_ok());
        let other = expect(Some(&shown), &grouped(&[0; 32]), "the cards", "ask").unwrap_err();
        assert_eq!((other.exit_code(), other.to_string().starts_with("the cards: ")), (3, true));
    }
}
