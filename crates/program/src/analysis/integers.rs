//! Plans of programs on encrypted integers: what fits, and which look-ups a run takes, found by a dry run.

use std::collections::BTreeMap;

use sunzi_circuits::bootstrap::functional::FunctionalBootstrapper;
use sunzi_circuits::bootstrap::{Blueprint, BootstrapKeys};
use sunzi_circuits::integers::{IntegerEvaluator, IntegerParameters, IntegerWork};
use sunzi_ckks::precision::slot_error;
use sunzi_ckks::{Ciphertext, Context};
use sunzi_rlwe::sharing::Flooding;
use sunzi_rlwe::words::counted;
use sunzi_rlwe::{DeclaredNoise, SecretKey, Security, SharingPolicy};

use super::look_ups::LookUps;
use super::{Exact, Facts, Layout, Options, Parameters, Plan, Refusal, dry, exact_facts};
use crate::contexts::Form;
use crate::graph::MAX_ENTRIES;
use crate::run::{dry_integers, encrypted_inputs};
use crate::{Node, NodeId, Program, ProgramError};

/// Makes the plan of a program on encrypted integers, for given options.
pub(super) fn choose(program: &Program, options: &Options, reason: String) -> Result<Plan, Box<Refusal>> {
    options.check_one_holder("a look-up", "take BFV, BGV or CKKS")?;
    if !matches!(options.security, Security::Bits128 | Security::InsecureForResearchOnly) {
        return Err(Refusal::of_program("encrypted integers have a set of 128 bits of security alone"));
    }
    let parameters = match options.log2_degree {
        None | Some(16) => IntegerParameters::new(),
        Some(_) if options.security != Security::InsecureForResearchOnly => {
            return Err(Refusal::of_program("encrypted integers have one ring of 128 bits, n = 2^16"));
        }
        Some(log2_degree) => IntegerParameters::insecure(log2_degree),
    };
    let parameters = parameters.map_err(Refusal::of_program)?;
    let layout =
        Layout::of_parts(program.schema().rows as usize, parameters.ckks().max_slots(), options.parts);
    let plan = plan(program, &parameters, layout, reason)?;
    match options.sharing {
        None => Ok(plan),
        Some(policy) => Err(not_shared(&plan, &parameters, policy)),
    }
}

/// Returns the refusal of sharing: noise that hides that of look-ups must not lead a digit to the next one, which leaves room for very little of it.
fn not_shared(plan: &Plan, parameters: &IntegerParameters, policy: SharingPolicy) -> Box<Refusal> {
    let (mut results, n) = (Vec::new(), parameters.ckks().degree());
    let meet = |context: &Context, digit: &Ciphertext| {
        let noise = DeclaredNoise::of_own_run(digit.noise(), context.ring().expansion());
        results.push((noise, digit.metadata().slots, digit.metadata().scale));
    };
    if let Err(error) = rehearsed(plan, parameters, meet) {
        return Refusal::of_program(error);
    }
    let fits = |bits: &u32| {
        let policy = SharingPolicy::new(*bits, policy.queries());
        results.iter().all(|(noise, slots, scale)| {
            let flooding = policy.as_ref().ok().and_then(|own| Flooding::new(*own, *noise, n).ok());
            flooding
                .is_some_and(|own| slot_error(own.bound_of(1).bits().exp2(), *slots, *scale) < HALF_A_DIGIT)
        })
    };
    let bits = (1..=SharingPolicy::MOST_STATISTICAL_BITS).take_while(fits).last().unwrap_or(0);
    let queries = counted(policy.queries() as usize, "result", "results");
    let room = match bits {
        0 => "no room to hide the noise of look-ups".to_owned(),
        _ => format!("room to hide the noise of look-ups to a statistical distance of 2^-{bits} at best"),
    };
    Refusal::of_program(format!(
        "{queries} of encrypted integers cannot be shared: whole digits have {room}; \
         take BFV or BGV, which make room for it, or give the results only to who may know the secret key"
    ))
}

