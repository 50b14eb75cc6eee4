//! Hostile parameters: whatever a file of at most 64 KiB says, reading it takes a second and little memory, and tables that would be too
//! large for the machine are errors before any work.

use std::time::{Duration, Instant};

use sunzi_bfv::{Algorithms, CrtParameters, FermatParameters};
use sunzi_math::primes_with_bits;
use sunzi_ring::{GadgetOptions, Multiplication, ScalerOptions};
use sunzi_rlwe::wire::{self, Accept, CHECKSUM_LEN, HEADER_LEN, NoContext, StoredParameters};
use sunzi_rlwe::{RingShape, RlweError, SecretDistribution, Security, memory};
use sunzi_testing::Figure;
use sunzi_testing::process::alone;
use sunzi_testing::wire::alloc;

use crate::MEMORY;

const RESEARCH: Security = Security::InsecureForResearchOnly;
const CLAIMS: [Security; 2] = [RESEARCH, Security::Bits128];

/// Times and sizes of all files read.
#[derive(Default)]
struct Seen {
    files: usize,
    slow: Vec<String>,
    large: Vec<String>,
    slowest: Duration,
    most: usize,
}

impl Seen {
    /// Reads a file both ways, within a second and one for each MB, and within the bytes that any file may take.
    fn read<P: StoredParameters>(&mut self, name: &str, bytes: &[u8]) {
        for accept in [Accept::Secure, Accept::InsecureForResearchOnly] {
            let before = MEMORY.current_usage();
            MEMORY.reset_peak_usage();
            let start = Instant::now();
            let read = wire::from_bytes::<P, _>(&accept, bytes);
            let (time, used) = (start.elapsed(), MEMORY.peak_usage().saturating_sub(before));
            drop(read);
            self.files += 1;
            if time.as_secs_f64() > 1.0 + bytes.len() as f64 / 1e6 {
                self.slow.push(format!("{name}: {time:?}"));
            }
            if used > alloc::ceiling(bytes.len()) {
                self.large.push(format!("{name}: {used} bytes for {}", bytes.len()));
            }
            self.slowest = self.slowest.max(time);
            self.most = self.most.max(used);
        }
    }

    fn parameters<P: StoredParameters>(&mut self, name: &str, parameters: &P) {
        let bytes = wire::to_bytes(&NoContext, parameters).unwrap();
        self.read::<P>(name, &bytes);
        // Any word of the parameters may be anything: counts, indices, choices.
        let end = bytes.len() - CHECKSUM_LEN;
        let words = (end - HEADER_LEN) / 8;
        for at in (0..words.min(24)).chain(words.saturating_sub(24)..words) {
            for value in [0, 1, 7, 1 << 17, 1 << 32, 1 << 61, u64::MAX] {
                let mut forged = bytes.clone();
                let place = HEADER_LEN + 8 * at;
                forged[place..place + 8].copy_from_slice(&value.to_le_bytes());
                let checksum = wire::checksum(&forged[HEADER_LEN..end]);
                forged[end..].copy_from_slice(&checksum.to_le_bytes());
                self.read::<P>(name, &forged);
            }
        }
    }
}

fn hybrid(special: &[u64], digits: usize) -> GadgetOptions {
    let special_moduli = special.to_vec();
    GadgetOptions { special_moduli, digits: Some(digits), ..GadgetOptions::default() }
}

/// Returns key switching with as many digits as possible, or as many special moduli.
fn switchings(special: &[u64]) -> [GadgetOptions; 4] {
    let radix = |bits| GadgetOptions { radix_bits: Some(bits), ..GadgetOptions::default() };
    [radix(1), radix(61), hybrid(special, 1), hybrid(special, 255)]
}

