use super::*;
use sunzi_ckks::encoder::bit_reverse;

/// Returns complex numbers that look random, as slots.
fn numbers(count: usize) -> Vec<Complex64> {
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    };
    (0..count).map(|_| Complex64::new(next(), next())).collect()
}

/// Yields all (s, levels) whose factors are not too large to be multiplied out here.
fn shapes(most: u32) -> impl Iterator<Item = (usize, usize)> {
    (0..=most)
        .flat_map(|log| (1..=log.max(1) as usize).map(move |levels| (1_usize << log, levels)))
        .filter(|&(slots, levels)| slots.ilog2().div_ceil(levels as u32) <= 7)
}

fn apply(factors: &[Diagonals], start: Vec<Complex64>) -> Vec<Complex64> {
    factors.iter().fold(start, |values, factor| {
        let wide: Vec<Complex64> = values.iter().copied().cycle().take(factor.size()).collect();
        factor.apply(&wide).unwrap()
    })
}

/// Returns the real parts, then the imaginary parts, of the coefficients in bit-reversed order.
fn parts(slots: &[Complex64]) -> Vec<Complex64> {
    let mut w = slots.to_vec();
    Embedding::new(slots.len()).unwrap().to_coefficients(&mut w).unwrap();
    bit_reverse(&mut w);
    w.iter().map(|w| w.re).chain(w.iter().map(|w| w.im)).map(Complex64::from).collect()
}

fn close(a: &[Complex64], b: &[Complex64], bound: f64) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).norm() < bound)
}

#[test]
fn coefficients_come_to_slots() {
    for (slots, levels) in shapes(12) {
        for (degree, constant) in [(2 * slots, 1.0), (2 * slots, -3.5), (4 * slots, 0.01), (16 * slots, 1.0)]
        {
            let dft = Dft::coeffs_to_slots(degree, slots, levels, constant).unwrap();
            assert_eq!(dft.factors().len(), levels);
            let z = numbers(slots);
            let expected: Vec<Complex64> = parts(&z).iter().map(|a| a * constant).collect();
            let out = apply(dft.factors(), z);
            let real: Vec<Complex64> = out.iter().map(|out| out + out.conj()).collect();
            let got = match dft.packing() {
                Packing::Sparse => real,
                Packing::Full => {
                    let imaginary = out.iter().map(|out| (out - out.conj()) * -Complex64::i());
                    real.iter().copied().chain(imaginary).collect()
                }
            };
            assert!(close(&got, &expected, 1e-13), "{slots} slots, {levels} levels");
        }
    }
}

#[test]
fn slots_come_to_coefficients() {
    for (slots, levels) in shapes(12) {
        for (degree, constant) in [(2 * slots, 1.0), (2 * slots, -3.5), (4 * slots, 0.01), (16 * slots, 1.0)]
        {
            let dft = Dft::slots_to_coeffs(degree, slots, levels, constant).unwrap();
            let z = numbers(slots);
            let start = parts(&z);
            let got = match dft.packing() {
                Packing::Full => {
                    let (real, imaginary) = start.split_at(slots);
                    let whole = real.iter().zip(imaginary).map(|(a, b)| a + Complex64::i() * b).collect();
                    apply(dft.factors(), whole)
                }
                Packing::Sparse => {
                    let (first, rest) = dft.factors().split_at(1);
                    let both = apply(first, start);
                    let sum: Vec<Complex64> =
                        (0..2 * slots).map(|j| both[j] + both[(j + slots) % (2 * slots)]).collect();
                    assert_eq!(sum[..slots], sum[slots..]);
                    apply(rest, sum[..slots].to_vec())
                }
            };
            let got: Vec<Complex64> = got.iter().map(|value| value / constant).collect();
            assert!(close(&got, &z, 1e-12), "{slots} slots, {levels} levels");
        }
    }
}

#[test]
fn factors_have_few_diagonals_and_short_periods() {
    // 2^15 slots in four levels: 4 + 4 + 4 + 3 steps.
    let slots = 1 << 15;
    let to_slots = Dft::coeffs_to_slots(2 * slots, slots, 4, 1.0).unwrap();
    let counts: Vec<usize> = to_slots.factors().iter().map(Diagonals::count).collect();
    assert_eq!(counts, [16, 31, 31, 15]);
    let longest = |factor: &Diagonals| factor.iter().map(|(_, values)| values.len()).max().unwrap();
    let periods: Vec<usize> = to_slots.factors().iter().map(longest).collect();
    assert_eq!(periods, [1 << 15, 1 << 11, 1 << 7, 1 << 3]);
    let back = Dft::slots_to_coeffs(2 * slots, slots, 3, 1.0).unwrap();
    assert_eq!(back.factors().iter().map(Diagonals::count).collect::<Vec<_>>(), [63, 63, 32]);
    assert_eq!(back.factors().iter().map(longest).collect::<Vec<_>>(), [1 << 5, 1 << 10, 1 << 15]);
}

#[test]
fn what_does_not_fit_is_refused() {
    for levels in [0, 5, usize::MAX] {
        assert!(matches!(
            Dft::coeffs_to_slots(32, 16, levels, 1.0),
            Err(LinearTransformError::Budget { slots: 16, most: 4, .. })
        ));
        assert!(Dft::slots_to_coeffs(32, 16, levels, 1.0).is_err());
    }
    for slots in [0, 3, 32] {
        assert!(matches!(Dft::coeffs_to_slots(32, slots, 1, 1.0), Err(LinearTransformError::Encoder(_))));
    }
}
