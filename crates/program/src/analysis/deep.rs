//! Plans of programs in CKKS with bootstrapping: the set, where bootstraps come, and what they add to errors.

mod heights;
mod measured;
mod placement;

use std::collections::BTreeSet;

use sunzi_circuits::Rotation;
use sunzi_circuits::bootstrap::{BootstrapParameters, Order, Set};
use sunzi_circuits::series;
use sunzi_rlwe::Security;
use sunzi_rlwe::words::counted;

use self::heights::{Height, Ladder, work};
use self::measured::Measured;
use self::placement::{Placement, Task, Work, place};
use super::approximate::{Action, Lowered, integral, lower, lower_with};
use super::bootstraps::Bootstraps;
use super::levels::{depth_without, sum_bits};
use super::refresh::{Limits, Refresh};
use super::{Facts, Layout, Options, Parameters, Plan, Refusal, facts};
use crate::run::{ERROR_DEVIATIONS, encrypted_inputs};
use crate::{NodeId, Program};

/// Number of times that a program is lowered again, since bootstraps change errors and errors change polynomials.
const TRIES: usize = 6;
/// Number of ciphertexts of the highest level that one bootstrap takes beside keys and matrices.
const WORKING: u64 = 20;

/// Makes the plan of a program that no parameters without bootstrapping hold, which `without` says.
pub(super) fn choose(
    program: &Program,
    known: &[Facts],
    options: &Options,
    reason: &str,
    without: Box<Refusal>,
) -> Result<Plan, Box<Refusal>> {
    if options.sharing.is_some() {
        // Bootstraps bring levels back, and would help a program that takes some.
        let depth = lower(program, known, super::clamped(options.precision))?.depth();
        let refused =
            options.check_one_holder("bootstrapping", "use fewer products in a row or less precision");
        return Err(match refused {
            Err(refusal) if depth > 0 => {
                let reason = format!("{}; {}", without.reason, refusal.reason);
                Box::new(Refusal { reason, ..*without })
            }
            _ => without,
        });
    }
    let precision = super::clamped(options.precision);
    let lowered = lower(program, known, precision)?;
    let mut sets: Vec<(Ladder, Vec<Height>)> = Vec::new();
    let mut longest = None;
    for whole in candidates(options) {
        let (between, mut ladder) = (limits(whole.set()).between(), Ladder::new(whole));
        match ladder.heights(program, known, &lowered, options.parts) {
            Ok(heights) => sets.push((ladder, heights)),
            Err(index) => longest = longest.max(Some((between, index))),
        }
    }
    let least = |heights: &[Height]| heights.first().map_or(f64::INFINITY, |height| height.work);
    sets.sort_by(|(_, a), (_, b)| least(a).total_cmp(&least(b)));
    let reasons = [reason.to_owned(), format!("without bootstrapping: {}", without.reason)];
    let mut refused: Vec<(String, Box<Refusal>)> = Vec::new();
    for (ladder, heights) in &mut sets {
        match cheapest(program, known, options, (ladder, heights), &reasons) {
            Ok(plan) => return Ok(plan),
            Err(refusal) => refused.push((ladder.whole.name().to_owned(), refusal)),
        }
    }
    if let (true, Some((between, index))) = (refused.is_empty(), longest) {
        refused.push(("any set".to_owned(), too_long(program, NodeId(index as u32), between)));
    }
    let mut told = without.reason.clone();
    for (name, refusal) in &refused {
        told.push_str(&format!("; bootstrapping with {name}: {}", refusal.reason));
    }
    let expression = refused.pop().map_or(without.expression, |(_, refusal)| refusal.expression);
    Err(Box::new(Refusal { reason: told, expression }))
}

/// Returns the cheapest plan in a set with as many levels as it has or fewer.
fn cheapest(
    program: &Program,
    known: &[Facts],
    options: &Options,
    (ladder, heights): (&mut Ladder, &[Height]),
    reasons: &[String],
) -> Result<Plan, Box<Refusal>> {
    let precision = super::clamped(options.precision);
    let planned = |parameters: &BootstrapParameters| {
        let slots = parameters.ckks().max_slots();
        let layout = Layout::of_parts(program.schema().rows as usize, slots, options.parts);
        plan(program, parameters, layout, precision, reasons.to_vec())
    };
    let first = heights.first().map_or(&ladder.whole, |height| &height.parameters);
    let found = planned(first);
    let mut found = if first == &ladder.whole { found } else { found.or_else(|_| planned(&ladder.whole)) }?;
    // Bootstraps change polynomials, and so the levels by which heights were compared.
    let settled =
        found.lowered.as_ref().and_then(|of| ladder.heights(program, known, of, options.parts).ok());
    let again = settled.unwrap_or_default();
    if let Some(other) = again.first().filter(|other| other.work < work(&found))
        && let Ok(other) = planned(&other.parameters)
        && work(&other) < work(&found)
    {
        found = other;
    }
    let told = ladder.told(&found, &again);
    found.reasons.extend(told);
    Ok(found)
}

