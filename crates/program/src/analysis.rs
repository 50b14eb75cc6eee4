//! Analysis of a program before it runs: ranges, depth, scheme, parameters, and bytes of keys.

mod approximate;
mod bootstraps;
mod choice;
mod course;
mod curve;
mod deep;
mod demand;
pub(crate) mod dry;
mod exact;
mod facts;
mod functions;
mod integers;
mod layout;
mod levels;
mod look_ups;
mod making;
mod memory;
mod merging;
mod parameters;
mod plan;
mod refresh;
mod relinearizations;
mod room;
mod tables;
mod timing;
mod weigh;
mod within;

pub use approximate::REAL_GAP;
pub(crate) use approximate::{Action, Lowered, Step, exp2, integral, stored_exponent};
pub use bootstraps::Bootstraps;
pub use course::{Role, Stage};
pub use facts::{Exact, Facts};
pub(crate) use facts::{
    extend as extend_facts, linear_units, of_column as facts_of_column, of_graph as facts_of,
    polynomial_units,
};
pub use layout::Layout;
pub use look_ups::LookUps;
pub(crate) use memory::packed_bytes;
pub(crate) use merging::Merging;
pub(crate) use parameters::{MULTIPLICATION, bgv_of, plain_moduli};
pub use parameters::{Parameters, SchemeChoice};
use plan::{Made, clamped};
pub use plan::{Options, Plan};
pub(crate) use refresh::{BESIDE, Refresh};
pub use tables::MAX_VALUES;
pub(crate) use tables::cost_of;
pub use timing::Timing;

pub use crate::error::Refusal;
pub(crate) use crate::program::{exact_facts, facts, facts_in};
use crate::{Program, ProgramError, packed};

impl Plan {
    /// Analyses a program and chooses its scheme, parameters and layout.
    ///
    /// # Errors
    /// [`ProgramError::Refused`], with the reason and the costliest expression.
    pub fn new(program: &Program, options: &Options) -> Result<Self, ProgramError> {
        options.check_parties()?;
        let plan = choice::choose(program, options)?;
        if plan.packed.is_none() && options.packing.as_ref().is_some_and(|packing| packing.always) {
            return Err(packed::refusal(program, options).into());
        }
        Ok(plan.with_precision(options.precision))
    }

    /// Analyses a program for given parameters, and for CKKS with a precision as in [`Options`].
    ///
    /// # Errors
    /// Every error of [`new`](Self::new).
    pub fn within(program: &Program, parameters: &Parameters, precision: u32) -> Result<Self, ProgramError> {
        let layout = parameters.layout(program.schema().rows as usize, 1);
        Self::for_layout(program, parameters, layout, precision)
    }

    /// Analyses a program for a table whose chunks need not be full: one that a category cuts into parts, or of which
    /// some chunks were left out.
    ///
    /// # Errors
    /// Every error of [`new`](Self::new); [`ProgramError::Mismatch`] for a layout that such a table cannot have.
    pub fn for_layout(
        program: &Program,
        parameters: &Parameters,
        layout: Layout,
        precision: u32,
    ) -> Result<Self, ProgramError> {
        parameters.check_layout(&layout, program.schema().rows)?;
        let precision = clamped(precision);
        Ok(within::within(program, parameters, layout, precision)?.with_precision(precision))
    }
}

impl TryFrom<Made> for Plan {
    type Error = ProgramError;

    fn try_from(made: Made) -> Result<Self, ProgramError> {
        if let Some(packing) = &made.packed {
            return Self::within_packed(&made.program, &made.parameters, packing);
        }
        Self::for_layout(&made.program, &made.parameters, made.layout, made.precision)
    }
}
