//! Every operation of BFV, at the largest default modulus that 128-bit security allows each degree.

use std::ops::RangeInclusive;

use sunzi_bfv::{Parameters, slot_sum_exponents};

use crate::alternate;
use crate::bench::shape::default_primes;
use crate::bench::{CHANGE, Job, LabError, Options, Result, Row, Shape, check, on_threads};

/// log2 of the ring degrees at which operations of BFV are timed unless others are asked for.
pub const LOG_DEGREES: RangeInclusive<u32> = 12..=15;
/// Plaintext modulus 65537, prime and ≡ 1 (mod 2n) up to n = 2^15: batching works at every degree timed.
pub(crate) const PLAIN_MODULUS: u64 = 65537;

/// Progress of a benchmark: the operation being timed, and the number of operations done.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Name of the operation of BFV being timed.
    pub name: &'static str,
    /// Ring degree of the operation being timed.
    pub n: usize,
    /// Number of operations finished so far, over all degrees.
    pub done: usize,
    /// Number of operations of the whole benchmark.
    pub total: usize,
}

/// Times every operation of BFV at every degree asked for; `progress` is called before each.
///
/// # Errors
/// A degree without a default parameter set; an operation that fails; threads that do not start.
pub fn run(options: &Options, progress: &mut (dyn FnMut(Progress) + Send)) -> Result<Vec<Row>> {
    options.validate()?;
    let degrees: Vec<u32> = options.log_degrees(LOG_DEGREES).collect();
    if let Some(got) = degrees.iter().find(|log_n| !LOG_DEGREES.contains(log_n)) {
        return Err(LabError::degree(*got, &LOG_DEGREES, CHANGE));
    }
    on_threads(options.threads, || run_here(options, &degrees, progress))
}

fn run_here(
    options: &Options,
    degrees: &[u32],
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for log_n in degrees {
        let parameters = parameters(*log_n)?;
        let n = parameters.degree();
        let values = [1, 2].map(|seed| check::residues(n, PLAIN_MODULUS, seed));
        let job = Job::new(&parameters, values, slot_sum_exponents(n, n))?;
        let correct = job.holds()?;
        let operations = job.operations();
        let total = operations.len() * degrees.len();
        for (name, operation) in operations {
            progress(Progress { name, n: job.n(), done: rows.len(), total });
            let row = time(&job, name, &operation, options.rounds)?;
            rows.push(Row { correct, threads: Some(options.threads), ..row });
        }
    }
    Ok(rows)
}

/// Times one operation of BFV, without a rival.
fn time(job: &Job, name: &'static str, operation: &dyn Fn() -> Result<()>, rounds: usize) -> Result<Row> {
    let series = alternate::alone(rounds, &mut || operation())?;
    Ok(Row {
        name: name.to_owned(),
        n: job.n(),
        log_q: job.log_q(),
        ours_us: series.median(),
        isa: Some(sunzi_kernels::active_isa()?.to_string()),
        rounds,
        ..Row::default()
    })
}

/// BFV parameters with as many default primes as 128-bit security allows at this degree.
pub(crate) fn parameters(log_n: u32) -> Result<Parameters> {
    Shape { log_n, limbs: default_primes(log_n), special: 0 }.parameters(PLAIN_MODULUS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_parameters_fit_the_security_table() {
        for log_n in LOG_DEGREES {
            assert!(parameters(log_n).unwrap().validate().is_ok(), "2^{log_n}");
        }
    }

    #[test]
    fn every_operation_is_timed_and_right() {
        let options = Options { rounds: 1, log_n: vec![12], ..Options::default() };
        let mut heard = 0;
        let rows = run(&options, &mut |_| heard += 1).unwrap();
        assert_eq!(rows.len(), heard);
        assert!(rows.iter().all(|row| row.correct && row.ours_us > 0.0), "{rows:?}");
    }

    #[test]
    fn a_degree_without_a_default_set_is_refused() {
        let options = Options { log_n: vec![16], ..Options::default() };
        let error = run(&options, &mut |_| ()).unwrap_err();
        assert!(error.to_string().contains("between 12 and 15, got 16: change --log-n"), "{error}");
    }
}
