//! Products of encrypted matrices with encrypted matrices, all square, of numbers between −1 and 1.

use std::time::Instant;

use num_complex::Complex64;
use serde::Serialize;
use sunzi_circuits::matrix_batch::{Lines, MatrixBatch, MatrixKeys};
use sunzi_ckks::rotation::rotation_keys;
use sunzi_ckks::{Ciphertext, Context, Encoder, Evaluator, LevelRange, Parameters};
use sunzi_kernels::MatrixKernel;
use sunzi_rlwe::{RelinearizationKey, SecretKey, Security, randomness};

use crate::bench::matrices::{median, processor_seconds};
use crate::bench::{LabError, Result, check, on_threads};

/// log2 of the ring degree: the least at which one product has 128 bits of security.
const LOG2_DEGREE: u32 = 12;
/// Bits of ciphertexts and key switching together that 128 bits of security allow there.
const SECURE_BITS: u32 = 106;
/// Side of the matrices that one product by rotations takes.
const ROTATED: usize = 64;
/// Matrices of a batch that are compared with clear sums.
const CHECKED: usize = 2;
/// Bits of the largest number of the product that have to be right.
const RIGHT_BITS: f64 = 16.0;

/// Sizes and options of a measurement of products of encrypted matrices.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// Number of rows and columns of all matrices: a power of two from 64 to 4096.
    pub size: usize,
    /// Number of products that are timed.
    pub rounds: usize,
    /// Threads of the product.
    pub threads: usize,
    /// Whether there are about 2·√size Galois keys, and two key switches in place of one.
    pub few_keys: bool,
    /// Whether the operations of the same products by rotations are timed too.
    pub rotations: bool,
}

/// Times and sizes of products of encrypted matrices. Times are medians of the rounds, in seconds of the clock.
#[derive(Clone, Debug, Serialize)]
pub struct Product {
    /// Number of rows and columns of all matrices.
    pub size: usize,
    /// Number of matrices of each batch, which are multiplied at once.
    pub count: usize,
    /// Ring degree n.
    pub n: usize,
    /// log2 of the modulus of the factors.
    pub log_q: f64,
    /// log2 of the modulus of keys.
    pub log_qp: f64,
    /// Bits of security.
    pub security_bits: u32,
    /// Name of the kernel that multiplied.
    pub kernel: String,
    /// Threads of the product.
    pub threads: usize,
    /// Time of a product of matrices by columns with matrices by rows: rows, relinearised and rescaled.
    pub product_s: f64,
    /// Processor time of a product, where the system says and one thread computes.
    pub processor_s: Option<f64>,
    /// Time to bring factors from rows to columns, where they are not encrypted so.
    pub conversion_s: f64,
    /// Bytes of all keys in memory.
    pub key_bytes: usize,
    /// Bytes of the ciphertexts of a factor in memory.
    pub encrypted_bytes: usize,
    /// Bits of the largest number of the product that are right in the worst of the checked matrices.
    pub right_bits: f64,
    /// Bits of the largest entry that are right in the worst entry of a factor that was brought to columns.
    pub converted_bits: f64,
    /// Time of the same products by rotations `[JKLS18]` on blocks of 64 x 64, from the times of its operations.
    pub by_rotations_s: Option<f64>,
    /// Whether the checked numbers have as many right bits as they should.
    pub correct: bool,
    /// Number of rounds.
    pub rounds: usize,
}

/// Times products of encrypted matrices.
///
/// # Errors
/// [`LabError::Usage`] for a size that is no power of two from 64 to 4096, and without rounds; an operation that fails; threads that do not start.
pub fn run(request: Request) -> Result<Product> {
    let fits = request.size.is_power_of_two() && (64..=1 << LOG2_DEGREE).contains(&request.size);
    if !fits || request.rounds == 0 {
        let usage =
            "encrypted matrices take a size that is a power of two from 64 to 4096, and rounds from 1";
        return Err(LabError::Usage(usage.to_owned()));
    }
    on_threads(request.threads, || product(request))
}

