//! Choice of the scheme and parameters of a program.

use sunzi_circuits::Rotation;
use sunzi_circuits::inner_product::required_rotations;
use sunzi_rlwe::words::counted;

use super::approximate::{Lowered, lower};
use super::demand::Demand;
use super::levels::{deepest, sum_bits};
use super::merging::Merging;
use super::parameters::{MOST_PRECISION, bgv_of, plain_moduli};
use super::relinearizations::relinearizations;
use super::room::bits_left;
use super::{Facts, Layout, Options, Parameters, Plan, Refusal, SchemeChoice, deep, facts};
use super::{integers, look_ups};
use crate::packed;
use crate::run::encrypted_inputs;
use crate::{NodeId, Program};

/// Ring degrees considered for exact schemes, as log2 n.
const LOG2_DEGREES: std::ops::RangeInclusive<u32> = 12..=16;
/// Returns a node that exact schemes cannot compute, if there is one.
pub(super) fn inexact(program: &Program, known: &[Facts]) -> Option<NodeId> {
    let exact = |id: &NodeId| known.get(id.index()).is_some_and(|facts| facts.exact.is_some());
    program.used().into_iter().find(|id| !exact(id))
}

/// Reason in the message where exact schemes cannot compute a node.
pub(super) const INEXACT: &str =
    "exact schemes have no real numbers, functions, comparisons or integers beyond 2^120: take CKKS";

/// Returns the cheapest plan that can compute the program.
pub(super) fn choose(program: &Program, options: &Options) -> Result<Plan, Box<Refusal>> {
    let known = facts(program);
    let describe = |id: NodeId| program.graph().describe(id, program.schema());
    match (options.scheme, look_ups::needed(program)) {
        (Some(SchemeChoice::Integers), _) => {
            return integers::choose(program, options, "encrypted integers were asked for".to_owned());
        }
        (None, Some(id)) => {
            let reason = format!("encrypted integers alone compute {}", describe(id));
            return integers::choose(program, options, reason);
        }
        (Some(_), Some(_)) => look_ups::refuse(program)?,
        (_, None) => {}
    }
    let found = without_look_ups(program, &known, options);
    match (&found, options.scheme) {
        // What is too deep or too fine for every other scheme may be computed by look-ups, which bring levels back.
        (Err(refusal), None) => {
            let reason = format!("other schemes do not hold {}: {}", refusal.expression, refusal.reason);
            integers::choose(program, options, reason).or(found)
        }
        _ => found,
    }
}

/// Returns the cheapest plan in BFV, BGV or CKKS.
fn without_look_ups(program: &Program, known: &[Facts], options: &Options) -> Result<Plan, Box<Refusal>> {
    let describe = |id: NodeId| program.graph().describe(id, program.schema());
    match (options.scheme, inexact(program, known)) {
        (Some(SchemeChoice::Ckks), _) => {
            with_levels(program, known, options, "CKKS was asked for".to_owned())
        }
        (None, Some(id)) => {
            let reason = format!(
                "{} is a real number, a function, a comparison or too wide for integers",
                describe(id)
            );
            with_levels(program, known, options, reason)
        }
        (Some(_), Some(id)) => {
            Err(Box::new(Refusal { reason: INEXACT.to_owned(), expression: describe(id) }))
        }
        (_, None) => exact(program, known, options),
    }
}

fn exact(program: &Program, known: &[Facts], options: &Options) -> Result<Plan, Box<Refusal>> {
    if let Some(packed) = packed::choose(program, known, options) {
        return packed;
    }
    let demand = Demand::new(program, known)?;
    let degrees = options.log2_degree.map_or(LOG2_DEGREES, |log2_degree| log2_degree..=log2_degree);
    let mut best: Option<(f64, Parameters, Layout)> = None;
    let mut meet = |parameters: Parameters, layout: Layout| {
        let cost = parameters.cost(&demand.counts, &layout);
        let better = best.as_ref().is_none_or(|(least, _, _)| cost < *least);
        if better {
            best = Some((cost, parameters, layout));
        }
        better
    };
    for log2_degree in degrees {
        let layout = Layout::of_parts(program.schema().rows as usize, 1 << log2_degree, options.parts);
        let found = candidates(program, &demand, &layout, options, log2_degree);
        let any = !found.is_empty();
        let mut better = false;
        for parameters in found {
            better |= meet(parameters, layout);
        }
        // If a larger ring is no better, no still larger one is.
        if any && !better {
            break;
        }
    }
    let Some((_, parameters, layout)) = best else { return Err(too_large(program, known, &demand)) };
    let reason = format!(
        "all numbers are exact; sums of up to 2^{} fit {}, and {} has the least work",
        demand.bound.bits(),
        counted(parameters.plain_moduli().len(), "plaintext modulus", "plaintext moduli"),
        parameters.name()
    );
    let room = options.sharing.map(|policy| {
        let bits = policy.room(parameters.degree());
        format!("{bits:.0} bits of noise are left for {policy}, one for each ciphertext that is opened")
    });
    let reasons = std::iter::once(reason).chain(room).collect();
    exact_plan(program, parameters, layout, &demand, reasons)
}

