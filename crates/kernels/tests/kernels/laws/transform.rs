//! Laws of the transform: it evaluates, its inverse undoes it, and products of values are products of polynomials.

use sunzi_kernels::{Buffer, Later, Modulus, NttPlan, evaluation_exponent};

use crate::oracle::{Words, hard_vectors, isas, mul, pow, primes};

/// Returns the polynomial's value at x by Horner's rule.
fn evaluate(a: &[u64], x: u64, q: u64) -> u64 {
    a.iter().rev().fold(0, |sum, &c| (mul(sum, x, q) + c % q) % q)
}

/// Evaluates by halves: a(x) = even(x²) + x·odd(x²), values in the order of exponents 1, 3, 5, ….
fn evaluate_recursively(a: &[u64], psi: u64, q: u64) -> Vec<u64> {
    if a.len() == 1 {
        return vec![a[0] % q];
    }
    let half = |offset: usize| a.iter().skip(offset).step_by(2).copied().collect::<Vec<_>>();
    let square = mul(psi, psi, q);
    let even = evaluate_recursively(&half(0), square, q);
    let odd = evaluate_recursively(&half(1), square, q);
    let mut x = psi;
    (0..a.len())
        .map(|k| {
            let value = (even[k % even.len()] + mul(x, odd[k % odd.len()], q)) % q;
            x = mul(x, square, q);
            value
        })
        .collect()
}

#[test]
fn forward_evaluates_at_odd_powers() {
    for n in [64, 128, 256] {
        for q in primes(n) {
            // All words below 2q are inputs.
            for input in hard_vectors(2 * q - 1, n) {
                let mut expected = None;
                for isa in isas() {
                    let plan = NttPlan::new(Modulus::with_isa(q, isa).unwrap(), n).unwrap();
                    let expected = expected.get_or_insert_with(|| {
                        let point = |p| pow(plan.psi(), evaluation_exponent(n, p) as u64, q);
                        (0..n).map(|p| evaluate(&input, point(p), q)).collect::<Vec<_>>()
                    });
                    let mut a = Buffer::from_slice(&input);
                    plan.forward(&mut a).unwrap();
                    assert_eq!(&a[..], &expected[..], "n {n}, q {q}, {isa}");
                }
            }
        }
    }
}

/// Checks that outer levels, of words where they stand or of others and an offset, and then the inner ones of a few chunks at a time, from the last
/// to the first, give the whole transform.
#[test]
fn parts_of_a_forward_transform_make_the_whole() {
    for log_n in [6, 8, 11, 12, 13, 14, 15] {
        let n = 1 << log_n;
        for q in primes(n) {
            for (input, offset) in
                hard_vectors(2 * q - 1, n).into_iter().zip([0, 1, q, 2 * q - 1].into_iter().cycle())
            {
                for isa in isas() {
                    let plan = NttPlan::new(Modulus::with_isa(q, isa).unwrap(), n).unwrap();
                    let shifted: Vec<u64> = input.iter().map(|word| word.saturating_sub(offset)).collect();
                    let mut whole = Buffer::from_slice(&shifted);
                    whole.iter_mut().for_each(|word| *word += offset);
                    let mut here = whole.clone();
                    plan.forward(&mut whole).unwrap();
                    let mut from = Buffer::from_slice(&vec![u64::MAX; n]);
                    plan.forward_outer_from(&mut from, &shifted, offset).unwrap();
                    plan.forward_outer(&mut here).unwrap();
                    assert!(from[..] == here[..], "n {n}, q {q}, {isa}, offset {offset}");
                    let len = (2 * plan.chunk()).min(n);
                    for (i, part) in here.chunks_mut(len).enumerate().rev() {
                        let later = [Later::from(&input[..n - 1]), Later::default()];
                        plan.forward_inner(i * len, part, later).unwrap();
                    }
                    assert!(here[..] == whole[..], "n {n}, q {q}, {isa}, offset {offset}");
                }
            }
        }
    }
}

