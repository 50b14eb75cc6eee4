//! A bootstrapping over polynomials without coefficients: what it adds to errors, what it takes, and whether a plan runs.

use std::sync::atomic::{AtomicUsize, Ordering};

use sunzi_circuits::bootstrap::{
    AnyBlueprint, AnyBootstrapKeys, AnyBootstrapper, Blueprint, BootstrapParameters, RealBlueprint,
};
use sunzi_ckks::rotation::rotation_exponent;
use sunzi_ckks::{Context, Encoder, Evaluator};
use sunzi_rlwe::{GaloisKeys, PublicKey, SecretKey};

use crate::analysis::refresh::{BESIDE, Limits};
use crate::analysis::{Layout, dry};
use crate::run::{DeepKeys, dry_bootstrapped};
use crate::{Plan, ProgramError};

/// Factor by which the bound of a bootstrap may vary with the level of what is bootstrapped.
const VARIES: f64 = 1.0 + 1.0 / 64.0;

/// Bootstrapping of a set, without residues.
pub(super) struct Measured {
    context: Context,
    secret: SecretKey,
    public: PublicKey,
    keys: AnyBootstrapKeys,
    bootstrapper: AnyBootstrapper,
    blueprint: AnyBlueprint,
    pub(super) limits: Limits,
    /// Bound on what a bootstrap adds to a stored number.
    pub(super) added: f64,
}

impl Measured {
    pub(super) fn new(parameters: &BootstrapParameters) -> Result<Self, ProgramError> {
        let (context, set) = (dry::ckks(parameters.ckks())?, parameters.set());
        let rng = &mut dry::randomness();
        let secret = SecretKey::generate(context.rlwe(), rng).map_err(ProgramError::scheme)?;
        let public = PublicKey::generate(context.rlwe(), &secret, rng).map_err(ProgramError::scheme)?;
        let blueprint = blueprint(parameters, &context)?;
        let keys =
            AnyBootstrapKeys::generate(&blueprint, &secret, rng, |_, _| {}).map_err(ProgramError::scheme)?;
        let bootstrapper = AnyBootstrapper::new(&blueprint, |_, _| {}).map_err(ProgramError::scheme)?;
        let limits = Limits { left: set.levels_left(), lowest: set.lowest_level() };
        let mut added = 0.0_f64;
        let evaluator = Evaluator::new(&context);
        for level in [limits.lowest, limits.left] {
            let scale = context.scale(level).map_err(ProgramError::scheme)?;
            let encoder = Encoder::new(&context, 1).map_err(ProgramError::scheme)?;
            let plaintext = encoder.encode_real_at(&[1.0], level, scale).map_err(ProgramError::scheme)?;
            let one = context.encrypt(&plaintext, &public, rng).map_err(ProgramError::scheme)?;
            let one = evaluator.with_magnitude(&one, 1.0).map_err(ProgramError::scheme)?;
            let out = bootstrapper.bootstrap_bounded(&one, BESIDE, &keys).map_err(ProgramError::scheme)?;
            added = added.max(out.added * VARIES);
        }
        if added.is_nan() || added >= BESIDE {
            let name = parameters.name();
            return Err(ProgramError::Invalid(format!("no bound is proved for bootstraps with {name}")));
        }
        Ok(Self { context, secret, public, keys, bootstrapper, blueprint, limits, added })
    }

    /// Bytes in memory of the keys of bootstraps.
    pub(super) fn key_bytes(&self) -> u64 {
        self.keys.byte_len() as u64
    }

    /// Bytes of the file of the keys of bootstraps, to a percent.
    pub(super) fn key_file_bytes(&self) -> Result<u64, ProgramError> {
        self.blueprint.key_file_bytes().map_err(ProgramError::scheme)
    }

    /// Bytes in memory of the matrices of bootstraps.
    pub(super) fn matrix_bytes(&self) -> u64 {
        self.bootstrapper.whole().byte_len() as u64
    }

    /// Runs a chunk of a plan, and checks that it takes as many bootstraps as the plan says.
    pub(super) fn rehearse(&self, plan: &Plan) -> Result<(), ProgramError> {
        let (context, rng) = (&self.context, &mut dry::randomness());
        let layout = Layout { chunks: 1, rows: plan.layout.span, ..plan.layout };
        let plan = Plan { layout, ..plan.clone() };
        let index = context.ring().index();
        let exponents = plan.layout.steps().map(|step| rotation_exponent(step, index));
        let rotations =
            GaloisKeys::generate_at_level(context.rlwe(), &self.secret, exponents, plan.rotation_limbs, rng)
                .map_err(ProgramError::scheme)?;
        let keys = DeepKeys { bootstrapping: &self.keys, rotations: &rotations };
        let count = AtomicUsize::new(0);
        let progress = || {
            count.fetch_add(1, Ordering::Relaxed);
        };
        dry_bootstrapped(&plan, &self.bootstrapper, keys, &progress, |plaintext| {
            context.encrypt(plaintext, &self.public, rng).map_err(ProgramError::scheme)
        })?;
        let expected = plan.lowered.as_ref().and_then(|lowered| lowered.refresh.as_ref());
        let (expected, got) = (expected.map_or(0, |refresh| refresh.count), count.into_inner());
        if expected == got { Ok(()) } else { Err(ProgramError::mismatch("bootstraps", expected, got)) }
    }
}

/// Makes the blueprint of bootstraps over polynomials without coefficients.
fn blueprint(parameters: &BootstrapParameters, context: &Context) -> Result<AnyBlueprint, ProgramError> {
    let set = parameters.set();
    if parameters.is_real() {
        let whole = dry::ckks(parameters.whole())?;
        let real = RealBlueprint::within(context, &whole, set, context.max_slots());
        return Ok(AnyBlueprint::Real(Box::new(real.map_err(ProgramError::scheme)?)));
    }
    let whole = Blueprint::of_all_slots(context, set).map_err(ProgramError::scheme)?;
    Ok(AnyBlueprint::Whole(Box::new(whole)))
}
