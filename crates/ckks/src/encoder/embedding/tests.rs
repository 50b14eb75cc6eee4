use super::super::double_double::DoubleDouble;
use super::super::roots::exact_octant;
use super::*;

/// A complex number whose real and imaginary parts have a hundred bits.
type Wide = [DoubleDouble; 2];

/// The root of unity e^(2πi·k/4s).
fn wide_root(octant: &[Wide], quarter: usize, k: usize) -> Wide {
    let (quarters, remainder) = (k / quarter % 4, k % quarter);
    let [mut c, mut s] = if remainder > quarter / 2 {
        let [c, s] = octant[quarter - remainder];
        [s, c]
    } else {
        octant[remainder]
    };
    for _ in 0..quarters {
        (c, s) = (DoubleDouble::ZERO.minus(s), c);
    }
    [c, s]
}

/// Computes value j of a polynomial by the definition of the embedding.
fn value(octant: &[Wide], w: &[Complex64], j: usize) -> Wide {
    let slots = w.len();
    let order = 4 * slots;
    let power = (0..j).fold(1, |power, _| 5 * power % order);
    let mut sum = [DoubleDouble::ZERO; 2];
    for (k, w) in w.iter().enumerate() {
        let [c, s] = wide_root(octant, slots, power * k % order);
        let (re, im) = (DoubleDouble::from_f64(w.re), DoubleDouble::from_f64(w.im));
        sum[0] = sum[0].plus(re.times(c)).minus(im.times(s));
        sum[1] = sum[1].plus(re.times(s)).plus(im.times(c));
    }
    sum
}

/// Makes numbers that look random, in (−1, 1).
fn numbers(count: usize) -> Vec<Complex64> {
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    };
    (0..count).map(|_| Complex64::new(next(), next())).collect()
}

/// The largest error relative to the root mean square of all values, in units of 2^-53.
fn ulps(got: &[Complex64], expected: impl Fn(usize) -> Wide, sample: impl Iterator<Item = usize>) -> f64 {
    let size = (got.iter().map(Complex64::norm_sqr).sum::<f64>() / got.len() as f64).sqrt();
    let error = |j: usize| {
        let [re, im] = expected(j);
        let [dre, dim] =
            [DoubleDouble::from_f64(got[j].re).minus(re), DoubleDouble::from_f64(got[j].im).minus(im)];
        dre.nearest().hypot(dim.nearest()) / size * 53_f64.exp2()
    };
    sample.map(error).fold(0.0, f64::max)
}

#[test]
fn values_are_those_of_the_definition_to_a_few_ulps() {
    for log2_slots in 0..=15 {
        let slots = 1_usize << log2_slots;
        let embedding = Embedding::new(slots).unwrap();
        let octant = exact_octant(slots);
        let w = numbers(slots);
        let mut values = w.clone();
        embedding.to_slots(&mut values).unwrap();
        let sample = (0..slots).step_by((slots / 64).max(1)).chain([slots - 1]);
        let worst = ulps(&values, |j| value(&octant, &w, j), sample);
        assert!(worst < 8.0, "{slots} slots: {worst} ulp");
    }
}

#[test]
fn the_inverse_returns_what_was_there() {
    for log2_slots in 0..=16 {
        let slots = 1_usize << log2_slots;
        let embedding = Embedding::new(slots).unwrap();
        let w = numbers(slots);
        for start in [w.clone(), vec![Complex64::ONE; slots], spike(slots, slots - 1), alternating(slots)] {
            let mut values = start.clone();
            embedding.to_slots(&mut values).unwrap();
            embedding.to_coefficients(&mut values).unwrap();
            let expected = |j: usize| [start[j].re, start[j].im].map(DoubleDouble::from_f64);
            let worst = ulps(&values, expected, 0..slots);
            // One value of a spike is sqrt(s) times the mean, and so may the error be.
            let bound = if start == w { 20.0 } else { 4.0 * (slots as f64).sqrt() };
            assert!(worst <= bound, "{slots} slots: {worst} ulp");
        }
    }
}

fn spike(slots: usize, at: usize) -> Vec<Complex64> {
    let mut values = vec![Complex64::ZERO; slots];
    values[at] = Complex64::ONE;
    values
}

fn alternating(slots: usize) -> Vec<Complex64> {
    (0..slots).map(|j| Complex64::from(if j % 2 == 0 { 1.0 } else { -1.0 })).collect()
}

