//! Contexts of the steps of a bootstrapping: one chain of moduli, and special moduli for the levels of each step.
//!
//! Special moduli are as large as a digit. Those that suit the highest levels are too many for the lowest, where every key switch pays for them; and
//! below the highest level security has room for more of them, so that there are fewer digits.

use std::ops::RangeInclusive;

use sunzi_ckks::Context;

use super::eval_mod::EvalMod;
use super::set::{Levels, Set};
use crate::bootstrap::BootstrapError;

/// Special moduli of the steps of a bootstrapping.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SpecialModuli {
    /// Those of the context, for all steps.
    #[default]
    Shared,
    /// CoeffsToSlots, SlotsToCoeffs and the first polynomial of EvalMod each have special moduli of their own, those that cost least at their levels;
    /// doublings and arcsin have those of the context.
    EachStep,
}

/// Contexts of the steps of a bootstrapping, of the same levels as far as they go.
#[derive(Clone, Debug)]
pub(super) struct Steps<T> {
    /// CoeffsToSlots, and the trace.
    pub(super) coeffs_to_slots: T,
    /// First polynomial of EvalMod.
    pub(super) polynomial: T,
    pub(super) slots_to_coeffs: T,
}

impl Steps<Context> {
    /// Makes the contexts of a set's steps, without tables of key switching.
    pub(super) fn new(
        context: &Context,
        set: &Set,
        levels: &Levels,
        eval_mod: &EvalMod,
    ) -> Result<Self, BootstrapError> {
        if set.special == SpecialModuli::Shared {
            let [coeffs_to_slots, polynomial, slots_to_coeffs] = [(); 3].map(|()| context.clone());
            return Ok(Self { coeffs_to_slots, polynomial, slots_to_coeffs });
        }
        let parameters = set.parameters()?;
        let Steps { coeffs_to_slots, polynomial, slots_to_coeffs } = Steps::of_levels(set, levels, eval_mod);
        let step = |levels: RangeInclusive<usize>| -> Result<Context, BootstrapError> {
            let options = parameters.key_switching_for(levels.clone())?;
            Ok(context.for_levels(levels, &options)?)
        };
        Ok(Self {
            coeffs_to_slots: step(coeffs_to_slots)?,
            polynomial: step(polynomial)?,
            slots_to_coeffs: step(slots_to_coeffs)?,
        })
    }
}

impl Steps<RangeInclusive<usize>> {
    /// Levels of the ciphertexts whose keys the steps of a set switch.
    pub(super) fn of_levels(set: &Set, levels: &Levels, eval_mod: &EvalMod) -> Self {
        let range = |highest: usize, count: usize| (highest + 1).saturating_sub(count)..=highest;
        Self {
            coeffs_to_slots: range(levels.coeffs_to_slots, set.coeffs_to_slots.levels),
            polynomial: range(levels.eval_mod, eval_mod.polynomial_depth()),
            slots_to_coeffs: range(levels.slots_to_coeffs, set.slots_to_coeffs.levels),
        }
    }
}

impl<T> Steps<T> {
    /// Returns what a function makes of each step's.
    pub(super) fn map<U>(&self, make: impl Fn(&T) -> U) -> Steps<U> {
        let Self { coeffs_to_slots, polynomial, slots_to_coeffs } = self;
        Steps {
            coeffs_to_slots: make(coeffs_to_slots),
            polynomial: make(polynomial),
            slots_to_coeffs: make(slots_to_coeffs),
        }
    }
}
