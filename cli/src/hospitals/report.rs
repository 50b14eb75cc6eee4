//! Report of the three hospitals: as JSON, or as text for people.

use serde::Serialize;
use sunzi::circuits::regression::{Scaling, Training, accuracy};
use sunzi::rlwe::RlweContext;
use sunzi::rlwe::wire::{self, WireError};

use super::joint::Joint;
use super::parts::{NAMES, Parts, QUORUM};
use super::{Run, STATISTICAL_BITS};
use crate::derived::Derived;
use crate::error::CliError;
use crate::job::Job;
use crate::report::memory;
use crate::sums::{Sums, pair_index, pairs};

/// Largest difference of a weight of a scaled feature from the weight in the clear that is no error.
///
/// Flooding noise of a refresh has a deviation of some 1e-3 in a weight, and so has that of the opening: this is above ten of all together.
const WEIGHT: f64 = 0.03;

/// Report of the hospitals, as it is printed.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    pub(super) ok: bool,
    pub(super) source: String,
    pub(super) class: String,
    pub(super) rows: usize,
    pub(super) columns: Vec<String>,
    pub(super) seconds: f64,
    pub(super) hospitals: Vec<Hospital>,
    /// Number of hospitals that open results together.
    pub(super) threshold: usize,
    pub(super) statistical_bits: u32,
    pub(super) statistics: Vec<Check>,
    pub(super) model: Model,
    /// Ring, times and sizes of the sums, and of the regression.
    pub(super) sums: Part,
    pub(super) regression: Part,
    pub(super) isa: String,
    pub(super) threads: usize,
    pub(super) peak_memory_bytes: Option<u64>,
}

/// One hospital: what it holds, and what it opened.
#[derive(Debug, Serialize)]
pub(super) struct Hospital {
    pub(super) name: &'static str,
    pub(super) rows: usize,
    /// Whether the hospital is one of those that opened results.
    pub(super) opened: bool,
    /// Results that its two ledgers count: of the sums, and of the regression.
    pub(super) counted: [u64; 2],
    /// Ciphertexts that it sent to the server: for the sums, and for the regression.
    pub(super) ciphertexts: [usize; 2],
}

/// A result that was opened, beside the one that is found in the clear.
#[derive(Debug, Serialize)]
pub(super) struct Check {
    /// Name of the result, and of its columns: `correlation/a/b`.
    pub(super) name: String,
    /// The result; none where it is not defined.
    pub(super) opened: Option<f64>,
    pub(super) plain: Option<f64>,
    /// Distance of both; none where one alone is defined.
    pub(super) error: Option<f64>,
    /// Largest distance that is no error; 0 for exact results.
    pub(super) bound: f64,
}

/// The model, and those that are trained in the clear.
#[derive(Debug, Serialize)]
pub(super) struct Model {
    pub(super) iterations: usize,
    pub(super) rate: f64,
    pub(super) width: f64,
    /// How often two hospitals refreshed the state of the training.
    pub(super) refreshes: usize,
    pub(super) weights: Vec<Check>,
    /// The weights for one unit of each feature.
    pub(super) per_unit: Vec<f64>,
    /// The weights after many iterations in the clear; none where they leave the range of the training.
    pub(super) converged: Option<Vec<f64>>,
    pub(super) accuracy: Accuracy,
}

/// Shares of rows that models put where their labels say.
#[derive(Debug, Serialize)]
pub(super) struct Accuracy {
    pub(super) opened: f64,
    pub(super) plain: f64,
    pub(super) converged: Option<f64>,
}

/// Ring, times and sizes of one computation under a joint secret.
#[derive(Debug, Serialize)]
pub(super) struct Part {
    pub(super) ring: Ring,
    pub(super) times: Times,
    pub(super) sizes: Sizes,
    /// Results that may be opened under its keys.
    pub(super) may_open: u64,
}

