//! Keys of a plan, for one party or for all.

use std::sync::Arc;

use sunzi_circuits::EvaluationKeys;
use sunzi_circuits::bootstrap::AnyBootstrapKeys;
use sunzi_program::analysis::{Parameters, SchemeChoice};
use sunzi_program::contexts::{EncryptionKey, PublicKey, SecretKey};
use sunzi_program::{Contexts, Plan, ProgramError};
use sunzi_rlwe::randomness::from_os;
use sunzi_rlwe::wire::WireError;
use sunzi_rlwe::{GaloisKeys, KeyId, memory};

use crate::TableError;

/// The key that a party encrypts with, and the name of the secret key that opens what it encrypts.
pub type EncryptingKey<'a> = (EncryptionKey<'a>, KeyId);

/// Evaluation keys of a plan: those of whoever computes.
#[non_exhaustive]
pub enum Evaluation {
    /// Keys of products and rotations.
    Keys(EvaluationKeys),
    /// Keys of look-ups.
    LookUps(AnyBootstrapKeys),
    /// Keys of bootstraps, and of rotations.
    Bootstraps(AnyBootstrapKeys, GaloisKeys),
}

impl Evaluation {
    /// Names of the secret keys that the evaluation keys were made from: equal, unless somebody mixed files.
    #[must_use]
    pub fn ids(&self) -> Vec<KeyId> {
        match self {
            Self::Keys(keys) => {
                let products = keys.relinearization.as_ref().map(|key| key.id());
                products.into_iter().chain(keys.galois.as_ref().map(GaloisKeys::id)).collect()
            }
            Self::LookUps(keys) => vec![keys.id()],
            Self::Bootstraps(keys, rotations) => vec![keys.id(), rotations.id()],
        }
    }
}

/// Keys of a plan's parameters: those that one party has. Clones share them.
#[derive(Clone)]
pub struct Keys {
    /// Contexts of the parameters of the keys.
    pub contexts: Contexts,
    /// Secret key, of the owner alone.
    pub secret: Option<Arc<SecretKey>>,
    /// Public key, of whoever encrypts.
    pub public: Option<Arc<PublicKey>>,
    /// Evaluation keys, of whoever computes.
    pub evaluation: Option<Arc<Evaluation>>,
}

impl Keys {
    /// Generates all keys of a plan; `progress` is told how many parts of bootstrapping keys are made, and of how many.
    ///
    /// # Errors
    /// [`TableError::Program`]; `RlweError::Memory` where the keys and their tables need more memory than there is; `RlweError::Randomness`.
    pub fn generate(plan: &Plan, progress: impl FnMut(usize, usize) + Send) -> Result<Self, TableError> {
        let needed = plan.key_bytes.saturating_add(plan.parameters.table_bytes());
        memory::require(needed).map_err(ProgramError::scheme)?;
        let contexts = Contexts::new(&plan.parameters)?;
        let mut rng = from_os().map_err(ProgramError::scheme)?;
        let secret = SecretKey::generate(contexts.rlwe(), &mut rng).map_err(ProgramError::scheme)?;
        let public = PublicKey::generate(contexts.rlwe(), &secret, &mut rng).map_err(ProgramError::scheme)?;
        let bootstraps = matches!(plan.parameters, Parameters::Bootstrapped(_));
        let evaluation = if plan.parameters.scheme() == SchemeChoice::Integers {
            Evaluation::LookUps(contexts.bootstrapping_keys(&secret, &mut rng, progress)?)
        } else {
            let keys = contexts.evaluation_keys(&secret, &plan.rotations, plan.rotation_limbs, &mut rng);
            let keys = keys.map_err(ProgramError::scheme)?;
            match keys.galois {
                Some(rotations) if bootstraps => {
                    let own = contexts.bootstrapping_keys(&secret, &mut rng, progress)?;
                    Evaluation::Bootstraps(own, rotations)
                }
                _ => Evaluation::Keys(keys),
            }
        };
        Ok(Self {
            contexts,
            secret: Some(Arc::new(secret)),
            public: Some(Arc::new(public)),
            evaluation: Some(Arc::new(evaluation)),
        })
    }

    /// The name of the secret key that all keys belong to; `None` without any key.
    #[must_use]
    pub fn id(&self) -> Option<KeyId> {
        let secret = self.secret.as_ref().map(|key| key.id());
        let public = || self.public.as_ref().map(|key| key.id());
        let evaluation = || self.evaluation.as_ref().and_then(|keys| keys.ids().first().copied());
        secret.or_else(public).or_else(evaluation)
    }

    /// Checks that there is a key, and that all keys belong to one secret key.
    ///
    /// # Errors
    /// [`TableError::MissingKey`] without any key; [`WireError::Key`] for keys of several secret keys.
    pub fn check(&self) -> Result<(), TableError> {
        let id =
            self.id().ok_or(TableError::MissingKey { what: "beside the parameters: give one at least" })?;
        let own = self.public.iter().map(|key| key.id());
        let evaluation = self.evaluation.iter().flat_map(|keys| keys.ids());
        match own.chain(evaluation).find(|other| *other != id) {
            Some(other) => Err(WireError::Key { expected: Some(id), got: Some(other) }.into()),
            None => Ok(()),
        }
    }

    /// Returns the key that encrypts: the secret one where it is there, since its ciphertexts are half as long.
    ///
    /// # Errors
    /// [`TableError::MissingKey`] without the secret and the public key.
    pub fn encrypting(&self) -> Result<EncryptingKey<'_>, TableError> {
        match (&self.secret, &self.public) {
            (Some(key), _) => Ok((EncryptionKey::Secret(key), key.id())),
            (None, Some(key)) => Ok((EncryptionKey::Public(key), key.id())),
            _ => Err(TableError::MissingKey {
                what: "to encrypt with: take the public key, or the secret one",
            }),
        }
    }

    /// Checks that the keys are for the parameters of a plan.
    ///
    /// # Errors
    /// [`TableError::Mismatch`] for other parameters.
    pub fn check_plan(&self, plan: &Plan) -> Result<(), TableError> {
        if self.contexts.parameters() == &plan.parameters {
            return Ok(());
        }
        let of = |parameters: &Parameters| format!("{} with n = {}", parameters.name(), parameters.degree());
        let what =
            "parameters of the keys, which are others than those of the plan (plan within those of the keys)";
        Err(TableError::mismatch(what, of(&plan.parameters), of(self.contexts.parameters())))
    }
}
