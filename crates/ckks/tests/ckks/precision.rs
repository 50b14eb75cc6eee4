//! Compares the error that a CKKS ciphertext states with its measured error.

use crate::common::{Party, STEPS, map, parameters, real, rotated, zip};
use chacha20::ChaCha20Rng;
use chacha20::rand_core::SeedableRng;
use num_complex::Complex64;
use rand::{Rng, RngExt};
use sunzi_ckks::Ciphertext;
use sunzi_rlwe::RingShape;

type Value = (Ciphertext, Vec<Complex64>);

/// Does one random operation on values of a pool; none where its operands do not allow it.
fn step(party: &mut Party, pool: &[Value], rng: &mut impl Rng) -> Option<(&'static str, Value)> {
    let (a, x) = pool[rng.random_range(0..pool.len())].clone();
    let (b, y) = pool[rng.random_range(0..pool.len())].clone();
    let e = party.evaluator.clone();
    let (rlk, gk) = (&party.relinearization, &party.rotations);
    let c = party.number(Complex64::new(rng.random_range(-1.0..1.0), rng.random_range(-1.0..1.0)));
    let steps = STEPS[rng.random_range(0..STEPS.len())];
    let (name, result, clear) = match rng.random_range(0..13) {
        0 => ("add", e.add(&a, &b), zip(&x, &y, |x, y| x + y)),
        1 => ("sub", e.sub(&a, &b), zip(&x, &y, |x, y| x - y)),
        2 => ("multiply", e.multiply(&a, &b, rlk), zip(&x, &y, |x, y| x * y)),
        3 => ("square", e.square(&a, rlk), map(&x, |x| x * x)),
        4 => ("rotate", e.rotate(&a, steps, gk), rotated(&x, steps)),
        5 => ("conjugate", e.conjugate(&a, gk), map(&x, |x| x.conj())),
        6 => ("constant", e.multiply_constant(&a, c), map(&x, |x| x * c)),
        7 => ("add constant", e.add_constant(&a, c), map(&x, |x| x + c)),
        8 => ("integer", e.multiply_integer(&a, -3), map(&x, |x| x * -3.0)),
        9 => ("by i", e.multiply_by_i(&a), map(&x, |x| x * Complex64::I)),
        10 => {
            let pairs = [(&a, &b), (&b, &b), (&a, &a)];
            ("sum of products", e.sum_of_products(pairs, rlk), zip(&x, &y, |x, y| x * y + y * y + x * x))
        }
        11 => {
            let (plain, values) = plaintext(party);
            ("multiply plain", e.multiply_plain(&a, &plain), zip(&x, &values, |x, y| x * y))
        }
        _ => {
            let (plain, values) = plaintext(party);
            ("add plain", e.add_plain(&a, &plain), zip(&x, &values, |x, y| x + y))
        }
    };
    Some((name, (result.ok()?, clear)))
}

fn plaintext(party: &mut Party) -> (sunzi_ckks::Plaintext, Vec<Complex64>) {
    let values = party.numbers();
    (party.encoder.encode(&values).unwrap(), values)
}

/// Tests random circuits over dependent operands at all levels: measured errors are at most a third above the
/// estimate, and in the median no less than a quarter of it.
fn circuits(ring: RingShape, scale_bits: u32, slots: usize, count: usize) {
    let mut party = Party::new(&parameters(ring, scale_bits, 5, 2), slots);
    let mut rng = ChaCha20Rng::seed_from_u64(u64::from(scale_bits));
    let mut gaps = Vec::new();
    for _ in 0..count {
        let mut pool: Vec<Value> = Vec::new();
        for _ in 0..3 {
            let values = party.numbers();
            pool.push((party.encrypt(&values), values));
        }
        for _ in 0..20 {
            let Some((name, value)) = step(&mut party, &pool, &mut rng) else { continue };
            party.check(&value.0, &value.1, name);
            let measured = party.error(&value.0, &value.1);
            // Errors below the precision of doubles are not compared.
            if measured > 4e-15 * value.0.metadata().precision.magnitude() {
                gaps.push((value.0.metadata().precision.deviation() / measured).log2());
            }
            pool.push(value);
        }
    }
    if gaps.is_empty() {
        return;
    }
    gaps.sort_by(f64::total_cmp);
    let at = |part: f64| gaps[((gaps.len() - 1) as f64 * part) as usize];
    println!(
        "{ring}, scale 2^{scale_bits}, {slots} slots, {} values: estimate/measured in bits: least {:.2}, \
         median {:.2}, 90 % {:.2}, most {:.2}",
        gaps.len(),
        at(0.0),
        at(0.5),
        at(0.9),
        at(1.0)
    );
    assert!(at(0.5) <= 2.0 && at(0.9) <= 4.0, "estimates are {} and {} bits too large", at(0.5), at(0.9));
}

