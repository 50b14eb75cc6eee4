//! Products of a plain matrix with an encrypted one, both square, of integers of 16 bits.

use std::time::Instant;

use num_complex::Complex64;
use serde::Serialize;
use sunzi_circuits::linear_transform::{Diagonals, LinearTransform, LinearTransformError, Plan};
use sunzi_circuits::matrix_product::{EncryptedMatrix, Packing};
use sunzi_ckks::{Context, Encoder, Evaluator, LevelRange, Parameters, PlainMatrix, rotation::rotation_keys};
use sunzi_kernels::MatrixKernel;
use sunzi_math::primes_below;
use sunzi_rlwe::{SecretKey, Security, randomness};

use crate::bench::{LabError, Result, check, on_threads};

/// Largest integer of 16 bits, which both matrices reach at most.
const LARGEST: f64 = 32767.0;
/// log2 of the ring degree: the least at which the modulus has 128 bits of security.
const LOG2_DEGREE: u32 = 12;
/// Bits of the entries of both matrices.
const BITS: u32 = 16;
/// Rows of the product that are compared with clear sums.
const CHECKED_ROWS: usize = 64;
/// Size of both matrices for which bars are set, in seconds of one thread: with the plain matrix prepared, and without.
const BAR_SIZE: usize = 4096;
const BARS: [f64; 2] = [5.0, 10.0];
/// Bits of the largest number of the product that have to be right.
const RIGHT_BITS: f64 = 16.0;

/// Sizes and options of a measurement of products of matrices.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// Number of rows and columns of both matrices.
    pub size: usize,
    /// Places of the numbers of a row.
    pub packing: Packing,
    /// Number of products that are timed.
    pub rounds: usize,
    /// Threads of the product.
    pub threads: usize,
    /// Whether one product of the matrix with a vector is timed too, by diagonals and rotations.
    pub rotations: bool,
}

/// Times and sizes of a product of matrices. Times are in seconds, medians of the rounds; nothing is converted before or
/// after a product, so that they hold all of it.
#[derive(Clone, Debug, Serialize)]
pub struct Product {
    /// Number of rows and columns of both matrices.
    pub size: usize,
    /// Places of the numbers of a row.
    pub packing: String,
    /// Ring degree n.
    pub n: usize,
    /// log2 of the modulus of ciphertexts. There are no keys.
    pub log_q: f64,
    /// Bits of security.
    pub security_bits: u32,
    /// Name of the kernel that multiplied.
    pub kernel: String,
    /// Threads of the product.
    pub threads: usize,
    /// Median time of a product with a prepared matrix, in seconds of the clock.
    pub product_s: f64,
    /// Least time of a product, in seconds of the clock.
    pub least_s: f64,
    /// Median processor time of a product, in seconds; where the system says and one thread computes.
    pub processor_s: Option<f64>,
    /// Time to prepare the plain matrix, in seconds of the clock.
    pub preparation_s: f64,
    /// Bytes of the ciphertexts of each encrypted matrix in memory.
    pub encrypted_bytes: u64,
    /// Bytes of the prepared matrix in memory.
    pub plain_bytes: usize,
    /// Bits of the largest number of the product that are right in the worst of the checked numbers.
    pub right_bits: f64,
    /// Numbers of the product that were compared with clear sums.
    pub checked: usize,
    /// Time of the same work by rotations, in seconds of the clock: the median of products with one vector, whose slots hold two
    /// columns, times half of the columns.
    pub by_rotations_s: Option<f64>,
    /// Whether both bars are met, for the size that they are set for.
    pub met: Option<bool>,
    /// Whether the checked numbers have as many right bits as they should.
    pub correct: bool,
    /// Number of rounds.
    pub rounds: usize,
}

/// Times products of matrices.
///
/// # Errors
/// [`LabError::Usage`] for a size of 0, and for rotations of a size that is no power of two up to 4096; an operation that fails; threads that do not start.
pub fn run(request: Request) -> Result<Product> {
    if request.size == 0 || request.rounds == 0 {
        return Err(LabError::Usage("a size or rounds of 0: give at least 1".to_owned()));
    }
    if request.rotations && !(request.size.is_power_of_two() && request.size <= 4096) {
        return Err(LabError::Usage("rotations take a size that is a power of two up to 4096".to_owned()));
    }
    on_threads(request.threads, || product(request))
}

