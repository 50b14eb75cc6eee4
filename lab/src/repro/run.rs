//! The run of a reproduction: a paper, steps with progress, resulting tables and figures.

use std::fmt::Debug;

use super::Part;
use super::report::{Report, Table};
use crate::repro::{Figure, Machine, Result, on_threads};

/// Callback of progress: the current work, and the numbers of done and of all steps.
pub type Tell<'a> = &'a mut (dyn FnMut(&str, usize, usize) + Send);

/// A paper to reproduce, with options: its parts, and how thoroughly.
pub trait Paper: Debug + Sync {
    /// Key of the reproduced paper in `docs/references.bib`.
    const KEY: &'static str;
    /// Type of the tables and figures of a reproduced paper.
    type Part: Part;

    /// Options for a full reproduction of a paper.
    fn full() -> Self;

    /// Options for a reproduction of a paper in some minutes.
    fn quick() -> Self;

    /// Tables and figures of a paper to reproduce, each once, in the paper's order.
    fn parts(&mut self) -> &mut Vec<Self::Part>;

    /// Checks whether the options of the reproduction make sense.
    ///
    /// # Errors
    /// Options that make no sense; the error says what would.
    fn validate(&self) -> Result<()> {
        Ok(())
    }

    /// Most threads that the reproduction uses.
    fn threads(&self) -> usize {
        1
    }

    /// Number of steps that progress counts for a reproduced paper.
    fn steps(&self) -> usize;

    /// How the values of a reproduced paper are timed, in words.
    fn effort(&self) -> String;

    /// Makes the tables and figures of a paper that are asked for.
    ///
    /// # Errors
    /// A result that is not right; errors of the layers below, of which none is expected.
    fn make(&self, run: &mut Run<'_>) -> Result<()>;
}

/// Reproduces what the options of a paper ask for.
///
/// # Errors
/// Options that make no sense; a result that is not right; errors of the layers below, of which none is expected.
pub fn run<P: Paper>(options: &P, tell: Tell<'_>) -> Result<Report> {
    options.validate()?;
    let mut work = || {
        let machine = Machine::this()?.with_threads(options.threads());
        let progress = Progress::new(options.steps(), tell);
        let mut run = Run { machine, progress, tables: Vec::new(), figures: Vec::new() };
        options.make(&mut run)?;
        let Run { machine, tables, figures, .. } = run;
        Ok(Report { paper: P::KEY, machine, effort: options.effort(), tables, figures })
    };
    if options.threads() == 1 { on_threads(1, work) } else { work() }
}

/// A reproduction under way, with its results so far.
pub struct Run<'a> {
    pub(crate) machine: Machine,
    pub(crate) progress: Progress<'a>,
    pub(crate) tables: Vec<Table>,
    pub(crate) figures: Vec<Figure>,
}

/// Progress of a reproduction, which counts its steps.
pub(crate) struct Progress<'a> {
    done: usize,
    total: usize,
    tell: Tell<'a>,
}

impl<'a> Progress<'a> {
    pub(crate) fn new(total: usize, tell: Tell<'a>) -> Self {
        Self { done: 0, total, tell }
    }

    /// Reports current work as progress without counting a step.
    pub(crate) fn say(&mut self, what: impl AsRef<str>) {
        (self.tell)(what.as_ref(), self.done, self.total);
    }

    pub(crate) fn begin(&mut self, what: impl AsRef<str>) {
        self.say(what);
        self.done += 1;
    }
}
