//! Tests of products of vectors with matrices of polynomials, against sums of products.

use sunzi_math::{RingIndex, primes_below, primes_with_bits};
use sunzi_ring::sampling::SeededRng;
use sunzi_ring::{Evaluation, Poly, Ring, RingError, Storage};

use crate::common::{stored, twin};

/// Rings of powers of two and of other indices, with degrees that are no whole blocks, and moduli of every length.
fn rings() -> Vec<Ring> {
    let words = |index: u64, moduli: &[u64]| stored(Ring::new(index, moduli).unwrap(), Storage::Words);
    let odd = Ring::root_order(RingIndex::new(45).unwrap()).unwrap();
    let odd = words(45, &primes_below(1 << 47, odd, 3).unwrap());
    vec![
        words(128, &primes_below(1 << 48, 128, 3).unwrap()),
        words(4096, &primes_below(1 << 48, 4096, 2).unwrap()),
        twin(&odd),
        odd,
        words(128, &primes_with_bits(20, 128, 2).unwrap()),
        words(128, &[primes_with_bits(62, 128, 1).unwrap(), primes_with_bits(50, 128, 2).unwrap()].concat()),
    ]
}

/// Elements of a matrix, column by column.
fn elements(ring: &Ring, count: usize, rng: &mut SeededRng) -> Vec<Poly<Evaluation>> {
    let ones = ring.to_evaluation(ring.from_signed(&vec![-1; ring.degree()]).unwrap()).unwrap();
    (0..count).map(|i| if i % 5 == 0 { ones.clone() } else { ring.uniform(rng) }).collect()
}

#[test]
fn products_with_matrices_are_sums_of_products() {
    let mut rng = SeededRng::derive(&[7; 32], "matrices of polynomials", 0);
    for ring in rings() {
        for (rows, columns, count) in
            [(1, 1, 1), (3, 2, 2), (4, 5, 3), (70, 3, 2), (2, 7, 4), (5, 1, 5), (2, 2, 0)]
        {
            let elements = elements(&ring, rows * columns, &mut rng);
            let mut matrix = ring.poly_matrix(rows, columns).unwrap();
            assert_eq!(matrix.sides(), [rows, columns]);
            for (i, element) in elements.iter().enumerate() {
                // A place may be filled twice.
                matrix.set(i % rows, i / rows, &elements[0]).unwrap();
                matrix.set(i % rows, i / rows, element).unwrap();
            }
            let vectors: Vec<Vec<_>> =
                (0..count).map(|_| (0..rows).map(|_| ring.uniform(&mut rng)).collect()).collect();
            for level in 1..=ring.level() {
                let low = ring.at_level(level).unwrap();
                // Elements of vectors have the level of the products, or a higher one.
                let at = |i: usize, a: &Poly<_>| {
                    if i.is_multiple_of(2) { a.clone() } else { ring.restrict(a, level).unwrap() }
                };
                let vectors: Vec<Vec<_>> = vectors
                    .iter()
                    .map(|vector| vector.iter().enumerate().map(|(i, a)| at(i, a)).collect())
                    .collect();
                let lists: Vec<Vec<&Poly<_>>> =
                    vectors.iter().map(|vector| vector.iter().collect()).collect();
                let lists: Vec<&[&Poly<_>]> = lists.iter().map(Vec::as_slice).collect();
                let products = matrix.products(&lists, level).unwrap();
                assert_eq!(products.len(), count);
                for (product, vector) in products.iter().zip(&lists) {
                    assert_eq!(product.len(), columns);
                    for (product, column) in product.iter().zip(elements.chunks(rows)) {
                        let terms = vector.iter().zip(column).map(|(a, m)| [*a, m]).collect();
                        let expected = ring.inner_products(&[terms], level).unwrap().remove(0);
                        let mut difference = product.clone();
                        low.sub_assign(&mut difference, &expected).unwrap();
                        let zero = low.to_integers(&low.to_coefficient(difference).unwrap()).unwrap();
                        assert!(zero.iter().all(|c| *c == 0.into()), "{rows} by {columns}, level {level}");
                    }
                }
            }
        }
    }
}

#[test]
fn matrices_refuse_what_they_cannot_hold() {
    let mut rng = SeededRng::derive(&[8; 32], "matrices of polynomials", 1);
    for ring in rings() {
        for (rows, columns) in [(0, 1), (1, 0), (4097, 1), (2, usize::MAX)] {
            assert!(
                matches!(ring.poly_matrix(rows, columns), Err(RingError::OutOfRange { .. })),
                "{rows}, {columns}"
            );
        }
        let mut matrix = ring.poly_matrix(2, 3).unwrap();
        let a = ring.uniform(&mut rng);
        assert!(matches!(matrix.set(2, 0, &a), Err(RingError::OutOfRange { .. })));
        assert!(matches!(matrix.set(0, 3, &a), Err(RingError::OutOfRange { .. })));
        let low = ring.restrict(&a, 1).unwrap();
        assert!(matrix.set(0, 0, &low).is_err());
        assert!(matches!(matrix.products(&[&[&a]], 1), Err(RingError::LengthMismatch { .. })));
        assert!(matrix.products(&[&[&a, &low]], ring.level()).is_err());
        assert!(matrix.products(&[&[&a, &a]], ring.level() + 1).is_err());
        // Elements are zero until they are set.
        let zero = matrix.products(&[&[&a, &a]], ring.level()).unwrap().remove(0).remove(2);
        let zero = ring.to_integers(&ring.to_coefficient(zero).unwrap()).unwrap();
        assert!(zero.iter().all(|c| *c == 0.into()));
    }
    // More than any machine has.
    let ring = Ring::new(1 << 15, &primes_below(1 << 48, 1 << 15, 2).unwrap()).unwrap();
    assert!(matches!(ring.poly_matrix(4096, usize::MAX / 4), Err(RingError::OutOfRange { .. })));
}
