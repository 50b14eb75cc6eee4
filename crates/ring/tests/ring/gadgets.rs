//! Tests of gadgets: digits recompose, stay within their bounds, and inner products equal those of the definition.

use num_bigint::BigInt;
use num_traits::{One, ToPrimitive, Zero};
use sunzi_math::{DEFAULT_PRIME_BOUND, RingIndex, primes_below};
use sunzi_ring::{Addends, Evaluation, Gadget, GadgetOptions, Poly, Ring, RingError, SwitchInput};

use crate::common::*;

/// Returns the gadget options of every combination of a radix and a number of dropped limbs; some rings
/// cannot follow them all.
fn combinations(radices: &[Option<u32>], dropped: &[usize]) -> Vec<GadgetOptions> {
    let with = |&radix_bits| {
        dropped.iter().map(move |&dropped_limbs| GadgetOptions {
            radix_bits,
            dropped_limbs,
            ..GadgetOptions::default()
        })
    };
    radices.iter().flat_map(with).collect()
}

fn many() -> Vec<GadgetOptions> {
    combinations(&[None, Some(1), Some(7), Some(16), Some(31), Some(61)], &[0, 1, 2, 3])
}

/// Returns a few gadget options, since big integers are slow.
fn few() -> Vec<GadgetOptions> {
    combinations(&[None, Some(61)], &[0, 2])
}

type Key = [Vec<Poly<Evaluation>>; 2];

/// Returns a key-switching key with halves g_i·s + f_i·b_i and g_i·s + f_i·a_i for (b_i, a_i) of `zero`.
fn key(ring: &Ring, gadget: &Gadget, s: &[BigInt], zero: impl Fn(usize) -> [Vec<BigInt>; 2]) -> Key {
    let s = evaluated(ring, s);
    let part = |i, half: usize| {
        let zero = zero(i).map(|a| evaluated(ring, &a));
        let [b, _] = gadget.key_part([zero[half].clone(), ring.zero()], &s, i).unwrap();
        b
    };
    [0, 1].map(|half| (0..gadget.digit_count()).map(|i| part(i, half)).collect())
}

/// Sums of packed polynomials of keys are the packed sums, with and without dropped limbs, in one block and in several.
#[test]
fn sums_of_packed_parts_agree_with_sums() {
    for ring in residue_rings(64).into_iter().chain(general_rings()).chain(long_rings()) {
        for gadget in few().iter().filter_map(|options| ring.gadget(options).ok()) {
            for i in 0..gadget.digit_count() {
                let ring = gadget.part_ring(i).unwrap();
                let all = samples(&mut rng("sums of parts"), ring.degree(), ring.modulus());
                let polys: Vec<_> = all.iter().map(|a| evaluated(&ring, a)).collect();
                let parts: Vec<_> = polys.iter().map(|a| gadget.pack_part(a.clone(), i).unwrap()).collect();
                for count in [0, 1, 2, parts.len()] {
                    let terms: Vec<_> = parts[..count].iter().collect();
                    let sum = gadget.sum_parts(&terms, i).unwrap();
                    let expected = ring.sum(&polys[..count]).unwrap();
                    assert_eq!(gadget.unpack_part(&sum, i).unwrap().words(), expected.words());
                    assert_eq!(gadget.unpacked_sum(&terms, i).unwrap().words(), expected.words());
                    let more = ring.sum(polys[..count].iter().chain([&polys[0]])).unwrap();
                    assert_eq!(ring.sum_packed(&terms, Some(&polys[0])).unwrap().words(), more.words());
                    // Factors that are signs alone, and others.
                    for factors in [[1, -1].map(BigInt::from), [7.into(), 3 - int(ring.modulus()) / 2]] {
                        let terms: Vec<_> = factors.iter().cycle().zip(&polys[..count]).collect();
                        let packed = ring.packed_combination(&terms).unwrap();
                        let expected = ring.linear_combination(&terms, ring.level()).unwrap();
                        assert_eq!(ring.unpacked(&packed).unwrap().words(), expected.words());
                    }
                }
            }
        }
    }
}

