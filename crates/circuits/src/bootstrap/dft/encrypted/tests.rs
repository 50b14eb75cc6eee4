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
    secret: SecretKey,
    rng: ChaCha20Rng,
}

impl Party {
    /// Makes CKKS parameters with levels of 45 bits.
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

    fn keys(&mut self, plans: [&DftPlan; 2]) -> GaloisKeys {
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

/// Returns log2 of the largest and of the root mean square error of numbers.
fn errors(got: &[Complex64], expected: impl Iterator<Item = Complex64>) -> [f64; 2] {
    let squares: Vec<f64> = got.iter().zip(expected).map(|(a, b)| (a - b).norm_sqr()).collect();
    let mean = squares.iter().sum::<f64>() / squares.len() as f64;
    [squares.into_iter().fold(0.0, f64::max), mean].map(|square| square.log2() / 2.0)
}

/// Runs both transforms; returns log2 of the mean errors of CoeffsToSlots, relative to coefficients, and of both together.
fn there_and_back(log2_degree: u32, slots: usize, levels: [usize; 2]) -> [f64; 2] {
    let depth = levels[0] + levels[1];
    let mut party = Party::new(log2_degree, depth);
    let n = party.context.degree();
    let there = party.plan(Dft::coeffs_to_slots(n, slots, levels[0], slots as f64).unwrap(), depth);
    let back = party.plan(Dft::slots_to_coeffs(n, slots, levels[1], 1.0 / slots as f64).unwrap(), levels[1]);
    let keys = party.keys([&there, &back]);
    let scale = |level| party.context.scale(level).unwrap();
    let expected_bytes = there.bytes() + back.bytes();
    let there =
        CoeffsToSlots::encode(&party.context, there, [scale(depth), scale(levels[1])], &|| {}).unwrap();
    let back = SlotsToCoeffs::encode(&party.context, back, [scale(levels[1]), scale(0)], &|| {}).unwrap();
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
        SlotsToCoeffs::encode(&party.context, there.clone(), [scale; 2], &|| {}),
        Err(LinearTransformError::Direction { expected: Direction::ToCoeffs, got: Direction::ToSlots })
    ));
    let full = party.plan(Dft::slots_to_coeffs(1024, 512, 1, 1.0).unwrap(), 1);
    let [sparse, full] =
        [back, full].map(|plan| SlotsToCoeffs::encode(&party.context, plan, [scale; 2], &|| {}).unwrap());
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

/// Prints what both transforms need at full size: `cargo test --release -p sunzi-circuits --lib needs_at_full_size -- --ignored --nocapture`.
#[test]
#[ignore = "long: makes the tables of a ring of degree 2^16"]
fn needs_at_full_size() {
    use sunzi_ckks::LevelRange;

    let range = |levels, scale_bits| LevelRange { levels, scale_bits };
    let n = 1 << 16;
    for (digits, [there, back]) in [(4, [4, 3]), (4, [3, 3]), (5, [4, 3]), (5, [3, 3]), (4, [4, 4])] {
        let ranges = [range(10, 40), range(back, 40), range(8, 58), range(there, 47)];
        let parameters = Parameters::from_ranges(16, 60, &ranges, Security::InsecureForResearchOnly).unwrap();
        let parameters = parameters.with_digits(digits).unwrap();
        println!("log2 QP = {:.0}, {digits} digits", parameters.log2_key_modulus());
        let context = Context::new(&parameters).unwrap();
        let top = context.depth();
        let plans = [
            DftPlan::new(&context, Dft::coeffs_to_slots(n, n / 2, there, 1.0).unwrap(), top).unwrap(),
            DftPlan::new(&context, Dft::slots_to_coeffs(n, n / 2, back, 1.0).unwrap(), 10 + back).unwrap(),
        ];
        let mut exponents: BTreeMap<u64, usize> = BTreeMap::new();
        for plan in &plans {
            for factor in plan.factors() {
                println!(
                    "  level {:2}, {:2} moduli: {:2} diagonals, {:2} baby steps, {:2} giant steps, {:2} rotations, {:4} MiB",
                    factor.level(),
                    context.limbs(factor.level()).unwrap(),
                    factor.products(),
                    factor.babies().len(),
                    factor.giants().count(),
                    factor.rotations().len(),
                    factor.bytes() >> 20,
                );
            }
            for (exponent, level) in plan.exponents(2 << 16) {
                let highest = exponents.entry(exponent).or_default();
                *highest = level.max(*highest);
            }
        }
        let key = |&level: &usize| {
            let gadget = context.rlwe().gadget_at(context.limbs(level).unwrap()).unwrap();
            16 * n * gadget.digit_count() * gadget.key_ring().level()
        };
        let keys: usize = exponents.values().map(key).sum();
        let diagonals: usize = plans.iter().map(DftPlan::bytes).sum();
        println!("  {} keys: {} MiB, diagonals: {} MiB", exponents.len(), keys >> 20, diagonals >> 20);
    }
}

/// Times every factor at full size, one after the other:
/// `cargo test --release -p sunzi-circuits --lib times_at_full_size -- --ignored --nocapture`.
#[test]
#[ignore = "long: makes keys for a ring of degree 2^16, 3 GiB at a time"]
fn times_at_full_size() {
    use std::time::Instant;
    use sunzi_ckks::LevelRange;
    let range = |levels, scale_bits| LevelRange { levels, scale_bits };
    let n = 1 << 16;
    let ranges = [range(10, 40), range(3, 40), range(8, 58), range(4, 47)];
    let parameters = Parameters::from_ranges(16, 60, &ranges, Security::InsecureForResearchOnly).unwrap();
    let context = Context::new(&parameters.with_digits(4).unwrap()).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(9);
    let secret = SecretKey::generate(context.rlwe(), &mut rng).unwrap();
    let evaluator = Evaluator::new(&context);
    let encoder = Encoder::new(&context, n / 2).unwrap();
    let z = numbers(n / 2);
    let fresh = context.encrypt_secret(&encoder.encode(&z).unwrap(), &secret, &mut rng).unwrap();
    let there = Dft::coeffs_to_slots(n, n / 2, 4, 1.0).unwrap();
    let back = Dft::slots_to_coeffs(n, n / 2, 3, 1.0).unwrap();
    for (dft, top) in [(there, context.depth()), (back, 13)] {
        let plan = DftPlan::new(&context, dft, top).unwrap();
        for (matrix, plan) in plan.dft().factors().iter().zip(plan.factors()) {
            let limbs = context.limbs(plan.level()).unwrap();
            let start = Instant::now();
            let exponents =
                plan.rotations().into_iter().map(|steps| (rotation_exponent(steps, 2 * n as u64), limbs));
            let keys =
                GaloisKeys::generate_levels(context.rlwe(), &secret, exponents, &mut rng, |_, _| {}).unwrap();
            let made = start.elapsed();
            let start = Instant::now();
            let transform = LinearTransform::encode(&context, matrix, plan.clone()).unwrap();
            let encoded = start.elapsed();
            let a = evaluator.level_to(&fresh, plan.level()).unwrap();
            let mut times: Vec<_> = (0..3)
                .map(|_| {
                    let start = Instant::now();
                    transform.apply(&evaluator, &a, &keys).unwrap();
                    start.elapsed()
                })
                .collect();
            times.sort();
            println!(
                "level {:2}, {limbs:2} moduli, {} diagonals, {} baby and {} giant steps: {:?} (keys {made:?}, encoding {encoded:?})",
                plan.level(),
                plan.products(),
                plan.babies().len(),
                plan.giants().count(),
                times[1],
            );
        }
    }
}
