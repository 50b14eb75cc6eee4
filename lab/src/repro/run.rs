//! What every run has: a paper, steps that are told, tables and figures that come out.

use std::fmt::Debug;

use super::Part;
use super::report::{Report, Table};
use crate::repro::{Figure, Machine, Result, on_threads};

/// Hears what is being done, and how many of how many steps are.
pub type Tell<'a> = &'a mut (dyn FnMut(&str, usize, usize) + Send);

/// A paper: what of it to reproduce, and how thoroughly.
pub trait Paper: Debug + Sync {
    /// Its key in `docs/references.bib`.
    const KEY: &'static str;
    /// Its tables and figures.
    type Part: Part;

    /// Everything.
    fn full() -> Self;

    /// What takes some minutes.
    fn quick() -> Self;

    /// The parts to make; each is made once, in the paper's order.
    fn parts(&mut self) -> &mut Vec<Self::Part>;

    /// Whether the options make sense.
    ///
    /// # Errors
    /// Says what would.
    fn validate(&self) -> Result<()> {
        Ok(())
    }

    /// Most threads.
    fn threads(&self) -> usize {
        1
    }

    /// Steps that progress counts.
    fn steps(&self) -> usize;

    /// How it is timed, in words.
    fn effort(&self) -> String;

    /// Makes the tables and figures asked for.
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

/// A reproduction under way.
pub struct Run<'a> {
    pub(crate) machine: Machine,
    pub(crate) progress: Progress<'a>,
    pub(crate) tables: Vec<Table>,
    pub(crate) figures: Vec<Figure>,
}

/// Counts the steps of a run.
pub(crate) struct Progress<'a> {
    done: usize,
    total: usize,
    tell: Tell<'a>,
}

impl<'a> Progress<'a> {
    pub(crate) fn new(total: usize, tell: Tell<'a>) -> Self {
        Self { done: 0, total, tell }
    }

    /// Says what is being done, which is no step.
    pub(crate) fn say(&mut self, what: impl AsRef<str>) {
        (self.tell)(what.as_ref(), self.done, self.total);
    }

    pub(crate) fn begin(&mut self, what: impl AsRef<str>) {
        self.say(what);
        self.done += 1;
    }
}
