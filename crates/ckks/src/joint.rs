//! CKKS under the joint secret of several parties: results opened by shares, and ciphertexts refreshed by them.

mod mask;

use std::borrow::Cow;

use rand_core::CryptoRng;
use sunzi_ring::{Coefficient, Evaluation, Poly};
use sunzi_rlwe::joint::{
    AdditiveSecret, DecryptionShare, EncryptionShare, JointContext, Opening, Quorum, RefreshShare,
    combined_phase,
};
use sunzi_rlwe::sharing::Flooding;
use sunzi_rlwe::{DeclaredNoise, Homomorphic, Log2, NoiseBound, NoiseTerm, RlweError, SharingPolicy, Sign};
use zeroize::Zeroizing;

use self::mask::{MOST_BITS, Mask};
use crate::decrypt::shared;
use crate::{Ciphertext, Ckks, CkksError, Context, Metadata, Plaintext};

impl JointContext for Context {
    type Scheme = Ckks;

    fn opening<'a>(
        &self,
        ciphertext: &'a Ciphertext,
        noise: DeclaredNoise,
        policy: SharingPolicy,
    ) -> Result<Opening<'a, Ckks>, CkksError> {
        let (level, flooding) = self.flooding_for(ciphertext, noise, policy)?;
        Ok(Opening { ciphertext: Cow::Borrowed(ciphertext), level, flooding })
    }

    fn ring_level(&self, level: usize) -> Result<usize, CkksError> {
        self.limbs(level)
    }

    /// The precision of the plaintext counts the noise of all parties.
    fn opened(
        &self,
        opening: &Opening<'_, Ckks>,
        phase: Zeroizing<Poly<Coefficient>>,
        parties: usize,
    ) -> Result<Plaintext, CkksError> {
        let values = self.evaluation_of(opening.level, phase)?;
        let parties = u32::try_from(parties).unwrap_or(u32::MAX);
        let metadata = shared(opening.ciphertext.metadata(), opening.level, &opening.flooding, parties);
        Ok(Plaintext::from_parts(values, metadata))
    }
}

