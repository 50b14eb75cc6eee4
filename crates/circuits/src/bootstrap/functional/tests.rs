use chacha20::rand_core::Rng as _;
use num_complex::Complex64;
use sunzi_ckks::{Ciphertext, Context};
use sunzi_rlwe::wire;

use super::bench::Bench;
use super::*;
use crate::bootstrap::{Blueprint, BootstrapError, BootstrapKeys, Bootstrapper, Chain, Set, SpecialModuli};

mod lookups;

impl Bench {
    fn for_tables(set: &Set) -> Self {
        Self::new(set, 7)
    }

    fn random(&mut self, modulus: usize) -> Vec<usize> {
        (0..2 * self.context.max_slots()).map(|_| self.rng.next_u64() as usize % modulus).collect()
    }

    fn encrypt_lowest(&mut self, slots: &[Complex64]) -> Ciphertext {
        self.encrypt_slots(slots, self.bootstrapper.blueprint().set().lowest_level())
    }

    /// Checks the results of a table for these messages, and returns the largest error of a number and its bound.
    fn check(&self, out: &Ciphertext, table: &Table, messages: &[usize]) -> (f64, f64) {
        let slots = self.open_slots(out);
        let half = slots.len();
        let parts = slots.iter().map(|slot| slot.re).chain(slots.iter().map(|slot| slot.im));
        let off = |(value, &m): (f64, &usize)| (value - table.values()[m]).abs();
        let worst = parts.zip(messages).map(off).fold(0.0, f64::max);
        assert_eq!(messages.len(), 2 * half);
        (worst, self.bootstrapper.noise(out))
    }
}

/// Tests tables of each width, at random messages: results within their bounds, fit for another table, by one bootstrapping for two tables.
#[test]
fn tables_of_every_width() {
    for (bits, levels) in [(1, 1), (2, 2), (4, 4), (8, 8)] {
        let mut bench = Bench::for_tables(&Set::insecure_for_tables(10, levels));
        let of = Messages::new(1 << bits).unwrap();
        let random = bench.random(1 << bits);
        let table =
            |f: &dyn Fn(usize) -> usize| Table::of_messages(of, of, InterpolationOrder::First, f).unwrap();
        let tables = [table(&|m| random[m]), table(&|m| m)];
        let messages = bench.random(1 << bits);
        let a = bench.encrypt_lowest(&of.slots(&messages).unwrap());
        let out = bench.bootstrapper.apply(&a, &[&tables[0], &tables[1]], &bench.keys).unwrap();
        for (out, table) in out.iter().zip(&tables) {
            let (worst, bound) = bench.check(out, table, &messages);
            println!("{bits} bits: worst 2^{:.1}, bound 2^{:.1}", worst.log2(), bound.log2());
            assert!(worst <= bound);
            assert!(bound < 1.0 / (1 << bits) as f64);
        }
    }
}

/// Tests messages at the ends and beside each other, moved to all but the middle between two: results are off by no more than the kernel allows.
#[test]
fn noise_at_the_edge_is_taken_away_as_stated() {
    let mut bench = Bench::for_tables(&Set::insecure_for_tables(9, 4));
    let of = Messages::new(16).unwrap();
    let table = Table::of_messages(of, of, InterpolationOrder::First, |m| 5 * m + 3).unwrap();
    let count = 2 * bench.context.max_slots();
    let kinds: [fn(usize) -> usize; 4] = [|_| 0, |_| 8, |i| 7 + i % 2, |i| i % 16];
    for kind in kinds {
        let messages: Vec<usize> = (0..count).map(kind).collect();
        for share in [0.01, 0.3, 0.9] {
            // Half of the distance of two numbers is 1/16.
            let noise = share / 16.0;
            let sign = |i: usize| if i.is_multiple_of(3) { noise } else { -noise };
            let moved = |(i, slot): (usize, Complex64)| slot + Complex64::new(sign(i), -sign(i + 1));
            let slots: Vec<Complex64> =
                of.slots(&messages).unwrap().into_iter().enumerate().map(moved).collect();
            let a = bench.encrypt_lowest(&slots);
            let out = bench.bootstrapper.apply(&a, &[&table], &bench.keys).unwrap();
            let (worst, own) = bench.check(&out[0], &table, &messages);
            assert!(worst <= table.error(noise) + own, "{share}: {worst:e} for {:e}", table.error(noise));
            assert!(worst >= 0.2 * table.error(noise) - own, "{share}: a bound far above {worst:e}");
        }
    }
}

