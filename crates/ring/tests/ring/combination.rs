//! Tests of linear combinations against sums term by term.

use num_bigint::BigInt;
use num_integer::Integer;
use rand_core::{CryptoRng, Rng as _};
use sunzi_math::primes_below;
use sunzi_ring::sampling::SeededRng;
use sunzi_ring::{Coefficient, Evaluation, IntegerMatrix, Poly, Ring, RingError};

use crate::common::{general_rings, long_rings, residue_rings};

/// Returns Σ c_i·x_i modulo q, centred.
fn by_terms(terms: &[(&BigInt, Vec<BigInt>)], n: usize, q: &BigInt) -> Vec<BigInt> {
    let sum = |at: usize| terms.iter().map(|(c, a)| *c * &a[at]).sum::<BigInt>();
    let centred = |x: BigInt| -> BigInt { (x + q / 2_u32).mod_floor(q) - q / 2_u32 };
    (0..n).map(|at| centred(sum(at))).collect()
}

fn check(log2_degree: u32, factors: &[i128], rng: &mut impl CryptoRng) {
    let step = 2 << log2_degree;
    let mut moduli = primes_below(1 << 47, step, 2).unwrap();
    moduli.extend(primes_below(1 << 30, step, 2).unwrap());
    let ring = Ring::new(step, &moduli).unwrap();
    let factors: Vec<BigInt> = factors.iter().map(|&c| c.into()).collect();
    for level in [4, 3, 1] {
        // Operands have this level and the highest, in turn; the first has the largest residues.
        let mut polys: Vec<Poly<Coefficient>> = (0..=factors.len())
            .map(|i| {
                let uniform = ring.to_coefficient(ring.uniform(rng)).unwrap();
                let largest = ring.from_signed(&vec![-1; 1 << log2_degree]).unwrap();
                ring.restrict(if i == 0 { &largest } else { &uniform }, if i % 2 == 0 { 4 } else { level })
                    .unwrap()
            })
            .collect();
        let own = ring.restrict(&polys.pop().unwrap(), level).unwrap();
        let integers = |a: &Poly<Coefficient>| {
            let at = ring.level_of(a).unwrap();
            ring.at_level(at).unwrap().to_integers(a).unwrap()
        };
        let terms: Vec<_> = factors.iter().zip(&polys).collect();
        let sum = ring.linear_combination(&terms, level).unwrap();
        let clear: Vec<_> = factors.iter().zip(&polys).map(|(c, a)| (c, integers(a))).collect();
        let q = BigInt::from(ring.at_level(level).unwrap().modulus().clone());
        assert_eq!(integers(&sum), by_terms(&clear, ring.degree(), &q), "{factors:?} at {level}");
        let mut added = own.clone();
        ring.add_linear_combination_assign(&mut added, &terms).unwrap();
        let mut expected = own;
        ring.at_level(level).unwrap().add_assign(&mut expected, &sum).unwrap();
        assert_eq!(added.words(), expected.words(), "{factors:?} added at {level}");
    }
}

#[test]
fn agrees_with_term_by_term() {
    let mut rng = SeededRng::derive(&[3; 32], "linear combinations", 0);
    for log2_degree in [6, 10] {
        for factors in [
            &[][..],
            &[1],
            &[-1],
            &[0],
            &[1, 1, -1],
            &[-1, 1],
            &[1 << 100, -(1 << 90), 3],
            &[7, 1, -1, 0, i128::MAX, i128::MIN, 12345, 1 << 46, -5],
        ] {
            check(log2_degree, factors, &mut rng);
        }
    }
}

#[test]
fn a_term_of_a_lower_level_is_refused_and_changes_nothing() {
    let moduli = primes_below(1 << 40, 128, 3).unwrap();
    let ring = Ring::new(128, &moduli).unwrap();
    let one = BigInt::from(1);
    let mut sum = ring.from_signed(&[5; 64]).unwrap();
    let before = sum.clone();
    let low = ring.restrict(&sum, 2).unwrap();
    let added = ring.add_linear_combination_assign(&mut sum, &[(&one, &before), (&one, &low)]);
    assert!(matches!(added, Err(RingError::NoSuchLevel { got: 3, highest: 2 })), "{added:?}");
    assert_eq!(sum.words(), before.words());
    assert!(ring.linear_combination::<Evaluation>(&[], 4).is_err());
}

