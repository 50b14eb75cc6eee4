//! Ciphertexts handed from a joint secret to another key, by shares of the parties who hold the secret `[MTBH21]`.
//!
//! * To another secret s' = Σ s'_i of the same parties: h_i = (s_i − s'_i)·c_1 + E_i, and (c_0 + Σ h_i, c_1) is the ciphertext under s'.
//! * To a public key (p_0, p_1) of somebody else: (h_0, h_1) = (s_i·c_1 + E_i, 0) + an encryption of zero under it, and (c_0 + Σ h_0, Σ h_1) is the ciphertext.
//!
//! Whoever has the other secret sees the noise of the ciphertext beside the E_i, as in a decryption: each E_i alone hides it, and every share counts as a shared result.

use rand_core::CryptoRng;
use sunzi_ring::{Evaluation, PackedPoly, Poly, Ring};
use zeroize::Zeroizing;

use super::{AdditiveSecret, DecryptionShare, Quorum, check_shares};
use crate::encryption::zero_public;
use crate::evaluator::finish;
use crate::sharing::Flooding;
use crate::{Ciphertext, Homomorphic, KeyId, NoiseTerm, PublicKey, RlweContext, RlweError};

/// A party's share of the switch of a ciphertext to another secret that parties have together.
#[derive(Clone)]
pub struct KeySwitchShare(pub(crate) DecryptionShare);

/// A party's share of the switch of a ciphertext to the public key of somebody else.
#[derive(Clone)]
pub struct PublicKeySwitchShare {
    pub(crate) level: usize,
    /// Polynomials h_0 and h_1, packed since sums read them once.
    pub(crate) parts: [PackedPoly; 2],
}

/// Difference of two secrets of a party, by which it hands its part of a ciphertext over.
struct Difference<'a, A, B>(&'a A, &'a B);

impl<A: AdditiveSecret, B: AdditiveSecret> AdditiveSecret for Difference<'_, A, B> {
    fn at_level(
        &self,
        context: &RlweContext,
        level: usize,
    ) -> Result<Zeroizing<Poly<Evaluation>>, RlweError> {
        let mut difference = self.0.at_level(context, level)?;
        let ring = context.key_ring().at_level(level)?;
        ring.sub_assign(&mut difference, &*self.1.at_level(context, level)?)?;
        Ok(difference)
    }
}

impl KeySwitchShare {
    /// Returns the level of the ciphertext to whose switch the share belongs.
    ///
    /// # Errors
    /// [`RlweError::Ring`] for a share of another ring.
    pub fn level(&self, context: &RlweContext) -> Result<usize, RlweError> {
        self.0.level(context)
    }

    /// Makes the share of the party that holds `from` of the joint secret and `to` of the other one, of the part c_1 of a ciphertext.
    ///
    /// # Errors
    /// [`RlweError::Ring`] if c_1 or a secret belongs to another ring.
    pub fn new(
        context: &RlweContext,
        linear: &Poly<Evaluation>,
        from: &impl AdditiveSecret,
        to: &impl AdditiveSecret,
        flooding: &Flooding,
        rng: &mut dyn CryptoRng,
    ) -> Result<Self, RlweError> {
        Ok(Self(DecryptionShare::new(context, linear, &Difference(from, to), flooding, rng)?))
    }

    /// Returns the ciphertext under the other secret, of the name `target`, from the shares of all parties or of a quorum.
    ///
    /// # Errors
    /// [`RlweError::Shares`] unless there are as many shares as parties; [`RlweError::WrongPartCount`]; [`RlweError::Ring`] for shares of another
    /// level; the scheme's refusal of the result.
    pub fn combine<S: Homomorphic>(
        context: &S::Context,
        ciphertext: &Ciphertext<S>,
        target: KeyId,
        flooding: &Flooding,
        quorum: Option<&Quorum>,
        shares: &[Self],
    ) -> Result<Ciphertext<S>, S::Error> {
        let rlwe = S::rlwe(context);
        let (ring, [c0, c1]) = opened(rlwe, ciphertext, quorum, shares.len())?;
        let c0 = ring.sum(shares.iter().map(|share| &share.0.0).chain([c0]))?;
        let added = flooding.noise_of(count(shares), rlwe.ring().expansion());
        switched(context, ciphertext, vec![c0, c1.clone()], target, added)
    }
}