/// Returns the products f_i·digit_i of every coefficient of a polynomial, for every digit i.
fn digits(ring: &Ring, gadget: &Gadget, c: &[BigInt]) -> Vec<Vec<BigInt>> {
    let n = ring.degree();
    let (zero, mut one) = (vec![BigInt::zero(); n], vec![BigInt::zero(); n]);
    one[0] = BigInt::one();
    let pick = |i| {
        let zeros = |j| [if i == j { one.clone() } else { zero.clone() }, zero.clone()];
        let [first, second] = key(ring, gadget, &zero, zeros);
        let [digit, none] =
            switched(ring, gadget, &ring.from_integers(c).unwrap(), [&first, &second]).unwrap();
        assert_eq!(integers(ring, none), zero);
        integers(ring, digit)
    };
    (0..gadget.digit_count()).map(pick).collect()
}

#[test]
fn digits_are_bounded_and_recompose() {
    fn law(ring: &Ring, options: &[GadgetOptions]) {
        let (n, q) = (ring.degree(), int(ring.modulus()));
        let all = samples(&mut rng("gadget"), n, ring.modulus());
        for options in options {
            let Ok(gadget) = ring.gadget(options) else { continue };
            assert_eq!(gadget.options(), options);
            let bounds = gadget.digit_bounds();
            assert_eq!(bounds.len(), gadget.digit_count());
            let mut largest = vec![f64::NEG_INFINITY; bounds.len()];
            let mut one = vec![BigInt::zero(); n];
            one[0] = BigInt::one();
            let [gadget_vector, _] = key(ring, &gadget, &one, |_| [0, 1].map(|_| vec![BigInt::zero(); n]));
            for c in &all {
                // Checks [BEHZ16, Lemma 7], up to the error of truncation.
                let poly = ring.from_integers(c).unwrap();
                let [sum, again] = switched(ring, &gadget, &poly, [&gadget_vector, &gadget_vector]).unwrap();
                let (sum, again) = (integers(ring, sum), integers(ring, again));
                assert_eq!(sum, again);
                let rest: Vec<BigInt> = sum.iter().zip(c).map(|(x, y)| center(&(x - y), &q)).collect();
                let log2 = norm(&rest).to_f64().unwrap().log2();
                assert!(log2 <= gadget.log2_truncation() + 1e-9, "{options:?}: {log2} bits are lost");
                // The bits of the widest decompositions are checked in the tests beside the code.
                if bounds.len() <= 16 {
                    for (largest, digit) in largest.iter_mut().zip(digits(ring, &gadget, c)) {
                        *largest = norm(&digit).to_f64().unwrap().log2().max(*largest);
                    }
                }
            }
            for (largest, bound) in largest.iter().zip(&bounds).filter(|_| bounds.len() <= 16) {
                let bound = bound.log2_bound;
                assert!(*largest <= bound + 1e-9, "{options:?}: a digit of {largest} bits above {bound}");
                assert!(*largest > bound - 2.0, "{options:?}: {largest} bits are far below {bound}");
            }
        }
    }
    for ring in residue_rings(64) {
        law(&ring, &many());
    }
    for ring in general_rings() {
        law(&ring, &few());
    }
    law(&twin(&residue_rings(64)[1]), &few());
}

