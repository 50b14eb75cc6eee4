//! One ring with keys and ciphertexts of FV and BGV, multiplied, timed and checked.

use std::time::{Duration, Instant};

use rand_core::CryptoRng;
use sunzi_bfv::{Algorithms, Ciphertext, Context, Evaluator, Plaintext};
use sunzi_ring::{Auxiliary, Evaluation, Multiplication, Poly, Ring, ScalerOptions};
use sunzi_rlwe::{PublicKey, RelinearizationKey, SecretKey, Security, encryption, randomness};

use super::clear;
use crate::LabError;
use crate::alternate::Timed;
use crate::subjects::keys::Keys;
use crate::subjects::plaintexts;

/// t: bits in slots.
pub(super) const PLAIN_MODULUS: u64 = 2;

/// Keys over a ring. The paper's sets are for 80 bits by the estimates of 2015, hence the opt-in.
pub(super) struct Subject {
    name: &'static str,
    context: Context,
    secret: SecretKey,
    public: PublicKey,
    relinearization: RelinearizationKey,
}

/// A BGV ciphertext u(s) = (Q/t)·m + v in two parts, of one level.
type Parts = [Poly<Evaluation>; 2];

/// Something that goes through products, and what it holds.
type Known<T> = (T, Plaintext);

impl Subject {
    pub(super) fn new(name: &'static str, ring: Ring) -> Result<Self, LabError> {
        let scaling = ScalerOptions {
            multiplication: Multiplication::Hps,
            auxiliary: Auxiliary::LikeModulus,
            ..ScalerOptions::default()
        };
        let algorithms = Algorithms { scaling, ..Algorithms::default() };
        let security = Security::InsecureForResearchOnly;
        let context = Context::with_algorithms(ring, PLAIN_MODULUS, security, &algorithms)?;
        let mut rng = randomness::from_os()?;
        let Keys { secret, public, relinearization } = Keys::generate(context.rlwe(), &mut rng)?;
        Ok(Self { name, context, secret, public, relinearization })
    }

    fn encrypted(&self, rng: &mut dyn CryptoRng) -> Result<Known<Ciphertext>, LabError> {
        let message = plaintexts::random(self.context.degree(), PLAIN_MODULUS, rng)?;
        Ok((self.context.encrypt(&message, &self.public, rng)?, message))
    }

    fn encrypted_parts(&self, rng: &mut dyn CryptoRng) -> Result<Known<Parts>, LabError> {
        let message = plaintexts::random(self.context.degree(), PLAIN_MODULUS, rng)?;
        let coefficients = message.coefficients();
        let encryption =
            encryption::encrypt_public(self.context.rlwe(), &self.public, coefficients, PLAIN_MODULUS, rng)?;
        Ok((encryption.parts, message))
    }

    /// The product of two messages.
    fn product(&self, a: &Plaintext, b: &Plaintext) -> Result<Plaintext, LabError> {
        let ring = self.context.ring();
        clear::product_in(ring.coefficient_basis(), a, b, ring.index())
    }

    fn wrong(&self, operation: &'static str) -> LabError {
        LabError::Wrong { operation, variant: self.name, degree: self.context.degree() }
    }

    /// The message of a BGV ciphertext: −Q·m′ = m modulo t, so that both are the same for t = 2.
    fn opened(&self, parts: &Parts) -> Result<Plaintext, LabError> {
        let rlwe = self.context.rlwe();
        let phase = encryption::phase(rlwe, parts, &self.secret)?;
        let [first, _] = parts;
        let ring = rlwe.ring_at(rlwe.ring().level_of(first)?)?;
        let message = ring.scaler(PLAIN_MODULUS, &self.context.algorithms().scaling)?.decrypt(&phase)?;
        Ok(Plaintext::new(message, PLAIN_MODULUS)?)
    }

