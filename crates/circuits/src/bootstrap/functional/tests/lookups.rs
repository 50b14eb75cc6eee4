//! Look-ups of every width: uniform and adversarial messages, and failures at inflated noise.

use super::*;

/// Checks a table at these messages, moved by up to `share` of the distance to the middle between two: no result is wrong or beyond its bound.
fn none_wrong(bench: &mut Bench, table: &Table, messages: &[usize], share: f64) {
    let of = Messages::new(table.values().len()).unwrap();
    let step = 1.0 / of.modulus() as f64;
    let turn = |i: usize| if i.is_multiple_of(2) { share * step } else { -share * step };
    let moved = |(i, slot): (usize, Complex64)| slot + Complex64::new(turn(i), -turn(i / 2));
    let slots: Vec<Complex64> = of.slots(messages).unwrap().into_iter().enumerate().map(moved).collect();
    let a = bench.encrypt_lowest(&slots);
    let out = bench.bootstrapper.apply(&a, &[table], &bench.keys).unwrap().remove(0);
    let (worst, own) = bench.check(&out, table, messages);
    let bound = own + table.error(share * step + bench.bootstrapper.noise(&a));
    println!(
        "  {} values moved by {share} of the distance: worst 2^{:.1}, bound 2^{:.1}",
        messages.len(),
        worst.log2(),
        bound.log2()
    );
    assert!(worst <= bound, "{worst:e} {bound:e}");
    assert!(worst < step, "a wrong message: {worst:e}");
}

/// Runs random, equal, alternating and extreme messages through a random table.
fn all_kinds(set: &Set, bits: usize, order: InterpolationOrder) {
    let mut bench = Bench::for_tables(set);
    let of = Messages::new(1 << bits).unwrap();
    let random = bench.random(1 << bits);
    // Two values may be equal.
    let f = |m: usize| if bits == 1 { 1 - m } else { random[m] };
    let table = Table::of_messages(of, of, order, f).unwrap();
    // As much as leaves results half of the distance: 6.6·(share/2)² of it in first order.
    let most = match order {
        InterpolationOrder::First => 0.5 / (1 << bits) as f64,
        InterpolationOrder::Third => 0.25 / (1 << bits) as f64,
    };
    let edge = (most / 6.6).sqrt();
    let count = 2 * bench.context.max_slots();
    let p = of.modulus();
    println!("{set}: {bits} bits, edge at {edge:.4}");
    let messages = bench.random(p);
    none_wrong(&mut bench, &table, &messages, 0.0);
    none_wrong(&mut bench, &table, &messages, edge);
    let kinds: [fn(usize, usize) -> usize; 3] =
        [|_, p| p / 2, |i, p| p / 2 - 1 + i % 2, |i, p| (i % 2) * (p - 1)];
    for kind in kinds {
        let messages: Vec<usize> = (0..count).map(|i| kind(i, p)).collect();
        none_wrong(&mut bench, &table, &messages, edge);
    }
}

#[test]
fn small_rings_have_no_wrong_result() {
    for bits in [1, 3, 6] {
        all_kinds(&Set::insecure_for_tables(9, bits), bits, InterpolationOrder::First);
    }
    all_kinds(&Set::insecure_for_tables(9, 5), 4, InterpolationOrder::Third);
}

/// Tests noise so large that messages are taken for others: a message is wrong just where R in the clear says so, and as often as a normal
/// variable leaves the distance.
#[test]
fn failures_are_those_of_the_noise() {
    let mut bench = Bench::for_tables(&Set::insecure_for_tables(11, 4));
    let of = Messages::new(16).unwrap();
    // Neighbours differ by half of the range, so that a result is wrong where the noise is larger than half of the distance.
    let table = Table::of_messages(of, of, InterpolationOrder::First, |m| 8 * (m % 2)).unwrap();
    let deviation = 0.5 / 16.0;
    let (mut wrong, mut all) = (0, 0);
    for _ in 0..8 {
        let messages = bench.random(16);
        let mut uniform = || (bench.rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        let mut normal =
            || (-2.0 * (1.0 - uniform()).ln()).sqrt() * (2.0 * std::f64::consts::PI * uniform()).cos();
        let slots = of.slots(&messages).unwrap();
        let slots: Vec<Complex64> =
            slots.iter().map(|slot| slot + deviation * Complex64::new(normal(), normal())).collect();
        let a = bench.encrypt_lowest(&slots);
        let out = bench.bootstrapper.apply(&a, &[&table], &bench.keys).unwrap().remove(0);
        let opened = bench.open_slots(&out);
        let parts = |of: &[Complex64]| -> Vec<f64> {
            of.iter().map(|slot| slot.re).chain(of.iter().map(|slot| slot.im)).collect()
        };
        for ((x, y), m) in parts(&slots).into_iter().zip(parts(&opened)).zip(messages) {
            let clear = 2.0 * table.series.at_complex(Complex64::cis(std::f64::consts::PI * x)).re;
            assert!((y - clear).abs() < 1e-4, "{y} for {clear} at {x}");
            wrong += usize::from((y - table.values()[m]).abs() > 0.5);
            all += 1;
        }
    }
    // P(|X| > 2σ) = 0.0455, but for what goes two steps and back; four deviations of the count.
    let share = wrong as f64 / all as f64;
    let deviation = (0.0455 * 0.9545 / all as f64).sqrt();
    assert!((share - 0.0455).abs() < 4.0 * deviation, "{wrong} of {all} are wrong: {share:.4}");
}

/// Runs 10^5 look-ups of every width and more on the shipped sets.
#[test]
#[ignore = "long: n = 2^16, ten sets, 8 GiB"]
fn shipped_sets_have_no_wrong_result() {
    for bits in 1..=10 {
        let order = if bits > 9 { InterpolationOrder::Third } else { InterpolationOrder::First };
        all_kinds(&Set::for_tables(bits).unwrap(), bits, order);
    }
}
