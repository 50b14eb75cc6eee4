//! Files with a secret key, under a passphrase or not.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

use rand_core::CryptoRng;
use sunzi_rlwe::wire::{self, Header, Kind, WireError, open_regular};
use sunzi_rlwe::{RlweContext, SecretKey};
use zeroize::Zeroizing;

use crate::{Cost, KeystoreError, LONGEST, Passphrase, lock, unlock};

/// Whether a file has a secret under a passphrase. A file that is none of Sunzi has not: whoever reads it says why.
///
/// # Errors
/// [`WireError::Io`] where the file cannot be read.
pub fn is_locked(path: &Path) -> Result<bool, WireError> {
    Ok(kind_of(path)? == Some(Kind::LockedSecret))
}

/// Whether a file has a secret under a wrapped data key. A file that is none of Sunzi has not.
///
/// # Errors
/// [`WireError::Io`] where the file cannot be read.
pub fn is_wrapped(path: &Path) -> Result<bool, WireError> {
    Ok(kind_of(path)? == Some(Kind::WrappedSecret))
}

/// Returns the kind of a file, if it is one of Sunzi.
fn kind_of(path: &Path) -> Result<Option<Kind>, WireError> {
    match open_regular(path).and_then(|mut file| Header::read(&mut file)) {
        Ok(header) => Ok(Kind::of(header.kind)),
        Err(WireError::Io(error)) => Err(WireError::Io(error)),
        Err(_) => Ok(None),
    }
}

/// Reads all bytes of a file with a secret, at most [`LONGEST`].
///
/// # Errors
/// [`WireError::NotRegular`], [`WireError::Io`], and [`WireError::Value`] for a longer file.
pub fn read(path: &Path) -> Result<Zeroizing<Vec<u8>>, WireError> {
    let file = open_regular(path)?;
    let len = file.metadata()?.len();
    if len > LONGEST {
        return Err(WireError::value("bytes of a file with a secret", format!("at most {LONGEST}"), len));
    }
    let mut bytes = Zeroizing::new(Vec::with_capacity(len as usize));
    file.take(len).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a secret key from a file. The passphrase is for a file that is under one.
///
/// # Errors
/// [`KeystoreError::PassphraseMissing`] for a file under a passphrase without one; every error of [`unlock`] and of [`wire::load`].
pub fn load(
    context: &RlweContext,
    path: &Path,
    passphrase: Option<&Passphrase>,
) -> Result<SecretKey, KeystoreError> {
    if !is_locked(path)? {
        return Ok(wire::load(context, path)?);
    }
    let passphrase = passphrase.ok_or(KeystoreError::PassphraseMissing)?;
    Ok(wire::from_bytes(context, &unlock(&read(path)?, passphrase)?)?)
}

/// Writes a secret key to a new file of its owner alone, under a passphrase if there is one: its own bytes never reach the disk then.
///
/// # Errors
/// Every error of [`lock`] and of [`wire::create`].
pub fn create(
    context: &RlweContext,
    secret: &SecretKey,
    path: &Path,
    passphrase: Option<&Passphrase>,
    rng: &mut dyn CryptoRng,
) -> Result<(), KeystoreError> {
    let mut bytes = Zeroizing::new(wire::to_bytes(context, secret)?);
    if let Some(passphrase) = passphrase {
        bytes = Zeroizing::new(lock(&bytes, passphrase, Cost::default(), rng)?);
    }
    let contents = |file: &mut File| file.write_all(&bytes).map_err(WireError::Io);
    Ok(wire::create(path, true, contents)?)
}
