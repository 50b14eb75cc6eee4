//! Passage of ciphertexts between a real ring of degree n and the whole ring of degree 2n in which it lies.
//!
//! A ciphertext of the real ring is one of the whole ring under the same secret, and a key switch leads to a secret of
//! the whole ring. On the way back the trace of c_0 + c_1·s is Tr(c_0) + c_+·s_+ + c_-·s_-, for the halves of c_1 and
//! s that [`RealSubring`] describes; a key switch in the real ring leads from each s_± to its secret. So every key is one
//! of learning with errors in its own ring, under the secret of that ring.

use rand_core::CryptoRng;
use sunzi_ring::{Addends, Evaluation, Poly, RealSubring, Ring, RingError, SwitchInput};
use zeroize::Zeroizing;

use crate::key_switch::{added_noise, switch_all};
use crate::{Ciphertext, KeyId, KeySwitchKey, Log2, RlweContext, RlweError, Scheme, SecretKey};

/// Key-switching keys that lead from the secret of a real ring to one of the whole ring in which it lies, and back.
#[derive(Clone)]
pub struct RealRingKeys {
    /// Names of the secrets in the real and in the whole ring.
    ids: [KeyId; 2],
    /// Context of the whole ring in which ciphertexts enter it.
    low: RlweContext,
    enter: KeySwitchKey,
    leave: [KeySwitchKey; 2],
}

impl RealRingKeys {
    /// Makes the keys between a secret of a real ring and one of a whole ring. Ciphertexts enter the whole ring at the
    /// highest level of `low`, a context of lower levels of `whole`, and come back at any level of the real ring.
    ///
    /// # Errors
    /// [`RlweError::Ring`] unless the rings are a real one and that of twice its degree, where `low` and the real ring have the
    /// same moduli at some level, and for secrets of other contexts; [`RlweError::Insecure`] above a limit of security.
    pub fn generate(
        real: (&RlweContext, &SecretKey),
        whole: (&RlweContext, &SecretKey),
        low: &RlweContext,
        rng: &mut dyn CryptoRng,
    ) -> Result<Self, RlweError> {
        let ((real, secret), (whole, of_whole)) = (real, whole);
        level_of(real.ring(), low.ring())?;
        let subring = RealSubring::new(real.key_ring(), low.key_ring())?;
        let included = Zeroizing::new(subring.include(secret.evaluation())?);
        let there = of_whole.in_context(whole, low)?;
        let enter = KeySwitchKey::generate(low, there.evaluation(), &included, low.level(), rng)?;
        let subring = RealSubring::new(real.key_ring(), whole.key_ring())?;
        let halves = subring.halves(of_whole.evaluation())?.map(Zeroizing::new);
        let mut leave = |half: &Poly<Evaluation>| {
            KeySwitchKey::generate(real, secret.evaluation(), half, real.level(), rng)
        };
        let leave = [leave(&halves[0])?, leave(&halves[1])?];
        Ok(Self { ids: [secret.id(), of_whole.id()], low: low.clone(), enter, leave })
    }

    pub(crate) fn from_keys(
        ids: [KeyId; 2],
        low: RlweContext,
        enter: KeySwitchKey,
        leave: [KeySwitchKey; 2],
    ) -> Self {
        Self { ids, low, enter, leave }
    }

    /// The key-switching key that leads to the whole ring.
    pub(crate) fn enter(&self) -> &KeySwitchKey {
        &self.enter
    }

    /// The key-switching keys that lead back, one for each half.
    pub(crate) fn leave(&self) -> &[KeySwitchKey; 2] {
        &self.leave
    }

    /// The context of the whole ring in which ciphertexts enter it, at its highest level.
    #[must_use]
    pub fn low(&self) -> &RlweContext {
        &self.low
    }

    /// The names of the secret keys of the real and of the whole ring.
    #[must_use]
    pub fn ids(&self) -> [KeyId; 2] {
        self.ids
    }

    /// Length of all keys between both rings in memory, in bytes.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        let [first, second] = &self.leave;
        [&self.enter, first, second].map(KeySwitchKey::byte_len).iter().sum()
    }

    /// Returns a ciphertext of the real ring as one of the whole ring, with the same message, modulus and metadata.
    ///
    /// # Errors
    /// [`RlweError::KeyMismatch`]; [`RlweError::WrongPartCount`]; [`RlweError::Ring`] for a ciphertext of another ring or of
    /// another modulus than the highest of [`low`](Self::low).
    pub fn to_whole<S: Scheme>(
        &self,
        real: &RlweContext,
        ciphertext: &Ciphertext<S>,
    ) -> Result<Ciphertext<S>, RlweError> {
        let ([of_real, of_whole], low) = (self.ids, &self.low);
        ciphertext.check_key(of_real, "the key to the whole ring")?;
        let parts = ciphertext.two_parts("the way to the whole ring")?;
        let (level, own) = (low.level(), level_of(real.ring(), low.ring())?);
        let subring = RealSubring::new(&real.ring_at(own)?, low.ring())?;
        let [c0, c1] = [subring.include(parts[0])?, subring.include(parts[1])?];
        let (input, added) = (SwitchInput::Values(&c1), Addends::Values([Some(&c0), None]));
        let parts = self.enter.switch(low, [level, level], input, added, 1)?;
        let noise = ciphertext.noise().plus(added_noise(low, level, 1)?);
        Ciphertext::from_parts(parts.into(), ciphertext.metadata().clone(), noise, of_whole)
    }

    /// Returns the trace of a ciphertext of the whole ring as one of the real ring, of the same modulus: it holds the double of
    /// the real parts of all slots.
    ///
    /// # Errors
    /// [`RlweError::KeyMismatch`]; [`RlweError::WrongPartCount`]; [`RlweError::Ring`] for a ciphertext of another ring or of a
    /// modulus that no level of the real ring has.
    pub fn trace_to_real<S: Scheme>(
        &self,
        [real, whole]: [&RlweContext; 2],
        ciphertext: &Ciphertext<S>,
    ) -> Result<Ciphertext<S>, RlweError> {
        let [of_real, of_whole] = self.ids;
        ciphertext.check_key(of_whole, "the keys to the real ring")?;
        let [c0, c1] = ciphertext.two_parts("the trace to the real ring")?;
        let from = whole.ring_at(whole.ring().level_of(c0)?)?;
        let level = level_of(real.ring(), &from)?;
        let subring = RealSubring::new(&real.ring_at(level)?, &from)?;
        let [mut body, second] = subring.halves(c0)?;
        subring.real().add_assign(&mut body, &second)?;
        let halves = self.leave.iter().zip(subring.halves(c1)?);
        let (parts, added) = switch_all(real, level, body, halves)?;
        let noise = ciphertext.noise().scaled(Log2::of(2.0)).plus(added);
        Ciphertext::from_parts(parts.into(), ciphertext.metadata().clone(), noise, of_real)
    }
}

/// Returns the level of a ring whose modulus another ring has.
fn level_of(ring: &Ring, other: &Ring) -> Result<usize, RlweError> {
    for level in (1..=ring.level()).rev() {
        if ring.at_level(level)?.modulus() == other.modulus() {
            return Ok(level);
        }
    }
    let expected = "a product of moduli that both rings have as a level";
    let got =
        format_args!("{:.1} bits that no level of the real ring has", sunzi_math::log2(other.modulus()))
            .to_string();
    Err(RingError::out_of_range("modulus of a ciphertext between two rings", expected, got).into())
}
