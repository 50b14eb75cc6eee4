//! Times key switches at n = 2^13 with 4 + 1 moduli of 40 bits and with 3 + 1 of 49 bits, in alternation: BFV, BGV and CKKS.
//! `RAYON_NUM_THREADS=1 cargo run --release -p sunzi-circuits --example wide_switches`
#![expect(clippy::print_stdout, reason = "it reports figures")]

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use sunzi_ckks::LevelRange;
use sunzi_encoding::{BatchEncoder, Encoder as _};
use sunzi_math::{WIDE_PRIME_BOUND, primes_below};
use sunzi_ring::{GadgetOptions, Multiplication, ScalerOptions};
use sunzi_rlwe::{GaloisKeys, PublicKey, RelinearizationKey, RlweContext, SecretKey, Security, randomness};

const ROUNDS: usize = 201;
const LOG_DEGREE: u32 = 13;
const PLAIN_MODULUS: u64 = 65_537;
/// Bounds and numbers of the moduli that are compared, one of them special.
const SHAPES: [Shape; 2] = [(1 << 40, 5), (WIDE_PRIME_BOUND, 4)];

type Outcome<T> = Result<T, Box<dyn Error>>;
/// A bound of moduli and their number.
type Shape = (u64, usize);
/// Makes the operations of a scheme.
type Make = fn(Shape) -> Outcome<Vec<Operation>>;
/// One operation by its name.
type Operation = (&'static str, Box<dyn Fn() -> Outcome<()>>);

/// The keys that the timed operations need.
struct Keys {
    public: PublicKey,
    relinearization: RelinearizationKey,
    galois: GaloisKeys,
}

impl Keys {
    fn new(context: &RlweContext) -> Outcome<Self> {
        let mut rng = randomness::from_os()?;
        let secret = SecretKey::generate(context, &mut rng)?;
        Ok(Self {
            public: PublicKey::generate(context, &secret, &mut rng)?,
            relinearization: RelinearizationKey::generate(context, &secret, &mut rng)?,
            galois: GaloisKeys::generate(context, &secret, [3, 5], &mut rng)?,
        })
    }
}

fn gadget(special_moduli: Vec<u64>) -> GadgetOptions {
    GadgetOptions { special_moduli, ..GadgetOptions::default() }
}

/// Makes the operations of one exact scheme: both have methods of the same names.
macro_rules! operations {
    ($context:expr, $evaluator:ty, $plain:expr) => {{
        let context = $context;
        let keys = Keys::new(context.rlwe())?;
        let ciphertext = context.encrypt($plain, &keys.public, &mut randomness::from_os()?)?;
        let evaluator = std::rc::Rc::new((<$evaluator>::new(&context), ciphertext, keys));
        let [first, second, third] = [0; 3].map(|_| evaluator.clone());
        let product = evaluator.0.multiply_unrelinearized(&evaluator.1, &evaluator.1)?;
        let relinearize = move || {
            black_box(first.0.relinearize(&product, &first.2.relinearization)?);
            Ok(())
        };
        let rotate = move || {
            black_box(second.0.rotate_rows(&second.1, 1, &second.2.galois)?);
            Ok(())
        };
        let multiply = move || {
            black_box(third.0.multiply(&third.1, &third.1, &third.2.relinearization)?);
            Ok(())
        };
        let all: Vec<Operation> = vec![
            ("relinearize", Box::new(relinearize)),
            ("rotate", Box::new(rotate)),
            ("multiply_relinearize", Box::new(multiply)),
        ];
        all
    }};
}

fn moduli((bound, count): Shape) -> Outcome<(Vec<u64>, Vec<u64>)> {
    let mut special = primes_below(bound, 2 << LOG_DEGREE, count)?;
    // The largest is the special one.
    let moduli = special.split_off(1);
    Ok((moduli, special))
}

fn bfv(shape: Shape) -> Outcome<Vec<Operation>> {
    let (moduli, special) = moduli(shape)?;
    let scaling =
        ScalerOptions { multiplication: Multiplication::HpsOverQLeveled, ..ScalerOptions::default() };
    let algorithms =
        sunzi_bfv::Algorithms { key_switching: gadget(special), scaling, ..sunzi_bfv::Algorithms::default() };
    let parameters = sunzi_bfv::Parameters::new(LOG_DEGREE, moduli, PLAIN_MODULUS, Security::Bits128);
    let context = sunzi_bfv::Context::new(&parameters.with_algorithms(algorithms))?;
    let plain = BatchEncoder::new(1 << LOG_DEGREE, PLAIN_MODULUS)?.encode(&[1, 2, 3])?;
    Ok(operations!(context, sunzi_bfv::Evaluator, &plain))
}

fn bgv(shape: Shape) -> Outcome<Vec<Operation>> {
    let (moduli, special) = moduli(shape)?;
    let parameters = sunzi_bgv::Parameters::new(LOG_DEGREE, moduli, PLAIN_MODULUS, Security::Bits128);
    let context = sunzi_bgv::Context::new(&parameters.with_key_switching(gadget(special)))?;
    let plain = BatchEncoder::new(1 << LOG_DEGREE, PLAIN_MODULUS)?.encode(&[1, 2, 3])?;
    Ok(operations!(context, sunzi_bgv::Evaluator, &plain))
}

/// Two levels of 2^45 above a Q_0 of 58 bits, which takes two words, or of 48.
fn ckks(shape: Shape) -> Outcome<Vec<Operation>> {
    let (first, special) = if shape.0 == WIDE_PRIME_BOUND { (48, 48) } else { (58, 47) };
    let ranges = [LevelRange { levels: 2, scale_bits: 45 }];
    let parameters = sunzi_ckks::Parameters::from_ranges(LOG_DEGREE, first, &ranges, Security::Bits128)?;
    let context = sunzi_ckks::Context::new(&parameters.with_special(1, special)?)?;
    let keys = Keys::new(context.rlwe())?;
    let plain = sunzi_ckks::Encoder::new(&context, 4)?.encode_real(&[0.5, 0.25, -0.5, 0.1])?;
    let ciphertext = context.encrypt(&plain, &keys.public, &mut randomness::from_os()?)?;
    let shared = std::rc::Rc::new((sunzi_ckks::Evaluator::new(&context), ciphertext, keys));
    let other = shared.clone();
    let rotate = move || {
        black_box(shared.0.rotate(&shared.1, 1, &shared.2.galois)?);
        Ok(())
    };
    let multiply = move || {
        black_box(other.0.multiply(&other.1, &other.1, &other.2.relinearization)?);
        Ok(())
    };
    Ok(vec![("rotate", Box::new(rotate)), ("multiply_relinearize_rescale", Box::new(multiply))])
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

fn main() -> Outcome<()> {
    let schemes: [(&str, Make); 3] = [("BFV", bfv), ("BGV", bgv), ("CKKS", ckks)];
    for (scheme, make) in schemes {
        let [narrow, wide] = SHAPES.map(make);
        for ((name, narrow), (_, wide)) in narrow?.into_iter().zip(wide?) {
            let mut times = [Vec::new(), Vec::new()];
            for _ in 0..ROUNDS {
                for (run, times) in [&narrow, &wide].into_iter().zip(&mut times) {
                    let start = Instant::now();
                    run()?;
                    times.push(start.elapsed().as_secs_f64() * 1e3);
                }
            }
            let [narrow, wide] = times;
            let ratios: Vec<f64> = wide.iter().zip(&narrow).map(|(wide, narrow)| wide / narrow).collect();
            let (narrow, wide, ratio) = (median(narrow), median(wide), median(ratios));
            println!("{scheme:4} {name:30} 4 + 1: {narrow:.3} ms, 3 + 1: {wide:.3} ms, ratio {ratio:.3}");
        }
    }
    Ok(())
}
