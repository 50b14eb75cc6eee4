//! Butterflies of the portable table for moduli below 2^53, and whole transforms, at the ends of their ranges.

use sunzi_kernels::internals::loose::{Loose, WIDEST, factor};
use sunzi_kernels::internals::{Butterflies, Constants, MAX_LEVELS};
use sunzi_kernels::{Isa, Modulus, NttPlan};

use crate::oracle::{hard_vectors, mul, prime_below};

const MODULI: [u64; 7] = [3, 257, 65_537, 250_199_977_984_001, (1 << 49) - 1, WIDEST - 1, WIDEST];

/// Returns words at the ends of what a transform may hold below `bound`·q.
fn ends(q: u64, bound: u64) -> Vec<u64> {
    let multiples = (0..=bound).flat_map(|k| [0, 1, 2].map(|d| (k * q + d).saturating_sub(1)));
    multiples.chain([q / 2, bound * q - 1]).filter(|&y| y < bound * q).collect()
}

#[test]
fn products_of_any_word_are_below_twice_the_modulus() {
    for q in MODULI {
        let a = Loose::new(&Constants::new(q));
        for y in ends(q, 40).into_iter().chain([u64::MAX, u64::MAX - 1, 1 << 63]) {
            let reduced = a.reduce_lazy(y);
            assert!(reduced < 2 * q && reduced % q == y % q, "{q} {y}");
            assert_eq!(a.canonical_output(y), y % q);
            for w in [0, 1, 2, q / 3, q / 2, q / 2 + 1, q - 2, q - 1] {
                let [w, quotient] = factor(w, q);
                let product = a.product(y, (w, quotient));
                assert!(product < 2 * q && product % q == mul(y % q, w, q), "{q} {w} {y}");
            }
        }
    }
}

/// Tests that words keep the bounds on which no level depends but the last, and that it ends with canonical numbers.
#[test]
fn butterflies_stay_below_a_word() {
    for q in MODULI {
        let a = Loose::new(&Constants::new(q));
        let most = 2 + 2 * MAX_LEVELS as u64;
        assert!(
            most.checked_mul(q).is_some() && (2 * u64::from(Loose::INVERSE_LIMIT)).checked_mul(q).is_some()
        );
        let limit = Loose::INVERSE_LIMIT;
        for x in [0, 1, q - 1, most * q - 1, (most - 2) * q, u64::from(limit) * q - 1] {
            for y in [0, 1, q - 1, most * q - 1, u64::from(limit) * q - 1] {
                for w in [0, 1, q / 2, q - 1] {
                    let [w, quotient] = factor(w, q);
                    let t = mul(y % q, w, q);
                    let expected = [(x % q + t) % q, (x % q + q - t) % q];
                    let last = a.last_butterfly(x, y, (w, quotient));
                    assert_eq!([last.0, last.1], expected);
                    let (sum, difference) = a.butterfly(x, y, (w, quotient));
                    assert_eq!([sum % q, difference % q], expected);
                    assert!(sum <= x + 2 * q && difference <= x + 2 * q);
                    let (sum, product) = a.inverse_butterfly(x, y, (w, quotient), limit);
                    let difference = mul((x % q + q - y % q) % q, w, q);
                    assert!(sum == x + y && product < 2 * q && product % q == difference);
                    let last = a.inverse_last_butterfly(x, y, (w, quotient), (w, quotient), limit);
                    assert_eq!([last.0, last.1], [mul((x % q + y % q) % q, w, q), difference]);
                }
            }
        }
    }
}

/// Tests transforms of every length modulo the largest primes by products with c·X^k, which only turn and scale.
#[test]
fn transforms_multiply_at_the_widest_moduli() {
    for log_n in 6..=MAX_LEVELS {
        let n = 1 << log_n;
        let top = prime_below(WIDEST + 1, 2 * n as u64);
        for q in [top, prime_below(1 << 49, 2 * n as u64)] {
            let plan = NttPlan::new(Modulus::with_isa(q, Isa::Portable).unwrap(), n).unwrap();
            for input in hard_vectors(q - 1, n) {
                let (k, c) = (n / 2 + 3, q - 2);
                let mut expected = vec![0; n];
                for (i, &word) in input.iter().enumerate() {
                    let product = mul(word, c, q);
                    let turned = if i + k >= n { (q - product) % q } else { product };
                    expected[(i + k) % n] = turned;
                }
                let (mut a, mut b) = (input, vec![0; n]);
                b[k] = c;
                plan.forward(&mut a).unwrap();
                plan.forward(&mut b).unwrap();
                assert!(a.iter().chain(&b).all(|&word| word < q));
                for (a, b) in a.iter_mut().zip(&b) {
                    *a = mul(*a, *b, q);
                }
                plan.inverse(&mut a).unwrap();
                assert!(a == expected, "n = {n}, q = {q}");
            }
        }
    }
}
