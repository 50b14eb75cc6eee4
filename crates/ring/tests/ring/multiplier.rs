//! Tests of multipliers that are stored short, and of sums of their products.

use sunzi_math::{RingIndex, primes_below};
use sunzi_ring::internals::{BLOCK, block_of_multiplier, sums_by_blocks};
use sunzi_ring::{Evaluation, GadgetOptions, PackedPoly, Poly, Ring, RingError, Rotation, Turn};

/// Returns a polynomial in X^gap with coefficients that look random, some of them extreme.
fn sparse(ring: &Ring, gap: usize, seed: u64) -> Poly<Evaluation> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        match state >> 61 {
            0 => i64::MIN,
            1 => i64::MAX,
            _ => state.cast_signed() >> 3,
        }
    };
    let coefficients: Vec<i64> = (0..ring.degree()).map(|i| if i % gap == 0 { next() } else { 0 }).collect();
    ring.to_evaluation(ring.from_signed(&coefficients).unwrap()).unwrap()
}

fn ring(log2_degree: u32, bound: u64) -> Ring {
    let index = 2_u64 << log2_degree;
    Ring::new(index, &primes_below(bound, index, 3).unwrap()).unwrap()
}

#[test]
fn values_of_sparse_polynomials_repeat_and_are_kept_once() {
    for log2_degree in [6, 7, 11, 12] {
        let ring = ring(log2_degree, 1 << 47);
        let (n, gadget) = (ring.degree(), ring.gadget(&GadgetOptions::default()).unwrap());
        for gap in (0..=log2_degree).map(|log| 1_usize << log) {
            let a = sparse(&ring, gap, 7);
            let multiplier = gadget.multiplier(a.clone()).unwrap();
            let expected = gadget.expected_multiplier_bytes(gap);
            assert_eq!(multiplier.byte_len(), expected, "n = {n}, gap {gap}");
            let poly = gadget.multiplied(&multiplier).unwrap();
            assert!(poly.words() == a.words() && ring.level_of(&poly) == Ok(ring.level()));
            for (i, limb) in a.limbs().enumerate() {
                for start in (0..n).step_by(BLOCK) {
                    let mut space = vec![1; BLOCK.min(n)];
                    assert_eq!(
                        block_of_multiplier(&multiplier, i, start, &mut space),
                        Ok(&limb[start..n.min(start + BLOCK)])
                    );
                }
            }
        }
        let words = 3 * n;
        let bytes = [1, 4, 8, 32].map(|gap| gadget.expected_multiplier_bytes(gap) / 8);
        assert_eq!(bytes, [words, words, words / 8, words / 8]);
    }
}

#[test]
fn sums_are_those_of_the_terms() {
    for (log2_degree, bound) in [(6, 1 << 40), (11, 1 << 47), (12, 1 << 60)] {
        let ring = ring(log2_degree, bound);
        let polys: Vec<_> = (0..6).map(|seed| sparse(&ring, 1, seed)).collect();
        let pairs: Vec<[&Poly<Evaluation>; 2]> = polys.chunks(2).map(|pair| [&pair[0], &pair[1]]).collect();
        let gaps = [1, 2, 8, 32, 64, 1 << log2_degree];
        let factors: Vec<_> = gaps.iter().zip(100..).map(|(&gap, seed)| sparse(&ring, gap, seed)).collect();
        let gadget = ring.gadget(&GadgetOptions::default()).unwrap();
        let kept: Vec<_> = factors.iter().map(|a| gadget.multiplier(a.clone()).unwrap()).collect();
        let lists: [&[(usize, usize)]; 4] =
            [&[(0, 0), (1, 2), (2, 3), (0, 5)], &[], &[(2, 4)], &[(1, 1), (1, 1)]];
        let of_kept: Vec<Vec<_>> =
            lists.iter().map(|list| list.iter().map(|&(i, k)| (i, &kept[k])).collect()).collect();
        let got = sums_by_blocks(&ring, &pairs, &of_kept, &[0, 1, 2]).unwrap();
        let expected = lists.map(|list| {
            let mut sum = [ring.zero(), ring.zero()];
            for &(i, k) in list {
                for (sum, half) in sum.iter_mut().zip(pairs[i]) {
                    ring.mul_add_assign(sum, half, &factors[k]).unwrap();
                }
            }
            sum
        });
        for (got, expected) in got.iter().flatten().zip(expected.iter().flatten()) {
            assert_eq!(got.words(), expected.words());
        }
    }
}

