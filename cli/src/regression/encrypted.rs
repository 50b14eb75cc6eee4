//! The owner of the table and the server of an encrypted regression.

use serde::Serialize;
use sunzi::circuits::bootstrap::{Blueprint, BootstrapError, BootstrapKeys, Bootstrapper, Set};
use sunzi::circuits::regression::{EncryptedReals, Layout, RegressionKeys, Training, train};
use sunzi::ckks::{Ciphertext, Context, Encoder};
use sunzi::rlwe::{PublicKey, SecretKey, randomness};

use super::rows::Split;
use crate::encrypted::timed;
use crate::error::CliError;
use crate::progress::Progress;

/// log2 of the degree of the small ring of `--quick`.
const QUICK_DEGREE: u32 = 12;

/// Seconds of each step of a regression.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Times {
    /// Seconds for building the tables of the context.
    pub(crate) context: f64,
    /// Seconds for making all keys of the regression.
    pub(crate) keys: f64,
    /// Seconds for making the matrices of bootstrapping.
    pub(crate) diagonals: f64,
    /// Seconds for encryption of the table.
    pub(crate) encrypt: f64,
    /// Seconds for training the model, bootstrapping included.
    pub(crate) train: f64,
    /// Seconds for the bootstrapping in the training alone.
    pub(crate) bootstrap: f64,
    /// Seconds for decryption of the weights.
    pub(crate) decrypt: f64,
}

/// Sizes of a regression: bytes of keys, and numbers of ciphertexts.
#[derive(Debug, Serialize)]
pub(crate) struct Sizes {
    pub(crate) bootstrap_keys: usize,
    pub(crate) diagonals: usize,
    /// Number of ciphertexts of the table.
    pub(crate) ciphertexts: usize,
}

/// Outcome of an encrypted regression: its weights, refreshes, probability of failure, times and sizes.
pub(crate) struct Outcome {
    pub(crate) layout: Layout,
    /// Weights of the constant and of every scaled feature.
    pub(crate) weights: Vec<f64>,
    pub(crate) refreshes: usize,
    pub(crate) log2_failure: f64,
    pub(crate) log2_key_modulus: f64,
    pub(crate) times: Times,
    pub(crate) sizes: Sizes,
}

/// Returns the set of bootstrapping parameters; a small one without security if `quick`.
pub(crate) fn set(quick: bool) -> Set {
    let default = Set::default_128();
    match quick {
        false => default,
        true => Set { residual: default.residual, ..Set::insecure_for_tests(QUICK_DEGREE) },
    }
}

/// The server of the regression and the keys that it is given.
struct Server {
    bootstrapper: Bootstrapper,
    bootstrap: BootstrapKeys,
    regression: RegressionKeys,
}

