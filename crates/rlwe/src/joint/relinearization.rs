//! Relinearisation key of a joint secret, in two rounds.
//!
//! With the gadget g_i, factors f_i of its digits, uniform a and a' of the reference, and an ephemeral secret u_i of each party, for every digit:
//!
//! 1. h_0 = Σ (−f·(u_i·a + e_i) + g·s_i) = −f·(u·a + e_0) + g·s and h_1 = f·Σ (s_i·a + e_i') = f·(s·a + e_1);
//! 2. b = Σ (s_i·h_0 + u_i·h_1 − f·(s_i·a' + e_i'')) = g·s² − f·(a'·s) + f·(u·e_1 − s·e_0 − e_2).
//!
//! where e_i'' is the sum of three errors. So (b, f·a') is an encryption of g·s² whose uniform half follows from the reference, with the error that
//! [`NoiseModel::key_errors`](crate::NoiseModel) counts. `[MTBH21]` ends with h_1 as the uniform half, and two polynomials a digit of each party in
//! the second round: here it is one, and the key takes half of the bytes.
//! A share is the sum of the two there, s_i·h_0 + e and (u_i − s_i)·h_1 + e', and of a sample s_i·(h_1 − f·a') + e'' for fresh uniform a': whoever learns from it would
//! learn as much from those and one more sample under s_i.

use rand_core::CryptoRng;
use sunzi_ring::{Evaluation, Gadget, PackedPoly, Poly};
use zeroize::Zeroizing;

use super::galois::added;
use super::{Reference, check_count, check_digits, check_reference, disagree};
use crate::keys::zero_sample;
use crate::noise::SECOND_ROUND_ERRORS;
use crate::{KeyId, KeySwitchKey, RelinearizationKey, RlweContext, RlweError, SecretKey, randomness};

const FIRST: &str = "sunzi joint relinearisation, first round";
const KIND: &str = "sunzi joint relinearisation key";

/// Pairs (h_0, h_1) of a party, packed, one for each digit.
pub(crate) type Pairs = Vec<[PackedPoly; 2]>;

/// A party's share of the first round of a relinearisation key: its pairs (h_0, h_1).
///
/// ```
/// use sunzi_rlwe::joint::{Reference, RelinearizationShare, RelinearizationSum, RoundTwoShare};
/// use sunzi_rlwe::{RlweContext, SecretDistribution, SecretKey, Security, randomness};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let index = 128;
/// # let ring = sunzi_ring::Ring::new(index, &sunzi_math::primes_below(1 << 47, index, 2)?)?;
/// # let context = RlweContext::new(ring, Security::InsecureForResearchOnly)?;
/// let context = context.with_secrets(SecretDistribution::Joint(2))?;
/// let (reference, mut rng) = (Reference::new([7; 32]), randomness::from_os()?);
/// let (mut parties, mut first) = (Vec::new(), Vec::new());
/// for _ in 0..2 {
///     let secret = SecretKey::generate_share(&context, &mut rng)?;
///     let level = context.level();
///     let (share, ephemeral) = RelinearizationShare::new(&context, &secret, &reference, level, &mut rng)?;
///     parties.push((secret, ephemeral));
///     first.push(share);
/// }
/// let sum = RelinearizationSum::of(&context, &first)?;
/// // Nobody knows the second reference before all first shares are fixed.
/// let reference = reference.after([9; 32]);
/// let mut second = Vec::new();
/// for (secret, ephemeral) in parties {
///     second.push(ephemeral.second_round(&context, &secret, &reference, &sum, &mut rng)?);
/// }
/// let key = RoundTwoShare::combine(&context, &reference, &second)?;
/// assert_eq!(key.id(), reference.key_id());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct RelinearizationShare {
    pub(crate) key: KeyId,
    pub(crate) level: usize,
    pub(crate) pairs: Pairs,
}

/// The ephemeral secret u_i of a party between the two rounds of a relinearisation key. With the share of the first round it gives the party's own secret away: it
/// stays with the party, and is erased after the second round.
pub struct EphemeralSecret {
    pub(crate) key: KeyId,
    pub(crate) level: usize,
    pub(crate) u: SecretKey,
}