/// Products of matrices against linear combinations row by row, at every level and in both domains.
#[test]
fn matrix_products_are_linear_combinations() {
    let mut rng = SeededRng::derive(&[4; 32], "matrix products", 0);
    let mut moduli = primes_below(1 << 47, 512, 2).unwrap();
    moduli.extend(primes_below(1 << 30, 512, 1).unwrap());
    moduli.extend(primes_below(1 << 60, 512, 1).unwrap());
    let ring = Ring::new(512, &moduli).unwrap();
    for [rows, columns] in [[1, 1], [5, 3], [33, 70]] {
        let entries: Vec<i64> = (0..rows * columns)
            .map(|_| i64::from(rng.next_u32() as i16) + [0, 1 << 15][columns % 2])
            .collect();
        let matrix = IntegerMatrix::new(rows, columns, &entries).unwrap();
        for level in [4, 2, 1] {
            let polys: Vec<Poly<Evaluation>> = (0..columns)
                .map(|k| ring.restrict(&ring.uniform(&mut rng), if k % 2 == 0 { 4 } else { level }).unwrap())
                .collect();
            let products = ring.matrix_product(&matrix, &polys.iter().collect::<Vec<_>>(), level).unwrap();
            assert_eq!(products.len(), rows);
            for (row, product) in entries.chunks(columns).zip(&products) {
                let factors: Vec<BigInt> = row.iter().map(|&c| c.into()).collect();
                let terms: Vec<_> = factors.iter().zip(&polys).collect();
                let expected = ring.linear_combination(&terms, level).unwrap();
                assert_eq!(product.words(), expected.words(), "{rows} x {columns} at {level}");
                assert_eq!(ring.level_of(product).unwrap(), level);
            }
        }
    }
}

#[test]
fn matrix_products_refuse_other_lists() {
    let moduli = primes_below(1 << 40, 128, 3).unwrap();
    let matrix = IntegerMatrix::new(2, 2, &[1, 2, 3, 4]).unwrap();
    for ring in [Ring::new(128, &moduli).unwrap(), Ring::dry(128, &moduli, &[]).unwrap()] {
        let (high, low) = (ring.zero::<Evaluation>(), ring.at_level(2).unwrap().zero());
        let one = ring.matrix_product(&matrix, &[&high], 2).map(drop);
        let what = "polynomials, one for each column of a matrix";
        assert_eq!(one, Err(RingError::LengthMismatch { what, expected: 2, got: 1 }));
        assert!(ring.matrix_product(&matrix, &[&high, &low], 3).is_err());
        assert!(ring.matrix_product(&matrix, &[&high; 2], 4).is_err());
        assert!(ring.matrix_product(&matrix, &[&high; 2], 0).is_err());
        assert_eq!(ring.matrix_product(&matrix, &[&high, &low], 2).unwrap().len(), 2);
    }
}

/// Returns Σ_k l_(k,i)·r_k for every i by sums of polynomials: l_(k,i) has the coefficients of l_k at i, i + d, ….
fn by_coefficients(
    whole: &Ring,
    level: usize,
    size: usize,
    left: &[Poly<Evaluation>],
    right: &[Poly<Evaluation>],
) -> Vec<Poly<Evaluation>> {
    let ring = whole.at_level(level).unwrap();
    let product = |i: usize| {
        let mut sum = ring.zero();
        for (l, r) in left.iter().zip(right) {
            let lower = whole.restrict(l, level).unwrap();
            let all = ring.to_integers(&ring.to_coefficient(lower).unwrap()).unwrap();
            let only: Vec<BigInt> = (0..ring.degree())
                .map(|at| if at % size == 0 { all[at + i].clone() } else { BigInt::from(0) })
                .collect();
            let mut term = ring.to_evaluation(ring.from_integers(&only).unwrap()).unwrap();
            ring.mul_assign(&mut term, &whole.restrict(r, level).unwrap()).unwrap();
            ring.add_assign(&mut sum, &term).unwrap();
        }
        sum
    };
    (0..size).map(product).collect()
}

/// Products over subrings of every size against sums of polynomials, for several lists, levels and threads.
#[test]
fn block_products_are_sums_of_coefficients() {
    let mut rng = SeededRng::derive(&[5; 32], "block products", 0);
    let mut moduli = primes_below(1 << 36, 512, 2).unwrap();
    moduli.extend(primes_below(1 << 60, 512, 1).unwrap());
    let ring = Ring::new(512, &moduli).unwrap();
    for (size, inner, threads) in [(64, 5, 1), (128, 1, 3), (256, 9, 1), (256, 3, 5), (64, 9, 2)] {
        for level in [3, 1] {
            let mut list = |lift: usize| -> Vec<Poly<Evaluation>> {
                let at = |k: usize| if k % 2 == lift { 3 } else { level };
                (0..inner).map(|k| ring.restrict(&ring.uniform(&mut rng), at(k)).unwrap()).collect()
            };
            let (left, right) = ([list(0), list(1)], [list(1), list(0), list(0)]);
            let lefts: Vec<Vec<&Poly<Evaluation>>> = left.iter().map(|list| list.iter().collect()).collect();
            let rights: Vec<Vec<&Poly<Evaluation>>> =
                right.iter().map(|list| list.iter().collect()).collect();
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let products = pool.install(|| ring.block_products(size, &lefts, &rights, level)).unwrap();
            assert_eq!(products.len(), 6);
            let pairs = left.iter().flat_map(|l| right.iter().map(move |r| (l, r)));
            for ((l, r), product) in pairs.zip(&products) {
                let expected = by_coefficients(&ring, level, size, l, r);
                assert_eq!(product.len(), size);
                for (got, expected) in product.iter().zip(&expected) {
                    assert_eq!(got.words(), expected.words(), "{size}, {inner} terms at level {level}");
                    assert_eq!(ring.level_of(got).unwrap(), level);
                }
            }
        }
    }
}

