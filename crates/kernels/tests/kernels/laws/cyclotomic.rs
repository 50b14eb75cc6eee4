//! Laws of transforms of any index: they evaluate at the primitive roots of unity, their inverses undo them, and both do so for the words
//! that are hardest for lazy arithmetic.

use sunzi_kernels::{Buffer, CyclotomicPlan, KernelError, Modulus};
use sunzi_math::RingIndex;

use crate::oracle::{Words, hard_vectors, isas, mul, pow, prime_below};

/// Indices: prime, prime power, two to four factors, even; convolutions that are powers of two, of several rows, and padded.
const SMALL: [u64; 46] = [
    3, 4, 5, 7, 8, 9, 11, 12, 13, 15, 16, 17, 19, 20, 21, 23, 24, 25, 27, 28, 31, 32, 33, 35, 36, 39, 40, 45,
    47, 48, 49, 51, 56, 60, 63, 64, 72, 75, 81, 84, 85, 105, 125, 151, 165, 255,
];
const LARGER: [u64; 14] = [257, 343, 420, 455, 512, 625, 765, 1155, 1285, 3855, 4369, 13107, 1 << 12, 2187];
const LARGEST: [u64; 4] = [21_845, 32_767, 65_535, 65_537];

/// Returns one prime just below the top of every range that a table treats alike, and some in between.
fn primes(index: &RingIndex) -> Vec<u64> {
    let (step, limit) = (index.root_order(), 1u64 << 52);
    let tops = [1 << 30, 1 << 46, limit / 18, 1 << 48, limit / 10, 1 << 49, 1 << 50, 1 << 60, 1 << 62];
    // Ranges where such primes are not too rare.
    tops.into_iter().filter(|bound| bound / step > 1 << 10).map(|bound| prime_below(bound, step)).collect()
}

fn plan(index: &RingIndex, q: u64, isa: sunzi_kernels::Isa) -> CyclotomicPlan {
    CyclotomicPlan::new(Modulus::with_isa(q, isa).unwrap(), index).unwrap()
}

/// Evaluates by the definition: Σ a_j·ω^(e·e_j) for the exponent e_j of basis element j.
fn evaluate(a: &[u64], powers: &[u64], exponents: &[u64], e: u64, q: u64) -> u64 {
    let m = powers.len() as u64;
    let term = |(&a, &exponent): (&u64, &u64)| u128::from(mul(a, powers[(e * exponent % m) as usize], q));
    (a.iter().zip(exponents).map(term).sum::<u128>() % u128::from(q)) as u64
}

fn forward_and_back(index: &RingIndex, q: u64, input: &[u64], positions: &[usize]) {
    let exponents: Vec<u64> = (0..index.degree()).map(|j| index.exponent(j)).collect();
    let mut first: Option<Vec<u64>> = None;
    for isa in isas() {
        let plan = plan(index, q, isa);
        let mut a = Buffer::from_slice(input);
        plan.forward(&mut a).unwrap();
        if let Some(first) = &first {
            assert!(a[..] == first[..], "m {}, q {q}, {isa}", index.value());
        } else {
            let order = plan.evaluation_exponents();
            let powers: Vec<u64> = std::iter::successors(Some(1), |&x| Some(mul(x, plan.root(), q)))
                .take(index.value() as usize)
                .collect();
            for &p in positions {
                let expected = evaluate(input, &powers, &exponents, order[p], q);
                assert_eq!(a[p], expected, "m {}, q {q}, {isa}, position {p}", index.value());
            }
            first = Some(a.to_vec());
        }
        plan.inverse(&mut a).unwrap();
        assert!(a.iter().zip(input).all(|(x, y)| *x == y % q), "back, m {}, q {q}, {isa}", index.value());
    }
}

#[test]
fn forward_evaluates_at_primitive_roots() {
    for m in SMALL {
        let index = RingIndex::new(m).unwrap();
        let all: Vec<usize> = (0..index.degree()).collect();
        for q in primes(&index) {
            for input in hard_vectors(2 * q - 1, index.degree()) {
                forward_and_back(&index, q, &input, &all);
            }
        }
    }
}

