//! Bootstrapping of messages whatever their ring is: a whole one, or the real one in a whole ring of twice the degree.

use rand_core::CryptoRng;
use sunzi_ckks::{Ciphertext, Context, Evaluator};
use sunzi_rlwe::{KeyId, RelinearizationKey, SecretKey};

use super::{
    Blueprint, BootstrapError, BootstrapKeys, Bootstrapper, Bounded, RealBlueprint, RealBootstrapKeys,
    RealBootstrapper, Set,
};

/// Blueprint of a bootstrapping of the messages of a context.
#[derive(Clone, Debug)]
pub enum AnyBlueprint {
    /// Blueprint in the ring of the messages.
    Whole(Box<Blueprint>),
    /// Blueprint for messages of a real ring.
    Real(Box<RealBlueprint>),
}

impl AnyBlueprint {
    /// Chooses rotations and sizes of all steps, for messages of all slots of a context.
    ///
    /// # Errors
    /// Every error of [`Blueprint::new`] and of [`RealBlueprint::new`].
    pub fn of_all_slots(context: &Context, set: &Set) -> Result<Self, BootstrapError> {
        if context.has_real_slots() {
            let blueprint = RealBlueprint::new(context, set, context.max_slots())?;
            return Ok(Self::Real(Box::new(blueprint)));
        }
        Ok(Self::Whole(Box::new(Blueprint::of_all_slots(context, set)?)))
    }

    /// Blueprint in the whole ring, where messages are bootstrapped.
    #[must_use]
    pub fn whole(&self) -> &Blueprint {
        match self {
            Self::Whole(own) => own,
            Self::Real(own) => own.whole(),
        }
    }

    /// Number of bytes of all keys of the bootstrapping.
    ///
    /// # Errors
    /// Every error of [`Blueprint::keys`].
    pub fn key_bytes(&self) -> Result<usize, BootstrapError> {
        match self {
            Self::Whole(own) => own.key_bytes(),
            Self::Real(own) => own.key_bytes(),
        }
    }

    /// Number of bytes of the file of all keys of the bootstrapping, to a percent.
    ///
    /// # Errors
    /// Every error of [`Blueprint::keys`].
    pub fn key_file_bytes(&self) -> Result<u64, BootstrapError> {
        match self {
            Self::Whole(own) => own.key_file_bytes(),
            Self::Real(own) => own.key_file_bytes(),
        }
    }
}

/// Keys of a bootstrapping of messages, and of products between two bootstrappings; they contain no secret.
#[derive(Clone)]
pub enum AnyBootstrapKeys {
    /// Keys of a whole ring.
    Whole(Box<BootstrapKeys>),
    /// Keys of a real ring.
    Real(Box<RealRingBootstrapping>),
}

/// Keys of a bootstrapping of messages of a real ring, with what reads and writes them.
#[derive(Clone)]
pub struct RealRingBootstrapping {
    /// Blueprint of the keys.
    pub blueprint: RealBlueprint,
    /// Keys of the bootstrapping.
    pub keys: RealBootstrapKeys,
    /// Key of products in the real ring.
    pub relinearization: RelinearizationKey,
}

impl AnyBootstrapKeys {
    /// Makes the keys of a bootstrapping from the secret of the messages. `progress` is called with the numbers of keys made
    /// and of all keys.
    ///
    /// # Errors
    /// Every error of [`BootstrapKeys::generate`].
    pub fn generate(
        blueprint: &AnyBlueprint,
        secret: &SecretKey,
        rng: &mut dyn CryptoRng,
        progress: impl FnMut(usize, usize) + Send,
    ) -> Result<Self, BootstrapError> {
        Ok(match blueprint {
            AnyBlueprint::Whole(own) => {
                Self::Whole(Box::new(BootstrapKeys::generate(own, secret, rng, progress)?))
            }
            AnyBlueprint::Real(own) => {
                let rlwe = own.real().rlwe();
                let relinearization = RelinearizationKey::generate(rlwe, secret, rng)?;
                let keys = RealBootstrapKeys::generate(own, secret, rng, progress)?;
                let blueprint = (**own).clone();
                Self::Real(Box::new(RealRingBootstrapping { blueprint, keys, relinearization }))
            }
        })
    }

