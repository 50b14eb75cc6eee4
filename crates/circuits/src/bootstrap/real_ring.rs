//! Bootstrapping of ciphertexts of a real ring, in the whole ring in which it lies.
//!
//! A message of n real slots in the real ring of degree n is one of n slots in the whole ring of degree 2n, where it is
//! bootstrapped, alone or as one half of a pair a + i·b. The trace leads back, and doubles: so results in the whole ring
//! have half of their scale ([`RealRingKeys`]).

use rand_core::CryptoRng;
use sunzi_ckks::{Ciphertext, CkksError, Context, Evaluator, Metadata, Parameters};
use sunzi_rlwe::{Log2, RealRingKeys, SecretKey};

use super::blueprint::bytes_of_keys;
use super::bootstrapper::with_scale;
use super::noise::exact;
use super::set::Order;
use super::{Blueprint, BootstrapError, BootstrapKeys, Bootstrapper, Bounded, Set};

impl Set {
    /// Returns the parameters of the real ring whose ciphertexts a bootstrapping of the set restores: as many slots as the set's
    /// ring has, in half of its degree, and the levels that a bootstrapping leaves.
    ///
    /// # Errors
    /// Every error of [`parameters`](Self::parameters); [`BootstrapError::Ckks`] where security allows the levels no special moduli in half of
    /// the degree.
    pub fn real_parameters(&self) -> Result<Parameters, BootstrapError> {
        Ok(self.parameters()?.real_subring(self.residual.levels)?)
    }
}

/// Blueprint of a bootstrapping of ciphertexts of a real ring.
#[derive(Clone, Debug)]
pub struct RealBlueprint {
    real: Context,
    /// Blueprint in the whole ring, for results at half of their scale.
    whole: Blueprint,
    /// Context of the level at which ciphertexts enter the whole ring.
    low: Context,
}

impl RealBlueprint {
    /// Makes the context of the whole ring and chooses rotations and sizes of all steps, for a context of [`Set::real_parameters`].
    ///
    /// # Errors
    /// Every error of [`Context::new`] and [`Blueprint::new`]; [`BootstrapError::ContextMismatch`] for a context of another set.
    pub fn new(real: &Context, set: &Set, slots: usize) -> Result<Self, BootstrapError> {
        let whole = Context::new(&set.parameters()?)?;
        Self::within(real, &whole, set, slots)
    }

    /// Chooses rotations and sizes of all steps, given the contexts of both rings.
    ///
    /// # Errors
    /// Every error of [`Blueprint::new`]; [`BootstrapError::ContextMismatch`] for a context of another set.
    pub fn within(real: &Context, whole: &Context, set: &Set, slots: usize) -> Result<Self, BootstrapError> {
        let (expected, got) = (set.residual.levels + 1, real.depth() + 1);
        if !real.has_real_slots() || got != expected {
            return Err(BootstrapError::ContextMismatch { expected, got });
        }
        real.check_slots(slots)?;
        let lowest = set.lowest_level();
        let special_moduli = set.parameters()?.special_moduli_for(lowest..=lowest)?;
        let low = whole.for_levels(lowest..=lowest, &special_moduli)?;
        Ok(Self { real: real.clone(), whole: Blueprint::of_share(whole, set, slots, 0.5)?, low })
    }

    /// Context of the ciphertexts to bootstrap.
    #[must_use]
    pub fn real(&self) -> &Context {
        &self.real
    }

    /// Blueprint of the bootstrapping in the whole ring.
    #[must_use]
    pub fn whole(&self) -> &Blueprint {
        &self.whole
    }

    /// Number of bytes of all keys of the bootstrapping.
    ///
    /// # Errors
    /// Every error of [`Blueprint::keys`].
    pub fn key_bytes(&self) -> Result<usize, BootstrapError> {
        let bytes = |context: &Context| context.rlwe().gadget().key_bytes().map_err(CkksError::from);
        Ok(self.whole.key_bytes()? + bytes(&self.low)? + 2 * bytes(&self.real)?)
    }

    /// Number of bytes of the file of all keys of the bootstrapping, to a percent.
    ///
    /// # Errors
    /// Every error of [`Blueprint::keys`].
    pub fn key_file_bytes(&self) -> Result<u64, BootstrapError> {
        let [low, real] = [&self.low, &self.real].map(|context| bytes_of_keys(context.rlwe().gadget()));
        Ok(self.whole.key_file_bytes()? + low?.1 + 2 * real?.1)
    }
}

/// Keys of a bootstrapping of ciphertexts of a real ring; they contain no secret.
#[derive(Clone)]
pub struct RealBootstrapKeys {
    pub(super) whole: BootstrapKeys,
    pub(super) between: RealRingKeys,
}

