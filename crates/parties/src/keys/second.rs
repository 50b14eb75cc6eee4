//! Round 5: second shares of the relinearisation key.

use rand_core::CryptoRng;
use sunzi_rlwe::joint::{Reference, RoundTwoShare};
use sunzi_rlwe::wire;

use super::KeySetup;
use super::confirm::{Confirming, Parts};
use super::content::{check_level, only};
use crate::journal::{EPHEMERAL, Store};
use crate::round::Core;
use crate::{Fault, PartiesError, Party, Round, Stage, Step};

/// Round 5: second shares of the relinearisation key.
pub struct SecondSharing {
    pub(super) setup: KeySetup,
    pub(super) reference: Reference,
    pub(super) level: usize,
    pub(super) parts: Parts,
    pub(super) most: u64,
}

impl SecondSharing {
    /// Opens the round, and removes the ephemeral secret as soon as the message is kept: together with the first share it gives the party's secret away.
    pub(super) fn open<S: Store>(
        core: Core<S>,
        stage: Self,
        share: Option<RoundTwoShare>,
    ) -> Result<Round<S, Self>, PartiesError> {
        let mut round = Round::open(core, stage, |_, stage| match share {
            Some(share) => Ok(wire::to_bytes(&stage.setup.context, &share)?),
            None => Err(PartiesError::journal(EPHEMERAL, "the message that was made of it is gone")),
        })?;
        round.core.journal.remove(EPHEMERAL)?;
        Ok(round)
    }
}

impl Stage for SecondSharing {
    type Item = RoundTwoShare;
    const STEP: Step = Step::SecondShares;

    fn next(&self) -> Option<Step> {
        Some(Step::Confirm)
    }

    fn most(&self) -> u64 {
        self.most
    }

    fn read(&self, _: Party, content: &[u8]) -> Result<RoundTwoShare, Fault> {
        let share: Result<RoundTwoShare, _> = only(&self.setup.context, self.reference.key_id(), content);
        let share = share.map_err(Fault::Content)?;
        check_level(self.level, share.level()).map_err(Fault::Content)?;
        Ok(share)
    }
}

impl<S: Store> Round<S, SecondSharing> {
    /// Opens the sixth round, once all messages of this one are there: adds up the second shares.
    ///
    /// # Errors
    /// [`PartiesError::Missing`]; [`PartiesError::Rlwe`]; every error of [`accept`](Self::accept) for messages that came early.
    pub fn advance(self, _: &mut dyn CryptoRng) -> Result<Round<S, Confirming>, PartiesError> {
        let (core, stage, items) = self.close()?;
        let SecondSharing { setup, reference, mut parts, .. } = stage;
        let shares: Vec<RoundTwoShare> = items.into_values().collect();
        let key = RoundTwoShare::combine(&setup.context, &reference, &shares)?;
        parts.relinearization = Some(key);
        Confirming::open(core, &setup, parts)
    }
}