    /// Keys of the bootstrapping in the whole ring.
    #[must_use]
    pub fn whole(&self) -> &BootstrapKeys {
        match self {
            Self::Whole(keys) => keys,
            Self::Real(own) => own.keys.whole(),
        }
    }

    /// Key of products of messages between two bootstrappings.
    #[must_use]
    pub fn relinearization(&self) -> &RelinearizationKey {
        match self {
            Self::Whole(keys) => keys.relinearization(),
            Self::Real(own) => &own.relinearization,
        }
    }

    /// Name of the secret key of the messages.
    #[must_use]
    pub fn id(&self) -> KeyId {
        self.relinearization().id()
    }

    /// Number of bytes of the keys in memory.
    #[must_use]
    pub fn byte_len(&self) -> usize {
        match self {
            Self::Whole(keys) => keys.byte_len(),
            Self::Real(own) => own.keys.byte_len() + own.relinearization.byte_len(),
        }
    }
}

/// Bootstrapper of messages, whatever their ring is.
#[derive(Clone)]
pub enum AnyBootstrapper {
    /// Bootstrapper of messages of a whole ring.
    Whole(Box<Bootstrapper>),
    /// Bootstrapper of messages of a real ring, and the evaluator of that ring.
    Real(Box<(RealBootstrapper, Evaluator)>),
}

impl AnyBootstrapper {
    /// Encodes all diagonals, as [`Bootstrapper::new`] does.
    ///
    /// # Errors
    /// Every error of [`Bootstrapper::new`].
    pub fn new(
        blueprint: &AnyBlueprint,
        progress: impl Fn(usize, usize) + Sync,
    ) -> Result<Self, BootstrapError> {
        Ok(match blueprint {
            AnyBlueprint::Whole(own) => Self::Whole(Box::new(Bootstrapper::new(own, progress)?)),
            AnyBlueprint::Real(own) => {
                let evaluator = Evaluator::new(own.real());
                Self::Real(Box::new((RealBootstrapper::new(own, progress)?, evaluator)))
            }
        })
    }

    /// Bootstrapper in the whole ring.
    #[must_use]
    pub fn whole(&self) -> &Bootstrapper {
        match self {
            Self::Whole(own) => own,
            Self::Real(own) => own.0.whole(),
        }
    }

    /// Evaluator of messages.
    #[must_use]
    pub fn evaluator(&self) -> &Evaluator {
        match self {
            Self::Whole(own) => own.evaluator(),
            Self::Real(own) => &own.1,
        }
    }

    /// Bootstraps a message with a bound on what that adds to every slot: see [`Bootstrapper::bootstrap_bounded`].
    ///
    /// # Errors
    /// [`BootstrapError::MissingKey`] for keys of the other kind of ring; every error of [`Bootstrapper::bootstrap_bounded`].
    pub fn bootstrap_bounded(
        &self,
        a: &Ciphertext,
        beside: f64,
        keys: &AnyBootstrapKeys,
    ) -> Result<Bounded, BootstrapError> {
        match (self, keys) {
            (Self::Whole(own), AnyBootstrapKeys::Whole(keys)) => own.bootstrap_bounded(a, beside, keys),
            (Self::Real(own), AnyBootstrapKeys::Real(keys)) => own.0.bootstrap_bounded(a, beside, &keys.keys),
            (Self::Whole(_), _) => {
                Err(BootstrapError::MissingKey { what: "keys of a whole ring".to_owned() })
            }
            (Self::Real(_), _) => Err(BootstrapError::MissingKey { what: "keys of a real ring".to_owned() }),
        }
    }
}
