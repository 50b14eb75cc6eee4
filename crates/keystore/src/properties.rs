//! Label and expiry of a key, in a small file beside each of its files.

use std::fmt;
use std::str::FromStr;

use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::{Serialize, Serializer};
use sha2::Sha256;
use sunzi_rlwe::KeyId;
use sunzi_rlwe::wire::{FieldReader, Fields, HEADER_LEN, Header, Kind, WireError, checksum};

use crate::{KeystoreError, Time};

/// Longest label, in characters.
const LONGEST_LABEL: usize = 64;
/// Most bytes that a character takes.
const CHARACTER: usize = 4;
/// Length of an authentication code, in bytes.
const TAG: usize = 32;
/// Longest file of properties, in bytes.
pub const LONGEST_PROPERTIES: u64 = (HEADER_LEN + 5 * 8 + LONGEST_LABEL * CHARACTER + TAG) as u64;
/// Letters that show nothing.
const FILLERS: [char; 4] = ['\u{115f}', '\u{1160}', '\u{3164}', '\u{ffa0}'];
/// Separates codes of properties from everything else that a secret key is hashed for.
const DOMAIN: &[u8] = b"sunzi properties of a key";

/// A label of a key: 1 to 64 letters, digits, spaces and punctuation of ASCII, with no space at either end. So no label has characters that steer a terminal, hide, or
/// turn the direction of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label(String);

impl FromStr for Label {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let shows = |c: char| match c {
            ' ' => true,
            c => c.is_ascii_punctuation() || c.is_alphanumeric() && !FILLERS.contains(&c),
        };
        let count = text.chars().count();
        if (1..=LONGEST_LABEL).contains(&count) && text.chars().all(shows) && text.trim() == text {
            return Ok(Self(text.to_owned()));
        }
        Err(format!(
            "expected 1 to {LONGEST_LABEL} letters, digits, spaces and punctuation of ASCII, with no space at either end"
        ))
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for Label {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

/// Label and expiry of a key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Properties {
    /// Label of the key.
    pub label: Option<Label>,
    /// Time when the properties were set.
    pub set: Time,
    /// First second in which nothing is encrypted under the key any more.
    pub expires: Option<Time>,
}

impl Properties {
    /// Whether the key is expired at a time.
    #[must_use]
    pub fn is_expired(&self, now: Time) -> bool {
        self.expires.is_some_and(|end| end <= now)
    }

