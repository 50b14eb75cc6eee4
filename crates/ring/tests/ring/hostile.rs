//! Tests with hostile arguments: typed errors, no panic, no allocation before the checks.

use num_bigint::{BigInt, BigUint};
use sunzi_big::BigRing;
use sunzi_math::{RingIndex, primes_below};
use sunzi_ring::sampling::{SeededRng, centered_binomial, fixed_weight_ternary, ternary, uniform_residues};
use sunzi_ring::{Basis, Coefficient, Evaluation, Ring, RingError, ScalerOptions};

use crate::common::{TopLevel, rng, twin};

const WORDS: [u64; 14] = [
    0,
    1,
    2,
    3,
    128,
    257,
    65_536,
    65_537,
    (1 << 47) + 1,
    1 << 60,
    (1 << 62) - 57,
    1 << 62,
    1 << 63,
    u64::MAX,
];

#[test]
fn bases_and_rings_of_any_numbers() {
    for a in WORDS {
        for b in WORDS {
            if let Ok(basis) = Basis::new(&[a, b]) {
                assert!(basis.product_mod(0) == 0 && basis.quotients_mod(0).len() == 2);
            }
            for m in [0, 1, 2, 64, 128, 1 << 18, 1 << 19, 1 << 63, u64::MAX] {
                assert!(Ring::new(m, &[]).is_err());
                let _ = Ring::new(m, &[a, b]).map(|ring| ring.scaler(a, &ScalerOptions::default()));
                let _ =
                    BigRing::new(m, &BigUint::from(a)).map(|ring| ring.scaler(b, &ScalerOptions::default()));
            }
        }
    }
}

#[test]
fn operations_of_a_ring_on_any_numbers() {
    let ring = Ring::new(128, &sunzi_math::primes_below(1 << 45, 128, 3).unwrap()).unwrap();
    let words = ring.words().unwrap();
    for (start, end) in [(0, 0), (3, 3), (3, 4), (2, 1), (0, usize::MAX), (usize::MAX, 0)] {
        assert!(words.sub_ring(start..end).is_err());
    }
    assert_eq!(words.sub_ring(1..3).unwrap().shape().limbs, 2);
    assert!(words.concat(words).is_err());
    for residues in [vec![], vec![0; 191], vec![u64::MAX; 192], vec![0; 193]] {
        assert!(words.poly_from_residues::<Coefficient>(&residues).is_err());
    }
    for t in WORDS {
        for length in [0, 63, 64, 65] {
            let _ = ring.scale_plaintext(&vec![t.wrapping_sub(1); length], t);
        }
        if let Ok(scaler) = ring.scaler(t, &ScalerOptions::default()) {
            assert!(scaler.decrypt(&ring.zero()).unwrap().iter().all(|&m| m == 0));
            assert!(
                scaler.scale_top(ring.zero()).is_err() && scaler.lift(&scaler.wide_top().zero()).is_err()
            );
        }
    }
    let zero = ring.zero::<Evaluation>();
    let huge: BigInt = BigInt::from(1) << 100_000_u32;
    let mut a = ring.from_integers(&vec![huge.clone(); 64]).unwrap();
    ring.mul_integer_assign(&mut a, &-huge).unwrap();
    assert!(zero.limb(3).is_none() && zero.limb(usize::MAX).is_none());
}

#[test]
fn samplers_of_any_size() {
    let mut rng: SeededRng = rng("hostile");
    for n in [usize::MAX, usize::MAX / 8, usize::MAX / 16 + 1, (1 << 24) + 1] {
        assert!(ternary(n, &mut rng).is_err());
        assert!(centered_binomial(n, &mut rng).is_err());
        assert!(fixed_weight_ternary(n, 5, &mut rng).is_err());
    }
    assert!(ternary(0, &mut rng).unwrap().is_empty());
    assert!(fixed_weight_ternary(0, 0, &mut rng).unwrap().is_empty());
    for q in WORDS {
        uniform_residues(&mut [0; 5], q, &mut rng);
    }
}

/// Checks that a real ring multiplies by 1 and −1 alone among the powers of X, and that its name is its own.
#[test]
fn real_rings_have_no_other_monomials() {
    let index = RingIndex::real(64).unwrap();
    let moduli = primes_below(1 << 40, 256, 2).unwrap();
    let words = Ring::new(&index, &moduli).unwrap();
    for ring in [Ring::dry(&index, &moduli, &[]).unwrap(), twin(&words), words.clone()] {
        let a = ring.uniform(&mut rng("monomials"));
        for k in [1, 5, 32, 64, 127, 129] {
            let refused = ring.mul_monomial_assign(&mut a.clone(), k);
            assert_eq!(refused, Err(RingError::NotReal { exponent: k }));
        }
        for k in [0, 128, 256, 384] {
            ring.mul_monomial_assign(&mut a.clone(), k).unwrap();
        }
    }
    let a = words.uniform(&mut rng("monomials"));
    let (mut negated, mut turned) = (a.clone(), a);
    words.neg_assign(&mut negated).unwrap();
    words.mul_monomial_assign(&mut turned, 128).unwrap();
    assert_eq!(turned.words(), negated.words());
    let whole = Ring::new(256, &moduli).unwrap();
    assert_eq!(words.description()[1..], whole.description());
    assert!(matches!(
        Ring::new(RingIndex::real(32).unwrap(), &moduli),
        Err(RingError::UnsupportedIndex { .. })
    ));
    assert!(matches!(
        Ring::new(RingIndex::real(1 << 18).unwrap(), &moduli),
        Err(RingError::UnsupportedIndex { .. })
    ));
}
