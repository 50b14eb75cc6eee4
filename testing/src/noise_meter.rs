//! Noise meter: a ciphertext beside the polynomial it should hold, for any plaintext modulus.

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use sunzi_bfv::{BfvError, Ciphertext, Context, Evaluator, Plaintext};
use sunzi_rlwe::{GaloisKeys, PublicKey, RelinearizationKey, SecretKey};

use crate::ClearRing;

/// Keys of one context, and the noise measured under them.
pub struct NoiseMeter {
    /// BFV context of the noise meter's keys.
    pub context: Context,
    /// Plaintext ring in which the expected messages are computed.
    pub clear: ClearRing,
    /// Exponents of the automorphisms that have Galois keys.
    pub exponents: Vec<u64>,
    evaluator: Evaluator,
    secret: SecretKey,
    public: PublicKey,
    relinearization: RelinearizationKey,
    galois: GaloisKeys,
    rng: ChaCha20Rng,
    /// Gaps of each judged value: its name, bits between its noise and its bound, and between its noise and
    /// its worst case.
    pub gaps: Vec<(String, f64, f64)>,
}

/// A ciphertext with the coefficients of its message.
#[derive(Clone)]
pub struct Tracked {
    /// Ciphertext that should hold the message.
    pub ciphertext: Ciphertext,
    /// Coefficients of the message that the ciphertext should hold, in [0, t).
    pub message: Vec<u64>,
}

impl NoiseMeter {
    /// Makes the noise meter's keys from a seed, with Galois keys for these exponents.
    ///
    /// # Errors
    /// Every error of generating the noise meter's keys.
    pub fn new(context: Context, seed: u64, exponents: &[u64]) -> Result<Self, BfvError> {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let rlwe = context.rlwe();
        let ring = rlwe.ring();
        let clear = ClearRing::new(ring.index(), context.plain_modulus(), ring.coefficient_basis())?;
        let secret = SecretKey::generate(rlwe, &mut rng)?;
        Ok(Self {
            public: PublicKey::generate(rlwe, &secret, &mut rng)?,
            relinearization: RelinearizationKey::generate(rlwe, &secret, &mut rng)?,
            galois: GaloisKeys::generate(rlwe, &secret, exponents.iter().copied(), &mut rng)?,
            evaluator: Evaluator::new(&context),
            secret,
            clear,
            exponents: exponents.to_vec(),
            context,
            rng,
            gaps: Vec::new(),
        })
    }

    fn plaintext(&self, coefficients: &[u64]) -> Result<Plaintext, BfvError> {
        Ok(Plaintext::new(coefficients.to_vec(), self.clear.modulus())?)
    }

    /// Measures a ciphertext's noise and keeps its gaps; `name` says how it was computed.
    ///
    /// # Errors
    /// Every error of BFV's decryption.
    ///
    /// # Panics
    /// Panics if the ciphertext decrypts wrongly or its noise exceeds a bound.
    #[expect(clippy::panic, reason = "a helper of tests: a violated bound ends the test")]
    pub fn judge(&mut self, name: &str, value: &Tracked) -> Result<(), BfvError> {
        let noise = value.ciphertext.noise();
        // Noise is measured modulo q: beyond q/2t it has no meaning.
        if self.context.bits_left(noise) < 0.0 {
            return Ok(());
        }
        let message = self.plaintext(&value.message)?;
        let measured = self.context.measure_noise(&value.ciphertext, &message, &self.secret)?;
        let ring = self.context.ring().expansion();
        let (bound, worst) = (noise.bound(ring).bits(), noise.worst_case(ring).bits());
        let right = self.context.decrypt(&value.ciphertext, &self.secret)? == message;
        if !right || measured > bound || measured > worst {
            panic!("{name}: right {right}, noise 2^{measured:.2}, bound 2^{bound:.2}, {noise:?}");
        }
        self.gaps.push((name.to_owned(), bound - measured, worst - measured));
        Ok(())
    }

    /// Encrypts a message under the public or the secret key.
    ///
    /// # Errors
    /// Every error of BFV's encryption.
    pub fn encrypt(&mut self, message: Vec<u64>, public: bool) -> Result<Tracked, BfvError> {
        let plaintext = self.plaintext(&message)?;
        let ciphertext = if public {
            self.context.encrypt(&plaintext, &self.public, &mut self.rng)?
        } else {
            self.context.encrypt_secret(&plaintext, &self.secret, &mut self.rng)?
        };
        Ok(Tracked { ciphertext, message })
    }