impl Context {
    /// Makes a party's share of the refresh of a CKKS ciphertext: of the message less a mask of integers so wide that it hides message and noise, and
    /// of an encryption of the mask at the highest level. Masks of all shares that the policy allows are together at its statistical distance from
    /// what does not depend on them.
    ///
    /// # Errors
    /// [`RlweError::SharingRoom`] where message and masks do not fit the level; [`RlweError::NoiseDeclaredTooLow`]; [`CkksError::LevelMismatch`] and
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
    /// Every error of [`refresh_share`](Self::refresh_share); [`RlweError::Shares`] unless there are as many shares as parties.
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
    /// Every error of [`refresh_share`](Self::refresh_share); [`RlweError::Sharing`] for noise that is no number.
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
    /// Every error of [`flooded_refresh_share`](Self::flooded_refresh_share); [`RlweError::Shares`] unless there are as many shares as parties.
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
    /// [`RlweError::SharingRoom`] where message, masks and flooding noise do not fit the ciphertext's level; every other error of
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
        let level = room.level;
        let mask = Mask::draw(self.ring().degree(), room.bits, rng);
        let at = |level: usize| -> Result<Zeroizing<Poly<Evaluation>>, CkksError> {
            self.evaluation_of(level, mask.at(self.ring_at(level)?)?)
        };
        let [_, linear] = ciphertext.two_parts(REFRESH)?;
        let linear = self.ring().restrict(linear, self.limbs(level)?)?;
        // The opening is the message less the mask; flooding noise is in the opening and not in the encryption, and stays in the message.
        let mut opened = at(level)?;
        if let Some(flooding) = &room.flooding {
            let ring = self.ring_at(level)?;
            let noise = self.evaluation_of(level, flooding.sample(ring, rng)?)?;
            ring.sub_assign(&mut opened, &noise)?;
        }
        let opening = DecryptionShare::masked_by(self.rlwe(), &linear, secret, &opened)?;
        let masks = EncryptionShare::new(self.rlwe(), secret, seed, &*at(self.depth())?, rng)?;
        Ok(RefreshShare { opening, masks })
    }

    fn unmasked(
        &self,
        ciphertext: &Ciphertext,
        room: &Room,
        quorum: Option<&Quorum>,
        seed: &[u8; 32],
        shares: &[RefreshShare],
    ) -> Result<Ciphertext, CkksError> {
        let (level, top) = (room.level, self.depth());
        let masks = shares.iter().map(|share| &share.masks);
        let encryption = EncryptionShare::combine(self.rlwe(), self.limbs(top)?, seed, quorum, masks)?;
        let [constant, _] = ciphertext.two_parts(REFRESH)?;
        let constant = self.ring().restrict(constant, self.limbs(level)?)?;
        let openings = shares.iter().map(|share| &share.opening);
        let opened = combined_phase(self.rlwe(), &constant, quorum, openings)?;
        let opened = self.evaluation_of(level, opened)?;
        // The opened difference is below Q_l/2, so that the same integers stand at the highest level.
        let raised = Zeroizing::new(self.ring_at(top)?.mod_raise(&opened)?);
        let NoiseBound { worst, deviation, peak, .. } = encryption.noise;
        let added = NoiseTerm { worst, deviation, peak };
        let (before, noise) = match &room.flooding {
            None => (ciphertext.metadata().clone(), ciphertext.noise().plus(added)),
            Some(flooding) => {
                let parties = u32::try_from(shares.len()).unwrap_or(u32::MAX);
                (flooded(ciphertext.metadata(), flooding, parties), encryption.noise)
            }
        };
        let metadata = Metadata { level: top, ..Ckks::noisier(self, &before, added)? };
        let mut refreshed = Ciphertext::from_encryption(encryption, metadata, ciphertext.key());
        refreshed.shift(self.ring_at(top)?, &raised, Sign::Plus)?;
        refreshed.set_noise(noise);
        self.finish(refreshed, REFRESH, &[ciphertext.trace()])
    }

    /// Returns what a ciphertext has room for in a refresh, with flooding noise or without.
    fn room_for(
        &self,
        ciphertext: &Ciphertext,
        noise: DeclaredNoise,
        policy: SharingPolicy,
        flooding: Option<Flooding>,
    ) -> Result<Room, CkksError> {
        self.check(ciphertext)?;
        noise.check(ciphertext.noise(), self.ring().expansion())?;
        let (metadata, parties) = (ciphertext.metadata(), self.rlwe().parties());
        let message = Log2::of(metadata.precision.magnitude()) * metadata.scale;
        let added = flooding.as_ref().map_or(Log2::ZERO, |flooding| flooding.bound_of(parties));
        let hidden = (message + Log2::from_bits(noise.bits()) + added).bits();
        let queries = (policy.queries() as f64).log2();
        let degree = (self.ring().degree() as f64).log2();
        let bits = (hidden + degree + f64::from(policy.statistical_bits()) + queries).ceil().max(1.0);
        let needed = bits + f64::from(parties).log2() + 2.0;
        let fits = |&level: &usize| bits <= f64::from(MOST_BITS) && level <= metadata.level;
        match self.lowest(metadata.level, needed).filter(fits) {
            Some(level) => Ok(Room { level, bits: bits as u32, flooding }),
            None => {
                let held = self.log2_modulus_at(metadata.level)?.min(f64::from(MOST_BITS));
                Err(RlweError::SharingRoom { bits_short: needed - held, declared: noise.bits() }.into())
            }
        }
    }
}

const REFRESH: &str = "refresh by shares";

/// Level at which a ciphertext is opened for a refresh, the bits of masks, and the flooding noise that stays in the message.
struct Room {
    level: usize,
    bits: u32,
    flooding: Option<Flooding>,
}

/// The metadata of a ciphertext whose message has the flooding noise of so many parties: it may be above the bound on slots by that.
fn flooded(metadata: &Metadata, flooding: &Flooding, parties: u32) -> Metadata {
    let of = shared(metadata, metadata.level, flooding, parties);
    let most = flooding.bound_of(parties).bits().exp2() * 2.0 * of.slots as f64 / of.scale;
    let precision = of.precision.with_magnitude(of.precision.magnitude() + most);
    Metadata { precision, ..of }
}