impl PublicKeySwitchShare {
    /// The level of the ciphertext to whose switch the share belongs.
    #[must_use]
    pub fn level(&self) -> usize {
        self.level
    }

    /// Makes the share of the party that holds `secret`, of the part c_1 of a ciphertext, for the holder of the `target` key.
    ///
    /// # Errors
    /// [`RlweError::Ring`] if c_1, the secret or the key belongs to another ring.
    pub fn new(
        context: &RlweContext,
        linear: &Poly<Evaluation>,
        secret: &impl AdditiveSecret,
        target: &PublicKey,
        flooding: &Flooding,
        rng: &mut dyn CryptoRng,
    ) -> Result<Self, RlweError> {
        let level = context.ring().level_of(linear)?;
        let ring = context.ring_at(level)?;
        let DecryptionShare(own) = DecryptionShare::new(context, linear, secret, flooding, rng)?;
        let [zero, second] = zero_public(context, target, rng)?.parts;
        let mut first = context.ring().restrict(&zero, level)?;
        ring.add_assign(&mut first, &own)?;
        let second = context.ring().restrict(&second, level)?;
        Ok(Self { level, parts: [ring.packed(&first)?, ring.packed(&second)?] })
    }

    /// Returns the ciphertext under the `target` key from the shares of all parties or of a quorum.
    ///
    /// # Errors
    /// Every error of [`KeySwitchShare::combine`].
    pub fn combine<S: Homomorphic>(
        context: &S::Context,
        ciphertext: &Ciphertext<S>,
        target: KeyId,
        flooding: &Flooding,
        quorum: Option<&Quorum>,
        shares: &[Self],
    ) -> Result<Ciphertext<S>, S::Error> {
        let rlwe = S::rlwe(context);
        let (ring, [c0, _]) = opened(rlwe, ciphertext, quorum, shares.len())?;
        let (first, second): (Vec<_>, Vec<_>) =
            shares.iter().map(|Self { parts: [h0, h1], .. }| (h0, h1)).unzip();
        let (c0, c1) = (ring.sum_packed(&first, Some(c0))?, ring.sum_packed(&second, None)?);
        let zero = rlwe.noise_model().public_encryption(rlwe.log2_encryption_excess());
        let zeros = (1..shares.len()).fold(zero, |sum, _| sum.plus(zero));
        let added = flooding.noise_of(count(shares), rlwe.ring().expansion()).plus(zeros);
        switched(context, ciphertext, vec![c0, c1], target, added)
    }
}

/// Name of the operation in traces and errors.
const OPERATION: &str = "switch to another key by shares";

fn count<T>(shares: &[T]) -> u32 {
    u32::try_from(shares.len()).unwrap_or(u32::MAX)
}

/// The ring and the parts of a ciphertext, once there is a share of every party.
fn opened<'c, S: Homomorphic>(
    context: &RlweContext,
    ciphertext: &'c Ciphertext<S>,
    quorum: Option<&Quorum>,
    shares: usize,
) -> Result<(Ring, [&'c Poly<Evaluation>; 2]), S::Error> {
    check_shares(context, quorum, shares)?;
    let parts = ciphertext.two_parts(OPERATION)?;
    Ok((context.ring_at(context.ring().level_of(parts[1])?)?, parts))
}

/// A ciphertext of the same message with other parts and another key, and with noise that does not depend on its own.
fn switched<S: Homomorphic>(
    context: &S::Context,
    ciphertext: &Ciphertext<S>,
    parts: Vec<Poly<Evaluation>>,
    target: KeyId,
    added: NoiseTerm,
) -> Result<Ciphertext<S>, S::Error> {
    S::check(context, ciphertext)?;
    let metadata = S::noisier(context, ciphertext.metadata(), added)?;
    let switched = Ciphertext::from_parts(parts, metadata, ciphertext.noise().plus(added), target)?;
    finish(context, switched, OPERATION, &[ciphertext.trace()])
}
