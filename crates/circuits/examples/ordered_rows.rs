//! Order across encrypted rows at 128 bits of security: sorting, ranks, median, greatest integers and their places, sums, every result checked. Times are those of
//! processors on Linux, which other work changes less.
//!
//! Arguments are the bits of the integers, s for integers with a sign or u, and pairs of an operation and a number of rows; `bounds -20..99` are those of the
//! operations that follow, `list 5` how many integers `top` gives, `pairs`, `counting` and `network` sort by this way:
//! `RAYON_NUM_THREADS=1 cargo run --release -p sunzi-circuits --example ordered_rows -- 8 u sort 128 median 1000 argmax 10 bounds 0..99 sort 5000`
#![expect(clippy::print_stdout, reason = "it reports figures")]

mod bench;
mod clock;

use rand_core::Rng as _;
use sunzi_circuits::bootstrap::Set;
use sunzi_circuits::integers::{
    IntegerError, IntegerEvaluator, IntegerKind, IntegerWork, Integers, RowEvaluator, SortMethod,
};
use sunzi_rlwe::randomness;

use bench::{Bench, Outcome, gib};
use clock::timed;

const KINDS: &str = "bits are a multiple of 4 from 4 to 64";

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [bits, sign, operations @ ..] = &arguments[..] else {
        return Err("give bits, s or u, and pairs of an operation and a number of rows".into());
    };
    let kind = IntegerKind::new(bits.parse()?, sign == "s").ok_or(KINDS)?;
    let set = Set::for_integers();
    let (bench, mut rng) = (Bench::new(&set)?, randomness::from_os()?);
    println!("{set}: keys {:.2} GiB", gib(bench.keys.byte_len()));
    let work = IntegerWork::default();
    let integers = IntegerEvaluator::new(&bench.bootstrapper, &bench.keys)?.with_work(&work);
    let e = RowEvaluator::new(integers);
    let (mut bounds, mut list) = (kind.range(), 5);
    for pair in operations.chunks(2) {
        let [operation, rows] = pair else { return Err("an operation without a number of rows".into()) };
        if operation == "bounds" {
            let (low, high) = rows.split_once("..").ok_or("bounds are two integers, as 0..99")?;
            bounds = [low.parse()?, high.parse()?];
            continue;
        }
        let rows: usize = rows.parse()?;
        if operation == "list" {
            list = rows;
            continue;
        }
        let [low, high] = bounds;
        let x: Vec<i128> = (0..rows).map(|_| low + i128::from(rng.next_u64()) % (high - low + 1)).collect();
        let a = integers.encrypt(kind, bounds, &x, |plaintext| {
            bench.context.encrypt_secret(plaintext, &bench.secret, &mut rng)
        })?;
        let before = [work.look_ups(), work.key_switches()];
        let (results, time) = timed(|| applied(&e, operation, &a, list))?;
        let (mut wrong, mut noise) = (0, 0.0_f64);
        let expected = in_the_clear(operation, &x, kind, list);
        for (result, expected) in results.iter().zip(&expected) {
            let opened = integers.decrypt(result, &bench.secret)?;
            wrong += opened.iter().zip(expected).filter(|(got, expected)| got != expected).count();
            noise = noise.max(integers.largest_noise(result));
        }
        println!(
            "{operation} of {rows} {kind}: {time:.1} s of processor time, {} look-ups, {} key switches, noise below 2^{:.1} of a digit's distance; {wrong} of {} wrong",
            work.look_ups() - before[0],
            work.key_switches() - before[1],
            noise.log2(),
            expected.iter().map(Vec::len).sum::<usize>(),
        );
    }
    Ok(())
}

fn applied(
    e: &RowEvaluator<'_>,
    operation: &str,
    a: &Integers,
    list: usize,
) -> Result<Vec<Integers>, IntegerError> {
    let one = match operation {
        "sort" => e.sorted(a),
        "pairs" => e.sorted_by(a, SortMethod::Pairs),
        "counting" => e.sorted_by(a, SortMethod::Counting),
        "network" => e.sorted_by(a, SortMethod::Network),
        "rank" => e.ranks(a),
        "median" => e.median(a),
        "max" => e.max(a),
        "top" => return e.top(a, list),
        "argmax" => Ok(e.argmax(a)?.into_iter().nth(1).unwrap_or_else(|| a.clone())),
        _ => e.sum(a),
    };
    Ok(vec![one?])
}

/// Returns what the operation gives in every row, for each of its results.
fn in_the_clear(operation: &str, x: &[i128], kind: IntegerKind, list: usize) -> Vec<Vec<i128>> {
    let mut places: Vec<usize> = (0..x.len()).collect();
    places.sort_by_key(|&i| x.get(i).copied());
    let sorted: Vec<i128> = places.iter().filter_map(|&i| x.get(i).copied()).collect();
    let all = |value: Option<i128>| vec![value.unwrap_or_default(); x.len()];
    let one = match operation {
        "sort" | "pairs" | "counting" | "network" => sorted,
        "rank" => {
            let mut ranks: Vec<(usize, i128)> =
                places.iter().enumerate().map(|(rank, &place)| (place, rank as i128)).collect();
            ranks.sort_unstable();
            ranks.into_iter().map(|(_, rank)| rank).collect()
        }
        "median" => all(sorted.get((x.len() - 1) / 2).copied()),
        "max" => all(sorted.last().copied()),
        "top" => return sorted.iter().rev().take(list).map(|value| all(Some(*value))).collect(),
        "argmax" => all(x.iter().position(|value| Some(value) == sorted.last()).map(|place| place as i128)),
        _ => all(Some(kind.wrapped(x.iter().sum()))),
    };
    vec![one]
}
