//! What contexts of schemes offer to a proxy.

use std::borrow::Cow;

use rand_core::CryptoRng;
use sunzi_ring::{Evaluation, Poly};
use zeroize::Zeroizing;

use super::hop::{Hop, MOST_HOPS, refused};
use super::key::added_noise_at;
use super::{ReencryptionKey, Reencryptions};
use crate::evaluator::finish;
use crate::{Ciphertext, DeclaredNoise, Exact, Homomorphic, LedgerFile, NoiseTerm, RlweError, SharingPolicy};

/// Bits by which a largest noise is found too small at most.
const CLOSE: f64 = 1.0 / 32.0;
/// Bits by which a switch to lower moduli lowers noise at most.
const WORD: f64 = 64.0;
/// Name of the operation in traces and errors.
const OPERATION: &str = "re-encrypt";

type ErrorOf<C> = <<C as ReencryptionContext>::Scheme as Homomorphic>::Error;
type CiphertextOf<C> = Ciphertext<<C as ReencryptionContext>::Scheme>;

/// A ciphertext as it is re-encrypted, switched to lower moduli where it has to be.
pub struct Departure<'a, S: Homomorphic> {
    /// Ciphertext whose phase holds nothing beside its message and its noise.
    pub ciphertext: Cow<'a, Ciphertext<S>>,
    /// Noise that is declared for the ciphertext, as it is here.
    pub noise: DeclaredNoise,
    /// Size log2 of the largest noise that its modulus holds beside a message.
    pub capacity: f64,
}

/// A context of exact integers whose ciphertexts a proxy hands from one owner to another, without any secret.
///
/// A proxy declares the noise of what it re-encrypts from its own knowledge: from a run of the agreed program on encryptions of its own
/// ([`DeclaredNoise::of_own_run`]), then from hop to hop ([`declared_after_hop`](Self::declared_after_hop)).
pub trait ReencryptionContext: Sized {
    /// The scheme as a type.
    type Scheme: Exact<Context = Self>;

    /// Returns a ciphertext as it is re-encrypted.
    ///
    /// # Errors
    /// The scheme's errors for a ciphertext of other parameters, or one that has no room for a switch to the moduli where it is re-encrypted.
    fn departure<'a>(
        &self,
        ciphertext: &'a CiphertextOf<Self>,
        noise: DeclaredNoise,
    ) -> Result<Departure<'a, Self::Scheme>, ErrorOf<Self>>;

    /// Returns the noise to declare for a ciphertext after its next re-encryption, from what is declared for it now.
    ///
    /// # Errors
    /// [`RlweError::ReencryptionRoom`] where its modulus has no room for the re-encryption; [`RlweError::NoiseDeclaredTooLow`]; [`RlweError::Sharing`] after
    /// [`MOST_HOPS`] of them; [`RlweError::WrongPartCount`] for a ciphertext that is not relinearised; the scheme's errors for one of other parameters.
    fn declared_after_hop(
        &self,
        ciphertext: &CiphertextOf<Self>,
        noise: DeclaredNoise,
        policy: SharingPolicy,
    ) -> Result<DeclaredNoise, ErrorOf<Self>> {
        let departure = depart(self, ciphertext, noise)?;
        Ok(hop_of(self, &departure, policy)?.declared())
    }

    /// Returns how many times in a row a ciphertext with noise as declared can still be re-encrypted.
    ///
    /// # Errors
    /// Every error of [`declared_after_hop`](Self::declared_after_hop) but those for want of room.
    fn hops_left(
        &self,
        ciphertext: &CiphertextOf<Self>,
        noise: DeclaredNoise,
        policy: SharingPolicy,
    ) -> Result<u32, ErrorOf<Self>> {
        let mut departure = depart(self, ciphertext, noise)?;
        let added = added_noise(self, &departure)?;
        let ring = Self::Scheme::rlwe(self).ring().expansion();
        let most = MOST_HOPS.saturating_sub(ciphertext.hops());
        for done in 0..most {
            let hop = Hop::new(policy, departure.noise, added, ring)?;
            departure.noise = hop.declared();
            if !fits(departure.noise, departure.capacity) {
                return Ok(done);
            }
        }
        Ok(most)
    }

    /// Returns the largest noise to declare with which a ciphertext can still be re-encrypted so many times in a row: what a proxy declares that does not play the
    /// program. All of the room is then used for hiding, and the ciphertext can be re-encrypted that often, and no more.
    ///
    /// # Errors
    /// [`RlweError::ReencryptionRoom`] where not even the noise bound that the ciphertext carries leaves room; every error of
    /// [`declared_after_hop`](Self::declared_after_hop).
    fn largest_declared(
        &self,
        ciphertext: &CiphertextOf<Self>,
        reencryptions: Reencryptions,
    ) -> Result<DeclaredNoise, ErrorOf<Self>> {
        reencryptions.check()?;
        let ring = Self::Scheme::rlwe(self).ring().expansion();
        let after = |noise: DeclaredNoise| {
            let departure = depart(self, ciphertext, noise)?;
            let added = added_noise(self, &departure)?;
            Ok::<_, ErrorOf<Self>>((
                reencryptions.declared_after(departure.noise, added, ring)?,
                departure.capacity,
            ))
        };
        let own = DeclaredNoise::of_own_run(ciphertext.noise(), ring);
        let (last, capacity) = after(own)?;
        if !fits(last, capacity) {
            let hop = ciphertext.hops().saturating_add(reencryptions.hops);
            let (bits_short, declared) = (last.bits() - capacity, own.bits());
            return Err(RlweError::ReencryptionRoom { hop, bits_short, declared }.into());
        }
        // Noise below 1 hides as noise of 1 does.
        let (mut found, mut least) = (own, own.bits().max(0.0));
        let mut beyond = least.max(capacity) + WORD;
        while beyond - least > CLOSE {
            let middle = f64::midpoint(least, beyond);
            let noise = DeclaredNoise::from_bits(middle);
            let (last, capacity) = after(noise)?;
            if fits(last, capacity) {
                (found, least) = (noise, middle);
            } else {
                beyond = middle;
            }
        }
        Ok(found)
    }

    /// Re-encrypts a ciphertext for the owner to whom the key leads: a key switch, a fresh encryption of zero under that owner's key, and flooding noise that hides
    /// the noise of the ciphertext, declared as `noise`, and of both. Everything is checked first; then the ledger, that of the key the ciphertext is under, counts.
    ///
    /// The noise bound that the ciphertext carries does not count: only if it is larger than declared, there is an error.
    ///
    /// # Errors
    /// [`RlweError::KeyMismatch`] for a ciphertext or a ledger of another key; [`RlweError::GadgetMismatch`]; [`RlweError::KeyLevel`]; [`RlweError::SharingSpent`];
    /// [`RlweError::Ledger`]; every error of [`declared_after_hop`](Self::declared_after_hop).
    fn reencrypt(
        &self,
        ciphertext: &CiphertextOf<Self>,
        key: &ReencryptionKey,
        noise: DeclaredNoise,
        ledger: &mut LedgerFile,
        rng: &mut dyn CryptoRng,
    ) -> Result<CiphertextOf<Self>, ErrorOf<Self>> {
        let rlwe = Self::Scheme::rlwe(self);
        let departure = depart(self, ciphertext, noise)?;
        let leaving = &departure.ciphertext;
        let parts @ [constant, _] = leaving.two_parts(OPERATION)?;
        let level = rlwe.ring().level_of(constant)?;
        key.check(rlwe, ciphertext.key(), level)?;
        let hop = hop_of(self, &departure, ledger.ledger().policy())?;
        ledger.spend(ciphertext.key())?;
        let [mut first, second] = key.switch(rlwe, level, parts, rng)?;
        let ring = rlwe.ring_at(level)?;
        let flooding = hop.flooding().sample(&ring, rng)?;
        let flooding: Zeroizing<Poly<Evaluation>> = Zeroizing::new(ring.to_evaluation((*flooding).clone())?);
        ring.add_assign(&mut first, &flooding)?;
        let metadata = Self::Scheme::noisier(self, leaving.metadata(), hop.noise())?;
        let noise = leaving.noise().plus(hop.noise());
        let made = Ciphertext::from_parts(vec![first, second], metadata, noise, key.target())?;
        let mut made = finish(self, made, OPERATION, &[leaving.trace()])?;
        made.set_hops(ciphertext.hops() + 1);
        Ok(made)
    }
}