/// Tests messages that are all zero, fresh and as the result of a table of zeros.
#[test]
fn zeros_go_through_tables() {
    let mut bench = Bench::for_tables(&Set::insecure_for_tables(9, 4));
    let of = Messages::new(4).unwrap();
    let table = |f: fn(usize) -> usize| Table::of_messages(of, of, InterpolationOrder::First, f).unwrap();
    let (zeros, other) = (table(|_| 0), table(|m| (m + 3) % 4));
    let messages = vec![0; 2 * bench.context.max_slots()];
    let fresh = bench.encrypt_lowest(&of.slots(&messages).unwrap());
    let out = bench.bootstrapper.apply(&fresh, &[&zeros, &other], &bench.keys).unwrap();
    let again = bench.bootstrapper.apply(&out[0], &[&other], &bench.keys).unwrap();
    for (out, table) in [(&out[0], &zeros), (&out[1], &other), (&again[0], &other)] {
        let (worst, bound) = bench.check(out, table, &messages);
        assert!(worst <= bound && bound < 0.25, "{worst:e} for {bound:e}");
    }
}

/// Tests that results go through tables again, that sums wrap, and that two messages side by side are one of twice the bits.
#[test]
fn results_are_messages_again() {
    let mut bench = Bench::for_tables(&Set::insecure_for_tables(9, 8));
    let [nibbles, bytes] = [16, 256].map(|p| Messages::new(p).unwrap());
    let double = Table::of_messages(nibbles, nibbles, InterpolationOrder::First, |m| 3 * m + 1).unwrap();
    let order = InterpolationOrder::First;
    let product = Table::of_pairs([nibbles; 2], bytes, order, |a, b| a * b).unwrap();
    let messages = [bench.random(16), bench.random(16)];
    let pair = messages.clone().map(|messages| bench.encrypt_lowest(&nibbles.slots(&messages).unwrap()));
    let [a, b] = pair.map(|a| bench.bootstrapper.apply(&a, &[&double], &bench.keys).unwrap().remove(0));
    let [left, right] = messages.map(|all| all.iter().map(|m| (3 * m + 1) % 16).collect::<Vec<_>>());
    let evaluator = bench.bootstrapper.evaluator();
    let sum = evaluator.add(&a, &b).unwrap();
    let out = bench.bootstrapper.apply(&sum, &[&double], &bench.keys).unwrap().remove(0);
    let sums: Vec<usize> = left.iter().zip(&right).map(|(a, b)| (a + b) % 16).collect();
    let (worst, bound) = bench.check(&out, &double, &sums);
    assert!(worst <= bound && bound < 1.0 / 16.0, "{worst:e} {bound:e}");
    // 16·a + b is the number of a, and a sixteenth of that of b.
    let both = bench.bootstrapper.joined((&a, nibbles), &b).unwrap();
    let out = bench.bootstrapper.apply(&both, &[&product], &bench.keys).unwrap().remove(0);
    let expected: Vec<usize> = left.iter().zip(&right).map(|(a, b)| a * b).collect();
    let bound = bench.bootstrapper.noise(&out);
    assert!(bound < 1.0 / 256.0, "{bound:e}");
    assert_eq!(bytes.of_slots(&bench.open_slots(&out)), expected);
}

/// Tests pairs of messages of different moduli.
#[test]
fn pairs_have_any_two_moduli() {
    let mut bench = Bench::for_tables(&Set::insecure_for_tables(9, 5));
    for (p, q) in [(2, 8), (8, 4), (5, 3), (3, 5)] {
        let [upper, lower] = [p, q].map(|modulus| Messages::new(modulus).unwrap());
        let of = |a: usize, b: usize| 3 * a + b * b;
        let table = Table::of_pairs([upper, lower], upper, InterpolationOrder::First, of).unwrap();
        let messages = [bench.random(p), bench.random(q)];
        // Below the lowest level nothing is bootstrapped.
        let level = bench.bootstrapper.blueprint().set().lowest_level() + 1;
        let [a, b] = [(upper, &messages[0]), (lower, &messages[1])]
            .map(|(of, messages)| bench.encrypt_slots(&of.slots(messages).unwrap(), level));
        let both = bench.bootstrapper.joined((&a, upper), &b).unwrap();
        let out = bench.bootstrapper.apply(&both, &[&table], &bench.keys).unwrap().remove(0);
        let expected: Vec<usize> =
            messages[0].iter().zip(&messages[1]).map(|(&a, &b)| of(a, b) % p).collect();
        assert_eq!(upper.of_slots(&bench.open_slots(&out)), expected, "{p} and {q}");
    }
}

