//! Check of whether a program fits given parameters.

use num_bigint::BigUint;
use sunzi_rlwe::words::counted;

use super::approximate::lower;
use super::choice::approximate_plan;
use super::demand::Demand;
use super::exact::{MARGIN, exact_plan, inexact, why_inexact};
use super::levels::deepest;
use super::parameters::MOST_PRECISION;
use super::plan::bits_of_parties;
use super::room::{bits_left, declared};
use super::{Facts, Layout, Parameters, Plan, Refusal, facts};
use super::{deep, integers, look_ups};
use crate::{NodeId, Program};

/// Makes the plan of a program in these parameters.
pub(super) fn within(
    program: &Program,
    parameters: &Parameters,
    layout: Layout,
    precision: u32,
) -> Result<Plan, Box<Refusal>> {
    parameters.check_numbers().map_err(Refusal::of_program)?;
    if let Parameters::Integers(own) = parameters {
        return integers::plan(program, own, layout, "these parameters were given".to_owned());
    }
    if matches!(parameters, Parameters::Bfv(_) | Parameters::Bgv { .. }) {
        return exact(program, parameters, layout);
    }
    look_ups::refuse(program)?;
    if let Parameters::Bootstrapped(own) = parameters {
        return deep::plan(program, own, layout, precision, vec!["these parameters were given".to_owned()]);
    }
    let Parameters::Ckks(own) = parameters else {
        return Err(Refusal::of_program("there is no plan in these parameters"));
    };
    let known = facts(program);
    let lowered = lower(program, &known, precision)?;
    let (depth, wanted) = (lowered.depth(), lowered.bits().min(MOST_PRECISION));
    let of_parties = bits_of_parties(own.secrets().parties());
    let refuse = |reason| Err(Box::new(Refusal { reason, expression: deepest(program, &lowered) }));
    if depth > own.depth() {
        return refuse(format!(
            "it takes {depth} levels, the parameters have {}: make parameters for this program, or use polynomials of lower \
             degree and wider gaps",
            own.depth()
        ));
    }
    match own.predicted_precision().map(|bits| bits - of_parties) {
        Ok(bits) if bits + 0.5 >= f64::from(wanted) => {}
        Ok(bits) => {
            return refuse(format!(
                "it needs {wanted} bits behind the binary point, the parameters leave {bits:.1}: ask for less precision, \
                 or make parameters for this program"
            ));
        }
        Err(error) => return refuse(error.to_string()),
    }
    let reason = "these parameters were given".to_owned();
    approximate_plan(program, own.clone(), layout, lowered, vec![reason])
}

/// Makes the plan of a program in these parameters of an exact scheme.
fn exact(program: &Program, parameters: &Parameters, layout: Layout) -> Result<Plan, Box<Refusal>> {
    look_ups::refuse_order(program)?;
    let describe = |id: NodeId| program.graph().describe(id, program.schema());
    let tabled = &*program.with_tables();
    let known = &facts(tabled);
    if let Some(id) = inexact(tabled, known) {
        let reason = why_inexact(tabled, known, id);
        return Err(Box::new(Refusal { reason, expression: describe(id) }));
    }
    let largest = parameters.plain_moduli().iter().copied().max().unwrap_or(0);
    let parties = parameters.parties();
    let demand = match parameters {
        Parameters::Bgv { .. } => Demand::modulo(tabled, known, parties, largest)?,
        _ => Demand::new(tabled, known, parties)?,
    };
    wide(tabled, known, &demand, parameters)?;
    noise(tabled, &demand, &layout, parameters).map_err(|reason| {
        let deepest = tabled.used().into_iter().max_by_key(|id| known.get(id.index()).map(|f| f.depth));
        Box::new(Refusal { reason, expression: deepest.map(describe).unwrap_or_default() })
    })?;
    let reason = "these parameters were given".to_owned();
    exact_plan(program, parameters.clone(), layout, &demand, vec![reason])
}

/// Checks that the plaintext moduli hold all outputs; otherwise returns why not.
fn wide(
    program: &Program,
    known: &[Facts],
    demand: &Demand,
    parameters: &Parameters,
) -> Result<(), Box<Refusal>> {
    let range: BigUint = parameters.plain_moduli().iter().product();
    if &demand.bound * 2_u32 < range {
        return Ok(());
    }
    let outputs = program.totals().into_iter().chain(program.columns());
    let magnitude = |id: &NodeId| known.get(id.index()).and_then(|f| f.exact).map(|exact| exact.magnitude());
    let widest = outputs.max_by_key(magnitude);
    Err(Box::new(Refusal {
        reason: format!(
            "sums may reach 2^{}, the plaintext moduli hold up to 2^{}: use fewer decimals or narrower ranges, or make parameters \
             for this program",
            demand.bound.bits(),
            range.bits().saturating_sub(2)
        ),
        expression: widest.map(|id| program.graph().describe(id, program.schema())).unwrap_or_default(),
    }))
}

/// Checks that the noise room suffices; otherwise returns why not.
fn noise(program: &Program, demand: &Demand, layout: &Layout, parameters: &Parameters) -> Result<(), String> {
    let remedy = "make parameters for this program, or compute less at once";
    match parameters {
        Parameters::Bfv(own) => match bits_left(program, own, layout, None) {
            Ok(bits) if bits >= MARGIN => Ok(()),
            Ok(bits) => Err(format!(
                "{} in a row and sums of {} rows leave {bits:.0} bits of noise where {MARGIN} must be left: {remedy}",
                counted(demand.depth, "product", "products"),
                layout.rows
            )),
            Err(error) => Err(error.to_string()),
        },
        Parameters::Bgv { parameters: own, plain_moduli } => {
            let (depth, budget) = (own.depth(), demand.budget(layout));
            if demand.depth > depth {
                return Err(format!(
                    "it has {} products in a row, the parameters have {depth}: {remedy}",
                    demand.depth
                ));
            }
            // Sums after the last product may be above the last level here.
            let level = depth - demand.depth;
            let last = own.budget().at(level.min(own.depth()), own.depth().max(1));
            let fresh = demand.depth == 0 || own.budget().fresh.covers(&budget.fresh);
            let after = budget.per_level.and(&budget.last);
            let fits = match demand.depth {
                0 => own.budget().at(own.depth(), own.depth()).covers(&budget.fresh),
                _ => fresh && own.budget().per_level.covers(&budget.per_level) && last.covers(&after),
            };
            if fits {
                declared(program, own, plain_moduli, layout).map_err(|error| format!("{error}: {remedy}"))
            } else {
                Err(format!(
                    "it has more operations at a level than the parameters were made for ({:?}, {:?}): {remedy}",
                    budget.fresh, after
                ))
            }
        }
        Parameters::Ckks(_) | Parameters::Bootstrapped(_) | Parameters::Integers(_) => Ok(()),
    }
}
