//! Report of the regression: as JSON, or as text for people.

use serde::Serialize;
use sunzi::circuits::bootstrap::Set;
use sunzi::circuits::regression::Training;
use sunzi::rlwe::words::{bytes, counted};

use super::encrypted::{Outcome, Sizes, Times};
use super::rows::Split;
use crate::columns::{empty_table, right_align};
use crate::error::CliError;
use crate::job::Job;
use crate::output::verdict;
use crate::report::memory;

/// Largest difference of the accuracy from the accuracy in the clear that is no error.
const ACCURACY: f64 = 0.005;
/// Largest difference of a weight of a scaled feature from the weight in the clear that is no error.
const WEIGHT: f64 = 1e-3;

/// Report of a regression, as it is printed.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    pub(super) ok: bool,
    pub(super) source: String,
    pub(super) class: String,
    pub(super) rows_trained_on: usize,
    pub(super) rows_held_out: usize,
    pub(super) iterations: usize,
    pub(super) rate: f64,
    pub(super) width: f64,
    pub(super) seconds: f64,
    pub(super) times: Times,
    pub(super) refreshes: usize,
    pub(super) params: Params,
    pub(super) sizes: Sizes,
    pub(super) isa: String,
    pub(super) threads: usize,
    pub(super) peak_memory_bytes: Option<u64>,
    pub(super) encrypted: Accuracy,
    pub(super) clear: Accuracy,
    /// Largest difference between weights of scaled features, encrypted and in the clear.
    pub(super) largest_difference: f64,
    pub(super) coefficients: Vec<Coefficient>,
}

#[derive(Debug, Serialize)]
pub(super) struct Params {
    pub(super) set: &'static str,
    pub(super) degree: usize,
    pub(super) log2_qp: f64,
    pub(super) security: String,
    /// Levels of a fresh and of a bootstrapped ciphertext of the regression.
    pub(super) levels: usize,
    /// Slots of the table's ciphertexts, and slots of a row.
    pub(super) slots: usize,
    pub(super) row: usize,
    /// log2 of a bound on the probability that a bootstrapping fails.
    pub(super) log2_failure: f64,
}

/// Accuracy of a model: shares of rows put where their labels say.
#[derive(Debug, Serialize)]
pub(super) struct Accuracy {
    pub(super) trained_on: f64,
    pub(super) held_out: f64,
}

#[derive(Debug, Serialize)]
pub(super) struct Coefficient {
    pub(super) feature: String,
    /// Coefficient of the scaled feature, decrypted.
    pub(super) encrypted: f64,
    /// Coefficient of the scaled feature, computed in the clear.
    pub(super) clear: f64,
    /// Coefficient of the feature in its own unit, decrypted.
    pub(super) per_unit: f64,
}

impl Report {
    pub(super) fn new(
        job: &Job,
        split: &Split,
        set: &Set,
        training: &Training,
        outcome: Outcome,
        clear: &[f64],
        seconds: f64,
    ) -> Result<Self, CliError> {
        let model = split.scaling.model(&outcome.weights);
        let accuracy = |weights: &[f64]| {
            let model = split.scaling.model(weights);
            Accuracy {
                trained_on: split.training.accuracy(&model),
                held_out: split.held_out.accuracy(&model),
            }
        };
        let names = std::iter::once("constant").chain(job.columns.iter().map(|column| column.name.as_str()));
        let units = std::iter::once(model.constant).chain(model.weights.iter().copied());
        let pairs = outcome.weights.iter().zip(clear).zip(names).zip(units);
        let coefficients: Vec<Coefficient> = pairs
            .map(|(((&encrypted, &clear), name), per_unit)| Coefficient {
                feature: name.to_owned(),
                encrypted,
                clear,
                per_unit,
            })
            .collect();
        // A weight that is not a number counts as infinitely far away.
        let distance = |one: &Coefficient| match (one.encrypted - one.clear).abs() {
            far if far.is_nan() => f64::INFINITY,
            distance => distance,
        };
        let largest_difference = coefficients.iter().map(distance).fold(0.0, f64::max);
        let (encrypted, clear) = (accuracy(&outcome.weights), accuracy(clear));
        let apart =
            (encrypted.trained_on - clear.trained_on).abs().max((encrypted.held_out - clear.held_out).abs());
        let params = Params {
            set: set.name,
            degree: 1 << set.log2_degree,
            log2_qp: outcome.log2_key_modulus,
            security: set.security.to_string(),
            levels: set.residual.levels,
            slots: outcome.layout.slots(),
            row: outcome.layout.width(),
            log2_failure: outcome.log2_failure,
        };
        Ok(Self {
            ok: apart <= ACCURACY && largest_difference <= WEIGHT,
            source: job.source.clone(),
            class: split.class.clone(),
            rows_trained_on: split.training.rows.len(),
            rows_held_out: split.held_out.rows.len(),
            iterations: training.iterations,
            rate: training.rate,
            width: training.width,
            seconds,
            times: outcome.times,
            refreshes: outcome.refreshes,
            params,
            sizes: outcome.sizes,
            isa: sunzi::kernels::active_isa().map_err(CliError::input)?.to_string(),
            threads: rayon::current_num_threads(),
            peak_memory_bytes: memory::peak(),
            encrypted,
            clear,
            largest_difference,
            coefficients,
        })
    }