/// Returns the sets that options allow.
fn candidates(options: &Options) -> Vec<BootstrapParameters> {
    let fits = |degree: u32| options.log2_degree.is_none_or(|wanted| wanted == degree);
    let small = match (options.security, options.log2_degree) {
        (Security::InsecureForResearchOnly, Some(degree)) => BootstrapParameters::insecure(degree).ok(),
        _ => None,
    };
    // Where SlotsToCoeffs comes last, imaginary parts of errors stay, which polynomials of high degree do not bear.
    let secure = |set: &Set| {
        set.security == Security::Bits128
            && set.order == Order::First
            && matches!(options.security, Security::Bits128 | Security::InsecureForResearchOnly)
    };
    let shipped = Set::shipped().into_iter().filter(|set| secure(set) && fits(set.log2_degree));
    small.into_iter().chain(shipped.filter_map(|set| BootstrapParameters::named(&set.to_string()))).collect()
}

fn limits(set: &Set) -> Limits {
    Limits { left: set.levels_left(), lowest: set.lowest_level() }
}

fn too_long(program: &Program, id: NodeId, between: usize) -> Box<Refusal> {
    let reason = format!(
        "it takes more than the {between} levels at once that lie between two bootstraps: use polynomials of lower degree or narrower ranges"
    );
    Box::new(Refusal { reason, expression: program.graph().describe(id, program.schema()) })
}

/// Returns the tasks of all nodes: sums end at `summed` or above.
fn tasks(program: &Program, known: &[Facts], lowered: &Lowered, limits: Limits, summed: usize) -> Vec<Task> {
    let totals = program.totals();
    let encrypted = |id: &NodeId| known.get(id.index()).is_some_and(|facts| facts.encrypted);
    let task = |index: usize| {
        let id = NodeId(index as u32);
        let operands = program.graph().node(id).map(crate::Node::operands).unwrap_or_default();
        let operands = operands.iter().filter(|id| encrypted(id)).map(|id| id.index()).collect();
        let work = match lowered.step(id).map(|step| &step.action) {
            None | Some(Action::Input | Action::Clear) => Work::Read,
            Some(Action::Linear { factors, .. }) => Work::Levels(usize::from(!integral(factors))),
            Some(Action::Product { .. }) => Work::Levels(1),
            Some(Action::Curve { curve, .. }) => Work::Levels(curve.depth()),
            Some(Action::Sign { sign, .. }) if sign.depth() > limits.between() => {
                Work::Stages(sign.stages().iter().map(series::depth).collect())
            }
            Some(Action::Sign { sign, .. }) => Work::Levels(sign.depth()),
        };
        Task { operands, work, floor: if totals.contains(&id) { summed } else { 0 } }
    };
    (0..known.len()).map(task).collect()
}

/// Lowers a program with the bootstraps that its levels ask for, until neither changes the other.
fn settled(
    program: &Program,
    known: &[Facts],
    precision: u32,
    measured: &Measured,
    summed: usize,
) -> Result<Lowered, Box<Refusal>> {
    let limits = measured.limits;
    let mut refresh = Refresh::none(limits, measured.added);
    for round in 0..TRIES {
        let lowered = lower_with(program, known, precision, Some(refresh.clone()))?;
        let tasks = tasks(program, known, &lowered, limits, summed);
        // Later rounds add bootstraps alone, so that there is an end.
        let start =
            if round < 2 { BTreeSet::new() } else { refresh.at.iter().map(|id| id.index()).collect() };
        let Placement { at, levels, count, floors, .. } = place(&tasks, limits, &start)
            .map_err(|index| too_long(program, NodeId(index as u32), limits.between()))?;
        let id = |index: usize| NodeId(index as u32);
        let next = Refresh {
            floors: floors.into_iter().enumerate().map(|(index, floor)| (id(index), floor)).collect(),
            levels: levels.into_iter().enumerate().map(|(index, level)| (id(index), level)).collect(),
            at: at.into_iter().map(id).collect(),
            count,
            ..refresh.clone()
        };
        if next == refresh {
            return Ok(lowered);
        }
        refresh = next;
    }
    let reason = "errors of bootstraps change the degrees of its functions again and again: declare narrower ranges, or ask for less precision";
    Err(Refusal::of_program(reason))
}

/// Makes the plan of a program in the parameters of a set, and plays it without residues.
pub(super) fn plan(
    program: &Program,
    parameters: &BootstrapParameters,
    layout: Layout,
    precision: u32,
    mut reasons: Vec<String>,
) -> Result<Plan, Box<Refusal>> {
    if parameters.set().order != Order::First {
        let name = parameters.name();
        return Err(Refusal::of_program(format!(
            "bootstraps with {name} keep imaginary parts of errors, of which no bound is proved: take n16-128-fast"
        )));
    }
    let measured = Measured::new(parameters).map_err(Refusal::of_program)?;
    let known = facts(program);
    let summed = sum_level(program, parameters, &layout, measured.limits).ok_or_else(|| {
        Refusal::of_program(format!("sums of {} rows do not fit the set {}", layout.rows, parameters.name()))
    })?;
    let mut lowered = settled(program, &known, precision, &measured, summed)?;
    lowered.sum_level = summed;
    precise_enough(program, &lowered, &measured, parameters)?;
    reasons.extend(told(program, &lowered, &measured, parameters));
    let plan = made(program, parameters, layout, lowered, &measured, reasons)?;
    measured.rehearse(&plan).map_err(|error| match error {
        crate::ProgramError::Refused(refusal) => refusal,
        other => Refusal::of_program(other),
    })?;
    Ok(plan)
}

