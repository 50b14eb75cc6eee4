//! What is timed: one variant of the scheme with keys and ciphertexts, its results checked.

use std::rc::Rc;

use rand_core::CryptoRng;
use sunzi_bfv::{Algorithms, Ciphertext, Context, Evaluator, Plaintext};
use sunzi_ring::PolyRing;
use sunzi_rlwe::{PublicKey, RelinearizationKey, SecretKey, Security};

use super::negacyclic;
use crate::LabError;
use crate::alternate::{Timed, timed};
use crate::subjects::plaintexts;

/// Keys and two ciphertexts that variants over the same moduli share.
pub(super) struct Material<R: PolyRing> {
    pub(super) secret: SecretKey<R>,
    pub(super) relinearization: Option<RelinearizationKey<R>>,
    pub(super) factors: [Ciphertext<R>; 2],
    messages: [Plaintext; 2],
    product: Plaintext,
}

impl<R: PolyRing> Material<R> {
    /// Fresh keys, and encryptions under the public key of two random polynomials; the relinearisation key, the
    /// bulk of it, only if `multiplies`.
    pub(super) fn new<G: CryptoRng + ?Sized>(
        context: &Context<R>,
        multiplies: bool,
        rng: &mut G,
    ) -> Result<Rc<Self>, LabError> {
        let secret = SecretKey::generate(context.rlwe(), rng)?;
        let public = PublicKey::generate(context.rlwe(), &secret, rng)?;
        let relinearization = match multiplies {
            true => Some(RelinearizationKey::generate(context.rlwe(), &secret, rng)?),
            false => None,
        };
        let (n, t) = (context.degree(), context.plain_modulus());
        let messages = [plaintexts::random(n, t, rng)?, plaintexts::random(n, t, rng)?];
        let [first, second] = &messages;
        let product = negacyclic::product(first, second)?;
        let factors = [context.encrypt(first, &public, rng)?, context.encrypt(second, &public, rng)?];
        Ok(Rc::new(Self { secret, relinearization, factors, messages, product }))
    }
}

/// One variant.
pub(super) struct Subject<R: PolyRing> {
    pub(super) context: Context<R>,
    pub(super) material: Rc<Material<R>>,
    name: &'static str,
}

impl<R: PolyRing> Subject<R> {
    /// The tables of a variant. The paper's parameters are for 80 bits by the estimates of 2014, hence the opt-in.
    pub(super) fn context(
        ring: R,
        plain_modulus: u64,
        algorithms: &Algorithms,
    ) -> Result<Context<R>, LabError> {
        Ok(Context::with_algorithms(ring, plain_modulus, Security::InsecureForResearchOnly, algorithms)?)
    }

    /// A variant over this material.
    pub(super) fn new(name: &'static str, context: Context<R>, material: &Rc<Material<R>>) -> Self {
        Self { context, material: Rc::clone(material), name }
    }

    fn check(&self, operation: &'static str, got: &Plaintext, expected: &Plaintext) -> Result<(), LabError> {
        if got == expected {
            return Ok(());
        }
        let (variant, degree) = (self.name, self.context.degree());
        Err(LabError::Wrong { operation, variant, degree })
    }
}

/// A variant, whatever its ring.
pub(super) trait Operations {
    /// Decrypts once.
    fn decrypt(&self) -> Timed<'_>;
    /// Multiplies and relinearises once, if there is a key for that.
    fn multiply(&self) -> Option<Timed<'_>>;
}

impl<R: PolyRing> Operations for Subject<R> {
    fn decrypt(&self) -> Timed<'_> {
        Box::new(|| {
            let Material { secret, factors: [ciphertext, _], messages: [message, _], .. } = &*self.material;
            let (time, opened) = timed(|| self.context.decrypt_unchecked(ciphertext, secret))?;
            self.check("decryption", &opened, message)?;
            Ok(time)
        })
    }

    fn multiply(&self) -> Option<Timed<'_>> {
        let key = self.material.relinearization.as_ref()?;
        Some(Box::new(|| {
            let Material { secret, factors: [first, second], product, .. } = &*self.material;
            let evaluator = Evaluator::new(&self.context);
            let (time, multiplied) = timed(|| evaluator.multiply(first, second, key))?;
            self.check("multiplication", &self.context.decrypt_unchecked(&multiplied, secret)?, product)?;
            Ok(time)
        }))
    }
}
