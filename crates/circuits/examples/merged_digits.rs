//! Times of relinearisations with merged digits beside those without, alternating, level after level and down a chain.
//!
//! `RAYON_NUM_THREADS=1 cargo run --release -p sunzi-circuits --example merged_digits`
#![expect(clippy::print_stdout, reason = "it reports figures")]

use std::time::Instant;

use sunzi_ckks::{Ciphertext, Context, Encoder, Evaluator, Parameters, ParametersBuilder};
use sunzi_rlwe::{GaloisKeys, PublicKey, RelinearizationKey, SecretKey, randomness};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// Alternating measurements of two ways; a measurement takes a few milliseconds.
const ROUNDS: usize = 41;

/// Evaluator and keys, without sums and with them.
struct Side {
    evaluator: Evaluator,
    keys: [RelinearizationKey; 2],
    rotations: [GaloisKeys; 2],
}

impl Side {
    /// Returns the ciphertext at every level, from the highest on.
    fn chain(&self, fresh: &Ciphertext, way: usize) -> Outcome<Vec<Ciphertext>> {
        let key = self.keys.get(way).ok_or("no such way")?;
        let mut chain = vec![fresh.clone()];
        while let Some(last) = chain.last().filter(|last| last.metadata().level > 0) {
            let product = self.evaluator.square(last, key)?;
            chain.push(product);
        }
        Ok(chain)
    }

    /// Returns seconds of a product with relinearisation, and of a rotation.
    fn seconds(&self, operand: &Ciphertext, way: usize) -> Outcome<[f64; 2]> {
        let (key, rotations) = self.keys.get(way).zip(self.rotations.get(way)).ok_or("no such way")?;
        let start = Instant::now();
        std::hint::black_box(self.evaluator.square(operand, key)?);
        let product = start.elapsed().as_secs_f64();
        let start = Instant::now();
        std::hint::black_box(self.evaluator.rotate(operand, 1, rotations)?);
        Ok([product, start.elapsed().as_secs_f64()])
    }
}

/// The median and the quartiles of ratios.
fn spread(mut ratios: Vec<f64>) -> [f64; 3] {
    ratios.sort_by(f64::total_cmp);
    [2, 1, 3].map(|quarter| ratios.get(ratios.len() * quarter / 4).copied().unwrap_or(f64::NAN))
}

fn measure(name: &str, request: &ParametersBuilder) -> Outcome<()> {
    let parameters: Parameters = request.build()?;
    let context = Context::new(&parameters)?;
    let rlwe = context.rlwe();
    let mut rng = randomness::from_os()?;
    let secret = SecretKey::generate(rlwe, &mut rng)?;
    let public = PublicKey::generate(rlwe, &secret, &mut rng)?;
    let key = RelinearizationKey::generate(rlwe, &secret, &mut rng)?;
    // X → X^5 rotates by a slot.
    let rotations = GaloisKeys::generate(rlwe, &secret, [5], &mut rng)?;
    let merged = key.clone().with_merged_digits(rlwe)?;
    let special = &parameters.key_switching().special_moduli;
    println!(
        "{name}: n = 2^{}, {} + {} moduli, key {:.1} MB, with sums {:.1} MB",
        parameters.log2_degree(),
        parameters.moduli().len(),
        special.len(),
        key.byte_len() as f64 / 1e6,
        merged.byte_len() as f64 / 1e6,
    );
    let rotations = [rotations.clone(), rotations.with_merged_digits(rlwe)?];
    let side = Side { evaluator: Evaluator::new(&context), keys: [key, merged], rotations };
    let slots = parameters.max_slots();
    let message = Encoder::new(&context, slots)?.encode_real(&vec![0.5; slots])?;
    let fresh = context.encrypt(&message, &public, &mut rng)?;
    let chain = side.chain(&fresh, 0)?;
    for operand in chain.iter().filter(|operand| operand.metadata().level > 0) {
        let level = operand.metadata().level;
        let gadget = rlwe.gadget_at(context.limbs(level)?)?;
        let Some(merged) = gadget.merged(context.limbs(level.saturating_sub(1))?)? else { continue };
        let mut ratios = [Vec::new(), Vec::new()];
        for _ in 0..ROUNDS {
            let ([product, rotation], [old, old_rotation]) =
                (side.seconds(operand, 1)?, side.seconds(operand, 0)?);
            let [products, rotations] = &mut ratios;
            products.push(product / old);
            rotations.push(rotation / old_rotation);
        }
        let [product, rotation] = ratios.map(spread);
        println!(
            "  level {:2}, {:2} digits for {:2}: product {product:.3?}, rotation {rotation:.3?}",
            operand.metadata().level,
            merged.digit_count(),
            gadget.digit_count()
        );
    }
    let mut whole = Vec::new();
    for _ in 0..ROUNDS {
        let run = |way| -> Outcome<f64> {
            let start = Instant::now();
            std::hint::black_box(side.chain(&fresh, way)?);
            Ok(start.elapsed().as_secs_f64())
        };
        let new = run(1)?;
        whole.push(new / run(0)?);
    }
    println!("  the whole chain of {} products: {:.3?}", parameters.depth(), spread(whole));
    Ok(())
}

fn main() -> Outcome<()> {
    let of = |depth, precision| Parameters::builder().depth(depth).precision(precision);
    measure("precision 15, depth 7", &of(7, 15))?;
    measure("precision 10, depth 10", &of(10, 10))?;
    measure("precision 10, depth 16", &of(16, 10))?;
    measure("precision 15, depth 16", &of(16, 15))
}