/// Two moduli and a special one, with the largest scale at which sums of `size` products fit.
fn context(size: usize) -> Result<Context> {
    // Sums of numbers of at most 1 lie strictly within half of the modulus.
    let terms = size.ilog2() + 2;
    // 2·base + scale for a base of scale + terms.
    let scale_bits = (SECURE_BITS - 2 * terms - 1) / 3;
    let ranges = [LevelRange { levels: 1, scale_bits }];
    let base = scale_bits + terms;
    Ok(Context::new(
        &Parameters::from_ranges(LOG2_DEGREE, base, &ranges, Security::Bits128)?.with_digits(2)?,
    )?)
}

/// Numbers between −1 and 1 that look random.
fn numbers(count: usize, seed: u64) -> Vec<f64> {
    let most = 1_u64 << 30;
    let words = check::residues(count, 2 * most + 1, seed);
    words.into_iter().map(|word| (word as f64 - most as f64) / most as f64).collect()
}

fn product(Request { size, rounds, threads, few_keys, rotations }: Request) -> Result<Product> {
    let failed =
        |error: sunzi_circuits::CircuitError<sunzi_ckks::CkksError>| LabError::Failed(error.to_string());
    let context = context(size)?;
    let mut rng = randomness::from_os()?;
    let secret = SecretKey::generate(context.rlwe(), &mut rng)?;
    let generate = if few_keys { MatrixKeys::generate_few } else { MatrixKeys::generate };
    let keys = generate(&context, &secret, size, &mut rng).map_err(failed)?;
    let count = MatrixBatch::capacity(&context, size);
    let (a, b) = (numbers(count * size * size, 1), numbers(count * size * size, 2));
    let mut encrypt = |entries: &[f64], by: Lines| {
        MatrixBatch::encrypt(&context, size, [size; 2], entries, by, (&secret).into(), &mut rng)
            .map_err(failed)
    };
    let (rows, left, right) =
        (encrypt(&a, Lines::Rows)?, encrypt(&a, Lines::Columns)?, encrypt(&b, Lines::Rows)?);
    let evaluator = Evaluator::new(&context);
    let (mut times, mut processor, mut conversions) = (Vec::new(), Vec::new(), Vec::new());
    let (mut converted, mut result) = (rows.clone(), None);
    for _ in 0..rounds {
        drop(result.take());
        let start = Instant::now();
        converted = rows.by(&evaluator, Lines::Columns, &keys).map_err(failed)?;
        conversions.push(start.elapsed().as_secs_f64());
        let (start, before) = (Instant::now(), processor_seconds());
        result = Some(left.multiplied(&evaluator, &right, &keys).map_err(failed)?);
        times.push(start.elapsed().as_secs_f64());
        processor.extend(processor_seconds().zip(before).map(|(after, before)| after - before));
    }
    let open = |batch: &MatrixBatch| batch.decrypt(&context, &secret).map_err(failed);
    let opened = result.as_ref().map_or(Ok(Vec::new()), open)?;
    let errors = open(&converted)?.iter().zip(&a).map(|(got, entry)| (got - entry).abs()).fold(0.0, f64::max);
    let right_bits = right_bits(size, &a, &b, &opened);
    let by_rotations_s = if rotations { Some(by_rotations(size, count, rounds)?) } else { None };
    Ok(Product {
        size,
        count,
        n: context.degree(),
        log_q: context.log2_modulus_at(context.depth())?,
        log_qp: context.rlwe().log2_key_modulus(),
        security_bits: 128,
        kernel: MatrixKernel::active()?.to_string(),
        threads,
        product_s: median(&mut times).unwrap_or(f64::NAN),
        processor_s: (threads == 1).then(|| median(&mut processor)).flatten(),
        conversion_s: median(&mut conversions).unwrap_or(f64::NAN),
        key_bytes: keys.byte_len(),
        encrypted_bytes: bytes(left.ciphertexts()),
        right_bits,
        converted_bits: -errors.log2(),
        by_rotations_s,
        correct: right_bits >= RIGHT_BITS,
        rounds,
    })
}

fn bytes(lines: &[Ciphertext]) -> usize {
    lines.iter().flat_map(|line| line.parts()).map(|part| part.byte_len()).sum()
}