/// Tests real parts alone, in messages whose imaginary parts are others.
#[test]
fn real_parts_alone() {
    let mut bench = Bench::for_tables(&Set::insecure_for_tables(9, 3));
    let of = Messages::new(7).unwrap();
    let table = Table::of_messages(of, of, InterpolationOrder::First, |m| m * m).unwrap();
    let messages = bench.random(7);
    let a = bench.encrypt_lowest(&of.slots(&messages).unwrap());
    let out = bench.bootstrapper.apply_real(&a, &[&table], &bench.keys).unwrap().remove(0);
    let bound = bench.bootstrapper.noise(&out);
    for (slot, &m) in bench.open_slots(&out).iter().zip(&messages) {
        assert!((slot.re - table.values()[m]).abs() <= bound && slot.im.abs() <= bound, "{slot}");
    }
}

#[test]
fn what_cannot_be_told_apart_is_refused() {
    let small = Set::insecure_for_tables(9, 4);
    let mut bench = Bench::for_tables(&small);
    let [of, wide] = [16, 32].map(|p| Messages::new(p).unwrap());
    let table = Table::of_messages(of, of, InterpolationOrder::First, |m| m).unwrap();
    let deep = Table::of_messages(wide, wide, InterpolationOrder::First, |m| m).unwrap();
    let third = Table::of_messages(of, of, InterpolationOrder::Third, |m| m).unwrap();
    let messages = bench.random(16);
    let a = bench.encrypt_lowest(&of.slots(&messages).unwrap());
    for table in [&deep, &third] {
        let refused = bench.bootstrapper.apply(&a, &[table], &bench.keys).err().unwrap();
        assert!(matches!(refused, BootstrapError::Table { .. }), "{refused}");
    }
    // Sums of as many messages as fill the distance with noise.
    let mut sum = a.clone();
    while bench.bootstrapper.noise(&sum) < 1.0 / 16.0 {
        sum = bench.bootstrapper.evaluator().multiply_integer(&sum, 1 << 10).unwrap();
    }
    let refused = bench.bootstrapper.apply(&sum, &[&table], &bench.keys).err().unwrap();
    assert!(matches!(refused, BootstrapError::MessageNoise { modulus: 16, .. }), "{refused}");
    // No tables: nothing to do.
    assert!(bench.bootstrapper.apply(&a, &[], &bench.keys).unwrap().is_empty());
    let plain = Set { tables: None, message_bits: 0, ..Set::insecure_for_tests(9) };
    let context = Context::new(&plain.parameters().unwrap()).unwrap();
    let blueprint = Blueprint::new(&context, &plain, 16).unwrap();
    assert!(FunctionalBootstrapper::new(&blueprint, |_, _| {}).is_err());
    // Nor do tables bootstrap what is no table, or few slots.
    let refused = Bootstrapper::new(bench.bootstrapper.blueprint(), |_, _| {}).err().unwrap();
    assert!(matches!(refused, BootstrapError::Set { .. }), "{refused}");
    assert_eq!(Set::named("n16-table-4-s16"), None);
    assert_eq!(Set::named("n16-table-4"), Set::for_tables(4));
}

/// Tests keys from a file, where steps have special moduli of their own and the first matrix is applied while the modulus is raised, as in shipped sets.
#[test]
fn keys_from_files_do_the_same() {
    let small =
        Set { special: SpecialModuli::EachStep, chain: Chain::Sets, ..Set::insecure_for_tables(9, 4) };
    let mut bench = Bench::for_tables(&small.with_first_matrix_back());
    let bytes = wire::to_bytes(bench.context.rlwe(), &bench.keys).unwrap();
    let keys: BootstrapKeys = wire::from_bytes(bench.context.rlwe(), &bytes).unwrap();
    assert_eq!(bench.keys.byte_len(), bench.bootstrapper.blueprint().key_bytes().unwrap());
    let of = Messages::new(16).unwrap();
    let table = Table::of_messages(of, of, InterpolationOrder::First, |m| 7 * m).unwrap();
    let messages = bench.random(16);
    let a = bench.encrypt_lowest(&of.slots(&messages).unwrap());
    let [ours, theirs] =
        [&bench.keys, &keys].map(|keys| bench.bootstrapper.apply(&a, &[&table], keys).unwrap().remove(0));
    for (ours, theirs) in ours.parts().iter().zip(theirs.parts()) {
        assert_eq!(ours.words(), theirs.words());
    }
    let (worst, bound) = bench.check(&ours, &table, &messages);
    assert!(worst <= bound && bound < 1.0 / 16.0, "{worst:e} {bound:e}");
}
