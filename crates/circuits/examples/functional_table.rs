//! Tables of encrypted messages at 128 bits of security: time, noise beside its bound, and keys, with every result checked. Times are those of processors
//! on Linux, which other work changes less.
//!
//! Arguments are the bits of messages, rounds, the number of tables of one bootstrapping, and digits of key switching unless as the set has them:
//! `RAYON_NUM_THREADS=1 cargo run --release -p sunzi-circuits --example functional_table -- 8 3 1`
#![expect(clippy::print_stdout, reason = "it reports figures")]

mod bench;
mod clock;

use num_complex::Complex64;
use rand_core::Rng as _;
use sunzi_circuits::bootstrap::Set;
use sunzi_circuits::bootstrap::functional::{InterpolationOrder, Messages, Table};
use sunzi_ckks::{Ciphertext, Encoder};
use sunzi_rlwe::randomness;

use bench::{Bench, Outcome, gib};
use clock::timed;

impl Bench {
    fn encoder(&self) -> Outcome<Encoder> {
        Ok(Encoder::new(&self.context, self.context.max_slots())?)
    }

    fn encrypt(&self, slots: &[Complex64]) -> Outcome<Ciphertext> {
        let level = self.bootstrapper.blueprint().set().lowest_level();
        let plaintext = self.encoder()?.encode_at(slots, level, self.context.scale(level)?)?;
        Ok(self.context.encrypt_secret(&plaintext, &self.secret, &mut randomness::from_os()?)?)
    }

    /// Prints the largest error of a number, and returns how many messages are wrong.
    fn check(&self, out: &Ciphertext, of: Messages, expected: &[usize]) -> Outcome<usize> {
        let opened = self.encoder()?.decode(&self.context.decrypt(out, &self.secret)?)?;
        let exact = of.slots(expected)?;
        let off = opened.iter().zip(&exact).map(|(a, b)| (a.re - b.re).abs().max((a.im - b.im).abs()));
        let worst = off.fold(0.0, f64::max);
        let metadata = out.metadata();
        let bound = self.bootstrapper.noise(out);
        let wrong = of.of_slots(&opened).iter().zip(expected).filter(|(a, b)| a != b).count();
        println!(
            "  level {}, error of a number 2^{:.2}, bound 2^{:.2}; the next message begins at 2^{:.0}; {wrong} of {} wrong",
            metadata.level,
            worst.log2(),
            bound.log2(),
            -(of.modulus() as f64).log2(),
            expected.len(),
        );
        Ok(wrong)
    }
}

fn main() -> Outcome<()> {
    let arguments: Vec<usize> = std::env::args().skip(1).map(|a| a.parse()).collect::<Result<_, _>>()?;
    let [bits, rounds, count, ref digits @ ..] = arguments[..] else {
        return Err("give bits, rounds and tables".into());
    };
    let set = Set::for_tables(bits).ok_or("bits are from 1 to 10")?;
    let set = Set { digits: digits.first().copied().unwrap_or(set.digits), ..set };
    let (bench, of) = (Bench::new(&set)?, Messages::new(1 << bits)?);
    println!(
        "{set}: {} digits, log2 QP {:.0}, {} limbs, keys {:.2} GiB, matrices {:.2} GiB",
        set.digits,
        bench.bootstrapper.blueprint().log2_key_modulus(),
        set.parameters()?.moduli().len(),
        gib(bench.keys.byte_len()),
        gib(bench.bootstrapper.byte_len()),
    );
    let mut rng = randomness::from_os()?;
    let mut draw =
        |count: usize| -> Vec<usize> { (0..count).map(|_| rng.next_u64() as usize % of.modulus()).collect() };
    let order = if bits > 9 { InterpolationOrder::Third } else { InterpolationOrder::First };
    let (mut times, mut wrong) = (Vec::new(), 0);
    for _ in 0..rounds {
        let messages = draw(2 * bench.context.max_slots());
        let functions: Vec<Vec<usize>> = (0..count).map(|_| draw(of.modulus())).collect();
        let f = |function: &Vec<usize>| {
            Table::of_messages(of, of, order, |m| function.get(m).copied().unwrap_or(0))
        };
        let tables: Vec<Table> = functions.iter().map(f).collect::<Result<_, _>>()?;
        let mut a = bench.encrypt(&of.slots(&messages)?)?;
        let mut expected = messages;
        // The results of the first table go through all tables again.
        for _ in 0..4 {
            let all: Vec<&Table> = tables.iter().collect();
            let (out, time) = timed(|| bench.bootstrapper.apply(&a, &all, &bench.keys))?;
            times.push(time);
            let of_function = |function: &Vec<usize>| -> Vec<usize> {
                expected.iter().filter_map(|&m| function.get(m).copied()).collect()
            };
            let results: Vec<Vec<usize>> = functions.iter().map(of_function).collect();
            for (out, result) in out.iter().zip(&results) {
                wrong += bench.check(out, of, result)?;
            }
            let (Some(first), Some(result)) = (out.into_iter().next(), results.into_iter().next()) else {
                break;
            };
            (a, expected) = (first, result);
        }
    }
    times.sort_by(f64::total_cmp);
    let median = times.get(times.len() / 2).copied().unwrap_or(f64::NAN);
    let messages = 2 * bench.context.max_slots();
    println!(
        "{median:.2} s of processor time ({:.2} to {:.2}), {:.4} ms a message and table; {wrong} wrong",
        times.first().copied().unwrap_or(f64::NAN),
        times.last().copied().unwrap_or(f64::NAN),
        median * 1e3 / (messages * count.max(1)) as f64,
    );
    Ok(())
}