    /// Returns the sum a + b of two tracked ciphertexts.
    ///
    /// # Errors
    /// Every error of BFV's evaluator.
    pub fn add(&self, a: &Tracked, b: &Tracked) -> Result<Tracked, BfvError> {
        let message = self.clear.sum(&a.message, &b.message);
        Ok(Tracked { ciphertext: self.evaluator.add(&a.ciphertext, &b.ciphertext)?, message })
    }

    /// Returns the difference a − b of two tracked ciphertexts.
    ///
    /// # Errors
    /// Every error of BFV's evaluator.
    pub fn sub(&self, a: &Tracked, b: &Tracked) -> Result<Tracked, BfvError> {
        let message = self.clear.difference(&a.message, &b.message);
        Ok(Tracked { ciphertext: self.evaluator.sub(&a.ciphertext, &b.ciphertext)?, message })
    }

    /// Returns the relinearised product a·b of two tracked ciphertexts.
    ///
    /// # Errors
    /// Every error of BFV's evaluator.
    pub fn multiply(&self, a: &Tracked, b: &Tracked) -> Result<Tracked, BfvError> {
        let ciphertext = self.evaluator.multiply(&a.ciphertext, &b.ciphertext, &self.relinearization)?;
        Ok(Tracked { ciphertext, message: self.clear.product(&a.message, &b.message)? })
    }

    /// Returns the product a·b of two tracked ciphertexts in three parts.
    ///
    /// # Errors
    /// Every error of BFV's evaluator.
    pub fn multiply_unrelinearized(&self, a: &Tracked, b: &Tracked) -> Result<Tracked, BfvError> {
        let ciphertext = self.evaluator.multiply_unrelinearized(&a.ciphertext, &b.ciphertext)?;
        Ok(Tracked { ciphertext, message: self.clear.product(&a.message, &b.message)? })
    }

    /// Relinearises a tracked ciphertext to two parts.
    ///
    /// # Errors
    /// Every error of BFV's evaluator.
    pub fn relinearize(&self, a: &Tracked) -> Result<Tracked, BfvError> {
        let ciphertext = self.evaluator.relinearize(&a.ciphertext, &self.relinearization)?;
        Ok(Tracked { ciphertext, message: a.message.clone() })
    }

    /// Returns the sum a + m of a tracked ciphertext and a plaintext.
    ///
    /// # Errors
    /// Every error of BFV's evaluator.
    pub fn add_plain(&self, a: &Tracked, m: &[u64]) -> Result<Tracked, BfvError> {
        let message = self.clear.sum(&a.message, m);
        Ok(Tracked { ciphertext: self.evaluator.add_plain(&a.ciphertext, &self.plaintext(m)?)?, message })
    }

    /// Returns the product a·m of a tracked ciphertext and a plaintext.
    ///
    /// # Errors
    /// Every error of BFV's evaluator.
    pub fn multiply_plain(&self, a: &Tracked, m: &[u64]) -> Result<Tracked, BfvError> {
        let ciphertext = self.evaluator.multiply_plain(&a.ciphertext, &self.plaintext(m)?)?;
        Ok(Tracked { ciphertext, message: self.clear.product(&a.message, m)? })
    }

    /// Returns the multiple c·a of a tracked ciphertext by a constant.
    ///
    /// # Errors
    /// Every error of BFV's evaluator.
    pub fn multiply_scalar(&self, a: &Tracked, c: i64) -> Result<Tracked, BfvError> {
        let message = self.clear.multiple(&a.message, c);
        Ok(Tracked { ciphertext: self.evaluator.multiply_scalar(&a.ciphertext, c)?, message })
    }

    /// Returns the image a(X^k) of a tracked ciphertext under an automorphism.
    ///
    /// # Errors
    /// Every error of BFV's evaluator.
    pub fn automorphism(&self, a: &Tracked, k: u64) -> Result<Tracked, BfvError> {
        let message = self.clear.automorphism(&a.message, k)?;
        Ok(Tracked { ciphertext: self.evaluator.automorphism(&a.ciphertext, k, &self.galois)?, message })
    }
}
