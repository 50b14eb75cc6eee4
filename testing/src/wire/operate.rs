//! Operations of every scheme on objects that were read from files, whatever they return.

use rand_core::CryptoRng;
use sunzi_ckks::{Complex64, Encoder as CkksEncoder};
use sunzi_encoding::Plaintext;
use sunzi_rlwe::wire::{CiphertextOf, Format, SchemeFormat};
use sunzi_rlwe::{Ciphertext, GaloisKeys, PublicKey, RelinearizationKey, SecretKey};

/// Objects of one owner, any of which may come from a file.
pub struct Objects<'a, C: Operate> {
    /// Secret key of the objects' owner.
    pub secret: &'a SecretKey,
    /// Public key of the objects' owner.
    pub public: &'a PublicKey,
    /// Relinearisation key of the objects' owner.
    pub relinearization: &'a RelinearizationKey,
    /// Galois keys of the objects' owner.
    pub galois: &'a GaloisKeys,
    /// Plaintext of the owner's scheme.
    pub plaintext: &'a C::Plain,
    /// Ciphertext under the owner's keys.
    pub ciphertext: &'a CiphertextOf<C>,
}

/// Operations that all schemes have, for objects that were read from files.
pub trait Operate: SchemeFormat + Format<Self::Plain> + Clone {
    /// Type of the plaintexts of a scheme under test.
    type Plain;
    /// Type of the errors of a scheme under test.
    type Error: std::error::Error + 'static;

    /// Returns some message of the scheme under test, as a plaintext.
    ///
    /// # Errors
    /// No error is expected of making a message.
    fn message(&self) -> Result<Self::Plain, Self::Error>;
    /// Encrypts a plaintext under the public key.
    ///
    /// # Errors
    /// Every error of public-key encryption in the scheme.
    fn encrypt_public(
        &self,
        plaintext: &Self::Plain,
        key: &PublicKey,
        rng: &mut dyn CryptoRng,
    ) -> Result<CiphertextOf<Self>, Self::Error>;
    /// Encrypts a plaintext under the secret key.
    ///
    /// # Errors
    /// Every error of secret-key encryption in the scheme.
    fn encrypt_own(
        &self,
        plaintext: &Self::Plain,
        key: &SecretKey,
        rng: &mut dyn CryptoRng,
    ) -> Result<CiphertextOf<Self>, Self::Error>;
    /// Returns a ciphertext's product with itself, in three parts.
    ///
    /// # Errors
    /// Every error of the product in the scheme.
    fn unrelinearized(&self, a: &CiphertextOf<Self>) -> Result<CiphertextOf<Self>, Self::Error>;
    /// Checks that a ciphertext decrypts to the right message.
    ///
    /// # Errors
    /// Every error of decryption in the scheme.
    fn opens(
        &self,
        ciphertext: &CiphertextOf<Self>,
        key: &SecretKey,
        expected: &Self::Plain,
    ) -> Result<bool, Self::Error>;
    /// Runs all operations of the scheme on the objects. Errors are fine, panics are not.
    fn operate(&self, objects: &Objects<'_, Self>, rng: &mut dyn CryptoRng);
}

/// Drops the result of an operation, of which only that it ends matters.
fn ran<T, E>(result: Result<T, E>) -> Option<T> {
    result.ok()
}

/// Returns a message of small numbers for either exact scheme.
fn small_message(degree: usize, t: u64) -> Result<Plaintext, sunzi_encoding::EncodingError> {
    Plaintext::new((0..degree as u64).map(|i| i * i % t.min(97)).collect(), t)
}

/// Implements the operations that BFV and BGV have under equal names.
macro_rules! operate_exactly {
    ($scheme:ident, $error:ident) => {
        type Plain = Plaintext;
        type Error = $scheme::$error;

        fn message(&self) -> Result<Plaintext, Self::Error> {
            Ok(small_message(self.degree(), self.plain_modulus())?)
        }

        fn encrypt_public(
            &self,
            plaintext: &Plaintext,
            key: &PublicKey,
            rng: &mut dyn CryptoRng,
        ) -> Result<CiphertextOf<Self>, Self::Error> {
            self.encrypt(plaintext, key, rng)
        }

        fn encrypt_own(
            &self,
            plaintext: &Plaintext,
            key: &SecretKey,
            rng: &mut dyn CryptoRng,
        ) -> Result<CiphertextOf<Self>, Self::Error> {
            self.encrypt_secret(plaintext, key, rng)
        }

        fn unrelinearized(&self, a: &CiphertextOf<Self>) -> Result<CiphertextOf<Self>, Self::Error> {
            $scheme::Evaluator::new(self).multiply_unrelinearized(a, a)
        }

        fn opens(
            &self,
            ciphertext: &CiphertextOf<Self>,
            key: &SecretKey,
            expected: &Plaintext,
        ) -> Result<bool, Self::Error> {
            Ok(self.decrypt(ciphertext, key)? == *expected)
        }

        fn operate(&self, objects: &Objects<'_, Self>, rng: &mut dyn CryptoRng) {
            let Objects { secret, public, relinearization, galois, plaintext, ciphertext: a } = *objects;
            let evaluator = $scheme::Evaluator::new(self);
            let fresh = ran(self.encrypt(plaintext, public, rng));
            let fresh = fresh.or_else(|| ran(self.encrypt_secret(plaintext, secret, rng)));
            let b = fresh.as_ref().unwrap_or(a);
            let own: &[Option<Ciphertext<_>>] = &[
                ran(evaluator.add(a, b)),
                ran(evaluator.sub(b, a)),
                ran(evaluator.negate(a)),
                ran(evaluator.sum([a, b, a])),
                ran(evaluator.multiply(a, b, relinearization)),
                ran(evaluator.square(a, relinearization)),
                ran(evaluator.multiply_unrelinearized(a, b)),
                ran(evaluator.relinearize(a, relinearization)),
                ran(evaluator.add_plain(a, plaintext)),
                ran(evaluator.sub_plain(a, plaintext)),
                ran(evaluator.multiply_scalar(a, -3)),
                ran(evaluator.rotate_columns(a, galois)),
                ran(evaluator.sum_slots(a, galois)),
                ran(evaluator.hoist(a).and_then(|hoisted| hoisted.automorphism(3, galois))),
                galois.exponents().next().and_then(|k| ran(evaluator.automorphism(a, k, galois))),
                ran(evaluator
                    .prepare_plain(plaintext)
                    .and_then(|prepared| evaluator.sum_of_plain_products([(a, &prepared)]))),
            ];
            let own = own.iter().flatten().chain([a]);
            own.for_each(|result| drop(ran(self.decrypt(result, secret))));
        }
    };
}

impl Operate for sunzi_bfv::Context {
    operate_exactly!(sunzi_bfv, BfvError);
}

impl Operate for sunzi_bgv::Context {
    operate_exactly!(sunzi_bgv, BgvError);
}

impl Operate for sunzi_ckks::Context {
    type Plain = sunzi_ckks::Plaintext;
    type Error = sunzi_ckks::CkksError;