#[test]
fn products_follow_the_definition() {
    fn law(ring: &Ring, options: &[GadgetOptions]) {
        let (n, q) = (ring.degree(), int(ring.modulus()));
        let mut rng = rng("gadget product");
        let all = samples(&mut rng, n, ring.modulus());
        let (c, s) = (&all[5], &all[6]);
        for options in options {
            let Ok(gadget) = ring.gadget(options) else { continue };
            let count = gadget.digit_count();
            if count > 16 {
                continue;
            }
            let zeros: Vec<[Vec<BigInt>; 2]> =
                (0..count).map(|_| [0, 1].map(|_| random_poly(&mut rng, n, ring.modulus()))).collect();
            let [first, second] = key(ring, &gadget, s, |i| zeros[i].clone());
            let found = switched(ring, &gadget, &ring.from_integers(c).unwrap(), [&first, &second]).unwrap();
            // The expected sum is Σ f_i·digit_i·zero_i + c·s, or uses the multiple of ω^i close to c.
            let digits = digits(ring, &gadget, c);
            let [vector, _] = key(ring, &gadget, s, |_| [0, 1].map(|_| vec![BigInt::zero(); n]));
            let [source, _] =
                switched(ring, &gadget, &ring.from_integers(c).unwrap(), [&vector, &vector]).unwrap();
            let source = integers(ring, source);
            if gadget.log2_truncation() == f64::NEG_INFINITY {
                assert_eq!(source, centered(&product(ring, c, s), &q));
            }
            for (half, found) in found.into_iter().enumerate() {
                let mut expected = source.clone();
                for (digit, zero) in digits.iter().zip(&zeros) {
                    for (sum, term) in expected.iter_mut().zip(product(ring, digit, &zero[half])) {
                        *sum += term;
                    }
                }
                assert_eq!(integers(ring, found), centered(&expected, &q), "{options:?}");
            }
        }
    }
    for ring in residue_rings(64) {
        law(&ring, &many());
    }
    for ring in general_rings() {
        law(&ring, &few());
    }
    law(&twin(&residue_rings(64)[1]), &few());
}

/// Checks that a hybrid switch is exact where the key has no errors, in every ring and at X^k too: P·c·s
/// modulo QP is divided by P.
#[test]
fn hybrid_switches_are_exact_in_rings_of_any_index() {
    for ring in general_rings() {
        let (m, q) = (ring.index(), int(ring.modulus()));
        let order = Ring::root_order(m).unwrap();
        let special_moduli: Vec<u64> = sunzi_math::primes_below(1 << 50, order, 4).unwrap();
        let special_moduli = special_moduli
            .into_iter()
            .filter(|p| !ring.words().unwrap().basis().values().contains(p))
            .collect();
        let options = GadgetOptions { special_moduli, digits: Some(2), ..GadgetOptions::default() };
        let gadget = ring.gadget(&options).unwrap();
        let all = samples(&mut rng("hybrid"), ring.degree(), ring.modulus());
        let (c, s) = (&all[5], &all[6]);
        let source = evaluated(gadget.key_ring(), s);
        let zero = || gadget.key_ring().zero::<Evaluation>();
        let parts = (0..gadget.digit_count()).map(|i| gadget.key_part([zero(), zero()], &source, i).unwrap());
        let (first, second): (Vec<_>, Vec<_>) = parts.map(|[b, a]| (b, a)).unzip();
        let [first, second] = [first, second].map(|half| kept(&gadget, &half).unwrap());
        let keys = [&first[..], &second[..]];
        let expected = ring.from_integers(&product(&ring, c, s)).unwrap();
        let k = (2..m).find(|&k| ring.ring_index().is_automorphism(k)).unwrap();
        for exponent in [1, k] {
            let value = evaluated(&ring, c);
            let [found, _] = gadget
                .switch(SwitchInput::Values(&value), Addends::NONE, keys, ring.level(), exponent)
                .unwrap();
            let expected = ring.automorphism(&expected, exponent).unwrap();
            assert_eq!(integers(&ring, found), centered(&ring.to_integers(&expected).unwrap(), &q), "{m}");
        }
    }
}

