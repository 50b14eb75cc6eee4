//! Traces of the operations that spent a ciphertext's noise budget.
//!
//! Every operation adds a step to a trace, with the bits left after it. A result continues the trace of the
//! operand with the fewest bits left, since its noise decides. Equal operations in a row share a
//! step, and only the latest steps are kept one by one, so that a trace stays small however long the computation.

use std::fmt;
use std::sync::Arc;

/// Largest number of steps that a trace stores one by one; of more, the older half becomes totals.
const RECENT: usize = 32;

/// A step of a trace: one operation, or several equal ones in a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Name of the operation of the step.
    pub operation: &'static str,
    /// Number of times that the operation of the step was done in a row.
    pub times: u32,
    /// Bits of noise budget that the step took from the operand with the fewest left; below 0 if it gave some back.
    pub spent: f64,
    /// Bits of noise budget left after the step.
    pub left: f64,
}

/// A trace: the operations that made a ciphertext, along the operand with the least noise budget, and how often what it was made of was
/// re-encrypted. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    history: Arc<History>,
    /// Number of re-encryptions, of the operand with the most of them.
    hops: u32,
}

#[derive(Clone, Debug, Default)]
struct History {
    /// Totals, one for each operation, of the steps no longer stored one by one.
    earlier: Vec<Step>,
    recent: Vec<Step>,
}

impl Trace {
    /// Returns the trace that a result of operands with these traces continues: of the operand with the fewest bits left, and with the most re-encryptions of
    /// any.
    #[must_use]
    pub fn joined<'a>(traces: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut joined = Self::default();
        traces.into_iter().for_each(|trace| joined.join(trace));
        joined
    }

    fn join(&mut self, other: &Self) {
        if other.left() < self.left() {
            self.history = Arc::clone(&other.history);
        }
        self.hops = self.hops.max(other.hops);
    }

    /// Appends a step to the trace with the fewest bits left, this trace or one of `others`, for an operation that
    /// leaves `left` bits.
    pub fn record(&mut self, operation: &'static str, left: f64, others: &[&Self]) {
        others.iter().for_each(|other| self.join(other));
        let before = self.left();
        // The first step of a trace has spent nothing; one after all bits were lost spends none.
        let spent = if before.is_finite() && !left.is_nan() { before - left } else { 0.0 };
        Arc::make_mut(&mut self.history).push(Step { operation, times: 1, spent, left });
    }

    /// The number of re-encryptions that the ciphertext or any that it was computed from went through, along the operand with the most.
    #[must_use]
    pub fn hops(&self) -> u32 {
        self.hops
    }

    /// Sets the number of re-encryptions: of a ciphertext from a file, or after one more.
    pub(crate) fn set_hops(&mut self, hops: u32) {
        self.hops = hops;
    }

    /// Bits of noise budget left after the last step of a trace; infinite before the first.
    #[must_use]
    pub fn left(&self) -> f64 {
        self.history.recent.last().map_or(f64::INFINITY, |step| step.left)
    }

    /// The latest steps of a trace, oldest first.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.history.recent
    }

    /// The totals of all steps by operation, the operation that spent the most bits first.
    #[must_use]
    pub fn totals(&self) -> Vec<Step> {
        let mut totals = self.history.earlier.clone();
        self.history.recent.iter().for_each(|step| add_to(&mut totals, *step));
        totals.sort_by(|a, b| b.spent.total_cmp(&a.spent));
        totals
    }

    /// The operations that spent the most bits, in words: "multiply (7 times) spent 213.4 bits, rotate 1.2 bits".
    #[must_use]
    pub fn summary(&self) -> String {
        let mut parts = Vec::new();
        for Step { operation, times, spent, .. } in
            self.totals().into_iter().filter(|step| step.spent >= 0.05).take(3)
        {
            let times = if times == 1 { String::new() } else { format!(" ({times} times)") };
            let verb = if parts.is_empty() { " spent" } else { "" };
            parts.push(format!("{operation}{times}{verb} {spent:.1} bits"));
        }
        if parts.is_empty() { "no operation spent bits".to_owned() } else { parts.join(", ") }
    }
}

impl History {
    fn push(&mut self, step: Step) {
        match self.recent.last_mut() {
            Some(last) if last.operation == step.operation => last.join(step),
            _ => self.recent.push(step),
        }
        if self.recent.len() > RECENT {
            let older = self.recent.drain(..RECENT / 2);
            older.for_each(|step| add_to(&mut self.earlier, step));
        }
    }
}

