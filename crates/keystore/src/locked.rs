//! Files of secrets under a passphrase: header, cost, salt, nonce, and what is encrypted.

use chacha20poly1305::aead::{AeadInOut, KeyInit};
use chacha20poly1305::{Tag, XChaCha20Poly1305, XNonce};
use rand_core::CryptoRng;
use sunzi_rlwe::wire::{FieldReader, Fields, HEADER_LEN, Header, Kind, WireError};
use zeroize::Zeroizing;

use crate::cost::SALT;
use crate::{Cost, KeystoreError, Passphrase};

/// Length of a nonce, in bytes.
const NONCE: usize = 24;
/// Length of a tag, in bytes.
const TAG: usize = 16;
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
    let inner = Header::read(&mut &*secret)?;
    let kind = Kind::of(inner.kind).filter(|kind| kind.is_secret() && *kind != Kind::LockedSecret);
    if kind.is_none() {
        return Err(KeystoreError::NotSecret(Kind::describe(inner.kind).to_string()));
    }
    let (mut salt, mut nonce) = ([0; SALT], [0; NONCE]);
    rng.fill_bytes(&mut salt);
    rng.fill_bytes(&mut nonce);
    let body_len = (FIELDS + secret.len() + TAG) as u64;
    let mut fields = Fields::default();
    fields.bytes(&Header { kind: Kind::LockedSecret as u16, body_len, ..inner }.to_bytes());
    [cost.memory, cost.passes, cost.lanes].into_iter().for_each(|number| fields.u32(number));
    fields.bytes(&salt);
    fields.bytes(&nonce);
    let mut locked = fields.into_bytes();
    let cipher = XChaCha20Poly1305::new((&*cost.derive(passphrase, &salt)?).into());
    let mut encrypted = Zeroizing::new(secret.to_vec());
    let tag = cipher.encrypt_inout_detached(&XNonce::from(nonce), &locked, encrypted.as_mut_slice().into());
    locked.extend_from_slice(&encrypted);
    locked.extend_from_slice(&tag.map_err(|_| KeystoreError::PassphraseWrong)?);
    Ok(locked)
}

/// Decrypts a file that [`lock`] made; the bytes are erased when dropped.
///
/// # Errors
/// [`KeystoreError::PassphraseWrong`] for another passphrase, and for a file that was changed; [`KeystoreError::DerivationCost`]; [`KeystoreError::DerivationMemory`];
/// [`KeystoreError::Wire`] for another kind of file, or another length.
pub fn unlock(locked: &[u8], passphrase: &Passphrase) -> Result<Zeroizing<Vec<u8>>, KeystoreError> {
    let parts = Parts::of(locked)?;
    let cipher = XChaCha20Poly1305::new((&*parts.cost.derive(passphrase, &parts.salt)?).into());
    let mut secret = Zeroizing::new(parts.encrypted.to_vec());
    let (nonce, tag) = (XNonce::from(parts.nonce), Tag::from(parts.tag));
    cipher
        .decrypt_inout_detached(&nonce, parts.plain, secret.as_mut_slice().into(), &tag)
        .map_err(|_| KeystoreError::PassphraseWrong)?;
    Ok(secret)
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
    encrypted: &'a [u8],
    tag: [u8; TAG],
}

impl<'a> Parts<'a> {
    fn of(locked: &'a [u8]) -> Result<Self, KeystoreError> {
        let header = Header::read(&mut &*locked)?;
        if header.kind != Kind::LockedSecret as u16 {
            return Err(WireError::Kind { expected: Kind::LockedSecret, got: header.kind }.into());
        }
        let body = (locked.len() - HEADER_LEN) as u64;
        if header.body_len > body {
            return Err(WireError::Truncated.into());
        }
        if header.body_len < body {
            return Err(WireError::Trailing { extra: body - header.body_len }.into());
        }
        let (least, got) = ((FIELDS + HEADER_LEN + TAG) as u64, header.body_len);
        let (plain, rest) = locked.split_at_checked(HEADER_LEN + FIELDS).unwrap_or_default();
        let split = rest.split_last_chunk().filter(|(encrypted, _)| encrypted.len() >= HEADER_LEN);
        let Some((encrypted, tag)) = split else {
            return Err(WireError::Length { expected: least, got }.into());
        };
        let mut fields = FieldReader::new(plain);
        let _: [u8; HEADER_LEN] = fields.array()?;
        let cost = Cost { memory: fields.u32()?, passes: fields.u32()?, lanes: fields.u32()? };
        cost.check()?;
        let (salt, nonce) = (fields.array()?, fields.array()?);
        Ok(Self { plain, cost, salt, nonce, encrypted, tag: *tag })
    }
}