/// The sums (h_0, h_1) of the first round of all parties.
#[derive(Clone)]
pub struct RelinearizationSum {
    key: KeyId,
    level: usize,
    pairs: Vec<[Poly<Evaluation>; 2]>,
}

/// A party's share of the second round of a relinearisation key: one polynomial for each digit.
#[derive(Clone)]
pub struct RoundTwoShare {
    pub(crate) key: KeyId,
    pub(crate) level: usize,
    pub(crate) parts: Vec<PackedPoly>,
}

impl RelinearizationShare {
    /// Makes the first share of the party that holds `secret`, for a key that serves ciphertexts of at most `level` moduli, and the ephemeral secret that the second
    /// round takes.
    ///
    /// # Errors
    /// [`RlweError::Ring`] if the secret belongs to another ring, and for a level that is not there; [`RlweError::Shares`] in a context
    /// whose switching keys drop limbs.
    pub fn new(
        context: &RlweContext,
        secret: &SecretKey,
        reference: &Reference,
        level: usize,
        rng: &mut dyn CryptoRng,
    ) -> Result<(Self, EphemeralSecret), RlweError> {
        context.check_security()?;
        let gadget = gadget_at(context, level)?;
        let ring = gadget.key_ring();
        let s = Zeroizing::new(gadget.restrict_key(secret.evaluation())?);
        let key = reference.key_id();
        let ephemeral = EphemeralSecret { key, level, u: SecretKey::generate_share(context, rng)? };
        let u = Zeroizing::new(gadget.restrict_key(ephemeral.u.evaluation())?);
        let seed = reference.seed(FIRST, level as u64);
        let pair = |digit| {
            let a = ring.uniform(&mut randomness::public_stream(&seed, digit as u64));
            let sample = ring.error_sample(&[[&a, &*s]], 1, false, rng)?;
            let sample = gadget.uniform_part(sample, digit)?;
            let [masked, _] = gadget.key_part(zero_sample(ring, &u, a, rng)?, &s, digit)?;
            Ok([gadget.pack_part(masked, digit)?, gadget.pack_part(sample, digit)?])
        };
        let pairs = (0..gadget.digit_count()).map(pair).collect::<Result<_, RlweError>>()?;
        Ok((Self { key, level, pairs }, ephemeral))
    }

    /// The name of the joint secret.
    #[must_use]
    pub fn key(&self) -> KeyId {
        self.key
    }

    /// The level up to which the key serves.
    #[must_use]
    pub fn level(&self) -> usize {
        self.level
    }
}

impl EphemeralSecret {
    /// Makes the second share of the party, from the sum of the first shares of all. Uses up the ephemeral secret.
    ///
    /// # Errors
    /// [`RlweError::Ring`] if the secret belongs to another ring; [`RlweError::Shares`] for a sum of another level, of other digits or of another joint secret.
    pub fn second_round(
        self,
        context: &RlweContext,
        secret: &SecretKey,
        reference: &Reference,
        sum: &RelinearizationSum,
        rng: &mut dyn CryptoRng,
    ) -> Result<RoundTwoShare, RlweError> {
        if sum.level != self.level {
            return Err(disagree("the level of relinearisation shares", self.level, sum.level));
        }
        check_reference(reference, [self.key, sum.key])?;
        let gadget = gadget_at(context, self.level)?;
        check_digits(&gadget, [sum.pairs.len()])?;
        let ring = gadget.key_ring();
        let s = Zeroizing::new(gadget.restrict_key(secret.evaluation())?);
        let u = Zeroizing::new(gadget.restrict_key(self.u.evaluation())?);
        let seed = reference.seed(KIND, self.level as u64);
        let negated = |poly: &Poly<Evaluation>| {
            let mut poly = Zeroizing::new(poly.clone());
            ring.neg_assign(&mut poly).map(|()| poly)
        };
        let [minus_s, minus_u] = [negated(&s)?, negated(&u)?];
        let part = |(digit, [masked, sample]): (usize, &[Poly<Evaluation>; 2])| {
            let a = ring.uniform(&mut randomness::public_stream(&seed, digit as u64));
            // −(s·a' − s·h_0 − u·h_1 + e).
            let products = [[&a, &*s], [masked, &*minus_s], [sample, &*minus_u]];
            let share = ring.error_sample(&products, SECOND_ROUND_ERRORS, true, rng)?;
            Ok(gadget.pack_part(share, digit)?)
        };
        let parts = sum.pairs.iter().enumerate().map(part).collect::<Result<_, RlweError>>()?;
        Ok(RoundTwoShare { key: self.key, level: self.level, parts })
    }

