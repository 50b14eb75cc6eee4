//! Tests that one CKKS circuit gives equal results over words and over big integers, and on any number of threads.

use num_complex::Complex64;
use sunzi_ckks::{Ciphertext, Context, Parallelism, Parameters};
use sunzi_ring::Poly;

use crate::common::{Party, map, parameters, rational, real, rotated, zip};

/// Computes a ciphertext by every kind of operation, and its numbers in the clear.
fn circuit(party: &mut Party) -> Vec<(Ciphertext, Vec<Complex64>)> {
    let (x, y) = (party.numbers(), party.numbers());
    let (a, b) = (party.encrypt(&x), party.encrypt(&y));
    let plain = party.encoder.encode(&y).unwrap();
    let (e, rlk, gk) = (&party.evaluator, &party.relinearization, &party.rotations);
    let (c, real) = (party.number(Complex64::new(0.5, -0.25)), party.context.has_real_slots());
    let conjugate = |a: Ciphertext| if real { a } else { e.conjugate(&a, gk).unwrap() };
    let by_i = |a: Ciphertext| if real { a } else { e.multiply_by_i(&a).unwrap() };
    let product = e.multiply(&a, &b, rlk).unwrap();
    let turned = conjugate(e.rotate(&product, 5, gk).unwrap());
    let sum = e.add(&turned, &a).unwrap();
    let scaled = e.multiply_constant(&sum, c).unwrap();
    let shifted = e.add_plain(&by_i(scaled.clone()), &plain).unwrap();
    let clear_product = zip(&x, &y, |x, y| x * y);
    let clear_turned = map(&rotated(&clear_product, 5), |x| x.conj());
    let clear_sum = zip(&clear_turned, &x, |t, x| t + x);
    let clear_scaled = map(&clear_sum, |s| s * c);
    let clear_shifted = zip(&clear_scaled, &y, |s, y| if real { s + y } else { s * Complex64::I + y });
    let weighted = e.multiply_plain(&product, &plain).unwrap();
    let clear_weighted = zip(&clear_product, &y, |p, y| p * y);
    vec![
        (product, clear_product),
        (turned, clear_turned),
        (sum, clear_sum),
        (scaled, clear_scaled),
        (shifted, clear_shifted),
        (weighted, clear_weighted),
    ]
}

/// The coefficients of a ciphertext as integers, whatever stores them.
fn integers(party: &Party, ciphertext: &Ciphertext) -> Vec<Vec<num_bigint::BigInt>> {
    let ring = party.context.ring_at(ciphertext.metadata().level).unwrap();
    let part = |part: &Poly<_>| ring.to_integers(&ring.to_coefficient(part.clone()).unwrap()).unwrap();
    ciphertext.parts().iter().map(part).collect()
}

/// Converts a ciphertext to the ring of another party.
fn carried(from: &Party, to: &Party, ciphertext: &Ciphertext) -> Ciphertext {
    let ring = to.context.ring_at(ciphertext.metadata().level).unwrap();
    let part = |part: &Vec<_>| ring.to_evaluation(ring.from_integers(part).unwrap()).unwrap();
    let parts = integers(from, ciphertext).iter().map(part).collect();
    let metadata = ciphertext.metadata().clone();
    Ciphertext::from_parts(parts, metadata, *ciphertext.noise(), ciphertext.key()).unwrap()
}

/// Does all operations that take no key, at every level of a ciphertext.
fn keyless(party: &Party, a: &Ciphertext, b: &Ciphertext, values: &[Complex64]) -> Vec<Ciphertext> {
    let (e, c) = (&party.evaluator, party.number(Complex64::new(-0.3, 0.7)));
    let plain = party.encoder.encode(values).unwrap();
    let mut results = Vec::new();
    for level in (0..=party.context.depth()).rev() {
        let x = e.level_to(a, level).unwrap();
        results.extend([
            e.add(&x, b).unwrap(),
            e.sub(b, &x).unwrap(),
            e.negate(&x).unwrap(),
            if party.context.has_real_slots() { x.clone() } else { e.multiply_by_i(&x).unwrap() },
            e.multiply_integer(&x, -3).unwrap(),
            e.add_constant(&x, c).unwrap(),
            e.add_constant(&x, 0.5).unwrap(),
            e.add_plain(&x, &plain).unwrap(),
            e.sub_plain(&x, &plain).unwrap(),
            e.drop_to(a, level).unwrap(),
        ]);
        if level > 0 {
            let square = e.multiply_unscaled(&x, &x).unwrap();
            results.extend([
                e.rescale(&square).unwrap(),
                e.multiply_plain(&x, &plain).unwrap(),
                e.multiply_constant(&x, c).unwrap(),
                e.multiply_constant(&x, -0.25).unwrap(),
                e.set_scale(&x, 0, 30_f64.exp2()).unwrap(),
                square,
            ]);
        }
        results.push(x);
    }
    results
}

