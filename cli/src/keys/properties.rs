//! Label and expiry of keys, in a file of each folder of keys.

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::path::Path;

use sunzi::rlwe::wire::{WireError, open_regular, replace, to_bytes};
use sunzi::rlwe::{KeyId, RlweContext, SecretKey};
use sunzi_keystore::{KeystoreError, LONGEST_PROPERTIES, Properties, StoredProperties, Time};
use zeroize::Zeroizing;

use crate::error::CliError;
use crate::files::{named, refuse};
use crate::output;

/// File name of label and expiry in each folder of keys.
pub(crate) const PROPERTIES: &str = "properties.sz";

/// A key whose properties are looked at.
#[derive(Clone, Copy)]
pub(crate) struct Held<'a> {
    /// Folder of the key.
    pub(crate) folder: &'a Path,
    pub(crate) key: KeyId,
    /// The secret key where it is there: properties that somebody else set are found out then.
    pub(crate) secret: Option<(&'a RlweContext, &'a SecretKey)>,
}

impl Held<'_> {
    /// Fails where nothing is to be encrypted under the key any more, and where nobody knows.
    pub(crate) fn admit(&self) -> Result<(), CliError> {
        let Some(properties) = self.properties()? else { return Ok(()) };
        let now = Time::now();
        if let Some(end) = properties.expires
            && now < properties.set
        {
            return Err(CliError::input(format!(
                "the clock of this machine shows {now}, and the expiry {end} of {} was set at {}: set the clock",
                called(&properties, self.key),
                properties.set
            )));
        }
        match expired(&properties, self.key, now) {
            Some(expired) => Err(CliError::input(format!(
                "{expired}, and nothing is encrypted under it any more: take the key that follows it, or make one with sunzi keygen; sunzi rekey hands \
                 on what is encrypted already"
            ))),
            None => Ok(()),
        }
    }

    /// Warns where the key is expired, or its properties are not as its holder set them: what is encrypted already is opened all the same.
    pub(crate) fn remark(&self) {
        match self.properties() {
            Ok(Some(properties)) => {
                if let Some(expired) = expired(&properties, self.key, Time::now()) {
                    output::warn(&format!(
                        "{expired}: sunzi rekey hands on to another key what is encrypted under it"
                    ));
                }
            }
            Ok(None) => {}
            Err(error) => output::warn(&error.to_string()),
        }
    }

    /// Returns the properties of the key, if it has some.
    fn properties(&self) -> Result<Option<Properties>, CliError> {
        let path = self.folder.join(PROPERTIES);
        let Some(stored) = read(&path).map_err(|error| refuse(&path, error))? else { return Ok(None) };
        if stored.key() != self.key {
            let other = WireError::Key { expected: Some(self.key), got: Some(stored.key()) };
            return Err(refuse(&path, other));
        }
        if let Some((context, secret)) = self.secret {
            let secret = Zeroizing::new(to_bytes(context, secret).map_err(CliError::failure)?);
            stored.check(&secret).map_err(|error| refused(&path, error))?;
        }
        Ok(Some(stored.properties().clone()))
    }
}

/// Reads the file of properties; none where there is no file.
pub(crate) fn read(path: &Path) -> Result<Option<StoredProperties>, WireError> {
    let file = match open_regular(path) {
        Ok(file) => file,
        Err(WireError::Io(error)) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut bytes = Vec::new();
    file.take(LONGEST_PROPERTIES + 1).read_to_end(&mut bytes)?;
    StoredProperties::read(&bytes).map(Some)
}

/// Returns label and expiry of a key from the folder of a file that belongs to it.
pub(crate) fn beside(file: &Path, key: Option<KeyId>) -> Option<Properties> {
    let stored = read(&file.parent()?.join(PROPERTIES)).ok()??;
    (Some(stored.key()) == key).then(|| stored.properties().clone())
}

/// Writes the file of properties in folders of keys.
pub(crate) fn write<'a>(
    folders: impl IntoIterator<Item = &'a Path>,
    properties: &Properties,
    (context, secret): (&RlweContext, &SecretKey),
) -> Result<(), CliError> {
    let secret = Zeroizing::new(to_bytes(context, secret).map_err(CliError::failure)?);
    for folder in folders {
        let path = folder.join(PROPERTIES);
        let bytes = properties.sealed(&secret).map_err(|error| refused(&path, error))?;
        let contents = |out: &mut File| out.write_all(&bytes).map_err(WireError::Io);
        replace(&path, false, contents).map_err(|error| refuse(&path, error))?;
    }
    Ok(())
}

/// Returns the command-line error for an error of properties.
fn refused(path: &Path, error: KeystoreError) -> CliError {
    match error {
        KeystoreError::Wire(error) => refuse(path, error),
        other => CliError::damaged(format!("{}: {other} with sunzi keys set", named(path))),
    }
}

/// Returns the name of a key in messages, with its label.
fn called(properties: &Properties, key: KeyId) -> String {
    match &properties.label {
        Some(label) => format!("key {key} ({label})"),
        None => format!("key {key}"),
    }
}

/// Returns words on a key that is expired; none for others.
fn expired(properties: &Properties, key: KeyId, now: Time) -> Option<String> {
    let end = properties.expires.filter(|_| properties.is_expired(now))?;
    Some(format!("{} expired at {end}", called(properties, key)))
}
