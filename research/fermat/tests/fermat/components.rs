//! Tests of residues of several words against big integers, for every component and g = 128 … 16384.

use num_bigint::BigUint;
use num_traits::{One, Zero};
use rand_core::Rng;
use sunzi_fermat::{Component, FermatModulus, FermatRing, Shortcuts, Workspace};
use sunzi_ring::RingError;
use sunzi_ring::sampling::SeededRng;

const BITS: [usize; 9] = [64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384];

fn words(x: &BigUint, length: usize) -> Vec<u64> {
    let mut words: Vec<u64> = x.iter_u64_digits().collect();
    assert!(words.len() <= length, "{x} has more than {length} words");
    words.resize(length, 0);
    words
}

fn integer(words: &[u64]) -> BigUint {
    words.iter().rev().fold(BigUint::ZERO, |sum, &word| (sum << 64) + word)
}

/// Returns test residues of a component: the ends of the range, powers of two, runs of ones, random numbers.
fn residues(component: Component, rng: &mut impl Rng) -> Vec<BigUint> {
    let q = component.value();
    let one = BigUint::one();
    let mut all = vec![BigUint::zero(), one.clone(), &q - 1_u32, &q - 2_u32, &q >> 1, (&q >> 1) + 1_u32];
    for bit in [1, 2, 8, 63, 64, 65, component.bits() / 2, component.bits() - 1] {
        all.extend([&one << bit, (&one << bit) - 1_u32, &q - (&one << bit) % &q]);
    }
    if component.is_fermat() {
        all.extend([&one << component.bits(), (&one << component.bits()) - 1_u32]);
    }
    for _ in 0..6 {
        let digits = (0..component.bits() / 32 + 2).map(|_| rng.next_u32()).collect();
        all.push(BigUint::new(digits));
    }
    all.iter().map(|x| x % &q).collect()
}

fn components() -> impl Iterator<Item = Component> {
    FermatModulus::new(16384).unwrap().components().to_vec().into_iter()
}

/// Returns moduli of all sizes, with every length of the smallest component up to 512 bits.
fn moduli() -> impl Iterator<Item = FermatModulus> {
    let of = |bits| [64, 128, 256, 512].into_iter().map(move |word| FermatModulus::with_smallest(bits, word));
    BITS.into_iter().flat_map(of).flatten()
}

#[test]
fn factors_are_coprime_and_make_up_the_modulus() {
    for q in moduli() {
        let bits = q.bits();
        let product: BigUint = q.components().iter().map(|c| c.value()).product();
        assert_eq!(product, q.value());
        assert_eq!(product, (BigUint::one() << bits) - 1_u32);
        assert_eq!(q.level(), 1 + (bits / q.smallest()).ilog2() as usize);
        assert_eq!(q.components()[0].value(), (BigUint::one() << q.smallest()) - 1_u32);
        for level in 1..=q.level() {
            let lower = q.at_level(level).unwrap();
            assert_eq!(lower.components(), &q.components()[..level]);
        }
        for (i, a) in q.components().iter().enumerate() {
            for b in &q.components()[..i] {
                assert!(num_integer::Integer::gcd(&a.value(), &b.value()).is_one());
            }
        }
    }
    for bad in [0, 1, 32, 63, 65, 96, 192, 16385, 32768, usize::MAX] {
        assert!(matches!(FermatModulus::new(bad), Err(RingError::OutOfRange { .. })), "{bad}");
        let smallest = FermatModulus::with_smallest(1024, bad);
        assert!(matches!(smallest, Err(RingError::OutOfRange { .. })), "{bad}");
    }
}

#[test]
fn sums_differences_and_negatives_are_those_of_integers() {
    let mut rng = SeededRng::derive(&[1; 32], "sums", 0);
    for component in components() {
        let (q, len) = (component.value(), component.len());
        let all = residues(component, &mut rng);
        for a in &all {
            let mut negative = words(a, len);
            component.neg_assign(&mut negative);
            assert_eq!(integer(&negative), (&q - a) % &q);
            for c in [0, 1, 2, 3, 65537, (1 << 62) - 57, (1 << 63) - 1] {
                let mut multiple = words(a, len);
                component.mul_word_assign(&mut multiple, c);
                assert_eq!(integer(&multiple), a * c % &q, "{component:?} {a} {c}");
            }
            for b in &all {
                let (mut sum, mut difference) = (words(a, len), words(a, len));
                component.add_assign(&mut sum, &words(b, len));
                component.sub_assign(&mut difference, &words(b, len));
                assert_eq!(integer(&sum), (a + b) % &q, "{component:?}");
                assert_eq!(integer(&difference), (a + &q - b) % &q, "{component:?}");
            }
        }
    }
}

#[test]
fn folding_is_reduction() {
    let mut rng = SeededRng::derive(&[1; 32], "folds", 0);
    for component in components() {
        let (q, h) = (component.value(), component.bits());
        let one = BigUint::one();
        for bits in [1, h - 1, h, h + 1, h + 57, 2 * h - 1, 2 * h, 2 * h + 64, 3 * h + 5, 4 * h + 64, 5 * h] {
            let power = &one << bits;
            let random = BigUint::new((0..bits / 32 + 1).map(|_| rng.next_u32()).collect());
            let multiple = &power / &q * &q;
            let mut all = vec![power.clone(), &power - 1_u32, &power + 1_u32, random, &multiple + 1_u32];
            if !multiple.is_zero() {
                all.extend([&multiple - 1_u32, multiple]);
            }
            for x in all {
                assert_eq!(integer(&component.residue(&x)), &x % &q, "{component:?} {bits}");
            }
        }
    }
}