/// Returns the reasons for the bootstraps of a plan.
fn told(
    program: &Program,
    lowered: &Lowered,
    measured: &Measured,
    parameters: &BootstrapParameters,
) -> [String; 2] {
    let (depth, deepest) = depth_without(program, lowered);
    let count = lowered.refresh.as_ref().map_or(0, |refresh| refresh.count);
    [
        format!(
            "{depth} levels, the most of them for {}",
            program.graph().describe(deepest, program.schema())
        ),
        format!(
            "{} in each chunk with {}, {} levels apart, each off by at most 2^{:.1} of a range",
            counted(count, "bootstrap", "bootstraps"),
            parameters.name(),
            measured.limits.between(),
            measured.added.log2()
        ),
    ]
}

/// Makes a plan of a lowered program with its bootstraps.
fn made(
    program: &Program,
    parameters: &BootstrapParameters,
    layout: Layout,
    lowered: Lowered,
    measured: &Measured,
    reasons: Vec<String>,
) -> Result<Plan, Box<Refusal>> {
    let (own, all) = (parameters.ckks(), Parameters::Bootstrapped(parameters.clone()));
    let count = lowered.refresh.as_ref().map_or(0, |refresh| refresh.count) * layout.chunks;
    let bootstraps = Bootstraps {
        count: count as u64,
        log2_failure: parameters.set().log2_failure(own.max_slots()) + (count.max(1) as f64).log2(),
        key_bytes: measured.key_bytes(),
        matrix_bytes: measured.matrix_bytes(),
    };
    let (rotations, level) = rotated(program, parameters, &layout, lowered.sum_level);
    let (limbs, count) = (own.ring_limbs(level), rotations.len());
    let rotation_bytes = all.key_bytes(level, count)?.saturating_sub(all.key_bytes(level, 0)?);
    let rotation_memory = all.key_memory(&limbs, count).saturating_sub(all.key_memory(&limbs, 0));
    let run_bytes = super::memory::bytes(program, &facts(program), &all, Some(&lowered));
    let whole = parameters.whole();
    let working = WORKING * 16 * (whole.degree() * whole.moduli().len()) as u64;
    // A real ring has a key of products of its own.
    let products = if parameters.is_real() { all.key_bytes(level, 0)? } else { 0 };
    Ok(Plan {
        depth: depth_without(program, &lowered).0,
        key_bytes: measured.key_file_bytes().map_err(Refusal::of_program)? + products + rotation_bytes,
        memory_bytes: bootstraps.key_bytes + bootstraps.matrix_bytes + rotation_memory + run_bytes + working,
        inputs: encrypted_inputs(program).len() * layout.chunks,
        rotations,
        rotation_limbs: level,
        lowered: Some(lowered),
        bootstraps: Some(bootstraps),
        ..Plan::bare(program, all, layout, reasons)
    })
}

/// Returns the rotations of sums, and the level of the ring of their keys.
fn rotated(
    program: &Program,
    parameters: &BootstrapParameters,
    layout: &Layout,
    sum_level: usize,
) -> (Vec<Rotation>, usize) {
    let steps = layout.steps().map(Rotation::Rows);
    let rotations = if program.totals().is_empty() { Vec::new() } else { steps.collect() };
    (rotations, parameters.ckks().key_level(sum_level))
}

/// Refuses numbers that bootstraps leave less right than the program asks for: a bound counts as much as that of a normal error of the precision.
fn precise_enough(
    program: &Program,
    lowered: &Lowered,
    measured: &Measured,
    parameters: &BootstrapParameters,
) -> Result<(), Box<Refusal>> {
    let bits = (ERROR_DEVIATIONS / measured.added).log2();
    if bits >= f64::from(lowered.bits()) {
        return Ok(());
    }
    let reason = format!(
        "it needs {} bits, and bootstraps with {} leave {bits:.1}: ask for less precision, or declare ranges that stay farther from 0 where functions are steep",
        lowered.bits(),
        parameters.name()
    );
    let (_, deepest) = depth_without(program, lowered);
    let expression = program.graph().describe(deepest, program.schema());
    Err(Box::new(Refusal { reason, expression }))
}

/// Returns the lowest level that holds sums of stored numbers over all slots.
fn sum_level(
    program: &Program,
    parameters: &BootstrapParameters,
    layout: &Layout,
    limits: Limits,
) -> Option<usize> {
    if program.totals().is_empty() {
        return Some(0);
    }
    let (own, bits) = (parameters.ckks(), f64::from(sum_bits(layout)) - 0.9);
    let room =
        |level: usize| Some(sunzi_math::log2(&own.modulus(level)) - own.scales().get(level)?.log2() - 1.0);
    (0..=limits.left).find(|&level| room(level).is_some_and(|room| room >= bits))
}