impl RealBootstrapKeys {
    /// Makes the keys of a bootstrapping from the secret of the real ring. The secret of the whole ring is drawn here and not kept.
    /// `progress` is called with the numbers of keys made and of all keys.
    ///
    /// # Errors
    /// Every error of [`BootstrapKeys::generate`].
    pub fn generate(
        blueprint: &RealBlueprint,
        secret: &SecretKey,
        rng: &mut dyn CryptoRng,
        progress: impl FnMut(usize, usize) + Send,
    ) -> Result<Self, BootstrapError> {
        let RealBlueprint { real, whole, low } = blueprint;
        let rlwe = whole.context().rlwe();
        let of_whole = SecretKey::generate(rlwe, rng)?;
        let between = RealRingKeys::generate((real.rlwe(), secret), (rlwe, &of_whole), low.rlwe(), rng)?;
        let whole = BootstrapKeys::generate(whole, &of_whole, rng, progress)?;
        Ok(Self { whole, between })
    }

    /// Keys of the bootstrapping in the whole ring.
    #[must_use]
    pub fn whole(&self) -> &BootstrapKeys {
        &self.whole
    }

    /// Keys between both rings.
    #[must_use]
    pub fn between(&self) -> &RealRingKeys {
        &self.between
    }

    /// Number of bytes of the keys in memory.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        self.whole.byte_len() + self.between.byte_len()
    }
}

/// Bootstrapper of ciphertexts of a real ring: it restores their levels.
#[derive(Clone)]
pub struct RealBootstrapper {
    blueprint: RealBlueprint,
    whole: Bootstrapper,
    evaluator: Evaluator,
}

impl RealBootstrapper {
    /// Encodes all diagonals, as [`Bootstrapper::new`] does.
    ///
    /// # Errors
    /// Every error of [`Bootstrapper::new`].
    pub fn new(
        blueprint: &RealBlueprint,
        progress: impl Fn(usize, usize) + Sync,
    ) -> Result<Self, BootstrapError> {
        let whole = Bootstrapper::new(&blueprint.whole, progress)?;
        Ok(Self { blueprint: blueprint.clone(), whole, evaluator: Evaluator::new(&blueprint.real) })
    }

    /// Blueprint from which the bootstrapper was made.
    #[must_use]
    pub fn blueprint(&self) -> &RealBlueprint {
        &self.blueprint
    }

    /// Bootstrapper in the whole ring.
    #[must_use]
    pub fn whole(&self) -> &Bootstrapper {
        &self.whole
    }

    /// Bootstraps a message. Where SlotsToCoeffs comes first, EvalMod runs once instead of twice.
    ///
    /// # Errors
    /// Every error of [`Bootstrapper::bootstrap`].
    pub fn bootstrap(&self, a: &Ciphertext, keys: &RealBootstrapKeys) -> Result<Ciphertext, BootstrapError> {
        let a = self.enter(a, keys)?;
        self.leave(&self.whole.bootstrap_real(&a, &keys.whole)?, keys)
    }

    /// Bootstraps two messages as one, in the time of one bootstrapping. Where SlotsToCoeffs comes first, precision is that of one
    /// message; elsewhere messages have at least one level, and precision is one bit below.
    ///
    /// # Errors
    /// Every error of [`Bootstrapper::bootstrap_real_pair`].
    pub fn bootstrap_pair(
        &self,
        pair: [&Ciphertext; 2],
        keys: &RealBootstrapKeys,
    ) -> Result<[Ciphertext; 2], BootstrapError> {
        if self.blueprint.whole.set().order == Order::Last {
            return self.halves(pair, keys);
        }
        let [a, b] = pair.map(|a| self.enter(a, keys));
        let [a, b] = self.whole.bootstrap_real_pair([&a?, &b?], &keys.whole)?;
        Ok([self.leave(&a, keys)?, self.leave(&b, keys)?])
    }

