//! Scheme, parameters and layout from the job: its shape and the largest sum it can reach.

use num_bigint::BigUint;
use sunzi::bfv;
use sunzi::bfv::explain::{Explanation, bytes};
use sunzi::bgv;
use sunzi::circuits::statistics::{Layout, Shape};
use sunzi::rlwe::security::max_log2_modulus;

use super::Sizes;
use super::scheme::Parameters;
use super::work::Work;
use crate::args::SchemeChoice;
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
    /// The parameters of one scheme.
    pub(crate) parameters: Parameters,
    /// Bytes in memory.
    pub(crate) sizes: Sizes,
    /// Predicted work.
    pub(crate) work: Work,
    /// Why this scheme, if it was to be chosen.
    pub(crate) reason: Option<String>,
}

impl Chosen {
    fn new(layout: Layout, parameters: Parameters) -> Self {
        let sizes = Sizes::of(&layout, &parameters);
        let work = Work::of(&layout, &parameters, sizes.travelling());
        Self { layout, parameters, sizes, work, reason: None }
    }

    /// Largest log2 of the modulus of keys that is secure.
    pub(crate) fn limit(&self) -> Option<u32> {
        max_log2_modulus(self.parameters.degree().checked_ilog2()?, self.parameters.security())
    }
}

/// The cheapest scheme, parameters and layout that hold every sum of the job.
pub(crate) fn choose(job: &Job, scheme: SchemeChoice) -> Result<Chosen, CliError> {
    let shape = Shape {
        columns: job.columns.len(),
        groups: job.groups.names.len(),
        longest_group: job.groups.longest(),
    };
    let bound = job.bound().into();
    let mut best = (Best::of(scheme != SchemeChoice::Bgv), Best::of(scheme != SchemeChoice::Bfv));
    for log2_degree in LOG2_DEGREES {
        let (bfv, bgv) = candidates(shape, &bound, log2_degree, [best.0.rising, best.1.rising])?;
        best.0.meet(bfv);
        best.1.meet(bgv);
    }
    match (best.0.chosen, best.1.chosen) {
        (Some(bfv), Some(bgv)) => Ok(faster(bfv, bgv)),
        (Some(only), None) | (None, Some(only)) => Ok(explained(only, scheme)),
        (None, None) => Err(CliError::input(format!(
            "no secure parameters hold sums up to ±{}: use fewer decimals, columns or groups",
            job.bound()
        ))),
    }
}

/// The least work of one scheme so far.
struct Best {
    chosen: Option<Chosen>,
    /// Whether larger rings are of no use: one cost more than a smaller one, or the scheme is not wanted.
    rising: bool,
}

impl Best {
    fn of(wanted: bool) -> Self {
        Self { chosen: None, rising: !wanted }
    }

    /// Takes the least of what fits the next ring.
    fn meet(&mut self, candidates: Vec<Chosen>) {
        let work = |chosen: &Chosen| chosen.work.butterflies;
        let Some(least) = candidates.into_iter().min_by(|a, b| work(a).total_cmp(&work(b))) else { return };
        if self.chosen.as_ref().is_none_or(|chosen| work(&least) < work(chosen)) {
            self.chosen = Some(least);
        } else {
            self.rising = true;
        }
    }
}

/// The scheme with less predicted work, and why.
fn faster(bfv: Chosen, bgv: Chosen) -> Chosen {
    let (mut chosen, other) =
        if bgv.work.butterflies < bfv.work.butterflies { (bgv, bfv) } else { (bfv, bgv) };
    let [name, than] = [&chosen, &other].map(|choice| choice.parameters.scheme());
    let [work, more] = [&chosen, &other].map(|choice| choice.work);
    chosen.reason = Some(format!(
        "{name} is predicted to take {:.2} of the time of {than}: {:.0} transforms at n = {} against {:.0} at \
         n = {}; {} of keys and ciphertexts against {}",
        work.butterflies / more.butterflies,
        work.transforms,
        chosen.parameters.degree(),
        more.transforms,
        other.parameters.degree(),
        bytes(work.bytes),
        bytes(more.bytes),
    ));
    chosen
}

/// One scheme alone: it was asked for, or the other has no parameters.
fn explained(mut only: Chosen, scheme: SchemeChoice) -> Chosen {
    if scheme == SchemeChoice::Auto {
        only.reason = Some(format!("only {} has secure parameters for these sums", only.parameters.scheme()));
    }
    only
}

/// What fits at one ring degree, of BFV and of BGV, unless it is to be skipped.
fn candidates(
    shape: Shape,
    bound: &BigUint,
    log2_degree: u32,
    skip: [bool; 2],
) -> Result<(Vec<Chosen>, Vec<Chosen>), CliError> {
    let (mut bfv, mut bgv) = (Vec::new(), Vec::new());
    let [skip_bfv, skip_bgv] = skip;
    let Ok(layout) = Layout::cheapest(shape, 1 << log2_degree, TYPICAL_LIMBS) else { return Ok((bfv, bgv)) };
    if skip_bfv && skip_bgv {
        return Ok((bfv, bgv));
    }
    let explanation = bfv::Parameters::builder()
        .depth(1)
        .plain_range(bound.clone())
        .additions(layout.chunks().next_power_of_two().ilog2())
        .rotations(layout.rotations())
        .log2_degree(log2_degree)
        .explain()
        .map_err(CliError::failure)?;
    if !skip_bgv {
        let plain = plain_moduli(&explanation);
        bgv.extend(plain.into_iter().filter_map(|plain| with_bgv(&layout, log2_degree, plain)));
    }
    if let (false, Some(choice)) = (skip_bfv, explanation.chosen) {
        bfv.push(Chosen::new(layout, Parameters::Bfv(choice.parameters)));
    }
    Ok((bfv, bgv))
}

/// Ways to split the range of sums over plaintext moduli: as BFV does or, where it has no parameters, all of them.
fn plain_moduli(explanation: &Explanation) -> Vec<Vec<u64>> {
    if let Some(choice) = &explanation.chosen {
        return vec![choice.parameters.plain_moduli().to_vec()];
    }
    let candidates = explanation.candidates.iter().map(|candidate| candidate.plain_moduli.clone());
    candidates.filter(|plain| !plain.is_empty()).collect()
}

/// BGV parameters for these plaintext moduli, if there are any.
fn with_bgv(layout: &Layout, log2_degree: u32, plain: Vec<u64>) -> Option<Chosen> {
    // Doubling over a unit of slots makes as many terms, all but one of which have been rotated.
    // Columns are summed as they come, and so are products.
    let (unit, chunks) = (layout.unit() as u64, layout.chunks() as u64);
    let additions = unit.saturating_mul(chunks).saturating_sub(1);
    let sums = bgv::Operations { additions, rotations: unit.saturating_sub(1), plain_products: 0 };
    let parameters = bgv::Parameters::builder()
        .depth(1)
        .plain_modulus(plain.iter().copied().max()?)
        .budget(bgv::Budget { fresh: sums, per_level: sums, ..bgv::Budget::default() })
        .log2_degree(log2_degree)
        .explain()
        .ok()?
        .chosen?;
    // A plaintext modulus among the ciphertext moduli is refused when contexts are made.
    let shares = |t: &u64| {
        parameters
            .moduli()
            .iter()
            .chain(&parameters.key_switching().special_moduli)
            .any(|q| t.is_multiple_of(*q))
    };
    if plain.iter().any(shares) {
        return None;
    }
    Some(Chosen::new(layout.clone(), Parameters::Bgv(parameters, plain)))
}