/// Parameters of one modulus, the largest whose residues have seven bytes or six, and the largest scale at which products fit: numbers grow by
/// the norm of the plain matrix.
fn context(packing: Packing, norm: f64) -> Result<Context> {
    // Signed bytes hold numbers up to 0x7F…7F.
    let largest = match packing {
        Packing::Slots => 0x7F_7F7F_7F7F_7F7F,
        Packing::Coefficients => 0x7F7F_7F7F_7F7F,
    };
    let moduli = primes_below(2 * largest + 2, 2 << LOG2_DEGREE, 1)?;
    let log_q = moduli.iter().map(|&q| (q as f64).log2()).sum::<f64>();
    let scale_bits = (log_q - 1.0 - norm.log2()).floor() as u32;
    let parameters = Parameters::new(LOG2_DEGREE, moduli, vec![1], scale_bits, Security::Bits128);
    Ok(Context::new(&parameters)?)
}

/// Integers of 16 bits that look random.
fn integers(size: usize, seed: u64) -> Vec<f64> {
    let words = check::residues(size * size, 2 * LARGEST as u64 + 1, seed);
    let integers = words.into_iter().map(|word| word as f64 - LARGEST);
    // With the largest integer among them the scale of the plain matrix is 1, and no entry is rounded.
    std::iter::once(LARGEST).chain(integers.skip(1)).collect()
}

/// Times the product of a matrix with one encrypted vector by diagonals in baby and giant steps, at n = 2^13 with a level of 40
/// bits; returns the time of as many as the columns of the matrix take, two a vector.
fn by_rotations(size: usize, plain: &[f64], rounds: usize) -> Result<f64> {
    let ranges = [LevelRange { levels: 1, scale_bits: 40 }];
    let parameters =
        Parameters::from_ranges(LOG2_DEGREE + 1, 50, &ranges, Security::Bits128)?.with_digits(2)?;
    let context = Context::new(&parameters)?;
    let entry = |i: usize, j: usize| plain.get(i * size + j).copied().unwrap_or_default() / LARGEST;
    let failed = |error: LinearTransformError| LabError::Failed(error.to_string());
    let matrix = Diagonals::from_entries(size, |i, j| entry(i, j).into()).map_err(failed)?;
    let plan = Plan::new(&context, &matrix, 1).map_err(failed)?;
    let steps = plan.rotations();
    let transform = LinearTransform::encode(&context, &matrix, plan).map_err(failed)?;
    let mut rng = randomness::from_os()?;
    let secret = SecretKey::generate(context.rlwe(), &mut rng)?;
    let keys = rotation_keys(&context, &secret, steps, false, 1, &mut rng)?;
    // Zeros: sums of products of numbers fit whatever the matrix is.
    let vector = Encoder::new(&context, size)?.encode(&vec![Complex64::ZERO; size])?;
    let evaluator = Evaluator::new(&context);
    let vector = evaluator.with_magnitude(&context.encrypt_secret(&vector, &secret, &mut rng)?, 1e-6)?;
    let mut times = Vec::new();
    for _ in 0..rounds {
        let start = Instant::now();
        transform.apply(&evaluator, &vector, &keys).map_err(failed)?;
        times.push(start.elapsed().as_secs_f64());
    }
    Ok(median(&mut times).unwrap_or(f64::NAN) * size.div_ceil(2) as f64)
}

