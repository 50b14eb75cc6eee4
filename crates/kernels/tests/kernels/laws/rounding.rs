//! Sums that wrap and sums that are rounded, against exact integers.

use num_bigint::BigUint;
use sunzi_kernels::{KernelError, Modulus, NearestSum, RoundedSum, WrappingSum};

use crate::oracle::{Words, hard_vectors, isas, prime_below};

#[test]
fn wrapping_sums_are_sums_modulo_two_to_the_64() {
    for len in [1, 31, 32, 100] {
        for terms in [0, 1, 2, 7, 40] {
            let mut words = Words(len as u64 + terms as u64);
            let column: Vec<u64> = (0..terms).map(|_| words.word()).collect();
            let rows: Vec<Vec<u64>> =
                hard_vectors(u64::MAX - 1, len).into_iter().cycle().take(terms).collect();
            let rows: Vec<&[u64]> = rows.iter().map(Vec::as_slice).collect();
            let expected: Vec<u64> = (0..len)
                .map(|k| {
                    let products =
                        rows.iter().zip(&column).map(|(row, &c)| u128::from(row[k]) * u128::from(c));
                    products.fold(77_u64, |sum, product| sum.wrapping_add(product as u64))
                })
                .collect();
            for isa in isas() {
                let mut out = vec![1; len];
                WrappingSum::new(isa, 77, &column).unwrap().apply(&rows, &mut out).unwrap();
                assert_eq!(out, expected, "{isa}");
            }
        }
    }
}

/// Returns lists of moduli: short, the longest whose words are exact doubles, beyond, the longest, mixed, many.
fn bases() -> Vec<Vec<u64>> {
    let chain = |bound: u64, count: usize| {
        let mut primes = vec![prime_below(bound, 1 << 13)];
        while primes.len() < count {
            primes.push(prime_below(primes[primes.len() - 1], 1 << 13));
        }
        primes
    };
    vec![
        vec![17, 19, 23],
        chain(1 << 30, 13),
        chain((1 << 52) / 18, 4),
        chain(1 << 52, 2),
        chain(1 << 53, 2),
        chain(1 << 62, 6),
        [chain(1 << 62, 1), chain(1 << 30, 1), vec![3], chain(1 << 55, 2)].concat(),
        chain(1 << 62, 40),
    ]
}

/// Returns whether a word is right, and whether it had to be: Σ x_i·t/q_i within 1/2 − error of an integer.
fn judge(from: &[u64], x: &[u64], t: u64, error: f64, word: u64) -> (bool, bool) {
    let q: BigUint = from.iter().map(|&q| BigUint::from(q)).product();
    let numerator: BigUint = from.iter().zip(x).map(|(&m, &x)| &q / m * x * t).sum();
    let nearest = (&numerator * 2_u32 + &q) / (&q * 2_u32);
    let (low, high) = (&nearest * &q, numerator);
    let distance = if low > high { low - high } else { high - low };
    // Distance in units of 2^-60, rounded towards what need not be right.
    let distance = u64::try_from((distance << 60) / &q).unwrap() + 1;
    let margin = ((0.5 - error).max(0.0) * 60_f64.exp2()) as u64;
    (BigUint::from(word) == nearest % t, distance < margin)
}

#[test]
fn rounded_sums_are_right_within_their_error() {
    let (mut sure, mut wrong) = (0, 0);
    for from in bases() {
        for t in [2, 3, 1 << 10, 65_537, 1 << 32, (1 << 44) + 7, 1 << 49, (1 << 59) + 55, (1 << 60) - 1] {
            for double in [true, false] {
                let len = 100;
                let rows: Vec<Vec<u64>> = from
                    .iter()
                    .enumerate()
                    .map(|(i, &q)| hard_vectors(q - 1, len).swap_remove(if i == 0 { 0 } else { i * i % 6 }))
                    .collect();
                let rows: Vec<&[u64]> = rows.iter().map(Vec::as_slice).collect();
                let mut first = None;
                for isa in isas() {
                    let moduli: Vec<Modulus> =
                        from.iter().map(|&q| Modulus::with_isa(q, isa).unwrap()).collect();
                    let make = if double { RoundedSum::double } else { RoundedSum::fixed };
                    let sum = make(isa, &moduli, t).unwrap();
                    let mut out = vec![0; len];
                    sum.apply(&rows, &mut out).unwrap();
                    let same = first.get_or_insert_with(|| out.clone());
                    assert_eq!(*same, out, "{isa}");
                    for (k, &word) in out.iter().enumerate() {
                        let x: Vec<u64> = rows.iter().map(|row| row[k]).collect();
                        let (right, must) = judge(&from, &x, t, sum.error(), word);
                        assert!(right || !must, "{isa} {from:?} t {t} double {double}: {x:?} gives {word}");
                        assert!(sum.error() > 0.5 || word < t);
                        sure += usize::from(must);
                        wrong += usize::from(!right);
                    }
                }
            }
        }
    }
    assert!(sure > 5000, "{sure}");
    assert!(wrong > 0, "the error is real");
}

