//! An encryption that parties make together of a sum of what each of them knows: (Σ (m_i − (a·s_i + e_i)), a).
//!
//! It turns additive shares of a message into a ciphertext, and ends an interactive refresh `[MTBH21]`. Part c_1 follows from a seed that all have
//! agreed on, so that a share is one polynomial. **A seed serves once**: two shares of one party for one seed differ by messages and errors alone.

use rand_core::CryptoRng;
use sunzi_ring::{Evaluation, Poly};
use zeroize::Zeroizing;

use super::{AdditiveSecret, DecryptionShare, Quorum, check_shares};
use crate::encryption::Encryption;
use crate::keys::zero_sample;
use crate::{NoiseBound, NoiseTerm, RlweContext, RlweError, noise, randomness};

/// A party's share m_i − (a·s_i + e_i) of an encryption under the joint secret.
#[derive(Clone)]
pub struct EncryptionShare(pub(crate) Poly<Evaluation>);

/// A party's share of an interactive refresh: of the opening of a message less the masks of all, and of an encryption of the masks.
#[derive(Clone)]
pub struct RefreshShare {
    /// Share of the decryption of the message less the masks.
    pub opening: DecryptionShare,
    /// Share of the encryption of the masks.
    pub masks: EncryptionShare,
}

impl EncryptionShare {
    /// Makes the share of the party that holds `secret`, of its scaled `message` of a level, and of the seed of part c_1.
    ///
    /// # Errors
    /// [`RlweError::Ring`] if the message or the secret belongs to another ring.
    pub fn new(
        context: &RlweContext,
        secret: &impl AdditiveSecret,
        seed: &[u8; 32],
        message: &Poly<Evaluation>,
        rng: &mut dyn CryptoRng,
    ) -> Result<Self, RlweError> {
        context.check_security()?;
        let level = context.ring().level_of(message)?;
        let ring = context.ring_at(level)?;
        let s: Zeroizing<Poly<Evaluation>> = secret.at_level(context, level)?;
        let a = ring.uniform(&mut randomness::public_stream(seed, 0));
        let [mut share, _] = zero_sample(&ring, &s, a, rng)?;
        ring.add_assign(&mut share, message)?;
        Ok(Self(share))
    }

    /// Returns the encryption of the sum of the messages from the shares of all parties, or of a quorum, at a level. Its noise has the errors of all,
    /// and the rounding of every message.
    ///
    /// # Errors
    /// [`RlweError::Shares`] unless there are as many shares as parties; [`RlweError::Ring`] for shares of another level.
    pub fn combine<'s>(
        context: &RlweContext,
        level: usize,
        seed: &[u8; 32],
        quorum: Option<&Quorum>,
        shares: impl IntoIterator<Item = &'s Self, IntoIter: ExactSizeIterator>,
    ) -> Result<Encryption, RlweError> {
        let shares = shares.into_iter();
        let count = shares.len();
        check_shares(context, quorum, count)?;
        let ring = context.ring_at(level)?;
        let body = ring.sum(shares.map(|Self(share)| share))?;
        let a = ring.uniform(&mut randomness::public_stream(seed, 0));
        let one = noise::secret_encryption(ring.expansion()).plus(NoiseTerm::rounding());
        let all = (1..count).fold(one, |sum, _| sum.plus(one));
        // Shares of one party may be in several encryptions: nothing is taken to be independent.
        let noise = NoiseBound::dependent(all, 0);
        Ok(Encryption { parts: [body, a], noise, seed: Some(*seed) })
    }
}