    /// Whether the encrypted model is close enough to the clear one.
    pub(super) fn ok(&self) -> bool {
        self.ok
    }

    /// Returns text on what was trained, with what, and how long it took.
    fn introduction(&self) -> String {
        let Self { params, sizes, times, .. } = self;
        let memory =
            self.peak_memory_bytes.map_or_else(String::new, |peak| format!(", {} at most", bytes(peak)));
        format!(
            "{}: a logistic regression for \"{}\", trained on {} encrypted rows, {} held out\n\n\
             parameters   {}, n = {}, log2 QP = {:.1}, security {}; {} levels, {} slots, rows of {}\n\
             failure      2^{:.0} at most for each bootstrapping\n\
             keys         {} for bootstrapping, and {} of encoded matrices; {} of the table\n\
             training     {} iterations, {} bootstrappings, rate {}, scores within {}\n\
             seconds      {:.1}: keys {:.1}, matrices {:.1}, encryption {:.2}, training {:.1} ({:.1} of it bootstrapping)\n\
             machine      {} kernels, {} threads{memory}\n\n",
            self.source,
            self.class,
            self.rows_trained_on,
            self.rows_held_out,
            params.set,
            params.degree,
            params.log2_qp,
            params.security,
            params.levels,
            params.slots,
            params.row,
            params.log2_failure,
            bytes(sizes.bootstrap_keys as u64),
            bytes(sizes.diagonals as u64),
            counted(sizes.ciphertexts, "ciphertext", "ciphertexts"),
            self.iterations,
            self.refreshes,
            self.rate,
            self.width,
            self.seconds,
            times.keys,
            times.diagonals,
            times.encrypt,
            times.train,
            times.bootstrap,
            self.isa,
            self.threads,
        )
    }

    /// Returns the report of a regression as text for people.
    pub(super) fn text(&self) -> String {
        let Self { encrypted, clear, .. } = self;
        let mut table =
            empty_table(&["feature", "weight, encrypted", "clear", "for one unit of the feature"]);
        for one in &self.coefficients {
            let number = |value: f64| format!("{value:.6}");
            table.add_row(vec![
                one.feature.clone(),
                number(one.encrypted),
                number(one.clear),
                number(one.per_unit),
            ]);
        }
        right_align(&mut table, 1..4);
        let percent = |share: f64| format!("{:.2} %", 100.0 * share);
        format!(
            "{}{table}\n\naccuracy     encrypted {} ({} held out), clear {} ({} held out)\n\
             weights      differ by at most {:.2e}\n{}\n",
            self.introduction(),
            percent(encrypted.trained_on),
            percent(encrypted.held_out),
            percent(clear.trained_on),
            percent(clear.held_out),
            self.largest_difference,
            verdict(
                self.ok,
                if self.ok { "the encrypted model is the clear one" } else { "the models DIFFER" }
            )
        )
    }
}
