//! Plans of programs on encrypted integers: what fits, and which look-ups a run takes, found by a dry run.

use serde::Serialize;
use sunzi_circuits::bootstrap::functional::FunctionalBootstrapper;
use sunzi_circuits::bootstrap::{Blueprint, BootstrapKeys};
use sunzi_circuits::integers::{IntegerEvaluator, IntegerParameters, IntegerWork};
use sunzi_rlwe::{RelinearizationKey, SecretKey, Security, randomness};
use sunzi_rlwe::words::counted;

use super::timing::{Timing, least};
use super::{Exact, Facts, Layout, Options, Parameters, Plan, Refusal, dry, exact_facts};
use crate::contexts::Form;
use crate::graph::MAX_ENTRIES;
use crate::run::{dry_integers, encrypted_inputs};
use crate::{Node, NodeId, Program, ProgramError};

/// Reason in the message where a scheme has no order and no tables.
pub(super) const ONLY: &str =
    "encrypted integers alone have order and tables: take them, with --scheme integers";

/// Look-ups of a run on encrypted integers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LookUps {
    /// Number of look-ups of a run, each of about a second.
    pub count: u64,
    /// Number of tables of all look-ups.
    pub tables: u64,
    /// Number of key switches outside of look-ups.
    pub key_switches: u64,
    /// log2 of the probability that one look-up is wrong in any slot.
    pub log2_failure: f64,
    /// Bytes in memory of the keys of look-ups.
    pub key_bytes: u64,
    /// Bytes of the file of these keys, to a percent.
    pub key_file_bytes: u64,
    /// Bytes in memory of the matrices of look-ups.
    pub matrix_bytes: u64,
}

/// Returns a node that encrypted integers alone compute, if there is one.
pub(super) fn needed(program: &Program) -> Option<NodeId> {
    let needs = |id: &NodeId| program.graph().node(*id).is_some_and(Node::needs_integers);
    program.used().into_iter().find(needs)
}

/// Refuses a program that encrypted integers alone compute.
pub(super) fn refuse(program: &Program) -> Result<(), Box<Refusal>> {
    let Some(id) = needed(program) else { return Ok(()) };
    let expression = program.graph().describe(id, program.schema());
    Err(Box::new(Refusal { reason: ONLY.to_owned(), expression }))
}

