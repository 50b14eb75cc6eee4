//! Key switching by digits: BV, GHS and hybrid, from a secret s' to s.

mod sums;

use rand_core::CryptoRng;
use sunzi_ring::{
    Addends, DigitBound, Evaluation, Gadget, GadgetOptions, PackedPoly, Poly, Ring, SwitchInput,
};
use zeroize::Zeroizing;

use self::sums::KeySums;
use crate::keys::{vector_sample, zero_sample};
use crate::noise::{NoiseModel, NoiseTerm};
use crate::seeded_parts::{Halves, SeededParts};
use crate::uniform_half::UniformHalf;
use crate::{Log2, RlweContext, RlweError, memory, randomness};

/// A key-switching key: encryptions of g_i·s' under s for the gadget g, one for every digit, modulo Q_l·P: `[BEHZ16,
/// 4.5]` and `[KPZ21, B.2]` with the factors of the digits in g `[KPZ21, Remark B.3]`, so that it serves every level
/// up to l; without the limbs that are zero in both halves `[BEHZ16, B.2]`. The uniform halves follow from a 32-byte
/// seed: those of keys from files are drawn when they are first needed, those of
/// [compact](crate::GaloisKeys::compact) ones for every switch.
#[derive(Clone)]
pub struct KeySwitchKey {
    parts: SeededParts,
    options: GadgetOptions,
    level: usize,
    /// Whether the level was the highest of its ring, so that the key has all moduli.
    is_highest: bool,
    /// Sums of the polynomials, for merged digits.
    sums: KeySums,
}

impl KeySwitchKey {
    /// Makes the key-switching key from `source` to `secret` for polynomials of up to `level` moduli, the two secrets
    /// in the key ring.
    pub(crate) fn generate(
        context: &RlweContext,
        secret: &Poly<Evaluation>,
        source: &Poly<Evaluation>,
        level: usize,
        rng: &mut dyn CryptoRng,
    ) -> Result<Self, RlweError> {
        Self::generate_from(context, [secret, source], level, None, rng)
    }

    /// Makes the key-switching key to `secret` from `source`, with a seed of its own, or for a given seed without the uniform halves that follow from it.
    pub(crate) fn generate_from(
        context: &RlweContext,
        [secret, source]: [&Poly<Evaluation>; 2],
        level: usize,
        seed: Option<[u8; 32]>,
        rng: &mut dyn CryptoRng,
    ) -> Result<Self, RlweError> {
        context.check_security()?;
        let gadget = context.gadget_at(level)?;
        if context.ring().stores_residues() {
            memory::require(context.switch_key_bytes(level)?)?;
        }
        let lower = [secret, source].map(|a| {
            // A secret that has the level is not copied.
            if level == context.level() {
                Ok(None)
            } else {
                Ok(Some(Zeroizing::new(gadget.restrict_key(a)?)))
            }
        });
        let [lower_secret, lower_source]: [Result<_, RlweError>; 2] = lower;
        let (lower_secret, lower_source) = (lower_secret?, lower_source?);
        let secret = lower_secret.as_deref().unwrap_or(secret);
        let source = lower_source.as_deref().unwrap_or(source);
        let keeps_uniform = seed.is_none();
        let mut key =
            Unfinished::new(context, &gadget, level, seed.unwrap_or_else(|| randomness::public_seed(rng)));
        let ring = gadget.key_ring();
        for digit in 0..gadget.digit_count() {
            let zero = zero_sample(ring, secret, key.uniform(ring, digit), rng)?;
            let [b, a] = gadget.key_part(zero, source, digit)?;
            key.first.push(gadget.pack_part(b, digit)?);
            if keeps_uniform {
                key.second.push(gadget.pack_part(a, digit)?);
            }
        }
        Ok(key.finish(&gadget))
    }

    /// Makes key-switching keys to a secret of several polynomials, at the highest level: the first key leads to b and
    /// a_0, and every other one only to the a_i of its polynomial, where b + Σ a_i·s_i is what was switched. No key is
    /// a sample of learning with errors under its polynomial alone.
    pub(crate) fn generate_to_vector(
        context: &RlweContext,
        secrets: &[Zeroizing<Poly<Evaluation>>],
        source: &Poly<Evaluation>,
        rng: &mut dyn CryptoRng,
    ) -> Result<Vec<Self>, RlweError> {
        context.check_security()?;
        let (gadget, level) = (context.gadget(), context.level());
        let ring = gadget.key_ring();
        let mut keys: Vec<_> = secrets
            .iter()
            .map(|_| Unfinished::new(context, gadget, level, randomness::public_seed(rng)))
            .collect();
        for digit in 0..gadget.digit_count() {
            let uniform: Vec<_> = keys.iter().map(|key| key.uniform(ring, digit)).collect();
            let body = Zeroizing::new(vector_sample(ring, secrets, &uniform, rng)?);
            for (at, (key, a)) in keys.iter_mut().zip(uniform).enumerate() {
                let [b, a] = if at == 0 {
                    gadget.key_part([(*body).clone(), a], source, digit)?
                } else {
                    gadget.key_part([ring.zero(), a], &ring.zero(), digit)?
                };
                key.first.push(gadget.pack_part(b, digit)?);
                key.second.push(gadget.pack_part(a, digit)?);
            }
        }
        Ok(keys.into_iter().map(|key| key.finish(gadget)).collect())
    }

