//! Times products and rotations of real slots beside complex ones, at one degree and equal moduli, in alternation; prints medians and numbers a second.
//!
//! `cargo run --release -p sunzi-ckks --example real_slots`
#![expect(clippy::print_stdout, reason = "what it is for")]

use std::error::Error;
use std::time::Instant;

use sunzi_ckks::rotation::rotation_keys;
use sunzi_ckks::{Ciphertext, CkksError, Context, Encoder, Evaluator, LevelRange, Parameters};
use sunzi_rlwe::{GaloisKeys, RelinearizationKey, RingShape, SecretKey, Security};

const ROUNDS: usize = 61;

/// Parties' objects for one ring, and the times of its operations.
struct Side {
    evaluator: Evaluator,
    operands: [Ciphertext; 2],
    relinearization: RelinearizationKey,
    rotations: GaloisKeys,
    slots: usize,
    times: [Vec<f64>; 2],
}

impl Side {
    fn new(parameters: &Parameters) -> Result<Self, Box<dyn Error>> {
        let context = Context::new(parameters)?;
        let rng = &mut sunzi_rlwe::randomness::from_os()?;
        let secret = SecretKey::generate(context.rlwe(), rng)?;
        let relinearization = RelinearizationKey::generate(context.rlwe(), &secret, rng)?;
        let rotations = rotation_keys(&context, &secret, [1], false, context.depth(), rng)?;
        let slots = context.max_slots();
        let encoder = Encoder::new(&context, slots)?;
        let values: Vec<f64> = (0..slots).map(|i| (i as f64).sin()).collect();
        let mut encrypt = || context.encrypt_secret(&encoder.encode_real(&values)?, &secret, rng);
        let operands = [encrypt()?, encrypt()?];
        let evaluator = Evaluator::new(&context);
        Ok(Self { evaluator, operands, relinearization, rotations, slots, times: [Vec::new(), Vec::new()] })
    }

    fn round(&mut self) -> Result<(), CkksError> {
        let [a, b] = &self.operands;
        let [product, rotation] = &mut self.times;
        let start = Instant::now();
        let made = self.evaluator.multiply(a, b, &self.relinearization)?;
        product.push(start.elapsed().as_secs_f64());
        drop(made);
        let start = Instant::now();
        let made = self.evaluator.rotate(a, 1, &self.rotations)?;
        rotation.push(start.elapsed().as_secs_f64());
        drop(made);
        Ok(())
    }

    fn medians(&mut self) -> [f64; 2] {
        self.times.each_mut().map(|times| {
            times.sort_by(f64::total_cmp);
            times.get(times.len() / 2).copied().unwrap_or_default()
        })
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    for (log2_degree, depth, digits) in [(13, 2, 3), (14, 6, 4), (15, 14, 4)] {
        let ranges = [LevelRange { levels: depth, scale_bits: 45 }];
        let ring = RingShape::RealLog2Degree(log2_degree);
        let real = Parameters::from_ranges(ring, 47, &ranges, Security::Bits128)?.with_digits(digits)?;
        // The same moduli serve the whole ring.
        let whole =
            Parameters::new(log2_degree, real.moduli().to_vec(), real.levels().to_vec(), 0, real.security());
        let whole =
            whole.with_scales(real.scale_ranges().to_vec()).with_key_switching(real.key_switching().clone());
        let mut sides = [Side::new(&whole)?, Side::new(&real)?];
        for _ in 0..ROUNDS {
            sides.iter_mut().try_for_each(Side::round)?;
        }
        println!("n = 2^{log2_degree}, {depth} levels, log2 QP {:.0}", real.log2_key_modulus());
        let slots = sides.each_ref().map(|side| side.slots as f64);
        let [complex, real] = sides.each_mut().map(Side::medians);
        for (i, name) in ["multiply, relinearise, rescale", "rotate"].into_iter().enumerate() {
            let of = |times: &[f64; 2]| times.get(i).copied().unwrap_or(f64::NAN);
            let (whole, real) = (of(&complex), of(&real));
            let [before, after] = [slots[0] / whole, slots[1] / real];
            println!(
                "  {name}: complex {:.3} ms, {:.2} M numbers/s; real {:.3} ms ({:+.1} %), {:.2} M numbers/s: {:.2} times as many",
                1e3 * whole,
                before / 1e6,
                1e3 * real,
                100.0 * (real / whole - 1.0),
                after / 1e6,
                after / before
            );
        }
    }
    Ok(())
}
