//! One polynomial in three forms, Horner's, factored and between rotations, has one value under every exact scheme.

use chacha20::ChaCha20Rng;
use rand::RngExt;
use rand_core::SeedableRng;
use rayon::prelude::*;
use sunzi_bgv::Parameters;
use sunzi_circuits::{Arithmetic, Rotation};
use sunzi_rlwe::Security;
use sunzi_testing::scheme::{Encrypted, Failure, Scheme};
use sunzi_testing::{Figure, Party};

const SECURITY: Security = Security::InsecureForResearchOnly;
const LOG_N: u32 = 6;
const T: u64 = 257;
const ALL: usize = 10_000;

/// A cubic (x − r_1)(x − r_2)(x − r_3) by its roots and by its coefficients, the leading one of which is 1.
struct Cubic {
    roots: [i64; 3],
    coefficients: [i64; 3],
}

impl Cubic {
    fn random(rng: &mut ChaCha20Rng) -> Self {
        let roots: [i64; 3] = [(); 3].map(|()| rng.random_range(0..T as i64));
        let [a, b, c] = roots;
        Self { roots, coefficients: [-a * b * c, a * b + b * c + c * a, -a - b - c] }
    }

    /// Returns the value modulo t, from the roots.
    fn value(&self, x: u64) -> u64 {
        let factor = |&root: &i64| (x as i64 - root).rem_euclid(T as i64);
        self.roots.iter().map(factor).fold(1, |product, factor| product * factor % T as i64) as u64
    }
}

fn horner<S: Scheme>(party: &Party<S>, p: &Cubic, x: &Encrypted<S>) -> Result<Encrypted<S>, Failure<S>> {
    let (evaluator, keys) = (&party.evaluator, &party.keys);
    let [constant, first, second] = p.coefficients;
    let sum = evaluator.add_scalar(x, second)?;
    let sum = evaluator.add_scalar(&evaluator.multiply(&sum, x, keys)?, first)?;
    evaluator.add_scalar(&evaluator.multiply(&sum, x, keys)?, constant)
}

fn factored<S: Scheme>(party: &Party<S>, p: &Cubic, x: &Encrypted<S>) -> Result<Encrypted<S>, Failure<S>> {
    let evaluator = &party.evaluator;
    let mut product = evaluator.add_scalar(x, -p.roots[0])?;
    for root in &p.roots[1..] {
        let factor = evaluator.add_scalar(x, -root)?;
        product = evaluator.multiply(&product, &factor, &party.keys)?;
    }
    Ok(product)
}

fn rotated<S: Scheme>(
    party: &Party<S>,
    p: &Cubic,
    x: &Encrypted<S>,
    rotation: Rotation,
) -> Result<Encrypted<S>, Failure<S>> {
    let back = match rotation {
        Rotation::Rows(steps) => Rotation::Rows(-steps),
        Rotation::Columns => Rotation::Columns,
    };
    let turned = party.evaluator.rotate(x, rotation, &party.keys)?;
    party.evaluator.rotate(&horner(party, p, &turned)?, back, &party.keys)
}

/// Runs the forms on random slots; returns the number of values compared.
fn run<S: Scheme>(name: &str, party: &Party<S>, cases: usize)
where
    Party<S>: Sync,
{
    (0..cases as u64).into_par_iter().for_each(|seed| {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let slots: Vec<u64> = (0..1 << LOG_N).map(|_| rng.random_range(0..T)).collect();
        let p = Cubic::random(&mut rng);
        let rotation = match rng.random_range(0..1 << (LOG_N - 1)) {
            0 => Rotation::Columns,
            steps => Rotation::Rows(steps),
        };
        let expected: Vec<u64> = slots.iter().map(|&x| p.value(x)).collect();
        let x = party.encrypt(&slots, seed).unwrap();
        let forms = [horner(party, &p, &x), factored(party, &p, &x), rotated(party, &p, &x, rotation)];
        for form in forms {
            let value = party.decrypt(&form.unwrap()).unwrap();
            assert_eq!(value, expected, "{name}, seed {seed}, {:?}, {rotation:?}", p.roots);
        }
    });
    let what = format!("polynomials with a form that differs, {name}");
    Figure::new(4, what).cases(cases, ALL / 2).none_wrong(0);
}

fn everything(cases: usize) {
    let moduli = sunzi_math::primes_with_bits(45, 2 << LOG_N, 4).unwrap();
    let parameters = sunzi_bfv::Parameters::new(LOG_N, moduli, T, SECURITY);
    let context: sunzi_bfv::Context = sunzi_bfv::Context::new(&parameters).unwrap();
    run("BFV", &Party::new(context, 1).unwrap(), cases);
    let parameters = Parameters::builder()
        .depth(2)
        .plain_modulus(T)
        .log2_degree(LOG_N)
        .fresh_rotations(1)
        .rotations_per_level(1)
        .fresh_additions(2)
        .additions_per_level(2)
        .security(SECURITY)
        .build()
        .unwrap();
    let context: sunzi_bgv::Context = sunzi_bgv::Context::new(&parameters).unwrap();
    run("BGV", &Party::new(context, 1).unwrap(), cases);
}

#[test]
fn forms_of_a_polynomial_agree() {
    everything(100);
}

#[test]
#[ignore = "long: 10^4 polynomials in three forms"]
fn forms_of_ten_thousand_polynomials_agree() {
    everything(ALL / 2);
}