/// Largest error of the number of a digit that still rounds to it.
const HALF_A_DIGIT: f64 = 1.0 / 16.0;

/// Makes the plan of a program on encrypted integers.
pub(super) fn plan(
    program: &Program,
    parameters: &IntegerParameters,
    layout: Layout,
    reason: String,
) -> Result<Plan, Box<Refusal>> {
    let known = exact_facts(program);
    for id in program.used() {
        fits(program, &known, &layout, id)?;
    }
    let all = Parameters::Integers(parameters.clone());
    let digits = |id: NodeId| {
        let range = known.get(id.index()).and_then(|facts| facts.exact).map(range)?;
        Form::holding(range[0], range[1]).map(|form| form.kind.digits())
    };
    let inputs = encrypted_inputs(program).into_iter().filter_map(digits).sum::<usize>() * layout.chunks;
    let mut plan = Plan { inputs, ..Plan::bare(program, all, layout, vec![reason]) };
    let look_ups = rehearsed(&plan, parameters, |_, _| {}).map_err(Refusal::of_program)?;
    plan.key_bytes = look_ups.key_file_bytes;
    let working = WORKING + waiting(program, &known, &plan.layout);
    plan.memory_bytes = look_ups.key_bytes + look_ups.matrix_bytes + working * plan.ciphertext_bytes;
    plan.reasons.push(format!(
        "{}, each wrong with a probability of at most 2^{:.1}",
        counted(look_ups.count as usize, "look-up", "look-ups"),
        look_ups.log2_failure
    ));
    plan.look_ups = Some(look_ups);
    Ok(plan)
}

/// Number of ciphertexts of the highest level that the values of a run and one look-up take beside keys and matrices.
const WORKING: u64 = 40;

/// Number of ciphertexts of rows in several chunks whose places are found after the last one: their digits, and which rows are equal so far for each place.
fn waiting(program: &Program, known: &[Facts], layout: &Layout) -> u64 {
    let mut places: BTreeMap<NodeId, u64> = BTreeMap::new();
    for id in program.used() {
        if let Some(Node::Kth { of, .. }) = program.graph().node(id) {
            *places.entry(*of).or_insert(0) += 1;
        }
    }
    let digits = |of: &NodeId| {
        let range = known.get(of.index()).and_then(|facts| facts.exact).map(range)?;
        Form::holding(range[0], range[1]).map(|form| form.kind.digits() as u64)
    };
    let each = places.iter().map(|(of, places)| digits(of).unwrap_or(0) + places);
    each.sum::<u64>().saturating_mul(layout.chunks.saturating_sub(1) as u64)
}

fn range(exact: Exact) -> [i128; 2] {
    [exact.low.min(exact.padding), exact.high.max(exact.padding)]
}

