//! Steps of a bootstrapping that may have special moduli of their own.
//!
//! Special moduli are as large as a digit. Those that suit the highest levels are too many for the lowest, where every key switch pays for them; and
//! below the highest level security has room for more of them, so that there are fewer digits.

/// Special moduli of the steps of a bootstrapping.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SpecialModuli {
    /// The special moduli of the context serve all steps.
    #[default]
    Shared,
    /// CoeffsToSlots, SlotsToCoeffs, the first polynomial of EvalMod and tables each have the special moduli that cost least at their levels; doublings and arcsin
    /// have the special moduli of the context.
    EachStep,
}

/// Steps of a bootstrapping that may have special moduli of their own, with one value for each: its context, evaluator or levels.
#[derive(Clone, Debug)]
pub(super) struct Steps<T> {
    /// Value of CoeffsToSlots and the trace.
    pub(super) coeffs_to_slots: T,
    /// Value of the first polynomial of EvalMod.
    pub(super) polynomial: T,
    /// Value of tables, in sets that have them.
    pub(super) tables: Option<T>,
    /// Value of SlotsToCoeffs.
    pub(super) slots_to_coeffs: T,
}

impl<T> Steps<T> {
    /// Returns the steps with what a function makes of each value.
    pub(super) fn map<U>(&self, make: impl Fn(&T) -> U) -> Steps<U> {
        let Self { coeffs_to_slots, polynomial, tables, slots_to_coeffs } = self;
        Steps {
            coeffs_to_slots: make(coeffs_to_slots),
            polynomial: make(polynomial),
            tables: tables.as_ref().map(&make),
            slots_to_coeffs: make(slots_to_coeffs),
        }
    }
}
