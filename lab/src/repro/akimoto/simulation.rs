//! The strategies of `[AS19, 4]` on any number of threads, simulated from the measured parts of an operation on one.
//!
//! An operation is a sequence of steps. A step is shared among threads in tasks of equal length, as the strategy cuts it; a thread takes the
//! next task when it has finished one, and a step ends with its last task. Work word by word ends no sooner than memory allows.

use sunzi_ring::Parallelism;

/// Number of coefficients that conversions share out together, as `crates/ring/src/parallel.rs` has it.
const BLOCK: usize = 1024;
/// Number of coefficients of a limb that element-wise work shares out together, coefficient by coefficient.
const PART: usize = 2048;
/// Number of coefficients of a part of element-wise work where limbs are shared too and every thread has a part.
const LONG_PART: usize = 4 * PART;
/// Number of target moduli that a key switch and a division compute together.
const GROUP: usize = 4;

/// Kind of a step, on which its sharing depends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Transforms, one a limb.
    Transform,
    /// Work word by word.
    Elementwise,
    /// Conversion of residues to the moduli of the limbs.
    Conversion,
}

/// A step of an operation: as many limbs of results, and its time on one thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) kind: Kind,
    pub(super) limbs: usize,
    /// Whether threads share groups of limbs, all of whose steps one thread does, as in a key switch.
    pub(super) grouped: bool,
    pub(super) milliseconds: f64,
}

/// An operation as measured on one thread: steps that take as long as the whole.
#[derive(Clone, Debug)]
pub(super) struct Work {
    steps: Vec<Step>,
    /// The sum of the steps, each measured alone, over the whole.
    pub(super) explained: f64,
}

/// Conditions of a simulation: a strategy, a number of threads, coefficients of a limb, and the time to hand tasks out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Machine {
    pub(super) strategy: Parallelism,
    pub(super) threads: usize,
    pub(super) degree: usize,
    /// Milliseconds that two threads take to begin and end a step together; more threads take log2 of their number times as many.
    pub(super) barrier: f64,
    /// The largest factor by which threads do work word by word faster than one: they share the memory.
    pub(super) memory: f64,
}

impl Work {
    /// An operation that takes `milliseconds` on one thread, with these steps. What they take alone tells their shares of it: in an operation
    /// they wait for memory more often.
    pub(super) fn new(steps: Vec<Step>, milliseconds: f64) -> Self {
        let explained = steps.iter().map(|step| step.milliseconds).sum::<f64>() / milliseconds;
        let scaled = |step: Step| Step { milliseconds: step.milliseconds / explained, ..step };
        Self { steps: steps.into_iter().map(scaled).collect(), explained }
    }

    /// Milliseconds on one thread.
    pub(super) fn single(&self) -> f64 {
        self.steps.iter().map(|step| step.milliseconds).sum()
    }

    /// Simulated milliseconds.
    pub(super) fn time(&self, machine: &Machine) -> f64 {
        self.steps.iter().map(|step| step.time(machine)).sum()
    }
}

impl Step {
    /// Rounds that follow one another, and equal tasks in each.
    fn tasks(&self, machine: &Machine) -> [usize; 2] {
        let Machine { strategy, threads, degree, .. } = *machine;
        let (limbs, parts) = (self.limbs.max(1), |part: usize| degree.div_ceil(part).max(1));
        let groups = limbs.div_ceil(GROUP).next_multiple_of(2).min(limbs);
        // Where every thread has a group, nothing inside of a group is shared.
        let whole = strategy == Parallelism::ModulusWise || groups >= threads;
        match (self.kind, strategy) {
            (Kind::Transform, Parallelism::CoefficientWise) => [limbs, 1],
            (Kind::Elementwise, Parallelism::CoefficientWise) => [limbs, parts(PART)],
            (Kind::Conversion, Parallelism::CoefficientWise) => [1, parts(BLOCK)],
            (Kind::Conversion, _) if self.grouped && !whole => [1, groups * parts(BLOCK)],
            (Kind::Elementwise, _) if self.grouped && !whole => [1, groups * parts(LONG_PART)],
            _ if self.grouped => [1, groups],
            (Kind::Transform, _) | (Kind::Elementwise, Parallelism::ModulusWise) => [1, limbs],
            (Kind::Elementwise, Parallelism::Collapsed) => {
                let even = limbs.is_multiple_of(threads) || limbs >= 4 * threads;
                [1, if even { limbs } else { limbs * parts(LONG_PART) }]
            }
            (Kind::Conversion, Parallelism::ModulusWise) => [1, groups],
            (Kind::Conversion, Parallelism::Collapsed) => [1, parts(BLOCK)],
        }
    }

