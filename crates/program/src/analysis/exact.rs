//! Plans in the exact schemes: the cheapest parameters of BFV and BGV that hold a program.

use sunzi_circuits::inner_product::required_rotations;
use sunzi_rlwe::Reencryptions;
use sunzi_rlwe::words::counted;

use super::demand::Demand;
use super::making::{Rotated, plan};
use super::parameters::{bgv_of, plain_moduli};
use super::room::{bits_left, declared};
use super::tables::{MAX_VALUES, cost_of};
use super::{Facts, Layout, Options, Parameters, Plan, Refusal, SchemeChoice, facts};
use crate::graph::Node;
use crate::packed;
use crate::{NodeId, Program};

/// Ring degrees considered for exact schemes, as log2 n.
const LOG2_DEGREES: std::ops::RangeInclusive<u32> = 12..=16;

/// Returns a node that exact schemes cannot compute, if there is one.
pub(super) fn inexact(program: &Program, known: &[Facts]) -> Option<NodeId> {
    let exact = |id: &NodeId| known.get(id.index()).is_some_and(|facts| facts.exact.is_some());
    program.used().into_iter().find(|id| {
        !exact(id)
            || program.graph().node(*id).and_then(Node::entries).is_some_and(|count| count > MAX_VALUES)
    })
}

/// Returns the reason in the message where exact schemes cannot compute a node.
pub(super) fn why_inexact(program: &Program, known: &[Facts], id: NodeId) -> String {
    let values = |of: &NodeId| {
        let exact = known.get(of.index())?.exact?;
        let (low, high) = (exact.low.min(exact.padding), exact.high.max(exact.padding));
        high.checked_sub(low)?.checked_add(1)
    };
    match program.graph().node(id) {
        Some(Node::Positive { of, .. }) if values(of).is_some() => format!(
            "BFV and BGV compare by a table of all values, at most {MAX_VALUES}, and here are {}: declare narrower ranges or fewer \
             decimals, or take CKKS or encrypted integers",
            values(of).unwrap_or_default()
        ),
        Some(Node::LookUp { values, .. }) if values.len() > MAX_VALUES => format!(
            "BFV and BGV take tables of at most {MAX_VALUES} entries, and this one has {}: take encrypted integers",
            values.len()
        ),
        _ => "exact schemes have no real numbers, functions, comparisons of real numbers or integers beyond 2^120: take CKKS".to_owned(),
    }
}

/// Returns the cheapest plan of a program in BFV or BGV.
pub(super) fn choose(program: &Program, options: &Options) -> Result<Plan, Box<Refusal>> {
    let tabled = &*program.with_tables();
    let known = &facts(tabled);
    if let Some(id) = inexact(tabled, known) {
        let expression = program.graph().describe(id, program.schema());
        return Err(Box::new(Refusal { reason: why_inexact(tabled, known, id), expression }));
    }
    if let Some(packed) = packed::choose(tabled, known, options) {
        return packed;
    }
    let demand = Demand::new(tabled, known, options.parties)?;
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
        let rows = program.schema().rows as usize;
        let layout = match options.fills_slots() {
            true => Layout::filling(rows, 1 << log2_degree, options.parts),
            false => Layout::of_parts(rows, 1 << log2_degree, options.parts),
        };
        let found = candidates((tabled, known), &demand, &layout, options, log2_degree);
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
        let bits = options.sharing_room(parameters.degree());
        format!("{bits:.0} bits of noise are left for {policy}, one for each ciphertext that is opened")
    });
    let handed_on = options.reencryptions.map(|hops| hops.to_string());
    let reasons = std::iter::once(reason).chain(room).chain(handed_on).collect();
    exact_plan(program, parameters, layout, &demand, reasons)
}

/// Makes the plan of a program in exact parameters that fit it.
pub(super) fn exact_plan(
    program: &Program,
    parameters: Parameters,
    layout: Layout,
    demand: &Demand,
    mut reasons: Vec<String>,
) -> Result<Plan, Box<Refusal>> {
    let summed = !demand.totals.is_empty();
    let half = parameters.degree() / 2;
    let rotations = if summed { required_rotations(layout.span, half) } else { Vec::new() };
    let limbs = (0..parameters.moduli().len()).collect();
    let rotated = Rotated { rotations, level: parameters.ring_level(), limbs };
    reasons.extend(of_tables(program, &parameters));
    plan(program, parameters, layout, rotated, demand.depth, None, reasons)
}

