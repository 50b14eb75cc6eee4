//! Contents of messages: hashes, and shares of keys one after the other.

use sunzi_rlwe::joint::{GaloisShares, PublicKeyShare, Reference, RelinearizationShare};
use sunzi_rlwe::wire::{self, Format, Reader, WireError};
use sunzi_rlwe::{KeyId, RlweContext, SecretKey};

use super::KeyPlan;
use crate::digest::{Digest, digest};
use crate::{Fault, Party, Session};

/// The shares of a party in round 4.
pub struct Shares {
    /// Share of the public key.
    pub public: PublicKeyShare,
    /// Shares of the Galois keys; `None` where none are planned.
    pub galois: Option<GaloisShares>,
    /// First share of the relinearisation key; `None` where none is planned.
    pub relinearization: Option<RelinearizationShare>,
}

impl Shares {
    /// Returns the bytes of the shares: whole objects, one after the other.
    pub(super) fn to_bytes(&self, context: &RlweContext) -> Result<Vec<u8>, WireError> {
        let mut bytes = wire::to_bytes(context, &self.public)?;
        if let Some(galois) = &self.galois {
            wire::write(context, galois, &mut bytes)?;
        }
        if let Some(first) = &self.relinearization {
            wire::write(context, first, &mut bytes)?;
        }
        Ok(bytes)
    }

    /// Reads shares of a reference as they were planned.
    pub(super) fn read(
        context: &RlweContext,
        plan: &KeyPlan,
        reference: &Reference,
        mut bytes: &[u8],
    ) -> Result<Self, WireError> {
        let key = reference.key_id();
        let public = next(context, key, &mut bytes)?;
        let mut galois: Option<GaloisShares> = None;
        if plan.galois().len() > 0 {
            let shares: GaloisShares = next(context, key, &mut bytes)?;
            if !shares.exponents().eq(plan.galois()) {
                let expected = "those that were planned, with their levels";
                return Err(WireError::value("exponents of Galois keys", expected, "others"));
            }
            galois = Some(shares);
        }
        let mut relinearization: Option<RelinearizationShare> = None;
        if let Some(level) = plan.relinearization() {
            let share: RelinearizationShare = next(context, key, &mut bytes)?;
            check_level(level, share.level())?;
            relinearization = Some(share);
        }
        if bytes.is_empty() {
            return Ok(Self { public, galois, relinearization });
        }
        Err(WireError::Trailing { extra: bytes.len() as u64 })
    }
}

/// Reads the next object of a joint secret.
fn next<T>(context: &RlweContext, key: KeyId, bytes: &mut &[u8]) -> Result<T, WireError>
where
    RlweContext: Format<T>,
{
    let (object, left) = Reader::new(*bytes)?.for_key(key)?.read_next(context)?;
    *bytes = left;
    Ok(object)
}

/// Reads the one object of a content.
pub(super) fn only<T>(context: &RlweContext, key: KeyId, mut bytes: &[u8]) -> Result<T, WireError>
where
    RlweContext: Format<T>,
{
    let object = next(context, key, &mut bytes)?;
    if bytes.is_empty() { Ok(object) } else { Err(WireError::Trailing { extra: bytes.len() as u64 }) }
}

pub(super) fn check_level(expected: usize, got: usize) -> Result<(), WireError> {
    if got == expected {
        return Ok(());
    }
    Err(WireError::value("level of a relinearisation share", expected, got))
}

/// Reads a content that is a hash or 32 random bytes.
pub(super) fn read_digest(content: &[u8]) -> Result<Digest, Fault> {
    let length = || Fault::Content(WireError::Length { expected: 32, got: content.len() as u64 });
    content.try_into().map_err(|_| length())
}

/// Returns the commitment of a party to a content: it has the sender's number, so that nobody can copy it from another.
pub(super) fn commitment(what: &str, session: &Session, sender: Party, content: &[u8]) -> Digest {
    digest(what, [session.id(), &sender.number().to_le_bytes()[..], content])
}

/// Returns the secret of this party as it was kept.
pub(super) fn read_secret(
    context: &RlweContext,
    reference: &Reference,
    me: Party,
    bytes: &[u8],
) -> Result<SecretKey, WireError> {
    only(context, Reference::share_id(reference.key_id(), me.number()), bytes)
}
