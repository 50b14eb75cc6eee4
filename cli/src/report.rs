//! Report of the demonstration: as JSON, or as tables for people.

pub(crate) mod checks;
pub(crate) mod human;
pub(crate) mod memory;
pub(crate) mod page;

use num_bigint::BigUint;
use serde::Serialize;
use sunzi::program::Plan;
use sunzi::program::packed::{Sizes, Work};
use sunzi::rlwe::security::max_log2_modulus;

use crate::encrypted::{Outcome, Times};
use crate::error::CliError;
use crate::job::Job;
use crate::loss::ColumnLoss;
use checks::Check;

/// Report of the demonstration, as it is printed.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    /// Whether every check of the demonstration held.
    pub(crate) ok: bool,
    /// Name of the table's source: a file, or the embedded table.
    pub(crate) source: String,
    /// Number of rows of the table.
    pub(crate) rows: usize,
    /// Names of the columns of the table that were used.
    pub(crate) columns: Vec<String>,
    /// Name of the column that groups rows.
    pub(crate) group_by: Option<String>,
    /// Names of the groups of rows.
    pub(crate) groups: Vec<String>,
    /// Seconds that the demonstration took.
    pub(crate) seconds: f64,
    /// Seconds of each step of the demonstration.
    pub(crate) times: Times,
    /// Bits left in the worst result before decryption would be refused.
    pub(crate) bits_left: f64,
    /// Instruction set of the kernels that ran.
    pub(crate) isa: String,
    /// Number of threads that ran the demonstration.
    pub(crate) threads: usize,
    /// Peak memory of the process, where the system tells.
    pub(crate) peak_memory_bytes: Option<u64>,
    /// Parameters that the demonstration used.
    pub(crate) params: Params,
    /// Bytes that keys and ciphertexts take.
    pub(crate) sizes: Sizes,
    /// Loss of each column against double precision.
    pub(crate) loss: Vec<ColumnLoss>,
    /// Every encrypted result beside the plain one.
    pub(crate) checks: Vec<Check>,
}

/// Parameters of the demonstration in numbers.
#[derive(Debug, Serialize)]
pub(crate) struct Params {
    scheme: &'static str,
    /// Reason for the scheme, if the command chose it.
    scheme_reason: Option<String>,
    /// Work that is predicted for the job.
    predicted: Work,
    degree: usize,
    log2_q: f64,
    /// log2 of q and the special moduli: what security is counted for.
    log2_qp: f64,
    log2_qp_limit: Option<u32>,
    security: String,
    moduli: Vec<u64>,
    special_moduli: Vec<u64>,
    plain_moduli: Vec<u64>,
    /// Bits of the plaintext space of the job, sign included.
    plain_bits: u64,
    /// Bits of the largest sum the job can reach, sign included.
    needed_bits: u32,
    /// Number of slots of a segment of rows.
    segment: usize,
    /// Number of columns in a packed ciphertext.
    columns_per_ciphertext: usize,
    chunks: usize,
    /// Number of products of ciphertexts for each plaintext modulus.
    products: usize,
}

impl Report {
    /// Gathers the report of the demonstration.
    pub(crate) fn new(
        job: &Job,
        (params, sizes): (Params, Sizes),
        outcome: Outcome,
        checks: Vec<Check>,
        loss: Vec<ColumnLoss>,
        seconds: f64,
    ) -> Result<Self, CliError> {
        Ok(Self {
            ok: !checks.is_empty() && checks.iter().all(|check| check.equal),
            source: job.source.clone(),
            rows: job.rows,
            columns: job.columns.iter().map(|column| column.name.clone()).collect(),
            group_by: job.group_by.clone(),
            groups: job.groups.names.clone(),
            seconds,
            times: outcome.times,
            bits_left: outcome.bits_left,
            isa: sunzi::kernels::active_isa().map_err(CliError::input)?.to_string(),
            threads: rayon::current_num_threads(),
            peak_memory_bytes: memory::peak(),
            params,
            sizes,
            loss,
            checks,
        })
    }
}

impl Params {
    /// Returns the parameters of a plan and what they take in bytes; `auto` if the scheme was to be chosen.
    pub(crate) fn of(job: &Job, plan: &Plan, auto: bool) -> Result<(Self, Sizes), CliError> {
        let packed = plan.packed().ok_or_else(|| CliError::failure("the table is not packed"))?;
        let (parameters, layout) = (&plan.parameters, packed.layout());
        let log2 = |moduli: &[u64]| -> f64 { moduli.iter().map(|&q| (q as f64).log2()).sum() };
        let special_moduli = parameters.key_switching().special_moduli.clone();
        let log2_q = log2(parameters.moduli());
        let params = Self {
            scheme: parameters.name(),
            scheme_reason: plan.reasons.first().filter(|_| auto).cloned(),
            predicted: packed.work(),
            degree: parameters.degree(),
            log2_q,
            log2_qp: log2_q + log2(&special_moduli),
            log2_qp_limit: max_log2_modulus(parameters.degree().ilog2(), parameters.security()),
            security: parameters.security().to_string(),
            moduli: parameters.moduli().to_vec(),
            special_moduli,
            plain_moduli: parameters.plain_moduli().to_vec(),
            plain_bits: parameters.plain_moduli().iter().product::<BigUint>().bits(),
            needed_bits: 129 - job.bound().leading_zeros(),
            segment: layout.segment(),
            columns_per_ciphertext: layout.units(),
            chunks: layout.chunks(),
            products: layout.products().len() * layout.chunks(),
        };
        Ok((params, packed.sizes()))
    }
}
