//! Tests of transforms modulo X^L − 1 against products by the definition.

use sunzi_kernels::Modulus;
use sunzi_univariate::internals::{CyclicPlan, SHORTEST_CYCLE as SHORTEST};

/// Checks that multiplication of transforms point by point is multiplication modulo X^L − 1, for every
/// length, and that the halves are the remainders.
#[test]
fn products_are_cyclic() {
    for q in sunzi_math::primes_with_bits(62, 512, 1).unwrap().into_iter().chain([7681]) {
        let modulus = Modulus::new(q).unwrap();
        let plan = CyclicPlan::new(modulus, 512).unwrap();
        for length in [64, 128, 256, 512_usize] {
            let sample = |seed: u64| -> Vec<u64> {
                let word = |i| modulus.pow(modulus.reduce(seed + i), 12_345);
                (0..length as u64).map(|i| if i % 5 == 0 { q - 1 } else { word(i) }).collect()
            };
            let (a, b) = (sample(3), sample(1000));
            let mut expected = vec![0; length];
            for (i, x) in a.iter().enumerate() {
                for (j, y) in b.iter().enumerate() {
                    let at = &mut expected[(i + j) % length];
                    *at = modulus.add(*at, modulus.mul(*x, *y));
                }
            }
            let (mut x, mut y) = (a.clone(), b.clone());
            plan.forward(&mut x, false).unwrap();
            plan.forward(&mut y, false).unwrap();
            modulus.mul_assign(&mut x, &y).unwrap();
            let mut tripled = x.clone();
            plan.inverse(&mut x, &plan.scale(length, 1).unwrap()).unwrap();
            assert_eq!(x, expected, "{q} {length}");
            plan.inverse(&mut tripled, &plan.scale(length, 3).unwrap()).unwrap();
            assert!(tripled.iter().zip(&x).all(|(t, x)| *t == modulus.mul(3, *x)));
            let mut padded = a[..length / 2].to_vec();
            padded.resize(length, 0);
            let mut whole = padded.clone();
            plan.forward(&mut whole, false).unwrap();
            if length > SHORTEST {
                plan.forward(&mut padded, true).unwrap();
                assert_eq!(padded, whole);
                let mut upper = a[..length / 2].to_vec();
                plan.upper(length).unwrap().forward(&mut upper).unwrap();
                assert_eq!(upper, padded[length / 2..]);
            }
        }
    }
    assert!(CyclicPlan::new(Modulus::new(7681).unwrap(), 64).is_err());
}
