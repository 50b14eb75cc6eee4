//! Tests of inner products of polynomials against sums of products.

use sunzi_math::primes_below;
use sunzi_ring::sampling::SeededRng;
use sunzi_ring::{Factors, Ring, RingError};

/// Checks levels that are not prefixes: limbs have other places in every operand.
#[test]
fn sets_of_moduli_find_their_limbs() {
    let mut rng = SeededRng::derive(&[6; 32], "inner products of sets", 0);
    let moduli = primes_below(1 << 48, 128, 5).unwrap();
    let rungs = [&[3][..], &[1, 3], &[1, 3, 4], &[0, 1, 3, 4], &[0, 1, 2, 3, 4]].map(<[_]>::to_vec);
    let ring = Ring::with_rungs(128, &moduli, &rungs).unwrap();
    let polys: Vec<_> = (0..10).map(|i| ring.restrict(&ring.uniform(&mut rng), 1 + i % 5).unwrap()).collect();
    for level in 1..=5 {
        let low = ring.at_level(level).unwrap();
        let above: Vec<_> = polys.iter().filter(|a| ring.level_of(a).unwrap() >= level).collect();
        let pairs: Vec<_> = above.iter().flat_map(|a| above.iter().map(move |b| [*a, *b])).collect();
        let sums = ring.inner_products(&[pairs.clone(), vec![], vec![pairs[0]; 3]], level).unwrap();
        for (sum, list) in sums.iter().zip([pairs.clone(), vec![], vec![pairs[0]; 3]]) {
            let mut expected = low.zero();
            for pair in list {
                let [a, b] = pair.map(|poly| ring.restrict(poly, level).unwrap());
                low.mul_add_assign(&mut expected, &a, &b).unwrap();
            }
            assert_eq!(sum.words(), expected.words(), "level {level}");
        }
    }
    // The levels include one of which an operand lacks moduli.
    let rungs = [vec![0], vec![1, 2], vec![0, 1, 2]];
    let ring = Ring::with_rungs(128, &[moduli[4], moduli[0], moduli[1]], &rungs).unwrap();
    let [a, b] = [2, 3].map(|level| ring.restrict(&ring.uniform(&mut rng), level).unwrap());
    let refused = ring.inner_products(&[vec![[&a, &b]]], 1);
    assert!(matches!(refused, Err(RingError::NotNested { level: 1, within: 2 })));
}

#[test]
fn inner_products_are_sums_of_products() {
    let mut rng = SeededRng::derive(&[5; 32], "inner products", 0);
    for log2_degree in [6, 11] {
        let step = 2 << log2_degree;
        let ring = Ring::new(step, &primes_below(1 << 48, step, 3).unwrap()).unwrap();
        // Operands have every residue the largest, and any residues, of the highest level and of the one below.
        let ones = vec![-1; 1 << log2_degree];
        let largest =
            ring.words().unwrap().poly_from_residues(ring.from_signed(&ones).unwrap().words()).unwrap();
        let mut polys = vec![largest.clone()];
        polys.extend((0..4).map(|i| {
            ring.restrict(&if i == 3 { largest.clone() } else { ring.uniform(&mut rng) }, 3 - i % 2).unwrap()
        }));
        let pair = |i: usize| [&polys[i * i % 5], &polys[3 * i % 5]];
        for lengths in [&[][..], &[0], &[1], &[0, 3], &[16, 17], &[100, 1, 200, 0, 33]] {
            let lists: Vec<Factors<'_>> =
                lengths.iter().map(|length| (0..*length).map(|i| pair(i + length)).collect()).collect();
            for level in [2, 1] {
                let sums = ring.inner_products(&lists, level).unwrap();
                assert_eq!(sums.len(), lists.len());
                let low = ring.at_level(level).unwrap();
                for (sum, list) in sums.iter().zip(&lists) {
                    let mut expected = low.zero();
                    for pair in list {
                        let [a, b] = pair.map(|poly| ring.restrict(poly, level).unwrap());
                        low.mul_add_assign(&mut expected, &a, &b).unwrap();
                    }
                    assert_eq!(sum.words(), expected.words(), "{lengths:?} at {level}");
                }
            }
        }
        let low = ring.restrict(&largest, 1).unwrap();
        assert!(ring.inner_products(&[vec![[&largest, &low]]], 2).is_err());
    }
}