#[test]
fn larger_indices_evaluate_too() {
    for m in LARGER.into_iter().chain(LARGEST) {
        let index = RingIndex::new(m).unwrap();
        let n = index.degree();
        let some: Vec<usize> = (0..n).step_by(n / 16 + 1).chain([n - 1]).collect();
        for q in primes(&index).into_iter().filter(|&q| n < 1 << 14 || q < 1 << 50) {
            let random = Words(q).below(2 * q, n);
            let inputs =
                if n < 1 << 12 { hard_vectors(2 * q - 1, n) } else { vec![vec![2 * q - 1; n], random] };
            for input in inputs {
                forward_and_back(&index, q, &input, &some);
            }
        }
    }
}

#[test]
fn exponents_are_the_units() {
    for m in SMALL.into_iter().chain(LARGER) {
        let index = RingIndex::new(m).unwrap();
        let mut expected: Vec<u64> = (0..m).filter(|&k| sunzi_math::gcd(k, m) == 1).collect();
        let mut lists = primes(&index)[2..4]
            .iter()
            .map(|&q| plan(&index, q, sunzi_kernels::Isa::Portable))
            .map(|plan| plan.evaluation_exponents())
            .collect::<Vec<_>>();
        assert_eq!(lists[0], lists[1]);
        lists[0].sort_unstable();
        expected.sort_unstable();
        assert_eq!(lists[0], expected, "{m}");
    }
}

#[test]
fn inverse_takes_the_hardest_values() {
    for m in SMALL.into_iter().chain(LARGER) {
        let index = RingIndex::new(m).unwrap();
        let n = index.degree();
        for q in primes(&index).into_iter().filter(|&q| n < 1000 || q < 1 << 50) {
            for values in hard_vectors(q - 1, n) {
                let mut first: Option<Vec<u64>> = None;
                for isa in isas() {
                    let plan = plan(&index, q, isa);
                    let mut a = Buffer::from_slice(&values);
                    plan.inverse(&mut a).unwrap();
                    assert!(a.iter().all(|&word| word < q));
                    assert_eq!(first.get_or_insert_with(|| a.to_vec())[..], a[..]);
                    plan.forward(&mut a).unwrap();
                    assert!(a[..] == values[..], "m {m}, q {q}, {isa}");
                }
            }
        }
    }
}

#[test]
fn scale_multiplies() {
    for m in SMALL {
        let index = RingIndex::new(m).unwrap();
        for q in primes(&index) {
            let values = Words(3).below(q, index.degree());
            for isa in isas() {
                let plan = plan(&index, q, isa);
                let mut plain = Buffer::from_slice(&values);
                plan.inverse(&mut plain).unwrap();
                for c in [0, 1, m, q / 2, q - 1] {
                    let mut scaled = Buffer::from_slice(&values);
                    plan.inverse_scaled(&mut scaled, &plan.scale(c).unwrap()).unwrap();
                    assert!(
                        plain.iter().zip(&scaled[..]).all(|(&x, &y)| mul(x, c, q) == y),
                        "m {m}, q {q}, {isa}"
                    );
                }
            }
        }
    }
}

#[test]
fn the_root_is_the_smallest() {
    let (index, q) = (RingIndex::new(15).unwrap(), 241);
    let plan = plan(&index, q, sunzi_kernels::Isa::Portable);
    let order = |x: u64| (1..).find(|&e| pow(x, e, q) == 1);
    assert_eq!(Some(plan.root()), (2..q).find(|&x| order(x) == Some(15)));
}

#[test]
fn arguments_are_checked() {
    let index = RingIndex::new(15).unwrap();
    let modulus = |q| Modulus::new(q).unwrap();
    for q in [59, 31 * 61, 7] {
        let missing = KernelError::NoRootOfUnity { modulus: q, order: index.root_order() };
        assert_eq!(CyclotomicPlan::new(modulus(q), &index).err(), Some(missing));
    }
    let plan = CyclotomicPlan::new(modulus(61), &index).unwrap();
    assert!(
        plan.forward(&mut [0; 7]).is_err() && plan.inverse(&mut [0; 9]).is_err() && plan.scale(61).is_err()
    );
    let other = CyclotomicPlan::new(modulus(241), &index).unwrap();
    let mismatch = KernelError::ModulusMismatch { expected: 61, got: 241 };
    assert_eq!(plan.inverse_scaled(&mut [0; 8], &other.scale(1).unwrap()), Err(mismatch));
    let other = CyclotomicPlan::new(modulus(61), &RingIndex::new(20).unwrap()).unwrap();
    assert!(plan.inverse_scaled(&mut [0; 8], &other.scale(1).unwrap()).is_err());
}