/// Checks ⌊start + Σ x_i/q_i⌉, words at the ends of their ranges and sums next to a half among them.
#[test]
fn nearest_sums_are_right_within_their_error() {
    let (mut sure, mut wrong) = (0, 0);
    for from in bases() {
        let q: BigUint = from.iter().map(|&q| BigUint::from(q)).product();
        // x ≈ q/2: every x_i = |x·(q/q_i)^-1|_{q_i}.
        let near_half = |i: usize, offset: u32| -> u64 {
            let x = if offset < 50 { &q / 2_u32 + offset } else { &q / 2_u32 - (offset - 50) };
            let inverse = (&q / from[i]).modinv(&from[i].into()).unwrap();
            u64::try_from(x * inverse % from[i]).unwrap()
        };
        let row = |(i, &q): (usize, &u64)| -> Vec<u64> {
            let hard = hard_vectors(q - 1, 100).swap_remove(if i == 0 { 0 } else { i * i % 6 });
            hard.into_iter().chain((0..100).map(|offset| near_half(i, offset))).collect()
        };
        let rows: Vec<Vec<u64>> = from.iter().enumerate().map(row).collect();
        let rows: Vec<&[u64]> = rows.iter().map(Vec::as_slice).collect();
        let terms: Vec<(u64, f64)> = from.iter().map(|&q| (q - 1, 1.0 / q as f64)).collect();
        for (start, halves) in [(0.0, 0_u32), (3.5, 7)] {
            let mut first = None;
            for isa in isas() {
                let sum = NearestSum::new(isa, start, &terms).unwrap();
                assert!(sum.error() < 1e-12, "{}", sum.error());
                let mut out = vec![0; 200];
                sum.apply(&rows, &mut out).unwrap();
                let same = first.get_or_insert_with(|| out.clone());
                assert_eq!(*same, out, "{isa}");
                for (k, &word) in out.iter().enumerate() {
                    let exact: BigUint =
                        from.iter().zip(&rows).map(|(&m, row)| &q / m * row[k]).sum::<BigUint>() * 2_u32
                            + &q * halves;
                    let nearest = (&exact + &q) / (&q * 2_u32);
                    let (a, b) = (&nearest * &q * 2_u32, exact);
                    let distance = if a > b { a - b } else { b - a };
                    let distance = u64::try_from((distance << 60) / (&q * 2_u32)).unwrap() + 1;
                    let must = distance < ((0.5 - sum.error()) * 60_f64.exp2()) as u64;
                    let right = BigUint::from(word) == nearest;
                    assert!(right || !must, "{isa} {from:?}: {word}, not {nearest}");
                    assert!(
                        right || BigUint::from(word + 1) == nearest || BigUint::from(word) == nearest + 1_u32
                    );
                    sure += usize::from(must);
                    wrong += usize::from(!right);
                }
            }
        }
    }
    assert!(sure > 1000 && wrong > 0, "{sure} {wrong}");
}

#[test]
fn fixed_point_takes_every_modulus_and_doubles_what_they_should() {
    let isa = isas()[0];
    let of = |bound: u64, count: usize| -> Vec<Modulus> {
        let mut q = bound;
        (0..count)
            .map(|_| {
                q = prime_below(q, 1 << 13);
                Modulus::with_isa(q, isa).unwrap()
            })
            .collect()
    };
    let (paper30, paper62) = (of(1 << 30, 13), of(1 << 62, 6));
    assert!(RoundedSum::double(isa, &paper30, 1 << 10).unwrap().error() < 1e-10);
    assert!(RoundedSum::double(isa, &paper62, 1 << 10).unwrap().error() < 1e-10);
    assert!(RoundedSum::double(isa, &paper30, 1 << 50).unwrap().error() > 0.5);
    assert!(RoundedSum::fixed(isa, &paper62, 1 << 32).unwrap().error() < 1e-8);
    assert!(RoundedSum::fixed(isa, &of(1 << 62, 26), (1 << 60) - 1).unwrap().error() < 0.25);
}

#[test]
fn arguments_are_checked() {
    let isa = isas()[0];
    let sum = WrappingSum::new(isa, 0, &[1, 2]).unwrap();
    assert!(matches!(sum.apply(&[&[1]], &mut [0]), Err(KernelError::CountMismatch { .. })));
    assert!(matches!(sum.apply(&[&[1], &[1, 2]], &mut [0]), Err(KernelError::LengthMismatch { .. })));
    assert!(matches!(WrappingSum::new(isa, 0, &[0; 5000]), Err(KernelError::TooManyTerms { .. })));
    let sum = NearestSum::new(isa, 0.0, &[(3, 1.0), (5, 0.5)]).unwrap();
    assert!(matches!(sum.apply(&[&[1]], &mut [0]), Err(KernelError::CountMismatch { .. })));
    assert!(matches!(sum.apply(&[&[1], &[1, 2]], &mut [0]), Err(KernelError::LengthMismatch { .. })));
    assert!(matches!(NearestSum::new(isa, 0.0, &[(1, 1.0); 5000]), Err(KernelError::TooManyTerms { .. })));
    for t in [0, 1, 1 << 62] {
        assert!(matches!(RoundedSum::double(isa, &[], t), Err(KernelError::ModulusOutOfRange { .. })));
        assert!(matches!(RoundedSum::fixed(isa, &[], t), Err(KernelError::ModulusOutOfRange { .. })));
    }
}