#[test]
fn hostile_parameters_are_read_in_time_and_memory() {
    alone("hostile_parameters::hostile_parameters_are_read_in_time_and_memory", || {
        let mut seen = Seen::default();
        let primes: Vec<u64> = (257..).filter(|&t| sunzi_math::is_prime(t)).take(256).collect();
        for (log2_degree, count, bits) in
            [(17, 256, 61), (17, 200, 32), (16, 256, 40), (10, 256, 61), (17, 1, 61)]
        {
            let all = primes_with_bits(bits, 2 << log2_degree, count).unwrap();
            let (special, moduli) = all.split_at(count / 4);
            let levels: Vec<usize> = (1..=moduli.len()).collect();
            for security in CLAIMS {
                for switching in switchings(special) {
                    let name = format!("n = 2^{log2_degree}, {count} of {bits} bits, {security:?}");
                    let algorithms = Algorithms { key_switching: switching.clone(), ..Algorithms::default() };
                    let bfv = sunzi_bfv::Parameters::new(log2_degree, moduli.to_vec(), 257, security);
                    seen.parameters(&name, &bfv.with_algorithms(algorithms.clone()));
                    let plain = (0..256).map(|i| 257 + 2 * i).collect();
                    let crt = CrtParameters::new(log2_degree, moduli.to_vec(), plain, security);
                    seen.parameters(&name, &crt.with_algorithms(algorithms.clone()));
                    // Parameters that make contexts are read to the end.
                    let crt = CrtParameters::new(log2_degree, moduli.to_vec(), primes.clone(), security);
                    let bytes = wire::to_bytes(&NoContext, &crt.with_algorithms(algorithms)).unwrap();
                    seen.read::<CrtParameters>(&name, &bytes);
                    let bgv = sunzi_bgv::Parameters::new(log2_degree, moduli.to_vec(), 257, security);
                    seen.parameters(&name, &bgv.with_key_switching(switching.clone()));
                    let levels = levels.clone();
                    let rungs: Vec<Vec<usize>> = (1..=moduli.len()).map(|l| (0..l).rev().collect()).collect();
                    let ckks =
                        sunzi_ckks::Parameters::new(log2_degree, moduli.to_vec(), levels, bits - 2, security)
                            .with_key_switching(switching)
                            .with_secrets(SecretDistribution::FixedWeight(192));
                    seen.parameters(&name, &ckks.clone().with_rungs(rungs));
                    seen.parameters(&name, &ckks);
                }
            }
        }
        odd(&mut seen);
        for bits in [64, 256, 1 << 16, 1 << 20, 1 << 24] {
            if let Ok(parameters) = FermatParameters::new(1 << 17, bits, 769, RESEARCH) {
                seen.parameters(&format!("2^{bits} - 1"), &parameters);
            }
        }
        let Seen { files, slow, large, slowest, most } = seen;
        println!("{files} files, slowest {slowest:?}, most {most} bytes; slow {slow:?}, large {large:?}");
        Figure::new(10, "made-up parameters over a second and one for each MB, or over the memory of a file")
            .cases(files, files)
            .none_wrong(slow.len() + large.len());
    });
}

/// Checks rings of indices that are hard to factor, or too large.
fn odd(seen: &mut Seen) {
    for index in [3, 131_071, 65_537, 3 * 5 * 7 * 11 * 13, 255_255, 1 << 40, (1 << 61) - 1, u64::MAX] {
        for security in CLAIMS {
            let ring = RingShape::of_index(index);
            let moduli = vec![1_152_921_504_606_846_883; 256];
            let name = format!("index {index}");
            seen.parameters(&name, &sunzi_bfv::Parameters::new(ring, moduli.clone(), 2, security));
            seen.parameters(&name, &sunzi_bgv::Parameters::new(ring, moduli, 2, security));
        }
    }
}

/// Returns the stated memory of a context relative to the memory it takes; prints both, and the time of making it.
fn take<C>(name: &str, said: u64, make: impl Fn() -> C) -> f64 {
    // What all contexts share is there then.
    let before = MEMORY.current_usage();
    let start = Instant::now();
    let context = make();
    let took = start.elapsed();
    let taken = MEMORY.current_usage().saturating_sub(before);
    drop(context);
    // A megabyte more or less is no matter.
    let part = (said + (1 << 20)) as f64 / (taken + (1 << 20)) as f64;
    println!("{name}: {said} bytes said, {taken} taken: {part:.2}; {took:?}");
    part
}

