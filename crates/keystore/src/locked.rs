//! Files of secrets under a passphrase: header, cost, salt, nonce, and what is encrypted.

use chacha20poly1305::aead::{AeadInOut, KeyInit};
use chacha20poly1305::{Tag, XChaCha20Poly1305, XNonce};
use rand_core::CryptoRng;
use sunzi_rlwe::wire::{FieldReader, Fields, HEADER_LEN, Header, Kind, WireError};
use zeroize::Zeroizing;

use crate::cost::{KEY, SALT};
use crate::{Cost, KeystoreError, Passphrase};

/// Length of a nonce, in bytes.
pub(crate) const NONCE: usize = 24;
/// Length of a tag, in bytes.
pub(crate) const TAG: usize = 16;
/// Length of what stands between the header and the encrypted bytes.
const FIELDS: usize = 3 * 4 + SALT + NONCE;
/// Longest file that is locked or unlocked, in bytes (4 GiB): it is held in memory.
pub const LONGEST: u64 = 1 << 32;

/// Encrypts a file with a secret under a passphrase.
///
/// # Errors
/// [`KeystoreError::NotSecret`] for a file without a secret, and for one that is locked already; [`KeystoreError::DerivationCost`]; [`KeystoreError::DerivationMemory`];
/// [`KeystoreError::Wire`] for bytes that are no file of Sunzi.
pub fn lock(
    secret: &[u8],
    passphrase: &Passphrase,
    cost: Cost,
    rng: &mut dyn CryptoRng,
) -> Result<Vec<u8>, KeystoreError> {
    let inner = secret_header(secret)?;
    let (mut salt, mut nonce) = ([0; SALT], [0; NONCE]);
    rng.fill_bytes(&mut salt);
    rng.fill_bytes(&mut nonce);
    let body_len = (FIELDS + secret.len() + TAG) as u64;
    let mut fields = Fields::default();
    fields.bytes(&Header { kind: Kind::LockedSecret as u16, body_len, ..inner }.to_bytes());
    [cost.memory, cost.passes, cost.lanes].into_iter().for_each(|number| fields.u32(number));
    fields.bytes(&salt);
    fields.bytes(&nonce);
    encrypted(fields.into_bytes(), secret, &*cost.derive(passphrase, &salt)?, nonce)
}

/// Decrypts a file that [`lock`] made; the bytes are erased when dropped.
///
/// # Errors
/// [`KeystoreError::PassphraseWrong`] for another passphrase, and for a file that was changed; [`KeystoreError::DerivationCost`]; [`KeystoreError::DerivationMemory`];
/// [`KeystoreError::Wire`] for another kind of file, or another length.
pub fn unlock(locked: &[u8], passphrase: &Passphrase) -> Result<Zeroizing<Vec<u8>>, KeystoreError> {
    let parts = Parts::of(locked)?;
    decrypted(parts.plain, parts.secret, &*parts.cost.derive(passphrase, &parts.salt)?, parts.nonce)
}

/// Returns the cost that a file says, which is that of every passphrase that is tried.
///
/// # Errors
/// [`KeystoreError::Wire`] for another kind of file; [`KeystoreError::DerivationCost`].
pub fn cost_of(locked: &[u8]) -> Result<Cost, KeystoreError> {
    Ok(Parts::of(locked)?.cost)
}

/// Parts of a locked file.
struct Parts<'a> {
    /// Bytes that are authenticated and not encrypted.
    plain: &'a [u8],
    cost: Cost,
    salt: [u8; SALT],
    nonce: [u8; NONCE],
    /// Encrypted bytes and their tag.
    secret: &'a [u8],
}

impl<'a> Parts<'a> {
    fn of(locked: &'a [u8]) -> Result<Self, KeystoreError> {
        let body = body_of(locked, Kind::LockedSecret)?;
        let short =
            || WireError::Length { expected: (FIELDS + HEADER_LEN + TAG) as u64, got: body.len() as u64 };
        let (plain, secret) = locked.split_at_checked(HEADER_LEN + FIELDS).ok_or_else(short)?;
        if secret.len() < HEADER_LEN + TAG {
            return Err(short().into());
        }
        let mut fields = FieldReader::new(plain);
        let _: [u8; HEADER_LEN] = fields.array()?;
        let cost = Cost { memory: fields.u32()?, passes: fields.u32()?, lanes: fields.u32()? };
        cost.check()?;
        let (salt, nonce) = (fields.array()?, fields.array()?);
        Ok(Self { plain, cost, salt, nonce, secret })
    }
}

/// Returns the header of a file with a secret that is not encrypted yet.
pub(crate) fn secret_header(secret: &[u8]) -> Result<Header, KeystoreError> {
    let inner = Header::read(&mut &*secret)?;
    match Kind::of(inner.kind) {
        Some(Kind::LockedSecret | Kind::WrappedSecret) => {}
        Some(kind) if kind.is_secret() => return Ok(inner),
        _ => {}
    }
    Err(KeystoreError::NotSecret(Kind::describe(inner.kind)))
}

/// Returns the body of a file of a kind, which must be as long as its header says.
pub(crate) fn body_of(file: &[u8], expected: Kind) -> Result<&[u8], KeystoreError> {
    let header = Header::read(&mut &*file)?;
    if header.kind != expected as u16 {
        return Err(WireError::Kind { expected, got: header.kind }.into());
    }
    let body = file.get(HEADER_LEN..).unwrap_or_default();
    let got = body.len() as u64;
    match got.checked_sub(header.body_len) {
        Some(0) => Ok(body),
        Some(extra) => Err(WireError::Trailing { extra }.into()),
        None => Err(WireError::Truncated.into()),
    }
}

/// Returns `plain`, and behind it a secret encrypted under a key and its tag, which authenticates both.
pub(crate) fn encrypted(
    mut plain: Vec<u8>,
    secret: &[u8],
    key: &[u8; KEY],
    nonce: [u8; NONCE],
) -> Result<Vec<u8>, KeystoreError> {
    let cipher = XChaCha20Poly1305::new(key.into());
    let mut bytes = Zeroizing::new(secret.to_vec());
    let tag = cipher.encrypt_inout_detached(&XNonce::from(nonce), &plain, bytes.as_mut_slice().into());
    plain.extend_from_slice(&bytes);
    plain.extend_from_slice(&tag.map_err(|_| KeystoreError::PassphraseWrong)?);
    Ok(plain)
}

/// Decrypts what [`encrypted`] put behind `plain`; the bytes are erased when dropped.
pub(crate) fn decrypted(
    plain: &[u8],
    secret: &[u8],
    key: &[u8; KEY],
    nonce: [u8; NONCE],
) -> Result<Zeroizing<Vec<u8>>, KeystoreError> {
    let (bytes, tag) = secret.split_last_chunk::<TAG>().ok_or(WireError::Truncated)?;
    let cipher = XChaCha20Poly1305::new(key.into());
    let mut bytes = Zeroizing::new(bytes.to_vec());
    cipher
        .decrypt_inout_detached(&XNonce::from(nonce), plain, bytes.as_mut_slice().into(), &Tag::from(*tag))
        .map_err(|_| KeystoreError::PassphraseWrong)?;
    Ok(bytes)
}
