//! Identities: the keys by which parties know one another, apart from all keys of encryption.

mod card;
mod contacts;

use std::fmt;
use std::io::{Read, Write};
use std::path::Path;

use ed25519_dalek::{Signer, SigningKey};
use hpke::kem::X25519HkdfSha256 as Kem;
use hpke::{Kem as _, Serializable};
use rand_core::{CryptoRng, Rng};
use sunzi_ring::sampling::SeededRng;
use sunzi_rlwe::wire::{self, Fingerprint, WireError};
use zeroize::Zeroizing;

use crate::PartiesError;
use crate::digest::digest;
use crate::journal::{open_state, seal_state};
use crate::roster::check_name;

pub use card::Card;
pub use contacts::Contacts;

/// Keys of encryptions for one party.
pub(crate) type SealingKey = <Kem as hpke::Kem>::PrivateKey;
/// First part of the file of an identity.
const LABEL: &[u8] = b"sunzi identity";
/// Largest number of bytes of the file of an identity.
const MOST_FILE: u64 = 4096;

/// The identity of a party: its name, and the secret from which its keys follow, one that signs (Ed25519) and one to which others encrypt (X25519). **SECRET**: whoever has it
/// is the party to all others. Its [`Card`] is public.
///
/// ```
/// use sunzi_parties::Identity;
/// use sunzi_rlwe::randomness;
///
/// let folder = tempfile::tempdir()?;
/// let north = Identity::generate("north", &mut randomness::from_os()?)?;
/// north.save(folder.path().join("north.id"))?;
/// let again = Identity::load(folder.path().join("north.id"))?;
/// assert_eq!(north.card(Some("north.example:7100"))?, again.card(Some("north.example:7100"))?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Identity {
    name: String,
    seed: Zeroizing<[u8; 32]>,
    signing: SigningKey,
    sealing: SealingKey,
}

impl Identity {
    /// Draws the identity of a party of the given name.
    ///
    /// # Errors
    /// [`PartiesError::Setting`] for a name that no party may have: see [`Roster::new`](crate::Roster::new).
    pub fn generate(name: &str, rng: &mut dyn CryptoRng) -> Result<Self, PartiesError> {
        let mut seed = Zeroizing::new([0; 32]);
        rng.fill_bytes(&mut *seed);
        Self::of_seed(name, seed)
    }

    fn of_seed(name: &str, seed: Zeroizing<[u8; 32]>) -> Result<Self, PartiesError> {
        check_name(name)?;
        let key = |purpose: &str| {
            let mut key = Zeroizing::new([0; 32]);
            SeededRng::derive(&seed, purpose, 0).fill_bytes(&mut *key);
            key
        };
        let signing = SigningKey::from_bytes(&key("sunzi identity: signatures"));
        let (sealing, _) = Kem::derive_keypair(&*key("sunzi identity: encryption"));
        Ok(Self { name: name.to_owned(), seed, signing, sealing })
    }

    /// The name of the party.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the public card of the party, with the address at which others reach it over TLS, if any: a host and a port.
    ///
    /// # Errors
    /// [`PartiesError::Setting`] for an address without host or port.
    pub fn card(&self, address: Option<&str>) -> Result<Card, PartiesError> {
        let sealing = Kem::sk_to_pk(&self.sealing).to_bytes().into();
        Card::new(&self.name, self.signing.verifying_key().to_bytes(), sealing, address)
    }

    /// Writes the identity to a new file for its owner alone (mode 0600).
    ///
    /// # Errors
    /// [`PartiesError::Wire`] where writing fails, and for a file that is there: an identity is never replaced.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), PartiesError> {
        let bytes = seal_state(Fingerprint::default(), &[LABEL, self.name.as_bytes(), &*self.seed]);
        let write = |file: &mut std::fs::File| file.write_all(&bytes).map_err(WireError::Io);
        Ok(wire::create(path.as_ref(), true, write)?)
    }

    /// Reads an identity from a file that its owner alone can reach; on systems other than Unix this is not looked at.
    ///
    /// # Errors
    /// [`PartiesError::Setting`] for a file that others on the machine can reach, and for one that holds something else; [`PartiesError::Wire`].
    pub fn load(path: impl AsRef<Path>) -> Result<Self, PartiesError> {
        check_mode(path.as_ref())?;
        Self::load_anyway(path)
    }

    /// Reads an identity from a file, whoever else can reach it.
    ///
    /// # Errors
    /// [`PartiesError::Setting`] for a file that holds something else; [`PartiesError::Wire`].
    pub fn load_anyway(path: impl AsRef<Path>) -> Result<Self, PartiesError> {
        let file = wire::open_regular(path)?;
        // All room is there from the start: a buffer that grows leaves copies.
        let mut bytes = Zeroizing::new(Vec::with_capacity(MOST_FILE as usize));
        file.take(MOST_FILE).read_to_end(&mut bytes).map_err(WireError::Io)?;
        let [label, name, seed] = open_state(Fingerprint::default(), &bytes)?;
        let (name, seed) = match (std::str::from_utf8(&name), <[u8; 32]>::try_from(&seed[..])) {
            (Ok(name), Ok(seed)) if *label == LABEL => (name, Zeroizing::new(seed)),
            _ => return Err(PartiesError::setting("the file", "an identity", "another state of a party")),
        };
        Self::of_seed(name, seed)
    }

    /// Returns the identity once more, for a channel of its own.
    pub(crate) fn duplicate(&self) -> Self {
        let Self { name, seed, signing, sealing } = self;
        Self { name: name.clone(), seed: seed.clone(), signing: signing.clone(), sealing: sealing.clone() }
    }

    /// Signs the hash of parts in a domain.
    pub(crate) fn sign(&self, domain: &str, parts: &[&[u8]]) -> [u8; 64] {
        self.sign_bytes(&digest(domain, parts.iter().copied()))
    }

    /// Signs bytes that say themselves what they are for.
    pub(crate) fn sign_bytes(&self, bytes: &[u8]) -> [u8; 64] {
        self.signing.sign(bytes).to_bytes()
    }

    /// The key with which this party reads what is encrypted for it.
    pub(crate) fn sealing(&self) -> &SealingKey {
        &self.sealing
    }

    /// Returns a number that follows from parts, and that nobody else can compute.
    pub(crate) fn keyed(&self, domain: &str, parts: &[&[u8]]) -> Zeroizing<[u8; 32]> {
        let parts = [&self.seed[..]].into_iter().chain(parts.iter().copied());
        Zeroizing::new(digest(domain, parts))
    }
}

/// Names the party alone.
impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity").field("name", &self.name).finish_non_exhaustive()
    }
}

#[cfg(unix)]
fn check_mode(path: &Path) -> Result<(), PartiesError> {
    use std::os::unix::fs::PermissionsExt;
    let mode = wire::open_regular(path)?.metadata().map_err(WireError::Io)?.permissions().mode() & 0o777;
    if mode & 0o077 == 0 {
        return Ok(());
    }
    Err(PartiesError::setting(
        "the mode of the file of an identity",
        "0600 (chmod 600)",
        format!("{mode:04o}"),
    ))
}

#[cfg(not(unix))]
fn check_mode(_: &Path) -> Result<(), PartiesError> {
    Ok(())
}
