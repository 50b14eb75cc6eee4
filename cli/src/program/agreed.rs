//! Check of the program that the key holder agreed to: results of another one are refused, and without one it
//! is said what they rest on.

use std::collections::BTreeSet;

use sunzi::program::results::Description;
use sunzi::program::{Contexts, Formula, NodeId, OutputValue, Plan, Program};

use super::plan::of_file;
use super::{parse, parts};
use crate::args::{PRECISION, SharingArgs};
use crate::error::{CliError, listed, quoted};

/// Returns the plans that the agreed program may have been run by: its rows as they may stand, and as the
/// file has them. None if no program is given.
pub(crate) fn plans(
    args: &SharingArgs,
    contexts: &Contexts,
    description: &Description,
) -> Result<Option<[Plan; 2]>, CliError> {
    let (Some(text), Some(schema)) = (&args.program, &args.schema) else { return Ok(None) };
    let schema = of_file(schema)?;
    let program = parse(text, &schema)?;
    if program != description.program {
        let named = quoted(text);
        return Err(CliError::mismatch(format!("these are not the results of {named} over that schema")));
    }
    if let Some(packing) = &description.packed {
        let plan = Plan::within_packed(&program, contexts.parameters(), packing).map_err(super::refuse)?;
        description.check_plan(&plan).map_err(CliError::mismatch)?;
        return Ok(Some([plan.clone(), plan]));
    }
    let (parameters, rows) = (contexts.parameters(), schema.rows as usize);
    let most = parameters.layout(rows, parts(&schema, args.partition.as_ref())?);
    let own = description.layout;
    if own.chunks > most.chunks {
        return Err(CliError::mismatch(format!(
            "the table had {} chunks, at most {} are expected: give the --partition that cut it",
            own.chunks, most.chunks
        )));
    }
    let plan = |layout| {
        Plan::for_layout(&program, parameters, layout, args.precision.unwrap_or(PRECISION))
            .map_err(super::refuse)
    };
    let (most, own) = (plan(most)?, plan(own)?);
    description.check_plan(&own).map_err(|error| {
        CliError::mismatch(format!("{error}; give --precision as sunzi eval was given it"))
    })?;
    Ok(Some([most, own]))
}

/// Returns the text that says what a key holder without an agreed program relies on.
pub(crate) fn trusted(program: &Program) -> String {
    let names: Vec<String> = program.outputs().iter().map(|output| quoted(&output.name)).collect();
    format!(
        "that these are results of {} is what the file says: give --for PROGRAM --schema FILE to have it checked",
        listed(&names, 4)
    )
}

/// Table of which numbers of each result were never encrypted.
pub(crate) struct Clear(Vec<Vec<bool>>);

impl Clear {
    pub(crate) fn new(program: &Program, clear: &BTreeSet<NodeId>) -> Self {
        let rests = |formula: &Formula| {
            let totals = formula.totals();
            !totals.is_empty() && totals.iter().all(|id| clear.contains(id))
        };
        let of = |value: &OutputValue| match value {
            OutputValue::Number(formula) => vec![rests(formula)],
            OutputValue::Groups(groups) => groups.iter().map(|group| rests(&group.formula)).collect(),
            OutputValue::Column(id) | OutputValue::Partial { column: id, .. } => vec![clear.contains(id)],
        };
        Self(program.outputs().iter().map(|output| of(&output.value)).collect())
    }

    /// Whether a number of a result was never encrypted: one of a group by its place, all rows of a column alike.
    pub(crate) fn at(&self, result: usize, place: usize) -> bool {
        self.0.get(result).and_then(|places| places.get(place)).copied().unwrap_or(false)
    }
}