#[test]
fn estimates_of_random_circuits_hold() {
    for (log2_degree, scale_bits, slots) in
        [(10, 40, 512), (11, 30, 1024), (10, 45, 64), (10, 25, 512), (11, 55, 1024), (10, 60, 8)]
    {
        circuits(log2_degree.into(), scale_bits, slots, 12);
    }
    for (log2_degree, scale_bits, slots) in
        [(10, 40, 1024), (11, 30, 2048), (10, 45, 64), (9, 25, 512), (10, 60, 8)]
    {
        circuits(real(log2_degree), scale_bits, slots, 12);
    }
}

/// Tests that CKKS noise bounds are sound: over random circuits no coefficient of ct(s) − m ever exceeds them.
#[test]
fn noise_bounds_hold() {
    let whole = [(10, 40, 512), (10, 30, 8), (11, 35, 1024)].map(|(n, bits, slots)| (n.into(), bits, slots));
    let real = [(10, 40, 1024), (10, 30, 8), (6, 35, 64)].map(|(n, bits, slots)| (real(n), bits, slots));
    for (ring, scale_bits, slots) in whole.into_iter().chain(real) {
        let mut party = Party::new(&parameters(ring, scale_bits, 4, 2), slots);
        let mut rng = ChaCha20Rng::seed_from_u64(u64::from(scale_bits) + 1);
        let mut gaps = Vec::new();
        for _ in 0..10 {
            let mut pool: Vec<Value> = Vec::new();
            for _ in 0..3 {
                let values = party.numbers();
                pool.push((party.encrypt(&values), values));
            }
            for _ in 0..12 {
                let Some((name, value)) = step(&mut party, &pool, &mut rng) else { continue };
                let metadata = value.0.metadata();
                let exact = party.encoder.encode_at(&value.1, metadata.level, metadata.scale).unwrap();
                let noise = party.context.measure_noise(&value.0, &exact, &party.secret).unwrap();
                let bound = value.0.noise().bound(party.context.ring().expansion()).bits();
                assert!(noise <= bound, "{name}: noise of {noise} bits, bound {bound}");
                gaps.push(bound - noise);
                pool.push(value);
            }
        }
        gaps.sort_by(f64::total_cmp);
        println!("{ring}: bound − noise in bits: least {:.1}, median {:.1}", gaps[0], gaps[gaps.len() / 2]);
    }
}

/// Tests that estimates and bounds know factors so coarse that their rounding is the largest error of all.
#[test]
fn coarse_factors_are_accounted_for() {
    let mut party = Party::new(&parameters(10, 45, 4, 2), 512);
    let x = party.numbers();
    let (a, e) = (party.encrypt(&x), party.evaluator.clone());
    let holds = |party: &Party, ciphertext: &Ciphertext, expected: &[Complex64], what: &str| {
        party.check(ciphertext, expected, what);
        let metadata = ciphertext.metadata();
        let gap = (metadata.precision.deviation() / party.error(ciphertext, expected)).log2();
        assert!(gap < 3.0, "{what}: the estimate is {gap} bits too large");
        let exact = party.encoder.encode_at(expected, metadata.level, metadata.scale).unwrap();
        let noise = party.context.measure_noise(ciphertext, &exact, &party.secret).unwrap();
        let bound = ciphertext.noise().bound(party.context.ring().expansion()).bits();
        assert!(noise <= bound, "{what}: noise of {noise} bits, bound {bound}");
    };
    let squares = map(&x, |x| x * x);
    let square = e.relinearize(&e.multiply_unscaled(&a, &a).unwrap(), &party.relinearization).unwrap();
    let scale = 5000.4 * square.metadata().scale / party.context.divisor(4).unwrap();
    holds(&party, &e.set_scale(&square, 3, scale).unwrap(), &squares, "set the scale");
    for c in [Complex64::new(60.35 / 256.0, -9.35 / 256.0), Complex64::new(1.4 / 256.0, 0.0)] {
        let product = e.multiply_constant_unscaled(&a, c, 256.0).unwrap();
        holds(&party, &product, &map(&x, |x| x * c), "a constant at a small scale");
    }
    let y = party.numbers();
    let plain = party.encoder.encode_at(&y, 4, 20_f64.exp2()).unwrap();
    let product = e.multiply_plain_unscaled(&a, &plain).unwrap();
    holds(&party, &product, &zip(&x, &y, |x, y| x * y), "a plaintext at a small scale");
    // The constant 1/2 is exact at any scale from 2 on.
    let half = e.multiply_constant_unscaled(&a, 0.5, 2.0).unwrap();
    assert_eq!(half.metadata().precision.deviation(), a.metadata().precision.deviation() / 2.0);
}
