//! `sunzi params --bootstrapping`: the sets that CKKS bootstraps with.

use serde::Serialize;
use sunzi::circuits::bootstrap::{Bits, Set, Summary};
use sunzi::rlwe::SecretDistribution;

use crate::error::CliError;
use crate::output;

/// A set of bootstrapping parameters in figures.
#[derive(Debug, Serialize)]
struct Row {
    name: String,
    /// Ring degree n of the set: messages fill n/2 slots.
    degree: usize,
    slots: usize,
    security: String,
    secret: SecretDistribution,
    /// Hamming weight of the secret that is there for ModRaise alone, and the polynomials that share it.
    raised_under: Option<Sparse>,
    log2_qp: f64,
    log2_failure: f64,
    levels_left: usize,
    /// The lowest level that the next bootstrapping can begin at.
    lowest_level: usize,
    bits_left: f64,
    rounds: usize,
    /// Precision of bootstrapping that was measured with the set, if any was.
    precision: Option<Precision>,
    key_bytes: usize,
    matrix_bytes: usize,
}

#[derive(Debug, Serialize)]
struct Sparse {
    weight: usize,
    polynomials: usize,
}

/// Precision of slots as −log2 of their errors, by messages.
#[derive(Debug, Serialize)]
struct Precision {
    random: Figures,
    any: Figures,
    fifty_in_a_row: Option<Figures>,
}

#[derive(Debug, Serialize)]
struct Figures {
    mean_bits: f64,
    worst_bits: f64,
}

impl From<Bits> for Figures {
    fn from(bits: Bits) -> Self {
        Self { mean_bits: bits.mean, worst_bits: bits.worst }
    }
}

impl From<Summary> for Row {
    fn from(of: Summary) -> Self {
        let precision = of.statement.map(|of| Precision {
            random: of.random.into(),
            any: of.adversarial.into(),
            fifty_in_a_row: of.fifty.map(Figures::from),
        });
        let capsule = of.set.encapsulation;
        Self {
            name: of.set.to_string(),
            degree: 1 << of.set.log2_degree,
            slots: of.slots,
            security: of.set.security.to_string(),
            secret: of.set.secret,
            raised_under: capsule.map(|of| Sparse { weight: of.weight, polynomials: of.rank }),
            log2_qp: of.log2_key_modulus,
            log2_failure: of.log2_failure,
            levels_left: of.levels_left,
            lowest_level: of.set.lowest_level(),
            bits_left: of.bits_left,
            rounds: of.set.rounds,
            precision,
            key_bytes: of.key_bytes,
            matrix_bytes: of.diagonal_bytes,
        }
    }
}

/// Prints the set of this name, or all shipped sets: one JSON object or an array, or one text after the other as each is ready.
pub(super) fn run(name: Option<&str>, json: bool) -> Result<(), CliError> {
    let summary = |set: &Set| Summary::new(set).map_err(CliError::failure);
    if let Some(name) = name {
        let summary = Summary::new(&named(name)?).map_err(CliError::input)?;
        return if json {
            output::print_json(&Row::from(summary))
        } else {
            output::print(&summary.to_string())
        };
    }
    if json {
        let rows: Result<Vec<Row>, CliError> =
            Set::shipped().iter().map(|set| Ok(summary(set)?.into())).collect();
        return output::print_json(&rows?);
    }
    Set::shipped().iter().try_for_each(|set| output::print(&summary(set)?.to_string()))
}

fn named(name: &str) -> Result<Set, CliError> {
    let names = Set::shipped().map(|set| set.name).join(", ");
    let unknown = format!(
        "--bootstrapping: there is no set {name:?}: take one of {names}, with the number of levels left behind it where that shall be another, and -s16 for messages of 16 slots"
    );
    Set::named(name).ok_or_else(|| CliError::input(unknown))
}