    /// t·u·u′, relinearised and scaled to the next level: in the end both parts are reduced.
    fn multiply_parts(&self, [a0, a1]: &Parts, [b0, b1]: &Parts) -> Result<Parts, LabError> {
        let rlwe = self.context.rlwe();
        let level = rlwe.ring().level_of(a0)?;
        let ring = rlwe.ring_at(level)?;
        let [c0, c1, c2] = ring.tensor([a0, a1], [b0, b1], PLAIN_MODULUS)?;
        let [c0, c1] = self.relinearization.apply(rlwe, [&c0, &c1, &c2], level - 1)?;
        let lower = rlwe.ring_at(level - 1)?;
        let reduced = |part| lower.to_evaluation(lower.to_coefficient(part)?);
        Ok([reduced(c0)?, reduced(c1)?])
    }

    /// A product of two fresh FV ciphertexts, with both parts reduced.
    pub(super) fn fv_product(&self) -> Result<Timed<'_>, LabError> {
        let mut rng = randomness::from_os()?;
        let [(a, message_a), (b, message_b)] = [self.encrypted(&mut rng)?, self.encrypted(&mut rng)?];
        let expected = self.product(&message_a, &message_b)?;
        Ok(Box::new(move || {
            let evaluator = Evaluator::new(&self.context);
            let begin = Instant::now();
            let product = evaluator.multiply(&a, &b, &self.relinearization)?;
            for part in product.parts() {
                self.context.ring().to_coefficient(part.clone())?;
            }
            let time = begin.elapsed();
            if self.context.decrypt_unchecked(&product, &self.secret)? == expected {
                Ok(time)
            } else {
                Err(self.wrong("product of FV"))
            }
        }))
    }

    /// A product of two fresh BGV ciphertexts, with the scaling after it and both parts reduced.
    pub(super) fn bgv_product(&self) -> Result<Timed<'_>, LabError> {
        let mut rng = randomness::from_os()?;
        let [(a, message_a), (b, message_b)] =
            [self.encrypted_parts(&mut rng)?, self.encrypted_parts(&mut rng)?];
        let expected = self.product(&message_a, &message_b)?;
        Ok(Box::new(move || {
            let begin = Instant::now();
            let product = self.multiply_parts(&a, &b)?;
            let time: Duration = begin.elapsed();
            if self.opened(&product)? == expected { Ok(time) } else { Err(self.wrong("product of BGV")) }
        }))
    }

    /// How many products in a row decrypt: of two ciphertexts, each time the first times the second and the second squared.
    pub(super) fn fv_depth(&self, most: u64) -> Result<u64, LabError> {
        let mut rng = randomness::from_os()?;
        let pool = [self.encrypted(&mut rng)?, self.encrypted(&mut rng)?];
        let evaluator = Evaluator::new(&self.context);
        self.depth(
            pool,
            most,
            |a, b| Ok(evaluator.multiply(a, b, &self.relinearization)?),
            |c| Ok(self.context.decrypt_unchecked(c, &self.secret)?),
        )
    }

    /// How many products of BGV in a row decrypt, down to one modulus.
    pub(super) fn bgv_depth(&self) -> Result<u64, LabError> {
        let mut rng = randomness::from_os()?;
        let pool = [self.encrypted_parts(&mut rng)?, self.encrypted_parts(&mut rng)?];
        let most = self.context.rlwe().level() as u64 - 1;
        self.depth(pool, most, |a, b| self.multiply_parts(a, b), |c| self.opened(c))
    }

    fn depth<T>(
        &self,
        mut pool: [Known<T>; 2],
        most: u64,
        multiply: impl Fn(&T, &T) -> Result<T, LabError>,
        open: impl Fn(&T) -> Result<Plaintext, LabError>,
    ) -> Result<u64, LabError> {
        for depth in 0..most {
            let [(a, message_a), (b, message_b)] = &pool;
            let product = |x: &T, y: &T, message_x: &Plaintext, message_y: &Plaintext| {
                let known = (multiply(x, y)?, self.product(message_x, message_y)?);
                Ok::<_, LabError>((open(&known.0)? == known.1, known))
            };
            let (first_right, first) = product(a, b, message_a, message_b)?;
            if !first_right {
                return Ok(depth);
            }
            let (second_right, second) = product(b, b, message_b, message_b)?;
            if !second_right {
                return Ok(depth);
            }
            pool = [first, second];
        }
        Ok(most)
    }
}
