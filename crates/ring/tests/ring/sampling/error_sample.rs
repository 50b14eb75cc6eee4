//! Samples of learning with errors against their definition.

use sunzi_math::primes_below;
use sunzi_ring::{Evaluation, Poly, Ring, RingError};

use crate::common::{long_rings, residue_rings, rng, twin};

/// Computes Σ a_i·b_i + e, or its negative, step by step.
fn by_steps(
    ring: &Ring,
    products: &[[&Poly<Evaluation>; 2]],
    errors: u32,
    negated: bool,
) -> Poly<Evaluation> {
    let mut rng = rng("errors");
    let mut sum = ring.zero();
    for _ in 0..errors {
        ring.add_assign(&mut sum, &ring.error(&mut rng).unwrap()).unwrap();
    }
    let mut sum = ring.to_evaluation(sum).unwrap();
    products.iter().for_each(|[a, b]| ring.mul_add_assign(&mut sum, a, b).unwrap());
    if negated {
        ring.neg_assign(&mut sum).unwrap();
    }
    sum
}

#[test]
fn samples_are_products_and_errors() {
    let mut rings: Vec<Ring> = long_rings().into_iter().chain(residue_rings(64)).collect();
    rings.push(twin(&rings[2]));
    for ring in rings {
        let mut draws = rng("factors");
        let polys: Vec<Poly<Evaluation>> = (0..6).map(|_| ring.uniform(&mut draws)).collect();
        let pairs: Vec<[&Poly<Evaluation>; 2]> = polys.chunks(2).map(|pair| [&pair[0], &pair[1]]).collect();
        for (count, errors, negated) in [(0, 1, false), (1, 1, true), (1, 2, false), (3, 3, true)] {
            let products = &pairs[..count];
            let got = ring.error_sample(products, errors, negated, &mut rng("errors")).unwrap();
            let mut difference = by_steps(&ring, products, errors, negated);
            ring.sub_assign(&mut difference, &got).unwrap();
            let zero = ring.to_integers(&ring.to_coefficient(difference).unwrap()).unwrap();
            assert!(zero.iter().all(|c| *c == 0.into()), "{count} products, {errors} errors");
        }
    }
}

#[test]
fn samples_of_other_rings_are_refused() {
    let ring = |count| Ring::new(128, &primes_below(1 << 48, 128, count).unwrap()).unwrap();
    let (own, other) = (ring(2), ring(3));
    let [a, b] = [&own, &other].map(|ring| ring.uniform(&mut rng("factors")));
    let refused = own.error_sample(&[[&a, &a], [&a, &b]], 1, false, &mut rng("errors"));
    assert!(matches!(refused, Err(RingError::ShapeMismatch { .. })));
}
