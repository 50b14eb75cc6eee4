use chacha20::ChaCha20Rng;
use chacha20::rand_core::SeedableRng;
use num_complex::Complex64;
use sunzi_ckks::encoder::{Embedding, bit_reverse};
use sunzi_ckks::{Encoder, Parameters};
use sunzi_math::primes_below;
use sunzi_ring::GadgetOptions;
use sunzi_rlwe::{SecretKey, Security};

use super::*;

struct Party {
    context: Context,
    evaluator: Evaluator,
    secret: SecretKey<Ring>,
    rng: ChaCha20Rng,
}

impl Party {
    /// Levels of 45 bits.
    fn new(log2_degree: u32, depth: usize) -> Self {
        let mut moduli = primes_below(1 << 45, 2 << log2_degree, depth + 5).unwrap();
        let special_moduli = moduli.split_off(depth + 2);
        let options = GadgetOptions {
            digits: Some((depth + 2).div_ceil(3)),
            special_moduli,
            ..GadgetOptions::default()
        };
        let levels = (2..=depth + 2).collect();
        let parameters = Parameters::new(log2_degree, moduli, levels, 45, Security::InsecureForResearchOnly)
            .with_key_switching(options);
        let context = Context::new(&parameters).unwrap();
        let mut rng = ChaCha20Rng::seed_from_u64(9);
        let secret = SecretKey::generate(context.rlwe(), &mut rng).unwrap();
        Self { evaluator: Evaluator::new(&context), context, secret, rng }
    }

    fn plan(&self, dft: Dft, level: usize) -> DftPlan {
        DftPlan::new(&self.context, dft, level).unwrap()
    }

    fn keys(&mut self, plans: [&DftPlan; 2]) -> GaloisKeys<Ring> {
        let index = self.context.ring().index();
        let exponents = plans.into_iter().flat_map(|plan| plan.exponents(index).into_keys());
        GaloisKeys::generate(self.context.rlwe(), &self.secret, exponents, &mut self.rng).unwrap()
    }

    fn open(&self, a: &Ciphertext) -> Vec<Complex64> {
        let encoder = Encoder::new(&self.context, a.metadata().slots).unwrap();
        encoder.decode(&self.context.decrypt(a, &self.secret).unwrap()).unwrap()
    }
}

fn numbers(count: usize) -> Vec<Complex64> {
    (0..count).map(|j| Complex64::new((j as f64 * 1.7).sin(), (j as f64 * j as f64).cos()) * 0.7).collect()
}

/// log2 of largest and of root mean square error.
fn errors(got: &[Complex64], expected: impl Iterator<Item = Complex64>) -> [f64; 2] {
    let squares: Vec<f64> = got.iter().zip(expected).map(|(a, b)| (a - b).norm_sqr()).collect();
    let mean = squares.iter().sum::<f64>() / squares.len() as f64;
    [squares.into_iter().fold(0.0, f64::max), mean].map(|square| square.log2() / 2.0)
}

/// Both ways; returns log2 of the mean errors of CoeffsToSlots, relative to coefficients, and of both together.
fn there_and_back(log2_degree: u32, slots: usize, levels: [usize; 2]) -> [f64; 2] {
    let depth = levels[0] + levels[1];
    let mut party = Party::new(log2_degree, depth);
    let n = party.context.degree();
    let there = party.plan(Dft::coeffs_to_slots(n, slots, levels[0], slots as f64).unwrap(), depth);
    let back = party.plan(Dft::slots_to_coeffs(n, slots, levels[1], 1.0 / slots as f64).unwrap(), levels[1]);
    let keys = party.keys([&there, &back]);
    let scale = |level| party.context.scale(level).unwrap();
    let expected_bytes = there.bytes() + back.bytes();
    let there = CoeffsToSlots::encode(&party.context, there, scale(depth), scale(levels[1])).unwrap();
    let back = SlotsToCoeffs::encode(&party.context, back, scale(levels[1]), scale(0)).unwrap();
    let factors = there.factors.iter().chain(&back.factors);
    assert_eq!(factors.map(LinearTransform::byte_len).sum::<usize>(), expected_bytes);

    let z = numbers(slots);
    let encoder = Encoder::new(&party.context, slots).unwrap();
    let a =
        party.context.encrypt_secret(&encoder.encode(&z).unwrap(), &party.secret, &mut party.rng).unwrap();
    let parts = there.apply(&party.evaluator, &a, &keys).unwrap();
    let mut w = z.clone();
    Embedding::new(slots).unwrap().to_coefficients(&mut w).unwrap();
    bit_reverse(&mut w);
    let factor = slots as f64;
    let real = w.iter().map(|w| Complex64::from(w.re * factor));
    let imaginary = w.iter().map(|w| Complex64::from(w.im * factor));
    let (got, expected): (Vec<_>, Vec<_>) = match &parts.imaginary {
        None => (party.open(&parts.real), real.chain(imaginary).collect()),
        Some(second) => {
            ([party.open(&parts.real), party.open(second)].concat(), real.chain(imaginary).collect())
        }
    };
    assert_eq!(got.len(), 2 * slots);
    let [worst, mean] = errors(&got, expected.into_iter());
    let own = parts.real.metadata().precision.deviation().log2();
    assert!(mean < own + 0.5 && worst < own + 3.0, "mean 2^{mean}, worst 2^{worst}, expected 2^{own}");

    let closed = back.apply(&party.evaluator, &parts, &keys).unwrap();
    let metadata = closed.metadata();
    assert_eq!((metadata.level, metadata.slots, metadata.scale), (0, slots, scale(0)));
    let [worst, both] = errors(&party.open(&closed), z.into_iter());
    let own = metadata.precision.deviation().log2();
    assert!(both < own + 0.5 && worst < own + 3.0, "mean 2^{both}, worst 2^{worst}, expected 2^{own}");
    [mean, both]
}

