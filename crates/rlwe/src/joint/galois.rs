//! Galois keys of a joint secret.

use std::collections::BTreeMap;

use rand_core::CryptoRng;
use sunzi_ring::{Gadget, PackedPoly};

use super::{Reference, check_count, check_digits, check_reference, disagree};
use crate::galois::generate_each;
use crate::{GaloisKeys, KeyId, KeySwitchKey, RlweContext, RlweError, SecretKey};

const KIND: &str = "sunzi joint Galois key";

/// A party's shares of Galois keys of a joint secret: for each exponent k, and the level up to which the key serves, a
/// switching key from s_i to s_i(X^(1/k)) with the uniform halves of the reference.
#[derive(Clone)]
pub struct GaloisShares {
    pub(crate) key: KeyId,
    pub(crate) halves: BTreeMap<u64, GaloisHalf>,
}

/// The first half of a switching key, whose uniform half follows from the reference.
#[derive(Clone)]
pub(crate) struct GaloisHalf {
    pub(crate) level: usize,
    /// First half for each digit.
    pub(crate) parts: Vec<PackedPoly>,
}

impl GaloisShares {
    /// Makes the shares of the party that holds `secret`, for pairs of an exponent and a level; the identity takes none, and of an exponent
    /// listed twice the higher level counts.
    ///
    /// # Errors
    /// [`RlweError::Ring`] for an exponent that is no automorphism of the ring, and for a level that is not there.
    pub fn new(
        context: &RlweContext,
        secret: &SecretKey,
        reference: &Reference,
        exponents: impl IntoIterator<Item = (u64, usize)>,
        rng: &mut dyn CryptoRng,
    ) -> Result<Self, RlweError> {
        let seed = |exponent| Some(reference.seed(KIND, exponent));
        let keys = generate_each(context, secret, exponents, seed, rng, |_, _| {})?;
        // Only the sum takes the uniform halves.
        let half = |key: KeySwitchKey| GaloisHalf { level: key.level(), parts: key.first().to_vec() };
        let halves = keys.into_iter().map(|(exponent, key)| (exponent, half(key))).collect();
        Ok(Self { key: reference.key_id(), halves })
    }

    /// The name of the joint secret.
    #[must_use]
    pub fn key(&self) -> KeyId {
        self.key
    }

    /// The exponents of the keys, ascending, each with the level up to which its key serves.
    pub fn exponents(&self) -> impl ExactSizeIterator<Item = (u64, usize)> + '_ {
        self.halves.iter().map(|(&exponent, half)| (exponent, half.level))
    }

    /// Returns the Galois keys of the joint secret from the shares of all parties, in any order.
    ///
    /// # Errors
    /// [`RlweError::Shares`] unless there are as many shares as the context has parties, for this reference and the same exponents and levels;
    /// [`RlweError::Ring`] for shares of another ring.
    pub fn combine(
        context: &RlweContext,
        reference: &Reference,
        shares: &[Self],
    ) -> Result<GaloisKeys, RlweError> {
        check_count(context, shares.len())?;
        let [first, ..] = shares else { return Err(disagree("the number of shares", "at least two", 0)) };
        check_reference(reference, shares.iter().map(|share| share.key))?;
        let expected: Vec<_> = first.exponents().collect();
        let listed = |shares: &Self| shares.exponents().collect::<Vec<_>>();
        if let Some(other) = shares.iter().map(listed).find(|listed| *listed != expected) {
            let text = |keys: &[(u64, usize)]| format!("{keys:?}");
            return Err(disagree("exponents and levels of Galois keys", text(&expected), text(&other)));
        }
        let key = |(exponent, level)| {
            let gadget = context.gadget_at(level)?;
            let halves = shares.iter().filter_map(|shares| Some(&*shares.halves.get(&exponent)?.parts));
            let parts = added(&gadget, &halves.collect::<Vec<_>>())?;
            Ok((exponent, KeySwitchKey::from_first(context, reference.seed(KIND, exponent), level, parts)))
        };
        let keys = expected.into_iter().map(key).collect::<Result<_, RlweError>>()?;
        Ok(GaloisKeys::from_keys(reference.key_id(), context.ring().index(), keys))
    }
}

/// Returns the sums of the polynomials of key halves, digit by digit.
pub(super) fn added(gadget: &Gadget, halves: &[&[PackedPoly]]) -> Result<Vec<PackedPoly>, RlweError> {
    check_digits(gadget, halves.iter().map(|half| half.len()))?;
    let digit = |i| {
        let parts: Vec<&PackedPoly> = halves.iter().filter_map(|half| half.get(i)).collect();
        Ok(gadget.sum_parts(&parts, i)?)
    };
    (0..gadget.digit_count()).map(digit).collect()
}