/// Tests that the rings of words and of big integers compute equal ciphertexts, with one prime a level and with two.
#[test]
fn words_and_big_integers_agree_to_the_last_bit() {
    for (parameters, slots) in [
        (parameters(7, 35, 2, 2), 64),
        (parameters(7, 35, 2, 2), 2),
        (parameters(7, 50, 2, 2), 64),
        (rational(7, 58, 4, 2), 64),
        (rational(7, 25, 4, 2), 64),
        (parameters(real(7), 35, 2, 2), 128),
        (parameters(real(6), 35, 2, 2), 2),
        (rational(real(7), 58, 4, 2), 64),
    ] {
        let scale_bits = parameters.scale_ranges()[0].bits;
        let mut words = Party::new(&parameters, slots);
        let big = Party::oracle(&parameters, slots);
        let (x, y) = (words.numbers(), words.numbers());
        let (a, b) = (words.encrypt(&x), words.encrypt(&y));
        let carried = [&a, &b].map(|ciphertext| carried(&words, &big, ciphertext));
        let [c, d] = &carried;
        let (ours, theirs) = (keyless(&words, &a, &b, &y), keyless(&big, c, d, &y));
        assert_eq!(ours.len(), theirs.len());
        for (i, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
            assert!(integers(&words, ours) == integers(&big, theirs), "result {i} at scale 2^{scale_bits}");
            assert_eq!(ours.metadata(), theirs.metadata());
            assert_eq!(ours.noise(), theirs.noise());
        }
    }
}

/// Tests rings of words and of big integers under keys of their own randomness: both are within what their ciphertexts
/// say.
#[test]
fn words_and_big_integers_agree() {
    for (parameters, slots) in [
        (parameters(7, 35, 2, 2), 64),
        (parameters(7, 35, 2, 2), 4),
        (rational(7, 58, 3, 2), 64),
        (parameters(real(7), 35, 2, 2), 128),
        (parameters(real(7), 35, 2, 2), 4),
    ] {
        let mut words = Party::new(&parameters, slots);
        let mut big = Party::oracle(&parameters, slots);
        for (ciphertext, expected) in circuit(&mut words) {
            words.check(&ciphertext, &expected, "words");
        }
        for (ciphertext, expected) in circuit(&mut big) {
            big.check(&ciphertext, &expected, "big integers");
        }
    }
}

/// Tests that one seed gives one result, for any number of threads and whatever they share.
#[test]
fn threads_do_not_change_a_bit() {
    for parameters in [parameters(12, 45, 3, 2), rational(12, 56, 4, 2), parameters(real(12), 45, 3, 2)] {
        same_on_all_threads(&parameters);
    }
}

fn same_on_all_threads(parameters: &Parameters) {
    let run = |threads: usize, parallelism: Parallelism| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let context = Context::with_parallelism(parameters, parallelism).unwrap();
            let mut party = Party::over(context, 2048);
            let results = circuit(&mut party);
            results.iter().map(|(ciphertext, _)| integers(&party, ciphertext)).collect::<Vec<_>>()
        })
    };
    let alone = run(1, Parallelism::default());
    for parallelism in [Parallelism::CoefficientWise, Parallelism::ModulusWise, Parallelism::Collapsed] {
        for threads in [2, 3] {
            assert!(run(threads, parallelism) == alone, "{parallelism:?} on {threads} threads");
        }
    }
}
