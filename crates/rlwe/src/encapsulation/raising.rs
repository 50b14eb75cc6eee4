//! Linear maps that are applied while a modulus is raised.
//!
//! The parts of a ciphertext of level l have coefficients below Q_l. Raised to a level j they are as small, so that a key switch needs no
//! digits: each part is one. Σ_i m_i·σ_i of a ciphertext (c_0, c_1) under the sparse secret s' is
//! Σ σ_i(c_1)·K_i for encryptions K_i of P'·m_i·σ_i(s') under s modulo Q_j·P', and Σ m_i·σ_i(c_0), which needs no key. The division by
//! P' takes no level: multiplication by the m_i and rescaling are part of the key switch `[YZSW25]`.

use rand_core::CryptoRng;
use sunzi_ring::{
    Content, DigitBound, Evaluation, Gadget, GadgetOptions, PackedPoly, Poly, Ring, RingError, Turn,
};
use zeroize::Zeroizing;

use super::{Entered, Entry, SparseSecret, polynomials};
use crate::key_switch::uniform;
use crate::keys::zero_sample;
use crate::noise::{self, NoiseTerm};
use crate::seeded_parts::SeededParts;
use crate::uniform_half::UniformHalf;
use crate::{Ciphertext, KeyId, Log2, RlweContext, RlweError, Scheme, SecretKey, memory, randomness};

/// Largest relative difference of the lengths of two maps that are the same but for roundings of doubles.
const SAME: f64 = 1e-9;

/// A term m·σ of a linear map: a polynomial m times the automorphism σ, X → X^k.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RaisingTerm {
    /// Exponent k of the automorphism X → X^k.
    pub exponent: u64,
    /// Coefficients of P'·m, rounded to integers.
    pub factor: Vec<i128>,
}

/// A linear map Σ m_i·σ_i that is applied to a ciphertext while its modulus is raised to that of a level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RaisingMap {
    /// Level j of the results.
    pub level: usize,
    /// Moduli of P', by which results are divided: primes that divide neither Q_j nor each other.
    pub special_moduli: Vec<u64>,
    /// Terms of the map.
    pub terms: Vec<RaisingTerm>,
}

impl RaisingMap {
    /// The context of the keys of the map, modulo Q_j·P', under secrets of the given context.
    fn context(&self, context: &RlweContext) -> Result<RlweContext, RlweError> {
        context.up_to(self.level, &self.special_moduli)
    }

    /// Root of the sum of the squares of all coefficients: tells maps apart, whatever the last bits of their doubles are.
    fn length(&self) -> f64 {
        let coefficients = self.terms.iter().flat_map(|term| &term.factor);
        coefficients.map(|&c| (c as f64).powi(2)).sum::<f64>().sqrt()
    }

    /// Size log2 of Σ |P'·m_i|₁: the factor by which coefficients grow at most.
    fn log2_norm(&self) -> f64 {
        let coefficients = self.terms.iter().flat_map(|term| &term.factor);
        coefficients.map(|&c| (c as f64).abs()).sum::<f64>().log2()
    }

    /// Length in memory of a key of a map to a level, with its uniform half, in bytes: a map has one for each term and polynomial of the sparse
    /// secret.
    ///
    /// # Errors
    /// [`RlweError::Ring`] for a level or special moduli that the ring does not have.
    pub fn bytes_of_key(
        context: &RlweContext,
        level: usize,
        special_moduli: &[u64],
    ) -> Result<usize, RlweError> {
        let high = context.up_to(level, special_moduli)?;
        Self::bytes_of_key_in(&high)
    }

    fn bytes_of_key_in(high: &RlweContext) -> Result<usize, RlweError> {
        Ok(2 * high.gadget().pack_part(high.key_ring().zero(), 0)?.byte_len())
    }
}

/// Tables of a [`RaisingMap`]: its part that needs no key, Σ m_i·σ_i(c_0), is computed modulo few moduli.
#[derive(Clone)]
pub struct RaisingTables {
    high: RlweContext,
    /// Gadget of a level whose modulus holds every Σ m_i·σ_i(c_0), with the moduli of P'.
    body: Gadget,
    exponents: Vec<u64>,
    /// Polynomials P'·m_i in the key ring of the body.
    factors: Vec<Poly<Evaluation>>,
    length: f64,
    log2_low: f64,
}

