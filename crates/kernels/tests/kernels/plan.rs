//! Plans of negacyclic transforms: what is refused, and products of primes.

use sunzi_kernels::{KernelError, Later, Modulus, NttPlan, evaluation_exponent};

/// Checks products of several primes in a word: the root is one modulo each, and the transform is that of each.
#[test]
fn products_of_primes_have_transforms() {
    let n = 64;
    // The last ones are the largest whose product is below 2^50.
    let largest = vec![33_553_537, 33_553_153];
    for primes in [vec![257, 641], vec![769, 1153, 1409], vec![1_179_649, 786_433], largest] {
        let product = primes.iter().product();
        let plan = NttPlan::new(Modulus::new(product).unwrap(), n).unwrap();
        let coefficients: Vec<u64> = (0..n as u64).map(|i| i * i * 7_919_000_017 % product).collect();
        let mut values = coefficients.clone();
        plan.forward(&mut values).unwrap();
        for &q in &primes {
            let own = NttPlan::new(Modulus::new(q).unwrap(), n).unwrap();
            assert_eq!(plan.psi() % q, own.psi());
            let mut expected: Vec<u64> = coefficients.iter().map(|x| x % q).collect();
            own.forward(&mut expected).unwrap();
            assert!(values.iter().zip(&expected).all(|(x, y)| x % q == *y));
        }
        plan.inverse(&mut values).unwrap();
        assert_eq!(values, coefficients);
    }
    // Squares and primes without a root are refused.
    for refused in [257 * 257, 257 * 7] {
        assert!(NttPlan::new(Modulus::new(refused).unwrap(), n).is_err(), "{refused}");
    }
}

#[test]
fn lengths_and_moduli_are_checked() {
    let q = Modulus::new(12_289).unwrap();
    for n in [0, 1, 32, 96, 1 << 18] {
        assert_eq!(NttPlan::new(q, n).err(), Some(KernelError::UnsupportedLength { n }));
    }
    let missing = KernelError::NoRootOfUnity { modulus: 12_289, order: 8192 };
    assert_eq!(NttPlan::new(q, 4096).err(), Some(missing));
    let plan = NttPlan::new(q, 64).unwrap();
    assert!(plan.forward(&mut [0; 63]).is_err());
    assert!(plan.forward_outer(&mut [0; 63]).is_err());
    for (start, len) in [(0, 63), (0, 128), (1, 64), (64, 64), (128, 0)] {
        assert!(
            plan.forward_inner(start, &mut [0; 128][..len], [Later::default(); 2]).is_err(),
            "{start}, {len}"
        );
    }
    assert!(plan.scale(12_289).is_err());
    let other = NttPlan::new(Modulus::new(40_961).unwrap(), 64).unwrap();
    let scale = other.scale(1).unwrap();
    let mismatch = KernelError::ModulusMismatch { expected: 12_289, got: 40_961 };
    assert_eq!(plan.inverse_scaled(&mut [0; 64], &scale), Err(mismatch));
    let own = plan.scale(1).unwrap();
    assert!(plan.inverse_scaled_into(&mut [0; 64], &[0; 63], &own).is_err());
    assert!(plan.inverse_scaled_into(&mut [0; 63], &[0; 64], &own).is_err());
}

#[test]
fn psi_is_the_smallest_root() {
    let plan = NttPlan::new(Modulus::new(12_289).unwrap(), 64).unwrap();
    let q = plan.modulus();
    let smallest = (2..12_289).find(|&x| q.pow(x, 64) == 12_288);
    assert_eq!(Some(plan.psi()), smallest);
}

#[test]
fn exponents_are_the_odd_numbers() {
    let mut seen: Vec<usize> = (0..256).map(|p| evaluation_exponent(256, p)).collect();
    assert_eq!(seen[0], 1);
    seen.sort_unstable();
    assert!(seen.iter().enumerate().all(|(i, e)| *e == 2 * i + 1));
}