    fn message(&self) -> Result<Self::Plain, Self::Error> {
        let imaginary = if self.has_real_slots() { 0.0 } else { 0.25 };
        let slots = (0..self.max_slots()).map(|i| Complex64::new((i % 7) as f64 / 8.0, imaginary));
        CkksEncoder::new(self, self.max_slots())?.encode(&slots.collect::<Vec<_>>())
    }

    fn encrypt_public(
        &self,
        plaintext: &Self::Plain,
        key: &PublicKey,
        rng: &mut dyn CryptoRng,
    ) -> Result<CiphertextOf<Self>, Self::Error> {
        self.encrypt(plaintext, key, rng)
    }

    fn encrypt_own(
        &self,
        plaintext: &Self::Plain,
        key: &SecretKey,
        rng: &mut dyn CryptoRng,
    ) -> Result<CiphertextOf<Self>, Self::Error> {
        self.encrypt_secret(plaintext, key, rng)
    }

    fn unrelinearized(&self, a: &CiphertextOf<Self>) -> Result<CiphertextOf<Self>, Self::Error> {
        sunzi_ckks::Evaluator::new(self).multiply_unscaled(a, a)
    }

    fn opens(
        &self,
        ciphertext: &CiphertextOf<Self>,
        key: &SecretKey,
        expected: &Self::Plain,
    ) -> Result<bool, Self::Error> {
        let encoder = CkksEncoder::new(self, self.max_slots())?;
        let got = encoder.decode(&self.decrypt(ciphertext, key)?)?;
        let expected = encoder.decode(expected)?;
        Ok(got.iter().zip(&expected).all(|(got, expected)| (got - expected).norm() < 1e-3))
    }

    fn operate(&self, objects: &Objects<'_, Self>, rng: &mut dyn CryptoRng) {
        let Objects { secret, public, relinearization, galois, plaintext, ciphertext: a } = *objects;
        let evaluator = sunzi_ckks::Evaluator::new(self);
        let fresh = ran(self.encrypt(plaintext, public, rng));
        let fresh = fresh.or_else(|| ran(self.encrypt_secret(plaintext, secret, rng)));
        let b = fresh.as_ref().unwrap_or(a);
        let level = a.metadata().level;
        let own: &[Option<Ciphertext<_>>] = &[
            ran(evaluator.add(a, b)),
            ran(evaluator.sub(b, a)),
            ran(evaluator.negate(a)),
            ran(evaluator.sum([a, b, a])),
            ran(evaluator.multiply(a, b, relinearization)),
            ran(evaluator.square(a, relinearization)),
            ran(evaluator.multiply_unscaled(a, b)),
            ran(evaluator.relinearize(a, relinearization)),
            ran(evaluator.relinearize_rescale(a, relinearization)),
            ran(evaluator.rescale(a)),
            ran(evaluator.drop_to(a, 0)),
            ran(evaluator.level_to(a, level.saturating_sub(1))),
            ran(evaluator.add_constant(a, Complex64::new(0.5, -0.5))),
            ran(evaluator.multiply_constant(a, Complex64::new(0.5, -0.5))),
            ran(evaluator.add_constant(a, 0.5)),
            ran(evaluator.multiply_constant(a, -0.5)),
            ran(evaluator.multiply_integer(a, -3)),
            ran(evaluator.multiply_by_i(a)),
            ran(evaluator.add_plain(a, plaintext)),
            ran(evaluator.sub_plain(a, plaintext)),
            ran(evaluator.multiply_plain(a, plaintext)),
            ran(evaluator.rotate(a, 1, galois)),
            ran(evaluator.conjugate(a, galois)),
            ran(evaluator.hoist(a).and_then(|hoisted| hoisted.rotate(1, galois))),
            galois.exponents().next().and_then(|k| ran(evaluator.automorphism(a, k, galois))),
        ];
        let encoder = ran(CkksEncoder::new(self, self.max_slots()));
        for result in own.iter().flatten().chain([a]) {
            let opened = ran(self.decrypt(result, secret));
            drop(opened.zip(encoder.as_ref()).and_then(|(opened, encoder)| ran(encoder.decode(&opened))));
        }
        drop(encoder.and_then(|encoder| ran(encoder.decode(plaintext))));
    }
}
