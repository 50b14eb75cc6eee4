//! Tests of every CKKS operation at every level, compared with the operation in the clear.

use num_complex::Complex64;
use sunzi_ckks::{Ciphertext, LevelRange, Parameters};
use sunzi_rlwe::Security;

use crate::common::{Party, STEPS, map, parameters, rational, real, rotated, zip};

/// Makes a ciphertext at every level by automatic alignment, with its numbers.
fn ladder(party: &mut Party) -> Vec<(Ciphertext, Vec<Complex64>)> {
    let levels = 0..=party.context.depth();
    let mut at = |level: usize| {
        let values = party.numbers();
        let fresh = party.encrypt(&values);
        let lowered = party.evaluator.level_to(&fresh, level).unwrap();
        assert_eq!(lowered.metadata().level, level);
        assert_eq!(lowered.metadata().scale, party.context.scale(level).unwrap());
        party.check(&lowered, &values, "level_to");
        (lowered, values)
    };
    levels.map(&mut at).collect()
}

/// Checks additive operations and multiplications by i, which take no level.
fn without_a_level(party: &mut Party, a: &Ciphertext, x: &[Complex64]) {
    let e = party.evaluator.clone();
    let level = a.metadata().level;
    for steps in STEPS {
        party.check(&e.rotate(a, steps, &party.rotations).unwrap(), &rotated(x, steps), "rotate");
    }
    let hoisted = e.hoist(a).unwrap();
    for steps in STEPS {
        party.check(&hoisted.rotate(steps, &party.rotations).unwrap(), &rotated(x, steps), "hoisted");
    }
    if party.context.has_real_slots() {
        assert!(hoisted.conjugate(&party.rotations).is_err() && e.conjugate(a, &party.rotations).is_err());
        assert!(e.multiply_by_i(a).is_err());
    } else {
        party.check(&hoisted.conjugate(&party.rotations).unwrap(), &map(x, |x| x.conj()), "hoisted");
        party.check(&e.conjugate(a, &party.rotations).unwrap(), &map(x, |x| x.conj()), "conjugate");
        party.check(&e.multiply_by_i(a).unwrap(), &map(x, |x| x * Complex64::I), "by i");
    }
    party.check(&e.negate(a).unwrap(), &map(x, |x| -x), "negate");
    party.check(&e.multiply_integer(a, -7).unwrap(), &map(x, |x| x * -7.0), "integer");
    party.check(&e.multiply_integer(a, 0).unwrap(), &map(x, |_| Complex64::ZERO), "zero");
    let c = party.number(Complex64::new(0.75, -1.5));
    party.check(&e.add_constant(a, c).unwrap(), &map(x, |x| x + c), "add constant");
    party.check(&e.add_constant(a, -0.25).unwrap(), &map(x, |x| x - 0.25), "add real");
    let y = party.numbers();
    for at in [level, party.context.depth()] {
        let plain = party.encoder.encode_at(&y, at, party.context.scale(at).unwrap()).unwrap();
        party.check(&e.add_plain(a, &plain).unwrap(), &zip(x, &y, |x, y| x + y), "add plain");
        party.check(&e.sub_plain(a, &plain).unwrap(), &zip(x, &y, |x, y| x - y), "subtract plain");
    }
}

/// Checks products with plaintexts and constants, one level down at the canonical scale.
fn with_a_level(party: &mut Party, a: &Ciphertext, x: &[Complex64]) {
    let e = party.evaluator.clone();
    let level = a.metadata().level;
    let canonical = party.context.scale(level - 1).unwrap();
    let check = |product: &Ciphertext, expected: &[Complex64], what: &str| {
        assert_eq!((product.metadata().level, product.metadata().scale), (level - 1, canonical), "{what}");
        party.check(product, expected, what);
    };
    let c = party.number(Complex64::new(0.75, -1.5));
    check(&e.multiply_constant(a, c).unwrap(), &map(x, |x| x * c), "constant");
    check(&e.multiply_constant(a, 1e-3).unwrap(), &map(x, |x| x * 1e-3), "real constant");
    check(&e.square(a, &party.relinearization).unwrap(), &map(x, |x| x * x), "square");
    let lazy = e.relinearize_rescale(&e.multiply_unscaled(a, a).unwrap(), &party.relinearization).unwrap();
    check(&lazy, &map(x, |x| x * x), "explicit square");
    let steps = e.relinearize(&e.multiply_unscaled(a, a).unwrap(), &party.relinearization).unwrap();
    check(&e.rescale(&steps).unwrap(), &map(x, |x| x * x), "square in steps");
    let three = e.rescale(&e.multiply_unscaled(a, a).unwrap()).unwrap();
    check(&e.relinearize(&three, &party.relinearization).unwrap(), &map(x, |x| x * x), "rescaled first");
    explicit(party, a, x);
}