    /// Makes the key-switching key of a level with the given first halves; the uniform halves follow from the seed.
    pub(crate) fn from_first(
        context: &RlweContext,
        seed: [u8; 32],
        level: usize,
        first: Vec<PackedPoly>,
    ) -> Self {
        let options = context.gadget().options().clone();
        let is_highest = level == context.level();
        let (parts, sums) = (SeededParts::new(seed, first, UniformHalf::new()), KeySums::default());
        Self { parts, options, level, is_highest, sums }
    }

    /// Drops the uniform halves of a key-switching key, half of its memory: they are drawn anew for every switch.
    pub(crate) fn compact(&mut self) {
        self.parts.forget_uniform();
    }

    /// Draws the uniform halves of a key-switching key from its seed.
    fn draw(&self, context: &RlweContext) -> Result<Vec<PackedPoly>, RlweError> {
        let gadget = context.gadget_at(self.level_in(context))?;
        let part = |digit| {
            let a = uniform(gadget.key_ring(), self.seed(), digit);
            Ok(gadget.pack_part(gadget.uniform_part(a, digit)?, digit)?)
        };
        (0..self.digit_count()).map(part).collect()
    }

    /// The first halves of a key-switching key, one for each digit.
    pub(crate) fn first(&self) -> &[PackedPoly] {
        self.parts.first()
    }

    /// The seed of the uniform halves of a key-switching key, 32 bytes.
    #[must_use]
    pub fn seed(&self) -> &[u8; 32] {
        self.parts.seed()
    }

    /// The highest level of ciphertexts that a key-switching key can switch.
    #[must_use]
    pub fn level(&self) -> usize {
        self.level
    }

    /// The highest level of ciphertexts of this context that a key-switching key can switch: a key with all moduli
    /// serves every ring of these moduli, however many levels that ring has.
    pub(crate) fn level_in(&self, context: &RlweContext) -> usize {
        if self.is_highest { context.level() } else { self.level }
    }

    /// The number of digits of a key-switching key.
    #[must_use]
    pub fn digit_count(&self) -> usize {
        self.first().len()
    }

    /// Length of a key-switching key in memory, in bytes: at level l 2·n·b·d·(l + s) with d digits and s special
    /// moduli, 2·n·b·kℓ·(k − i) with ℓ digits of each of k residues and i limbs dropped, for moduli of b bytes each,
    /// and 64 for every polynomial; half of it while the uniform halves are not drawn. Sums for merged digits come on top.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        self.parts.byte_len() + self.sums.byte_len()
    }

    /// Keeps sums of the polynomials of a key-switching key, for key switches of the given levels by merged digits. A key of a
    /// lower level stays as it is: it lacks moduli that could be further special ones.
    pub(crate) fn merge_digits(
        &mut self,
        context: &RlweContext,
        levels: impl IntoIterator<Item = usize>,
    ) -> Result<(), RlweError> {
        self.check(context, self.level_in(context))?;
        if self.is_highest {
            let halves = self.parts.halves(|| self.draw(context))?;
            self.sums.extend(context.gadget(), levels, halves.both())?;
        }
        Ok(())
    }

    /// Switches c of level `from` with this key, by merged digits where the key has sums for them, and adds c_0 and c_1
    /// ([`GadgetBackend::switch`](sunzi_ring::GadgetBackend::switch)).
    pub(crate) fn switch(
        &self,
        context: &RlweContext,
        [from, to]: [usize; 2],
        input: SwitchInput<'_>,
        added: Addends<'_>,
        exponent: u64,
    ) -> Result<[Poly<Evaluation>; 2], RlweError> {
        let (halves, gadget) = (self.halves(context, from)?, context.gadget_at(from)?);
        if !self.sums.is_empty()
            && !matches!(input, SwitchInput::Digits(_))
            && let Some(merged) = gadget.merged(to)?
            && let Some([first, second]) = self.sums.of_blocks(&merged.key_digits(), halves.both())
        {
            return Ok(merged.switch(input, added, [&first, &second], to, exponent)?);
        }
        Ok(gadget.switch(input, added, halves.both(), to, exponent)?)
    }

    /// Checks that a key-switching key fits a ciphertext of the given level.
    pub(crate) fn check(&self, context: &RlweContext, level: usize) -> Result<(), RlweError> {
        check_fits(context, &self.options, self.level_in(context), level)
    }

    /// Returns both halves of a key-switching key, after a check that it fits a ciphertext of the given level.
    pub(crate) fn halves(&self, context: &RlweContext, level: usize) -> Result<Halves<'_>, RlweError> {
        self.check(context, level)?;
        self.parts.halves(|| self.draw(context))
    }
}

