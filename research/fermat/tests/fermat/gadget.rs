//! Tests that digits of the gadget recompose, and that products with keys follow the definition.

use num_bigint::BigInt;
use sunzi_fermat::{FermatRing, Products, Shortcuts};
use sunzi_math::{DEFAULT_PRIME_BOUND, primes_below};
use sunzi_ring::{Evaluation, Gadget, GadgetOptions, PackedPoly, Poly, Ring, RingError, ScalerOptions, Side};

use sunzi_ring::sampling::SeededRng;

use crate::common::*;

fn options(radix_bits: Option<u32>) -> GadgetOptions {
    GadgetOptions { radix_bits, ..GadgetOptions::default() }
}

/// Returns the parts (b + g_i·s, a) of a key with b and a zero: the gadget itself.
fn plain_key(ring: &Ring, gadget: &Gadget, source: &[BigInt]) -> [Vec<PackedPoly>; 2] {
    let source = evaluated(ring, source);
    let part = |i| gadget.key_part([ring.zero(), ring.zero()], &source, i).unwrap();
    let parts: Vec<_> = (0..gadget.digit_count()).map(part).collect();
    let (first, second): (Vec<_>, Vec<_>) = parts.into_iter().map(|[b, a]| (b, a)).unzip();
    [first, second].map(|half| kept(gadget, &half).unwrap())
}

#[test]
fn digits_recompose_at_every_level() {
    for bits in [64, 128, 512, 2048] {
        let ring = FermatRing::new(128, bits).unwrap();
        let kronecker = ring.with_products(Products::Kronecker);
        let plain = ring.with_shortcuts(Shortcuts { multiplication: false, reduction: false });
        for ring in [ring, kronecker, plain].map(Ring::of) {
            for radix in [None, Some(61), Some(32), Some(13)] {
                if bits > 512 && radix == Some(13) {
                    continue;
                }
                let gadget = ring.gadget(&options(radix)).unwrap();
                let mut one = vec![BigInt::ZERO; 64];
                one[0] = 1.into();
                let key = plain_key(&ring, &gadget, &one);
                for level in [ring.level(), 1.max(ring.level() - 1)] {
                    let (lower, gadget) = (ring.at_level(level).unwrap(), gadget.at_level(level).unwrap());
                    for c in samples(&mut rng("recompose"), 64, lower.modulus()) {
                        let c_poly = evaluated(&lower, &c);
                        let digits = gadget.decompose(&c_poly).unwrap();
                        let [sum, zero] = gadget.product(&digits, [&key[0], &key[1]]).unwrap();
                        assert_eq!(integers(&lower, sum), c, "{bits} {radix:?} {level}");
                        assert_eq!(norm(&integers(&lower, zero)), BigInt::ZERO);
                    }
                }
            }
        }
    }
}

