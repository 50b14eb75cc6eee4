//! Tables of 11 to 14 bits at adversarial integers, their digits moved to the edge of the noise that is not refused.

use num_complex::Complex64;
use sunzi_ckks::Encoder;

use super::*;

/// Returns a batch whose digits are off by `share` of the way to the middle between two digits, up or down by turns, with noise that says so.
fn moved(bench: &Bench, a: &Integers, share: f64) -> Integers {
    let e = bench.evaluator();
    let step = share / 16.0;
    let slots = bench.context.max_slots();
    let turn = |i: usize| if i.is_multiple_of(2) { step } else { -step };
    let offsets: Vec<Complex64> = (0..slots).map(|i| Complex64::new(turn(i), -turn(i / 2))).collect();
    let encoder = Encoder::new(&bench.context, slots).unwrap();
    let mut a = a.clone();
    for digit in &mut a.digits {
        let of = digit.ciphertext.metadata();
        let plaintext = encoder.encode_at(&offsets, of.level, of.scale).unwrap();
        let sum = e.evaluator().add_plain(&digit.ciphertext, &plaintext).unwrap();
        let sum = bench.bootstrapper.with_slot_error(sum, step);
        *digit = e.declared(sum, digit.range).unwrap();
    }
    a
}

/// Looks a random table of so many bits up at adversarial integers: none is wrong where noise is not refused, and half of the way is.
fn none_wrong(set: &Set, bits: u32) {
    let mut bench = Bench::new(set, 17);
    let [kind, to] = [16, 12].map(|bits| IntegerKind::new(bits, false).unwrap());
    let last = (1_i128 << bits) - 1;
    let table: Vec<i128> = (0..=last).map(|_| i128::from(bench.rng.next_u64() % 4096)).collect();
    let count = bench.evaluator().capacity();
    let random = bench.rng.next_u64() as usize;
    let kinds: [&dyn Fn(usize) -> i128; 4] = [
        &|i| (i.wrapping_mul(0x9E37_79B9).wrapping_add(random) >> 7) as i128 & last,
        &|_| last / 2,
        &|i| last / 2 + i as i128 % 2,
        &|i| i as i128 % 2 * last,
    ];
    let mut shares = vec![0.4, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01];
    for (k, of) in kinds.into_iter().enumerate() {
        let values: Vec<i128> = (0..count).map(of).collect();
        let a = bench.encrypt_within(kind, [0, last], &values);
        let expected: Vec<i128> = values.iter().map(|value| table[*value as usize]).collect();
        let looked_up = |share: f64| {
            let e = bench.evaluator();
            let found = e.table(&moved(&bench, &a, share), to, |x| table[x as usize])?;
            e.decrypt(&found, &bench.secret)
        };
        let (mut edge, mut found) = (0.0, None);
        for &share in &shares {
            match looked_up(share) {
                Ok(values) => {
                    (edge, found) = (share, Some(values));
                    break;
                }
                Err(error) => println!("  moved by {share}: {error}"),
            }
        }
        let wrong = found.map(|found| found.iter().zip(&expected).filter(|(a, b)| a != b).count());
        println!("{set}: {bits} bits, integers of kind {k}, {count} moved by {edge}: {wrong:?} wrong");
        assert_eq!(wrong, Some(0), "{set}, {bits} bits, kind {k}, {edge}");
        assert!(looked_up(1.0).is_err());
        // Bounds do not depend on the integers.
        shares.retain(|share| *share <= edge);
    }
}

#[test]
fn tables_of_twelve_bits_have_no_wrong_result_on_a_small_ring() {
    none_wrong(&Set::insecure_for_integers(9), 12);
}

#[test]
fn tables_of_fourteen_bits_have_no_wrong_result_on_a_small_ring() {
    none_wrong(&Set::insecure_for_integers(9), 14);
}

/// Runs more than 10^5 look-ups of 11 and of 12 bits on the shipped set.
#[test]
#[ignore = "long: n = 2^16, twenty minutes, 6 GiB"]
fn tables_of_eleven_and_twelve_bits_have_no_wrong_result() {
    for bits in [11, 12] {
        none_wrong(&Set::for_integers(), bits);
    }
}
