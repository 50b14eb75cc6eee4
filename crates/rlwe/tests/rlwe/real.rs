//! Tests of the noise of real rings: terms of the model against samples, and worst cases against extreme polynomials.

use num_bigint::BigInt;
use num_traits::{Signed, ToPrimitive};
use sunzi_math::{RingIndex, primes_with_bits};
use sunzi_ring::sampling::{SeededRng, fixed_weight_ternary, spherical_error, ternary, uniform_residues};
use sunzi_ring::{Evaluation, Poly, Ring};
use sunzi_rlwe::noise::{self, NoiseModel};
use sunzi_rlwe::{Log2, NoiseTerm, SecretDistribution};

const N: usize = 64;

fn ring() -> Ring {
    let index = RingIndex::real(N).unwrap();
    Ring::new(&index, &primes_with_bits(60, index.value(), 2).unwrap()).unwrap()
}

/// Coefficients of sums of products of elements, computed without wrapping.
struct Element<'a>(&'a Ring, Poly<Evaluation>);

impl<'a> Element<'a> {
    fn new(ring: &'a Ring, coefficients: &[i64]) -> Self {
        Self(ring, ring.to_evaluation(ring.from_signed(coefficients).unwrap()).unwrap())
    }

    fn times(mut self, other: &Self) -> Self {
        self.0.mul_assign(&mut self.1, &other.1).unwrap();
        self
    }

    fn plus(mut self, other: &Self) -> Self {
        self.0.add_assign(&mut self.1, &other.1).unwrap();
        self
    }

    fn coefficients(self) -> Vec<BigInt> {
        self.0.to_integers(&self.0.to_coefficient(self.1).unwrap()).unwrap()
    }
}

fn largest(coefficients: &[BigInt]) -> f64 {
    coefficients.iter().map(|x| x.abs().to_f64().unwrap()).fold(0.0, f64::max)
}

/// Checks the deviation of a term against samples, of the first coefficient and of the others: up to √2 and 1 of it,
/// and near that.
fn deviates(term: NoiseTerm, samples: &[Vec<BigInt>], unit: f64, what: &str) {
    let squares = |j: usize| {
        let square = |a: &Vec<BigInt>| (a[j].to_f64().unwrap() * unit).powi(2);
        samples.iter().map(square).sum::<f64>() / samples.len() as f64
    };
    let deviation = term.deviation.bits().exp2();
    let rest = ((1..N).map(squares).sum::<f64>() / (N - 1) as f64).sqrt();
    let first = squares(0).sqrt() / 2_f64.sqrt();
    println!("{what}: model {deviation:.3}, samples {rest:.3}, the first over √2 {first:.3}");
    assert!((0.85..1.02).contains(&(rest / deviation)), "{what}: {rest} {deviation}");
    assert!((0.75..1.1).contains(&(first / deviation)), "{what}: {first} {deviation}");
}

fn sampled(count: usize, mut sample: impl FnMut(&mut SeededRng) -> Vec<BigInt>) -> Vec<Vec<BigInt>> {
    let mut rng = SeededRng::derive(&[3; 32], "real noise", 0);
    (0..count).map(|_| sample(&mut rng)).collect()
}

