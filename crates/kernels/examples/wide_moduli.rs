//! Times kernels for moduli below 2^48 and below 2^49 in alternation, and counts the instructions of both transforms with 52-bit
//! multiply-adds.
//!
//! `cargo run --release -p sunzi-kernels --example wide_moduli`
#![expect(clippy::print_stdout, reason = "what it is for")]

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use sunzi_kernels::counts::{count_forward, count_inverse};
use sunzi_kernels::{Buffer, Conversion, KernelError, Modulus, NttPlan};
use sunzi_math::{DEFAULT_PRIME_BOUND, primes_below};

const ROUNDS: usize = 401;
/// Bounds of the moduli that are compared: the ratios are to the first.
const BOUNDS: [u64; 3] = [DEFAULT_PRIME_BOUND, (1 << 52) / 10, 1 << 49];
/// Names of the timed kernels.
const NAMES: [&str; 6] = [
    "forward",
    "inverse",
    "product with keys, 3 terms",
    "product with keys, 5 terms",
    "product",
    "conversion, 3 to 4",
];

/// The operands of the timed kernels for one bound.
struct Subject {
    plan: NttPlan,
    conversion: Conversion,
    words: Vec<Buffer>,
    keys: Vec<Vec<u8>>,
    out: Vec<Buffer>,
}

impl Subject {
    fn new(bound: u64, n: usize) -> Result<Self, Box<dyn Error>> {
        let primes = primes_below(bound, 2 * n as u64, 7)?;
        let moduli = primes.iter().map(|&q| Modulus::new(q)).collect::<Result<Vec<_>, _>>()?;
        let (from, to) = moduli.split_at(3);
        let modulus = moduli.last().copied().ok_or("no modulus")?;
        let residues = |seed: u64| {
            let word = |i: u64| (seed + i).wrapping_mul(0x9e37_79b9_7f4a_7c15) % modulus.value();
            (0..n as u64).map(word).collect::<Vec<u64>>()
        };
        let mut keys = Vec::new();
        for seed in 0..10 {
            let mut bytes = vec![0; modulus.packed_residues_len(n)];
            modulus.pack_residues(&mut bytes, &residues(100 + seed))?;
            keys.push(bytes);
        }
        Ok(Self {
            plan: NttPlan::new(modulus, n)?,
            conversion: Conversion::new(from, to, |i, j| (i as u64 + 1) << (40 + j))?,
            words: (0..5).map(|seed| Buffer::from_slice(&residues(seed))).collect(),
            keys,
            out: (0..4).map(|_| Buffer::from_slice(&residues(9))).collect(),
        })
    }

    fn run(&mut self, kernel: usize) -> Result<(), KernelError> {
        let modulus = self.plan.modulus();
        let inputs: Vec<&[u64]> = self.words.iter().map(|word| &**word).collect();
        let [first, second, ..] = self.out.as_mut_slice() else { return Ok(()) };
        match kernel {
            0 => self.plan.forward(first),
            1 => self.plan.inverse(first),
            2 | 3 => {
                let terms = if kernel == 2 { 3 } else { 5 };
                let keys: Vec<&[u8]> = self.keys.iter().map(Vec::as_slice).collect();
                let halves = [keys.get(..terms), keys.get(5..5 + terms)].map(Option::unwrap_or_default);
                modulus.packed_inner_products(
                    [first, second],
                    inputs.get(..terms).unwrap_or_default(),
                    halves,
                )
            }
            4 => modulus.mul_assign(first, second),
            _ => {
                let mut out: Vec<&mut [u64]> = self.out.iter_mut().map(|word| &mut **word).collect();
                self.conversion.apply(inputs.get(..3).unwrap_or_default(), &mut out)
            }
        }
    }
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}

fn main() -> Result<(), Box<dyn Error>> {
    for log_n in 12..=16 {
        let mut subjects =
            BOUNDS.into_iter().map(|bound| Subject::new(bound, 1 << log_n)).collect::<Result<Vec<_>, _>>()?;
        println!(
            "n = 2^{log_n}, {}",
            subjects.first().map_or_else(String::new, |s| s.plan.modulus().isa().to_string())
        );
        for (kernel, name) in NAMES.into_iter().enumerate() {
            times(&mut subjects, kernel, name)?;
        }
        counts(&subjects);
    }
    Ok(())
}

/// Prints the time of one kernel for each bound in microseconds, and its median ratio to the time for the first.
fn times(subjects: &mut [Subject], kernel: usize, name: &str) -> Result<(), Box<dyn Error>> {
    let mut all = vec![Vec::new(); subjects.len()];
    for round in 0..ROUNDS {
        for turn in 0..subjects.len() {
            let place = (round + turn) % subjects.len();
            let (Some(subject), Some(times)) = (subjects.get_mut(place), all.get_mut(place)) else {
                continue;
            };
            let start = Instant::now();
            for _ in 0..4 {
                subject.run(kernel)?;
            }
            times.push(start.elapsed().as_secs_f64() * 1e6 / 4.0);
            black_box(&subject.out);
        }
    }
    let first = all.first().cloned().unwrap_or_default();
    for (bound, own) in BOUNDS.iter().zip(all) {
        let ratios = own.iter().zip(&first).map(|(a, b)| a / b).collect();
        println!(
            "  {name:27} {:.2} bits {:8.2} µs {:6.3}",
            (*bound as f64).log2(),
            median(own),
            median(ratios)
        );
    }
    Ok(())
}

/// Prints the instructions of the transforms with 52-bit multiply-adds.
fn counts(subjects: &[Subject]) {
    for (bound, subject) in BOUNDS.iter().zip(subjects) {
        let bits = (*bound as f64).log2();
        println!("  {bits:.2} bits: {:?}, {:?}", count_forward(&subject.plan), count_inverse(&subject.plan));
    }
}