#[test]
fn encoded_numbers_come_back_within_the_rounding() {
    for (slots, log2_scale) in [(1, 20), (2, 40), (64, 30), (256, 58), (256, 110), (1024, 120)] {
        let embedding = Embedding::new(slots).unwrap();
        let (values, scale) = (numbers(slots), f64::from(log2_scale).exp2());
        let coefficients = embedding.encode(&values, scale).unwrap();
        assert_eq!(coefficients.len(), 2 * slots);
        let coefficients: Vec<f64> = coefficients.iter().map(|&a| a as f64).collect();
        let back = embedding.decode(&coefficients, scale).unwrap();
        let bound = 2.0 * slots as f64 / scale + 1e-14;
        for (a, b) in values.iter().zip(&back) {
            assert!((a - b).norm() < bound, "{slots} slots at 2^{log2_scale}: {a} {b}");
        }
    }
}

#[test]
fn products_of_polynomials_multiply_slots_and_x_to_the_five_rotates() {
    let slots = 8;
    let embedding = Embedding::new(slots).unwrap();
    let [a, b] = [numbers(16)[..8].to_vec(), numbers(16)[8..].to_vec()];
    let real = |values: &[Complex64]| -> Vec<f64> {
        embedding.encode(values, 40_f64.exp2()).unwrap().iter().map(|&c| c as f64).collect()
    };
    let (p, q) = (real(&a), real(&b));
    let mut product = vec![0.0; 2 * slots];
    let mut turned = vec![0.0; 2 * slots];
    for (i, &a) in p.iter().enumerate() {
        let place = |target: &mut Vec<f64>, k: usize, value: f64| {
            let (k, sign) = (k % (4 * slots), if k % (4 * slots) < 2 * slots { 1.0 } else { -1.0 });
            target[k % (2 * slots)] += sign * value;
        };
        place(&mut turned, 5 * i, a);
        for (j, &b) in q.iter().enumerate() {
            place(&mut product, i + j, a * b);
        }
    }
    let product = embedding.decode(&product, 80_f64.exp2()).unwrap();
    let turned = embedding.decode(&turned, 40_f64.exp2()).unwrap();
    for j in 0..slots {
        assert!((product[j] - a[j] * b[j]).norm() < 1e-9);
        assert!((turned[j] - a[(j + 1) % slots]).norm() < 1e-9);
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    for slots in [0, 3, 12, (1 << 20) + 1, 1 << 21, usize::MAX] {
        assert!(matches!(Embedding::new(slots), Err(EncoderError::Slots { .. })));
    }
    let embedding = Embedding::new(4).unwrap();
    let one = Complex64::ONE;
    assert!(matches!(
        embedding.encode(&[one; 5], 1.0),
        Err(EncoderError::TooManyValues { got: 5, slots: 4 })
    ));
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let values = [one, Complex64::new(0.0, bad)];
        assert_eq!(embedding.encode(&values, 1.0), Err(EncoderError::NotFinite { slot: 1 }));
        assert!(matches!(embedding.encode(&[one], bad), Err(EncoderError::Scale { .. })));
    }
    for scale in [0.0, -1.0] {
        assert!(matches!(embedding.encode(&[one], scale), Err(EncoderError::Scale { .. })));
        assert!(matches!(embedding.decode(&[0.0; 8], scale), Err(EncoderError::Scale { .. })));
    }
    // 2^125.99 fits, 2^126 does not; sums that overflow a double neither.
    let most = 126_f64.exp2();
    assert_eq!(embedding.encode(&[one; 4], most * 0.99).unwrap()[0], (most * 0.99) as i128);
    assert!(matches!(embedding.encode(&[one; 4], most), Err(EncoderError::TooLarge { .. })));
    for huge in [f64::MAX, -f64::MAX] {
        let mixed =
            [Complex64::from(huge), Complex64::from(huge), Complex64::from(-huge), Complex64::from(huge)];
        assert!(matches!(embedding.encode(&mixed, 1e-300), Err(EncoderError::TooLarge { .. })));
    }
    assert!(matches!(
        embedding.decode(&[0.0; 7], 1.0),
        Err(EncoderError::Length { expected: 8, got: 7, .. })
    ));
    assert!(embedding.to_slots(&mut [one; 3]).is_err() && embedding.to_coefficients(&mut []).is_err());
    // Steps whose h is no power of two below s have no roots.
    assert!([0, 3, 4, usize::MAX].iter().all(|&half| embedding.roots(half).is_empty()));
}