fn product(Request { size, packing, rounds, threads, rotations }: Request) -> Result<Product> {
    let (plain, numbers) = (integers(size, 1), integers(size, 2));
    let start = Instant::now();
    let matrix = PlainMatrix::new(size, size, &plain, BITS)?;
    let preparation_s = start.elapsed().as_secs_f64();
    let context = context(packing, matrix.norm())?;
    let mut rng = randomness::from_os()?;
    let secret = SecretKey::generate(context.rlwe(), &mut rng)?;
    // Two numbers make a slot of at most 1.
    let unit = LARGEST * if packing == Packing::Slots { 2_f64.sqrt() } else { 1.0 };
    let scaled: Vec<f64> = numbers.iter().map(|number| number / unit).collect();
    let encrypted = EncryptedMatrix::encrypt(&context, size, &scaled, packing, (&secret).into(), &mut rng)?;
    drop(scaled);
    let evaluator = Evaluator::new(&context);
    let (mut times, mut processor, mut result) = (Vec::new(), Vec::new(), None);
    for _ in 0..rounds {
        drop(result.take());
        let (start, before) = (Instant::now(), processor_seconds());
        result = Some(encrypted.multiplied(&evaluator, &matrix)?);
        times.push(start.elapsed().as_secs_f64());
        processor.extend(processor_seconds().zip(before).map(|(after, before)| after - before));
    }
    let mut opened = result.map_or(Ok(Vec::new()), |result| result.decrypt(&context, &secret))?;
    opened.iter_mut().for_each(|number| *number *= unit);
    let (right_bits, checked) = right_bits(size, &plain, &numbers, &opened);
    let product_s = median(&mut times).unwrap_or(f64::NAN);
    let by_rotations_s = if rotations { Some(by_rotations(size, &plain, rounds)?) } else { None };
    let correct = checked > 0 && right_bits >= RIGHT_BITS;
    let [with, without] = BARS;
    let met = correct && product_s <= with && product_s + preparation_s <= without;
    Ok(Product {
        size,
        packing: format!("{packing:?}").to_lowercase(),
        n: context.degree(),
        log_q: context.log2_modulus_at(0)?,
        security_bits: 128,
        kernel: MatrixKernel::active()?.to_string(),
        threads,
        product_s,
        least_s: times.iter().copied().fold(f64::INFINITY, f64::min),
        processor_s: (threads == 1).then(|| median(&mut processor)).flatten(),
        preparation_s,
        encrypted_bytes: (16 * context.degree() * size * size.div_ceil(context.degree())) as u64,
        plain_bytes: matrix.byte_len(),
        right_bits,
        checked,
        by_rotations_s,
        met: (size == BAR_SIZE && threads == 1).then_some(met),
        correct,
        rounds,
    })
}

/// The middle of a list of numbers, which is sorted.
pub(super) fn median(times: &mut [f64]) -> Option<f64> {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied()
}

/// Compares rows of a product with clear sums of integers; returns the bits of the largest number that are right in the worst
/// of them, and how many numbers were compared.
fn right_bits(size: usize, plain: &[f64], numbers: &[f64], opened: &[f64]) -> (f64, usize) {
    let (mut worst, mut largest, mut checked) = (0.0_f64, 0.0_f64, 0);
    let step = (size / CHECKED_ROWS).max(1);
    for (row, opened) in plain.chunks(size).zip(opened.chunks(size)).step_by(step) {
        // Integers below 2^53.
        let mut sums = vec![0.0; size];
        for (entry, numbers) in row.iter().zip(numbers.chunks(size)) {
            sums.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += entry * number);
        }
        for (sum, number) in sums.iter().zip(opened) {
            worst = worst.max((number - sum).abs());
            largest = largest.max(sum.abs());
            checked += 1;
        }
    }
    ((largest / worst.max(f64::MIN_POSITIVE)).log2(), checked)
}

/// Processor time of this thread in seconds, where Linux says it.
pub(super) fn processor_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(text.split_ascii_whitespace().next()?.parse::<f64>().ok()? / 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_products_are_right() {
        for packing in [Packing::Slots, Packing::Coefficients] {
            for size in [1, 33, 100] {
                let made = run(Request { size, packing, rounds: 1, threads: 1, rotations: false }).unwrap();
                assert!(made.correct && made.met.is_none(), "{made:?}");
                assert_eq!(
                    made.checked,
                    made.size * made.size.min(made.size.div_ceil((made.size / 64).max(1)))
                );
            }
        }
        assert!(
            run(Request { size: 0, packing: Packing::Slots, rounds: 1, threads: 1, rotations: false })
                .is_err()
        );
    }

    #[test]
    fn a_wrong_number_costs_bits() {
        let (plain, numbers) = (integers(4, 1), integers(4, 2));
        let mut opened = vec![0.0; 16];
        for (i, opened) in opened.iter_mut().enumerate() {
            let terms = (0..4).map(|k| plain[i / 4 * 4 + k] * numbers[4 * k + i % 4]);
            *opened = terms.sum::<f64>();
        }
        assert!(right_bits(4, &plain, &numbers, &opened).0 > 40.0, "exact");
        opened[7] += opened[7].abs().max(1.0);
        assert!(right_bits(4, &plain, &numbers, &opened).0 < 16.0);
    }
}