/// Checks products and linear combinations at one level, of operands at any level.
fn explicit(party: &mut Party, a: &Ciphertext, x: &[Complex64]) {
    let e = party.evaluator.clone();
    let level = a.metadata().level;
    let y = party.numbers();
    let b = party.encrypt(&y);
    let mut sum = e.multiply_unscaled_at(a, &b, 3, level).unwrap();
    assert_eq!(sum.metadata().level, level);
    party.check(&sum, &zip(x, &y, |x, y| 3.0 * x * y), "three times a product");
    e.add_linear_combination_assign(&mut sum, &[(-0.3, &b), (1.0, a), (0.0, a)]).unwrap();
    let expected = zip(x, &y, |x, y| 3.0 * x * y - 0.3 * y + x);
    party.check(&sum, &expected, "a product and terms");
    let c = party.number(Complex64::new(0.5, 0.25));
    e.add_constant_assign(&mut sum, c).unwrap();
    party.check(&sum, &map(&expected, |x| x + c), "a constant in place");
    let scale = a.metadata().scale * 2_f64.powi(20);
    let combined = e.linear_combination(&[(0.7, a), (-1.0, &b)], level, scale).unwrap();
    assert_eq!((combined.metadata().level, combined.metadata().scale), (level, scale));
    let expected = zip(x, &y, |x, y| 0.7 * x - y);
    party.check(&combined, &expected, "a linear combination");
    let mut twice = a.clone();
    e.add_assign(&mut twice, &b).unwrap();
    party.check(&twice, &zip(x, &y, |x, y| x + y), "add from above in place");
    let mut above = b.clone();
    e.add_assign(&mut above, a).unwrap();
    assert_eq!(above.metadata().level, level);
    party.check(&above, &zip(x, &y, |x, y| x + y), "add from below in place");
}

fn every_level(parameters: &Parameters, slots: usize) {
    let mut party = Party::new(parameters, slots);
    let e = party.evaluator.clone();
    let all = ladder(&mut party);
    for (level, (a, x)) in all.iter().enumerate() {
        without_a_level(&mut party, a, x);
        if level == 0 {
            continue;
        }
        with_a_level(&mut party, a, x);
        let y = party.numbers();
        for at in [level, party.context.depth()] {
            let plain = party.encoder.encode_at(&y, at, party.context.scale(at).unwrap()).unwrap();
            let product = e.multiply_plain(a, &plain).unwrap();
            assert_eq!(product.metadata().scale, party.context.scale(level - 1).unwrap());
            party.check(&product, &zip(x, &y, |x, y| x * y), "multiply plain");
        }
        for (b, y) in &all {
            party.check(&e.add(a, b).unwrap(), &zip(x, y, |x, y| x + y), "add across levels");
            party.check(&e.sub(b, a).unwrap(), &zip(x, y, |x, y| y - x), "subtract across levels");
            let low = b.metadata().level.min(level);
            let product = e.multiply(a, b, &party.relinearization);
            let Some(next) = low.checked_sub(1) else {
                assert!(product.is_err());
                continue;
            };
            let product = product.unwrap();
            assert_eq!(product.metadata().scale, party.context.scale(next).unwrap());
            party.check(&product, &zip(x, y, |x, y| x * y), "multiply across levels");
        }
    }
    let terms: Vec<_> = all.iter().map(|(a, _)| a).collect();
    let sum = all.iter().fold(vec![Complex64::ZERO; slots], |sum, (_, x)| zip(&sum, x, |sum, x| sum + x));
    party.check(&e.sum(terms).unwrap(), &sum, "sum");
    let pairs: Vec<_> = all.iter().skip(1).zip(all.iter().skip(2)).collect();
    let expected = pairs.iter().fold(vec![Complex64::ZERO; slots], |sum, ((_, x), (_, y))| {
        zip(&sum, &zip(x, y, |x, y| x * y), |sum, x| sum + x)
    });
    let products = e.sum_of_products(pairs.iter().map(|(a, b)| (&a.0, &b.0)), &party.relinearization);
    party.check(&products.unwrap(), &expected, "sum of products");
}

#[test]
fn operations_at_every_level_and_packing() {
    for (log2_degree, scale_bits, depth, slots) in
        [(10, 40, 4, 512), (10, 35, 3, 1), (11, 47, 3, 16), (10, 25, 4, 512), (12, 55, 2, 2048)]
    {
        every_level(&parameters(log2_degree, scale_bits, depth, 2), slots);
    }
    for (log2_degree, scale_bits, depth, slots) in [(10, 60, 5, 512), (9, 53, 6, 256), (10, 30, 5, 16)] {
        every_level(&rational(log2_degree, scale_bits, depth, 3), slots);
    }
}