/// Compares the first matrices of a batch with clear sums; returns the bits of the largest number that are right in the worst.
fn right_bits(size: usize, a: &[f64], b: &[f64], opened: &[f64]) -> f64 {
    let (mut worst, mut largest) = (0.0_f64, 0.0_f64);
    let matrices = a.chunks(size * size).zip(b.chunks(size * size)).zip(opened.chunks(size * size));
    for ((a, b), opened) in matrices.take(CHECKED) {
        for (row, opened) in a.chunks(size).zip(opened.chunks(size)).step_by((size / 64).max(1)) {
            let mut sums = vec![0.0; size];
            for (entry, numbers) in row.iter().zip(b.chunks(size)) {
                sums.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += entry * number);
            }
            for (sum, number) in sums.iter().zip(opened) {
                worst = worst.max((number - sum).abs());
                largest = largest.max(sum.abs());
            }
        }
    }
    (largest / worst.max(f64::MIN_POSITIVE)).log2()
}

/// The time of `count` products by `[JKLS18, Algorithm 2]` on blocks of 64 x 64 at n = 2^13, one block a ciphertext, by the times
/// of its operations: 38 rotations for both first maps in baby and giant steps, for 63 shifts of columns two hoisted rotations
/// with masks and for 63 shifts of rows one, and a sum of 64 products.
fn by_rotations(size: usize, count: usize, rounds: usize) -> Result<f64> {
    const FIRST: f64 = 38.0;
    let ranges = [LevelRange { levels: 3, scale_bits: 33 }];
    let parameters =
        Parameters::from_ranges(LOG2_DEGREE + 1, 40, &ranges, Security::Bits128)?.with_digits(2)?;
    let context = Context::new(&parameters)?;
    let mut rng = randomness::from_os()?;
    let secret = SecretKey::generate(context.rlwe(), &mut rng)?;
    let keys = rotation_keys(&context, &secret, [1], false, context.depth(), &mut rng)?;
    let key = RelinearizationKey::generate(context.rlwe(), &secret, &mut rng)?;
    let encoder = Encoder::new(&context, ROTATED * ROTATED)?;
    let zeros = encoder.encode(&vec![Complex64::ZERO; ROTATED * ROTATED])?;
    let evaluator = Evaluator::new(&context);
    let top = evaluator.with_magnitude(&context.encrypt_secret(&zeros, &secret, &mut rng)?, 1e-6)?;
    let middle = evaluator.drop_to(&top, 2)?;
    let low = evaluator.drop_to(&top, 1)?;
    let mask = encoder.encode_at(&vec![Complex64::ZERO; ROTATED * ROTATED], 2, context.scale(2)?)?;
    let shifts = ROTATED - 1;
    let mut times = Vec::new();
    for _ in 0..rounds {
        let start = Instant::now();
        evaluator.rotate(&top, 1, &keys)?;
        let first = start.elapsed().as_secs_f64() * FIRST;
        let start = Instant::now();
        for hoisted in [evaluator.hoist(&middle)?, evaluator.hoist(&middle)?, evaluator.hoist(&middle)?] {
            for _ in 0..shifts {
                hoisted.rotate(1, &keys)?;
            }
        }
        for _ in 0..2 * shifts {
            evaluator.multiply_plain(&middle, &mask)?;
        }
        evaluator.sum_of_products((0..ROTATED).map(|_| (&low, &low)), &key)?;
        times.push(first + start.elapsed().as_secs_f64());
    }
    let blocks = (size / ROTATED).pow(3) * count;
    Ok(median(&mut times).unwrap_or(f64::NAN) * blocks as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_product_is_right() {
        let made =
            run(Request { size: 64, rounds: 1, threads: 1, few_keys: true, rotations: false }).unwrap();
        assert!(made.correct && made.count == 32, "{made:?}");
        for size in [0, 32, 96, 8192] {
            assert!(run(Request { size, rounds: 1, threads: 1, few_keys: true, rotations: false }).is_err());
        }
    }

    #[test]
    fn a_wrong_number_costs_bits() {
        let (a, b) = (numbers(64 * 64, 1), numbers(64 * 64, 2));
        let entry = |i: usize, j: usize| -> f64 { (0..64).map(|k| a[64 * i + k] * b[64 * k + j]).sum() };
        let mut opened: Vec<f64> = (0..64 * 64).map(|at| entry(at / 64, at % 64)).collect();
        assert!(right_bits(64, &a, &b, &opened) > 40.0, "exact");
        opened[70] += 1.0;
        assert!(right_bits(64, &a, &b, &opened) < 16.0);
    }
}