/// Returns what tables of a program are in parameters of an exact scheme; nothing for a program without tables.
fn of_tables(program: &Program, parameters: &Parameters) -> Option<String> {
    let tabled = program.with_tables();
    let known = facts(&tabled);
    let encrypted = |id: &NodeId| known.get(id.index()).is_some_and(|facts| facts.encrypted);
    let entries = |id: NodeId| Some((tabled.graph().node(id)?.entries()?, id));
    let tables: Vec<(usize, NodeId)> =
        tabled.used().into_iter().filter(encrypted).filter_map(entries).collect();
    let &(most, id) = tables.iter().max()?;
    let cost = cost_of(most);
    let others = match tables.len() {
        1 => String::new(),
        several => format!(", and so are {}", counted(several - 1, "other table", "other tables")),
    };
    Some(format!(
        "{} is a table of {}, a polynomial of degree {} with {} and depth {} in {} at n = {}{others}",
        program.graph().describe(id, program.schema()),
        counted(most, "entry", "entries"),
        most.saturating_sub(1),
        counted(cost.relinearizations, "relinearised product", "relinearised products"),
        cost.depth,
        parameters.name(),
        parameters.degree(),
    ))
}

fn too_large(program: &Program, known: &[Facts], demand: &Demand) -> Box<Refusal> {
    let deepest = program.used().into_iter().max_by_key(|id| known.get(id.index()).map(|facts| facts.depth));
    let expression = deepest.map(|id| program.graph().describe(id, program.schema())).unwrap_or_default();
    let instead = if demand.tables { "encrypted integers" } else { "CKKS" };
    let reason = format!(
        "no secure exact parameters have {} in a row and numbers up to 2^{}: use fewer decimals, narrower \
         ranges or less depth, or {instead}",
        counted(demand.depth, "product", "products"),
        demand.bound.bits()
    );
    Box::new(Refusal { reason, expression })
}

/// Returns parameters of both exact schemes, as far as they fit and are requested.
fn candidates(
    (program, known): (&Program, &[Facts]),
    demand: &Demand,
    layout: &Layout,
    options: &Options,
    log2_degree: u32,
) -> Vec<Parameters> {
    let mut found = Vec::new();
    let mut builder =
        demand.bfv(layout).parties(options.parties).security(options.security).log2_degree(log2_degree);
    if let Some(policy) = options.sharing {
        builder = builder.sharing(policy);
    }
    if let Some(Reencryptions { hops, policy }) = options.reencryptions {
        builder = builder.reencryptions(hops, policy);
    }
    let Some(explanation) = with_room(program, builder, layout, options) else { return found };
    let plain = plain_moduli(&explanation);
    if options.scheme != Some(SchemeChoice::Bgv) {
        found.extend(explanation.chosen.map(|choice| Parameters::Bfv(choice.parameters)));
    }
    if options.scheme != Some(SchemeChoice::Bfv) {
        let own = |plain| bgv((program, known), demand, layout, options, log2_degree, plain);
        found.extend(plain.into_iter().filter_map(own));
    }
    found
}

/// Number of bits that BFV results must have left besides room for hiding noise.
pub(super) const MARGIN: f64 = 2.0;
/// Number of times that parameters are requested again, with as many bits more as were missing.
const TRIES: usize = 4;

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
        let needed = MARGIN + options.sharing_room(choice.parameters.degree());
        let left = bits_left(program, &choice.parameters, layout, options.reencryptions);
        let short = needed - left.unwrap_or(f64::NEG_INFINITY);
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
    (program, known): (&Program, &[Facts]),
    demand: &Demand,
    layout: &Layout,
    options: &Options,
    log2_degree: u32,
    plain_moduli: Vec<u64>,
) -> Option<Parameters> {
    let largest = plain_moduli.iter().copied().max()?;
    let budget = if demand.tables {
        Demand::modulo(program, known, options.parties, largest).ok()?.budget(layout)
    } else {
        demand.budget(layout)
    };
    let mut builder = sunzi_bgv::Parameters::builder()
        .depth(demand.depth)
        .budget(budget)
        .parties(options.parties)
        .security(options.security)
        .log2_degree(log2_degree);
    if let Some(policy) = options.sharing {
        builder = builder.sharing(policy);
    }
    if let Some(Reencryptions { hops, policy }) = options.reencryptions {
        builder = builder.reencryptions(hops, policy);
    }
    let found = bgv_of(builder, plain_moduli)?;
    if let Parameters::Bgv { parameters, plain_moduli } = &found {
        declared(program, parameters, plain_moduli, layout).ok()?;
    }
    Some(found)
}