/// Checks, with random keys, digits times keys: sums of integers below their bounds.
#[test]
fn products_are_linear_in_the_key() {
    let ring = Ring::of(FermatRing::new(128, 512).unwrap());
    let q = int(ring.modulus());
    for radix in [None, Some(40)] {
        let gadget = ring.gadget(&options(radix)).unwrap();
        let count = gadget.digit_count();
        assert_eq!(gadget.digit_bounds().len(), count);
        let mut rng = rng("linear");
        let random = |rng: &mut SeededRng| (0..count).map(|_| ring.uniform(rng)).collect::<Vec<_>>();
        let (first, second) = (random(&mut rng), random(&mut rng));
        let c = evaluated(&ring, &random_poly(&mut rng, 64, ring.modulus()));
        let digits = gadget.decompose(&c).unwrap();
        let kept = |half: &[Poly<Evaluation>]| kept(&gadget, half).unwrap();
        let [one, two] = gadget.product(&digits, [&kept(&first), &kept(&second)]).unwrap();
        let sum: Vec<_> = first
            .iter()
            .zip(&second)
            .map(|(a, b)| {
                let mut sum = a.clone();
                ring.add_assign(&mut sum, b).unwrap();
                sum
            })
            .collect();
        let [both, _] = gadget.product(&digits, [&kept(&sum), &kept(&second)]).unwrap();
        let expected: Vec<BigInt> =
            integers(&ring, one).iter().zip(integers(&ring, two)).map(|(x, y)| x + y).collect();
        assert_eq!(integers(&ring, both), centered(&expected, &q));
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let ring = Ring::of(FermatRing::new(128, 512).unwrap());
    let refused = |options: GadgetOptions| {
        assert!(matches!(ring.gadget(&options), Err(RingError::OutOfRange { .. })), "{options:?}");
    };
    refused(options(Some(0)));
    refused(options(Some(62)));
    refused(GadgetOptions { dropped_limbs: 1, ..GadgetOptions::default() });
    refused(GadgetOptions { digits: Some(2), ..GadgetOptions::default() });
    refused(GadgetOptions { special_moduli: vec![65_537], ..GadgetOptions::default() });
    let gadget = ring.gadget(&options(None)).unwrap();
    assert_eq!(gadget.digit_count(), 4);
    let key = plain_key(&ring, &gadget, &vec![BigInt::ZERO; 64]);
    let digits = gadget.decompose(&ring.zero()).unwrap();
    assert!(gadget.product(&digits, [&key[0][..3], &key[1][..3]]).is_err());
    assert!(gadget.product(&digits, [&key[0], &key[1][..3]]).is_err());
    assert!(gadget.key_part([ring.zero(), ring.zero()], &ring.zero(), 4).is_err());
    let other = Ring::of(FermatRing::new(128, 256).unwrap());
    assert!(gadget.decompose(&other.zero()).is_err());
    let alien = Ring::of(FermatRing::new(256, 512).unwrap());
    assert!(gadget.pack_part(alien.zero(), 0).is_err());
    let alien_gadget = alien.gadget(&options(None)).unwrap();
    let alien = plain_key(&alien, &alien_gadget, &vec![BigInt::ZERO; 128]);
    assert!(gadget.product(&digits, [&alien[0], &alien[1]]).is_err());
    // A gadget refuses the digits of another one.
    let radix = ring.gadget(&options(Some(61))).unwrap();
    let key = kept(&radix, &vec![ring.zero(); radix.digit_count()]).unwrap();
    assert!(radix.product(&digits, [&key, &key]).is_err());
}

#[test]
fn what_other_storages_made_is_refused() {
    // Four limbs and 64 coefficients, too, but words.
    let primes = primes_below(DEFAULT_PRIME_BOUND, 128, 4).unwrap();
    let (ring, words) = (Ring::of(FermatRing::new(128, 512).unwrap()), Ring::new(128, &primes).unwrap());
    assert_eq!(ring.zero::<Evaluation>().shape(), words.zero::<Evaluation>().shape());
    assert!(words.storage::<FermatRing>().is_none());
    let mixed = words.with_tables(ring.storage::<FermatRing>().unwrap().clone());
    assert!(mixed.description().is_empty() && mixed.gadget(&options(None)).is_err());
    for (own, other) in [(&ring, &words), (&words, &ring)] {
        let (mut a, b) = (own.zero::<Evaluation>(), other.zero::<Evaluation>());
        let refused = |result| assert!(matches!(result, Err(RingError::OtherModulus { .. })), "{result:?}");
        refused(own.add_assign(&mut a, &b));
        refused(own.mul_assign(&mut a, &b));
        refused(own.level_of(&b).map(|_| ()));
        let [gadget, others] = [own, other].map(|ring| ring.gadget(&options(None)).unwrap());
        refused(gadget.pack_part(b.clone(), 0).map(|_| ()));
        refused(gadget.multiplier(b.clone()).map(|_| ()));
        let keys = [(own, &gadget), (other, &others)].map(|(ring, gadget)| {
            let zeros = vec![ring.zero::<Evaluation>(); gadget.digit_count()];
            kept(gadget, &zeros).unwrap()
        });
        let [digits, other_digits] = [gadget.decompose(&a).unwrap(), others.decompose(&b).unwrap()];
        let refused = |result| assert_eq!(result, Err(RingError::OtherStorage));
        refused(gadget.product(&digits, [&keys[1], &keys[1]]).map(|_| ()));
        refused(gadget.product(&other_digits, [&keys[0], &keys[0]]).map(|_| ()));
        refused(gadget.unpack_part(&keys[1][0], 0).map(|_| ()));
        refused(gadget.multiplied(&others.multiplier(b.clone()).unwrap()).map(|_| ()));
        let scaler = own.scaler(786_433, &ScalerOptions::default()).unwrap();
        assert!(matches!(scaler.extend(&b, Side::Left, own.level()), Err(RingError::OtherModulus { .. })));
    }
}