/// Parameters of a computation.
#[derive(Debug, Serialize)]
pub(super) struct Ring {
    pub(super) scheme: &'static str,
    pub(super) degree: usize,
    pub(super) moduli: usize,
    pub(super) log2_qp: f64,
    pub(super) security: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) plain_modulus: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) scale_bits: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) levels: Option<usize>,
}

/// Seconds of each step of a computation.
#[derive(Debug, Default, Serialize)]
pub(super) struct Times {
    /// Seconds for choosing parameters and building tables.
    pub(super) parameters: f64,
    /// Seconds for the six rounds of key generation.
    pub(super) keys: f64,
    /// Seconds for dealing the threshold.
    pub(super) dealing: f64,
    pub(super) encrypt: f64,
    /// Seconds for the hospitals' own dry runs, which tell the noise that they declare.
    pub(super) rehearse: f64,
    /// Seconds of the server's work.
    pub(super) server: f64,
    /// Seconds for refreshes by two hospitals.
    pub(super) refresh: f64,
    /// Seconds for opening results.
    pub(super) open: f64,
}

/// Sizes of what travels.
#[derive(Debug, Serialize)]
pub(super) struct Sizes {
    /// Number of ciphertexts with the rows of each hospital.
    #[serde(skip)]
    pub(super) ciphertexts: Vec<usize>,
    pub(super) ciphertext_bytes: u64,
    /// Results that were opened, refreshes included.
    pub(super) results: usize,
    pub(super) keys: Keys,
}

/// Bytes of keys.
#[derive(Debug, Serialize)]
pub(super) struct Keys {
    /// Bytes that a hospital sends to each of the others to make all keys.
    pub(super) sent: u64,
    /// Bytes of the joint public key as a file.
    pub(super) public: u64,
    /// Bytes of the keys that the server computes with, in its memory.
    pub(super) server: u64,
}

impl Keys {
    pub(super) fn of(context: &RlweContext, joint: &Joint) -> Result<Self, CliError> {
        let public: Result<Vec<u8>, WireError> = wire::to_bytes(context, &joint.public);
        let public = public.map_err(CliError::failure)?.len() as u64;
        Ok(Self { sent: joint.sent, public, server: joint.keys.byte_len() as u64 })
    }
}

/// Weights in the clear: of the same training, and after many iterations.
pub(super) struct Models {
    pub(super) clear: Vec<f64>,
    pub(super) converged: Option<Vec<f64>>,
}

impl Check {
    fn new(name: String, opened: Option<f64>, plain: Option<f64>, bound: f64) -> Self {
        let error = match (opened, plain) {
            (Some(opened), Some(plain)) => Some((opened - plain).abs()).filter(|error| !error.is_nan()),
            (None, None) => Some(0.0),
            _ => None,
        };
        Self { name, opened, plain, error, bound }
    }

    /// Whether the result is within its bound.
    fn within(&self) -> bool {
        self.error.is_some_and(|error| error <= self.bound)
    }
}

/// Returns the statistics of all columns beside those in the clear.
fn statistics(names: &[&str], [opened, plain]: [&Derived; 2]) -> Vec<Check> {
    let name = |column: usize| names.get(column).copied().unwrap_or_default();
    let mut checks =
        vec![Check::new("count".to_owned(), Some(opened.count as f64), Some(plain.count as f64), 0.0)];
    let mut push = |name: String, of: &dyn Fn(&Derived) -> Option<f64>| {
        checks.push(Check::new(name, of(opened), of(plain), 0.0));
    };
    for x in 0..names.len() {
        push(format!("mean/{}", name(x)), &|of| of.means.get(x).copied().flatten());
    }
    for x in 0..names.len() {
        let at = pair_index(x, x);
        push(format!("variance/{}", name(x)), &|of| of.covariances.get(at).copied().flatten());
    }
    for (x, y) in pairs(names.len()).filter(|(x, y)| x != y) {
        let at = pair_index(x, y);
        push(format!("correlation/{}/{}", name(x), name(y)), &|of| {
            of.correlations.get(at).copied().flatten()
        });
    }
    checks
}