#[test]
fn other_rings_and_indices_are_refused() {
    let (ring, other) = (ring(6, 1 << 40), ring(6, 1 << 41));
    let (own, foreign) = (sparse(&ring, 1, 1), sparse(&other, 1, 1));
    let [gadget, strange] = [&ring, &other].map(|ring| ring.gadget(&GadgetOptions::default()).unwrap());
    assert!(gadget.multiplier(foreign.clone()).is_err());
    let (kept, strange) =
        (gadget.multiplier(own.clone()).unwrap(), strange.multiplier(foreign.clone()).unwrap());
    let identity = [Rotation { exponent: 1, switch: None }];
    let sums = |a, lists: &[Vec<_>]| gadget.sums_of_rotations([&own, a], &identity, lists);
    assert!(sums(&own, &[vec![(0, &kept)]]).is_ok());
    assert!(sums(&foreign, &[vec![(0, &kept)]]).is_err());
    assert!(sums(&own, &[vec![(0, &strange)]]).is_err());
    assert!(sums(&own, &[vec![(0, &kept), (0, &strange)]]).is_err());
    assert!(sums(&own, &[vec![(1, &kept)]]).is_err());
    assert!(sums(&own, &[]).unwrap().is_empty());
    // A multiplier of a low level has no residues modulo the moduli above it.
    let low = gadget.at_level(2).unwrap();
    let short = low.multiplier(low.restrict_key(&own).unwrap()).unwrap();
    assert!(sums(&own, &[vec![(0, &short)]]).is_err());
}

#[test]
fn sums_of_turns_are_those_of_the_terms() {
    // Blocks of 1024 words: less than one, several, and indices whose automorphisms do not keep blocks.
    let whole = [(128, 1 << 30), (1 << 13, 1 << 47), (1 << 12, 1 << 60), (3 << 11, 1 << 47)];
    let real = [(64, 1 << 30), (1 << 12, 1 << 47)].map(|(n, bound)| (RingIndex::real(n), bound));
    for (index, bound) in whole.map(|(m, bound)| (RingIndex::new(m), bound)).into_iter().chain(real) {
        let (index, bound) = (index.unwrap(), bound);
        let m = index.value();
        let ring = Ring::new(&index, &primes_below(bound, m, 3).unwrap()).unwrap();
        let special = primes_below(bound >> 1, m, 1).unwrap();
        let gadget =
            ring.gadget(&GadgetOptions { special_moduli: special, ..GadgetOptions::default() }).unwrap();
        let key_ring = gadget.key_ring();
        let polys: Vec<_> = (0..9).map(|seed| sparse(key_ring, 1, seed)).collect();
        let exponents = if index.is_real() {
            [1, 5, 5, m - 3, 9, m - 7, 1, 25]
        } else {
            [1, 5, 5, m - 1, 7, m - 5, 1, 25]
        };
        assert_eq!(key_ring.ring_index(), &index);
        let pack = |i: usize| gadget.pack_part(polys[i % 9].clone(), 0).unwrap();
        for count in [0, 1, 3, 8] {
            let turns: Vec<Turn<'_>> = exponents
                .iter()
                .zip(&polys)
                .take(count)
                .map(|(&exponent, of)| Turn { of, exponent })
                .collect();
            let keys: [Vec<PackedPoly>; 2] = [2, 5].map(|from| (0..count).map(|i| pack(i + from)).collect());
            let got = gadget.sum_of_turns(&turns, [&keys[0], &keys[1]]).unwrap();
            for (half, (got, from)) in got.iter().zip([2, 5]).enumerate() {
                let mut sum = key_ring.zero();
                for (i, turn) in turns.iter().enumerate() {
                    let turned = match turn.exponent {
                        1 => turn.of.clone(),
                        k => key_ring.automorphism(turn.of, k).unwrap(),
                    };
                    key_ring.mul_add_assign(&mut sum, &turned, &polys[(i + from) % 9]).unwrap();
                }
                assert!(got.words() == sum.words(), "index {m}, {count} turns, half {half}");
            }
            let few = gadget.sum_of_turns(&turns, [&keys[0], &keys[1][..count.saturating_sub(1)]]);
            assert_eq!(few.is_err(), count > 0);
        }
        let keys = [pack(0)];
        let sum = |of: &Poly<Evaluation>, exponent| {
            gadget.sum_of_turns(&[Turn { of, exponent }], [&keys, &keys]).err().unwrap()
        };
        assert!(matches!(sum(&ring.zero(), 1), RingError::ShapeMismatch { .. }));
        assert!(matches!(sum(&polys[0], 2), RingError::NotAnAutomorphism { .. }));
    }
}
