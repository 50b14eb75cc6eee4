//! Thresholds: any t of n parties act for all, by Shamir shares of the parties' secrets over R_QP `[MBH22]`.
//!
//! Every party i deals its secret s_i by a polynomial f_i(Y) = s_i + r_1·Y + … + r_(t−1)·Y^(t−1) with uniform r_k: party j gets the piece f_i(j), and
//! keeps the sum σ_j of the pieces of all dealers. With the Lagrange factors λ_j of a [`Quorum`] of t parties s = Σ λ_j·σ_j, so that
//! λ_j·σ_j takes the place of s_i wherever parties act together. Errors are added behind the factor, and do not grow by it.
//!
//! Points are the numbers 1 to n of parties; they and their differences are units modulo every prime above n, as all moduli are.
//! t − 1 shares tell nothing of s: they are independent of it.
//!
//! The parties of a quorum hand a secret on to others by dealing λ_j·σ_j again: new shares have nothing in common with old ones, and fewer than t
//! old shares stay as useless as they were. Whoever keeps t of them knows s, so those who stay erase theirs.

use std::iter::successors;

use num_bigint::{BigInt, BigUint};
use rand_core::CryptoRng;
use sunzi_ring::{Evaluation, PackedPoly, Poly};
use zeroize::{Zeroize, Zeroizing};

use super::disagree;
use crate::{KeyId, RlweContext, RlweError, SecretDistribution, SecretKey};

/// A secret that adds up with those of others to the joint one: a party's own, or what a share is worth in a [`Quorum`].
pub trait AdditiveSecret {
    /// Returns the secret at a level of the key ring; erased when dropped.
    ///
    /// # Errors
    /// [`RlweError::Ring`] for a secret of another ring, and for a level that is not there.
    fn at_level(&self, context: &RlweContext, level: usize)
    -> Result<Zeroizing<Poly<Evaluation>>, RlweError>;
}

impl AdditiveSecret for SecretKey {
    fn at_level(
        &self,
        context: &RlweContext,
        level: usize,
    ) -> Result<Zeroizing<Poly<Evaluation>>, RlweError> {
        Self::at_level(self, context, level)
    }
}

/// The numbers of the t parties that act for all n, ascending.
///
/// ```
/// use sunzi_rlwe::joint::Quorum;
///
/// assert_eq!(Quorum::new(2, 3, &[3, 1])?.parties(), [1, 3]);
/// assert!(Quorum::new(2, 3, &[1]).is_err());
/// assert!(Quorum::new(2, 3, &[1, 1]).is_err());
/// assert!(Quorum::new(2, 3, &[1, 4]).is_err());
/// # Ok::<(), sunzi_rlwe::RlweError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quorum(Vec<u32>);

impl Quorum {
    /// Makes the quorum of the parties with these numbers, from 1 to n, in any order.
    ///
    /// # Errors
    /// [`RlweError::Shares`] unless 1 ≤ t ≤ n ≤ 1024 and there are exactly t different numbers from 1 to n.
    pub fn new(threshold: u32, parties: u32, numbers: &[u32]) -> Result<Self, RlweError> {
        check_threshold(threshold, parties)?;
        let mut sorted = numbers.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        if sorted.len() != threshold as usize || sorted.len() != numbers.len() {
            let expected = format!("{threshold} different ones");
            return Err(disagree("the parties of a quorum", expected, format!("{numbers:?}")));
        }
        match sorted.iter().find(|number| !(1..=parties).contains(number)) {
            Some(number) => Err(disagree("the number of a party", format!("1 to {parties}"), number)),
            None => Ok(Self(sorted)),
        }
    }

    /// The numbers of the parties, ascending.
    #[must_use]
    pub fn parties(&self) -> &[u32] {
        &self.0
    }

    /// The Lagrange factor λ_j = Π k/(k − j) over the other parties k, modulo a number to which differences are coprime.
    fn factor(&self, party: u32, modulus: &BigUint) -> Result<BigInt, RlweError> {
        let modulus = BigInt::from(modulus.clone());
        let (mut above, mut below) = (BigInt::from(1), BigInt::from(1));
        for &other in self.0.iter().filter(|&&other| other != party) {
            above *= other;
            below *= i64::from(other) - i64::from(party);
        }
        let inverse = below.modinv(&modulus).ok_or_else(|| {
            disagree("differences of parties' numbers", "coprime to all moduli", below.to_string())
        })?;
        Ok(above * inverse % modulus)
    }
}

/// Fails unless 1 ≤ t ≤ n ≤ 1024.
fn check_threshold(threshold: u32, parties: u32) -> Result<(), RlweError> {
    let most = SecretDistribution::MOST_PARTIES;
    if !(1..=most).contains(&parties) {
        return Err(disagree("the number of parties", format!("1 to {most}"), parties));
    }
    if !(1..=parties).contains(&threshold) {
        return Err(disagree("the threshold", format!("1 to {parties}"), threshold));
    }
    Ok(())
}

