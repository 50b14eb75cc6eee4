//! Rounds 3 and 4: shares of keys, to which parties commit themselves before they see those of others.

use std::collections::BTreeMap;

use rand_core::CryptoRng;
use sunzi_rlwe::joint::{
    EphemeralSecret, GaloisShares, PublicKeyShare, Reference, RelinearizationShare, RelinearizationSum,
};
use sunzi_rlwe::wire;
use sunzi_rlwe::{GaloisKeys, SecretKey};
use zeroize::Zeroizing;

use super::confirm::{Confirming, Parts};
use super::content::{commitment, only, read_digest, read_secret};
use super::second::SecondSharing;
use super::{KeySetup, Shares};
use crate::digest::Digest;
use crate::journal::{EPHEMERAL, SECRET, SHARES, Store, sent};
use crate::round::Core;
use crate::{Fault, Message, PartiesError, Party, Round, Stage, Step};

const DOMAIN: &str = "sunzi commitment to shares of keys";

/// Round 3: commitments to shares of keys.
pub struct CommittingShares {
    setup: KeySetup,
    reference: Reference,
    secret: SecretKey,
    /// Own shares, as they will be sent.
    content: Zeroizing<Vec<u8>>,
}

/// Round 4: shares of keys.
pub struct Sharing {
    setup: KeySetup,
    reference: Reference,
    secret: SecretKey,
    commitments: BTreeMap<Party, Digest>,
    most: u64,
}

/// What follows round 4.
pub enum AfterShares<S: Store> {
    /// Round 5, in sessions with a relinearisation key.
    Second(Round<S, SecondSharing>),
    /// Round 6, in sessions without one.
    Confirm(Round<S, Confirming>),
}

impl CommittingShares {
    pub(super) fn open<S: Store>(
        mut core: Core<S>,
        setup: KeySetup,
        reference: Reference,
        rng: &mut dyn CryptoRng,
    ) -> Result<Round<S, Self>, PartiesError> {
        if core.journal.message(&sent(Step::CommitShares.round()))?.is_none() {
            // Nothing left this party that depends on what an earlier start may have begun.
            make(&mut core, &setup, &reference, rng)?;
        }
        let damaged = |error| PartiesError::journal(SECRET, error);
        let kept = core.journal.required(SECRET)?;
        let secret = read_secret(&setup.context, &reference, core.me, &kept).map_err(damaged)?;
        let content = own_shares(&core)?;
        let stage = Self { setup, reference, secret, content };
        Round::open(core, stage, |core, stage| {
            Ok(commitment(DOMAIN, &core.session, core.me, &stage.content).to_vec())
        })
    }
}

/// Returns the own shares: as they were kept, or as they were sent.
fn own_shares<S: Store>(core: &Core<S>) -> Result<Zeroizing<Vec<u8>>, PartiesError> {
    if let Some(kept) = core.journal.secret(SHARES)? {
        return Ok(kept);
    }
    let record = sent(Step::Shares.round());
    let Some(message) = core.journal.message(&record)? else {
        return Err(PartiesError::journal(SHARES, "it is missing"));
    };
    let message = Message::read(&message).map_err(|error| PartiesError::journal(&record, error))?;
    Ok(Zeroizing::new(message.content))
}

/// Draws the secret of this party, makes its shares, and keeps both.
fn make<S: Store>(
    core: &mut Core<S>,
    setup: &KeySetup,
    reference: &Reference,
    rng: &mut dyn CryptoRng,
) -> Result<(), PartiesError> {
    [SECRET, EPHEMERAL, SHARES].into_iter().try_for_each(|record| core.journal.remove(record))?;
    let KeySetup { context, plan, .. } = setup;
    let name = Reference::share_id(reference.key_id(), core.me.number());
    let secret = SecretKey::generate_share_named(context, name, rng)?;
    core.journal.keep_secret(SECRET, &Zeroizing::new(wire::to_bytes(context, &secret)?))?;
    let public = PublicKeyShare::new(context, &secret, reference, rng)?;
    let galois = match plan.galois() {
        none if none.len() == 0 => None,
        planned => Some(GaloisShares::new(context, &secret, reference, planned, rng)?),
    };
    let mut relinearization = None;
    if let Some(level) = plan.relinearization() {
        let (share, ephemeral) = RelinearizationShare::new(context, &secret, reference, level, rng)?;
        core.journal.keep_secret(EPHEMERAL, &Zeroizing::new(wire::to_bytes(context, &ephemeral)?))?;
        relinearization = Some(share);
    }
    let shares = Shares { public, galois, relinearization };
    core.journal.keep_secret(SHARES, &shares.to_bytes(context)?)
}

