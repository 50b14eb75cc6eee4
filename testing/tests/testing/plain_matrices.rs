//! Products of vectors of ciphertexts with matrices of plaintexts, against sums of products term by term.

use sunzi_bfv::Algorithms;
use sunzi_bgv::{Budget, Operations};
use sunzi_encoding::Plaintext;
use sunzi_math::{DEFAULT_PRIME_BOUND, primes_below};
use sunzi_ring::Ring;
use sunzi_rlwe::evaluator::{Evaluator, Exact};
use sunzi_rlwe::{Ciphertext, Security};
use sunzi_testing::{Party, Scheme};

const DEGREE: usize = 64;
const T: u64 = 65537;
const INSECURE: Security = Security::InsecureForResearchOnly;
/// Rows and columns of the matrices.
const SIDES: [usize; 2] = [5, 3];

fn values(seed: u64) -> Vec<u64> {
    (0..DEGREE as u64).map(|i| if seed == 3 { T / 2 } else { (i * 7919 + seed * 104_729) % T }).collect()
}

/// Elements of a matrix, column by column; one of them is zero.
fn plaintexts() -> Vec<Plaintext> {
    let [rows, columns] = SIDES;
    let values = |i: usize| if i == 4 { vec![0; DEGREE] } else { values(i as u64) };
    (0..rows * columns).map(|i| Plaintext::new(values(i), T).unwrap()).collect()
}

fn law<S: Exact>(evaluator: &Evaluator<S>, vectors: &[Vec<Ciphertext<S>>])
where
    S::Error: std::fmt::Display,
{
    let ([rows, columns], plaintexts) = (SIDES, plaintexts());
    let mut matrix = evaluator.plain_matrix(rows, columns).ok().unwrap();
    for (i, plaintext) in plaintexts.iter().enumerate() {
        evaluator.set_plain(&mut matrix, [i % rows, i / rows], plaintext).ok().unwrap();
    }
    assert_eq!(matrix.sides(), SIDES);
    let lists: Vec<&[Ciphertext<S>]> = vectors.iter().map(Vec::as_slice).collect();
    let products = evaluator.plain_matrix_products(&lists, &matrix).ok().unwrap();
    assert_eq!(products.len(), vectors.len());
    let prepared: Vec<_> = plaintexts.iter().map(|one| evaluator.prepare_plain(one).ok().unwrap()).collect();
    for (product, vector) in products.iter().zip(vectors) {
        assert_eq!(product.len(), columns);
        for (product, column) in product.iter().zip(prepared.chunks(rows)) {
            let expected = evaluator.sum_of_plain_products(vector.iter().zip(column)).ok().unwrap();
            for (part, expected) in product.parts().iter().zip(expected.parts()) {
                assert!(part.words() == expected.words());
            }
            assert_eq!(product.parts().len(), expected.parts().len());
            assert_eq!(product.noise(), expected.noise());
        }
    }
    let short: Vec<&[Ciphertext<S>]> = vectors.iter().map(|vector| &vector[1..]).collect();
    let error = evaluator.plain_matrix_products(&short, &matrix).map(drop).err().unwrap();
    assert!(error.to_string().contains("5"), "{error}");
    assert!(evaluator.set_plain(&mut matrix, [rows, 0], &plaintexts[0]).is_err());
    let other = Plaintext::new(vec![1; DEGREE], 257).unwrap();
    assert!(evaluator.set_plain(&mut matrix, [0, 0], &other).is_err());
    assert!(evaluator.plain_matrix_products(&[], &matrix).ok().unwrap().is_empty());
}

fn encrypted<S: Scheme>(party: &Party<S>, seed: u64) -> Vec<sunzi_testing::Encrypted<S>> {
    (0..SIDES[0] as u64).map(|i| party.encrypt(&values(seed + i), 5 + i).unwrap()).collect()
}

#[test]
fn bfv_columns_are_sums_of_products() {
    let ring = Ring::new(2 * DEGREE as u64, &primes_below(DEFAULT_PRIME_BOUND, 128, 3).unwrap()).unwrap();
    let context = sunzi_bfv::Context::with_algorithms(ring, T, INSECURE, &Algorithms::default()).unwrap();
    let party = Party::new(context, 1).unwrap();
    law(&party.evaluator, &[encrypted(&party, 1)]);
    law(&party.evaluator, &[encrypted(&party, 1), encrypted(&party, 9), encrypted(&party, 2)]);
}

#[test]
fn bgv_columns_are_sums_of_products_at_every_level() {
    let operations = Operations { additions: 20, rotations: 0, plain_products: 1 };
    let budget = Budget { fresh: operations, per_level: operations, last: operations };
    let parameters = sunzi_bgv::Parameters::builder()
        .depth(2)
        .plain_modulus(T)
        .log2_degree(DEGREE.ilog2())
        .budget(budget)
        .security(INSECURE)
        .build()
        .unwrap();
    let party = Party::new(sunzi_bgv::Context::new(&parameters).unwrap(), 1).unwrap();
    let mut vectors = [encrypted(&party, 1), encrypted(&party, 4)];
    for level in (0..=2).rev() {
        law(&party.evaluator, &vectors);
        if level > 0 {
            for one in vectors.iter_mut().flatten() {
                *one = party.evaluator.square(one, party.keys.relinearization.as_ref().unwrap()).unwrap();
            }
        }
    }
}
