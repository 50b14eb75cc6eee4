//! Digits recompose, and products with keys follow the definition.

use num_bigint::BigInt;
use sunzi_fermat::{FermatRing, Products, Shortcuts};
use sunzi_ring::{Evaluation, Gadget, GadgetOptions, PolyRing, RingError};

use crate::common::*;

fn options(radix_bits: Option<u32>) -> GadgetOptions {
    GadgetOptions { radix_bits, ..GadgetOptions::default() }
}

/// The parts (b + g_i·s, a) of a key with b and a zero: the gadget itself.
fn plain_key(
    ring: &FermatRing,
    gadget: &<FermatRing as PolyRing>::Gadget,
    source: &[BigInt],
) -> [Vec<<FermatRing as PolyRing>::Poly<Evaluation>>; 2] {
    let source = evaluated(ring, source);
    let part = |i| gadget.key_part([ring.zero(), ring.zero()], &source, i).unwrap();
    let parts: Vec<_> = (0..gadget.digit_count()).map(part).collect();
    parts.into_iter().map(|[b, a]| (b, a)).unzip::<_, _, Vec<_>, Vec<_>>().into()
}

#[test]
fn digits_recompose_at_every_level() {
    for bits in [64, 128, 512, 2048] {
        let ring = FermatRing::new(128, bits).unwrap();
        let kronecker = ring.with_products(Products::Kronecker).unwrap();
        let plain = ring.with_shortcuts(Shortcuts { multiplication: false, reduction: false }).unwrap();
        for ring in [ring, kronecker, plain] {
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

/// With random keys: digits times keys, as sums of integers below their bounds would be.
#[test]
fn products_are_linear_in_the_key() {
    let ring = FermatRing::new(128, 512).unwrap();
    let q = int(ring.modulus());
    for radix in [None, Some(40)] {
        let gadget = ring.gadget(&options(radix)).unwrap();
        let count = gadget.digit_count();
        assert_eq!(gadget.digit_bounds().len(), count);
        let mut rng = rng("linear");
        let random = |rng: &mut _| (0..count).map(|_| ring.uniform(rng)).collect::<Vec<_>>();
        let (first, second) = (random(&mut rng), random(&mut rng));
        let c = evaluated(&ring, &random_poly(&mut rng, 64, ring.modulus()));
        let digits = gadget.decompose(&c).unwrap();
        let [one, two] = gadget.product(&digits, [&first, &second]).unwrap();
        let sum: Vec<_> = first
            .iter()
            .zip(&second)
            .map(|(a, b)| {
                let mut sum = a.clone();
                ring.add_assign(&mut sum, b).unwrap();
                sum
            })
            .collect();
        let [both, _] = gadget.product(&digits, [&sum, &second]).unwrap();
        let expected: Vec<BigInt> =
            integers(&ring, one).iter().zip(integers(&ring, two)).map(|(x, y)| x + y).collect();
        assert_eq!(integers(&ring, both), centered(&expected, &q));
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let ring = FermatRing::new(128, 512).unwrap();
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
    let other = FermatRing::new(128, 256).unwrap();
    assert!(gadget.decompose(&other.zero()).is_err());
    let alien = vec![FermatRing::new(256, 512).unwrap().zero(); 4];
    assert!(gadget.product(&digits, [&alien, &alien]).is_err());
    // Digits of one gadget are not those of another.
    let radix = ring.gadget(&options(Some(61))).unwrap();
    let key = vec![ring.zero(); radix.digit_count()];
    assert!(radix.product(&digits, [&key, &key]).is_err());
}
