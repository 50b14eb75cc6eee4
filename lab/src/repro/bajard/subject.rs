//! One ring with keys and ciphertexts of FV and BGV, multiplied, timed and checked.

use rand_core::CryptoRng;
use sunzi_bfv::{Ciphertext, Plaintext};
use sunzi_ring::{Auxiliary, Evaluation, Multiplication, Poly, Ring, ScalerOptions};
use sunzi_rlwe::{encryption, randomness};

use super::clear;
use crate::repro::{Known, LabError, Party, Result, Timed, timed};

/// Plaintext modulus t = 2: bits in slots.
pub(super) const PLAIN_MODULUS: u64 = 2;

/// Keys of FV and BGV over a ring. The sets of `[BEHMSZ17]` are for 80 bits by the estimates of 2015, hence
/// the opt-in.
pub(super) struct Subject {
    name: &'static str,
    party: Party,
}

/// A BGV ciphertext u(s) = (Q/t)·m + v in two parts, of one level.
type Parts = [Poly<Evaluation>; 2];

/// Functions that multiply and decrypt ciphertexts of a scheme.
type Scheme<T> = (fn(&Subject, &T, &T) -> Result<T>, fn(&Subject, &T) -> Result<Plaintext>);

const FV: Scheme<Ciphertext> = (Subject::multiply, |subject, c| subject.party.open(c));
const BGV: Scheme<Parts> = (Subject::multiply_parts, Subject::opened);

impl Subject {
    pub(super) fn new(name: &'static str, ring: Ring) -> Result<Self> {
        let scaling = ScalerOptions {
            multiplication: Multiplication::Hps,
            auxiliary: Auxiliary::LikeModulus,
            ..ScalerOptions::default()
        };
        Ok(Self { name, party: Party::new(ring, PLAIN_MODULUS, scaling, &mut randomness::from_os()?)? })
    }

    fn pair(&self) -> Result<[Known; 2]> {
        let mut rng = randomness::from_os()?;
        Ok([self.party.known(&mut rng)?, self.party.known(&mut rng)?])
    }

    fn pair_of_parts(&self) -> Result<[Known<Parts>; 2]> {
        let mut rng = randomness::from_os()?;
        Ok([self.parts(&mut rng)?, self.parts(&mut rng)?])
    }

    fn parts(&self, rng: &mut dyn CryptoRng) -> Result<Known<Parts>> {
        let (Party { context, keys, .. }, message) = (&self.party, self.party.message(rng)?);
        let coefficients = message.coefficients();
        let encryption =
            encryption::encrypt_public(context.rlwe(), &keys.public, coefficients, PLAIN_MODULUS, rng)?;
        Ok((encryption.parts, message))
    }

    /// The product of two messages, computed without encryption.
    fn clear(&self, a: &Plaintext, b: &Plaintext) -> Result<Plaintext> {
        let ring = self.party.context.ring();
        clear::product_in(ring.coefficient_basis(), a, b, ring.index())
    }

    /// The message of a BGV ciphertext: −Q·m′ = m modulo t, so that both are equal for t = 2.
    fn opened(&self, parts: &Parts) -> Result<Plaintext> {
        let Party { context, keys, .. } = &self.party;
        let phase = encryption::phase(context.rlwe(), parts, &keys.secret)?;
        let [first, _] = parts;
        let ring = context.rlwe().ring_at(context.ring().level_of(first)?)?;
        let message = ring.scaler(PLAIN_MODULUS, &context.algorithms().scaling)?.decrypt(&phase)?;
        Ok(Plaintext::new(message, PLAIN_MODULUS)?)
    }

    /// A product of two FV ciphertexts, with both parts reduced.
    fn multiply(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext> {
        let product = self.party.multiply(a, b)?;
        for part in product.parts() {
            self.party.context.ring().to_coefficient(part.clone())?;
        }
        Ok(product)
    }

    /// A product of two BGV ciphertexts: t·u·u′, relinearised and scaled to the next level, with both parts
    /// reduced in the end.
    fn multiply_parts(&self, [a0, a1]: &Parts, [b0, b1]: &Parts) -> Result<Parts> {
        let Party { context, keys, .. } = &self.party;
        let rlwe = context.rlwe();
        let level = rlwe.ring().level_of(a0)?;
        let ring = rlwe.ring_at(level)?;
        let [c0, c1, c2] = ring.tensor([a0, a1], [b0, b1], PLAIN_MODULUS)?;
        let [c0, c1] = keys.relinearization.apply(rlwe, [&c0, &c1, &c2], level - 1)?;
        let lower = rlwe.ring_at(level - 1)?;
        let reduced = |part| lower.to_evaluation(lower.to_coefficient(part)?);
        Ok([reduced(c0)?, reduced(c1)?])
    }

    /// A product of two fresh FV ciphertexts to time, with both parts reduced.
    pub(super) fn fv_product(&self) -> Result<Timed<'_>> {
        self.product("product of FV", self.pair()?, FV)
    }

    /// A product of two fresh BGV ciphertexts to time, with the scaling after it and both parts reduced.
    pub(super) fn bgv_product(&self) -> Result<Timed<'_>> {
        self.product("product of BGV", self.pair_of_parts()?, BGV)
    }

    fn product<'a, T: 'a>(
        &'a self,
        operation: &'static str,
        [(a, message_a), (b, message_b)]: [Known<T>; 2],
        (multiply, open): Scheme<T>,
    ) -> Result<Timed<'a>> {
        let expected = self.clear(&message_a, &message_b)?;
        Ok(Box::new(move || {
            let (time, product) = timed(|| multiply(self, &a, &b))?;
            let right = open(self, &product)? == expected;
            LabError::unless(right, operation, self.name, self.party.context.degree())?;
            Ok(time)
        }))
    }

    /// Number of products of FV in a row that decrypt: of two ciphertexts, each time the first times the
    /// second and the second squared.
    pub(super) fn fv_depth(&self, most: u64) -> Result<u64> {
        self.depth(self.pair()?, most, FV)
    }

    /// Number of products of BGV in a row that decrypt, down to one modulus.
    pub(super) fn bgv_depth(&self) -> Result<u64> {
        self.depth(self.pair_of_parts()?, self.party.context.rlwe().level() as u64 - 1, BGV)
    }

    fn depth<T>(&self, mut pool: [Known<T>; 2], most: u64, (multiply, open): Scheme<T>) -> Result<u64> {
        let next = |(a, message_a): &Known<T>, (b, message_b): &Known<T>| {
            let known = (multiply(self, a, b)?, self.clear(message_a, message_b)?);
            Ok::<_, LabError>(if open(self, &known.0)? == known.1 { Some(known) } else { None })
        };
        for depth in 0..most {
            let [a, b] = &pool;
            let Some(first) = next(a, b)? else { return Ok(depth) };
            let Some(second) = next(b, b)? else { return Ok(depth) };
            pool = [first, second];
        }
        Ok(most)
    }
}
