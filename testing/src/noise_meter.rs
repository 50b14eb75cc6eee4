//! A ciphertext beside the polynomial it should hold: what noise is measured against, for any plaintext modulus.

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use sunzi_bfv::{BfvError, Ciphertext, Context, Evaluator, Plaintext};
use sunzi_ring::PolyRing;
use sunzi_rlwe::{GaloisKeys, PublicKey, RelinearizationKey, SecretKey};

/// Keys of one context, and everything measured under them.
pub struct NoiseMeter<R: PolyRing> {
    /// The context.
    pub context: Context<R>,
    evaluator: Evaluator<R>,
    secret: SecretKey<R>,
    public: PublicKey<R>,
    relinearization: RelinearizationKey<R>,
    galois: GaloisKeys<R>,
    rng: ChaCha20Rng,
    /// Name of a value, bits between its noise and its bound, and between its noise and its worst case.
    pub gaps: Vec<(String, f64, f64)>,
}

/// A ciphertext and the coefficients of its message.
#[derive(Clone)]
pub struct Tracked<R: PolyRing> {
    /// The ciphertext.
    pub ciphertext: Ciphertext<R>,
    /// The coefficients of its message, in [0, t).
    pub message: Vec<u64>,
}

impl<R: PolyRing> NoiseMeter<R> {
    /// Makes keys from a seed, with Galois keys for these exponents.
    ///
    /// # Errors
    /// Those of key generation.
    pub fn new(context: Context<R>, seed: u64, exponents: &[u64]) -> Result<Self, BfvError> {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let rlwe = context.rlwe();
        let secret = SecretKey::generate(rlwe, &mut rng)?;
        Ok(Self {
            public: PublicKey::generate(rlwe, &secret, &mut rng)?,
            relinearization: RelinearizationKey::generate(rlwe, &secret, &mut rng)?,
            galois: GaloisKeys::generate(rlwe, &secret, exponents.iter().copied(), &mut rng)?,
            evaluator: Evaluator::new(&context),
            secret,
            context,
            rng,
            gaps: Vec::new(),
        })
    }

    fn t(&self) -> u64 {
        self.context.plain_modulus()
    }

    fn plaintext(&self, coefficients: &[u64]) -> Result<Plaintext, BfvError> {
        Ok(Plaintext::new(coefficients.to_vec(), self.t())?)
    }

    /// Measures a value and keeps it; `name` says how it came about.
    ///
    /// # Errors
    /// Those of decryption.
    ///
    /// # Panics
    /// If the value decrypts wrongly or its noise exceeds a bound.
    #[expect(clippy::panic, reason = "a helper of tests: a violated bound ends the test")]
    pub fn judge(&mut self, name: &str, value: &Tracked<R>) -> Result<(), BfvError> {
        let noise = value.ciphertext.noise();
        // Noise is measured modulo q: beyond q/2t it says nothing.
        if self.context.bits_left(noise) < 0.0 {
            return Ok(());
        }
        let message = self.plaintext(&value.message)?;
        let measured = self.context.measure_noise(&value.ciphertext, &message, &self.secret)?;
        let bound = noise.bound(self.context.degree()).bits();
        let right = self.context.decrypt(&value.ciphertext, &self.secret)? == message;
        if !right || measured > bound || measured > noise.worst.bits() {
            panic!("{name}: right {right}, noise 2^{measured:.2}, bound 2^{bound:.2}, {noise:?}");
        }
        self.gaps.push((name.to_owned(), bound - measured, noise.worst.bits() - measured));
        Ok(())
    }

    /// A fresh ciphertext, under the public or the secret key.
    ///
    /// # Errors
    /// Those of encryption.
    pub fn encrypt(&mut self, message: Vec<u64>, public: bool) -> Result<Tracked<R>, BfvError> {
        let plaintext = self.plaintext(&message)?;
        let ciphertext = if public {
            self.context.encrypt(&plaintext, &self.public, &mut self.rng)?
        } else {
            self.context.encrypt_secret(&plaintext, &self.secret, &mut self.rng)?
        };
        Ok(Tracked { ciphertext, message })
    }

    /// a + b.
    ///
    /// # Errors
    /// Those of the evaluator, as below.
    pub fn add(&self, a: &Tracked<R>, b: &Tracked<R>) -> Result<Tracked<R>, BfvError> {
        let t = self.t();
        let message = a.message.iter().zip(&b.message).map(|(x, y)| (x + y) % t).collect();
        Ok(Tracked { ciphertext: self.evaluator.add(&a.ciphertext, &b.ciphertext)?, message })
    }

    /// a − b.
    ///
    /// # Errors
    /// Those of the evaluator.
    pub fn sub(&self, a: &Tracked<R>, b: &Tracked<R>) -> Result<Tracked<R>, BfvError> {
        let t = self.t();
        let message = a.message.iter().zip(&b.message).map(|(x, y)| (x + t - y) % t).collect();
        Ok(Tracked { ciphertext: self.evaluator.sub(&a.ciphertext, &b.ciphertext)?, message })
    }

