//! Galois keys of a joint secret.

use std::collections::BTreeMap;

use rand_core::CryptoRng;
use sunzi_ring::{Gadget, KeyPart};
use zeroize::Zeroizing;

use super::{Reference, check_count, disagree, sum};
use crate::galois::inverse;
use crate::{GaloisKeys, KeySwitchKey, RlweContext, RlweError, SecretKey};

const KIND: &str = "sunzi joint Galois key";

/// A party's shares of Galois keys of a joint secret: for each exponent k, and the level up to which the key serves, a
/// switching key from s_i to s_i(X^(1/k)) with the uniform halves of the reference.
#[derive(Clone)]
pub struct GaloisShares(BTreeMap<u64, (usize, Vec<KeyPart>)>);

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
        let mut levels: BTreeMap<u64, usize> = BTreeMap::new();
        for (exponent, level) in exponents.into_iter().filter(|&(exponent, _)| exponent != 1) {
            let highest = levels.entry(exponent).or_default();
            *highest = level.max(*highest);
        }
        let (ring, s) = (context.key_ring(), secret.evaluation());
        let share = |(exponent, level)| {
            let target = Zeroizing::new(ring.automorphism(s, inverse(exponent, ring.index())?)?);
            let seed = Some(reference.seed(KIND, exponent));
            let key = KeySwitchKey::generate_from(context, [&*target, s], level, seed, rng)?;
            Ok((exponent, (level, key.first().to_vec())))
        };
        levels.into_iter().map(share).collect::<Result<_, _>>().map(Self)
    }

    /// Returns the Galois keys of the joint secret from the shares of all parties, in any order.
    ///
    /// # Errors
    /// [`RlweError::Shares`] unless there are as many shares as the context has parties, for the same exponents and levels;
    /// [`RlweError::Ring`] for shares of another ring.
    pub fn combine(
        context: &RlweContext,
        reference: &Reference,
        shares: &[Self],
    ) -> Result<GaloisKeys, RlweError> {
        check_count(context, shares.len())?;
        let [first, ..] = shares else { return Err(disagree("the number of shares", "at least two", 0)) };
        let listed =
            |shares: &Self| -> Vec<_> { shares.0.iter().map(|(&k, &(level, _))| (k, level)).collect() };
        let expected = listed(first);
        if let Some(other) = shares.iter().map(listed).find(|listed| *listed != expected) {
            let text = |keys: &[(u64, usize)]| format!("{keys:?}");
            return Err(disagree("exponents and levels of Galois keys", text(&expected), text(&other)));
        }
        let key = |(exponent, level)| {
            let gadget = context.gadget_at(level)?;
            let parts =
                shares.iter().filter_map(|shares| shares.0.get(&exponent)).map(|(_, parts)| &parts[..]);
            let parts = added(&gadget, &parts.collect::<Vec<_>>())?;
            Ok((exponent, KeySwitchKey::from_first(context, reference.seed(KIND, exponent), level, parts)))
        };
        let keys = expected.into_iter().map(key).collect::<Result<_, RlweError>>()?;
        Ok(GaloisKeys::from_keys(reference.key_id(), context.ring().index(), keys))
    }
}

/// Returns the sums of the polynomials of key halves, digit by digit.
fn added(gadget: &Gadget, halves: &[&[KeyPart]]) -> Result<Vec<KeyPart>, RlweError> {
    let digit = |i| {
        let parts = halves.iter().filter_map(|half| half.get(i));
        let parts = parts.map(|part| gadget.unpack_part(part, i)).collect::<Result<Vec<_>, _>>()?;
        if parts.len() != halves.len() {
            return Err(disagree("digits of key shares", halves.len(), parts.len()));
        }
        Ok(gadget.pack_part(sum(&gadget.part_ring(i)?, &parts)?, i)?)
    };
    (0..gadget.digit_count()).map(digit).collect()
}
