//! Cards: what others know of a party.

use std::io::{Read, Write};
use std::path::Path;

use ed25519_dalek::{Signature, VerifyingKey};
use hpke::Deserializable;
use hpke::kem::X25519HkdfSha256 as Kem;
use serde::{Deserialize, Serialize};
use sunzi_rlwe::wire::{self, WireError};
use sunzi_rlwe::words::grouped;

use crate::PartiesError;
use crate::digest::{Digest, digest, hex};
use crate::roster::check_name;

/// Largest number of bytes of a card.
const MOST_CARD: usize = 4096;
/// Largest number of bytes of an address.
const MOST_ADDRESS: usize = 300;
/// Version of cards that is written and read.
const VERSION: u32 = 1;

/// The public card of a party: its name, its keys, and where it listens. JSON of less than a kilobyte.
///
/// Whoever gets a card compares its [fingerprint](Self::fingerprint) with the party, by telephone or in person: a card that somebody exchanged on its way lets that
/// person be the party.
///
/// ```
/// use sunzi_parties::{Card, Identity};
/// use sunzi_rlwe::randomness;
///
/// let card = Identity::generate("north", &mut randomness::from_os()?)?.card(None)?;
/// assert_eq!(Card::from_json(&card.to_json())?, card);
/// assert_eq!(card.fingerprint().len(), 8 * 4 + 7);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Card {
    name: String,
    signing: [u8; 32],
    sealing: [u8; 32],
    address: Option<String>,
}

/// A card as it stands in a file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    sunzi_card: u32,
    name: String,
    signatures: String,
    encryption: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    address: Option<String>,
}

impl Card {
    pub(super) fn new(
        name: &str,
        signing: [u8; 32],
        sealing: [u8; 32],
        address: Option<&str>,
    ) -> Result<Self, PartiesError> {
        check_name(name)?;
        let key = || PartiesError::setting("a key of a card", "a point of the curve", "other bytes");
        // Keys of small order would have every signature, and every secret, for granted.
        let weak = VerifyingKey::from_bytes(&signing).map_err(|_| key())?.is_weak();
        if weak || sealing == [0; 32] {
            return Err(key());
        }
        <Kem as hpke::Kem>::PublicKey::from_bytes(&sealing).map_err(|_| key())?;
        let address = address.map(check_address).transpose()?;
        Ok(Self { name: name.to_owned(), signing, sealing, address })
    }

    /// The name of the party.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where the party listens, as a host and a port; `None` for a party that only makes connections.
    #[must_use]
    pub fn address(&self) -> Option<&str> {
        self.address.as_deref()
    }

    /// The fingerprint of name and keys, for people to compare: 128 bits in groups of four hexadecimal digits.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        grouped(&self.digest())
    }

    /// Returns the card in JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        let written = Written {
            sunzi_card: VERSION,
            name: self.name.clone(),
            signatures: hex(&self.signing),
            encryption: hex(&self.sealing),
            address: self.address.clone(),
        };
        // Texts and numbers can always be written.
        serde_json::to_string(&written).unwrap_or_default() + "\n"
    }

    /// Reads a card from JSON.
    ///
    /// # Errors
    /// [`PartiesError::Setting`] for what is no card, is longer than 4096 bytes, or has keys, a name or an address that no party can have.
    pub fn from_json(text: &str) -> Result<Self, PartiesError> {
        if text.len() > MOST_CARD {
            return Err(PartiesError::setting("a card", format!("at most {MOST_CARD} bytes"), text.len()));
        }
        let read: Written = serde_json::from_str(text)
            .map_err(|error| PartiesError::setting("a card", "the card of a party in JSON", error))?;
        if read.sunzi_card != VERSION {
            return Err(PartiesError::setting("the version of a card", VERSION, read.sunzi_card));
        }
        let [signing, sealing] = [&read.signatures, &read.encryption].map(|digits| unhex(digits));
        let (Some(signing), Some(sealing)) = (signing, sealing) else {
            return Err(PartiesError::setting("a key of a card", "64 hexadecimal digits", "others"));
        };
        Self::new(&read.name, signing, sealing, read.address.as_deref())
    }

    /// Writes the card to a file, which is replaced in one step if it is there.
    ///
    /// # Errors
    /// [`PartiesError::Wire`].
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), PartiesError> {
        let text = self.to_json();
        let write = |file: &mut std::fs::File| file.write_all(text.as_bytes()).map_err(WireError::Io);
        Ok(wire::replace(path.as_ref(), false, write)?)
    }

    /// Reads a card from a file.
    ///
    /// # Errors
    /// Every error of [`from_json`](Self::from_json); [`PartiesError::Wire`].
    pub fn load(path: impl AsRef<Path>) -> Result<Self, PartiesError> {
        let mut text = String::new();
        let file = wire::open_regular(path)?.take(MOST_CARD as u64 + 1);
        std::io::BufReader::new(file).read_to_string(&mut text).map_err(WireError::Io)?;
        Self::from_json(&text)
    }

    /// The hash of name and keys.
    pub(crate) fn digest(&self) -> Digest {
        digest("sunzi card", [self.name.as_bytes(), &self.signing, &self.sealing])
    }

    /// Whether a signature of the hash of parts in a domain is this party's.
    pub(crate) fn signed(&self, domain: &str, parts: &[&[u8]], signature: &[u8; 64]) -> bool {
        let hash = digest(domain, parts.iter().copied());
        let signature = Signature::from_bytes(signature);
        VerifyingKey::from_bytes(&self.signing).is_ok_and(|key| key.verify_strict(&hash, &signature).is_ok())
    }

    /// The public key of signatures.
    pub(crate) fn signing(&self) -> &[u8; 32] {
        &self.signing
    }

    /// The public key of encryptions.
    pub(crate) fn sealing(&self) -> &[u8; 32] {
        &self.sealing
    }
}

/// Checks that an address names a host and a port.
fn check_address(address: &str) -> Result<String, PartiesError> {
    let parts = address.rsplit_once(':');
    let good = parts.is_some_and(|(host, port)| {
        !host.is_empty()
            && !host.chars().any(|c| c.is_whitespace() || c.is_control())
            && port.parse::<u16>().is_ok()
    });
    if good && address.len() <= MOST_ADDRESS {
        return Ok(address.to_owned());
    }
    Err(PartiesError::setting(
        "the address of a party",
        "a host and a port, as in north.example:7100",
        format!("{address:?}"),
    ))
}

/// Returns the 32 bytes that 64 hexadecimal digits stand for.
fn unhex(digits: &str) -> Option<[u8; 32]> {
    let digits = digits.as_bytes();
    if digits.len() != 64 {
        return None;
    }
    let mut bytes = [0; 32];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks(2)) {
        for &digit in pair {
            let value = char::from(digit).to_digit(16)?;
            *byte = *byte << 4 | u8::try_from(value).ok()?;
        }
    }
    Some(bytes)
}
