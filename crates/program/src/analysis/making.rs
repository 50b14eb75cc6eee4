//! Plans of given parameters: bytes of keys and of a run, inputs, merged digits.

use sunzi_circuits::Rotation;

use super::approximate::Lowered;
use super::merging::Merging;
use super::relinearizations::relinearizations;
use super::{Layout, Parameters, Plan, Refusal, facts};
use crate::Program;
use crate::run::encrypted_inputs;

/// Rotations of a plan, the highest level of the ring for them, and the indices of that level's moduli.
pub(super) struct Rotated {
    pub(super) rotations: Vec<Rotation>,
    pub(super) level: usize,
    pub(super) limbs: Vec<usize>,
}

/// Makes the plan of a program in parameters that hold it.
pub(super) fn plan(
    program: &Program,
    parameters: Parameters,
    layout: Layout,
    Rotated { rotations, level, limbs }: Rotated,
    depth: usize,
    lowered: Option<Lowered>,
    reasons: Vec<String>,
) -> Result<Plan, Box<Refusal>> {
    let mut plan = Plan {
        depth,
        key_bytes: parameters.key_bytes(level, rotations.len())?,
        memory_bytes: parameters.key_memory(&limbs, rotations.len()),
        rotations,
        rotation_limbs: level,
        lowered,
        ..Plan::bare(program, parameters, layout, reasons)
    };
    let computed = &plan.computed().program;
    let moduli = plan.parameters.plain_moduli().len().max(1);
    let inputs = encrypted_inputs(computed).len() * layout.chunks * moduli;
    let run_bytes = super::memory::bytes(computed, &facts(computed), &plan.parameters, plan.lowered.as_ref());
    (plan.inputs, plan.memory_bytes) = (inputs, plan.memory_bytes + run_bytes);
    plan.merging = Merging::of(&plan.parameters, plan.layout.chunks, &relinearizations(&plan));
    if let Some(merging) = &plan.merging {
        plan.memory_bytes += merging.memory_bytes;
        plan.reasons.push(merging.reason());
    }
    Ok(plan)
}
