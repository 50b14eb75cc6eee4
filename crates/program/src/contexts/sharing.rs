//! Decryption for sharing: noise hides the ciphertext's own, and a ledger counts each decryption before it is done.

use std::collections::BTreeMap;

use sunzi_ckks::Ciphertext;
use sunzi_encoding::Plaintext;
use sunzi_ring::sampling::SeededRng;
use sunzi_rlwe::{DeclaredNoise, LedgerFile, SecretKey, SharingLedger, SharingPolicy, randomness};

use super::{Contexts, Encrypted, Parts};
use crate::{NodeId, ProgramError};

/// Decryption of results for sharing with others: noise is added that hides their own, and each ciphertext is counted
/// first.
///
/// Exact schemes declare as much noise as the parameters allow, and numbers do not change. CKKS declares the noise of
/// the program, and the stated errors grow.
#[derive(Debug)]
pub struct Sharing {
    ledger: LedgerFile,
    noise: BTreeMap<NodeId, DeclaredNoise>,
    rng: SeededRng,
}

impl Sharing {
    /// Makes the decryption for sharing that counts in a ledger. `noise` is what the key holder declares of each
    /// output node in CKKS ([`Plan::declared_noise`](crate::Plan::declared_noise)); exact schemes take none.
    ///
    /// # Errors
    /// [`ProgramError::Scheme`] if the operating system has no randomness.
    pub fn new(ledger: LedgerFile, noise: BTreeMap<NodeId, DeclaredNoise>) -> Result<Self, ProgramError> {
        Ok(Self { ledger, noise, rng: randomness::from_os().map_err(ProgramError::scheme)? })
    }

    /// Returns the ledger of the policy and the decryptions counted.
    #[must_use]
    pub fn ledger(&self) -> &SharingLedger {
        self.ledger.ledger()
    }

    fn policy(&self) -> SharingPolicy {
        self.ledger().policy()
    }

    pub(crate) fn bfv(
        &mut self,
        context: &sunzi_bfv::Context,
        part: &sunzi_bfv::Ciphertext,
        secret: &SecretKey,
    ) -> Result<Plaintext, ProgramError> {
        let noise = bfv_noise(context, part, self.policy())?;
        context
            .decrypt_for_sharing(part, secret, noise, &mut self.ledger, &mut self.rng)
            .map_err(ProgramError::of_bfv)
    }

    pub(crate) fn bgv(
        &mut self,
        context: &sunzi_bgv::Context,
        part: &sunzi_bgv::Ciphertext,
        secret: &SecretKey,
    ) -> Result<Plaintext, ProgramError> {
        let noise = bgv_noise(context, part)?;
        context
            .decrypt_for_sharing(part, secret, noise, &mut self.ledger, &mut self.rng)
            .map_err(ProgramError::of_bgv)
    }

    pub(crate) fn ckks(
        &mut self,
        context: &sunzi_ckks::Context,
        id: NodeId,
        part: &Ciphertext,
        secret: &SecretKey,
    ) -> Result<sunzi_ckks::Plaintext, ProgramError> {
        let noise = of_node(&self.noise, id)?;
        context
            .decrypt_for_sharing(part, secret, noise, &mut self.ledger, &mut self.rng)
            .map_err(ProgramError::of_ckks)
    }
}

/// Refuses a chunk that cannot be shared, before a ledger exists.
pub(crate) fn check_shareable(
    contexts: &Contexts,
    id: NodeId,
    chunk: &Encrypted,
    policy: SharingPolicy,
    noise: &BTreeMap<NodeId, DeclaredNoise>,
) -> Result<(), ProgramError> {
    match (contexts.parts(), chunk) {
        (Parts::Bfv(contexts), Encrypted::Bfv(parts)) => {
            contexts.iter().zip(parts).try_for_each(|(context, part)| {
                let noise = bfv_noise(context, part, policy)?;
                context.check_shareable(part, noise, policy).map_err(ProgramError::of_bfv)
            })
        }
        (Parts::Bgv(contexts), Encrypted::Bgv(parts)) => {
            contexts.iter().zip(parts).try_for_each(|(context, part)| {
                let noise = bgv_noise(context, part)?;
                context.check_shareable(part, noise, policy).map_err(ProgramError::of_bgv)
            })
        }
        (Parts::Ckks(context), Encrypted::Ckks(part)) => {
            context.check_shareable(part, of_node(noise, id)?, policy).map_err(ProgramError::of_ckks)
        }
        _ => Err(ProgramError::mismatch("the scheme", contexts.parameters().name(), "another")),
    }
}

/// Returns the largest noise that the parameters allow to declare. A ciphertext of more noise is refused for lack of
/// room.
pub(super) fn bfv_noise(
    context: &sunzi_bfv::Context,
    part: &sunzi_bfv::Ciphertext,
    policy: SharingPolicy,
) -> Result<DeclaredNoise, ProgramError> {
    let most = context.log2_largest_shareable_noise(policy).map_err(ProgramError::of_bfv)?;
    Ok(DeclaredNoise::from_bits(most.max(part.noise().bound(context.ring().expansion()).bits())))
}

/// Returns the noise that the parameters determine for the level of a ciphertext.
pub(super) fn bgv_noise(
    context: &sunzi_bgv::Context,
    part: &sunzi_bgv::Ciphertext,
) -> Result<DeclaredNoise, ProgramError> {
    check_own(part.hops())?;
    context.declared_noise(part.metadata().level()).map_err(ProgramError::of_bgv)
}

/// Fails for a result of BGV that was handed on: what parameters determine for its level is the noise of a result before its hops.
fn check_own(hops: u32) -> Result<(), ProgramError> {
    if hops == 0 {
        return Ok(());
    }
    let expected = "none, since a result is shared by the owner whose key it was computed under";
    Err(ProgramError::mismatch("the re-encryptions of a result that is shared", expected, hops))
}

pub(super) fn of_node(
    noise: &BTreeMap<NodeId, DeclaredNoise>,
    id: NodeId,
) -> Result<DeclaredNoise, ProgramError> {
    let undeclared = || {
        let expected = format!("a declared bound for {}", id.index());
        ProgramError::mismatch("the noise of an output", expected, "none")
    };
    noise.get(&id).copied().ok_or_else(undeclared)
}
