//! Keys of contexts: one set of keys serves every plaintext modulus.

use rand_core::CryptoRng;
use sunzi_circuits::bootstrap::{AnyBlueprint, AnyBootstrapKeys};
use sunzi_circuits::{EvaluationKeys, Rotation};
use sunzi_rlwe::{GaloisKeys, RelinearizationKey, RlweError, galois};

pub use sunzi_rlwe::EncryptionKey;

use super::{Contexts, Parts};
use crate::ProgramError;
use crate::analysis::{Parameters, Plan};

/// Secret key, which the owner of the data holds.
pub type SecretKey = sunzi_rlwe::SecretKey;
/// Public key, which the encrypting party holds.
pub type PublicKey = sunzi_rlwe::PublicKey;

/// Keys that several parties generate for a plan besides the public one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JointKeyLevels {
    /// Level up to which the relinearisation key serves; none for no such key.
    pub relinearization: Option<usize>,
    /// Exponents of the automorphisms of Galois keys, ascending, and the level up to which each serves.
    pub galois: Vec<(u64, usize)>,
}

impl Contexts {
    /// Returns the exponent k of the automorphism X → X^k that rotates slots by `rotation`.
    ///
    /// # Errors
    /// [`RlweError::NoRows`] in a ring without rows.
    pub fn exponent_of(&self, rotation: Rotation) -> Result<u64, RlweError> {
        let index = self.rlwe().ring().index();
        match (&self.parts, rotation) {
            (Parts::Ckks(_) | Parts::Integers(_), Rotation::Rows(steps)) => {
                Ok(sunzi_ckks::rotation::rotation_exponent(steps, index))
            }
            (Parts::Ckks(_) | Parts::Integers(_), Rotation::Columns) => {
                Ok(sunzi_ckks::rotation::conjugation_exponent(index))
            }
            (_, Rotation::Rows(steps)) => galois::rotation_exponent(index, steps),
            (_, Rotation::Columns) => galois::swap_exponent(index),
        }
    }

    /// Returns the exponents of the automorphisms of these rotations, ascending and without repetition.
    ///
    /// # Errors
    /// Every error of [`exponent_of`](Self::exponent_of).
    pub fn exponents_of(&self, rotations: &[Rotation]) -> Result<Vec<u64>, RlweError> {
        let mut exponents =
            rotations.iter().map(|&rotation| self.exponent_of(rotation)).collect::<Result<Vec<_>, _>>()?;
        exponents.sort_unstable();
        exponents.dedup();
        Ok(exponents)
    }

    /// Makes a relinearisation key, and keys for these rotations of ciphertexts of at most `limbs` moduli: those that
    /// a [`Plan`] requires. Keys of bootstraps have a relinearisation key themselves, and none is made beside them.
    ///
    /// # Errors
    /// Every error of [`exponent_of`](Self::exponent_of); [`RlweError::Ring`] for a secret of another ring, and for more moduli than there are.
    pub fn evaluation_keys(
        &self,
        secret: &SecretKey,
        rotations: &[Rotation],
        limbs: usize,
        rng: &mut dyn CryptoRng,
    ) -> Result<EvaluationKeys, RlweError> {
        let (rlwe, exponents) = (self.rlwe(), self.exponents_of(rotations)?);
        let bootstraps = matches!(self.parameters, Parameters::Bootstrapped(_));
        let relinearization = (!bootstraps).then(|| RelinearizationKey::generate(rlwe, secret, rng));
        Ok(EvaluationKeys {
            relinearization: relinearization.transpose()?,
            galois: Some(GaloisKeys::generate_at_level(rlwe, secret, exponents, limbs, rng)?),
        })
    }

    /// Returns which keys several parties generate for a plan, each with the level of the ring up to which it serves: those that
    /// [`load_evaluation`](Self::load_evaluation) reads.
    ///
    /// # Errors
    /// [`ProgramError::Mismatch`] for a plan of other parameters, and for one of bootstraps or look-ups, whose keys several parties cannot make;
    /// [`ProgramError::Scheme`] in a ring without rows.
    pub fn joint_key_levels(&self, plan: &Plan) -> Result<JointKeyLevels, ProgramError> {
        if plan.parameters != self.parameters {
            return Err(ProgramError::mismatch("the plan", "one of these parameters", "another"));
        }
        if matches!(self.parameters, Parameters::Bootstrapped(_) | Parameters::Integers(_)) {
            let expected = "one without bootstraps or look-ups";
            return Err(ProgramError::mismatch("the plan", expected, self.parameters.name()));
        }
        let exponents = self.exponents_of(&plan.rotations).map_err(ProgramError::scheme)?;
        let galois = exponents.into_iter().filter(|&exponent| exponent != 1);
        Ok(JointKeyLevels {
            relinearization: Some(self.rlwe().level()),
            galois: galois.map(|exponent| (exponent, plan.rotation_limbs)).collect(),
        })
    }

    /// Makes the keys of bootstraps, or of look-ups on encrypted integers; `progress` is called with the numbers of keys made and of all keys.
    ///
    /// # Errors
    /// [`ProgramError::Mismatch`] in another scheme; [`ProgramError::Scheme`] for a secret of another ring.
    pub fn bootstrapping_keys(
        &self,
        secret: &SecretKey,
        rng: &mut dyn CryptoRng,
        progress: impl FnMut(usize, usize) + Send,
    ) -> Result<AnyBootstrapKeys, ProgramError> {
        let blueprint = self.bootstrapping()?;
        AnyBootstrapKeys::generate(&blueprint, secret, rng, progress).map_err(ProgramError::scheme)
    }

    /// Returns the blueprint of bootstraps, or of look-ups on encrypted integers. That of a real ring makes the tables of the whole ring.
    ///
    /// # Errors
    /// [`ProgramError::Mismatch`] in another scheme; [`ProgramError::Scheme`] for a context that is not of its set.
    pub fn bootstrapping(&self) -> Result<AnyBlueprint, ProgramError> {
        let (context, set) = match (&self.parts, &self.parameters) {
            (Parts::Integers(own), _) => (own.context(), own.set()),
            (Parts::Ckks(context), Parameters::Bootstrapped(own)) => (context, own.set()),
            _ => {
                let expected = "integers, or CKKS with bootstrapping";
                return Err(ProgramError::mismatch("the scheme", expected, self.parameters.name()));
            }
        };
        AnyBlueprint::of_all_slots(context, set).map_err(ProgramError::scheme)
    }
}
