//! Times transforms of real rings beside those of whole rings of equal degree, in alternation; prints medians in microseconds.
//!
//! `cargo run --release -p sunzi-kernels --example real_speed`
#![expect(clippy::print_stdout, reason = "what it is for")]

use std::time::Instant;

use sunzi_kernels::{Buffer, KernelError, Modulus, NttPlan};

/// Rounds by turns, of which the median counts.
const ROUNDS: usize = 400;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for log2 in [12_u32, 13, 14, 15] {
        let n = 1_usize << log2;
        let q = sunzi_math::primes_with_bits(46, 4 * n as u64, 1)?.first().copied().unwrap_or_default();
        let modulus = Modulus::new(q)?;
        let plans = [NttPlan::new(modulus, n)?, NttPlan::real(modulus, n)?];
        let words: Vec<u64> = (0..n as u64).map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15) % q).collect();
        let mut data = Buffer::from_slice(&words);
        let mut times = [const { Vec::new() }; 4];
        for _ in 0..ROUNDS {
            for (i, plan) in plans.iter().enumerate() {
                let mut time = |at: usize, run: &mut dyn FnMut() -> Result<(), KernelError>| {
                    let start = Instant::now();
                    run()?;
                    if let Some(times) = times.get_mut(at) {
                        times.push(start.elapsed().as_nanos());
                    }
                    Ok::<(), KernelError>(())
                };
                time(i, &mut || plan.forward(&mut data))?;
                time(2 + i, &mut || plan.inverse(&mut data))?;
            }
        }
        let [forward, real, inverse, real_inverse] = times.map(|mut times| {
            times.sort_unstable();
            times.get(times.len() / 2).copied().unwrap_or_default() as f64 / 1e3
        });
        println!(
            "n 2^{log2}: forward {forward:.2} us, real {real:.2} us ({:+.1} %); inverse {inverse:.2} us, real \
             {real_inverse:.2} us ({:+.1} %)",
            100.0 * (real / forward - 1.0),
            100.0 * (real_inverse / inverse - 1.0)
        );
    }
    Ok(())
}
