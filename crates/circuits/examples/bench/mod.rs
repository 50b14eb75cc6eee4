//! Bench of examples that look up tables: a set with its context, secret and keys.

use sunzi_circuits::bootstrap::functional::FunctionalBootstrapper;
use sunzi_circuits::bootstrap::{Blueprint, BootstrapKeys, Set};
use sunzi_ckks::Context;
use sunzi_rlwe::{SecretKey, randomness};

pub(crate) type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// Bench of an example: context, secret, keys and bootstrapper of one set.
pub(crate) struct Bench {
    pub(crate) context: Context,
    pub(crate) secret: SecretKey,
    pub(crate) keys: BootstrapKeys,
    pub(crate) bootstrapper: FunctionalBootstrapper,
}

impl Bench {
    pub(crate) fn new(set: &Set) -> Outcome<Self> {
        let context = Context::new(&set.parameters()?)?;
        let mut rng = randomness::from_os()?;
        let secret = SecretKey::generate(context.rlwe(), &mut rng)?;
        let blueprint = Blueprint::new(&context, set, context.max_slots())?;
        let keys = BootstrapKeys::generate(&blueprint, &secret, &mut rng, |_, _| {})?;
        let bootstrapper = FunctionalBootstrapper::new(&blueprint, |_, _| {})?;
        Ok(Self { context, secret, keys, bootstrapper })
    }
}

/// Returns bytes as GiB.
pub(crate) fn gib(bytes: usize) -> f64 {
    bytes as f64 / f64::from(1 << 30)
}
