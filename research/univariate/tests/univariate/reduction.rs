//! Tests of every reduction, and of the transform at the m-th roots of unity, against division by the definition.

mod cyclic;
mod polynomial;

use sunzi_kernels::Modulus;
use sunzi_math::{Residues, RingIndex};
use sunzi_ring::{Backend, Ring, Storage};
use sunzi_univariate::{Reducer, Reduction, UnivariateRing};

use crate::common::stored;

/// Tested indices m: primes, prime powers, products of two to four primes, even ones, and the small ones of
/// `[BEHMSZ17]`.
const INDICES: [u64; 46] = [
    3, 4, 5, 7, 8, 9, 11, 12, 15, 16, 17, 20, 21, 24, 25, 27, 28, 31, 33, 35, 36, 45, 49, 60, 63, 64, 75, 81,
    97, 100, 105, 127, 128, 165, 180, 195, 255, 257, 315, 420, 455, 1155, 1365, 3003, 3855, 4369,
];

/// Tested large indices m: the other four of `[BEHMSZ17]`.
const LARGE_INDICES: [u64; 4] = [13107, 21845, 32767, 65535];

const ALL: [Reduction; 4] =
    [Reduction::Barrett, Reduction::SparseBarrett, Reduction::Montgomery, Reduction::Mixed];

/// Returns a polynomial a modulo Φ_m by long division.
fn divide(a: &[u64], phi: &[i64], modulus: Modulus) -> Vec<u64> {
    let (mut rest, n) = (a.to_vec(), phi.len() - 1);
    let phi: Vec<(usize, u64)> =
        phi.iter().map(|&c| modulus.reduce_i64(c)).enumerate().filter(|(_, c)| *c != 0).collect();
    for i in (n..rest.len()).rev() {
        let quotient = rest[i];
        for &(j, c) in &phi {
            rest[i - n + j] = modulus.sub(rest[i - n + j], modulus.mul(quotient, c));
        }
    }
    rest.resize(n, 0);
    rest
}

/// Returns the product a·b of polynomials, coefficient by coefficient, by sums of as many products as 128
/// bits hold.
fn product(a: &[u64], b: &[u64], modulus: Modulus) -> Vec<u64> {
    let q = u128::from(modulus.value());
    let room = usize::try_from(u128::MAX / (q * q)).unwrap_or(usize::MAX) - 1;
    let backwards: Vec<u64> = b.iter().rev().copied().collect();
    let coefficient = |k: usize| {
        let (from, to) = ((k + 1).saturating_sub(b.len()), a.len().min(k + 1));
        let (a, b) = (&a[from..to], &backwards[b.len() - 1 - (k - from)..]);
        let sum = a.chunks(room).zip(b.chunks(room)).fold(0, |sum, (a, b)| {
            a.iter().zip(b).fold(sum, |sum, (&x, &y)| sum + u128::from(x) * u128::from(y)) % q
        });
        sum as u64
    };
    (0..a.len() + b.len() - 1).map(coefficient).collect()
}

fn moduli(order: u64) -> Vec<u64> {
    let smallest = (1..).map(|k| k * order + 1).find(|&q| sunzi_math::is_prime(q)).unwrap();
    let bits = |bits| sunzi_math::primes_with_bits(bits, order, 1).unwrap()[0];
    vec![smallest, bits(48), bits(62)]
}

/// Returns random and extreme test polynomials of degree below n.
fn samples(n: usize, modulus: Modulus) -> Vec<Vec<u64>> {
    let top = modulus.value() - 1;
    let mut x = 7;
    let mut random = || {
        x = modulus.add(modulus.mul(x, modulus.reduce(6_364_136_223_846_793_005)), 3);
        x
    };
    let mut highest = vec![0; n];
    highest[n - 1] = 1;
    let mixed = (0..n).map(|i| [0, 1, top, modulus.value() / 2][i % 4]).collect();
    let random = (0..n).map(|_| random()).collect();
    vec![vec![top; n], highest, mixed, random]
}

