//! Refreshes of CKKS ciphertexts by shares: additive shares that are encrypted again at once `[MTBH21]`.

use rand_core::CryptoRng;
use sunzi_rlwe::joint::{AdditiveSecret, Quorum, RefreshShare};
use sunzi_rlwe::sharing::Flooding;
use sunzi_rlwe::{DeclaredNoise, SharingPolicy};

use super::{Room, SharedMessage};
use crate::decrypt::shared;
use crate::{Ciphertext, CkksError, Context, Metadata};

impl Context {
    /// Makes a party's share of the refresh of a CKKS ciphertext: of the message less a mask of integers so wide that it hides message and noise, and
    /// of an encryption of the mask at the highest level. Masks of all shares that the policy allows are together at its statistical distance from
    /// what does not depend on them.
    ///
    /// # Errors
    /// [`RlweError::SharingRoom`](sunzi_rlwe::RlweError::SharingRoom) where message and masks do not fit the level; [`RlweError::NoiseDeclaredTooLow`](sunzi_rlwe::RlweError::NoiseDeclaredTooLow); [`CkksError::LevelMismatch`] and
    /// [`CkksError::Ring`] for a ciphertext of another context.
    pub fn refresh_share(
        &self,
        ciphertext: &Ciphertext,
        noise: DeclaredNoise,
        policy: SharingPolicy,
        secret: &impl AdditiveSecret,
        seed: &[u8; 32],
        rng: &mut dyn CryptoRng,
    ) -> Result<RefreshShare, CkksError> {
        let room = self.room_for(ciphertext, noise, policy, None)?;
        self.masked_share(ciphertext, &room, secret, seed, rng)
    }

    /// Returns a CKKS ciphertext of the highest level and of the scale of `ciphertext` from the refresh shares of all parties, or of a quorum. Its error is
    /// that of `ciphertext` and of an encryption. Nobody learns the message.
    ///
    /// # Errors
    /// Every error of [`refresh_share`](Self::refresh_share); [`RlweError::Shares`](sunzi_rlwe::RlweError::Shares) unless there are as many shares as parties.
    pub fn refresh(
        &self,
        ciphertext: &Ciphertext,
        noise: DeclaredNoise,
        policy: SharingPolicy,
        quorum: Option<&Quorum>,
        seed: &[u8; 32],
        shares: &[RefreshShare],
    ) -> Result<Ciphertext, CkksError> {
        let room = self.room_for(ciphertext, noise, policy, None)?;
        self.unmasked(ciphertext, &room, quorum, seed, shares)
    }

    /// Makes a party's share of a refresh after which the noise of `ciphertext` counts as part of the message: as
    /// [`refresh_share`](Self::refresh_share), with flooding noise as wide as that of a shared decryption. What is computed from the refreshed ciphertext depends on the
    /// noise of before no more than a shared result does, so that the noise to declare for results begins anew. It **is** a shared result, which the party's ledger
    /// counts before the share leaves, and there is one share for a ciphertext.
    ///
    /// # Errors
    /// Every error of [`refresh_share`](Self::refresh_share); [`RlweError::Sharing`](sunzi_rlwe::RlweError::Sharing) for noise that is no number.
    pub fn flooded_refresh_share(
        &self,
        ciphertext: &Ciphertext,
        noise: DeclaredNoise,
        policy: SharingPolicy,
        secret: &impl AdditiveSecret,
        seed: &[u8; 32],
        rng: &mut dyn CryptoRng,
    ) -> Result<RefreshShare, CkksError> {
        let flooding = Flooding::new(policy, noise, self.ring().degree())?;
        let room = self.room_for(ciphertext, noise, policy, Some(flooding))?;
        self.masked_share(ciphertext, &room, secret, seed, rng)
    }

    /// Returns a CKKS ciphertext of the highest level from the shares of all parties, or of a quorum, of a
    /// [flooded](Self::flooded_refresh_share) refresh. Its noise is that of an encryption, and its precision has the flooding noise of all.
    ///
    /// # Errors
    /// Every error of [`flooded_refresh_share`](Self::flooded_refresh_share); [`RlweError::Shares`](sunzi_rlwe::RlweError::Shares) unless there are as many shares as parties.
    pub fn flooded_refresh(
        &self,
        ciphertext: &Ciphertext,
        noise: DeclaredNoise,
        policy: SharingPolicy,
        quorum: Option<&Quorum>,
        seed: &[u8; 32],
        shares: &[RefreshShare],
    ) -> Result<Ciphertext, CkksError> {
        let flooding = Flooding::new(policy, noise, self.ring().degree())?;
        let room = self.room_for(ciphertext, noise, policy, Some(flooding))?;
        self.unmasked(ciphertext, &room, quorum, seed, shares)
    }

    /// Returns the level at which a [flooded](Self::flooded_refresh_share) refresh opens a ciphertext: parties whose noise leads to other levels make shares that
    /// do not fit together.
    ///
    /// # Errors
    /// [`RlweError::SharingRoom`](sunzi_rlwe::RlweError::SharingRoom) where message, masks and flooding noise do not fit the ciphertext's level; every other error of
    /// [`flooded_refresh_share`](Self::flooded_refresh_share) that needs no secret.
    pub fn flooded_refresh_level(
        &self,
        ciphertext: &Ciphertext,
        noise: DeclaredNoise,
        policy: SharingPolicy,
    ) -> Result<usize, CkksError> {
        let flooding = Flooding::new(policy, noise, self.ring().degree())?;
        Ok(self.room_for(ciphertext, noise, policy, Some(flooding))?.level)
    }

    fn masked_share(
        &self,
        ciphertext: &Ciphertext,
        room: &Room,
        secret: &impl AdditiveSecret,
        seed: &[u8; 32],
        rng: &mut dyn CryptoRng,
    ) -> Result<RefreshShare, CkksError> {
        let (opening, mask) = self.share_in(ciphertext, room, secret, rng)?;
        Ok(RefreshShare { opening, masks: self.encryption_share(&mask, secret, seed, rng)? })
    }

    fn unmasked(
        &self,
        ciphertext: &Ciphertext,
        room: &Room,
        quorum: Option<&Quorum>,
        seed: &[u8; 32],
        shares: &[RefreshShare],
    ) -> Result<Ciphertext, CkksError> {
        let rest = self.rest_in(ciphertext, room, quorum, shares.iter().map(|share| &share.opening))?;
        let message = match &room.flooding {
            None => SharedMessage::of(ciphertext),
            Some(flooding) => {
                let parties = u32::try_from(shares.len()).unwrap_or(u32::MAX);
                SharedMessage::exact(flooded(ciphertext.metadata(), flooding, parties))
            }
        };
        let masks = shares.iter().map(|share| &share.masks);
        let sealed = self.sealed(ciphertext.key(), &message, Some(&rest), (quorum, seed), masks)?;
        self.finish(sealed, REFRESH, &[ciphertext.trace()])
    }
}

const REFRESH: &str = "refresh by shares";

/// The metadata of a ciphertext whose message has the flooding noise of so many parties: it may be above the bound on slots by that.
fn flooded(metadata: &Metadata, flooding: &Flooding, parties: u32) -> Metadata {
    let of = shared(metadata, metadata.level, flooding, parties);
    let most = flooding.bound_of(parties).bits().exp2() * 2.0 * of.slots as f64 / of.scale;
    let precision = of.precision.with_magnitude(of.precision.magnitude() + most);
    Metadata { precision, ..of }
}