/// The product over the integers of a small ring with plain coefficients is a product of matrices.
#[test]
fn block_products_of_whole_rings_are_products_of_matrices() {
    let ring = Ring::new(128, &primes_below(1 << 40, 128, 1).unwrap()).unwrap();
    let poly = |seed: usize| {
        let numbers: Vec<i64> = (0..64).map(|j| ((seed * 131 + j * 71) % 97) as i64 - 48).collect();
        (numbers.clone(), ring.to_evaluation(ring.from_signed(&numbers).unwrap()).unwrap())
    };
    let (left, right): (Vec<_>, Vec<_>) = (0..5).map(|k| (poly(k), poly(k + 50))).unzip();
    let lists = [left.iter().map(|(_, l)| l).collect(), right.iter().map(|(_, r)| r).collect()];
    let products = ring.block_products(64, &lists[..1], &lists[1..], 1).unwrap();
    for (i, product) in products[0].iter().enumerate() {
        let got = ring.to_integers(&ring.to_coefficient(product.clone()).unwrap()).unwrap();
        for (j, got) in got.iter().enumerate() {
            let expected: i64 = left.iter().zip(&right).map(|((l, _), (r, _))| l[i] * r[j]).sum();
            assert_eq!(*got, expected.into(), "row {i}, column {j}");
        }
    }
}

#[test]
fn block_products_refuse_other_shapes() {
    let moduli = primes_below(1 << 40, 256, 2).unwrap();
    for ring in [Ring::new(256, &moduli).unwrap(), Ring::dry(256, &moduli, &[]).unwrap()] {
        let (high, low) = (ring.zero::<Evaluation>(), ring.at_level(1).unwrap().zero());
        let product = |size, left: &[Vec<&Poly<Evaluation>>], right: &[Vec<&Poly<Evaluation>>], level| {
            ring.block_products(size, left, right, level)
                .map(|lists| lists.iter().map(Vec::len).collect::<Vec<_>>())
        };
        assert_eq!(product(64, &[vec![&high]], &[vec![&low], vec![&high]], 1), Ok(vec![64, 64]));
        for size in [0, 1, 32, 96, 256] {
            let refused = product(size, &[vec![&high]], &[vec![&high]], 2);
            assert!(matches!(refused, Err(RingError::OutOfRange { .. })), "{size}: {refused:?}");
        }
        for (left, right) in [
            (vec![], vec![vec![&high]]),
            (vec![vec![&high]], vec![]),
            (vec![vec![]], vec![vec![]]),
            (vec![vec![&high]], vec![vec![&high, &high]]),
            (vec![vec![&high], vec![&high; 2]], vec![vec![&high]]),
        ] {
            let refused = product(64, &left, &right, 2);
            assert!(matches!(refused, Err(RingError::LengthMismatch { .. })), "{refused:?}");
        }
        assert!(product(64, &[vec![&high]], &[vec![&low]], 2).is_err());
        assert!(product(64, &[vec![&high]], &[vec![&high]], 3).is_err());
    }
    let odd = Ring::new(7 * 9, &primes_below(1 << 40, Ring::root_order(63).unwrap(), 1).unwrap()).unwrap();
    let one = odd.zero::<Evaluation>();
    assert!(matches!(
        odd.block_products(64, &[vec![&one]], &[vec![&one]], 1),
        Err(RingError::OutOfRange { .. })
    ));
}

/// Sums of any number of polynomials are those term by term: of the largest residues, which fill words, among others.
#[test]
fn sums_are_those_term_by_term() {
    let mut rng = SeededRng::derive(&[6; 32], "sums term by term", 0);
    for ring in residue_rings(64).into_iter().chain(general_rings()).chain(long_rings()) {
        let ends: Poly<Coefficient> = ring.from_signed(&vec![-1; ring.degree()]).unwrap();
        for count in [1, 2, 3, 4, 5, 7, 8, 9, 16, 33] {
            let mut expected = ring.zero::<Evaluation>();
            let terms: Vec<Poly<Evaluation>> = (0..count).map(|_| ring.uniform(&mut rng)).collect();
            terms.iter().for_each(|term| ring.add_assign(&mut expected, term).unwrap());
            assert_eq!(ring.sum(&terms).unwrap().words(), expected.words(), "{count} terms");
            let many = vec![ends.clone(); count];
            let mut expected = ring.zero::<Coefficient>();
            many.iter().for_each(|term| ring.add_assign(&mut expected, term).unwrap());
            assert_eq!(ring.sum(&many).unwrap().words(), expected.words(), "{count} ends");
        }
        assert_eq!(ring.sum::<Coefficient>([]).unwrap().words(), ring.zero::<Coefficient>().words());
    }
}