/// Checks that a key of the given digits and level fits a ciphertext of a level.
pub(crate) fn check_fits(
    context: &RlweContext,
    options: &GadgetOptions,
    own: usize,
    level: usize,
) -> Result<(), RlweError> {
    let expected = context.gadget().options();
    if options != expected {
        return Err(RlweError::GadgetMismatch { expected: expected.clone(), got: options.clone() });
    }
    if !context.ring().is_nested(level, own) {
        return Err(RlweError::KeyLevel { key: own, ciphertext: level });
    }
    Ok(())
}

/// Switches several polynomials of a level, each with its key, and adds the results to `body`: returns both parts, and
/// the noise that is added.
pub(crate) fn switch_all<'a>(
    context: &RlweContext,
    level: usize,
    mut body: Poly<Evaluation>,
    polys: impl IntoIterator<Item = (&'a KeySwitchKey, Poly<Evaluation>)>,
) -> Result<([Poly<Evaluation>; 2], NoiseTerm), RlweError> {
    let (mut linear, mut noise) = (context.ring_at(level)?.zero(), NoiseTerm::none());
    for (key, poly) in polys {
        let (input, added) = (SwitchInput::Values(&poly), Addends::Values([Some(&body), Some(&linear)]));
        [body, linear] = key.switch(context, [level, level], input, added, 1)?;
        noise = noise.plus(added_noise(context, level, 1)?);
    }
    Ok(([body, linear], noise))
}

/// A key-switching key that is being made.
struct Unfinished {
    seed: [u8; 32],
    level: usize,
    is_highest: bool,
    first: Vec<PackedPoly>,
    /// Uniform polynomials, none where they are left to be drawn.
    second: Vec<PackedPoly>,
}

impl Unfinished {
    fn new(context: &RlweContext, gadget: &Gadget, level: usize, seed: [u8; 32]) -> Self {
        let [first, second] = [(); 2].map(|()| Vec::with_capacity(gadget.digit_count()));
        Self { seed, level, is_highest: level == context.level(), first, second }
    }

    fn uniform(&self, ring: &Ring, digit: usize) -> Poly<Evaluation> {
        uniform(ring, &self.seed, digit)
    }

    fn finish(self, gadget: &Gadget) -> KeySwitchKey {
        let Self { seed, level, is_highest, first, second } = self;
        let uniform = if second.is_empty() { UniformHalf::new() } else { second.into() };
        let parts = SeededParts::new(seed, first, uniform);
        KeySwitchKey { parts, options: gadget.options().clone(), level, is_highest, sums: KeySums::default() }
    }
}

/// Draws the uniform half of a digit of a key from the seed.
pub(crate) fn uniform(ring: &Ring, seed: &[u8; 32], digit: usize) -> Poly<Evaluation> {
    ring.uniform(&mut randomness::public_stream(seed, digit as u64))
}

/// Returns the noise that one key switch at a level adds, from a source that is a product of `power` secrets: 2 for
/// s².
///
/// # Errors
/// [`RlweError::Ring`] for a level that does not exist.
pub(crate) fn added_noise(context: &RlweContext, level: usize, power: u32) -> Result<NoiseTerm, RlweError> {
    Ok(extended_noise(context, level, power)?.plus(division_noise(context)))
}

/// Returns the noise of the division by P that ends a key switch or a sum of them.
pub(crate) fn division_noise(context: &RlweContext) -> NoiseTerm {
    let divided = !context.gadget().options().special_moduli.is_empty();
    if divided { context.noise_model().mod_switch(2) } else { NoiseTerm::none() }
}

/// Returns the noise of a key switch before the division by P, over P: [`added_noise`] without the rounding.
pub(crate) fn extended_noise(
    context: &RlweContext,
    level: usize,
    power: u32,
) -> Result<NoiseTerm, RlweError> {
    let errors = |model: NoiseModel, digits: &[DigitBound]| model.key_switch(digits, power);
    extended_noise_by(context, level, power, errors)
}

/// Returns the noise that one key switch by a key made under a public key adds at a level.
pub(crate) fn public_noise(context: &RlweContext, level: usize) -> Result<NoiseTerm, RlweError> {
    let errors = |model: NoiseModel, digits: &[DigitBound]| model.public_key_switch(digits);
    Ok(extended_noise_by(context, level, 1, errors)?.plus(division_noise(context)))
}

/// Returns the noise of a key switch before the division by P, over P, from that of the errors of its key.
fn extended_noise_by(
    context: &RlweContext,
    level: usize,
    power: u32,
    errors: impl FnOnce(NoiseModel, &[DigitBound]) -> NoiseTerm,
) -> Result<NoiseTerm, RlweError> {
    let (model, gadget) = (context.noise_model(), context.gadget_at(level)?);
    let errors = errors(model, &gadget.digit_bounds());
    let errors = errors.plus(model.truncation(Log2::from_bits(gadget.log2_truncation()), power));
    Ok(errors.scaled(Log2::from_bits(-gadget.log2_special())))
}
