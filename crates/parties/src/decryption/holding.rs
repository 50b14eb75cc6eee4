//! Holding of a party: its own secret, or its share of a threshold.

use sunzi_ring::{Evaluation, Poly};
use sunzi_rlwe::joint::{AdditiveSecret, Quorum, QuorumSecret, Reference, ThresholdShare};
use sunzi_rlwe::{KeyId, RlweContext, RlweError, SecretKey};
use zeroize::Zeroizing;

use crate::{PartiesError, Party, Roster};

/// Own secret of a party, or its share of a threshold of the joint secret.
pub enum Holding {
    /// Own secret of a party, where all parties decrypt.
    Secret(SecretKey),
    /// Share of a threshold, where any t parties decrypt.
    Share(ThresholdShare),
}

impl From<SecretKey> for Holding {
    fn from(secret: SecretKey) -> Self {
        Self::Secret(secret)
    }
}

impl From<ThresholdShare> for Holding {
    fn from(share: ThresholdShare) -> Self {
        Self::Share(share)
    }
}

impl Holding {
    /// Fails unless a party can decrypt under the joint secret of this name with what it holds.
    pub(super) fn check(&self, roster: &Roster, me: Party, key: KeyId) -> Result<(), PartiesError> {
        let refuse = |expected: String, got: String| {
            Err(PartiesError::setting("what this party decrypts with", expected, got))
        };
        let all = !roster.has_shares();
        match self {
            Self::Secret(secret) if all => {
                let expected = Reference::share_id(key, me.number());
                if secret.id() == expected {
                    return Ok(());
                }
                refuse(format!("secret {expected}"), format!("secret {}", secret.id()))
            }
            Self::Share(share) if !all => {
                if (share.key(), share.party()) == (key, me.number()) {
                    return Ok(());
                }
                let named = |key: KeyId, party: u32| format!("the share of party {party} of key {key}");
                refuse(named(key, me.number()), named(share.key(), share.party()))
            }
            Self::Secret(_) => refuse("a share of a threshold".into(), "the own secret".into()),
            Self::Share(_) => refuse("the own secret".into(), "a share of a threshold".into()),
        }
    }

    /// The secret of this party among all parties or in a quorum.
    pub(crate) fn held(
        &self,
        context: &RlweContext,
        quorum: Option<&Quorum>,
    ) -> Result<HeldSecret<'_>, PartiesError> {
        match (self, quorum) {
            (Self::Secret(secret), None) => Ok(HeldSecret(Held::Own(secret))),
            (Self::Share(share), Some(quorum)) => {
                Ok(HeldSecret(Held::Part(share.in_quorum(context, quorum)?)))
            }
            _ => Err(PartiesError::setting("the parties of a request", "those of the roster", "others")),
        }
    }
}

/// The secret with which a party makes its shares: its own, or what its share of a threshold is worth in a quorum.
pub struct HeldSecret<'a>(Held<'a>);

enum Held<'a> {
    Own(&'a SecretKey),
    Part(QuorumSecret<'a>),
}

impl AdditiveSecret for HeldSecret<'_> {
    fn at_level(
        &self,
        context: &RlweContext,
        level: usize,
    ) -> Result<Zeroizing<Poly<Evaluation>>, RlweError> {
        match &self.0 {
            Held::Own(secret) => AdditiveSecret::at_level(*secret, context, level),
            Held::Part(part) => part.at_level(context, level),
        }
    }
}