    /// a·b, relinearised.
    ///
    /// # Errors
    /// Those of the evaluator.
    pub fn multiply(&self, a: &Tracked<R>, b: &Tracked<R>) -> Result<Tracked<R>, BfvError> {
        let ciphertext = self.evaluator.multiply(&a.ciphertext, &b.ciphertext, &self.relinearization)?;
        Ok(Tracked { ciphertext, message: negacyclic(&a.message, &b.message, self.t()) })
    }

    /// a·b in three parts.
    ///
    /// # Errors
    /// Those of the evaluator.
    pub fn multiply_unrelinearized(&self, a: &Tracked<R>, b: &Tracked<R>) -> Result<Tracked<R>, BfvError> {
        let ciphertext = self.evaluator.multiply_unrelinearized(&a.ciphertext, &b.ciphertext)?;
        Ok(Tracked { ciphertext, message: negacyclic(&a.message, &b.message, self.t()) })
    }

    /// Back to two parts.
    ///
    /// # Errors
    /// Those of the evaluator.
    pub fn relinearize(&self, a: &Tracked<R>) -> Result<Tracked<R>, BfvError> {
        let ciphertext = self.evaluator.relinearize(&a.ciphertext, &self.relinearization)?;
        Ok(Tracked { ciphertext, message: a.message.clone() })
    }

    /// a + m.
    ///
    /// # Errors
    /// Those of the evaluator.
    pub fn add_plain(&self, a: &Tracked<R>, m: &[u64]) -> Result<Tracked<R>, BfvError> {
        let t = self.t();
        let message = a.message.iter().zip(m).map(|(x, y)| (x + y) % t).collect();
        Ok(Tracked { ciphertext: self.evaluator.add_plain(&a.ciphertext, &self.plaintext(m)?)?, message })
    }

    /// a·m.
    ///
    /// # Errors
    /// Those of the evaluator.
    pub fn multiply_plain(&self, a: &Tracked<R>, m: &[u64]) -> Result<Tracked<R>, BfvError> {
        let ciphertext = self.evaluator.multiply_plain(&a.ciphertext, &self.plaintext(m)?)?;
        Ok(Tracked { ciphertext, message: negacyclic(&a.message, m, self.t()) })
    }

    /// c·a.
    ///
    /// # Errors
    /// Those of the evaluator.
    pub fn multiply_scalar(&self, a: &Tracked<R>, c: i64) -> Result<Tracked<R>, BfvError> {
        let t = i128::from(self.t());
        let scale = |&x: &u64| (i128::from(x) * i128::from(c)).rem_euclid(t) as u64;
        let message = a.message.iter().map(scale).collect();
        Ok(Tracked { ciphertext: self.evaluator.multiply_scalar(&a.ciphertext, c)?, message })
    }

    /// a(X^k).
    ///
    /// # Errors
    /// Those of the evaluator.
    pub fn automorphism(&self, a: &Tracked<R>, k: u64) -> Result<Tracked<R>, BfvError> {
        let n = a.message.len();
        let mut message = vec![0; n];
        for (i, &x) in a.message.iter().enumerate() {
            let exponent = (i as u64 * k) as usize % (2 * n);
            if let Some(at) = message.get_mut(exponent % n) {
                *at = if exponent < n { x } else { (self.t() - x) % self.t() };
            }
        }
        Ok(Tracked { ciphertext: self.evaluator.automorphism(&a.ciphertext, k, &self.galois)?, message })
    }
}

/// a·b modulo X^n + 1 and t < 2^60.
fn negacyclic(a: &[u64], b: &[u64], t: u64) -> Vec<u64> {
    // X^n·b wraps to −b: coefficient k is ⟨a, e[n − 1 − k..]⟩ for e = (b_{n−1}, …, b_0, −b_{n−1}, …, −b_1).
    let negated = b.iter().skip(1).rev().map(|&y| (t - y) % t);
    let extended: Vec<u64> = b.iter().rev().copied().chain(negated).collect();
    let coefficient = |window: &[u64]| {
        // 256 products below 2^120 fit a double word.
        let chunks = a.chunks(255).zip(window.chunks(255));
        chunks.fold(0, |sum: u64, (a, b)| {
            let terms = a.iter().zip(b).map(|(&x, &y)| u128::from(x) * u128::from(y));
            ((u128::from(sum) + terms.sum::<u128>()) % u128::from(t)) as u64
        })
    };
    extended.windows(a.len()).rev().map(coefficient).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_wrap_with_a_minus_sign() {
        assert_eq!(negacyclic(&[1, 2, 3], &[4, 5, 6], 1000), [1000 + 4 - 27, 1000 + 13 - 18, 28]);
        let (n, t) = (600, (1 << 60) - 1);
        // (−Σ X^i)² has coefficients (k + 1) − (n − 1 − k).
        let square = negacyclic(&vec![t - 1; n], &vec![t - 1; n], t);
        let expected = |k: i64| (2 * k + 2 - n as i64).rem_euclid(t as i64) as u64;
        assert_eq!(square, (0..n as i64).map(expected).collect::<Vec<_>>());
    }
}
