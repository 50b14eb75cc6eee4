//! The keys of a bootstrapping.

use std::sync::atomic::{AtomicUsize, Ordering};

use rand_core::CryptoRng;
use rayon::prelude::*;
use sunzi_ring::{Multipliers, PolyRing, Ring};
use sunzi_rlwe::{EncapsulationKeys, GaloisKeys, RelinearizationKey, RlweError, SecretKey, randomness};

use super::Blueprint;
use crate::bootstrap::BootstrapError;

/// All keys of a [`Blueprint`]; no part of them is secret.
#[derive(Clone)]
pub struct BootstrapKeys<R: PolyRing = Ring> {
    relinearization: RelinearizationKey<R>,
    rotations: GaloisKeys<R>,
    encapsulation: Option<EncapsulationKeys<R>>,
}

impl<R: Multipliers> BootstrapKeys<R> {
    /// Makes the keys, several at a time on the current thread pool. `progress` is told how many are made and how many there will
    /// be, from any of its threads.
    ///
    /// # Errors
    /// [`BootstrapError::Rlwe`] for a secret of another context, and for moduli above the security limit of one of the secrets.
    pub fn generate<G: CryptoRng + ?Sized>(
        blueprint: &Blueprint<R>,
        secret: &SecretKey<R>,
        rng: &mut G,
        progress: impl Fn(usize, usize) + Sync,
    ) -> Result<Self, BootstrapError> {
        let context = blueprint.context();
        let (rlwe, wanted) = (context.rlwe(), blueprint.rotations());
        let total = wanted.len() + 1 + usize::from(blueprint.set().encapsulation.is_some());
        let done = AtomicUsize::new(0);
        let count = || progress(done.fetch_add(1, Ordering::Relaxed) + 1, total);

        let level = context.limbs(blueprint.levels().eval_mod)?;
        let relinearization = RelinearizationKey::generate_at_level(rlwe, secret, level, rng)?;
        count();
        let encapsulation = blueprint.set().encapsulation.map(|capsule| {
            let levels = [context.limbs(0)?, rlwe.level()];
            let special = blueprint.special_modulus(capsule.special_bits)?;
            let keys = EncapsulationKeys::generate(rlwe, secret, capsule.weight, levels, &[special], rng)?;
            count();
            Ok::<_, BootstrapError>(keys)
        });
        let encapsulation = encapsulation.transpose()?;

        let mut seeded = Vec::with_capacity(wanted.len());
        for (exponent, _, level) in wanted {
            seeded.push((exponent, context.limbs(level)?, randomness::fork(rng)));
        }
        let made = seeded.into_par_iter().map(|(exponent, limbs, mut rng)| {
            let key = GaloisKeys::generate_at_level(rlwe, secret, [exponent], limbs, &mut rng)?;
            count();
            Ok::<_, RlweError>(key)
        });
        let mut rotations = GaloisKeys::generate(rlwe, secret, [], rng)?;
        for key in made.collect::<Result<Vec<_>, _>>()? {
            rotations.extend(key)?;
        }
        Ok(Self { relinearization, rotations, encapsulation })
    }

    /// The key that relinearises products of all levels from EvalMod down.
    #[must_use]
    pub fn relinearization(&self) -> &RelinearizationKey<R> {
        &self.relinearization
    }

    /// The keys of rotations and the conjugation, each up to the level at which it is used.
    #[must_use]
    pub fn rotations(&self) -> &GaloisKeys<R> {
        &self.rotations
    }

    /// The keys to the sparse secret and back, if there is one.
    #[must_use]
    pub fn encapsulation(&self) -> Option<&EncapsulationKeys<R>> {
        self.encapsulation.as_ref()
    }

    /// Bytes in memory.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        let encapsulation = self.encapsulation.as_ref().map_or(0, EncapsulationKeys::byte_len);
        self.relinearization.byte_len() + self.rotations.byte_len() + encapsulation
    }
}
