//! Tokens of accounts: random secrets of which the server stores a hash.

use std::fmt;

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::name::{hex, unhex};
use crate::refusal::ServiceError;

/// Text that tokens begin with.
const PREFIX: &str = "sunzi-";

/// Token of an account: a public number, by which the account is found, and a secret of 256 random bits. Its debug form hides the secret.
#[derive(Clone)]
pub struct Token {
    id: TokenId,
    secret: [u8; 32],
}

/// Public number of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenId(pub [u8; 8]);

/// Stored part of a token: its number, and the SHA-256 of its secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredToken {
    /// Public number of the token.
    pub id: TokenId,
    /// SHA-256 of the secret.
    pub hash: [u8; 32],
}

impl Token {
    /// Draws a token with randomness of the operating system.
    ///
    /// # Errors
    /// [`ServiceError::Configuration`] if the system gives no randomness.
    pub fn generate() -> Result<Self, ServiceError> {
        Ok(Self { id: TokenId(random()?), secret: random()? })
    }

    /// Reads a token; `None` for a text that is none.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (id, secret) = text.strip_prefix(PREFIX)?.split_once('-')?;
        Some(Self { id: TokenId(unhex(id)?), secret: unhex(secret)? })
    }

    /// Returns the token as text, to be told once to whoever owns the account.
    #[must_use]
    pub fn reveal(&self) -> String {
        format!("{PREFIX}{}-{}", hex(&self.id.0), hex(&self.secret))
    }

    /// Returns the public number of the token.
    #[must_use]
    pub fn id(&self) -> TokenId {
        self.id
    }

    /// Returns what the server stores.
    #[must_use]
    pub fn stored(&self) -> StoredToken {
        StoredToken { id: self.id, hash: self.hash() }
    }

    /// Compares the token with a stored one, in a time that does not depend on where they differ.
    #[must_use]
    pub fn is(&self, stored: &StoredToken) -> bool {
        (self.id.0.ct_eq(&stored.id.0) & self.hash().ct_eq(&stored.hash)).into()
    }

    fn hash(&self) -> [u8; 32] {
        let hash = Sha256::new().chain_update(b"sunzi token").chain_update(self.secret);
        hash.finalize().into()
    }
}

/// Formats the public number of a token and not its secret.
impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Token").field("id", &self.id).finish_non_exhaustive()
    }
}

/// Draws random bytes from the operating system.
pub(crate) fn random<const N: usize>() -> Result<[u8; N], ServiceError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)
        .map_err(|error| ServiceError::Configuration(format!("the system gives no randomness: {error}")))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_itself_and_no_other() {
        let (a, b) = (Token::generate().unwrap(), Token::generate().unwrap());
        let text = a.reveal();
        assert_eq!(text.len(), PREFIX.len() + 16 + 1 + 64);
        let again = Token::parse(&text).unwrap();
        assert!(again.is(&a.stored()) && !again.is(&b.stored()));
        let changed = StoredToken { id: a.id(), hash: b.stored().hash };
        assert!(!again.is(&changed));
        assert!(!format!("{a:?}").contains(&text[23..]));
    }

    #[test]
    fn other_texts_are_no_tokens() {
        let text = Token::generate().unwrap().reveal();
        for bad in ["", "sunzi-", "sunzi-0-0", &text[1..], &text[..text.len() - 1], &text.to_uppercase()] {
            assert!(Token::parse(bad).is_none(), "{bad}");
        }
    }
}