/// Runs the regression: keys, encryption, training, decryption.
pub(crate) fn run(
    split: &Split,
    set: &Set,
    training: &Training,
    progress: &Progress,
) -> Result<Outcome, CliError> {
    let mut times = Times::default();
    progress.say("building tables");
    let context =
        timed(&mut times.context, || Context::new(&set.parameters()?).map_err(BootstrapError::from));
    let context = context.map_err(CliError::failure)?;
    let features = split.training.rows.first().map_or(0, Vec::len);
    let layout = Layout::new(split.training.rows.len(), features, context.max_slots());
    let layout = layout.map_err(CliError::input)?;
    let blocks = layout.pack(&split.scaling, &split.training.rows, &split.training.labels);
    let blocks = blocks.map_err(CliError::input)?;

    let mut rng = randomness::from_os().map_err(CliError::failure)?;
    let secret = SecretKey::generate(context.rlwe(), &mut rng).map_err(CliError::failure)?;
    let blueprint = Blueprint::new(&context, set, layout.width()).map_err(CliError::failure)?;
    let server = serve(&blueprint, &secret, &layout, progress, &mut times)?;
    let sizes = Sizes {
        bootstrap_keys: server.bootstrap.byte_len(),
        diagonals: server.bootstrapper.byte_len(),
        ciphertexts: layout.blocks(),
    };

    progress.say("encrypting the table");
    let (log2_failure, level) = (blueprint.log2_failure(), blueprint.levels().residual);
    let table = timed(&mut times.encrypt, || -> Result<Vec<Ciphertext>, BootstrapError> {
        let public = PublicKey::generate(context.rlwe(), &secret, &mut rng)?;
        let (encoder, scale) = (Encoder::new(&context, layout.slots())?, context.scale(level)?);
        let encrypted = blocks.iter().map(|block| {
            let plaintext = encoder.encode_real_at(block, level, scale)?;
            Ok(context.encrypt(&plaintext, &public, &mut rng)?)
        });
        encrypted.collect()
    });
    let table = table.map_err(CliError::failure)?;
    let (trained, refreshes) = learn(&context, &layout, &server, training, &table, progress, &mut times)?;

    let slots = timed(&mut times.decrypt, || -> Result<Vec<f64>, BootstrapError> {
        let plaintext = context.decrypt(&trained, &secret)?;
        Ok(Encoder::new(&context, layout.slots())?.decode_real(&plaintext)?)
    });
    let weights = layout.weights(&slots.map_err(CliError::failure)?);
    let log2_key_modulus = context.rlwe().log2_key_modulus();
    Ok(Outcome { layout, weights, refreshes, log2_failure, log2_key_modulus, times, sizes })
}

/// Makes the server, with all keys that it is given and all that it prepares.
fn serve(
    blueprint: &Blueprint,
    secret: &SecretKey,
    layout: &Layout,
    progress: &Progress,
    times: &mut Times,
) -> Result<Server, CliError> {
    let level = blueprint.levels().residual;
    let rng = &mut randomness::from_os().map_err(CliError::failure)?;
    progress.begin(1);
    progress.say("making keys");
    let keys = timed(&mut times.keys, || -> Result<_, BootstrapError> {
        let regression = RegressionKeys::generate(blueprint.context(), secret, layout, level, rng)?;
        let bootstrap =
            BootstrapKeys::generate(blueprint, secret, rng, |done, total| progress.at(done, total))?;
        Ok((regression, bootstrap))
    });
    let (regression, bootstrap) = keys.map_err(CliError::failure)?;
    progress.begin(1);
    progress.say("encoding the matrices");
    let bootstrapper =
        timed(&mut times.diagonals, || Bootstrapper::new(blueprint, |done, total| progress.at(done, total)));
    Ok(Server { bootstrapper: bootstrapper.map_err(CliError::failure)?, bootstrap, regression })
}

/// Runs the server's work: returns the trained weights, and how often they were refreshed.
fn learn(
    context: &Context,
    layout: &Layout,
    server: &Server,
    training: &Training,
    table: &[Ciphertext],
    progress: &Progress,
    times: &mut Times,
) -> Result<(Ciphertext, usize), CliError> {
    progress.begin(training.iterations);
    let seconds = std::cell::Cell::new(0.0);
    let refresh = |exhausted: &Ciphertext| {
        let mut taken = seconds.get();
        let fresh = timed(&mut taken, || server.bootstrapper.bootstrap(exhausted, &server.bootstrap));
        seconds.set(taken);
        fresh
    };
    let arithmetic = EncryptedReals::new(context, layout, &server.regression, refresh);
    let arithmetic = arithmetic.map_err(CliError::failure)?;
    let mut refreshes = 0;
    let trained = timed(&mut times.train, || {
        train(&arithmetic, layout, training, table, &mut |at| {
            refreshes = at.refreshes;
            progress.at(at.iterations + usize::from(at.refreshing), training.iterations);
            progress.say(if at.refreshing { "bootstrapping" } else { "training" });
        })
    });
    times.bootstrap = seconds.get();
    Ok((trained.map_err(CliError::failure)?, refreshes))
}
