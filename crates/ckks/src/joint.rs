//! CKKS under the joint secret of several parties: results opened by shares, additive shares of messages, encryptions made together, refreshes.

mod additive;
mod refresh;

use std::borrow::Cow;

use num_bigint::BigInt;
use num_traits::Signed;
use rand_core::CryptoRng;
use sunzi_ring::{Coefficient, Evaluation, Poly};
use sunzi_rlwe::joint::{
    AdditiveSecret, DecryptionShare, EncryptionShare, JointContext, Opening, Quorum, combined_phase,
};
use sunzi_rlwe::sharing::Flooding;
use sunzi_rlwe::{
    DeclaredNoise, Homomorphic, KeyId, Log2, NoiseBound, NoiseTerm, RlweError, SharingPolicy, Sign,
};
use zeroize::Zeroizing;

pub use self::additive::AdditiveShare;
use self::additive::{MOST_BITS, mask_of};
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

/// The rest of a message of CKKS less the additive shares of all parties: integers that tell nothing without these shares.
///
/// ```
/// use sunzi_ckks::{Context, Encoder, Parameters, SharedMessage};
/// use sunzi_rlwe::joint::{PublicKeyShare, Reference};
/// use sunzi_rlwe::{DeclaredNoise, SecretKey, SharingPolicy, randomness};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let policy = SharingPolicy::new(20, 4)?;
/// let builder = Parameters::builder().parties(2).depth(1).precision(10).sharing(policy);
/// # let builder = builder.log2_degree(8).security(sunzi_rlwe::Security::InsecureForResearchOnly);
/// let context = Context::new(&builder.build()?)?;
/// let (mut rng, reference) = (randomness::from_os()?, Reference::new([7; 32]));
/// let (mut secrets, mut public) = (Vec::new(), Vec::new());
/// for _ in 0..2 {
///     let secret = SecretKey::generate_share(context.rlwe(), &mut rng)?;
///     public.push(PublicKeyShare::new(context.rlwe(), &secret, &reference, &mut rng)?);
///     secrets.push(secret);
/// }
/// let public = PublicKeyShare::combine(context.rlwe(), &reference, &public)?;
/// let encoder = Encoder::new(&context, 8)?;
/// let value = context.encrypt(&encoder.encode_real(&[0.25; 8])?, &public, &mut rng)?;
///
/// let noise = DeclaredNoise::of_own_run(value.noise(), context.ring().expansion());
/// let (mut openings, mut own) = (Vec::new(), Vec::new());
/// for secret in &secrets {
///     let (opening, share) = context.additive_share(&value, noise, policy, secret, &mut rng)?;
///     openings.push(opening);
///     own.push(share);
/// }
/// let rest = context.open_rest(&value, noise, policy, None, &openings)?;
/// let mut words = rest.modulo(&context, 64)?.to_vec();
/// for share in &own {
///     words.iter_mut().zip(&*share.modulo(64)?).for_each(|(sum, word)| *sum += word);
/// }
/// // The constant coefficient of a message of equal slots is the slot times the scale.
/// let constant = (words[0] as u64 as i64) as f64 / value.metadata().scale;
/// assert!((constant - 0.25).abs() < 1e-3);
///
/// // Encrypted again, by shares of all.
/// let seed = [9; 32];
/// let mut sealed = Vec::new();
/// for (share, secret) in own.iter().zip(&secrets) {
///     sealed.push(context.encryption_share(share, secret, &seed, &mut rng)?);
/// }
/// let message = SharedMessage::of(&value);
/// let again = context.encrypt_by_shares(public.id(), &message, Some(&rest), (None, &seed), &sealed)?;
/// assert_eq!(again.metadata().level, context.depth());
/// # Ok(())
/// # }
/// ```
pub struct SharedRest {
    level: usize,
    values: Zeroizing<Poly<Evaluation>>,
}

/// A message of CKKS that is held by additive shares and their rest, and the noise of the ciphertext that it came from.
///
/// ```
/// use sunzi_ckks::{Metadata, Precision, SharedMessage};
///
/// // Eight slots of at most 2 at a scale of 2^40, computed on shares with errors of about 2^-30.
/// let precision = Precision::plain(2.0, 2.0_f64.powi(-30));
/// let message = SharedMessage::exact(Metadata { level: 0, scale: 2.0_f64.powi(40), slots: 8, precision });
/// assert_eq!(message.metadata().slots, 8);
/// ```
#[derive(Clone, Debug)]
pub struct SharedMessage {
    metadata: Metadata,
    noise: Option<NoiseBound>,
}

