//! Rounds 1 and 2: the common reference, which no party alone chooses.

use std::collections::BTreeMap;

use rand_core::CryptoRng;
use sunzi_rlwe::joint::Reference;
use sunzi_rlwe::randomness;
use zeroize::Zeroizing;

use super::KeySetup;
use super::content::{commitment, read_digest};
use super::shares::CommittingShares;
use crate::digest::{Digest, digest};
use crate::journal::{CONTRIBUTION, Store, sent};
use crate::round::Core;
use crate::{Fault, PartiesError, Party, Round, Stage, Step};

const DOMAIN: &str = "sunzi commitment to a contribution";

/// Round 1: commitments to contributions to the reference.
pub struct Committing {
    setup: KeySetup,
    /// Own contribution; `None` where the records of a session that is over have it no more.
    contribution: Option<Zeroizing<Digest>>,
}

/// Round 2: contributions to the reference.
pub struct Revealing {
    setup: KeySetup,
    commitments: BTreeMap<Party, Digest>,
}

impl KeySetup {
    /// Opens the first round of a party, or opens it again with the records that the party kept.
    ///
    /// # Errors
    /// [`PartiesError::Aborted`] for a session that was given up; [`PartiesError::Journal`] for records of another session or party; [`PartiesError::Wire`] where records cannot
    /// be written.
    pub fn begin<S: Store>(
        &self,
        me: Party,
        store: S,
        rng: &mut dyn CryptoRng,
    ) -> Result<Round<S, Committing>, PartiesError> {
        let mut core = Core::new(self.session.clone(), me, store)?;
        let mut contribution = None;
        if let Some(kept) = core.journal.secret(CONTRIBUTION)? {
            let damaged = |fault| PartiesError::journal(CONTRIBUTION, fault);
            contribution = Some(Zeroizing::new(read_digest(&kept).map_err(damaged)?));
        } else if core.journal.message(&sent(Step::Commit.round()))?.is_none() {
            // It becomes public, and is secret until all have committed.
            let own = Zeroizing::new(randomness::public_seed(rng));
            core.journal.keep_secret(CONTRIBUTION, &own[..])?;
            contribution = Some(own);
        }
        Round::open(core, Committing { setup: self.clone(), contribution }, |core, stage| {
            let own = required(stage.contribution.as_ref())?;
            Ok(commitment(DOMAIN, &core.session, core.me, own).to_vec())
        })
    }
}

fn required(contribution: Option<&Zeroizing<Digest>>) -> Result<&[u8], PartiesError> {
    let missing = || PartiesError::journal(CONTRIBUTION, "it is missing");
    contribution.map(|own| &own[..]).ok_or_else(missing)
}

impl Stage for Committing {
    type Item = Digest;
    const STEP: Step = Step::Commit;

    fn next(&self) -> Option<Step> {
        Some(Step::Reveal)
    }

    fn most(&self) -> u64 {
        32
    }

    fn read(&self, _: Party, content: &[u8]) -> Result<Digest, Fault> {
        read_digest(content)
    }
}

impl<S: Store> Round<S, Committing> {
    /// Opens the second round, once all messages of this one are there.
    ///
    /// # Errors
    /// [`PartiesError::Missing`]; every error of [`accept`](Self::accept) for messages that came early.
    pub fn advance(self, _: &mut dyn CryptoRng) -> Result<Round<S, Revealing>, PartiesError> {
        let (core, Committing { setup, contribution }, commitments) = self.close()?;
        let stage = Revealing { setup, commitments };
        Round::open(core, stage, |_, _| Ok(required(contribution.as_ref())?.to_vec()))
    }
}

impl Stage for Revealing {
    type Item = Digest;
    const STEP: Step = Step::Reveal;

    fn next(&self) -> Option<Step> {
        Some(Step::CommitShares)
    }

    fn most(&self) -> u64 {
        32
    }

    fn read(&self, sender: Party, content: &[u8]) -> Result<Digest, Fault> {
        let contribution = read_digest(content)?;
        let got = commitment(DOMAIN, &self.setup.session, sender, &contribution);
        if self.commitments.get(&sender) == Some(&got) { Ok(contribution) } else { Err(Fault::Commitment) }
    }
}

impl<S: Store> Round<S, Revealing> {
    /// Opens the third round, once all messages of this one are there: draws this party's secret, and makes its shares for the reference of all contributions.
    ///
    /// # Errors
    /// [`PartiesError::Missing`]; [`PartiesError::Rlwe`]; every error of [`accept`](Self::accept) for messages that came early.
    pub fn advance(self, rng: &mut dyn CryptoRng) -> Result<Round<S, CommittingShares>, PartiesError> {
        let (core, Revealing { setup, .. }, contributions) = self.close()?;
        let parts = contributions.values().map(|contribution| &contribution[..]);
        let reference =
            digest("sunzi reference of a session", [&setup.session.id()[..]].into_iter().chain(parts));
        CommittingShares::open(core, setup, Reference::new(reference), rng)
    }
}
