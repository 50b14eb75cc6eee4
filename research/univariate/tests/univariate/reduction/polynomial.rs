//! Reductions modulo polynomials that are not cyclotomic.

use sunzi_kernels::Modulus;
use sunzi_math::primes_with_bits;
use sunzi_ring::RingError;
use sunzi_univariate::PolynomialReducer;

use super::{divide, product};

/// Returns X^n plus terms below.
fn sparse(n: usize, terms: &[(usize, i64)]) -> Vec<i64> {
    let mut f = vec![0; n + 1];
    f[n] = 1;
    terms.iter().for_each(|&(at, c)| f[at] += c);
    f
}

/// Returns numbers that look random.
fn numbers(seed: u64, count: usize) -> impl Iterator<Item = u64> {
    let step =
        |x: &u64| Some(x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407));
    std::iter::successors(Some(seed), step).skip(1).map(|x| x >> 7).take(count)
}

#[test]
fn both_reductions_are_those_of_long_division() {
    let dense: Vec<i64> = numbers(9, 100).map(|x| (x % 11) as i64 - 5).chain([1]).collect();
    let polynomials = [
        sparse(2, &[(0, -1), (1, -1)]),
        sparse(67, &[(0, -1), (1, -1)]),
        sparse(127, &[(0, 1), (3, 1)]),
        sparse(128, &[(0, 3), (127, -2)]),
        sparse(653, &[(0, -1), (1, -1)]),
        dense,
    ];
    for (f, bits) in polynomials.iter().flat_map(|f| [(f, 30), (f, 48), (f, 62)]) {
        let n = f.len() - 1;
        let length = (2 * n).next_power_of_two().max(128);
        let q = primes_with_bits(bits, length as u64, 1).unwrap()[0];
        let (reducer, modulus) = (PolynomialReducer::new(f, q).unwrap(), Modulus::new(q).unwrap());
        assert_eq!((reducer.length(), reducer.degree()), (length, n));
        let extreme = vec![q - 1; n];
        let random: Vec<u64> = numbers(5, n).map(|x| x % q).collect();
        for (a, b) in [(&extreme, &extreme), (&random, &extreme), (&random, &random)] {
            let padded = |a: &[u64]| {
                let mut values = a.to_vec();
                values.resize(length, 0);
                reducer.transform(&mut values).unwrap();
                values
            };
            let mut values = padded(a);
            reducer.multiply(&mut values, &padded(b)).unwrap();
            let mut divided = values.clone();
            reducer.reduce(&mut values).unwrap();
            let expected = divide(&product(a, b, modulus), f, modulus);
            assert_eq!(values[..n], expected, "degree {n}, {bits} bits");
            reducer.reduce_and_divide(&mut divided).unwrap();
            let mut factor = vec![0; length / 2 + 1];
            (factor[0], factor[length / 2]) = (1, 1);
            let back = divide(&product(&divided[..n], &factor, modulus), f, modulus);
            assert_eq!(back, expected, "degree {n}, {bits} bits, by Montgomery");
        }
    }
}

#[test]
fn polynomials_that_cannot_be_reduced_by_are_refused() {
    let q = primes_with_bits(30, 256, 1).unwrap()[0];
    let refused =
        |f: &[i64]| matches!(PolynomialReducer::new(f, q).err(), Some(RingError::OutOfRange { .. }));
    assert!(refused(&[]) && refused(&[1, 1]) && refused(&[1, 0, 2]));
    // M = X^64 + 1 itself.
    assert!(refused(&sparse(64, &[(0, 1)])));
    assert!(PolynomialReducer::new(&sparse(65, &[(0, 5)]), q).is_ok());
}
