//! Files of secrets under a data key that a key management service wraps.

use std::fmt;

use rand_core::CryptoRng;
use sunzi_rlwe::wire::{FieldReader, Fields, HEADER_LEN, Header, Kind, WireError};
use zeroize::Zeroizing;

use crate::KeystoreError;
use crate::cost::KEY;
use crate::locked::{NONCE, TAG, body_of, decrypted, encrypted, secret_header};

/// Longest wrapped data key, in bytes.
pub const LONGEST_WRAPPED: usize = 1 << 16;

/// Random key of one file, which somebody else wraps: erased when dropped.
pub struct DataKey(Zeroizing<[u8; KEY]>);

impl DataKey {
    /// Draws a key.
    pub fn generate(rng: &mut dyn CryptoRng) -> Self {
        let mut key = Zeroizing::new([0; KEY]);
        rng.fill_bytes(&mut *key);
        Self(key)
    }

    /// Returns the key that these bytes are, as they were before they were wrapped.
    ///
    /// # Errors
    /// [`KeystoreError::DataKeyLength`] unless they are 32.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, KeystoreError> {
        let key = bytes.try_into().map_err(|_| KeystoreError::DataKeyLength { got: bytes.len() })?;
        Ok(Self(Zeroizing::new(key)))
    }

    /// The 32 bytes of the key, for whoever wraps it.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &*self.0
    }
}

impl fmt::Debug for DataKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DataKey")
    }
}

/// Encrypts a file with a secret under a data key, which the file has as `wrapped`.
///
/// ```
/// use sunzi_keystore::{DataKey, lock_under, unlock_under, wrapped_key};
/// # use sunzi_rlwe::{KeyId, randomness, wire::{Fingerprint, Header, Kind}};
///
/// # let header = Header { kind: Kind::SecretKey as u16, parameters: Fingerprint::default(), key: Some(KeyId::from_bytes([7; 16])), body_len: 3 };
/// # let secret = [&header.to_bytes()[..], &[1, 2, 3]].concat();
/// # fn wrap(key: &[u8]) -> Vec<u8> { key.iter().map(|byte| !byte).collect() }
/// # fn unwrap(wrapped: &[u8]) -> Vec<u8> { wrap(wrapped) }
/// let mut rng = randomness::from_os()?;
/// let key = DataKey::generate(&mut rng);
/// let file = lock_under(&secret, &key, &wrap(key.bytes()), &mut rng)?;
/// let key = DataKey::from_bytes(&unwrap(wrapped_key(&file)?))?;
/// assert_eq!(*unlock_under(&file, &key)?, secret);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`KeystoreError::NotSecret`] for a file without a secret, and for one that is encrypted already; [`KeystoreError::WrappedLength`]; [`KeystoreError::Wire`].
pub fn lock_under(
    secret: &[u8],
    key: &DataKey,
    wrapped: &[u8],
    rng: &mut dyn CryptoRng,
) -> Result<Vec<u8>, KeystoreError> {
    let inner = secret_header(secret)?;
    if !(1..=LONGEST_WRAPPED).contains(&wrapped.len()) {
        return Err(KeystoreError::WrappedLength { got: wrapped.len() });
    }
    let mut nonce = [0; NONCE];
    rng.fill_bytes(&mut nonce);
    let body_len = (NONCE + 8 + wrapped.len() + secret.len() + TAG) as u64;
    let mut fields = Fields::default();
    fields.bytes(&Header { kind: Kind::WrappedSecret as u16, body_len, ..inner }.to_bytes());
    fields.bytes(&nonce);
    fields.usize(wrapped.len());
    fields.bytes(wrapped);
    encrypted(fields.into_bytes(), secret, &key.0, nonce)
}

/// Decrypts a file that [`lock_under`] made; the bytes are erased when dropped.
///
/// # Errors
/// [`KeystoreError::DataKeyWrong`] for another key, and for a file that was changed; [`KeystoreError::Wire`] for another kind of file, or another length.
pub fn unlock_under(file: &[u8], key: &DataKey) -> Result<Zeroizing<Vec<u8>>, KeystoreError> {
    let Parts { plain, nonce, secret, .. } = Parts::of(file)?;
    decrypted(plain, secret, &key.0, nonce).map_err(|_| KeystoreError::DataKeyWrong)
}

/// Returns the wrapped data key of a file, for whoever unwraps it.
///
/// # Errors
/// [`KeystoreError::Wire`] for another kind of file, or another length.
pub fn wrapped_key(file: &[u8]) -> Result<&[u8], KeystoreError> {
    Ok(Parts::of(file)?.wrapped)
}

/// Parts of a file.
struct Parts<'a> {
    /// Bytes that are authenticated and not encrypted.
    plain: &'a [u8],
    nonce: [u8; NONCE],
    wrapped: &'a [u8],
    /// Encrypted bytes and their tag.
    secret: &'a [u8],
}

impl<'a> Parts<'a> {
    fn of(file: &'a [u8]) -> Result<Self, KeystoreError> {
        let body = body_of(file, Kind::WrappedSecret)?;
        let mut fields = FieldReader::new(body);
        let nonce = fields.array()?;
        let len = fields.usize_in("bytes of a wrapped key", 1..=LONGEST_WRAPPED)?;
        let start = HEADER_LEN + NONCE + 8;
        let short = || WireError::Length {
            expected: (NONCE + 8 + len + HEADER_LEN + TAG) as u64,
            got: body.len() as u64,
        };
        let (plain, secret) = file.split_at_checked(start + len).ok_or_else(short)?;
        if secret.len() < HEADER_LEN + TAG {
            return Err(short().into());
        }
        Ok(Self { plain, nonce, wrapped: plain.get(start..).unwrap_or_default(), secret })
    }
}