#[test]
fn deviations_are_those_of_samples() {
    let ring = ring();
    let expansion = ring.expansion();
    for secret in [SecretDistribution::Ternary, SecretDistribution::FixedWeight(16)] {
        let draw = |rng: &mut SeededRng| match secret {
            SecretDistribution::FixedWeight(weight) => fixed_weight_ternary(N, weight, rng).unwrap(),
            _ => ternary(N, rng).unwrap(),
        };
        let model = NoiseModel::new(expansion, secret);
        let error =
            |rng: &mut SeededRng| Element::new(&ring, &spherical_error(ring.ring_index(), rng).unwrap());
        let fresh = sampled(1500, |rng| {
            let s = Element::new(&ring, &draw(rng));
            let u = Element::new(&ring, &ternary(N, rng).unwrap());
            error(rng).times(&u).plus(&error(rng)).plus(&error(rng).times(&s)).coefficients()
        });
        deviates(model.public_encryption(0.0), &fresh, 1.0, "public encryption");
        // Roundings between ±1/2, in units of 2^-20.
        for parts in [2, 3] {
            let rounded = sampled(1500, |rng| {
                let s = Element::new(&ring, &draw(rng));
                let mut uniform = || -> Element<'_> {
                    let mut words = vec![0; N];
                    uniform_residues(&mut words, 1 << 20, rng);
                    let signed: Vec<i64> = words.iter().map(|&x| x as i64 - (1 << 19)).collect();
                    Element::new(&ring, &signed)
                };
                let mut sum = uniform().plus(&uniform().times(&s));
                if parts == 3 {
                    sum = sum.plus(&uniform().times(&s).times(&s));
                }
                sum.coefficients()
            });
            // The model allows for roundings in doubles and takes no part for a wide secret's missing term.
            deviates(model.mod_switch(parts), &rounded, (-20_f64).exp2(), "rounding");
        }
    }
}

/// Checks that no extreme element exceeds the worst cases, and that one comes near.
#[test]
fn worst_cases_are_reached_but_not_exceeded() {
    let ring = ring();
    let expansion = ring.expansion();
    let model = NoiseModel::new(expansion, SecretDistribution::Ternary);
    let element = |first: i64, rest: i64| {
        let mut coefficients = vec![rest; N];
        coefficients[0] = first;
        Element::new(&ring, &coefficients)
    };
    let worst = |term: NoiseTerm| term.worst.bits().exp2();
    let bound = noise::ERROR_BOUND as i64;
    assert!((worst(noise::secret_encryption(expansion)) - 2.0 * bound as f64).abs() < 1e-9);
    let (e, s) = (element(2 * bound, bound), element(1, 1));
    let fresh = element(2 * bound, bound).times(&s).plus(&e).plus(&element(2 * bound, bound).times(&s));
    let largest_fresh = largest(&fresh.coefficients());
    let most = worst(model.public_encryption(0.0));
    assert!(largest_fresh <= most + 1e-6 && largest_fresh > 0.98 * most, "{largest_fresh} {most}");
    // Digits of ±2^20 times errors.
    let digits = [sunzi_ring::DigitBound { log2_bound: 20.0, log2_mean: f64::NEG_INFINITY }];
    let switched = largest(&element(1 << 20, 1 << 20).times(&e).coefficients());
    let most = worst(noise::key_switch(expansion, &digits));
    assert!(switched <= most * (1.0 + 1e-9) && switched > 0.98 * most, "{switched} {most}");
    // Roundings of 1/2 in units of 2^-1.
    let two = || element(1, 1).plus(&element(1, 1).times(&s));
    let (rounded, most) = (largest(&two().coefficients()) / 2.0, worst(model.mod_switch(2)));
    assert!(rounded <= most && rounded > 0.95 * most, "{rounded} {most}");
    // In s² half of the products of two coefficients of s cancel, which the 1-norm of s does not know.
    let three = two().plus(&element(1, 1).times(&s).times(&s));
    let (rounded, most) = (largest(&three.coefficients()) / 2.0, worst(model.mod_switch(3)));
    assert!(rounded <= most && rounded > 0.48 * most, "{rounded} {most}");
    // A sparse secret has twice the 1-norm of its weight.
    let sparse = NoiseModel::new(expansion, SecretDistribution::FixedWeight(8));
    let mut weights = vec![0; N];
    (1..9).for_each(|j| weights[7 * j] = 1);
    let signs = Element::new(&ring, &weights.clone()).times(&element(1, 1)).coefficients();
    assert!(worst(sparse.mod_switch(2)) >= 0.5 + largest(&signs) / 2.0);
    assert!(Log2::of(worst(sparse.mod_switch(2))).bits() < Log2::of(0.5 * (1.0 + 16.0) + 0.01).bits());
}