impl Step {
    fn join(&mut self, later: Self) {
        self.times = self.times.saturating_add(later.times);
        self.spent += later.spent;
        self.left = later.left;
    }
}

fn add_to(totals: &mut Vec<Step>, step: Step) {
    match totals.iter_mut().find(|total| total.operation == step.operation) {
        Some(total) => total.join(step),
        None => totals.push(step),
    }
}

/// Formats a trace, one line for each step: the operation, the bits it spent and the bits it left.
impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.history.earlier.is_empty() {
            writeln!(f, "earlier:")?;
        }
        for (i, step) in self.history.earlier.iter().chain(&self.history.recent).enumerate() {
            if i > 0 && i == self.history.earlier.len() {
                writeln!(f, "then:")?;
            }
            let times = if step.times == 1 { String::new() } else { format!(" x {}", step.times) };
            let name = format!("{}{times}", step.operation);
            writeln!(f, "{name:24} {:7.1} bits spent {:7.1} left", step.spent, step.left)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn traced(steps: &[(&'static str, f64)]) -> Trace {
        let mut trace = Trace::default();
        steps.iter().for_each(|&(operation, left)| trace.record(operation, left, &[]));
        trace
    }

    #[test]
    fn a_result_continues_the_operand_with_the_fewest_bits() {
        let fresh = traced(&[("encrypt", 90.0)]);
        let used = traced(&[("encrypt", 90.0), ("multiply", 60.0)]);
        for (mut first, second) in [(fresh.clone(), &used), (used.clone(), &fresh)] {
            first.record("add", 59.0, &[second]);
            let names: Vec<_> = first.steps().iter().map(|step| step.operation).collect();
            assert_eq!(names, ["encrypt", "multiply", "add"]);
            assert_eq!(first.steps()[2].spent, 1.0);
        }
        let mut made = Trace::default();
        made.record("multiply", 30.0, &[&fresh, &used]);
        assert_eq!(made.totals()[0], Step { operation: "multiply", times: 2, spent: 60.0, left: 30.0 });
        assert_eq!(used.steps().len(), 2, "operands keep their own");
    }

    #[test]
    fn a_result_has_the_hops_of_the_operand_with_the_most() {
        let [mut two, mut one, none] = [5.0, 9.0, 7.0].map(|left| traced(&[("load", left)]));
        two.set_hops(2);
        one.set_hops(1);
        let mut made = Trace::default();
        made.record("add", 4.0, &[&one, &two, &none]);
        one.record("add", 4.0, &[&none]);
        assert_eq!((made.hops(), one.hops(), none.hops()), (2, 1, 0));
    }

    #[test]
    fn a_trace_stays_small_and_forgets_no_bit() {
        let mut trace = traced(&[("encrypt", 1e6)]);
        for i in 0..10_000 {
            let operation = if i % 2 == 0 { "rotate" } else { "add" };
            trace.record(operation, trace.left() - f64::from(1 + i % 2), &[]);
        }
        assert!(trace.steps().len() <= RECENT);
        let totals = trace.totals();
        let spent: Vec<_> = totals.iter().map(|step| (step.operation, step.times, step.spent)).collect();
        assert_eq!(spent, [("add", 5000, 10_000.0), ("rotate", 5000, 5000.0), ("encrypt", 1, 0.0)]);
        assert!(trace.to_string().contains("earlier"));
        let run = (0..1000).fold(traced(&[("encrypt", 99.0)]), |mut trace, _| {
            trace.record("add", 98.0, &[]);
            trace
        });
        assert_eq!(run.steps().len(), 2);
    }

    #[test]
    fn the_summary_names_what_spent_most_first() {
        let trace = traced(&[("encrypt", 90.0), ("add", 89.0), ("multiply", 50.0), ("multiply", 10.0)]);
        assert_eq!(trace.summary(), "multiply (2 times) spent 79.0 bits, add 1.0 bits");
        assert_eq!(Trace::default().summary(), "no operation spent bits");
        assert!(trace.to_string().contains("multiply x 2"), "{trace}");
    }

    #[test]
    fn bounds_that_are_no_numbers_do_not_spoil_the_totals() {
        let trace = traced(&[
            ("encrypt", f64::INFINITY),
            ("add", 5.0),
            ("multiply", f64::NEG_INFINITY),
            ("multiply", f64::NEG_INFINITY),
            ("add", f64::NAN),
        ]);
        assert!(trace.totals().iter().all(|step| !step.spent.is_nan()));
        assert_eq!(trace.totals()[0].spent, f64::INFINITY);
    }
}
