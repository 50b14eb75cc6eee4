//! Choice of the scheme and parameters of a program.

use sunzi_circuits::Rotation;

use super::approximate::{Lowered, lower};
use super::levels::{deepest, sum_bits};
use super::making::{Rotated, plan};
use super::parameters::MOST_PRECISION;
use super::plan::bits_of_parties;
use super::weigh::{butterflies, least_of_integers};
use super::{Facts, Layout, Options, Parameters, Plan, Refusal, SchemeChoice, deep, facts};
use super::{exact, integers, look_ups};
use crate::{NodeId, Program};

/// Largest work of an exact plan that is taken, over that of one in CKKS: exact comparisons have no bands, and results no errors.
const EXACT_FAVOUR: f64 = 1.25;

/// Returns the cheapest plan that can compute the program.
pub(super) fn choose(program: &Program, options: &Options) -> Result<Plan, Box<Refusal>> {
    if options.reencryptions.is_some() {
        return handed_on(program, options);
    }
    match options.scheme {
        Some(SchemeChoice::Integers) => {
            integers::choose(program, options, "encrypted integers were asked for".to_owned())
        }
        Some(SchemeChoice::Ckks) => {
            look_ups::refuse(program)?;
            with_levels(program, &facts(program), options, "CKKS was asked for".to_owned())
        }
        Some(SchemeChoice::Bfv | SchemeChoice::Bgv) => {
            look_ups::refuse_order(program)?;
            exact::choose(program, options)
        }
        None => cheapest(program, options),
    }
}

/// Returns the cheapest plan of an exact scheme, whose results are re-encrypted for another owner.
fn handed_on(program: &Program, options: &Options) -> Result<Plan, Box<Refusal>> {
    const REASON: &str = "CKKS and encrypted integers have no re-encryption, which would show the noise that is part of their results: take BFV or BGV, or \
        decrypt results with --share and encrypt them again under the key of the other owner";
    if options.parties > 1 {
        return Err(Refusal::of_program(
            "a secret of several parties has no re-encryption: plan for one holder, or let the parties open results for the other owner",
        ));
    }
    if matches!(options.scheme, Some(SchemeChoice::Ckks | SchemeChoice::Integers)) {
        return Err(Refusal::of_program(REASON));
    }
    look_ups::refuse_order(program)
        .and_then(|()| exact::choose(program, options))
        .map_err(|refusal| Box::new(Refusal { reason: format!("{}; {REASON}", refusal.reason), ..*refusal }))
}

/// Returns the cheapest plan of any scheme.
fn cheapest(program: &Program, options: &Options) -> Result<Plan, Box<Refusal>> {
    let describe = |id: NodeId| program.graph().describe(id, program.schema());
    if let Some(id) = look_ups::ordered(program) {
        let reason = format!("encrypted integers alone compute {}", describe(id));
        return integers::choose(program, options, reason).map(|plan| advised(plan, options));
    }
    let found = match exact::choose(program, options) {
        Ok(plan) => return weighed(program, plan, options),
        Err(refusal) => refusal,
    };
    let known = facts(program);
    let found = match (look_ups::needed(program), exact::inexact(program, &known)) {
        (None, Some(id)) => {
            let reason = format!(
                "{} is a real number, a function, a comparison or too wide for integers",
                describe(id)
            );
            with_levels(program, &known, options, reason)
        }
        _ => Err(found),
    };
    // What is too deep or too fine for every other scheme may be computed by look-ups, which bring levels back.
    let Err(refusal) = &found else { return found };
    let reason = format!("other schemes do not hold {}: {}", refusal.expression, refusal.reason);
    match integers::choose(program, options, reason) {
        Ok(plan) => Ok(advised(plan, options)),
        Err(_) if look_ups::needed(program).is_none() => found,
        refused => refused,
    }
}

/// Weighs a plan of an exact scheme against one in CKKS or of encrypted integers, where tables are polynomials.
fn weighed(program: &Program, mut plan: Plan, options: &Options) -> Result<Plan, Box<Refusal>> {
    let own = butterflies(&plan);
    let name = |plan: &Plan| format!("{} at n = {}", plan.parameters.name(), plan.parameters.degree());
    if let Some(tables) = look_ups::tables(program) {
        let least = least_of_integers(tables, plan.layout.rows).unwrap_or(f64::INFINITY);
        if own <= least {
            let times = least / own;
            plan.reasons.push(format!("encrypted integers would take at least {times:.0} times its work"));
            return Ok(plan);
        }
        let reason = format!("{} would take more work: {}", name(&plan), plan.reasons.join("; "));
        return match integers::choose(program, options, reason) {
            Ok(other) if butterflies(&other) < own => Ok(other),
            _ => Ok(plan),
        };
    }
    let known = facts(program);
    let Some(id) = exact::inexact(program, &known) else { return Ok(plan) };
    let compared = program.graph().describe(id, program.schema());
    let reason = format!("{compared} is a comparison, approximated by a polynomial");
    let Ok(mut other) = approximate(program, &known, options, reason) else { return Ok(plan) };
    let ratio = own / butterflies(&other);
    if ratio <= EXACT_FAVOUR {
        plan.reasons.push(format!("it takes about {ratio:.2} of the work of {}, and is exact", name(&other)));
        return Ok(plan);
    }
    other
        .reasons
        .push(format!("{}, which is exact, would take about {ratio:.1} times the work", name(&plan)));
    Ok(other)
}

/// Adds to a plan of encrypted integers which outputs other schemes would compute in a program of their own.
fn advised(mut plan: Plan, options: &Options) -> Plan {
    let program = &plan.program;
    let tabled = program.with_tables();
    let known = facts(&tabled);
    let exact = |id: &NodeId| known.get(id.index()).is_some_and(|facts| facts.exact.is_some());
    let outputs = program.outputs().iter().enumerate();
    let apart: Vec<usize> = outputs
        .filter(|(_, output)| output.value.nodes().iter().all(exact))
        .map(|(place, _)| place)
        .collect();
    if apart.is_empty() || apart.len() == program.outputs().len() {
        return plan;
    }
    let names: Vec<&str> = apart
        .iter()
        .filter_map(|&place| program.outputs().get(place))
        .map(|output| output.name.as_str())
        .collect();
    let names = names.join("; ");
    let other = program.with_outputs(&apart).ok().and_then(|own| exact::choose(&own, options).ok());
    let Some(other) = other else { return plan };
    plan.reasons.push(format!(
        "in a program of their own, without order, {names} would take {} at n = {}, and about {:.1e} of the work of this one",
        other.parameters.name(),
        other.parameters.degree(),
        butterflies(&other) / butterflies(&plan)
    ));
    plan
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
        .parties(options.parties)
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
    let of_parties = bits_of_parties(options.parties);
    let mut precision = lowered.bits().min(MOST_PRECISION) + of_parties.ceil() as u32;
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
