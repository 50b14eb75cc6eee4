//! Encrypted integers at 128 bits of security: sums, products, comparisons and quotients of 2^16 integers at once, every result checked. Times are those of
//! processors on Linux, which other work changes less.
//!
//! Arguments are the bits of the integers, s for integers with a sign or u, and rounds:
//! `RAYON_NUM_THREADS=1 cargo run --release -p sunzi-circuits --example encrypted_integers -- 64 u 1`
#![expect(clippy::print_stdout, reason = "it reports figures")]

mod bench;
mod clock;

use rand_core::Rng as _;
use sunzi_circuits::bootstrap::Set;
use sunzi_circuits::integers::{IntegerError, IntegerEvaluator, IntegerKind, Integers};
use sunzi_rlwe::randomness;

use bench::{Bench, Outcome, gib};
use clock::timed;

const KINDS: &str = "bits are a multiple of 4 from 4 to 64";

/// An operation on encrypted integers, and what it does to clear ones.
type Operation<'a> = (
    &'a str,
    &'a dyn Fn(&IntegerEvaluator<'_>, &Integers, &Integers) -> Result<Integers, IntegerError>,
    &'a dyn Fn(i128, i128) -> i128,
);

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [bits, sign, rounds] = &arguments[..] else {
        return Err("give bits, s or u, and rounds".into());
    };
    let (kind, rounds) =
        (IntegerKind::new(bits.parse()?, sign == "s").ok_or(KINDS)?, rounds.parse::<usize>()?);
    let set = Set::for_integers();
    let (bench, mut rng) = (Bench::new(&set)?, randomness::from_os()?);
    describe(&set, &bench);
    let e = IntegerEvaluator::new(&bench.bootstrapper, &bench.keys)?;
    let divisor = 1000_i128.min(kind.range()[1] / 3);
    let square = |x: i128| x * x / 3;
    let operations: [Operation<'_>; 7] = [
        ("sum", &|e, a, b| e.carried(&e.add(a, b)?), &|x, y| x + y),
        ("product", &|e, a, b| e.multiply(a, b), &|x, y| x * y),
        ("greater of two", &|e, a, b| e.max(a, b), &i128::max),
        ("0 unless less", &|e, a, b| e.masked(&e.less(a, b)?, a), &|x, y| if x < y { x } else { 0 }),
        ("0 unless equal", &|e, a, b| e.masked(&e.equal(a, b)?, a), &|x, y| if x == y { x } else { 0 }),
        ("quotient by 1000", &|e, a, _| e.quotient_by_clear(a, divisor), &|x, _| x.div_euclid(divisor)),
        ("table of squares", &|e, a, _| e.table(a, kind, square), &|x, _| square(x)),
    ];
    // A table has at most 2^12 entries.
    let operations = operations.get(..if kind.bits() <= 12 { 7 } else { 6 }).unwrap_or_default();
    for _ in 0..rounds {
        let mut draw =
            || -> Vec<i128> { (0..e.capacity()).map(|_| kind.wrapped(i128::from(rng.next_u64()))).collect() };
        let (x, mut y) = (draw(), draw());
        // Every third pair is equal.
        y.iter_mut().zip(&x).step_by(3).for_each(|(y, x)| *y = *x);
        let mut encrypt = |values: &[i128]| {
            e.encrypt(kind, kind.range(), values, |plaintext| {
                bench.context.encrypt_secret(plaintext, &bench.secret, &mut rng)
            })
        };
        let (a, b) = (encrypt(&x)?, encrypt(&y)?);
        for (name, of_encrypted, of_clear) in operations {
            let (result, time) = timed(|| of_encrypted(&e, &a, &b))?;
            let opened = e.decrypt(&result, &bench.secret)?;
            let expected = x.iter().zip(&y).map(|(&x, &y)| kind.wrapped(of_clear(x, y)));
            let wrong = opened.iter().zip(expected).filter(|(got, expected)| *got != expected).count();
            println!(
                "{kind} {name}: {time:.1} s of processor time, {:.3} ms each, noise below 2^{:.1} of a digit's distance; {wrong} of {} wrong",
                time * 1e3 / x.len() as f64,
                e.largest_noise(&result).log2(),
                x.len(),
            );
        }
    }
    Ok(())
}

fn describe(set: &Set, Bench { keys, bootstrapper, .. }: &Bench) {
    let blueprint = bootstrapper.blueprint();
    println!(
        "{set}: {} digits of key switching, log2 QP {:.0}, keys {:.2} GiB, matrices {:.2} GiB; failure 2^{:.1} a look-up",
        set.digits,
        blueprint.log2_key_modulus(),
        gib(keys.byte_len()),
        gib(bootstrapper.byte_len()),
        blueprint.log2_failure(),
    );
}
