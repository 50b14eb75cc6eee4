//! Times cyclotomic transforms beside negacyclic ones of the nearest degree, in alternation; prints medians in microseconds.
//!
//! `cargo run --release -p sunzi-kernels --example cyclotomic_speed`
#![expect(clippy::print_stdout, reason = "what it is for")]

use std::error::Error;
use std::time::Instant;

use sunzi_kernels::{CyclotomicPlan, Modulus, NttPlan};
use sunzi_math::{DEFAULT_PRIME_BOUND, RingIndex, primes_below};

const ROUNDS: usize = 301;

fn prime(bound: u64, order: u64) -> Result<Modulus, Box<dyn Error>> {
    let primes = primes_below(bound, order, 1)?;
    Ok(Modulus::new(primes.first().copied().ok_or("no prime")?)?)
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}

fn main() -> Result<(), Box<dyn Error>> {
    for bound in [DEFAULT_PRIME_BOUND, 1 << 62] {
        table(bound)?;
    }
    Ok(())
}

/// Prints the times for the largest moduli below a bound.
fn table(bound: u64) -> Result<(), Box<dyn Error>> {
    println!("moduli of {} bits", bound.ilog2() + u32::from(!bound.is_power_of_two()));
    println!("     m      n  forward  inverse  2^k    forward  inverse  ratio per coefficient");
    for m in [3855, 4369, 13_107, 21_845, 32_767, 65_535] {
        let index = RingIndex::new(m)?;
        let n = index.degree();
        let near = n.next_power_of_two();
        let plan = CyclotomicPlan::new(prime(bound, index.root_order())?, &index)?;
        let other = NttPlan::new(prime(bound, 2 * near as u64)?, near)?;
        let mut a = sunzi_kernels::Buffer::from_slice(&(0..n as u64).collect::<Vec<_>>());
        let mut b = sunzi_kernels::Buffer::from_slice(&(0..near as u64).collect::<Vec<_>>());
        let mut times = [const { Vec::new() }; 4];
        for _ in 0..ROUNDS {
            let mut turn = |i: usize, f: &mut dyn FnMut() -> Result<(), sunzi_kernels::KernelError>| {
                let start = Instant::now();
                f()?;
                if let Some(list) = times.get_mut(i) {
                    list.push(start.elapsed().as_secs_f64() * 1e6);
                }
                Ok::<_, sunzi_kernels::KernelError>(())
            };
            turn(0, &mut || plan.forward(&mut a))?;
            turn(2, &mut || other.forward(&mut b))?;
            turn(1, &mut || plan.inverse(&mut a))?;
            turn(3, &mut || other.inverse(&mut b))?;
        }
        let [f, i, nf, ni] = times.map(median);
        let scale = near as f64 / n as f64;
        println!(
            "{m:6} {n:6} {f:8.1} {i:8.1}  {near:5} {nf:8.1} {ni:8.1}  {:.2} {:.2}",
            f / nf * scale,
            i / ni * scale
        );
    }
    Ok(())
}
