//! Encrypted integers at 128 bits of security: sums, products, comparisons and quotients of 2^16 integers at once, every result checked. Times are those of
//! processors on Linux, which other work changes less.
//!
//! Arguments are the bits of the integers, s for integers with a sign or u, rounds, and, to look so many bits of them up in a table, how many:
//! `RAYON_NUM_THREADS=1 cargo run --release -p sunzi-circuits --example encrypted_integers -- 64 u 1 14`
#![expect(clippy::print_stdout, reason = "it reports figures")]

mod bench;
mod clock;

use rand_core::Rng as _;
use sunzi_circuits::bootstrap::Set;
use sunzi_circuits::integers::{IntegerError, IntegerEvaluator, IntegerKind, IntegerWork, Integers};
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
    let [bits, sign, rounds, table @ ..] = &arguments[..] else {
        return Err("give bits, s or u, rounds, and bits of a table if there is to be one".into());
    };
    let (kind, rounds) =
        (IntegerKind::new(bits.parse()?, sign == "s").ok_or(KINDS)?, rounds.parse::<usize>()?);
    let table = table.first().map(|bits| bits.parse::<u32>()).transpose()?;
    let set = Set::for_integers();
    let (bench, mut rng) = (Bench::new(&set)?, randomness::from_os()?);
    describe(&set, &bench);
    let divisor = 1000_i128.min(kind.range()[1] / 3);
    let operations: [Operation<'_>; 6] = [
        ("sum", &|e, a, b| e.carried(&e.add(a, b)?), &|x, y| x + y),
        ("product", &|e, a, b| e.multiply(a, b), &|x, y| x * y),
        ("greater of two", &|e, a, b| e.max(a, b), &i128::max),
        ("0 unless less", &|e, a, b| e.masked(&e.less(a, b)?, a), &|x, y| if x < y { x } else { 0 }),
        ("0 unless equal", &|e, a, b| e.masked(&e.equal(a, b)?, a), &|x, y| if x == y { x } else { 0 }),
        ("quotient by 1000", &|e, a, _| e.quotient_by_clear(a, divisor), &|x, _| x.div_euclid(divisor)),
    ];
    for _ in 0..rounds {
        let mut encrypt = |bounds: [i128; 2], equal: &[i128]| {
            let size = bounds[1] - bounds[0] + 1;
            let mut values: Vec<i128> =
                (0..capacity(&bench)).map(|_| bounds[0] + i128::from(rng.next_u64()) % size).collect();
            // Every third pair is equal.
            values.iter_mut().zip(equal).step_by(3).for_each(|(y, x)| *y = *x);
            let e = IntegerEvaluator::new(&bench.bootstrapper, &bench.keys)?;
            let a = e.encrypt(kind, bounds, &values, |plaintext| {
                bench.context.encrypt_secret(plaintext, &bench.secret, &mut rng)
            })?;
            Ok::<_, Box<dyn std::error::Error>>((a, values))
        };
        if let Some(bits) = table {
            let own = encrypt(kind.range().map(|end| end >> kind.bits().saturating_sub(bits)), &[])?;
            let entry = |x: i128| kind.wrapped(((x + 12_345) * 0x9E37_79B9_7F4A) >> 19);
            let name = format!("table of {bits} bits");
            report(&bench, (&name, &|e, a, _| e.table(a, kind, entry), &|x, _| entry(x)), [&own, &own])?;
            continue;
        }
        let a = encrypt(kind.range(), &[])?;
        let b = encrypt(kind.range(), &a.1)?;
        for operation in operations {
            report(&bench, operation, [&a, &b])?;
        }
    }
    Ok(())
}

fn capacity(bench: &Bench) -> usize {
    2 * bench.context.max_slots()
}

/// Runs an operation, and prints its time and how many results are wrong.
fn report(
    bench: &Bench,
    (name, of_encrypted, of_clear): Operation<'_>,
    [(a, x), (b, y)]: [&(Integers, Vec<i128>); 2],
) -> Outcome<()> {
    let work = IntegerWork::default();
    let e = IntegerEvaluator::new(&bench.bootstrapper, &bench.keys)?.with_work(&work);
    let (result, time) = timed(|| of_encrypted(&e, a, b))?;
    let opened = e.decrypt(&result, &bench.secret)?;
    let kind = result.kind();
    let expected = x.iter().zip(y).map(|(&x, &y)| kind.wrapped(of_clear(x, y)));
    let wrong = opened.iter().zip(expected).filter(|(got, expected)| *got != expected).count();
    println!(
        "{kind} {name}: {time:.1} s of processor time, {:.3} ms each, {} look-ups of {} tables, {} key switches beside them, noise below 2^{:.1} of a digit's distance; {wrong} of {} wrong",
        time * 1e3 / x.len() as f64,
        work.look_ups(),
        work.tables(),
        work.key_switches(),
        e.largest_noise(&result).log2(),
        x.len(),
    );
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
