//! Round 6: confirmations that all parties made the same keys.

use std::io::{self, Write};

use sha2::{Digest as _, Sha256};
use sunzi_rlwe::wire::{self, Format, WireError};
use sunzi_rlwe::{GaloisKeys, PublicKey, RelinearizationKey, RlweContext, SecretKey};

use super::KeySetup;
use super::content::read_digest;
use crate::digest::{Digest, digest};
use crate::journal::{CONTRIBUTION, Store};
use crate::round::Core;
use crate::{Fault, PartiesError, Party, Round, Stage, Step};

/// Keys on the way to a [`JointKeys`].
pub(super) struct Parts {
    pub(super) public: PublicKey,
    pub(super) galois: GaloisKeys,
    pub(super) relinearization: Option<RelinearizationKey>,
    pub(super) secret: SecretKey,
}

/// Round 6: confirmations of keys.
pub struct Confirming {
    parts: Parts,
    keys: Digest,
}

/// The keys of a joint secret, and this party's share of it.
///
/// Together with the secret, a party makes the ledger of the joint secret ([`LedgerFile::prepare`](sunzi_rlwe::LedgerFile::prepare), under the name of the public key): a ledger that is made
/// later cannot be told from one that was lost.
pub struct JointKeys {
    /// Public key of the joint secret.
    pub public: PublicKey,
    /// Galois keys of the joint secret, as planned.
    pub galois: GaloisKeys,
    /// Relinearisation key of the joint secret, if it was planned.
    pub relinearization: Option<RelinearizationKey>,
    /// Own secret of this party. Its name is [`Reference::share_id`](sunzi_rlwe::joint::Reference::share_id) of the joint secret's name.
    pub secret: SecretKey,
    /// Hash of all messages of the session, equal for all parties.
    pub transcript: [u8; 32],
}

impl Confirming {
    pub(super) fn open<S: Store>(
        core: Core<S>,
        setup: &KeySetup,
        parts: Parts,
    ) -> Result<Round<S, Self>, PartiesError> {
        let keys = hash_keys(&setup.context, &parts)?;
        let mut round =
            Round::open(
                core,
                Self { parts, keys },
                |core, stage| Ok(content(&stage.keys, core.me).to_vec()),
            )?;
        // The messages that were kept have all that a restart takes, but the party's own secret.
        round.core.journal.remove(CONTRIBUTION)?;
        Ok(round)
    }
}

/// Returns the confirmation of a party, which nobody can copy from another.
fn content(keys: &Digest, party: Party) -> Digest {
    digest("sunzi confirmation of keys", [&keys[..], &party.number().to_le_bytes()])
}

impl Stage for Confirming {
    type Item = ();
    const STEP: Step = Step::Confirm;

    fn next(&self) -> Option<Step> {
        None
    }

    fn most(&self) -> u64 {
        32
    }

    fn read(&self, sender: Party, bytes: &[u8]) -> Result<(), Fault> {
        let (expected, got) = (content(&self.keys, sender), read_digest(bytes)?);
        if got == expected { Ok(()) } else { Err(Fault::Keys { expected, got }) }
    }
}

impl<S: Store> Round<S, Confirming> {
    /// Returns the keys, once the confirmations of all parties are there. The records keep this party's secret.
    ///
    /// # Errors
    /// [`PartiesError::Missing`].
    pub fn advance(self) -> Result<JointKeys, PartiesError> {
        let (core, Confirming { parts, .. }, _) = self.close()?;
        let Parts { public, galois, relinearization, secret } = parts;
        Ok(JointKeys { public, galois, relinearization, secret, transcript: core.transcript })
    }
}

/// Returns the hash of keys as files have them.
fn hash_keys(context: &RlweContext, parts: &Parts) -> Result<Digest, WireError> {
    let hash = |hash: &mut Hashing| {
        put(context, &parts.public, hash)?;
        put(context, &parts.galois, hash)?;
        parts.relinearization.as_ref().map_or(Ok(()), |key| put(context, key, hash))
    };
    let mut hashing = Hashing(Sha256::new());
    hash(&mut hashing)?;
    Ok(hashing.0.finalize().into())
}

fn put<T>(context: &RlweContext, object: &T, hash: &mut Hashing) -> Result<(), WireError>
where
    RlweContext: Format<T>,
{
    wire::write(context, object, hash)
}

/// A writer that hashes what is written.
struct Hashing(Sha256);

impl Write for Hashing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