#[test]
fn rotations_are_products_with_powers_of_two() {
    let mut rng = SeededRng::derive(&[1; 32], "rotations", 0);
    for component in components() {
        let (q, h) = (component.value(), component.bits());
        let mut exponents =
            vec![0, 1, 7, 8, 16, 63, 64, 65, 127, h / 2, h - 64, h - 9, h - 1, h, h + 1, h + 16];
        exponents.extend([2 * h - 65, 2 * h - 1, 2 * h, 2 * h + 3, 5 * h + 70, rng.next_u32() as usize]);
        for x in residues(component, &mut rng) {
            for &e in &exponents {
                let mut out = vec![7; component.len()];
                component.mul_power_of_two(&mut out, &words(&x, component.len()), e);
                assert_eq!(
                    integer(&out),
                    &x * BigUint::from(2_u32).modpow(&e.into(), &q) % &q,
                    "{component:?} {e}"
                );
            }
        }
    }
}

/// Checks [TSKJ20, Lemma 2], with f for the index of the last factor, and that the exponent which the text gives it is wrong.
#[test]
fn lemma_2_holds_with_the_right_index() {
    for modulus in moduli() {
        let bits = modulus.bits();
        let f = modulus.level() as u32 - 1;
        for (position, component) in modulus.components().iter().enumerate() {
            let (q, cofactor) = (component.value(), modulus.value() / component.value());
            let i = modulus.twos(position);
            let expected =
                if component.is_fermat() { &q - (BigUint::one() << i) } else { BigUint::one() << i };
            assert_eq!(&cofactor % &q, expected % &q);
            let inverse = BigUint::one() << (component.bits() - i as usize);
            assert_eq!(&cofactor * inverse % &q, BigUint::one() % &q);
            if position > 0 {
                assert_eq!(component.bits(), bits >> i, "i counts from the largest factor");
            } else {
                assert_eq!((component.bits(), i), (bits >> f, f));
                // The text's i = f + 1 gives 2^(g/2^(f+1) − f − 1), which is no inverse.
                let printed = BigUint::one() << (bits >> (f + 1)).saturating_sub(f as usize + 1);
                assert_ne!(&cofactor * printed % &q, BigUint::one(), "g = {bits}");
            }
        }
    }
}

/// Checks [TSKJ20, Lemma 3] for every x of small moduli, and the exception x = 0 with a shift that rounds down.
#[test]
fn lemma_3_holds_for_every_residue_but_needs_its_exception() {
    for (h, plus) in [(4_u32, true), (8, true), (16, true), (4, false), (8, false), (16, false)] {
        let q = if plus { (1_u64 << h) + 1 } else { (1 << h) - 1 };
        for i in 1..=h.min(6) {
            for x in 0..q {
                let quotient = (x << (h - i)) / q;
                let b = u64::from(plus && x > 0);
                assert_eq!(quotient, (x - b) >> i, "h = {h}, i = {i}, x = {x}");
            }
            // An arithmetic shift of 0 − 1 is −1, not the quotient 0.
            assert_eq!(-1_i64 >> i, -1);
        }
    }
}

#[test]
fn the_four_versions_agree_with_integers() {
    let mut rng = SeededRng::derive(&[1; 32], "versions", 0);
    for bits in BITS {
        let ring = FermatRing::new(128, bits).unwrap();
        let q = ring.fermat_modulus().value();
        let rings = Shortcuts::ALL.map(|shortcuts| ring.with_shortcuts(shortcuts));
        let mut workspace = Workspace::default();
        for (position, &component) in ring.fermat_modulus().components().iter().enumerate() {
            let (q_i, len) = (component.value(), component.len());
            let inverse = (&q / &q_i).modinv(&q_i).unwrap();
            for x in residues(component, &mut rng) {
                let expected = &x * &inverse % &q_i;
                for ring in &rings {
                    let mut out = vec![7; len];
                    ring.cofactors()[position].apply(&mut out, &words(&x, len), &mut workspace);
                    assert_eq!(integer(&out), expected, "{component:?} {:?} {x}", ring.shortcuts());
                }
            }
        }
    }
}

#[test]
fn plaintext_moduli_must_be_coprime() {
    let q = |bits| FermatModulus::new(bits).unwrap();
    for bits in BITS {
        for t in [3, 5, 15, 17, 257, 65537, 641, 6_700_417, 3 * 786_433] {
            // 2^32 + 1 = 641·6700417 divides 2^64 − 1.
            assert!(matches!(q(bits).check_coprime(t), Err(RingError::NotCoprime { left, .. }) if left == t));
        }
        for t in [1, 2, 7, 1 << 40, 786_433, 40_961, 12_289] {
            assert!(q(bits).check_coprime(t).is_ok(), "{bits} {t}");
        }
        assert!(matches!(q(bits).check_coprime(0), Err(RingError::OutOfRange { .. })));
        // 274177 divides 2^64 + 1 only.
        assert_eq!(q(bits).check_coprime(274_177).is_err(), bits > 64);
    }
    assert_eq!(q(256).check_coprime(3 * 257 * 2), Err(RingError::NotCoprime { left: 1542, right: 771 }));
}
