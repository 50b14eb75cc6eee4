//! Key material of a bootstrapping.

use rand_core::CryptoRng;
use sunzi_rlwe::{EncapsulationKeys, GaloisKeys, RelinearizationKey, SecretKey, SparseSecret};

use super::Blueprint;
use crate::bootstrap::BootstrapError;

/// All keys of a [`Blueprint`]; they contain no secret.
#[derive(Clone)]
pub struct BootstrapKeys {
    pub(super) relinearization: RelinearizationKey,
    pub(super) automorphisms: GaloisKeys,
    pub(super) encapsulation: Option<EncapsulationKeys>,
}

impl BootstrapKeys {
    /// Makes the keys of a bootstrapping, several at a time on the current thread pool. `progress` is called
    /// with the numbers of keys made and of all keys.
    ///
    /// # Errors
    /// [`BootstrapError::Rlwe`] for a secret of another context, and for moduli above the security limit of one of the secrets.
    pub fn generate(
        blueprint: &Blueprint,
        secret: &SecretKey,
        rng: &mut dyn CryptoRng,
        mut progress: impl FnMut(usize, usize) + Send,
    ) -> Result<Self, BootstrapError> {
        let context = blueprint.context();
        let rlwe = context.rlwe();
        let exponents = blueprint.exponents();
        let others = 1 + usize::from(blueprint.set().encapsulation.is_some());
        let total = exponents.len() + others;

        let level = context.key_level(blueprint.levels().eval_mod)?;
        let relinearization = RelinearizationKey::generate_at_level(rlwe, secret, level, rng)?;
        progress(1, total);
        let encapsulation = blueprint.set().encapsulation.map(|capsule| {
            let levels = [context.limbs(0)?, rlwe.level()];
            let special = blueprint.special_modulus(capsule.special_bits)?;
            Ok::<_, BootstrapError>(EncapsulationKeys::generate(
                rlwe,
                secret,
                SparseSecret { weight: capsule.weight, rank: capsule.rank },
                levels,
                &[special],
                rng,
            )?)
        });
        let encapsulation = encapsulation.transpose()?;
        progress(others, total);
        let levels = exponents.into_iter().map(|(exponent, level)| Ok((exponent, context.key_level(level)?)));
        let levels: Vec<(u64, usize)> = levels.collect::<Result<_, BootstrapError>>()?;
        let automorphisms =
            GaloisKeys::generate_levels(rlwe, secret, levels, rng, |done, _| progress(others + done, total))?;
        Ok(Self { relinearization, automorphisms, encapsulation })
    }

    /// Key that relinearises products of all levels from EvalMod down.
    #[must_use]
    pub fn relinearization(&self) -> &RelinearizationKey {
        &self.relinearization
    }

    /// Keys of the rotations and of the conjugation, each up to the level at which it is used.
    #[must_use]
    pub fn rotations(&self) -> &GaloisKeys {
        &self.automorphisms
    }

    /// Keys of the switches to the sparse secret and back, if there is one.
    #[must_use]
    pub fn encapsulation(&self) -> Option<&EncapsulationKeys> {
        self.encapsulation.as_ref()
    }

    /// Stores seeds instead of uniform halves of keys, except of the encapsulation: half the memory, and the halves are expanded for every key switch.
    #[must_use]
    pub fn compact(self) -> Self {
        let (relinearization, automorphisms) = (self.relinearization.compact(), self.automorphisms.compact());
        Self { relinearization, automorphisms, ..self }
    }

    /// Number of bytes of the keys in memory.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        let encapsulation = self.encapsulation.as_ref().map_or(0, EncapsulationKeys::byte_len);
        self.relinearization.byte_len() + self.automorphisms.byte_len() + encapsulation
    }
}
