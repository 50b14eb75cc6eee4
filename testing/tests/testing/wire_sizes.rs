//! Sizes of ciphertexts and keys in files: n·log2 Q bits for each uniform polynomial, 32 bytes for a seed, the header, and 3 % for all else.

use num_bigint::BigUint;
use sunzi_big::BigRing;
use sunzi_math::primes_with_bits;
use sunzi_ring::{GadgetOptions, Ring, Storage};
use sunzi_rlwe::Security;
use sunzi_rlwe::wire::HEADER_LEN;
use sunzi_testing::storage::stored;
use sunzi_testing::wire::{Operate, specimens};
use sunzi_univariate::{Reduction, UnivariateRing};

const SECURITY: Security = Security::InsecureForResearchOnly;

/// Returns the bits that an object holds; `None` for objects with their own measure.
fn bits<C: Operate>(name: &str, context: &C, object: &str) -> Option<f64> {
    let rlwe = context.rlwe();
    let n = rlwe.ring().degree() as f64;
    let [q, full] = [rlwe.log2_modulus(), rlwe.log2_key_modulus()];
    let key = rlwe.gadget().digit_count() as f64 * n * full + 256.0;
    let index = rlwe.ring().index();
    let keys = [2, 3, index - 1].into_iter().filter(|&k| sunzi_math::gcd(k, index) == 1).count() as f64;
    let fresh = n * q + 256.0;
    // BGV products are one level lower.
    let level = rlwe.ring().level() - usize::from(name == "bgv");
    let product = 3.0 * n * rlwe.log2_modulus_at(level).unwrap();
    Some(match object {
        // Two bits for each of three values.
        "secret" => 2.0 * n,
        "public" => n * (q + rlwe.log2_encryption_excess()) + 256.0,
        "relinearization" => key,
        "galois" => keys * key,
        "fresh" => fresh,
        "ciphertext" => 2.0 * n * q,
        "product" => product,
        // One, two and three polynomials of the ciphertexts are in the file.
        "array" => fresh + 2.0 * n * q + product,
        _ => return None,
    })
}

fn check<C: Operate + 'static>(name: &str, context: &C) -> usize
where
    C::Plain: 'static,
{
    let mut count = 0;
    for specimen in specimens(name, context, 1).unwrap() {
        let object = specimen.name.rsplit_once('-').map_or("", |(_, object)| object);
        let Some(bits) = bits(name, context, object) else { continue };
        // The header, and the checksum at the end.
        let ratio = (specimen.bytes.len() - HEADER_LEN - 8) as f64 / (bits / 8.0);
        assert!((0.99..=1.03).contains(&ratio), "{}: {ratio:.4} of what it holds", specimen.name);
        count += 1;
    }
    count
}

/// Checks every kind of object in every scheme and over every storage of residues, with moduli of short and long words.
#[test]
fn files_are_as_small_as_what_they_hold() {
    let mut count = 0;
    for bits in [40, 48, 60] {
        let mut moduli = primes_with_bits(bits, 1 << 12, 4).unwrap();
        let special_moduli = moduli.split_off(3);
        let key_switching = GadgetOptions { special_moduli, ..GadgetOptions::default() };
        let algorithms = sunzi_bfv::Algorithms {
            key_switching: key_switching.clone(),
            ..sunzi_bfv::Algorithms::default()
        };
        let bfv =
            sunzi_bfv::Parameters::new(11, moduli.clone(), 12_289, SECURITY).with_algorithms(algorithms);
        count += check("bfv", &sunzi_bfv::Context::new(&bfv).unwrap());
        let bgv = sunzi_bgv::Parameters::new(11, moduli, 12_289, SECURITY).with_key_switching(key_switching);
        count += check("bgv", &sunzi_bgv::Context::new(&bgv).unwrap());
    }
    let built = sunzi_bfv::Parameters::builder().depth(2).plain_bits(17).build().unwrap();
    count += check("bfv", &sunzi_bfv::Context::new(&built).unwrap());
    let range = sunzi_ckks::LevelRange { levels: 2, scale_bits: 40 };
    let ckks =
        sunzi_ckks::Parameters::from_ranges(11, 46, &[range], SECURITY).unwrap().with_digits(2).unwrap();
    count += check("ckks", &sunzi_ckks::Context::new(&ckks).unwrap());
    let sets = sunzi_ckks::LevelRange { levels: 4, scale_bits: 56 };
    let sets = sunzi_ckks::Parameters::from_ranges_rational(11, 58, &[sets], SECURITY).unwrap();
    count += check("sets", &sunzi_ckks::Context::new(&sets.with_digits(3).unwrap()).unwrap());
    let cyclotomic =
        Ring::new(1155, &primes_with_bits(40, Ring::root_order(1155).unwrap(), 3).unwrap()).unwrap();
    count += check("cyclotomic", &sunzi_bfv::Context::with_ring(cyclotomic, 13, SECURITY).unwrap());
    let moduli: Vec<BigUint> =
        primes_with_bits(40, 1 << 11, 3).unwrap().into_iter().map(BigUint::from).collect();
    let big = stored(BigRing::with_chain(1 << 11, &moduli).unwrap(), Storage::Big);
    count += check("big", &sunzi_bfv::Context::with_ring(big, 257, SECURITY).unwrap());
    let primes = primes_with_bits(40, UnivariateRing::root_order(1155).unwrap(), 3).unwrap();
    let univariate = stored(
        Ring::of(UnivariateRing::new(1155, &primes, Reduction::Barrett).unwrap()),
        Storage::Univariate,
    );
    count += check("univariate", &sunzi_bfv::Context::with_ring(univariate, 13, SECURITY).unwrap());
    let fermat = sunzi_bfv::FermatParameters::new(1024, 512, 12_289, SECURITY).unwrap();
    count += check("fermat", &fermat.context().unwrap());
    assert_eq!(count, 13 * 8);
}