/// Checks that sizes of tables are known from numbers alone, before any is made: over degrees, moduli, digits, levels, products and rings.
#[test]
fn tables_take_what_was_said() {
    alone("hostile_parameters::tables_take_what_was_said", || {
        let mut parts = Vec::new();
        for (log2_degree, count, bits) in
            [(10, 256, 60), (12, 64, 40), (12, 256, 60), (14, 16, 48), (14, 60, 30), (16, 8, 50)]
        {
            let primes = primes_with_bits(bits, 2 << log2_degree, count).unwrap();
            let (special, moduli) = primes.split_at(count / 4);
            for switching in switchings(special).into_iter().chain([hybrid(special, 4)]) {
                let name = format!("n = 2^{log2_degree}, {count} of {bits} bits, {switching}");
                parts.extend(of_schemes(&name, log2_degree, moduli, &switching));
            }
        }
        for index in [21_845, 65_537, 4095, 5040, 3_u64.pow(9), 61 * 61, 2 * 2 * 8191] {
            let ring = RingShape::of_index(index);
            let moduli = primes_with_bits(50, ring.root_order(), 6).unwrap();
            let bfv = sunzi_bfv::Parameters::new(ring, moduli, 2, RESEARCH);
            let make = || sunzi_bfv::Context::new(&bfv).unwrap();
            parts.push(take(&format!("BFV, index {index}"), bfv.table_bytes(), make));
        }
        for bits in [256, 4096, 16_384] {
            let fermat = FermatParameters::new(1 << 12, bits, 769, RESEARCH).unwrap();
            parts.push(take(&format!("2^{bits} - 1"), fermat.table_bytes(), || fermat.context().unwrap()));
        }
        let least = parts.iter().copied().fold(f64::INFINITY, f64::min);
        let most = parts.iter().copied().fold(0.0, f64::max);
        println!("{} contexts, {least:.2} to {most:.2}", parts.len());
        assert!(least >= 1.0 / 1.5 && most <= 1.5, "{least} to {most}");
    });
}

/// Returns the stated memory relative to the memory taken, for the contexts of the three schemes that exist.
fn of_schemes(name: &str, log2_degree: u32, moduli: &[u64], switching: &GadgetOptions) -> Vec<f64> {
    let mut parts = Vec::new();
    let products = [Multiplication::HpsOverQLeveled, Multiplication::Behz, Multiplication::Hps];
    for multiplication in products {
        let scaling = ScalerOptions { multiplication, ..ScalerOptions::default() };
        let algorithms = Algorithms { key_switching: switching.clone(), scaling, ..Algorithms::default() };
        let bfv = sunzi_bfv::Parameters::new(log2_degree, moduli.to_vec(), 257, RESEARCH);
        let bfv = bfv.with_algorithms(algorithms);
        if bfv.validate().is_ok() {
            let make = || sunzi_bfv::Context::new(&bfv).unwrap();
            parts.push(take(&format!("BFV, {name}, {multiplication:?}"), bfv.table_bytes(), make));
        }
    }
    let bgv = sunzi_bgv::Parameters::new(log2_degree, moduli.to_vec(), 257, RESEARCH);
    let bgv = bgv.with_key_switching(switching.clone());
    if bgv.validate().is_ok() {
        let make = || sunzi_bgv::Context::new(&bgv).unwrap();
        parts.push(take(&format!("BGV, {name}"), bgv.table_bytes(), make));
    }
    let (levels, top) = ((2..=moduli.len()).collect(), moduli[0].ilog2() + 1);
    let ckks = sunzi_ckks::Parameters::new(log2_degree, moduli.to_vec(), levels, top, RESEARCH);
    let ckks = ckks.with_key_switching(switching.clone());
    if ckks.validate().is_ok() {
        let make = || sunzi_ckks::Context::new(&ckks).unwrap();
        parts.push(take(&format!("CKKS, {name}"), ckks.table_bytes(), make));
    }
    parts
}

/// Checks digits of two bits: a thousand keys would take terabytes.
#[test]
fn keys_that_no_machine_holds_are_refused_before_any_work() {
    alone("hostile_parameters::keys_that_no_machine_holds_are_refused_before_any_work", || {
        if memory::available().is_none() {
            return;
        }
        let moduli = primes_with_bits(61, 2 << 12, 128).unwrap();
        let options = GadgetOptions { radix_bits: Some(2), ..GadgetOptions::default() };
        let ring = sunzi_ring::Ring::new(2 << 12, &moduli).unwrap();
        let context = sunzi_rlwe::RlweContext::with_gadget(ring, RESEARCH, &options).unwrap();
        let one = context.switch_key_bytes(context.level()).unwrap();
        assert!(one > 1 << 33, "{one}");
        let mut rng = sunzi_rlwe::randomness::from_os().unwrap();
        let secret = sunzi_rlwe::SecretKey::generate(&context, &mut rng).unwrap();
        let (start, before) = (Instant::now(), MEMORY.current_usage());
        MEMORY.reset_peak_usage();
        let keys = sunzi_rlwe::GaloisKeys::generate(&context, &secret, (3..2003).step_by(2), &mut rng);
        let Err(RlweError::Memory { needed, available }) = keys else { panic!("keys of {one} bytes each") };
        assert!(needed == 1000 * one && available < needed);
        assert!(start.elapsed() < Duration::from_secs(1));
        assert!(MEMORY.peak_usage().saturating_sub(before) < 1 << 20);
    });
}