#[test]
fn coefficients_go_to_slots_and_back() {
    for (log2_degree, slots, levels) in [
        (10, 512, [3, 3]),
        (10, 512, [2, 4]),
        (10, 256, [2, 3]),
        (10, 8, [3, 1]),
        (10, 1, [1, 1]),
        (11, 1024, [4, 3]),
        (12, 2048, [3, 3]),
        (12, 64, [2, 2]),
    ] {
        let [there, both] = there_and_back(log2_degree, slots, levels);
        println!("n = 2^{log2_degree}, {slots} slots, {levels:?} levels: 2^{there:.1}, 2^{both:.1}");
        assert!(there < -18.0 && both < -26.0, "2^{there}, 2^{both}");
    }
}

#[test]
fn plans_list_what_is_needed() {
    let party = Party::new(10, 4);
    let index = party.context.ring().index();
    let plan = party.plan(Dft::coeffs_to_slots(1024, 512, 3, 1.0).unwrap(), 4);
    assert_eq!(plan.factors().iter().map(Plan::level).collect::<Vec<_>>(), [4, 3, 2]);
    assert_eq!(plan.lowest_level(), 1);
    let exponents = plan.exponents(index);
    assert_eq!(exponents.get(&(index - 1)), Some(&1));
    let rotations: usize = plan.factors().iter().map(|plan| plan.rotations().len()).sum();
    assert!(exponents.len() <= rotations + 1);
    // The fold of sparse packing, and no conjugation on the way back.
    let back = party.plan(Dft::slots_to_coeffs(1024, 64, 2, 1.0).unwrap(), 4).exponents(index);
    assert_eq!(back.get(&rotation_exponent(64, index)), Some(&3));
    assert_eq!(back.get(&(index - 1)), None);
}

#[test]
fn what_does_not_fit_is_refused() {
    let mut party = Party::new(10, 2);
    let dft = Dft::coeffs_to_slots(1024, 512, 3, 1.0).unwrap();
    assert!(DftPlan::new(&party.context, dft.clone(), 2).is_err());
    assert!(DftPlan::new(&party.context, dft, 5).is_err());
    let there = party.plan(Dft::coeffs_to_slots(1024, 4, 1, 1.0).unwrap(), 2);
    let back = party.plan(Dft::slots_to_coeffs(1024, 4, 1, 1.0).unwrap(), 1);
    let keys = party.keys([&there, &back]);
    let scale = party.context.scale(1).unwrap();
    assert!(matches!(
        SlotsToCoeffs::encode(&party.context, there.clone(), scale, scale),
        Err(LinearTransformError::Direction { expected: Direction::ToCoeffs, got: Direction::ToSlots })
    ));
    let full = party.plan(Dft::slots_to_coeffs(1024, 512, 1, 1.0).unwrap(), 1);
    let [sparse, full] =
        [back, full].map(|plan| SlotsToCoeffs::encode(&party.context, plan, scale, scale).unwrap());
    let encoder = Encoder::new(&party.context, 8).unwrap();
    let plaintext = encoder.encode(&numbers(8)).unwrap();
    let real = party.context.encrypt_secret(&plaintext, &party.secret, &mut party.rng).unwrap();
    let one = Parts { real: real.clone(), imaginary: None };
    let two = Parts { imaginary: Some(real.clone()), real };
    for (transform, parts, count) in [(&sparse, &two, 2), (&full, &one, 1)] {
        let refused = transform.apply(&party.evaluator, parts, &keys);
        assert!(matches!(refused, Err(LinearTransformError::Parts { got, .. }) if got == count));
    }
    assert!(sparse.apply(&party.evaluator, &one, &keys).is_ok());
}