impl RaisingTables {
    /// Makes the tables of a map for ciphertexts of level `levels[0]` = l; `levels[1]` is a level whose modulus is above 2·Σ |m_i|₁·Q_l, at which
    /// the part without a secret is computed.
    ///
    /// # Errors
    /// [`RlweError::Ring`] for levels, special moduli or factors that the ring cannot follow, and for a second level that is too low.
    pub fn new(context: &RlweContext, levels: [usize; 2], map: &RaisingMap) -> Result<Self, RlweError> {
        let high = map.context(context)?;
        let [low, level] = levels;
        let log2_low = context.log2_modulus_at(low)?;
        let needed = log2_low + map.log2_norm() - high.gadget().log2_special() + 1.0;
        let has = context.log2_modulus_at(level)?;
        if has < needed {
            let expected = format_args!("one whose modulus has {needed:.1} bits");
            let got = format_args!("{level}, of {has:.1} bits");
            return Err(RingError::out_of_range("level of the part without a secret", expected, got).into());
        }
        let options =
            GadgetOptions { special_moduli: map.special_moduli.clone(), ..GadgetOptions::default() };
        let body = context.ring_at(level)?.gadget(&options)?;
        let ring = body.key_ring();
        let factor = |term: &RaisingTerm| Ok(ring.to_evaluation(ring.from_signed_wide(&term.factor)?)?);
        let factors = map.terms.iter().map(factor).collect::<Result<_, RlweError>>()?;
        let exponents = map.terms.iter().map(|term| term.exponent).collect();
        Ok(Self { high, body, exponents, factors, length: map.length(), log2_low })
    }

    /// Length of the tables in memory, in bytes.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        self.factors.iter().map(|factor| factor.byte_len()).sum()
    }

    /// Returns the noise that the keys of a map add for a sparse secret of `rank` polynomials, with the roundings of the divisions by P'.
    #[must_use]
    pub fn added_noise(&self, rank: usize) -> NoiseTerm {
        let digit = DigitBound { log2_bound: self.log2_low - 1.0, log2_mean: f64::NEG_INFINITY };
        let digits = vec![digit; rank * self.exponents.len()];
        let errors = noise::key_switch(self.high.ring().expansion(), &digits);
        let errors = errors.scaled(Log2::from_bits(-self.high.gadget().log2_special()));
        errors.plus(self.high.noise_model().mod_switch(2)).plus(NoiseTerm::rounding())
    }

    /// Computes Σ m_i·σ_i(c_0), rounded, at the level of the map.
    fn map_body(&self, body: &Poly<Evaluation>) -> Result<Poly<Evaluation>, RlweError> {
        let ring = self.body.key_ring();
        let raised = ring.mod_raise(body)?;
        let turned: Vec<Poly<Evaluation>> = self
            .exponents
            .iter()
            .map(|&exponent| turned(ring, &raised, exponent))
            .collect::<Result<_, _>>()?;
        let products = turned.iter().zip(&self.factors).map(|(a, b)| [a, b]).collect();
        let sums = ring.inner_products(&[products], ring.level())?;
        let sum = sums.into_iter().next().unwrap_or_else(|| ring.zero());
        Ok(self.high.ring().mod_raise(&self.body.mod_down(&sum, self.body.level())?)?)
    }
}

/// Returns a(X^k).
fn turned(ring: &Ring, a: &Poly<Evaluation>, exponent: u64) -> Result<Poly<Evaluation>, RingError> {
    if exponent == 1 { Ok(a.clone()) } else { ring.automorphism(a, exponent) }
}

/// Keys to a sparse secret at a low level, and keys of a [`RaisingMap`] back at a high level; without the secret itself. Of the keys back, all are
/// samples under the main secret.
#[derive(Clone)]
pub struct RaisingKeys {
    entry: Entry,
    high: RlweContext,
    exponents: Vec<u64>,
    /// Length of the map, by which it is known again.
    length: f64,
    /// Keys of every term, one for each polynomial of the sparse secret.
    parts: SeededParts,
}

impl RaisingKeys {
    /// Draws a sparse secret and makes the keys to it, from `secret` modulo Q_l·P' for the given special moduli at `low` = l, and those of the map
    /// back to `secret`.
    ///
    /// # Errors
    /// Every error of [`EncapsulationKeys::generate`](super::EncapsulationKeys::generate); [`RlweError::Memory`] for more keys than fit.
    pub fn generate(
        context: &RlweContext,
        secret: &SecretKey,
        sparse: SparseSecret,
        low: (usize, &[u64]),
        map: &RaisingMap,
        rng: &mut dyn CryptoRng,
    ) -> Result<Self, RlweError> {
        let (entry, coefficients) = Entry::generate(context, secret, sparse, low.0, low.1, rng)?;
        let high = map.context(context)?;
        high.check_security()?;
        if context.ring().stores_residues() {
            let keys = (sparse.rank * map.terms.len()) as u64;
            memory::require(keys.saturating_mul(RaisingMap::bytes_of_key_in(&high)? as u64))?;
        }
        let dense = secret.in_context(context, &high)?;
        let (ring, gadget) = (high.key_ring(), high.gadget());
        let sources = polynomials(&coefficients, ring)?;
        let seed = randomness::public_seed(rng);
        let (mut first, mut second) = (Vec::new(), Vec::new());
        for term in &map.terms {
            let factor = ring.to_evaluation(ring.from_signed_wide(&term.factor)?)?;
            for source in &sources {
                let mut multiple = Zeroizing::new(turned(ring, source, term.exponent)?);
                ring.mul_assign(&mut multiple, &factor)?;
                let a = uniform(ring, &seed, first.len());
                let [mut b, a] = zero_sample(ring, dense.evaluation(), a, rng)?;
                ring.add_assign(&mut b, &multiple)?;
                first.push(gadget.pack_part(b, 0)?);
                second.push(gadget.pack_part(a, 0)?);
            }
        }
        let exponents = map.terms.iter().map(|term| term.exponent).collect();
        let parts = SeededParts::new(seed, first, second.into());
        Ok(Self { entry, high, exponents, length: map.length(), parts })
    }

