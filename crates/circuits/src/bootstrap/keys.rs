//! Key material of a bootstrapping.

use std::collections::BTreeMap;

use rand_core::CryptoRng;
use sunzi_ckks::Context;
use sunzi_rlwe::{
    EncapsulationKeys, GaloisKeys, RaisingKeys, RelinearizationKey, RlweContext, SecretKey, SparseSecret,
};

use super::Blueprint;
use super::steps::Steps;
use crate::bootstrap::BootstrapError;

/// All keys of a [`Blueprint`]; they contain no secret.
#[derive(Clone)]
pub struct BootstrapKeys {
    pub(super) relinearization: RelinearizationKey,
    pub(super) automorphisms: GaloisKeys,
    pub(super) sparse: Option<SparseKeys>,
    pub(super) own: Option<Box<StepKeys>>,
}

/// Keys of the steps with special moduli of their own, beside the automorphisms of CoeffsToSlots.
#[derive(Clone)]
pub(super) struct StepKeys {
    /// Contexts in which the keys of the steps switch.
    pub(super) contexts: Steps<RlweContext>,
    /// Relinearisation key of the first polynomial of EvalMod.
    pub(super) polynomial: RelinearizationKey,
    /// Relinearisation key of tables, in sets that have them.
    pub(super) tables: Option<RelinearizationKey>,
    /// Galois keys of SlotsToCoeffs.
    pub(super) slots_to_coeffs: GaloisKeys,
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
        let [forth, back] = blueprint.exponents();
        let own = blueprint.has_own_steps();
        let singles = 1 + usize::from(own) + usize::from(blueprint.set().encapsulation.is_some());
        let total = singles + forth.len() + back.len();

        let level = context.key_level(blueprint.relinearization_level())?;
        let relinearization = RelinearizationKey::generate_at_level(context.rlwe(), secret, level, rng)?;
        progress(1, total);
        let sparse = Self::generate_sparse(blueprint, secret, rng)?;
        let steps = &blueprint.steps;
        let mut of_step = |step: &Context| {
            let secret = secret.in_context(context.rlwe(), step.rlwe())?;
            RelinearizationKey::generate(step.rlwe(), &secret, rng)
        };
        let polynomial = own.then(|| of_step(&steps.polynomial)).transpose()?;
        let tables = steps.tables.as_ref().map(of_step).transpose()?;
        progress(singles, total);
        let secrets = (context.rlwe(), secret);
        let made = singles + forth.len();
        let report = |done, _| progress(singles + done, total);
        let automorphisms = galois_keys(secrets, &steps.coeffs_to_slots, forth, rng, report)?;
        let Some(polynomial) = polynomial else {
            return Ok(Self { relinearization, automorphisms, sparse, own: None });
        };
        let report = |done, _| progress(made + done, total);
        let slots_to_coeffs = galois_keys(secrets, &steps.slots_to_coeffs, back, rng, report)?;
        let contexts = steps.map(|step| step.rlwe().clone());
        let own = Some(Box::new(StepKeys { contexts, polynomial, tables, slots_to_coeffs }));
        Ok(Self { relinearization, automorphisms, sparse, own })
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

    /// Key that relinearises products in the context of the bootstrapping: those of doublings and of all levels below, so those of
    /// bootstrapped ciphertexts too.
    #[must_use]
    pub fn relinearization(&self) -> &RelinearizationKey {
        &self.relinearization
    }

    /// Key that relinearises products of the first polynomial of EvalMod.
    pub(super) fn of_polynomial(&self) -> &RelinearizationKey {
        self.own.as_ref().map_or(&self.relinearization, |own| &own.polynomial)
    }

    /// Key that relinearises products of tables.
    pub(super) fn of_tables(&self) -> &RelinearizationKey {
        self.own.as_ref().and_then(|own| own.tables.as_ref()).unwrap_or(&self.relinearization)
    }

    /// Keys of the rotations of CoeffsToSlots and of the conjugation, each up to the level at which it is used. They are of the context of the
    /// bootstrapping, and with those of SlotsToCoeffs, where steps have no special moduli of their own.
    #[must_use]
    pub fn rotations(&self) -> &GaloisKeys {
        &self.automorphisms
    }

    /// Keys of the rotations of SlotsToCoeffs, and of results in sets for integers.
    #[must_use]
    pub fn rotations_to_coeffs(&self) -> &GaloisKeys {
        self.own.as_ref().map_or(&self.automorphisms, |own| &own.slots_to_coeffs)
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
        let own = self.own.map(|own| {
            let StepKeys { contexts, polynomial, tables, slots_to_coeffs } = *own;
            let (polynomial, slots_to_coeffs) = (polynomial.compact(), slots_to_coeffs.compact());
            let tables = tables.map(RelinearizationKey::compact);
            Box::new(StepKeys { contexts, polynomial, tables, slots_to_coeffs })
        });
        Self { relinearization, automorphisms, own, ..self }
    }

    /// Number of bytes of the keys in memory.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        let sparse = self.sparse.as_ref().map_or(0, SparseKeys::byte_len);
        let own = self.own.as_ref().map_or(0, |own| {
            let tables = own.tables.as_ref().map_or(0, RelinearizationKey::byte_len);
            own.polynomial.byte_len() + tables + own.slots_to_coeffs.byte_len()
        });
        self.relinearization.byte_len() + self.automorphisms.byte_len() + sparse + own
    }
}

/// Makes the Galois keys of a step in its context, from the secret of another, each exponent up to a level.
fn galois_keys(
    (from, secret): (&RlweContext, &SecretKey),
    step: &Context,
    exponents: BTreeMap<u64, usize>,
    rng: &mut dyn CryptoRng,
    progress: impl FnMut(usize, usize) + Send,
) -> Result<GaloisKeys, BootstrapError> {
    let secret = secret.in_context(from, step.rlwe())?;
    let levels = exponents.into_iter().map(|(exponent, level)| Ok((exponent, step.key_level(level)?)));
    let levels: Vec<(u64, usize)> = levels.collect::<Result<_, BootstrapError>>()?;
    Ok(GaloisKeys::generate_levels(step.rlwe(), &secret, levels, rng, progress)?)
}
