//! Key material of a bootstrapping.

use rand_core::CryptoRng;
use sunzi_rlwe::{EncapsulationKeys, GaloisKeys, RaisingKeys, RelinearizationKey, SecretKey, SparseSecret};

use super::Blueprint;
use crate::bootstrap::BootstrapError;

/// All keys of a [`Blueprint`]; they contain no secret.
#[derive(Clone)]
pub struct BootstrapKeys {
    pub(super) relinearization: RelinearizationKey,
    pub(super) automorphisms: GaloisKeys,
    pub(super) sparse: Option<SparseKeys>,
}

/// Keys to the sparse secret of a bootstrapping and back.
#[derive(Clone)]
pub enum SparseKeys {
    /// Keys of a set whose way back is a key switch.
    KeySwitch(EncapsulationKeys),
    /// Keys of a set whose way back is the first matrix of CoeffsToSlots.
    FirstMatrix(Box<RaisingKeys>),
}

impl SparseKeys {
    /// Number of bytes of the keys in memory.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        match self {
            Self::KeySwitch(keys) => keys.byte_len(),
            Self::FirstMatrix(keys) => keys.byte_len(),
        }
    }
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
        let sparse = Self::generate_sparse(blueprint, secret, rng)?;
        progress(others, total);
        let levels = exponents.into_iter().map(|(exponent, level)| Ok((exponent, context.key_level(level)?)));
        let levels: Vec<(u64, usize)> = levels.collect::<Result<_, BootstrapError>>()?;
        let automorphisms =
            GaloisKeys::generate_levels(rlwe, secret, levels, rng, |done, _| progress(others + done, total))?;
        Ok(Self { relinearization, automorphisms, sparse })
    }

    /// Draws the sparse secret and makes the keys to it and back, if the set has one.
    fn generate_sparse(
        blueprint: &Blueprint,
        secret: &SecretKey,
        rng: &mut dyn CryptoRng,
    ) -> Result<Option<SparseKeys>, BootstrapError> {
        let Some(capsule) = blueprint.set().encapsulation else { return Ok(None) };
        let (context, special) = (blueprint.context(), [blueprint.special_modulus(capsule.special_bits)?]);
        let (rlwe, low) = (context.rlwe(), context.limbs(0)?);
        let shape = SparseSecret { weight: capsule.weight, rank: capsule.rank };
        Ok(Some(match &blueprint.first_matrix {
            Some(first) => {
                let map = first.map(context)?;
                let keys = RaisingKeys::generate(rlwe, secret, shape, (low, &special), &map, rng)?;
                SparseKeys::FirstMatrix(Box::new(keys))
            }
            None => {
                let levels = [low, rlwe.level()];
                SparseKeys::KeySwitch(EncapsulationKeys::generate(
                    rlwe, secret, shape, levels, &special, rng,
                )?)
            }
        }))
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

    /// Keys to the sparse secret and back, if there is one.
    #[must_use]
    pub fn sparse(&self) -> Option<&SparseKeys> {
        self.sparse.as_ref()
    }

    /// Stores seeds instead of uniform halves of keys, except of key switches to the sparse secret and back: half the memory, and the halves are expanded
    /// for every use.
    #[must_use]
    pub fn compact(mut self) -> Self {
        if let Some(SparseKeys::FirstMatrix(keys)) = &mut self.sparse {
            keys.compact();
        }
        let (relinearization, automorphisms) = (self.relinearization.compact(), self.automorphisms.compact());
        Self { relinearization, automorphisms, ..self }
    }

    /// Number of bytes of the keys in memory.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        let sparse = self.sparse.as_ref().map_or(0, SparseKeys::byte_len);
        self.relinearization.byte_len() + self.automorphisms.byte_len() + sparse
    }
}
