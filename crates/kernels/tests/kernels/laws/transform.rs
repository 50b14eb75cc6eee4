//! Laws of the transform: it evaluates, its inverse undoes it, and products of values are products of polynomials.

use sunzi_kernels::{Buffer, Isa, KernelError, Later, Modulus, NttPlan, evaluation_exponent};

use crate::oracle::{Words, hard_vectors, isas, mul, pow};

/// Makes transforms of polynomials and of elements of real rings.
type Make = fn(Modulus, usize) -> Result<NttPlan, KernelError>;
const BOTH: [Make; 2] = [NttPlan::new, NttPlan::real];

fn plan_on(make: Make, isa: Isa, q: u64, n: usize) -> NttPlan {
    make(Modulus::with_isa(q, isa).unwrap(), n).unwrap()
}

/// Returns primes for both transforms of length n.
fn primes(n: usize) -> Vec<u64> {
    crate::oracle::primes(2 * n)
}

/// Returns the polynomial that a transform evaluates: Σ a_j·X^j, or modulo X^2n + 1 for a real ring a_0 + Σ a_j·X^j − Σ a_j·X^(2n−j).
fn polynomial(plan: &NttPlan, a: &[u64]) -> Vec<u64> {
    let q = plan.modulus().value();
    let mut all: Vec<u64> = a.iter().map(|x| x % q).collect();
    if plan.is_real() {
        all.push(0);
        all.extend(a[1..].iter().rev().map(|x| (q - x % q) % q));
    }
    all
}

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
    for (n, make) in [64, 128, 256].into_iter().flat_map(|n| BOTH.map(|make| (n, make))) {
        for q in primes(n) {
            // All words below 2q are inputs.
            for input in hard_vectors(2 * q - 1, n) {
                let mut expected = None;
                for isa in isas() {
                    let plan = plan_on(make, isa, q, n);
                    let expected = expected.get_or_insert_with(|| {
                        let point = |p| pow(plan.psi(), plan.exponent(p) as u64, q);
                        let a = polynomial(&plan, &input);
                        (0..n).map(|p| evaluate(&a, point(p), q)).collect::<Vec<_>>()
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
    let lengths = [6, 8, 11, 12, 13, 14, 15].map(|log_n| 1 << log_n);
    for (n, make) in lengths.into_iter().flat_map(|n| BOTH.map(|make| (n, make))) {
        for q in primes(n) {
            for (input, offset) in
                hard_vectors(2 * q - 1, n).into_iter().zip([0, 1, q, 2 * q - 1].into_iter().cycle())
            {
                for isa in isas() {
                    let plan = plan_on(make, isa, q, n);
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
    for (log_n, make) in (6..=17).flat_map(|log_n| BOTH.map(|make| (log_n, make))) {
        let n = 1 << log_n;
        for q in primes(n) {
            if log_n > 14 && q > 1 << 50 {
                continue;
            }
            for isa in isas() {
                let plan = plan_on(make, isa, q, n);
                let input = Words(q).below(q, n);
                let values = evaluate_recursively(&polynomial(&plan, &input), plan.psi(), q);
                let mut a = Buffer::from_slice(&input);
                plan.forward(&mut a).unwrap();
                let expected = |p| values[plan.exponent(p) / 2];
                assert!((0..n).all(|p| a[p] == expected(p)), "forward, n {n}, q {q}, {isa}");
                plan.inverse(&mut a).unwrap();
                assert!(a[..] == input[..], "inverse, n {n}, q {q}, {isa}");
            }
        }
    }
}

#[test]
fn inverse_takes_the_hardest_values() {
    let lengths = [64, 128, 512, 1 << 10, 1 << 13];
    for (n, make) in lengths.into_iter().flat_map(|n| BOTH.map(|make| (n, make))) {
        for q in primes(n) {
            for values in hard_vectors(q - 1, n) {
                let mut results = vec![];
                for isa in isas() {
                    let plan = plan_on(make, isa, q, n);
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
    for (n, make) in [64, 1024, 1 << 13].into_iter().flat_map(|n| BOTH.map(|make| (n, make))) {
        for q in primes(n) {
            let values = Words(3).below(q, n);
            for isa in isas() {
                let plan = plan_on(make, isa, q, n);
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

#[test]
fn real_transforms_have_the_exponents_that_are_one_modulo_four() {
    let (n, q) = (256, crate::oracle::primes(512)[0]);
    let plan = plan_on(NttPlan::real, Isa::Portable, q, n);
    assert!((0..n).all(|p| plan.exponent(p) == 2 * evaluation_exponent(n, p) - 1));
    let mut exponents: Vec<_> = (0..n).map(|p| plan.exponent(p)).collect();
    exponents.sort_unstable();
    assert!(exponents.into_iter().eq((1..4 * n).step_by(4)));
    // A prime that is 1 modulo 2n alone serves polynomials only.
    let odd = (1..).map(|k| (2 * k + 1) * 2 * n as u64 + 1).find(|&q| crate::oracle::is_prime(q)).unwrap();
    assert!(NttPlan::new(Modulus::new(odd).unwrap(), n).is_ok());
    let missing = KernelError::NoRootOfUnity { modulus: odd, order: 4 * n as u64 };
    assert_eq!(NttPlan::real(Modulus::new(odd).unwrap(), n).err(), Some(missing));
    assert!(matches!(
        NttPlan::real(Modulus::new(q).unwrap(), 96),
        Err(KernelError::UnsupportedLength { n: 96 })
    ));
}

#[test]
fn products_of_values_are_products_of_real_elements() {
    let n = 64;
    for q in primes(n) {
        let (x, y) = (Words(1).below(q, n), Words(2).below(q, n));
        for isa in isas() {
            let plan = plan_on(NttPlan::real, isa, q, n);
            let [left, right] = [&x, &y].map(|a| polynomial(&plan, a));
            let mut expected = vec![0; 2 * n];
            for (i, &a) in left.iter().enumerate() {
                for (j, &b) in right.iter().enumerate() {
                    let product = mul(a, b, q);
                    let signed = if i + j < 2 * n { product } else { (q - product) % q };
                    expected[(i + j) % (2 * n)] = (expected[(i + j) % (2 * n)] + signed) % q;
                }
            }
            let (mut a, mut b) = (Buffer::from_slice(&x), Buffer::from_slice(&y));
            plan.forward(&mut a).unwrap();
            plan.forward(&mut b).unwrap();
            plan.modulus().mul_assign(&mut a, &b).unwrap();
            plan.inverse(&mut a).unwrap();
            assert_eq!(polynomial(&plan, &a), expected, "q {q}, {isa}");
        }
    }
}
