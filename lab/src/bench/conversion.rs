//! Base conversion from eight moduli to eight others, against eight forward transforms.

use sunzi_kernels::{Buffer, Conversion, Isa, KernelError, Modulus, NttPlan, active_isa};
use sunzi_math::{DEFAULT_PRIME_BOUND, mul_mod, primes_below};

use crate::alternate::Contender;
use crate::bench::tally::Counts;
use crate::bench::{Options, Result, Row, Series, check, side_by_side};

/// log2 of the ring degree at which base conversion is timed unless others are asked for.
pub const LOG_DEGREES: std::ops::RangeInclusive<u32> = 14..=14;
/// Number of input moduli, and of output moduli, of the timed base conversion.
const LIMBS: usize = 8;
/// Bar on the time of the base conversion / that of eight transforms with AVX-512 IFMA, and the degree it is
/// set for.
const RATIO_BAR: f64 = 0.55;
const BAR_DEGREE: usize = 1 << 14;

/// Times the base conversion at every degree asked for.
///
/// # Errors
/// A ring degree that has no transform.
pub fn run(options: &Options) -> Result<Vec<Row>> {
    options.rows(LOG_DEGREES, |log_n| Ok(vec![degree(1 << log_n, options.rounds)?]))
}

fn degree(n: usize, rounds: usize) -> Result<Row> {
    let job = Job::new(n)?;
    let mut output = vec![Buffer::zeroed(n); LIMBS];
    let mut convert = || job.convert(&mut output);
    let mut transformed = job.input.clone();
    let mut transform = || {
        let mut pairs = job.plans.iter().zip(&mut transformed);
        pairs.try_for_each(|(plan, limb)| plan.forward(limb))
    };
    let [ours, transforms] = side_by_side(rounds, [&mut convert, &mut transform])?;
    let row = Row {
        name: "base_conversion".to_owned(),
        n,
        log_q: job.from.iter().map(|q| (*q as f64).log2()).sum(),
        isa: job.plans.first().map(|plan| plan.modulus().isa().to_string()),
        bar: (n == BAR_DEGREE && active_isa()? == Isa::Avx512Ifma).then_some(RATIO_BAR),
        correct: job.holds(&output),
        rounds,
        ..Row::default()
    };
    Ok(row.against(&ours, format!("{LIMBS} forward transforms"), &transforms).judged())
}

/// Prices of a transform and of a base conversion, timed in the rounds of the operation that is made of them.
pub(crate) struct Prices {
    job: Job,
    output: Vec<Buffer>,
    transformed: Option<Buffer>,
}

impl Prices {
    pub(crate) fn new(n: usize) -> Result<Self> {
        let job = Job::new(n)?;
        let transformed = job.input.first().cloned();
        Ok(Self { job, output: vec![Buffer::zeroed(n); LIMBS], transformed })
    }

    /// Number of word products of one base conversion.
    pub(crate) fn products(n: usize) -> usize {
        LIMBS * LIMBS * n
    }

    /// The two contenders: one forward transform, and one base conversion of [`LIMBS`] limbs to as many.
    pub(crate) fn contenders(&mut self) -> (impl Contender + use<'_>, impl Contender + use<'_>) {
        let Self { job, output, transformed } = self;
        let transform = || {
            let pair = job.plans.first().zip(transformed.as_mut());
            pair.map_or(Ok(()), |(plan, limb)| plan.forward(limb))
        };
        (transform, || job.convert(output))
    }
}

/// The time of counted transforms and products, at the prices of the same rounds.
pub(crate) fn price(counts: Counts, n: usize, transform: &Series, conversion: &Series) -> Series {
    let conversions = counts.conversion_products as f64 / Prices::products(n) as f64;
    transform.scaled(counts.transforms() as f64).plus(&conversion.scaled(conversions))
}

/// Tables and data of one timed base conversion.
struct Job {
    from: Vec<u64>,
    to: Vec<u64>,
    /// Conversion matrix M_ij = (q / q_i) mod p_j, a row for each input modulus.
    matrix: Vec<Vec<u64>>,
    conversion: Conversion,
    plans: Vec<NttPlan>,
    input: Vec<Buffer>,
}

impl Job {
    fn new(n: usize) -> Result<Self> {
        let mut from = primes_below(DEFAULT_PRIME_BOUND, 2 * n as u64, 2 * LIMBS)?;
        let to = from.split_off(LIMBS);
        let quotient = |skipped: &u64, p: u64| {
            let others = from.iter().filter(|q| *q != skipped);
            others.fold(1, |product, q| mul_mod(product, q % p, p))
        };
        let row = |q| to.iter().map(|p| quotient(q, *p)).collect::<Vec<u64>>();
        let matrix: Vec<Vec<u64>> = from.iter().map(row).collect();
        let from_moduli = moduli(&from)?;
        let entry = |i: usize, j: usize| {
            let row = matrix.get(i).and_then(|row| row.get(j));
            row.copied().unwrap_or_default()
        };
        let conversion = Conversion::new(&from_moduli, &moduli(&to)?, entry)?;
        let plans = from_moduli.iter().map(|modulus| NttPlan::new(*modulus, n));
        let plans = plans.collect::<Result<Vec<_>, _>>()?;
        let input = from.iter().zip(10..);
        let input = input.map(|(q, seed)| Buffer::from_slice(&check::residues(n, *q, seed))).collect();
        Ok(Self { from, to, matrix, conversion, plans, input })
    }

    fn convert(&self, output: &mut [Buffer]) -> Result<(), KernelError> {
        let input: Vec<&[u64]> = self.input.iter().map(|limb| &**limb).collect();
        let mut columns: Vec<&mut [u64]> = output.iter_mut().map(|limb| &mut **limb).collect();
        self.conversion.apply(&input, &mut columns)
    }

    /// Whether `output` is what the definition of the base conversion says, coefficient by coefficient.
    fn holds(&self, output: &[Buffer]) -> bool {
        self.to.iter().zip(output).enumerate().all(|(j, (p, column))| {
            column.iter().enumerate().all(|(position, word)| {
                let terms = self.input.iter().zip(&self.matrix).map(|(limb, row)| {
                    let x = limb.get(position).copied().unwrap_or_default();
                    let m = row.get(j).copied().unwrap_or_default();
                    mul_mod(x % p, m, *p)
                });
                // Eight terms below 2^48 stay far below 2^64.
                terms.sum::<u64>() % p == *word
            })
        })
    }
}

fn moduli(values: &[u64]) -> Result<Vec<Modulus>, KernelError> {
    values.iter().map(|value| Modulus::new(*value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_conversion_is_timed_and_right() {
        let options = Options { rounds: 1, log_n: vec![10], ..Options::default() };
        let rows = run(&options).unwrap();
        assert_eq!(rows.len(), 1);
        assert!(rows[0].correct && rows[0].ratio.is_some(), "{rows:?}");
    }

    #[test]
    fn a_wrong_conversion_is_noticed() {
        let job = Job::new(1 << 10).unwrap();
        assert!(!job.holds(&vec![Buffer::zeroed(1 << 10); LIMBS]));
    }

    #[test]
    fn unsupported_degrees_and_no_rounds_are_errors() {
        assert!(run(&Options { log_n: vec![9], ..Options::default() }).is_err());
        assert!(run(&Options { rounds: 0, ..Options::default() }).is_err());
    }
}