#[test]
fn every_length_matches_the_definition_and_returns() {
    for log_n in 6..=17 {
        let n = 1 << log_n;
        for q in primes(n) {
            if log_n > 14 && q > 1 << 50 {
                continue;
            }
            for isa in isas() {
                let plan = NttPlan::new(Modulus::with_isa(q, isa).unwrap(), n).unwrap();
                let input = Words(q).below(q, n);
                let values = evaluate_recursively(&input, plan.psi(), q);
                let mut a = Buffer::from_slice(&input);
                plan.forward(&mut a).unwrap();
                let expected = |p| values[evaluation_exponent(n, p) / 2];
                assert!((0..n).all(|p| a[p] == expected(p)), "forward, n {n}, q {q}, {isa}");
                plan.inverse(&mut a).unwrap();
                assert!(a[..] == input[..], "inverse, n {n}, q {q}, {isa}");
            }
        }
    }
}

#[test]
fn inverse_takes_the_hardest_values() {
    for n in [64, 128, 512, 1 << 10, 1 << 13] {
        for q in primes(n) {
            for values in hard_vectors(q - 1, n) {
                let mut results = vec![];
                for isa in isas() {
                    let plan = NttPlan::new(Modulus::with_isa(q, isa).unwrap(), n).unwrap();
                    let mut a = Buffer::from_slice(&values);
                    plan.inverse(&mut a).unwrap();
                    assert!(a.iter().all(|&word| word < q));
                    results.push(a.to_vec());
                    plan.forward(&mut a).unwrap();
                    assert!(a[..] == values[..], "n {n}, q {q}, {isa}");
                }
                assert!(results.iter().all(|result| *result == results[0]));
            }
        }
    }
}

#[test]
fn scale_multiplies() {
    for n in [64, 1024, 1 << 13] {
        for q in primes(n) {
            let values = Words(3).below(q, n);
            for isa in isas() {
                let plan = NttPlan::new(Modulus::with_isa(q, isa).unwrap(), n).unwrap();
                let mut plain = Buffer::from_slice(&values);
                plan.inverse(&mut plain).unwrap();
                for c in [0, 1, n as u64, q / 2, q - 1] {
                    let mut scaled = Buffer::from_slice(&values);
                    plan.inverse_scaled(&mut scaled, &plan.scale(c).unwrap()).unwrap();
                    assert!(plain.iter().zip(&scaled[..]).all(|(&x, &y)| mul(x, c, q) == y));
                    let mut elsewhere = Buffer::from_slice(&vec![u64::MAX; n]);
                    plan.inverse_scaled_into(&mut elsewhere, &values, &plan.scale(c).unwrap()).unwrap();
                    assert_eq!(elsewhere[..], scaled[..]);
                }
            }
        }
    }
}

#[test]
fn products_of_values_are_negacyclic_convolutions() {
    let n = 128;
    for q in primes(n) {
        let (x, y) = (Words(1).below(q, n), Words(2).below(q, n));
        let mut expected = vec![0; n];
        for (i, &a) in x.iter().enumerate() {
            for (j, &b) in y.iter().enumerate() {
                let product = mul(a, b, q);
                let signed = if i + j < n { product } else { (q - product) % q };
                expected[(i + j) % n] = (expected[(i + j) % n] + signed) % q;
            }
        }
        for isa in isas() {
            let modulus = Modulus::with_isa(q, isa).unwrap();
            let plan = NttPlan::new(modulus, n).unwrap();
            let (mut a, mut b) = (Buffer::from_slice(&x), Buffer::from_slice(&y));
            plan.forward(&mut a).unwrap();
            plan.forward(&mut b).unwrap();
            modulus.mul_assign(&mut a, &b).unwrap();
            plan.inverse(&mut a).unwrap();
            assert_eq!(&a[..], &expected[..], "q {q}, {isa}");
        }
    }
}
