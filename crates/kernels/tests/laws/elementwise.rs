//! One result a word, at every length and at the ends of every range.

use num_bigint::BigUint;
use sunzi_kernels::Modulus;

use crate::oracle::{Words, hard_vectors, isas, mul, primes};

/// Moduli of every kind: transform primes, the smallest, odd and even ones.
fn moduli() -> Vec<u64> {
    let mut moduli = primes(64);
    moduli.extend([2, 3, 4, 5, 7, 1 << 16, (1 << 49) - 1, (1 << 49) + 1, 1 << 61, (1 << 62) - 1]);
    moduli.push(((1 << 52) / 18) | 1);
    moduli
}

fn each(check: impl Fn(Modulus, &[u64], &[u64])) {
    for q in moduli() {
        for len in [1, 7, 8, 9, 64, 67] {
            let vectors = hard_vectors(q - 1, len);
            for isa in isas() {
                let modulus = Modulus::with_isa(q, isa).unwrap();
                for (x, y) in vectors.iter().zip(vectors.iter().cycle().skip(1)) {
                    check(modulus, x, y);
                }
                check(modulus, &vectors[1], &vectors[1]);
            }
        }
    }
}

fn map(x: &[u64], y: &[u64], f: impl Fn(u64, u64) -> u64) -> Vec<u64> {
    x.iter().zip(y).map(|(&a, &b)| f(a, b)).collect()
}

#[test]
fn sums_and_products() {
    each(|modulus, x, y| {
        let q = modulus.value();
        let run = |f: &dyn Fn(&mut [u64])| {
            let mut out = x.to_vec();
            f(&mut out);
            out
        };
        assert_eq!(run(&|a| modulus.add_assign(a, y).unwrap()), map(x, y, |a, b| (a + b) % q));
        assert_eq!(run(&|a| modulus.sub_assign(a, y).unwrap()), map(x, y, |a, b| (a + q - b) % q));
        assert_eq!(run(&|a| modulus.neg_assign(a)), map(x, y, |a, _| (q - a) % q));
        let (mut sum, mut difference) = (x.to_vec(), y.to_vec());
        modulus.sum_difference_assign(&mut sum, &mut difference).unwrap();
        assert_eq!(sum, map(x, y, |a, b| (a + b) % q));
        assert_eq!(difference, map(x, y, |a, b| (a + q - b) % q));
        assert_eq!(
            run(&|a| modulus.mul_assign(a, y).unwrap()),
            map(x, y, |a, b| mul(a, b, q)),
            "{modulus:?}"
        );
        assert_eq!(
            run(&|a| modulus.mul_add_assign(a, x, y).unwrap()),
            map(x, y, |a, b| (mul(a, b, q) + a) % q)
        );
        for c in [0, 1, q / 2, q - 1] {
            assert_eq!(run(&|a| modulus.mul_scalar_assign(a, c).unwrap()), map(x, y, |a, _| mul(a, c, q)));
        }
    });
}

#[test]
fn reductions_of_any_word() {
    for q in moduli() {
        let mut words = Words(q).below(u64::MAX, 61);
        words.extend([0, 1, q - 1, q, q + 1, 2 * q, (1 << 52) - 1, 1 << 52, 1 << 63, u64::MAX]);
        let signed: Vec<i64> = words.iter().map(|w| w.cast_signed()).collect();
        for isa in isas() {
            let modulus = Modulus::with_isa(q, isa).unwrap();
            let mut out = vec![0; words.len()];
            modulus.reduce_into(&mut out, &words).unwrap();
            assert_eq!(out, map(&words, &words, |w, _| w % q), "{modulus:?}");
            modulus.reduce_signed_into(&mut out, &signed).unwrap();
            let residue = |w: &i64| i128::from(*w).rem_euclid(i128::from(q)) as u64;
            assert_eq!(out, signed.iter().map(residue).collect::<Vec<_>>(), "{modulus:?}");
        }
    }
}

#[test]
fn inner_products_of_any_length() {
    for q in moduli() {
        for terms in [0, 1, 2, 3, 16, 17, 31, 32, 33, 64, 65, 4096] {
            let len = if terms > 100 { 9 } else { 16 + 7 * (terms % 8) };
            for (x, y) in
                [(vec![q - 1; len], vec![q - 1; len]), (Words(1).below(q, len), Words(2).below(q, len))]
            {
                let (a, b) = (vec![&x[..]; terms], vec![&y[..]; terms]);
                let sum = |(&a, &b): (&u64, &u64)| {
                    let sum = BigUint::from(a) * BigUint::from(b) * BigUint::from(terms);
                    u64::try_from(sum % q).unwrap()
                };
                let expected: Vec<u64> = x.iter().zip(&y).map(sum).collect();
                // Another list of second factors: each but the first is 1.
                let ones = vec![1; len];
                let c: Vec<&[u64]> = (0..terms).map(|i| if i == 0 { &y[..] } else { &ones[..] }).collect();
                let sum = |(&a, &b): (&u64, &u64)| {
                    let sum = BigUint::from(a) * (BigUint::from(b) + BigUint::from(terms.max(1) - 1));
                    if terms == 0 { 0 } else { u64::try_from(sum % q).unwrap() }
                };
                let expected_second: Vec<u64> = x.iter().zip(&y).map(sum).collect();
                for isa in isas() {
                    let modulus = Modulus::with_isa(q, isa).unwrap();
                    let (mut out, mut second) = (vec![q; len], vec![q; len]);
                    modulus.inner_product(&mut out, &a, &b).unwrap();
                    assert_eq!(out, expected, "q {q}, {terms} terms, {isa}");
                    out.fill(q);
                    modulus.inner_product_pair([&mut out, &mut second], &a, [&b, &c]).unwrap();
                    assert_eq!((&out, &second), (&expected, &expected_second), "q {q}, {terms} terms, {isa}");
                }
            }
        }
    }
}
