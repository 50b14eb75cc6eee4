//! Work of plans in different schemes, in butterflies of transforms, by which they are compared.

use sunzi_circuits::bootstrap::BootstrapParameters;
use sunzi_circuits::integers::IntegerParameters;
use sunzi_rlwe::switch_cost::SwitchCost;

use super::look_ups::LookUps;
use super::parameters::MULTIPLICATION;
use super::relinearizations::relinearizations;
use super::timing::{BOOTSTRAP, transform};
use super::{Parameters, Plan, facts};
use crate::NodeId;

/// Returns the estimated butterflies of a run but for bootstraps: products with their relinearisations, rotations of sums, or look-ups.
pub(super) fn butterflies(plan: &Plan) -> f64 {
    if let (Some(look_ups), Parameters::Integers(own)) = (&plan.look_ups, &plan.parameters) {
        return look_ups.seconds(product_of(own));
    }
    let plan = &*plan.computed();
    let (parameters, n) = (&plan.parameters, plan.parameters.degree());
    let moduli = parameters.plain_moduli().len().max(1) as f64;
    let product =
        |(drop, count): (usize, f64)| count * product(parameters, parameters.limbs_below(drop).len());
    let chunk: f64 = relinearizations(plan).into_iter().map(product).sum();
    let known = facts(&plan.program);
    let encrypted = |id: &NodeId| known.get(id.index()).is_some_and(|facts| facts.encrypted);
    let totals = plan.program.totals().iter().filter(|id| encrypted(id)).count();
    let limbs = match parameters {
        Parameters::Ckks(own) => own.ring_limbs(plan.rotation_limbs).len(),
        Parameters::Bootstrapped(own) => own.ckks().ring_limbs(plan.rotation_limbs).len(),
        _ => parameters.moduli().len(),
    };
    let rotations = (totals * plan.rotations.len()) as f64 * switch(parameters, limbs);
    moduli * (plan.layout.chunks as f64 * chunk + rotations) * transform(n)
}

/// Returns the estimated butterflies of a bootstrap of real numbers.
pub(super) fn bootstrap(parameters: &BootstrapParameters) -> f64 {
    let transforms = parameters.counted_transforms().unwrap_or(f64::INFINITY);
    BOOTSTRAP * transforms * transform(parameters.whole().degree())
}

/// Returns the butterflies that encrypted integers take at least for so many tables in so many rows.
pub(super) fn least_of_integers(tables: usize, rows: usize) -> Option<f64> {
    let own = IntegerParameters::new().ok()?;
    let chunks = rows.div_ceil(own.ckks().max_slots());
    let count = tables.saturating_mul(chunks) as u64;
    Some(LookUps::work(count, count, 0) * product_of(&own))
}

/// Returns the butterflies of a product of encrypted integers at the highest level.
fn product_of(own: &IntegerParameters) -> f64 {
    let parameters = Parameters::Integers(own.clone());
    product(&parameters, parameters.moduli().len()) * transform(parameters.degree())
}

/// Returns the transforms of a product with its relinearisation.
fn product(parameters: &Parameters, limbs: usize) -> f64 {
    let k = limbs as f64;
    let own = match parameters {
        Parameters::Bfv(_) => 16.0 * k + 9.0 * k * k * MULTIPLICATION,
        _ => 2.0 * k,
    };
    own + switch(parameters, limbs)
}

fn switch(parameters: &Parameters, limbs: usize) -> f64 {
    let (options, moduli, n) = (parameters.key_switching(), parameters.moduli(), parameters.degree());
    SwitchCost::new(options, moduli, limbs.max(1), n).map_or(0.0, |cost| cost.in_transforms(n))
}
