//! Tests of nearest neighbours: scores of every shape of a database against clear ones, at the ends of ranges, and what cannot be.

use rand_core::{Rng as _, SeedableRng};
use sunzi_circuits::EvaluationKeys;
use sunzi_circuits::nearest::{Measure, integers, nearest, reals};
use sunzi_rlwe::{GaloisKeys, SecretKey};

type Rng = chacha20::ChaCha20Rng;

/// The score of two vectors in the clear.
fn clear(measure: Measure, a: &[i64], b: &[i64]) -> i64 {
    a.iter().zip(b).map(|(a, b)| if measure == Measure::Distance { (a - b) * (a - b) } else { a * b }).sum()
}

/// Compares encrypted scores of integers with clear ones.
fn check_integers(bound: i64, vectors: &[Vec<i64>], query: &[i64]) {
    let dimensions = query.len();
    let context = sunzi_bfv::Context::new(&integers::parameters(dimensions, bound as u64).unwrap()).unwrap();
    let (evaluator, mut rng) = (sunzi_bfv::Evaluator::new(&context), Rng::seed_from_u64(5));
    let secret = SecretKey::generate(context.rlwe(), &mut rng).unwrap();
    for measure in [Measure::Distance, Measure::Product] {
        let layout = integers::Layout::new(&context, dimensions, bound as u64, measure).unwrap();
        let keys =
            EvaluationKeys::for_exponents(context.rlwe(), &secret, layout.exponents(), &mut rng).unwrap();
        let database = integers::Vectors::new(&evaluator, &layout, vectors).unwrap();
        let sealed = layout.query(&context, query, &secret, &mut rng).unwrap();
        let answer = database.answer(&evaluator, &sealed, &keys).unwrap();
        assert_eq!(answer.len(), layout.answers(vectors.len()));
        let scores = layout.read(&context, query, &answer, vectors.len(), &secret).unwrap();
        let expected: Vec<i64> = vectors.iter().map(|vector| clear(measure, vector, query)).collect();
        assert!(
            scores == expected,
            "{measure:?}, {dimensions} coordinates of {bound}, {} vectors",
            vectors.len()
        );
    }
}

fn random(rng: &mut Rng, dimensions: usize, bound: i64) -> Vec<i64> {
    (0..dimensions).map(|_| (rng.next_u64() % (2 * bound as u64 + 1)) as i64 - bound).collect()
}

#[test]
fn scores_of_integers_are_exact() {
    let mut rng = Rng::seed_from_u64(1);
    // One coordinate and many, small and large ones, one block of vectors and several.
    for (dimensions, bound, count) in
        [(1, 1, 1), (2, 1000, 5), (3, 127, 4097), (128, 127, 300), (17, 1 << 15, 10_000)]
    {
        let vectors: Vec<Vec<i64>> = (0..count).map(|_| random(&mut rng, dimensions, bound)).collect();
        let query = random(&mut rng, dimensions, bound);
        check_integers(bound, &vectors, &query);
    }
}

/// All coordinates at the ends of their range make the largest noise and the largest scores.
fn check_ends(shapes: &[(usize, i64)]) {
    for &(dimensions, bound) in shapes {
        let ends = [vec![bound; dimensions], vec![-bound; dimensions]];
        let full: Vec<Vec<i64>> = (0..8192).map(|at| ends[at % 2].clone()).collect();
        check_integers(bound, &full, &ends[0]);
        check_integers(bound, &full[..3], &ends[1]);
    }
}

#[test]
fn the_largest_coordinates_fit() {
    check_ends(&[(1, 1 << 20), (128, 127), (200, 1 << 16)]);
}

#[test]
#[ignore = "long: thousands of coordinates take half a minute"]
fn the_largest_vectors_fit() {
    check_ends(&[(768, 127), (1 << 12, 1 << 9), (1 << 12, 1 << 20)]);
}

#[test]
fn vectors_of_integers_that_cannot_be_are_refused() {
    let context = sunzi_bfv::Context::new(&integers::parameters(3, 100).unwrap()).unwrap();
    let (evaluator, mut rng) = (sunzi_bfv::Evaluator::new(&context), Rng::seed_from_u64(2));
    let secret = SecretKey::generate(context.rlwe(), &mut rng).unwrap();
    let layout = integers::Layout::new(&context, 3, 100, Measure::Distance).unwrap();
    let refused =
        |error: integers::NearestError, part: &str| assert!(error.to_string().contains(part), "{error}");
    refused(integers::parameters(0, 1).unwrap_err(), "coordinates");
    refused(integers::parameters(1, 0).unwrap_err(), "bound");
    refused(integers::parameters(4097, 1).unwrap_err(), "coordinates");
    refused(integers::parameters(1, (1 << 20) + 1).unwrap_err(), "bound");
    refused(
        integers::Layout::new(&context, 3, 1000, Measure::Distance).unwrap_err(),
        "the plaintext modulus",
    );
    refused(layout.query(&context, &[1, 2], &secret, &mut rng).map(drop).unwrap_err(), "expected 3, got 2");
    refused(
        layout.query(&context, &[1, 2, i64::MIN], &secret, &mut rng).map(drop).unwrap_err(),
        "-100 to 100",
    );
    refused(
        integers::Vectors::new(&evaluator, &layout, &[[1, 2, 101]]).map(drop).unwrap_err(),
        "a coordinate",
    );
    let none: [[i64; 3]; 0] = [];
    refused(
        integers::Vectors::new(&evaluator, &layout, &none).map(drop).unwrap_err(),
        "the number of vectors",
    );
    let database = integers::Vectors::new(&evaluator, &layout, &[[1, 2, 3]]).unwrap();
    let query = layout.query(&context, &[1, 2, 3], &secret, &mut rng).unwrap();
    let without = EvaluationKeys::for_exponents(context.rlwe(), &secret, [], &mut rng).unwrap();
    refused(database.answer(&evaluator, &query, &without).map(drop).unwrap_err(), "Galois key");
    refused(layout.read(&context, &[1, 2, 3], &[], 1, &secret).unwrap_err(), "the ciphertexts of an answer");
}