/// Makes the plan of a program on encrypted integers, for given options.
pub(super) fn choose(program: &Program, options: &Options, reason: String) -> Result<Plan, Box<Refusal>> {
    let refused = |reason: String| Box::new(Refusal { reason, expression: "the program".to_owned() });
    if options.sharing.is_some() {
        return Err(refused("results of encrypted integers are exact, and hide their noise: nothing has to be added for sharing".to_owned()));
    }
    if !matches!(options.security, Security::Bits128 | Security::InsecureForResearchOnly) {
        return Err(refused("encrypted integers have a set of 128 bits of security alone".to_owned()));
    }
    let parameters = match options.log2_degree {
        None | Some(16) => IntegerParameters::new(),
        Some(_) if options.security != Security::InsecureForResearchOnly => {
            return Err(refused("encrypted integers have one ring of 128 bits, n = 2^16".to_owned()));
        }
        Some(log2_degree) => IntegerParameters::insecure(log2_degree),
    };
    let parameters = parameters.map_err(|error| refused(error.to_string()))?;
    let layout =
        Layout::of_parts(program.schema().rows as usize, parameters.ckks().max_slots(), options.parts);
    plan(program, &parameters, layout, reason)
}

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
    let refused = |error: &dyn std::fmt::Display| {
        Box::new(Refusal { reason: error.to_string(), expression: "the program".to_owned() })
    };
    let all = Parameters::Integers(parameters.clone());
    let digits = |id: NodeId| {
        let range = known.get(id.index()).and_then(|facts| facts.exact).map(range)?;
        Form::holding(range[0], range[1]).map(|form| form.kind.digits())
    };
    let inputs = encrypted_inputs(program).into_iter().filter_map(digits).sum::<usize>() * layout.chunks;
    let mut plan = Plan {
        layout,
        depth: 0,
        key_bytes: 0,
        ciphertext_bytes: all.ciphertext_bytes(),
        memory_bytes: 0,
        inputs,
        rotations: Vec::new(),
        rotation_limbs: 0,
        reasons: vec![reason],
        lowered: None,
        precision: 0,
        packed: None,
        merging: None,
        look_ups: None,
        program: program.clone(),
        parameters: all,
    };
    let look_ups = rehearsed(&plan, parameters).map_err(|error| refused(&error))?;
    plan.key_bytes = look_ups.key_file_bytes;
    plan.memory_bytes = look_ups.key_bytes + look_ups.matrix_bytes + WORKING * plan.ciphertext_bytes;
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
    if node.crosses_rows() && layout.chunks > 1 {
        let most = layout.span;
        return refused(format!("order takes at most {most} rows, and the table has {}", layout.rows));
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

/// Runs a plan over polynomials without coefficients, and counts its look-ups.
fn rehearsed(plan: &Plan, parameters: &IntegerParameters) -> Result<LookUps, ProgramError> {
    let context = dry::ckks(parameters.ckks())?;
    let rng = &mut dry::randomness();
    let secret = SecretKey::generate(context.rlwe(), rng).map_err(ProgramError::scheme)?;
    let slots = context.max_slots();
    let blueprint = Blueprint::new(&context, parameters.set(), slots).map_err(ProgramError::scheme)?;
    let keys = BootstrapKeys::generate(&blueprint, &secret, rng, |_, _| {}).map_err(ProgramError::scheme)?;
    let bootstrapper = FunctionalBootstrapper::new(&blueprint, |_, _| {}).map_err(ProgramError::scheme)?;
    let work = IntegerWork::default();
    let evaluator = IntegerEvaluator::new(&bootstrapper, &keys).map_err(ProgramError::scheme)?;
    dry_integers(plan, evaluator.with_work(&work), |plaintext| {
        context.encrypt_secret(plaintext, &secret, rng).map_err(ProgramError::scheme)
    })?;
    Ok(LookUps {
        count: work.look_ups(),
        tables: work.tables(),
        key_switches: work.key_switches(),
        log2_failure: blueprint.log2_failure(),
        key_bytes: keys.byte_len() as u64,
        key_file_bytes: blueprint.key_file_bytes().map_err(ProgramError::scheme)?,
        matrix_bytes: bootstrapper.byte_len() as u64,
    })
}

/// Seconds of a look-up of one table in real parts of slots, in products at the highest level.
const LOOK_UP: f64 = 33.0;
/// Seconds of a further table of a look-up, in such products.
const TABLE: f64 = 2.0;
/// Seconds of a key switch of a result, in such products.
const KEY_SWITCH: f64 = 0.6;
/// Seconds before the first look-up, in which keys are read and matrices made, in such products.
const SET_UP: f64 = 60.0;

/// Measures a product at the highest level with a temporary key, in which look-ups are counted: their own keys take a minute.
pub(super) fn timing(context: &sunzi_ckks::Context) -> Result<Timing, ProgramError> {
    let mut rng = randomness::from_os().map_err(ProgramError::scheme)?;
    let secret = SecretKey::generate(context.rlwe(), &mut rng).map_err(ProgramError::scheme)?;
    let key = RelinearizationKey::generate(context.rlwe(), &secret, &mut rng).map_err(ProgramError::scheme)?;
    let encoder = sunzi_ckks::Encoder::new(context, context.max_slots()).map_err(ProgramError::scheme)?;
    let plaintext = encoder.encode_real(&[0.5]).map_err(ProgramError::scheme)?;
    let x = context.encrypt_secret(&plaintext, &secret, &mut rng).map_err(ProgramError::scheme)?;
    let evaluator = sunzi_ckks::Evaluator::new(context);
    let product = least(|| evaluator.multiply(&x, &x, &key).map_err(ProgramError::scheme))?;
    Ok(Timing { product, ..Timing::default() })
}

/// Returns the estimated seconds of a run.
pub(super) fn seconds(look_ups: &LookUps, timing: &Timing) -> f64 {
    let further = look_ups.tables.saturating_sub(look_ups.count) as f64;
    let products = SET_UP
        + LOOK_UP * look_ups.count as f64
        + TABLE * further
        + KEY_SWITCH * look_ups.key_switches as f64;
    products * timing.product
}