impl SharedMessage {
    /// The message that a ciphertext holds, with its noise.
    #[must_use]
    pub fn of(ciphertext: &Ciphertext) -> Self {
        Self { metadata: ciphertext.metadata().clone(), noise: Some(*ciphertext.noise()) }
    }

    /// A message that was computed outside of ciphertexts: its scale, slots and precision; the level is not looked at.
    ///
    /// **Noise of ciphertexts must not be in it**: what depends on keys is counted where a result is shared.
    #[must_use]
    pub fn exact(metadata: Metadata) -> Self {
        Self { metadata, noise: None }
    }

    /// The scale, slots and precision of the message.
    #[must_use]
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }
}

impl SharedRest {
    /// Returns the integers modulo 2^bits, for 1 to 128 bits: one for each coefficient of the message.
    ///
    /// # Errors
    /// [`CkksError::Request`] for another number of bits; [`CkksError::Ring`] for the rest of another context.
    pub fn modulo(&self, context: &Context, bits: u32) -> Result<Zeroizing<Vec<u128>>, CkksError> {
        let (mask, ring) = (mask_of(bits)?, context.ring_at(self.level)?);
        let coefficients = Zeroizing::new(ring.to_coefficient((*self.values).clone())?);
        let low = |x: &BigInt| {
            let digits: u128 =
                x.iter_u64_digits().take(2).zip([0, 64]).map(|(d, at)| u128::from(d) << at).sum();
            (if x.is_negative() { digits.wrapping_neg() } else { digits }) & mask
        };
        Ok(Zeroizing::new(ring.to_integers(&coefficients)?.iter().map(low).collect()))
    }
}

impl Context {
    /// Makes a party's additive share of the message of a CKKS ciphertext, and its share of the opening of what is left: of the message less the shares of all, integers
    /// so wide that they hide message and noise. What is left of all messages that the policy allows is together at its statistical distance from what does not depend
    /// on them. It counts as a shared result, which the party's ledger counts.
    ///
    /// # Errors
    /// [`RlweError::SharingRoom`] where message and shares do not fit the level; [`RlweError::NoiseDeclaredTooLow`]; [`CkksError::LevelMismatch`] and
    /// [`CkksError::Ring`] for a ciphertext of another context.
    pub fn additive_share(
        &self,
        ciphertext: &Ciphertext,
        noise: DeclaredNoise,
        policy: SharingPolicy,
        secret: &impl AdditiveSecret,
        rng: &mut dyn CryptoRng,
    ) -> Result<(DecryptionShare, AdditiveShare), CkksError> {
        self.share_in(ciphertext, &self.room_for(ciphertext, noise, policy, None)?, secret, rng)
    }

