//! One variant of BFV to time for `[BEHZ16]`, with keys and ciphertexts, its results checked.

use std::rc::Rc;

use rand_core::CryptoRng;
use sunzi_bfv::{Ciphertext, Context, Evaluator, Plaintext};
use sunzi_rlwe::{PublicKey, RelinearizationKey, SecretKey};

use super::negacyclic;
use crate::repro::{LabError, Result, Timed, plaintexts, timed};

/// A timed variant of BFV: an algorithm and the kernels that it runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Variant {
    /// BFV in multi-precision on scalar kernels.
    Mp,
    /// The same with a division by q for every rounding, as `[BEHZ16, 5.2]` says of its baseline.
    MpDiv,
    /// BFV in RNS with floating-point decryption on scalar kernels.
    RnsFlp,
    /// BFV in RNS on scalar kernels.
    Rns,
    /// BFV in multi-precision on the fastest kernels.
    MpSimd,
    /// BFV in RNS on the fastest kernels.
    RnsSimd,
    /// BFV in RNS on the fastest kernels with Sunzi's 48-bit primes and default algorithms, at equal log q.
    Rns48,
}

impl Variant {
    /// Name of a BFV variant in the tables of `[BEHZ16]`.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Mp => "MP",
            Self::MpDiv => "MP-div",
            Self::RnsFlp => "RNS-flp",
            Self::Rns => "RNS",
            Self::MpSimd => "MP-SIMD",
            Self::RnsSimd => "RNS-SIMD",
            Self::Rns48 => "RNS-48",
        }
    }

    /// The multi-precision variant on the same kernels as this one.
    pub(super) fn baseline(self) -> Self {
        match self {
            Self::Mp | Self::MpDiv | Self::RnsFlp | Self::Rns => Self::Mp,
            Self::MpSimd | Self::RnsSimd | Self::Rns48 => Self::MpSimd,
        }
    }
}

/// Keys and two ciphertexts that variants over the same moduli share.
pub(super) struct Material {
    pub(super) secret: SecretKey,
    pub(super) relinearization: Option<RelinearizationKey>,
    pub(super) factors: [Ciphertext; 2],
    messages: [Plaintext; 2],
    product: Plaintext,
}

impl Material {
    /// Makes fresh keys, and encryptions under the public key of two random polynomials; the relinearisation
    /// key, the bulk of it, only if `multiplies`.
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

/// One variant of BFV with its tables, ready to be timed.
pub(super) struct Subject {
    pub(super) variant: Variant,
    /// Number of moduli of q of the timed variant.
    pub(super) limbs: usize,
    pub(super) context: Context,
    pub(super) material: Rc<Material>,
}

impl Subject {
    fn check(&self, operation: &str, got: &Plaintext, expected: &Plaintext) -> Result<()> {
        LabError::unless(got == expected, operation, self.variant.name(), self.context.degree())
    }

    /// One decryption by the variant, to time.
    pub(super) fn decrypt(&self) -> Timed<'_> {
        Box::new(|| {
            let Material { secret, factors: [ciphertext, _], messages: [message, _], .. } = &*self.material;
            let (time, opened) = timed(|| self.context.decrypt_unchecked(ciphertext, secret))?;
            self.check("decryption", &opened, message)?;
            Ok(time)
        })
    }

    /// One multiplication with relinearisation by the variant, to time, if there is a key for that.
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
