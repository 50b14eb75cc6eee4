//! Conversions are matrix products of integers, reduced.

use num_bigint::BigUint;
use sunzi_kernels::{Conversion, Isa, Modulus};

use crate::oracle::{Words, isas, prime_below};

/// Computes the matrix product by its definition.
fn expected(input: &[Vec<u64>], matrix: impl Fn(usize, usize) -> u64, to: &[u64]) -> Vec<Vec<u64>> {
    let column = |(j, &p): (usize, &u64)| {
        let value = |k: usize| {
            let terms = input.iter().enumerate().map(|(i, x)| BigUint::from(x[k]) * (matrix(i, j) % p));
            u64::try_from(terms.sum::<BigUint>() % p).unwrap()
        };
        (0..input[0].len()).map(value).collect()
    };
    to.iter().enumerate().map(column).collect()
}

fn check(from: &[u64], to: &[u64], input: &[Vec<u64>], matrix: impl Fn(usize, usize) -> u64) {
    let expected = expected(input, &matrix, to);
    let bind = |moduli: &[u64], isa: Isa| -> Vec<Modulus> {
        moduli.iter().map(|&q| Modulus::with_isa(q, isa).unwrap()).collect()
    };
    for isa in isas() {
        let conversion = Conversion::new(&bind(from, isa), &bind(to, isa), &matrix).unwrap();
        let mut out = vec![vec![u64::MAX; input[0].len()]; to.len()];
        let slices: Vec<&[u64]> = input.iter().map(Vec::as_slice).collect();
        let mut views: Vec<&mut [u64]> = out.iter_mut().map(Vec::as_mut_slice).collect();
        conversion.apply(&slices, &mut views).unwrap();
        assert!(out == expected, "{isa}: {from:?} to {to:?}");
    }
}

fn bases() -> Vec<Vec<u64>> {
    let chain = |bound: u64, count: usize| {
        let mut primes = vec![prime_below(bound, 1 << 13)];
        while primes.len() < count {
            primes.push(prime_below(primes[primes.len() - 1], 1 << 13));
        }
        primes
    };
    let default = (1 << 52) / 18;
    let mut mixed = chain(default, 3);
    mixed.extend([1 << 16, prime_below(1 << 62, 1 << 13), (1 << 49) - 1, 3, 65_537]);
    vec![
        chain(default, 1),
        chain(default, 8),
        chain(1 << 49, 9),
        chain(1 << 62, 3),
        mixed,
        chain(default, 17),
    ]
}

#[test]
fn conversions_match_big_integers_at_the_ends() {
    for from in bases() {
        for to in bases() {
            let len = 19;
            let largest: Vec<Vec<u64>> = from.iter().map(|q| vec![q - 1; len]).collect();
            let zeros: Vec<Vec<u64>> = from.iter().map(|_| vec![0; len]).collect();
            let random: Vec<Vec<u64>> = from.iter().map(|&q| Words(q).below(q, len)).collect();
            let mixed: Vec<Vec<u64>> = from
                .iter()
                .enumerate()
                .map(|(i, q)| (0..len).map(|k| if (k >> (i % 4)) & 1 == 0 { q - 1 } else { 0 }).collect())
                .collect();
            for input in [largest, zeros, random, mixed] {
                check(&from, &to, &input, |_, j| to[j] - 1);
                check(&from, &to, &input, |_, _| 0);
                check(&from, &to, &input, |i, _| if i % 2 == 0 { u64::MAX } else { 1 });
                check(&from, &to, &input, |i, j| Words((i * 100 + j) as u64).word());
            }
        }
    }
}

#[test]
fn conversions_take_many_terms_and_any_length() {
    let q = prime_below((1 << 52) / 18, 1 << 13);
    for terms in [32, 33, 65, 130] {
        check(&vec![q; terms], &[q, 1 << 16, (1 << 49) - 1], &vec![vec![q - 1; 3]; terms], |_, _| q - 1);
    }
    for len in [0, 1, 7, 8, 9, 63, 64, 65, 200] {
        let input = vec![Words(1).below(q, len), Words(2).below(q, len), Words(3).below(q, len)];
        check(&[q; 3], &[q, 12_289, 1 << 30], &input, |i, j| Words((i + 10 * j) as u64).word());
    }
}

#[test]
fn shapes_are_checked() {
    let q = Modulus::new(97).unwrap();
    let conversion = Conversion::new(&[q, q], &[q], |_, _| 1).unwrap();
    let mut out = [0; 2];
    assert!(conversion.apply(&[&[1, 2]], &mut [&mut out]).is_err());
    assert!(conversion.apply(&[&[1, 2], &[1]], &mut [&mut out]).is_err());
    assert!(conversion.apply(&[&[1, 2], &[1, 2]], &mut []).is_err());
    assert!(conversion.apply(&[&[1, 2], &[1, 2]], &mut [&mut out]).is_ok());
    assert_eq!(out, [2, 4]);
    let none = Conversion::new(&[], &[q], |_, _| 1).unwrap();
    none.apply(&[], &mut [&mut out]).unwrap();
    assert_eq!(out, [0, 0]);
}
