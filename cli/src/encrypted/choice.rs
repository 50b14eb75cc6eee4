//! Parameters and layout from the job: its shape and the largest sum it can reach.

use num_bigint::BigUint;
use sunzi::bfv::Parameters;
use sunzi::bfv::explain::Choice;
use sunzi::circuits::statistics::{Layout, Shape};

use crate::error::CliError;
use crate::job::Job;

/// Ring degrees considered, as log2 n: smaller ones leave no room for a product, larger ones cost more.
const LOG2_DEGREES: std::ops::RangeInclusive<u32> = 12..=15;
/// Ciphertext moduli assumed for a first layout.
const TYPICAL_LIMBS: usize = 3;

/// The choice for one job.
pub(crate) struct Chosen {
    /// Where cells stand in slots.
    pub(crate) layout: Layout,
    /// The parameters, and what they mean.
    pub(crate) choice: Choice,
}

/// The cheapest parameters and layout that hold every sum of the job.
pub(crate) fn choose(job: &Job) -> Result<Chosen, CliError> {
    let shape = Shape {
        columns: job.columns.len(),
        groups: job.groups.names.len(),
        longest_group: job.groups.longest(),
    };
    let mut best: Option<(f64, Chosen)> = None;
    for log2_degree in LOG2_DEGREES {
        let Some(candidate) = candidate(shape, &job.bound().into(), log2_degree)? else { continue };
        let parameters = &candidate.choice.parameters;
        let cost = candidate.layout.cost(parameters.moduli().len()) * parameters.plain_moduli().len() as f64;
        if best.as_ref().is_none_or(|(least, _)| cost < *least) {
            best = Some((cost, candidate));
        }
    }
    best.map(|(_, chosen)| chosen).ok_or_else(|| {
        CliError::input(format!(
            "no secure parameters hold sums up to ±{}: use fewer decimals, columns or groups",
            job.bound()
        ))
    })
}

/// The best at one ring degree, if anything fits there.
fn candidate(shape: Shape, bound: &BigUint, log2_degree: u32) -> Result<Option<Chosen>, CliError> {
    let degree = 1 << log2_degree;
    let Ok(first) = Layout::cheapest(shape, degree, TYPICAL_LIMBS) else { return Ok(None) };
    let explanation = Parameters::builder()
        .depth(1)
        .plain_range(bound.clone())
        .additions(first.chunks().next_power_of_two().ilog2())
        .rotations(first.rotations())
        .log2_degree(log2_degree)
        .explain()
        .map_err(CliError::failure)?;
    let Some(choice) = explanation.chosen else { return Ok(None) };
    Ok(Some(Chosen { layout: first, choice }))
}