/// Checks that key switches in one go and of digits made before equal their steps: both ways of summing, of whole
/// limbs and, above n = 2^14, of blocks whose transforms end just before, and remainders by one and by
/// several moduli.
#[test]
fn switches_are_those_of_their_digits() {
    for index in [RingIndex::new(1 << 15), RingIndex::new(1 << 16), RingIndex::real(1 << 14)] {
        let index = index.unwrap();
        let (n, m) = (index.degree(), index.value());
        let last = if index.is_real() { m - 3 } else { m - 1 };
        let moduli = primes_below(DEFAULT_PRIME_BOUND, m, 6).unwrap();
        let ring = Ring::new(&index, &moduli[..4]).unwrap();
        for (digits, special) in [(4, 1), (2, 2)] {
            let special_moduli = moduli[4..4 + special].to_vec();
            let options = GadgetOptions { special_moduli, digits: Some(digits), ..GadgetOptions::default() };
            let gadget = ring.gadget(&options).unwrap();
            let mut rng = rng("switch of digits");
            let (c, rest) = (ring.uniform(&mut rng), ring.uniform(&mut rng));
            let mut half = || (0..digits).map(|_| gadget.key_ring().uniform(&mut rng)).collect::<Vec<_>>();
            let key = [half(), half()].map(|half| kept(&gadget, &half).unwrap());
            let keys = [&key[0][..], &key[1]];
            for threads in [1, 2] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| {
                    let standing = gadget.decompose(&c).unwrap();
                    let sums = gadget.product(&standing, keys).unwrap();
                    for (level, exponent) in [(4, 1), (4, 5), (3, 1), (3, last)] {
                        let expected = by_steps(&gadget, &sums, &rest, level, exponent);
                        let added = Addends::Values([Some(&rest), None]);
                        let switch = |input| gadget.switch(input, added, keys, level, exponent).unwrap();
                        let [of_values, of_digits] =
                            [SwitchInput::Values(&c), SwitchInput::Digits(&standing)].map(switch);
                        for found in [of_values, of_digits] {
                            let equal = |half: usize| found[half].words() == expected[half].words();
                            assert!(equal(0) && equal(1), "{n}, {digits}, {threads}, {level}, {exponent}");
                        }
                    }
                    let input = SwitchInput::Digits(&standing);
                    let extended = gadget.switch_extended(input, None, keys, 5).unwrap();
                    for (found, sum) in extended.iter().zip(&sums) {
                        let expected = gadget.key_ring().automorphism(sum, 5).unwrap();
                        assert!(found.words() == expected.words(), "{n}, {digits}, {threads}");
                    }
                });
            }
        }
    }
}

/// Returns the key switch to a level of inner products with a key, one step after the other.
fn by_steps(
    gadget: &Gadget,
    sums: &[Poly<Evaluation>; 2],
    added: &Poly<Evaluation>,
    level: usize,
    exponent: u64,
) -> [Poly<Evaluation>; 2] {
    let (ring, mut sums) = (gadget.key_ring(), sums.clone());
    ring.add_assign(&mut sums[0], &ring.scale_up(added).unwrap()).unwrap();
    sums.map(|sum| {
        let divided = gadget.mod_down(&sum, level).unwrap();
        ring.at_level(level).unwrap().automorphism(&divided, exponent).unwrap()
    })
}