/// Test products: neighbours in the list of samples with their product modulo Φ_m by the definition.
type Products = Vec<[Vec<u64>; 3]>;

fn products(m: u64, modulus: Modulus) -> Products {
    let phi = sunzi_math::cyclotomic_polynomial(m).unwrap();
    let all = samples(phi.len() - 1, modulus);
    let pairs = all.iter().zip(all.iter().cycle().skip(1));
    let known = |(a, b): (&Vec<u64>, &Vec<u64>)| {
        [a.clone(), b.clone(), divide(&product(a, b, modulus), &phi, modulus)]
    };
    pairs.map(known).collect()
}

fn reductions_agree(m: u64, modulus: Modulus, products: &Products) {
    let (q, phi) = (modulus.value(), sunzi_math::cyclotomic_polynomial(m).unwrap());
    let n = phi.len() - 1;
    for reduction in ALL {
        let Ok(reducer) = Reducer::new(m, q, reduction) else {
            assert!(
                m.is_power_of_two() && matches!(reduction, Reduction::Montgomery | Reduction::Mixed),
                "{m} {reduction:?}"
            );
            continue;
        };
        for [a, b, expected] in products {
            let values = |a: &[u64]| {
                let mut values = a.to_vec();
                values.resize(reducer.length(), 0);
                reducer.transform(&mut values).unwrap();
                values
            };
            let mut c = values(a);
            reducer.multiply(&mut c, &values(b)).unwrap();
            reducer.reduce(&mut c).unwrap();
            c.truncate(n);
            if reduction == Reduction::Montgomery {
                // c/M times X^(N/2) + 1.
                let half = reducer.length() / 2;
                let mut back = c.clone();
                back.resize(half + n, 0);
                c.iter().zip(&mut back[half..]).for_each(|(&x, to)| *to = modulus.add(*to, x));
                c = divide(&back, &phi, modulus);
            }
            assert!(c == *expected, "{m} {q} {reduction:?}");
        }
    }
}

/// Checks the direct transform of [`Ring`], between the powerful basis and values at the primitive m-th roots of unity.
fn transform_agrees(m: u64, modulus: Modulus, products: &Products) {
    let (index, residues) = (RingIndex::new(m).unwrap(), Residues(modulus.value()));
    let Ok(ring) = Ring::new(m, &[modulus.value()]) else {
        assert!(m.is_power_of_two() && m < 1 << 7, "{m} {}", modulus.value());
        return;
    };
    let ring = stored(ring, Storage::Words);
    for [a, b, expected] in products {
        let values = |a: &[u64]| {
            let words = index.powerful_from_power(&residues, a);
            ring.to_evaluation(ring.words().unwrap().poly_from_residues(&words).unwrap()).unwrap()
        };
        let mut c = values(a);
        ring.mul_assign(&mut c, &values(b)).unwrap();
        let c = ring.to_coefficient(c).unwrap();
        let c = index.power_from_powerful(&residues, c.words()).unwrap();
        assert!(c == *expected, "{m} {} direct", modulus.value());
    }
}

#[test]
fn products_are_reduced_as_by_long_division() {
    for m in INDICES {
        for q in moduli(UnivariateRing::root_order(m).unwrap()) {
            let modulus = Modulus::new(q).unwrap();
            reductions_agree(m, modulus, &products(m, modulus));
        }
        for q in moduli(RingIndex::new(m).unwrap().root_order()) {
            let modulus = Modulus::new(q).unwrap();
            transform_agrees(m, modulus, &products(m, modulus));
        }
    }
}

