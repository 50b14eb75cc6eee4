//! Times of the operations of `[AS19]` at L = 32, with residues and with big integers, and on all threads.

use sunzi_ring::Parallelism;

use super::Options;
use super::costs::{self, Costs};
use super::figures::column;
use super::printed::{DEPTH, mix};
use super::simulation::{Machine, Work};
use super::subject::{OPERATIONS, STRATEGIES, subject, time};
use super::{Needs, heaan};
use crate::repro::{Progress, Result, Timed, alternate_timed, on_threads};
use crate::subjects::strategies::{Operation, Subject};

/// Milliseconds of the operations of Table 1 of `[AS19]` at its level, in its order.
#[derive(Default)]
pub(super) struct Measured {
    /// With residues, on one thread.
    pub(super) ours: Vec<f64>,
    /// With big integers, on one thread.
    pub(super) heaan: Vec<f64>,
    /// With big integers, on all threads where there are several.
    pub(super) heaan_on_all: Vec<f64>,
    pub(super) shared: Option<Shared>,
}

/// Operations by strategies and threads: what a simulation needs, and what was measured on all threads.
pub(super) struct Shared {
    costs: Costs,
    works: Vec<Work>,
    /// Numbers of threads beyond one, and milliseconds on as many, by operation and strategy.
    measured: Vec<(usize, Vec<Vec<f64>>)>,
}

impl Measured {
    pub(super) fn new(options: &Options, needs: Needs, progress: &mut Progress<'_>) -> Result<Self> {
        let mut measured = Self::default();
        if needs.operations {
            progress.begin("operations with residues");
            let subject = subject(options.table_log2_degree)?;
            let (ours, parts) = on_threads(1, || operations(options, &subject))?;
            measured.ours = ours;
            if needs.threads {
                progress.begin("operations by strategy");
                measured.shared = Some(Shared::new(options, &subject, &measured.ours, parts)?);
            }
        }
        if needs.heaan {
            progress.begin("operations with big integers");
            let operations = || heaan::operations(options.table_log2_degree, options.baseline);
            measured.heaan = on_threads(1, operations)?;
            if needs.several && options.threads > 1 {
                progress.begin("operations with big integers on all threads");
                measured.heaan_on_all = on_threads(options.threads, operations)?;
            }
        }
        Ok(measured)
    }
}

/// Milliseconds of all operations, and of a transform of a limb and a conversion of one to another, in turns.
fn operations(options: &Options, subject: &Subject) -> Result<(Vec<f64>, [f64; 2])> {
    let operands = subject.operands(DEPTH)?;
    let mut contenders: Vec<Timed<'_>> = Vec::new();
    for operation in OPERATIONS {
        let operands = &operands;
        contenders.push(Box::new(move || time(subject, operation, Parallelism::Collapsed, operands)));
    }
    contenders.extend(costs::contenders(subject, DEPTH)?);
    let times = alternate_timed(options.budget, &mut contenders)?;
    let mut times: Vec<f64> = times.iter().map(|times| times.median_ms()).collect();
    let parts = times.split_off(OPERATIONS.len());
    Ok((times, parts.try_into().unwrap_or([f64::NAN; 2])))
}

/// The time of one of the operations of Table 1 of `[AS19]` in a list of all.
pub(super) fn of(times: &[f64], operation: Operation) -> Option<f64> {
    times.get(OPERATIONS.iter().position(|(other, _)| *other == operation)?).copied()
}

/// Milliseconds of a bootstrapping as the paper's numbers of products and rotations.
pub(super) fn by_mix(times: &[f64]) -> Option<f64> {
    let [products, rotations] = mix();
    Some(products * of(times, Operation::Multiply)? + rotations * of(times, Operation::Rotate)?)
}

impl Shared {
    fn new(
        options: &Options,
        subject: &Subject,
        ours: &[f64],
        [transform, conversion]: [f64; 2],
    ) -> Result<Self> {
        let add = of(ours, Operation::Add).unwrap_or(f64::NAN);
        let costs = Costs::new(subject, DEPTH, [add, transform, conversion])?;
        let works =
            OPERATIONS.iter().zip(ours).map(|((operation, _), time)| costs.work(*operation, *time)).collect();
        let operands = subject.operands(DEPTH)?;
        let mut measured = Vec::new();
        for threads in options.thread_counts().into_iter().filter(|threads| *threads > 1) {
            measured.push((threads, column(options, subject, &operands, threads)?));
        }
        Ok(Self { costs, works, measured })
    }

    /// Numbers of threads of the measured times, beyond one.
    pub(super) fn threads(&self) -> impl Iterator<Item = usize> + '_ {
        self.measured.iter().map(|(threads, _)| *threads)
    }

    /// For every operation, what its parts take alone over what it takes.
    pub(super) fn explained(&self) -> Vec<f64> {
        self.works.iter().map(|work| work.explained).collect()
    }

    /// Simulated milliseconds of all operations. Threads share the memory, which Add shows.
    pub(super) fn simulated(&self, strategy: Parallelism, threads: usize) -> Vec<f64> {
        let Costs { degree, barrier, .. } = self.costs;
        let add = |times: &[f64]| of(times, Operation::Add);
        let single = self.works.iter().map(Work::single).collect::<Vec<f64>>();
        let gain = |count| Some(add(&single)? / add(&self.measured(strategy, count)?)?);
        let gains = self.threads().filter(|count| *count <= threads).filter_map(gain);
        let memory = gains.reduce(f64::max).unwrap_or(f64::INFINITY);
        let machine = Machine { strategy, threads, degree, barrier, memory };
        self.works.iter().map(|work| work.time(&machine)).collect()
    }

    /// Measured milliseconds of all operations on a number of threads beyond one, where it was measured.
    pub(super) fn measured(&self, strategy: Parallelism, threads: usize) -> Option<Vec<f64>> {
        let at = STRATEGIES.iter().position(|(other, _)| *other == strategy)?;
        let (_, column) = self.measured.iter().find(|(other, _)| *other == threads)?;
        column.iter().map(|times| times.get(at).copied()).collect()
    }

    /// Simulated speed-up of a bootstrapping, as a mix of products and rotations.
    pub(super) fn speed_up(&self, strategy: Parallelism, threads: usize) -> Option<f64> {
        let time = |threads| by_mix(&self.simulated(strategy, threads));
        Some(time(1)? / time(threads)?)
    }
}