/// Checks that encrypted integers compute a node.
fn fits(program: &Program, known: &[Facts], layout: &Layout, id: NodeId) -> Result<(), Box<Refusal>> {
    let refused = |reason: String| {
        let expression = program.graph().describe(id, program.schema());
        Err(Box::new(Refusal { reason, expression }))
    };
    let Some(node) = program.graph().node(id) else { return Ok(()) };
    let Some(exact) = known.get(id.index()).and_then(|facts| facts.exact) else {
        let reason = match node {
            Node::Apply { .. } => {
                "encrypted integers have no functions of real numbers: take CKKS, or give a table with lookup"
            }
            _ => {
                "encrypted integers have whole and decimal numbers alone: declare the decimals of real columns"
            }
        };
        return refused(reason.to_owned());
    };
    let slots = layout.chunks.saturating_mul(layout.span) as i128;
    let summed = program.totals().contains(&id) && !matches!(node, Node::Kth { .. });
    let times = if summed { slots } else { 1 };
    let ends = range(exact).map(|end| end.checked_mul(times));
    if ends[0].zip(ends[1]).and_then(|(low, high)| Form::holding(low, high)).is_none() {
        return refused(
            "its numbers need more than 64 bits: use fewer decimals or narrower ranges".to_owned(),
        );
    }
    if let Some(reason) = not_ordered(program, layout, id) {
        return refused(reason);
    }
    match node {
        Node::LookUp { of, first, values } => {
            let Some(of) = known.get(of.index()).and_then(|facts| facts.exact).map(range) else {
                return Ok(());
            };
            let own = [i128::from(*first), i128::from(*first) + values.len() as i128 - 1];
            if own[0] <= of[0] && of[1] <= own[1] && of[1] - of[0] < MAX_ENTRIES as i128 {
                return Ok(());
            }
            refused(format!(
                "the table has entries for {} to {} units, and it is asked for {} to {}",
                own[0], own[1], of[0], of[1]
            ))
        }
        Node::Kth { place, .. } if *place >= program.schema().rows => refused(format!(
            "there is no number {} of {} rows",
            place.saturating_add(1),
            program.schema().rows
        )),
        _ => Ok(()),
    }
}

/// Returns why rows of a layout have no order, or a node no place in it.
fn not_ordered(program: &Program, layout: &Layout, id: NodeId) -> Option<String> {
    let Layout { rows, span, chunks } = *layout;
    let node = program.graph().node(id)?;
    let number = |id: &NodeId| matches!(program.graph().node(*id), Some(Node::Kth { .. }));
    if node.operands().iter().any(number) || number(&id) && program.columns().contains(&id) {
        return Some("a number of all rows is no number of a row: combine it in a formula".to_owned());
    }
    if !node.crosses_rows() || chunks == 1 {
        return None;
    }
    if !matches!(node, Node::Kth { .. }) {
        return Some(format!(
            "sort and rank take at most {span} rows, and the table has {rows}: min, max, median, quantile and top take any number"
        ));
    }
    (chunks != rows.div_ceil(span)).then(|| {
        format!(
            "the table has {rows} rows in several parts of their own: order takes one part, or {span} rows"
        )
    })
}

/// Runs a plan over polynomials without coefficients, and counts its look-ups; `meet` is shown all ciphertexts of results.
fn rehearsed(
    plan: &Plan,
    parameters: &IntegerParameters,
    mut meet: impl FnMut(&Context, &Ciphertext),
) -> Result<LookUps, ProgramError> {
    let context = dry::ckks(parameters.ckks())?;
    let rng = &mut dry::randomness();
    let secret = SecretKey::generate(context.rlwe(), rng).map_err(ProgramError::scheme)?;
    let blueprint = Blueprint::of_all_slots(&context, parameters.set()).map_err(ProgramError::scheme)?;
    let keys = BootstrapKeys::generate(&blueprint, &secret, rng, |_, _| {}).map_err(ProgramError::scheme)?;
    let bootstrapper = FunctionalBootstrapper::new(&blueprint, |_, _| {}).map_err(ProgramError::scheme)?;
    let work = IntegerWork::default();
    let evaluator = IntegerEvaluator::new(&bootstrapper, &keys).map_err(ProgramError::scheme)?;
    let encrypt =
        |plaintext: &_| context.encrypt_secret(plaintext, &secret, rng).map_err(ProgramError::scheme);
    dry_integers(plan, evaluator.with_work(&work), encrypt, |digit| meet(&context, digit))?;
    Ok(LookUps {
        count: work.look_ups(),
        tables: work.tables(),
        key_switches: work.key_switches(),
        plain_products: work.plain_products(),
        log2_failure: blueprint.log2_failure(),
        key_bytes: keys.byte_len() as u64,
        key_file_bytes: blueprint.key_file_bytes().map_err(ProgramError::scheme)?,
        matrix_bytes: bootstrapper.byte_len() as u64,
    })
}