    /// Returns the file of these properties, with an authentication code that only the holder of the secret key makes; `secret` is the file of that key.
    ///
    /// ```
    /// use sunzi_keystore::{Properties, StoredProperties, Time};
    /// # use sunzi_rlwe::wire::{Fingerprint, Header, Kind};
    ///
    /// # let header = Header { kind: Kind::SecretKey as u16, parameters: Fingerprint::default(), key: Some(sunzi_rlwe::KeyId::from_bytes([7; 16])), body_len: 3 };
    /// # let secret = [&header.to_bytes()[..], &[1, 2, 3]].concat();
    /// let expires = Some("2027-06-01".parse()?);
    /// let properties = Properties { label: Some("payroll 2026".parse()?), set: Time::now(), expires };
    /// let stored = StoredProperties::read(&properties.sealed(&secret)?)?;
    /// assert_eq!(stored.properties(), &properties);
    /// stored.check(&secret)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`KeystoreError::NotSecret`] for another file than that of a secret key; [`KeystoreError::Wire`].
    pub fn sealed(&self, secret: &[u8]) -> Result<Vec<u8>, KeystoreError> {
        let inner = header_of(secret)?;
        let mut fields = Fields::default();
        fields.u64(self.set.seconds());
        fields.option(self.expires.map(Time::seconds));
        fields.text(self.label.as_ref().map_or("", |label| &label.0));
        let record = fields.as_bytes();
        let body_len = (record.len() + TAG + 8) as u64;
        let header = Header { kind: Kind::KeyProperties as u16, body_len, ..inner };
        let mut file = [&header.to_bytes()[..], record].concat();
        file.extend_from_slice(&code(secret, &file).finalize().into_bytes());
        let sum = checksum(file.get(HEADER_LEN..).unwrap_or_default());
        file.extend_from_slice(&sum.to_le_bytes());
        Ok(file)
    }
}

/// Properties of a key as a file has them: its checksum is right, and whoever has the secret key finds out whether they are authentic.
#[derive(Clone, Debug)]
pub struct StoredProperties {
    properties: Properties,
    key: KeyId,
    /// Bytes that the code authenticates.
    plain: Vec<u8>,
    tag: [u8; TAG],
}

impl StoredProperties {
    /// Reads the file of properties.
    ///
    /// # Errors
    /// [`WireError`] for another file, and for a damaged one.
    pub fn read(bytes: &[u8]) -> Result<Self, WireError> {
        let header = Header::read(&mut &*bytes)?;
        if header.kind != Kind::KeyProperties as u16 {
            return Err(WireError::Kind { expected: Kind::KeyProperties, got: header.kind });
        }
        let key = header.required_key()?;
        let body = bytes.get(HEADER_LEN..).unwrap_or_default();
        if header.body_len != body.len() as u64 {
            return Err(WireError::Length { expected: header.body_len, got: body.len() as u64 });
        }
        let short = || WireError::Length { expected: (4 * 8 + TAG + 8) as u64, got: body.len() as u64 };
        let (sealed, sum) = body.split_last_chunk().ok_or_else(short)?;
        if checksum(sealed) != u64::from_le_bytes(*sum) {
            return Err(WireError::Checksum { what: "the properties of a key" });
        }
        let (record, tag) = sealed.split_last_chunk().ok_or_else(short)?;
        let mut fields = FieldReader::new(record);
        let time = |seconds| {
            let wrong = || WireError::value("a time of a key", "one before the year 10000", seconds);
            Time::from_seconds(seconds).ok_or_else(wrong)
        };
        let set = time(fields.u64()?)?;
        let expires = fields.option("the expiry of a key")?.map(time).transpose()?;
        let text = fields.text("the label of a key", LONGEST_LABEL * CHARACTER)?;
        let label = Some(text).filter(|text| !text.is_empty()).map(str::parse).transpose();
        let label = label.map_err(|expected: String| {
            WireError::value("the label of a key", expected.trim_start_matches("expected "), "other text")
        })?;
        fields.finish()?;
        let plain = bytes.get(..HEADER_LEN + record.len()).unwrap_or_default().to_vec();
        Ok(Self { properties: Properties { label, set, expires }, key, plain, tag: *tag })
    }

    /// Properties that the file says.
    #[must_use]
    pub fn properties(&self) -> &Properties {
        &self.properties
    }

    /// Name of the secret key.
    #[must_use]
    pub fn key(&self) -> KeyId {
        self.key
    }

    /// Checks that the holder of the secret key, whose file is `secret`, set these properties.
    ///
    /// # Errors
    /// [`KeystoreError::PropertiesChanged`]; [`KeystoreError::NotSecret`] for another file than that of a secret key; [`KeystoreError::Wire`].
    pub fn check(&self, secret: &[u8]) -> Result<(), KeystoreError> {
        header_of(secret)?;
        code(secret, &self.plain).verify_slice(&self.tag).map_err(|_| KeystoreError::PropertiesChanged)
    }
}

/// Returns the header of the file of a secret key.
fn header_of(secret: &[u8]) -> Result<Header, KeystoreError> {
    let header = Header::read(&mut &*secret)?;
    if header.kind == Kind::SecretKey as u16 {
        Ok(header)
    } else {
        Err(KeystoreError::NotSecret(Kind::describe(header.kind)))
    }
}

/// Returns the authentication code of bytes under a key that follows from the secret key.
fn code(secret: &[u8], bytes: &[u8]) -> Hmac<Sha256> {
    let derived = mac(DOMAIN, secret).finalize().into_bytes();
    mac(&derived, bytes)
}

/// Returns HMAC-SHA256 of bytes under a key of at most 64 bytes.
fn mac(key: &[u8], bytes: &[u8]) -> Hmac<Sha256> {
    let mut block = [0; 64];
    block.iter_mut().zip(key).for_each(|(to, byte)| *to = *byte);
    let mut mac = Hmac::<Sha256>::new(&block.into());
    mac.update(bytes);
    mac
}