/// Makes the plan of a program in exact parameters that fit it.
pub(super) fn exact_plan(
    program: &Program,
    parameters: Parameters,
    layout: Layout,
    demand: &Demand,
    reasons: Vec<String>,
) -> Result<Plan, Box<Refusal>> {
    let summed = !demand.totals.is_empty();
    let half = parameters.degree() / 2;
    let rotations = if summed { required_rotations(layout.span, half) } else { Vec::new() };
    let limbs = (0..parameters.moduli().len()).collect();
    let rotated = Rotated { rotations, level: parameters.ring_level(), limbs };
    plan(program, parameters, layout, rotated, demand.depth, None, reasons)
}

fn too_large(program: &Program, known: &[Facts], demand: &Demand) -> Box<Refusal> {
    let deepest = program.used().into_iter().max_by_key(|id| known.get(id.index()).map(|facts| facts.depth));
    let expression = deepest.map(|id| program.graph().describe(id, program.schema())).unwrap_or_default();
    let reason = format!(
        "no secure exact parameters have {} in a row and numbers up to 2^{}: use fewer decimals, narrower \
         ranges or less depth, or CKKS",
        counted(demand.depth, "product", "products"),
        demand.bound.bits()
    );
    Box::new(Refusal { reason, expression })
}

/// Returns parameters of both exact schemes, as far as they fit and are requested.
fn candidates(
    program: &Program,
    demand: &Demand,
    layout: &Layout,
    options: &Options,
    log2_degree: u32,
) -> Vec<Parameters> {
    let mut found = Vec::new();
    let mut builder = demand.bfv(layout).security(options.security).log2_degree(log2_degree);
    if let Some(policy) = options.sharing {
        builder = builder.sharing(policy);
    }
    let Some(explanation) = with_room(program, builder, layout, options) else { return found };
    let plain = plain_moduli(&explanation);
    if options.scheme != Some(SchemeChoice::Bgv) {
        found.extend(explanation.chosen.map(|choice| Parameters::Bfv(choice.parameters)));
    }
    if options.scheme != Some(SchemeChoice::Bfv) {
        found.extend(plain.into_iter().filter_map(|plain| bgv(demand, layout, options, log2_degree, plain)));
    }
    found
}

/// Number of bits that BFV results must have left besides room for hiding noise.
pub(super) const MARGIN: f64 = 2.0;
/// Number of times that parameters are requested again, with as many bits more as were missing.
const TRIES: usize = 3;

/// Returns BFV parameters that leave a program enough noise room; the builder's own model knows the operations, not
/// their order.
fn with_room(
    program: &Program,
    builder: sunzi_bfv::ParametersBuilder,
    layout: &Layout,
    options: &Options,
) -> Option<sunzi_bfv::Explanation> {
    let mut missing = 0.0;
    for _ in 0..TRIES {
        let margin = MARGIN + missing;
        let explanation = builder.clone().margin(margin as u32).explain().ok()?;
        let Some(choice) = &explanation.chosen else { return Some(explanation) };
        let needed = MARGIN + options.sharing.map_or(0.0, |policy| policy.room(choice.parameters.degree()));
        let short = needed - bits_left(program, &choice.parameters, layout).unwrap_or(f64::NEG_INFINITY);
        if short <= 0.0 {
            return Some(explanation);
        }
        let Ok(predicted) = builder.bits_left(&choice.parameters) else { return None };
        missing = (predicted - (needed - short)).ceil();
        if !missing.is_finite() {
            return None;
        }
    }
    None
}

fn bgv(
    demand: &Demand,
    layout: &Layout,
    options: &Options,
    log2_degree: u32,
    plain_moduli: Vec<u64>,
) -> Option<Parameters> {
    let mut builder = sunzi_bgv::Parameters::builder()
        .depth(demand.depth)
        .budget(demand.budget(layout))
        .security(options.security)
        .log2_degree(log2_degree);
    if let Some(policy) = options.sharing {
        builder = builder.sharing(policy);
    }
    bgv_of(builder, plain_moduli)
}

/// Returns the plan in CKKS parameters with levels for the whole program or, where there are none, with bootstrapping.
fn with_levels(
    program: &Program,
    known: &[Facts],
    options: &Options,
    reason: String,
) -> Result<Plan, Box<Refusal>> {
    approximate(program, known, options, reason.clone())
        .or_else(|without| deep::choose(program, known, options, &reason, without))
}