    /// Bootstraps (a + i·b)/2 and doubles both parts.
    fn halves(
        &self,
        pair: [&Ciphertext; 2],
        keys: &RealBootstrapKeys,
    ) -> Result<[Ciphertext; 2], BootstrapError> {
        let half = |a: &Ciphertext| {
            let Metadata { level: got, scale, .. } = *a.metadata();
            if got == 0 {
                let what = "the bootstrapping of a pair";
                return Err(BootstrapError::LevelTooLow { what, expected: 1, got });
            }
            self.enter(&with_scale(a.clone(), 2.0 * scale), keys)
        };
        let ([a, b], evaluator) = (pair.map(half), self.whole.evaluator());
        let both = evaluator.add(&a?, &evaluator.multiply_by_i(&b?)?)?;
        let [a, b] = pair.map(|of| of.metadata().precision.magnitude());
        let both = self.whole.bootstrap(&evaluator.with_magnitude(&both, a.hypot(b) / 2.0)?, &keys.whole)?;
        let part = |both: &Ciphertext, sign: i64, of: &Ciphertext| {
            let mut part = self.evaluator.multiply_integer(&self.leave(both, keys)?, 2 * sign)?;
            let (own, of) = (part.metadata().clone(), of.metadata());
            let precision = own.precision.with_magnitude(of.precision.magnitude());
            part.set_metadata(Metadata { slots: of.slots, precision, ..own });
            Ok::<_, BootstrapError>(part)
        };
        // The real part of i·(a + i·b) is −b.
        let turned = evaluator.multiply_by_i(&both)?;
        Ok([part(&both, 1, pair[0])?, part(&turned, -1, pair[1])?])
    }

    /// Bootstraps a message in rounds of refinement: see [`Bootstrapper::bootstrap_refined`].
    ///
    /// # Errors
    /// Every error of [`Bootstrapper::bootstrap_refined`].
    pub fn bootstrap_refined(
        &self,
        a: &Ciphertext,
        rounds: usize,
        keys: &RealBootstrapKeys,
    ) -> Result<Ciphertext, BootstrapError> {
        let a = self.enter(a, keys)?;
        self.leave(&self.whole.bootstrap_refined(&a, rounds, &keys.whole)?, keys)
    }

    /// Bootstraps a message with a bound on what that adds to every slot: see [`Bootstrapper::bootstrap_bounded`]. The key
    /// switches between both rings are in the bound.
    ///
    /// # Errors
    /// Every error of [`Bootstrapper::bootstrap_bounded`].
    pub fn bootstrap_bounded(
        &self,
        a: &Ciphertext,
        beside: f64,
        keys: &RealBootstrapKeys,
    ) -> Result<Bounded, BootstrapError> {
        let of = a.metadata();
        // The noise that follows is what the way adds.
        let mut entered = self.enter(&exact(a), keys)?;
        let scale = entered.metadata().scale;
        let before = self.blueprint.whole.largest_slot(entered.noise(), scale);
        let carried = a.noise().scaled(Log2::of(scale / of.scale));
        entered.set_noise(entered.noise().sum(&carried));
        let inner = self.whole.bootstrap_bounded(&entered, beside + before, &keys.whole)?;
        let mut ciphertext = self.leave(&exact(&inner.ciphertext), keys)?;
        let (own, scale) = (*ciphertext.noise(), ciphertext.metadata().scale);
        // The weight of the real ring's basis is the degree of the whole ring.
        let after = self.blueprint.whole.largest_slot(&own, scale);
        ciphertext.set_noise(own.sum(&inner.ciphertext.noise().scaled(Log2::of(2.0))));
        let precision = ciphertext.metadata().precision.with_deviation(of.precision.deviation());
        let metadata = Metadata { precision, ..ciphertext.metadata().clone() };
        ciphertext.set_metadata(metadata);
        Ok(Bounded { ciphertext, added: before + inner.added + after })
    }

    /// Lowers a ciphertext of the real ring to the lowest level that the set takes, and leads it to the whole ring.
    fn enter(&self, a: &Ciphertext, keys: &RealBootstrapKeys) -> Result<Ciphertext, BootstrapError> {
        let (RealBlueprint { real, whole, .. }, got) = (&self.blueprint, a.metadata().level);
        let level = whole.set().lowest_level();
        real.check(a)?;
        if got < level {
            return Err(BootstrapError::LevelTooLow { what: "SlotsToCoeffs", expected: level, got });
        }
        let a = match whole.set().order {
            Order::Last if got > level => self.evaluator.set_scale(a, level, whole.scales.raised)?,
            Order::Last => a.clone(),
            Order::First => self.evaluator.level_to(a, level)?,
        };
        Ok(keys.between.to_whole(real.rlwe(), &a)?)
    }

    /// Leads a result back to the real ring: the trace of half of a message.
    fn leave(&self, a: &Ciphertext, keys: &RealBootstrapKeys) -> Result<Ciphertext, BootstrapError> {
        let RealBlueprint { real, whole, .. } = &self.blueprint;
        let contexts = [real.rlwe(), whole.context().rlwe()];
        let mut result = keys.between.trace_to_real(contexts, a)?;
        let of = a.metadata();
        let scale = real.snapped(of.level, 2.0 * of.scale)?;
        result.set_metadata(Metadata { scale, ..of.clone() });
        Ok(result)
    }
}