    /// Raises the modulus of a ciphertext of the low level under the sparse secret, and returns the map of the result, under its own secret again: of
    /// Σ m_i·σ_i(m + Q_l·I) with ‖I‖ ≤ (1 + weight)/2. The noise of the result is that of before the map, without
    /// [`RaisingTables::added_noise`]: how a map changes noise is known to who made it.
    ///
    /// # Errors
    /// [`RlweError::MapMismatch`] for tables of another map; [`RlweError::KeyMismatch`] and [`RlweError::WrongPartCount`] for a ciphertext that does not
    /// fit; [`RlweError::Ring`] for one of another level.
    pub fn mod_raise<S: Scheme>(
        &self,
        tables: &RaisingTables,
        ciphertext: &Ciphertext<S>,
    ) -> Result<Ciphertext<S>, RlweError> {
        self.check(tables)?;
        let Entered { body, linear, noise } = self.entry.apply(ciphertext)?;
        let (ring, gadget) = (self.high.key_ring(), self.high.gadget());
        let raised: Vec<Poly<Evaluation>> =
            linear.iter().map(|part| ring.mod_raise(part)).collect::<Result<_, _>>()?;
        let turns: Vec<Turn<'_>> = self
            .exponents
            .iter()
            .flat_map(|&exponent| raised.iter().map(move |of| Turn { of, exponent }))
            .collect();
        let sums = gadget.sum_of_turns(&turns, self.parts.halves(|| self.draw())?.both())?;
        let mut parts = gadget.mod_down_all(&sums.each_ref(), gadget.level())?;
        if let Some(first) = parts.first_mut() {
            self.high.ring().add_assign(first, &tables.map_body(&body)?)?;
        }
        Ciphertext::from_parts(parts, ciphertext.metadata().clone(), noise, self.id())
    }

    /// Checks that the tables are those of the map that the keys are for.
    fn check(&self, tables: &RaisingTables) -> Result<(), RlweError> {
        let [own, other] = [&self.high, &tables.high];
        let same = self.exponents == tables.exponents
            && (self.length / tables.length - 1.0).abs() < SAME
            && own.options() == other.options()
            && own.ring().modulus() == other.ring().modulus();
        if same { Ok(()) } else { Err(RlweError::MapMismatch) }
    }

    /// Draws the uniform halves of the keys from their seed.
    fn draw(&self) -> Result<Vec<PackedPoly>, RlweError> {
        let (ring, gadget) = (self.high.key_ring(), self.high.gadget());
        let part = |i| Ok(gadget.pack_part(uniform(ring, self.parts.seed(), i), 0)?);
        (0..self.parts.first().len()).map(part).collect()
    }

    /// Drops the uniform halves of the keys, half of their memory: they are drawn anew for every use.
    pub fn compact(&mut self) {
        self.parts.forget_uniform();
    }

    /// The shape of the sparse secret: its weight and rank.
    #[must_use]
    pub fn sparse(&self) -> SparseSecret {
        self.entry.sparse()
    }

    /// The context of the sparse secret, with keys modulo Q_l·P'.
    #[must_use]
    pub fn low(&self) -> &RlweContext {
        self.entry.low()
    }

    /// The context of the keys of the map, modulo Q_j·P' and under the main secret.
    #[must_use]
    pub fn high(&self) -> &RlweContext {
        &self.high
    }

    /// The name of the secret key of ciphertexts before and after.
    #[must_use]
    pub fn id(&self) -> KeyId {
        self.entry.id()
    }

    /// Length of all keys in memory, in bytes.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        self.entry.byte_len() + self.parts.byte_len()
    }

    pub(crate) fn entry(&self) -> &Entry {
        &self.entry
    }

    pub(crate) fn map(&self) -> StoredMap<'_> {
        let Self { exponents, length, parts, .. } = self;
        StoredMap { exponents, length: *length, seed: parts.seed(), first: parts.first() }
    }

    /// Makes keys of their parts; the uniform halves follow from the seed.
    pub(crate) fn from_parts(
        entry: Entry,
        high: RlweContext,
        exponents: Vec<u64>,
        length: f64,
        seed: [u8; 32],
        first: Vec<PackedPoly>,
    ) -> Self {
        let parts = SeededParts::new(seed, first, UniformHalf::new());
        Self { entry, high, exponents, length, parts }
    }
}

/// Parts of keys of a map that are stored.
pub(crate) struct StoredMap<'a> {
    pub(crate) exponents: &'a [u64],
    pub(crate) length: f64,
    pub(crate) seed: &'a [u8; 32],
    pub(crate) first: &'a [PackedPoly],
}
