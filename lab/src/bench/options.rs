//! Options of a run of `lab bench`.

use std::ops::RangeInclusive;

use crate::alternate::ROUNDS;
use crate::bench::{LabError, Result, Row, on_threads};

/// Advice given for a degree that is not offered.
pub(crate) const CHANGE: &str = "change --log-n";

/// log2 of the ring degrees that have a transform.
const SUPPORTED: RangeInclusive<u32> = 10..=17;

/// Options shared by all benchmarks.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whether to compare with the rivals; needs the feature `peers`.
    pub peers: bool,
    /// Number of rounds that each median is taken over.
    pub rounds: usize,
    /// log2 of the ring degrees to time; empty for the benchmark's own.
    pub log_n: Vec<u32>,
    /// Threads that scheme operations may use; kernels always run on one.
    pub threads: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { peers: false, rounds: ROUNDS, log_n: Vec::new(), threads: 1 }
    }
}

impl Options {
    /// Checks the benchmark options before anything runs.
    ///
    /// # Errors
    /// Options with no rounds, or with a degree outside 2^10 … 2^17.
    pub(crate) fn validate(&self) -> Result<()> {
        if self.rounds == 0 {
            return Err(LabError::no_rounds());
        }
        match self.log_n.iter().find(|log_n| !SUPPORTED.contains(log_n)) {
            None => Ok(()),
            Some(got) => Err(LabError::degree(*got, &SUPPORTED, CHANGE)),
        }
    }

    /// The rows of every degree asked for, else of `own`, made on as many threads as asked for.
    pub(crate) fn rows(
        &self,
        own: RangeInclusive<u32>,
        of: impl Fn(u32) -> Result<Vec<Row>> + Send,
    ) -> Result<Vec<Row>> {
        self.validate()?;
        on_threads(self.threads, || Ok(self.log_degrees(own).map(of).collect::<Result<Vec<_>>>()?.concat()))
    }

    /// log2 of the ring degrees asked for, or else the benchmark's own.
    pub(crate) fn log_degrees(&self, own: RangeInclusive<u32>) -> impl Iterator<Item = u32> {
        let asked = if self.log_n.is_empty() { own.collect() } else { self.log_n.clone() };
        asked.into_iter()
    }
}