/// Checks what can be checked of a ciphertext before its next hop, without a key.
fn depart<'a, C: ReencryptionContext>(
    context: &C,
    ciphertext: &'a CiphertextOf<C>,
    noise: DeclaredNoise,
) -> Result<Departure<'a, C::Scheme>, ErrorOf<C>> {
    ciphertext.two_parts(OPERATION)?;
    if ciphertext.hops() >= MOST_HOPS {
        return Err(refused(ciphertext.hops().saturating_add(1)).into());
    }
    noise.check(ciphertext.noise(), C::Scheme::rlwe(context).ring().expansion())?;
    context.departure(ciphertext, noise)
}

fn added_noise<C: ReencryptionContext>(
    context: &C,
    departure: &Departure<'_, C::Scheme>,
) -> Result<NoiseTerm, ErrorOf<C>> {
    let rlwe = C::Scheme::rlwe(context);
    let [c0, _] = departure.ciphertext.two_parts(OPERATION)?;
    Ok(added_noise_at(rlwe, rlwe.ring().level_of(c0)?)?)
}

/// Returns the noise of the next hop of a ciphertext, if its modulus has room for it.
fn hop_of<C: ReencryptionContext>(
    context: &C,
    departure: &Departure<'_, C::Scheme>,
    policy: SharingPolicy,
) -> Result<Hop, ErrorOf<C>> {
    let Departure { ciphertext, noise, capacity } = departure;
    let added = added_noise(context, departure)?;
    let hop = Hop::new(policy, *noise, added, C::Scheme::rlwe(context).ring().expansion())?;
    if fits(hop.declared(), *capacity) {
        return Ok(hop);
    }
    let (hop, bits_short) = (ciphertext.hops() + 1, hop.declared().bits() - capacity);
    Err(RlweError::ReencryptionRoom { hop, bits_short, declared: noise.bits() }.into())
}

/// Whether noise fits into a modulus; what is no number does not.
fn fits(noise: DeclaredNoise, capacity: f64) -> bool {
    noise.bits() <= capacity
}