    /// The name of the joint secret.
    #[must_use]
    pub fn key(&self) -> KeyId {
        self.key
    }
}

impl RelinearizationSum {
    /// Returns the sums of the first shares of all parties, in any order.
    ///
    /// # Errors
    /// [`RlweError::Shares`] unless there are as many shares as the context has parties, of one level and one joint
    /// secret; [`RlweError::Ring`] for shares of another ring.
    pub fn of<'a>(
        context: &RlweContext,
        shares: impl IntoIterator<Item = &'a RelinearizationShare>,
    ) -> Result<Self, RlweError> {
        let shares: Vec<&RelinearizationShare> = shares.into_iter().collect();
        check_count(context, shares.len())?;
        let level = same_level(shares.iter().map(|share| share.level))?;
        let key = same_key(shares.iter().map(|share| share.key))?;
        let gadget = gadget_at(context, level)?;
        check_digits(&gadget, shares.iter().map(|share| share.pairs.len()))?;
        let pair = |digit: usize| {
            let half = |half: usize| {
                let parts = shares.iter().filter_map(|share| share.pairs.get(digit)?.get(half));
                gadget.unpacked_sum(&parts.collect::<Vec<_>>(), digit)
            };
            Ok([half(0)?, half(1)?])
        };
        let pairs = (0..gadget.digit_count()).map(pair).collect::<Result<_, RlweError>>()?;
        Ok(Self { key, level, pairs })
    }
}

impl RoundTwoShare {
    /// The name of the joint secret.
    #[must_use]
    pub fn key(&self) -> KeyId {
        self.key
    }

    /// The level up to which the key serves.
    #[must_use]
    pub fn level(&self) -> usize {
        self.level
    }

    /// Returns the relinearisation key of the joint secret from the second shares of all parties, in any order.
    ///
    /// # Errors
    /// Every error of [`RelinearizationSum::of`].
    pub fn combine(
        context: &RlweContext,
        reference: &Reference,
        shares: &[Self],
    ) -> Result<RelinearizationKey, RlweError> {
        check_count(context, shares.len())?;
        check_reference(reference, shares.iter().map(|share| share.key))?;
        let level = same_level(shares.iter().map(|share| share.level))?;
        let gadget = gadget_at(context, level)?;
        let parts = added(&gadget, &shares.iter().map(|share| &*share.parts).collect::<Vec<_>>())?;
        let key = KeySwitchKey::from_first(context, reference.seed(KIND, level as u64), level, parts);
        Ok(RelinearizationKey::from_key(reference.key_id(), key))
    }
}

fn same_level(levels: impl IntoIterator<Item = usize>) -> Result<usize, RlweError> {
    let mut levels = levels.into_iter();
    let first = levels.next().unwrap_or(0);
    match levels.find(|&level| level != first) {
        Some(other) => Err(disagree("the level of relinearisation shares", first, other)),
        None => Ok(first),
    }
}

fn same_key(keys: impl IntoIterator<Item = KeyId>) -> Result<KeyId, RlweError> {
    let mut keys = keys.into_iter();
    let Some(first) = keys.next() else { return Err(disagree("the number of shares", "at least two", 0)) };
    match keys.find(|&key| key != first) {
        Some(other) => Err(disagree("the joint secret of key shares", first, other)),
        None => Ok(first),
    }
}

/// The gadget of a level. Halves of keys that drop limbs are no factors of the second round.
pub(crate) fn gadget_at(context: &RlweContext, level: usize) -> Result<Gadget, RlweError> {
    let dropped = context.gadget().options().dropped_limbs;
    if dropped > 0 {
        return Err(disagree("limbs that relinearisation keys of several parties drop", 0, dropped));
    }
    context.gadget_at(level)
}