    /// Returns what the additive shares of all parties, or of a quorum, leave of the message of a CKKS ciphertext, from their shares of its opening.
    ///
    /// # Errors
    /// Every error of [`additive_share`](Self::additive_share); [`RlweError::Shares`] unless there are as many shares as parties.
    pub fn open_rest<'s>(
        &self,
        ciphertext: &Ciphertext,
        noise: DeclaredNoise,
        policy: SharingPolicy,
        quorum: Option<&Quorum>,
        shares: impl IntoIterator<Item = &'s DecryptionShare, IntoIter: ExactSizeIterator>,
    ) -> Result<SharedRest, CkksError> {
        self.rest_in(ciphertext, &self.room_for(ciphertext, noise, policy, None)?, quorum, shares)
    }

    /// Makes a party's share of an encryption, at the highest level, of the message that parties have additive shares of. The seed is common to all, and serves once.
    ///
    /// # Errors
    /// [`CkksError::Ring`] for an additive share of another degree and for a secret of another ring.
    pub fn encryption_share(
        &self,
        share: &AdditiveShare,
        secret: &impl AdditiveSecret,
        seed: &[u8; 32],
        rng: &mut dyn CryptoRng,
    ) -> Result<EncryptionShare, CkksError> {
        let top = self.depth();
        let message = self.evaluation_of(top, share.at(self.ring_at(top)?)?)?;
        Ok(EncryptionShare::new(self.rlwe(), secret, seed, &message, rng)?)
    }

    /// Returns a CKKS ciphertext of the highest level, under the joint secret of this name, of the message that parties have additive shares of: from their shares of
    /// the encryption, and from the rest where one was opened.
    ///
    /// # Errors
    /// [`RlweError::Shares`] unless there are as many shares as parties, or as many as the quorum has; [`CkksError::MessageTooLarge`] for a message that does not fit;
    /// [`CkksError::Ring`] for shares of another ring.
    pub fn encrypt_by_shares<'s>(
        &self,
        key: KeyId,
        message: &SharedMessage,
        rest: Option<&SharedRest>,
        (quorum, seed): (Option<&Quorum>, &[u8; 32]),
        shares: impl IntoIterator<Item = &'s EncryptionShare, IntoIter: ExactSizeIterator>,
    ) -> Result<Ciphertext, CkksError> {
        let sealed = self.sealed(key, message, rest, (quorum, seed), shares)?;
        self.finish(sealed, "encrypt by shares", &[])
    }

    fn share_in(
        &self,
        ciphertext: &Ciphertext,
        room: &Room,
        secret: &impl AdditiveSecret,
        rng: &mut dyn CryptoRng,
    ) -> Result<(DecryptionShare, AdditiveShare), CkksError> {
        let Room { level, bits, .. } = *room;
        let own = AdditiveShare::draw(self.ring().degree(), bits, rng);
        let mut taken = self.evaluation_of(level, own.at(self.ring_at(level)?)?)?;
        // Flooding noise is in the opening alone: it stays in the message.
        if let Some(flooding) = &room.flooding {
            let ring = self.ring_at(level)?;
            let noise = self.evaluation_of(level, flooding.sample(ring, rng)?)?;
            ring.sub_assign(&mut taken, &noise)?;
        }
        let [_, linear] = ciphertext.two_parts("share by several parties")?;
        let linear = self.ring().restrict(linear, self.limbs(level)?)?;
        Ok((DecryptionShare::masked_by(self.rlwe(), &linear, secret, &taken)?, own))
    }

    fn rest_in<'s>(
        &self,
        ciphertext: &Ciphertext,
        room: &Room,
        quorum: Option<&Quorum>,
        shares: impl IntoIterator<Item = &'s DecryptionShare, IntoIter: ExactSizeIterator>,
    ) -> Result<SharedRest, CkksError> {
        let level = room.level;
        let [constant, _] = ciphertext.two_parts("share by several parties")?;
        let constant = self.ring().restrict(constant, self.limbs(level)?)?;
        let values = combined_phase(self.rlwe(), &constant, quorum, shares)?;
        Ok(SharedRest { level, values: self.evaluation_of(level, values)? })
    }

    fn sealed<'s>(
        &self,
        key: KeyId,
        message: &SharedMessage,
        rest: Option<&SharedRest>,
        (quorum, seed): (Option<&Quorum>, &[u8; 32]),
        shares: impl IntoIterator<Item = &'s EncryptionShare, IntoIter: ExactSizeIterator>,
    ) -> Result<Ciphertext, CkksError> {
        let top = self.depth();
        let encryption = EncryptionShare::combine(self.rlwe(), self.limbs(top)?, seed, quorum, shares)?;
        let NoiseBound { worst, deviation, peak, .. } = encryption.noise;
        let added = NoiseTerm { worst, deviation, peak };
        let noise = message.noise.map_or(encryption.noise, |noise| noise.plus(added));
        let metadata = Metadata { level: top, ..Ckks::noisier(self, &message.metadata, added)? };
        let mut sealed = Ciphertext::from_encryption(encryption, metadata, key);
        if let Some(rest) = rest {
            // The rest is below Q_l/2, so that the same integers stand at the highest level.
            let raised = Zeroizing::new(self.ring_at(top)?.mod_raise(&rest.values)?);
            sealed.shift(self.ring_at(top)?, &raised, Sign::Plus)?;
        }
        sealed.set_noise(noise);
        Ok(sealed)
    }

    /// Returns what a ciphertext has room for in additive shares, with flooding noise or without.
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

/// Level at which a ciphertext is opened less additive shares, the bits of these, and the flooding noise that stays in the message.
struct Room {
    level: usize,
    bits: u32,
    flooding: Option<Flooding>,
}
