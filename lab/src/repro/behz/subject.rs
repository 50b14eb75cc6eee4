//! What is timed: one variant of the scheme with keys and ciphertexts, its results checked.

use std::rc::Rc;

use rand_core::CryptoRng;
use sunzi_bfv::{Ciphertext, Context, Evaluator, Plaintext};
use sunzi_rlwe::{PublicKey, RelinearizationKey, SecretKey};

use super::negacyclic;
use crate::repro::{LabError, Result, Timed, plaintexts, timed};

/// Keys and two ciphertexts that variants over the same moduli share.
pub(super) struct Material {
    pub(super) secret: SecretKey,
    pub(super) relinearization: Option<RelinearizationKey>,
    pub(super) factors: [Ciphertext; 2],
    messages: [Plaintext; 2],
    product: Plaintext,
}

impl Material {
    /// Fresh keys, and encryptions under the public key of two random polynomials; the relinearisation key, the
    /// bulk of it, only if `multiplies`.
    pub(super) fn new(context: &Context, multiplies: bool, rng: &mut dyn CryptoRng) -> Result<Rc<Self>> {
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
pub(super) struct Subject {
    pub(super) context: Context,
    pub(super) material: Rc<Material>,
    name: &'static str,
}

impl Subject {
    /// A variant over this material.
    pub(super) fn new(name: &'static str, context: Context, material: &Rc<Material>) -> Self {
        Self { context, material: Rc::clone(material), name }
    }

    fn check(&self, operation: &str, got: &Plaintext, expected: &Plaintext) -> Result<()> {
        LabError::unless(got == expected, operation, self.name, self.context.degree())
    }

    /// Decrypts once.
    pub(super) fn decrypt(&self) -> Timed<'_> {
        Box::new(|| {
            let Material { secret, factors: [ciphertext, _], messages: [message, _], .. } = &*self.material;
            let (time, opened) = timed(|| self.context.decrypt_unchecked(ciphertext, secret))?;
            self.check("decryption", &opened, message)?;
            Ok(time)
        })
    }

    /// Multiplies and relinearises once, if there is a key for that.
    pub(super) fn multiply(&self) -> Option<Timed<'_>> {
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
