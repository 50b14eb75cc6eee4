//! Thresholds: t parties of all, by shares that were dealt.

use chacha20::ChaCha20Rng;
use sunzi_rlwe::joint::{
    DecryptionShare, JointDecryption, Quorum, QuorumSecret, Reference, ThresholdPiece, ThresholdShare,
};
use sunzi_rlwe::{RlweContext, SecretKey};

/// The shares of all parties, and how many of them act for all.
pub(super) struct Thresholds {
    threshold: u32,
    shares: Vec<ThresholdShare>,
}

impl Thresholds {
    /// Deals the secrets of 3 parties to 2, of 5 to 3 and of 10 to 7; others decrypt together.
    pub(super) fn of(context: &RlweContext, secrets: &[SecretKey], rng: &mut ChaCha20Rng) -> Option<Self> {
        let (threshold, parties) = match secrets.len() {
            3 => (2, 3),
            5 => (3, 5),
            10 => (7, 10),
            _ => return None,
        };
        let key = Reference::new([1; 32]).key_id();
        let mut deal = |secret| ThresholdPiece::deal(context, key, secret, threshold, parties, rng).unwrap();
        let mut dealers: Vec<_> = secrets.iter().map(|secret| deal(secret).into_iter()).collect();
        let share = |party| {
            let pieces: Vec<_> = dealers.iter_mut().map(|pieces| pieces.next().unwrap()).collect();
            ThresholdShare::combine(context, party, &pieces).unwrap()
        };
        Some(Self { threshold, shares: (1..=parties).map(share).collect() })
    }

    /// A quorum of consecutive parties, another one for each start.
    pub(super) fn quorum(&self, start: u64) -> Quorum {
        let parties = self.shares.len() as u32;
        let first = (start % u64::from(parties)) as u32;
        let numbers: Vec<u32> = (0..self.threshold).map(|i| (first + i) % parties + 1).collect();
        Quorum::new(self.threshold, parties, &numbers).unwrap()
    }

    /// The shares of a quorum of a decryption.
    pub(super) fn shares(
        &self,
        context: &RlweContext,
        decryption: &JointDecryption,
        quorum: &Quorum,
        rng: &mut ChaCha20Rng,
    ) -> Vec<DecryptionShare> {
        let secrets = self.secrets(context, quorum);
        secrets.iter().map(|secret| decryption.share(context, secret, rng).unwrap()).collect()
    }

    /// Returns the secrets of the parties of a quorum, each its share times its Lagrange factor.
    pub(super) fn secrets(&self, context: &RlweContext, quorum: &Quorum) -> Vec<QuorumSecret<'_>> {
        let share = |party: &u32| self.shares[*party as usize - 1].in_quorum(context, quorum).unwrap();
        quorum.parties().iter().map(share).collect()
    }
}