#[test]
fn operations_on_real_slots_at_every_level_and_packing() {
    for (log2_degree, scale_bits, depth, slots) in [
        (10, 40, 4, 1024),
        (10, 35, 3, 1),
        (11, 47, 3, 16),
        (10, 25, 4, 1024),
        (12, 55, 2, 4096),
        (6, 40, 2, 64),
    ] {
        every_level(&parameters(real(log2_degree), scale_bits, depth, 2), slots);
    }
    for (log2_degree, scale_bits, depth, slots) in [(10, 60, 5, 1024), (10, 30, 5, 16)] {
        every_level(&rational(real(log2_degree), scale_bits, depth, 3), slots);
    }
}

/// Tests twenty squarings and level changes: the scale is the canonical one of each level, to the last bit.
#[test]
fn scales_do_not_drift() {
    let mut party = Party::new(&parameters(10, 45, 20, 3), 512);
    let x = vec![Complex64::from_polar(1.0, 0.3); 512];
    let mut power = party.encrypt(&x);
    let mut expected = x;
    for level in (0..20).rev() {
        power = party.evaluator.square(&power, &party.relinearization).unwrap();
        expected = map(&expected, |x| x * x);
        assert_eq!(power.metadata().scale, party.context.scale(level).unwrap());
        party.check(&power, &expected, "power");
    }
    assert!(party.evaluator.square(&power, &party.relinearization).is_err());
}

/// Tests a plaintext at the scale that leads a product from one range of scales to the canonical scale of the next.
#[test]
fn borders_between_scales_are_crossed_explicitly() {
    let ranges = [LevelRange { levels: 2, scale_bits: 35 }, LevelRange { levels: 2, scale_bits: 55 }];
    let parameters = Parameters::from_ranges(10, 45, &ranges, Security::InsecureForResearchOnly)
        .unwrap()
        .with_digits(2)
        .unwrap();
    let mut party = Party::new(&parameters, 512);
    let (x, y) = (party.numbers(), party.numbers());
    let (context, e) = (party.context.clone(), party.evaluator.clone());
    let a = e.level_to(&party.encrypt(&x), 3).unwrap();
    let target = context.scale(2).unwrap();
    let scale = target * context.divisor(3).unwrap() / a.metadata().scale;
    let plain = party.encoder.encode_at(&y, 3, scale).unwrap();
    let product = e.multiply_plain(&a, &plain).unwrap();
    assert_eq!((product.metadata().level, product.metadata().scale), (2, target));
    party.check(&product, &zip(&x, &y, |x, y| x * y), "border");
    // Constants and level changes find the scale themselves.
    let half = e.multiply_constant(&a, 0.5).unwrap();
    assert_eq!(half.metadata().scale, target);
    party.check(&half, &map(&x, |x| x * 0.5), "constant over a border");
    let sum = e.add(&product, &party.encrypt(&y)).unwrap();
    party.check(&sum, &zip(&x, &y, |x, y| x * y + y), "sum over a border");
}

/// Tests operations on messages of few slots and of many: the vector of the first repeats.
#[test]
fn sparse_and_full_messages_meet() {
    let mut party = Party::new(&parameters(10, 40, 2, 2), 512);
    let x = party.numbers();
    let a = party.encrypt(&x);
    let few = sunzi_ckks::Encoder::new(&party.context, 8).unwrap();
    let y: Vec<Complex64> = party.numbers().into_iter().take(8).collect();
    let b = few.encode(&y).unwrap();
    let b = party.context.encrypt(&b, &party.public, &mut party.rng).unwrap();
    let repeated: Vec<Complex64> = y.iter().copied().cycle().take(512).collect();
    let sum = party.evaluator.add(&a, &b).unwrap();
    assert_eq!(sum.metadata().slots, 512);
    party.check(&sum, &zip(&x, &repeated, |x, y| x + y), "sum");
    let product = party.evaluator.multiply(&a, &b, &party.relinearization).unwrap();
    party.check(&product, &zip(&x, &repeated, |x, y| x * y), "product");
    let turned = party.evaluator.rotate(&b, 5, &party.rotations).unwrap();
    let opened = few.decode(&party.context.decrypt(&turned, &party.secret).unwrap()).unwrap();
    let worst = zip(&opened, &rotated(&y, 5), |a, b| a - b).iter().map(|d| d.norm()).fold(0.0, f64::max);
    assert!(worst < 1e-6, "{worst}");
}