fn approximate(
    program: &Program,
    known: &[Facts],
    options: &Options,
    reason: String,
) -> Result<Plan, Box<Refusal>> {
    let lowered = lower(program, known, super::clamped(options.precision))?;
    let depth = lowered.depth();
    let layout = |slots| Layout::of_parts(program.schema().rows as usize, slots, options.parts);
    let mut builder = sunzi_ckks::Parameters::builder()
        .depth(depth)
        .result_bits(sum_bits(&layout(MOST_SLOTS)).max(11))
        .security(options.security);
    if let Some(log2_degree) = options.log2_degree {
        builder = builder.log2_degree(log2_degree);
    }
    let refuse = |error: &dyn std::fmt::Display| {
        let near_poles = if lowered.bits() > lowered.precision {
            ", since errors of operands count more where functions are steep: declare ranges that stay farther from 0, or ask for less precision"
        } else {
            ""
        };
        let reason = format!("{depth} levels with {} bits: {error}{near_poles}", lowered.bits());
        Box::new(Refusal { reason, expression: deepest(program, &lowered) })
    };
    let mut precision = lowered.bits().min(MOST_PRECISION);
    let plan = |precision: u32, builder: sunzi_ckks::ParametersBuilder, reason: &str| {
        let parameters = builder.precision(precision).build().map_err(|error| refuse(&error))?;
        let layout = layout(parameters.max_slots());
        approximate_plan(program, parameters, layout, lowered.clone(), vec![reason.to_owned()])
    };
    let Some(policy) = options.sharing else { return plan(precision, builder, &reason) };
    // The program may leave more noise than the computation that the builder assumes.
    loop {
        let mut found = plan(precision, builder.clone().sharing(policy), &reason)?;
        let bits = found.shared_bits(policy).map_err(|error| refuse(&error))?;
        let short = f64::from(lowered.precision.min(MOST_PRECISION)) - bits;
        if short <= 0.0 {
            let reason =
                format!("{policy}, one for each ciphertext that is opened, keep {bits:.0} bits of the range");
            found.reasons.push(reason);
            return Ok(found);
        }
        precision = precision.saturating_add(short.ceil() as u32);
    }
}

/// Largest number of slots of a ciphertext of CKKS.
const MOST_SLOTS: usize = 1 << 16;
/// Makes the plan of a program in CKKS parameters, if its sums fit them.
pub(super) fn approximate_plan(
    program: &Program,
    parameters: sunzi_ckks::Parameters,
    layout: Layout,
    mut lowered: Lowered,
    mut reasons: Vec<String>,
) -> Result<Plan, Box<Refusal>> {
    let (depth, totals) = (lowered.depth(), program.totals());
    reasons.push(format!("{depth} levels, the most of them for {}", deepest(program, &lowered)));
    // Sums are rotated at the lowest level that holds them, where keys and rotations are small.
    // The bound is a little more than the slots of all chunks, of numbers up to 1: primes are a little below powers of two.
    let bits = f64::from(sum_bits(&layout)) - 0.9;
    let lowest = totals.iter().filter_map(|&id| lowered.step(id)).map(|step| step.drop).max().unwrap_or(0);
    let room = |level: usize| {
        Some(sunzi_math::log2(&parameters.modulus(level)) - parameters.scales().get(level)?.log2() - 1.0)
    };
    let top = parameters.depth().saturating_sub(lowest);
    let level = (0..=top).find(|&level| totals.is_empty() || room(level).is_some_and(|room| room >= bits));
    let Some(level) = level else {
        let reason = format!(
            "sums of {} rows do not fit the lowest levels: take parameters made for so many",
            layout.rows
        );
        return Err(Box::new(Refusal { reason, expression: deepest(program, &lowered) }));
    };
    lowered.sum_level = level;
    let rotations = if totals.is_empty() { Vec::new() } else { layout.steps().map(Rotation::Rows).collect() };
    let level = parameters.key_level(level);
    let rotated = Rotated { rotations, level, limbs: parameters.ring_limbs(level) };
    plan(program, Parameters::Ckks(parameters), layout, rotated, depth, Some(lowered), reasons)
}

/// Rotations of a plan, the highest level of the ring for them, and the indices of that level's moduli.
struct Rotated {
    rotations: Vec<Rotation>,
    level: usize,
    limbs: Vec<usize>,
}

fn plan(
    program: &Program,
    parameters: Parameters,
    layout: Layout,
    Rotated { rotations, level, limbs }: Rotated,
    depth: usize,
    lowered: Option<Lowered>,
    reasons: Vec<String>,
) -> Result<Plan, Box<Refusal>> {
    let key_memory = parameters.key_memory(&limbs, rotations.len());
    let inputs = encrypted_inputs(program).len() * layout.chunks * parameters.plain_moduli().len().max(1);
    let run_bytes = super::memory::bytes(program, &facts(program), &parameters, lowered.as_ref());
    let key_bytes = parameters.key_bytes(level, rotations.len())?;
    let mut plan = Plan {
        depth,
        key_bytes,
        memory_bytes: key_memory + run_bytes,
        inputs,
        rotations,
        rotation_limbs: level,
        lowered,
        ..Plan::bare(program, parameters, layout, reasons)
    };
    plan.merging = Merging::of(&plan.parameters, plan.layout.chunks, &relinearizations(&plan));
    if let Some(merging) = &plan.merging {
        plan.memory_bytes += merging.memory_bytes;
        plan.reasons.push(merging.reason());
    }
    Ok(plan)
}
