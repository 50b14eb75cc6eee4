//! Results for another owner: re-encryption by a proxy, which has no secret.

use sunzi_ring::sampling::SeededRng;
use sunzi_rlwe::{
    Ciphertext, Homomorphic, LedgerFile, ReencryptionContext, ReencryptionKey, Reencryptions, SharingLedger,
    randomness,
};

use super::{Contexts, Encrypted, Parts};
use crate::ProgramError;

/// Re-encryption of results from the key of one owner to that of another, in BFV and BGV: noise is added that hides all there was, and each ciphertext is
/// counted first.
///
/// A proxy declares as much noise as the parameters allow beside the re-encryptions that are to follow. The new owner sees all slots of every ciphertext, and the
/// totals that numbers of a result are computed from.
pub struct Proxy<'a> {
    key: &'a ReencryptionKey,
    ledger: &'a mut LedgerFile,
    further: u32,
    rng: SeededRng,
}

impl<'a> Proxy<'a> {
    /// Makes the proxy that has a re-encryption key and counts in a ledger of the key that it leads away from. `further` is the number of re-encryptions in a row
    /// that stay possible after this one.
    ///
    /// # Errors
    /// [`ProgramError::Mismatch`] for the ledger of another key; [`ProgramError::Scheme`] if the operating system has no randomness.
    pub fn new(
        key: &'a ReencryptionKey,
        ledger: &'a mut LedgerFile,
        further: u32,
    ) -> Result<Self, ProgramError> {
        let (expected, got) = (key.source(), ledger.ledger().key());
        if expected != got {
            return Err(ProgramError::mismatch("the key of the ledger", expected, got));
        }
        let rng = randomness::from_os().map_err(ProgramError::scheme)?;
        Ok(Self { key, ledger, further, rng })
    }

    /// Returns the re-encryption key.
    #[must_use]
    pub fn key(&self) -> &ReencryptionKey {
        self.key
    }

    /// Returns the ledger of the policy and the re-encryptions counted.
    #[must_use]
    pub fn ledger(&self) -> &SharingLedger {
        self.ledger.ledger()
    }

    fn reencryptions(&self) -> Reencryptions {
        Reencryptions { hops: self.further.saturating_add(1), policy: self.ledger().policy() }
    }

    /// Checks that a chunk has room for its re-encryption and for those that are to follow, before anything is counted.
    ///
    /// # Errors
    /// [`ProgramError::Sharing`] where there is no room; [`ProgramError::Mismatch`] for a chunk of another scheme.
    pub fn check(&self, contexts: &Contexts, chunk: &Encrypted) -> Result<(), ProgramError> {
        let asked = self.reencryptions();
        match (contexts.parts(), chunk) {
            (Parts::Bfv(contexts), Encrypted::Bfv(parts)) => {
                let mut each = contexts.iter().zip(parts);
                let fits = |(context, part): (&sunzi_bfv::Context, _)| {
                    context.largest_declared(part, asked).map(drop).map_err(ProgramError::of_bfv)
                };
                each.try_for_each(fits)
            }
            (Parts::Bgv(contexts), Encrypted::Bgv(parts)) => {
                let mut each = contexts.iter().zip(parts);
                let fits = |(context, part): (&sunzi_bgv::Context, _)| {
                    context.largest_declared(part, asked).map(drop).map_err(ProgramError::of_bgv)
                };
                each.try_for_each(fits)
            }
            _ => Err(other_scheme(contexts)),
        }
    }

    /// Re-encrypts a chunk, whose ciphertexts are counted one after the other.
    ///
    /// # Errors
    /// Every error of [`check`](Self::check); [`ProgramError::Sharing`] for a ledger that allows no more, or cannot be written; [`ProgramError::Scheme`] for a chunk
    /// of another key.
    pub fn reencrypt(&mut self, contexts: &Contexts, chunk: &Encrypted) -> Result<Encrypted, ProgramError> {
        match (contexts.parts(), chunk) {
            (Parts::Bfv(contexts), Encrypted::Bfv(parts)) => {
                let each = contexts.iter().zip(parts);
                let one = |(context, part)| self.one(context, part, ProgramError::of_bfv);
                each.map(one).collect::<Result<_, _>>().map(Encrypted::Bfv)
            }
            (Parts::Bgv(contexts), Encrypted::Bgv(parts)) => {
                let each = contexts.iter().zip(parts);
                let one = |(context, part)| self.one(context, part, ProgramError::of_bgv);
                each.map(one).collect::<Result<_, _>>().map(Encrypted::Bgv)
            }
            _ => Err(other_scheme(contexts)),
        }
    }

    fn one<C: ReencryptionContext>(
        &mut self,
        context: &C,
        part: &Ciphertext<C::Scheme>,
        refused: fn(<C::Scheme as Homomorphic>::Error) -> ProgramError,
    ) -> Result<Ciphertext<C::Scheme>, ProgramError> {
        let noise = context.largest_declared(part, self.reencryptions()).map_err(refused)?;
        context.reencrypt(part, self.key, noise, self.ledger, &mut self.rng).map_err(refused)
    }
}

impl Contexts {
    /// Checks that results of these parameters can be re-encrypted for another owner.
    ///
    /// # Errors
    /// [`ProgramError::Mismatch`] unless they are of BFV or BGV, and of the secret of one holder.
    pub fn check_reencryption(&self) -> Result<(), ProgramError> {
        if !matches!(self.parts, Parts::Bfv(_) | Parts::Bgv(_)) {
            return Err(other_scheme(self));
        }
        let parties = self.parameters.parties();
        if parties > 1 {
            let expected = "one of a single holder: those of several parties have no re-encryption";
            return Err(ProgramError::mismatch("the secret", expected, format!("one of {parties} parties")));
        }
        Ok(())
    }
}

fn other_scheme(contexts: &Contexts) -> ProgramError {
    let expected = "BFV or BGV: re-encryption would show the noise of others, which is part of their results";
    ProgramError::mismatch("the scheme", expected, contexts.parameters().name())
}