/// Checks the size of a key without i of the k limbs of both halves [BEHZ16, B.2], whatever the radix [B.1].
/// A packed key is kept in 6 bytes for every residue modulo 48 bits, and 64 more for every polynomial.
#[test]
fn keys_have_the_predicted_size() {
    let ring = &residue_rings(64)[1];
    let (n, k) = (64, 4);
    for (radix_bits, digits) in [(None, 1), (Some(1), 48), (Some(16), 3), (Some(20), 3), (Some(48), 1)] {
        for dropped_limbs in 0..k {
            let gadget = ring
                .gadget(&GadgetOptions { radix_bits, dropped_limbs, ..GadgetOptions::default() })
                .unwrap();
            let zero = || [ring.zero(), ring.zero()];
            let parts: Vec<_> =
                (0..k * digits).map(|i| gadget.key_part(zero(), &ring.zero(), i).unwrap()).collect();
            let bytes: usize = parts.iter().flatten().map(|part| part.byte_len()).sum();
            assert_eq!(bytes, 2 * k * digits * (k - dropped_limbs) * n * 8);
            let parts = parts.into_iter().enumerate();
            let kept = parts.flat_map(|(i, pair)| pair.map(|part| gadget.pack_part(part, i).unwrap()));
            let bytes: usize = kept.map(|part| part.byte_len()).sum();
            assert_eq!(bytes, 2 * k * digits * ((k - dropped_limbs) * n * 6 + 64));
            assert_eq!(gadget.key_bytes().unwrap(), bytes);
            assert_eq!(gadget.digit_count(), k * digits);
        }
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    fn law(ring: &Ring, alien: &Ring) {
        let gadget = ring.gadget(&GadgetOptions::default()).unwrap();
        let digits = gadget.digit_count();
        let (zero, other) = (ring.zero(), alien.zero());
        let part = |b: &Poly<_>, a: &Poly<_>, s: &Poly<_>, i| {
            gadget.key_part([b.clone(), a.clone()], s, i).map(|_| ())
        };
        assert!(part(&zero, &zero, &zero, digits - 1).is_ok());
        for i in [digits, digits + 1, usize::MAX] {
            assert!(matches!(part(&zero, &zero, &zero, i), Err(RingError::OutOfRange { .. })));
        }
        assert!(part(&other, &zero, &zero, 0).is_err());
        assert!(part(&zero, &other, &zero, 0).is_err());
        assert!(part(&zero, &zero, &other, 0).is_err());
        let key = vec![zero; digits + 1];
        assert!(switched(ring, &gadget, &ring.zero(), [&key[1..], &key[1..]]).is_ok());
        assert!(switched(ring, &gadget, &ring.zero(), [&key, &key[1..]]).is_err());
        assert!(switched(ring, &gadget, &ring.zero(), [&key[1..], &key[2..]]).is_err());
        assert!(switched(ring, &gadget, &ring.zero(), [&[], &[]]).is_err());
        assert!(switched(ring, &gadget, &alien.zero(), [&key[1..], &key[1..]]).is_err());
        assert!(switched(ring, &gadget, &ring.zero(), [&vec![other.clone(); digits], &key[1..]]).is_err());
        // The part was packed by another gadget.
        let kept = |ring: &Ring, part: &Poly<_>| {
            kept(&ring.gadget(&GadgetOptions::default()).unwrap(), &vec![part.clone(); digits]).unwrap()
        };
        let (own, others) = (kept(ring, &key[0]), kept(alien, &other));
        let (zero, level) = (ring.zero(), gadget.level());
        let switch = |keys| gadget.switch(SwitchInput::Values(&zero), Addends::NONE, keys, level, 1);
        assert!(switch([&own[..], &own]).is_ok());
        assert!(switch([&own, &others]).is_err() && switch([&others, &others]).is_err());
        for (radix_bits, dropped_limbs, name) in [
            (Some(0), 0, "radix_bits"),
            (Some(62), 0, "radix_bits"),
            (None, 500, "dropped_limbs"),
            (None, usize::MAX, "dropped_limbs"),
        ] {
            let error = ring
                .gadget(&GadgetOptions { radix_bits, dropped_limbs, ..GadgetOptions::default() })
                .unwrap_err();
            assert!(matches!(error, RingError::OutOfRange { what, .. } if what == name), "{error}");
        }
    }
    let rings = residue_rings(64);
    law(&rings[1], &rings[3]);
    law(&twin(&rings[1]), &twin(&rings[3]));
    // Parts of one key fail in another's place: the limbs they lack differ.
    let gadget = rings[1].gadget(&GadgetOptions { dropped_limbs: 1, ..GadgetOptions::default() }).unwrap();
    let zero = || [rings[1].zero(), rings[1].zero()];
    let mut parts: Vec<_> =
        (0..4).map(|i| gadget.key_part(zero(), &rings[1].zero(), i).unwrap()[0].clone()).collect();
    assert!(switched(&rings[1], &gadget, &rings[1].zero(), [&parts, &parts]).is_ok());
    let mut kept = kept(&gadget, &parts).unwrap();
    let swapped = parts.clone();
    parts.swap(0, 1);
    let error = switched(&rings[1], &gadget, &rings[1].zero(), [&swapped, &parts]).err().unwrap();
    assert!(matches!(error, RingError::OtherModulus { .. }), "{error}");
    // The check covers packed keys, too.
    let (zero, whole) = (rings[1].zero(), kept.clone());
    let switch = |key| gadget.switch(SwitchInput::Values(&zero), Addends::NONE, key, gadget.level(), 1);
    assert!(switch([&whole[..], &whole]).is_ok());
    kept.swap(0, 1);
    let error = switch([&whole, &kept]).err().unwrap();
    assert!(matches!(error, RingError::OtherModulus { .. }), "{error}");
}
