//! Steps of a bootstrapping that may have special moduli of their own.
//!
//! Special moduli are as large as a digit. Those that suit the highest levels are too many for the lowest, where every key switch pays for them; and
//! below the highest level security has room for more of them, so that there are fewer digits.

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

/// What each step of a bootstrapping has: a context, an evaluator or its levels.
#[derive(Clone, Debug)]
pub(super) struct Steps<T> {
    /// CoeffsToSlots, and the trace.
    pub(super) coeffs_to_slots: T,
    /// First polynomial of EvalMod.
    pub(super) polynomial: T,
    pub(super) slots_to_coeffs: T,
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
