//! Keys of plans, for one party or for all.

use std::path::Path;
use std::sync::Arc;

use sunzi_circuits::EvaluationKeys;
use sunzi_circuits::bootstrap::AnyBootstrapKeys;
use sunzi_program::analysis::{Parameters, SchemeChoice};
use sunzi_program::contexts::{EncryptionKey, PublicKey, SecretKey};
use sunzi_program::{Contexts, Plan};
use sunzi_rlwe::randomness::from_os;
use sunzi_rlwe::{GaloisKeys, KeyId, memory};

use super::mismatch;
use crate::error::Failure;

/// Keys of whoever computes.
pub(super) enum Evaluation {
    /// Keys of products and rotations.
    Keys(EvaluationKeys),
    /// Keys of look-ups.
    LookUps(AnyBootstrapKeys),
    /// Keys of bootstraps and of rotations.
    Bootstraps(AnyBootstrapKeys, GaloisKeys),
}

impl Evaluation {
    /// Identifiers of the secret keys that the keys were made from: equal, unless somebody mixed files.
    pub(super) fn ids(&self) -> Vec<KeyId> {
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

/// Keys of a plan: those that this party has.
pub(crate) struct Held {
    pub(crate) contexts: Contexts,
    pub(crate) secret: Option<Arc<SecretKey>>,
    pub(super) public: Option<Arc<PublicKey>>,
    pub(super) evaluation: Option<Arc<Evaluation>>,
}

impl Held {
    /// Shares the keys.
    pub(super) fn shared(&self) -> Self {
        let Self { contexts, secret, public, evaluation } = self;
        Self {
            contexts: contexts.clone(),
            secret: secret.clone(),
            public: public.clone(),
            evaluation: evaluation.clone(),
        }
    }

    /// Identifier of the secret key.
    pub(super) fn key(&self) -> Option<KeyId> {
        let secret = self.secret.as_ref().map(|key| key.id());
        let public = || self.public.as_ref().map(|key| key.id());
        let evaluation = || self.evaluation.as_ref().and_then(|keys| keys.ids().first().copied());
        secret.or_else(public).or_else(evaluation)
    }

    /// Checks that all keys belong to one secret key.
    pub(super) fn check(self) -> Result<Self, Failure> {
        let Some(id) = self.key() else {
            let message =
                "there is no key beside the parameters: give a folder that Keys.save or sunzi keygen made";
            return Err(Failure::new("MissingKey", message));
        };
        let own = self.public.iter().map(|key| key.id());
        let evaluation = self.evaluation.iter().flat_map(|keys| keys.ids());
        match own.chain(evaluation).find(|other| *other != id) {
            Some(other) => Err(Failure::new(
                "Key",
                format!("keys of the secret keys {id} and {other}: take those of one"),
            )),
            None => Ok(self),
        }
    }

    /// Returns the key that encrypts: the secret one where it is there, since its ciphertexts are half as long.
    pub(super) fn encrypting(&self) -> Result<(EncryptionKey<'_>, KeyId), Failure> {
        match (&self.secret, &self.public) {
            (Some(key), _) => Ok((EncryptionKey::Secret(key), key.id())),
            (None, Some(key)) => Ok((EncryptionKey::Public(key), key.id())),
            _ => Err(missing("to encrypt: load the folder public, or secret")),
        }
    }

    /// Checks that the keys are for the parameters of a plan.
    pub(super) fn check_plan(&self, plan: &Plan) -> Result<(), Failure> {
        if self.contexts.parameters() == &plan.parameters {
            return Ok(());
        }
        let of = |parameters: &Parameters| format!("{} with n = {}", parameters.name(), parameters.degree());
        let what = "parameters of the keys, which are others than those of the plan (plan within them by program.plan(keys=keys))";
        Err(mismatch(what, of(&plan.parameters), of(self.contexts.parameters())))
    }
}

/// Returns the failure for a key that this party lacks.
pub(super) fn missing(what: &str) -> Failure {
    Failure::new("MissingKey", format!("there is no key {what}"))
}

/// Makes all keys of a plan.
pub(super) fn generate(plan: &Plan, progress: impl FnMut(usize, usize) + Send) -> Result<Held, Failure> {
    memory::require(plan.key_bytes.saturating_add(plan.parameters.table_bytes()))?;
    let contexts = Contexts::new(&plan.parameters)?;
    let mut rng = from_os()?;
    let secret = SecretKey::generate(contexts.rlwe(), &mut rng)?;
    let public = PublicKey::generate(contexts.rlwe(), &secret, &mut rng)?;
    let (limbs, bootstraps) = (plan.rotation_limbs, matches!(plan.parameters, Parameters::Bootstrapped(_)));
    let evaluation = if plan.parameters.scheme() == SchemeChoice::Integers {
        Evaluation::LookUps(contexts.bootstrapping_keys(&secret, &mut rng, progress)?)
    } else {
        let keys = contexts.evaluation_keys(&secret, &plan.rotations, limbs, &mut rng)?;
        match keys.galois {
            Some(rotations) if bootstraps => {
                Evaluation::Bootstraps(contexts.bootstrapping_keys(&secret, &mut rng, progress)?, rotations)
            }
            _ => Evaluation::Keys(keys),
        }
    };
    Ok(Held {
        contexts,
        secret: Some(Arc::new(secret)),
        public: Some(Arc::new(public)),
        evaluation: Some(Arc::new(evaluation)),
    })
}

/// Whether a path is a folder or a file that is there.
pub(super) fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}