#[test]
#[ignore = "long: 10^10 multiplications of schoolbook products at the paper's largest indices"]
fn products_of_large_indices_are_reduced_as_by_long_division() {
    for m in LARGE_INDICES {
        let [direct, reduced] =
            [RingIndex::new(m).unwrap().root_order(), UnivariateRing::root_order(m).unwrap()];
        // The order of both, of which the second is a power of two.
        let order = direct.max((direct >> direct.trailing_zeros()) * reduced);
        let modulus = Modulus::new(sunzi_math::primes_with_bits(62, order, 1).unwrap()[0]).unwrap();
        let products = products(m, modulus);
        reductions_agree(m, modulus, &products);
        transform_agrees(m, modulus, &products);
    }
}

/// Checks of Montgomery's factor that M·M^-1 = 1, that M is X^(N/2) + 1, and that growths bound those of
/// multiplications.
#[test]
fn the_factor_of_montgomery_is_a_unit() {
    for m in INDICES.into_iter().filter(|m| !m.is_power_of_two() && *m < 1000) {
        let order = UnivariateRing::root_order(m).unwrap();
        let ring = UnivariateRing::new(m, &[moduli(order)[2]], Reduction::SparseBarrett).unwrap();
        let factor = ring.montgomery_factor().unwrap();
        let phi = sunzi_math::cyclotomic_polynomial(m).unwrap();
        let modulus = ring.basis().moduli()[0];
        let residues = |a: &[i64]| -> Vec<u64> { a.iter().map(|&c| modulus.reduce_i64(c)).collect() };
        let mut power = vec![0; order as usize / 2 + 1];
        (power[0], power[order as usize / 2]) = (1, 1);
        assert_eq!(divide(&power, &phi, modulus), residues(&factor.factor), "{m}");
        let one =
            divide(&product(&residues(&factor.factor), &residues(&factor.inverse), modulus), &phi, modulus);
        assert_eq!((one[0], one.iter().filter(|c| **c != 0).count()), (1, 1), "{m}");
        let square = product(&residues(&factor.factor), &residues(&factor.factor), modulus);
        assert_eq!(divide(&square, &phi, modulus), residues(&factor.square));
        let norm = factor.inverse.iter().map(|c| c.abs()).max().unwrap() as f64;
        assert!(
            factor.growth >= norm && factor.growth <= ring.degree() as f64 * ring.reduction_norm() * norm
        );
        assert!(factor.variance <= factor.growth * factor.growth);
    }
    for m in [4, 8, 128] {
        let q = moduli(UnivariateRing::root_order(m).unwrap())[1];
        assert!(UnivariateRing::new(m, &[q], Reduction::Montgomery).is_err());
    }
}

/// Checks `[BEHMSZ17, Lemma 4]`: the norm of the reduction by its definition, and a product that is as large
/// as the expansion factor says.
#[test]
fn expansion_factors_are_bounds() {
    for m in INDICES.into_iter().filter(|m| *m < 500) {
        let order = UnivariateRing::root_order(m).unwrap();
        let ring = UnivariateRing::new(m, &[moduli(order)[2]], Reduction::Barrett).unwrap();
        let (n, phi) = (ring.degree(), sunzi_math::cyclotomic_polynomial(m).unwrap());
        let modulus = ring.basis().moduli()[0];
        let (mut norms, mut worst) = (vec![0.0; n], vec![0.0; n]);
        for j in 0..=2 * n - 2 {
            let mut power = vec![0; j + 1];
            power[j] = 1;
            let weight = (j + 1).min(2 * n - 1 - j) as f64;
            for ((c, norm), worst) in divide(&power, &phi, modulus).iter().zip(&mut norms).zip(&mut worst) {
                let size = (*c).min(modulus.neg(*c)) as f64;
                (*norm, *worst) = (*norm + size, *worst + weight * size);
            }
        }
        let most = |sums: Vec<f64>| sums.into_iter().fold(0.0, f64::max);
        assert_eq!((ring.reduction_norm(), ring.expansion_factor()), (most(norms), most(worst)), "{m}");
        assert!(ring.expansion_factor() <= n as f64 * ring.reduction_norm());
        assert!(ring.expansion().norm_gain() >= 1.0);
    }
}