/// The piece f_i(j) of the secret of a dealer i for the party j: secret, and for that party alone.
pub struct ThresholdPiece(pub(crate) Point<PackedPoly>);

/// The share σ_j of the joint secret that party j keeps: the sum of the pieces of all dealers.
pub struct ThresholdShare(pub(crate) Point<Poly<Evaluation>>);

/// A secret value of the party j, of a joint secret of a name: packed where it is read once.
pub(crate) struct Point<V: Zeroize> {
    pub(crate) key: KeyId,
    pub(crate) party: u32,
    pub(crate) value: Zeroizing<V>,
}

/// The secret λ_j·σ_j of a party in a quorum, its share times its Lagrange factor: multiplied where it is used, at the level that is needed.
pub struct QuorumSecret<'a> {
    share: &'a Poly<Evaluation>,
    factor: BigInt,
}

impl ThresholdPiece {
    /// Deals a part of the joint secret of this name to n parties, any t of which have it together; pieces are in the order of the parties' numbers.
    ///
    /// # Errors
    /// [`RlweError::Shares`] for a threshold that is none; [`RlweError::Ring`] for a secret of another ring.
    pub fn deal(
        context: &RlweContext,
        key: KeyId,
        secret: &impl AdditiveSecret,
        threshold: u32,
        parties: u32,
        rng: &mut dyn CryptoRng,
    ) -> Result<Vec<Self>, RlweError> {
        check_threshold(threshold, parties)?;
        context.check_security()?;
        let ring = context.key_ring();
        let s = secret.at_level(context, ring.level())?;
        let random = (1..threshold).map(|_| Zeroizing::new(ring.uniform(rng)));
        let coefficients: Vec<_> = std::iter::once(s).chain(random).collect();
        let piece = |party: u32| {
            let next = |power: &BigInt| Some(power * party);
            let powers: Vec<_> = successors(Some(BigInt::from(1)), next).take(coefficients.len()).collect();
            let terms: Vec<_> = powers.iter().zip(coefficients.iter().map(|own| &**own)).collect();
            Ok(Self(Point { key, party, value: Zeroizing::new(ring.packed_combination(&terms)?) }))
        };
        (1..=parties).map(piece).collect()
    }

    /// The number of the party that the piece is for.
    #[must_use]
    pub fn party(&self) -> u32 {
        self.0.party
    }

    /// The name of the joint secret.
    #[must_use]
    pub fn key(&self) -> KeyId {
        self.0.key
    }
}

impl ThresholdShare {
    /// Returns the share of a party from the pieces that all dealers made for it.
    ///
    /// # Errors
    /// [`RlweError::Shares`] without a piece, and for pieces of another party or joint secret; [`RlweError::Ring`] for pieces of another ring.
    pub fn combine(context: &RlweContext, party: u32, pieces: &[ThresholdPiece]) -> Result<Self, RlweError> {
        let Some(key) = pieces.first().map(ThresholdPiece::key) else {
            return Err(disagree("the number of pieces", "at least one", 0));
        };
        if let Some(other) = pieces.iter().find(|piece| piece.party() != party) {
            return Err(disagree("the party of a piece", party, other.party()));
        }
        if let Some(other) = pieces.iter().find(|piece| piece.key() != key) {
            return Err(disagree("the joint secret of a piece", key, other.key()));
        }
        let values: Vec<&PackedPoly> = pieces.iter().map(|piece| &*piece.0.value).collect();
        let value = context.key_ring().sum_packed(&values, None)?;
        Ok(Self(Point { key, party, value: Zeroizing::new(value) }))
    }

    /// The number of the party that has the share.
    #[must_use]
    pub fn party(&self) -> u32 {
        self.0.party
    }

    /// The name of the joint secret.
    #[must_use]
    pub fn key(&self) -> KeyId {
        self.0.key
    }

    /// Returns what the share is worth in a quorum.
    ///
    /// # Errors
    /// [`RlweError::Shares`] for a quorum without the party; [`RlweError::Ring`] for a share of another ring.
    pub fn in_quorum(&self, context: &RlweContext, quorum: &Quorum) -> Result<QuorumSecret<'_>, RlweError> {
        let Self(Point { party, value, .. }) = self;
        if !quorum.parties().contains(party) {
            return Err(disagree("the parties of a quorum", format!("party {party}"), format!("{quorum:?}")));
        }
        let ring = context.key_ring();
        ring.check(value)?;
        Ok(QuorumSecret { share: value, factor: quorum.factor(*party, ring.modulus())? })
    }
}

impl AdditiveSecret for QuorumSecret<'_> {
    fn at_level(
        &self,
        context: &RlweContext,
        level: usize,
    ) -> Result<Zeroizing<Poly<Evaluation>>, RlweError> {
        let product = context.key_ring().linear_combination(&[(&self.factor, self.share)], level)?;
        Ok(Zeroizing::new(product))
    }
}