#[test]
fn scores_of_reals_are_within_their_error() {
    let parameters =
        sunzi_ckks::Parameters::builder().depth(1).precision(22).log2_degree(13).build().unwrap();
    let context = sunzi_ckks::Context::new(&parameters).unwrap();
    let (evaluator, mut rng) = (sunzi_ckks::Evaluator::new(&context), Rng::seed_from_u64(3));
    let secret = SecretKey::generate(context.rlwe(), &mut rng).unwrap();
    for (dimensions, count) in [(1, 3), (5, 4097), (96, 100)] {
        // Of length 1, as embeddings are.
        let mut unit = || -> Vec<f64> {
            let vector: Vec<f64> =
                random(&mut rng, dimensions, 1000).iter().map(|x| *x as f64 + 0.5).collect();
            let length = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
            vector.iter().map(|x| x / length).collect()
        };
        let vectors: Vec<Vec<f64>> = (0..count).map(|_| unit()).collect();
        let query = unit();
        for measure in [Measure::Distance, Measure::Product] {
            let layout = reals::Layout::new(&context, dimensions, 1.0, measure).unwrap();
            let keys = GaloisKeys::generate(context.rlwe(), &secret, [layout.exponent()], &mut rng).unwrap();
            let database = reals::Vectors::new(&evaluator, &layout, &vectors).unwrap();
            let sealed = layout.query(&context, &query, &secret, &mut rng).unwrap();
            let answer = database.answer(&evaluator, &sealed, &keys).unwrap();
            let (scores, deviation) = layout.read(&context, &query, &answer, count, &secret).unwrap();
            let term =
                |(a, b): (&f64, &f64)| if measure == Measure::Distance { (a - b) * (a - b) } else { a * b };
            let expected: Vec<f64> =
                vectors.iter().map(|vector| vector.iter().zip(&query).map(term).sum()).collect();
            let worst = scores.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(
                worst <= 8.0 * deviation && deviation < 1e-4,
                "{measure:?}, {dimensions}: {worst} for {deviation}"
            );
            let best = nearest(&scores, measure, 1)[0].0;
            let exact = nearest(&expected, measure, 1)[0].1;
            assert!((expected[best] - exact).abs() <= 16.0 * deviation, "{measure:?}, {dimensions}");
        }
    }
}

#[test]
fn vectors_of_reals_that_cannot_be_are_refused() {
    let parameters =
        sunzi_ckks::Parameters::builder().depth(1).precision(20).log2_degree(13).build().unwrap();
    let context = sunzi_ckks::Context::new(&parameters).unwrap();
    let layout = reals::Layout::new(&context, 2, 1.0, Measure::Product).unwrap();
    let mut rng = Rng::seed_from_u64(4);
    let secret = SecretKey::generate(context.rlwe(), &mut rng).unwrap();
    for wrong in [[1.5, 0.0], [f64::NAN, 0.0], [f64::NEG_INFINITY, 0.0]] {
        let refused = layout.query(&context, &wrong, &secret, &mut rng).map(drop).unwrap_err();
        assert!(refused.to_string().contains("a coordinate: expected -1 to 1"), "{refused}");
    }
    assert!(reals::Layout::new(&context, 4097, 1.0, Measure::Product).is_err());
    assert!(reals::Layout::new(&context, 2, f64::NAN, Measure::Product).is_err());
    let evaluator = sunzi_ckks::Evaluator::new(&context);
    assert!(reals::Vectors::new(&evaluator, &layout, &[[1.0, 2.0]]).is_err());
    let database = reals::Vectors::new(&evaluator, &layout, &[[1.0, 0.0]]).unwrap();
    let query = layout.query(&context, &[0.0, 1.0], &secret, &mut rng).unwrap();
    let without = GaloisKeys::generate(context.rlwe(), &secret, [3], &mut rng).unwrap();
    assert!(layout.exponent() == 3 || database.answer(&evaluator, &query, &without).is_err());
    assert!(layout.read(&context, &[0.0, 1.0], &[], 1, &secret).is_err());
}
