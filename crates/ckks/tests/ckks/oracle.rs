//! The same circuit over words and over big integers, and on any number of threads.

use num_complex::Complex64;
use sunzi_ckks::Ciphertext;
use sunzi_ring::PolyRing;

use crate::common::{Party, map, parameters, rotated, zip};

/// A bit of everything, and what it gives in the clear.
fn circuit<R: PolyRing>(party: &mut Party<R>) -> Vec<(Ciphertext<R>, Vec<Complex64>)> {
    let (x, y) = (party.numbers(), party.numbers());
    let (a, b) = (party.encrypt(&x), party.encrypt(&y));
    let plain = party.encoder.encode(&y).unwrap();
    let (e, rlk, gk) = (&party.evaluator, &party.relinearization, &party.rotations);
    let c = Complex64::new(0.5, -0.25);
    let product = e.multiply(&a, &b, rlk).unwrap();
    let turned = e.conjugate(&e.rotate(&product, 5, gk).unwrap(), gk).unwrap();
    let sum = e.add(&turned, &a).unwrap();
    let scaled = e.multiply_constant(&sum, c).unwrap();
    let shifted = e.add_plain(&e.multiply_by_i(&scaled).unwrap(), &plain).unwrap();
    let clear_product = zip(&x, &y, |x, y| x * y);
    let clear_turned = map(&rotated(&clear_product, 5), |x| x.conj());
    let clear_sum = zip(&clear_turned, &x, |t, x| t + x);
    let clear_scaled = map(&clear_sum, |s| s * c);
    let clear_shifted = zip(&clear_scaled, &y, |s, y| s * Complex64::I + y);
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

/// Coefficients as integers, whatever stores them.
fn integers<R: PolyRing>(party: &Party<R>, ciphertext: &Ciphertext<R>) -> Vec<Vec<num_bigint::BigInt>> {
    let ring = party.context.ring_at(ciphertext.metadata().level).unwrap();
    let part = |part: &R::Poly<_>| ring.to_integers(&ring.to_coefficient(part.clone()).unwrap()).unwrap();
    ciphertext.parts().iter().map(part).collect()
}

/// Both rings compute the circuit, each under keys of its own randomness, within what their ciphertexts say; operations
/// that round nothing agree to the last bit on the same coefficients.
#[test]
fn words_and_big_integers_agree() {
    let parameters = parameters(7, 35, 2, 2);
    for slots in [64, 4] {
        let mut words = Party::new(&parameters, slots);
        let mut big = Party::oracle(&parameters, slots);
        for (ciphertext, expected) in circuit(&mut words) {
            words.check(&ciphertext, &expected, "words");
        }
        for (ciphertext, expected) in circuit(&mut big) {
            big.check(&ciphertext, &expected, "big integers");
        }
        let values = words.numbers();
        let [a, b] = [words.encoder.encode(&values).unwrap(), words.encoder.encode(&values).unwrap()];
        assert_eq!(*a.to_coefficients(&words.context).unwrap(), *b.to_coefficients(&words.context).unwrap());
        let c = big.encoder.encode(&values).unwrap();
        assert_eq!(*a.to_coefficients(&words.context).unwrap(), *c.to_coefficients(&big.context).unwrap());
    }
}

/// One seed, one result, for one thread and for two.
#[test]
fn threads_do_not_change_a_bit() {
    let parameters = parameters(12, 45, 3, 2);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut party = Party::new(&parameters, 2048);
            let results = circuit(&mut party);
            results.iter().map(|(ciphertext, _)| integers(&party, ciphertext)).collect::<Vec<_>>()
        })
    };
    assert!(run(1) == run(2));
}