    fn time(&self, machine: &Machine) -> f64 {
        let [rounds, tasks] = self.tasks(machine);
        let longest = tasks.div_ceil(machine.threads.max(1));
        let alone = self.milliseconds * longest as f64 / tasks as f64;
        let by_memory = if self.kind == Kind::Elementwise { self.milliseconds / machine.memory } else { 0.0 };
        let work = alone.max(by_memory);
        // A round of one task is handed to nobody.
        let shared = if machine.threads > 1 && tasks > 1 { rounds } else { 0 };
        work + shared as f64 * machine.barrier * (machine.threads as f64).log2()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(strategy: Parallelism, threads: usize) -> Machine {
        Machine { strategy, threads, degree: 1 << 16, barrier: 0.0, memory: f64::INFINITY }
    }

    fn work() -> Work {
        let step = |kind, limbs, milliseconds| Step { kind, limbs, grouped: false, milliseconds };
        let steps = vec![
            step(Kind::Transform, 33, 66.0),
            step(Kind::Elementwise, 33, 33.0),
            step(Kind::Conversion, 33, 64.0),
        ];
        Work::new(steps, 163.0)
    }

    #[test]
    fn one_thread_takes_what_was_measured() {
        for strategy in [Parallelism::CoefficientWise, Parallelism::ModulusWise, Parallelism::Collapsed] {
            assert!((work().time(&machine(strategy, 1)) - 163.0).abs() < 1e-9);
        }
        let longer = Work::new(work().steps, 326.0);
        assert!((longer.time(&machine(Parallelism::Collapsed, 1)) - 326.0).abs() < 1e-9);
        assert!((longer.explained - 0.5).abs() < 1e-9);
    }

    #[test]
    fn steps_end_with_their_last_task() {
        // 33 limbs on 32 threads: two rounds of limbs; 64 blocks: two each; 33·8 parts: nine of 264.
        let time = |strategy| work().time(&machine(strategy, 32));
        let expected = 66.0 + 33.0 / 32.0 + 64.0 / 32.0;
        assert!((time(Parallelism::CoefficientWise) - expected).abs() < 1e-9);
        // Ten groups of limbs, an even number.
        let expected = 66.0 * 2.0 / 33.0 + 33.0 * 2.0 / 33.0 + 64.0 / 10.0;
        assert!((time(Parallelism::ModulusWise) - expected).abs() < 1e-9);
        let expected = 66.0 * 2.0 / 33.0 + 33.0 * 9.0 / 264.0 + 64.0 / 32.0;
        assert!((time(Parallelism::Collapsed) - expected).abs() < 1e-9);
    }

    #[test]
    fn groups_of_limbs_are_shared_whole_where_every_thread_has_one() {
        let step = |kind| Step { kind, limbs: 79, grouped: true, milliseconds: 20.0 };
        let time = |kind, strategy, threads| step(kind).time(&machine(strategy, threads));
        for kind in [Kind::Transform, Kind::Elementwise, Kind::Conversion] {
            // Twenty groups on 16 threads: two rounds.
            assert!((time(kind, Parallelism::Collapsed, 16) - 2.0).abs() < 1e-9);
            assert!((time(kind, Parallelism::ModulusWise, 32) - 1.0).abs() < 1e-9);
        }
        assert!((time(Kind::Transform, Parallelism::Collapsed, 32) - 1.0).abs() < 1e-9);
        assert!((time(Kind::Conversion, Parallelism::Collapsed, 32) - 20.0 / 32.0).abs() < 1e-9);
    }

    #[test]
    fn memory_limits_work_word_by_word_alone() {
        let machine = machine(Parallelism::Collapsed, 32);
        let limited = work().time(&Machine { memory: 4.0, ..machine }) - work().time(&machine);
        assert!((limited - (33.0 / 4.0 - 33.0 * 9.0 / 264.0)).abs() < 1e-9);
    }

    #[test]
    fn handing_out_costs_by_the_rounds_that_are_shared() {
        let with = |strategy| {
            let machine = machine(strategy, 4);
            work().time(&Machine { barrier: 0.5, ..machine }) - work().time(&machine)
        };
        assert!((with(Parallelism::ModulusWise) - 3.0).abs() < 1e-9);
        // Limbs one after the other, and transforms not at all.
        assert!((with(Parallelism::CoefficientWise) - 34.0).abs() < 1e-9);
    }
}