impl Stage for CommittingShares {
    type Item = Digest;
    const STEP: Step = Step::CommitShares;

    fn next(&self) -> Option<Step> {
        Some(Step::Shares)
    }

    /// Shares of all parties have the same length, and come early.
    fn most(&self) -> u64 {
        self.content.len().max(32) as u64
    }

    fn read(&self, _: Party, content: &[u8]) -> Result<Digest, Fault> {
        read_digest(content)
    }
}

impl<S: Store> Round<S, CommittingShares> {
    /// Opens the fourth round, once all messages of this one are there.
    ///
    /// # Errors
    /// [`PartiesError::Missing`]; every error of [`accept`](Self::accept) for messages that came early.
    pub fn advance(self, _: &mut dyn CryptoRng) -> Result<Round<S, Sharing>, PartiesError> {
        let (core, stage, commitments) = self.close()?;
        let CommittingShares { setup, reference, secret, content } = stage;
        let most = content.len() as u64;
        let stage = Sharing { setup, reference, secret, commitments, most };
        let mut round = Round::open(core, stage, |_, _| Ok(content.to_vec()))?;
        round.core.journal.remove(SHARES)?;
        Ok(round)
    }
}

impl Stage for Sharing {
    type Item = Shares;
    const STEP: Step = Step::Shares;

    fn next(&self) -> Option<Step> {
        let has_second = self.setup.plan.relinearization().is_some();
        Some(if has_second { Step::SecondShares } else { Step::Confirm })
    }

    /// Second shares are shorter than first ones.
    fn most(&self) -> u64 {
        self.most
    }

    fn read(&self, sender: Party, content: &[u8]) -> Result<Shares, Fault> {
        let got = commitment(DOMAIN, &self.setup.session, sender, content);
        if self.commitments.get(&sender) != Some(&got) {
            return Err(Fault::Commitment);
        }
        Shares::read(&self.setup.context, &self.setup.plan, &self.reference, content).map_err(Fault::Content)
    }
}

impl<S: Store> Round<S, Sharing> {
    /// Opens the fifth round, or the sixth in a session without relinearisation key, once all messages of this one are there: adds up the shares, and makes this party's
    /// second share.
    ///
    /// # Errors
    /// [`PartiesError::Missing`]; [`PartiesError::Rlwe`]; every error of [`accept`](Self::accept) for messages that came early.
    pub fn advance(self, rng: &mut dyn CryptoRng) -> Result<AfterShares<S>, PartiesError> {
        let (core, stage, items) = self.close()?;
        let Sharing { setup, reference, secret, most, .. } = stage;
        let (mut public, mut galois, mut first) = (Vec::new(), Vec::new(), Vec::new());
        for shares in items.into_values() {
            public.push(shares.public);
            galois.extend(shares.galois);
            first.extend(shares.relinearization);
        }
        let context = &setup.context;
        let public = PublicKeyShare::combine(context, &reference, &public)?;
        let galois = if galois.is_empty() {
            GaloisKeys::none(context, reference.key_id())
        } else {
            GaloisShares::combine(context, &reference, &galois)?
        };
        let parts = Parts { public, galois, relinearization: None, secret };
        let Some(level) = setup.plan.relinearization() else {
            return Ok(AfterShares::Confirm(Confirming::open(core, &setup, parts)?));
        };
        let sum = RelinearizationSum::of(context, &first)?;
        drop(first);
        // The second uniform half follows from all that was sent, so that nobody knew it before.
        let reference = reference.after(core.transcript);
        let mut share = None;
        if core.journal.message(&sent(Step::SecondShares.round()))?.is_none() {
            let kept = core.journal.required(EPHEMERAL)?;
            let damaged = |error| PartiesError::journal(EPHEMERAL, error);
            let ephemeral: EphemeralSecret = only(context, reference.key_id(), &kept).map_err(damaged)?;
            share = Some(ephemeral.second_round(context, &parts.secret, &reference, &sum, rng)?);
        }
        let stage = SecondSharing { setup, reference, level, parts, most };
        Ok(AfterShares::Second(SecondSharing::open(core, stage, share)?))
    }
}