impl Report {
    pub(super) fn new(
        (job, parts): (&Job, &Parts),
        (sums, weights): (Run<Sums<i128>>, Run<Vec<f64>>),
        of: [&Derived; 2],
        (models, scaling, training): (&Models, &Scaling, Training),
        seconds: f64,
    ) -> Result<Self, CliError> {
        let names: Vec<&str> = job.columns.iter().map(|column| column.name.as_str()).collect();
        let hospital = |(at, name): (usize, &'static str)| {
            let rows = parts.rows.get(at).map_or(0, std::ops::Range::len);
            let of = |counts: &[u64]| counts.get(at).copied().unwrap_or(0);
            let sent = |sizes: &Sizes| sizes.ciphertexts.get(at).copied().unwrap_or(0);
            Hospital {
                name,
                rows,
                opened: QUORUM.contains(&name),
                counted: [of(&sums.counted), of(&weights.counted)],
                ciphertexts: [sent(&sums.sizes), sent(&weights.sizes)],
            }
        };
        let hospitals = NAMES.into_iter().enumerate().map(hospital).collect();
        let model = Model::new(job, parts, &names, &weights, (models, scaling, training));
        let mut report = Self {
            ok: false,
            source: job.source.clone(),
            class: parts.class.clone(),
            rows: job.rows,
            columns: names.iter().map(|&name| name.to_owned()).collect(),
            seconds,
            hospitals,
            threshold: QUORUM.len(),
            statistical_bits: STATISTICAL_BITS,
            statistics: statistics(&names, of),
            model,
            sums: sums.into(),
            regression: weights.into(),
            isa: sunzi::kernels::active_isa().map_err(CliError::input)?.to_string(),
            threads: rayon::current_num_threads(),
            peak_memory_bytes: memory::peak(),
        };
        report.ok = report.outside() == 0;
        Ok(report)
    }

    /// All results that are compared.
    pub(super) fn checks(&self) -> impl Iterator<Item = &Check> {
        self.statistics.iter().chain(&self.model.weights)
    }

    /// Number of results that are outside of their bounds.
    pub(super) fn outside(&self) -> usize {
        self.checks().filter(|check| !check.within()).count()
    }

    /// Number of results that are compared.
    pub(super) fn checked(&self) -> usize {
        self.checks().count()
    }

    /// Whether every result is within its bound.
    pub(super) fn ok(&self) -> bool {
        self.ok
    }
}

impl<T> From<Run<T>> for Part {
    fn from(run: Run<T>) -> Self {
        Self { ring: run.ring, times: run.times, sizes: run.sizes, may_open: run.policy.queries() }
    }
}

impl Model {
    fn new(
        job: &Job,
        parts: &Parts,
        names: &[&str],
        run: &Run<Vec<f64>>,
        (models, scaling, training): (&Models, &Scaling, Training),
    ) -> Self {
        let weights = &run.result;
        let model = scaling.model(weights);
        let per_unit = std::iter::once(model.constant).chain(model.weights.iter().copied()).collect();
        let rows = job.rows_of(0..job.rows);
        let right = |weights: &[f64]| accuracy(&scaling.model(weights), &rows, &parts.labels);
        let names = std::iter::once("constant").chain(names.iter().copied());
        let pairs = names.zip(weights).zip(&models.clear);
        let check = |((name, &opened), &plain): ((&str, &f64), &f64)| {
            Check::new(format!("weight/{name}"), Some(opened), Some(plain), WEIGHT)
        };
        Self {
            iterations: training.iterations,
            rate: training.rate,
            width: training.width,
            refreshes: run.sizes.results.saturating_sub(1),
            weights: pairs.map(check).collect(),
            per_unit,
            accuracy: Accuracy {
                opened: right(weights),
                plain: right(&models.clear),
                converged: models.converged.as_deref().map(right),
            },
            converged: models.converged.clone(),
        }
    }
}
