//! Tests of every algorithm a scaler may be asked for, against exact integers.

use num_bigint::{BigInt, BigUint};
use num_integer::Integer;
use num_traits::{Signed, ToPrimitive};
use sunzi_kernels::{Isa, active_isa};
use sunzi_math::{DEFAULT_PRIME_BOUND, WIDE_PRIME_BOUND, primes_below, primes_with_bits};
use sunzi_ring::{
    Auxiliary, Decryption, MTilde, Multiplication, Precision, Ring, RingError, Scaler, ScalerOptions, Side,
};

use crate::common::*;
use crate::scaling::{decryption_law, extension_law, lift_bound, lifts_are_bounded, scaling_law_for};
use sunzi_ring::Storage;

const N: usize = 64;
const M: u64 = 2 * N as u64;

/// Returns rings with moduli of every length, of mixed lengths and in every number up to the paper's; t is
/// below their product.
fn rings() -> Vec<Ring> {
    let bits = |bits, count| primes_with_bits(bits, M, count).unwrap();
    let lists = [
        bits(48, 1),
        bits(62, 1),
        bits(62, 2),
        primes_below(DEFAULT_PRIME_BOUND, M, 4).unwrap(),
        primes_below(WIDE_PRIME_BOUND, M, 3).unwrap(),
        bits(30, 13),
        bits(30, 26),
        bits(55, 3),
        bits(62, 6),
        bits(62, 25),
        [bits(30, 2), bits(62, 1), bits(48, 2)].concat(),
        [bits(62, 2), bits(30, 1), bits(55, 1)].concat(),
    ];
    lists.iter().map(|list| stored(Ring::new(M, list).unwrap(), Storage::Words)).collect()
}

const PLAIN_MODULI: [u64; 7] = [2, 3, 1 << 10, 65_537, 1_000_000, 1 << 32, (1 << 59) + 55];

fn decryptions() -> Vec<Decryption> {
    let gamma = |gamma| Decryption::Gamma { gamma };
    let power = |log2_gamma| Decryption::PowerOfTwo { log2_gamma };
    let float = |precision| Decryption::FloatingPoint { precision };
    vec![
        gamma(None),
        gamma(Some(53)),
        gamma(Some(256)),
        gamma(Some(1 << 40)),
        gamma(Some(1_000_003)),
        gamma(Some((1 << 62) - 57)),
        power(None),
        power(Some(8)),
        power(Some(20)),
        float(Precision::Automatic),
        float(Precision::Double),
        float(Precision::Fixed128),
        Decryption::DigitDecomposition,
    ]
}

fn extensions() -> Vec<ScalerOptions> {
    let mut all = Vec::new();
    for m_tilde in [MTilde::None, MTilde::Bits8, MTilde::Bits16] {
        for auxiliary in [Auxiliary::Standard, Auxiliary::LikeModulus] {
            let multiplication = Multiplication::Behz;
            all.push(ScalerOptions { multiplication, m_tilde, auxiliary, ..ScalerOptions::default() });
        }
    }
    all
}

/// Runs a law over all rings and plaintext moduli for which a scaler exists; at least `least` do.
fn for_all(options: &ScalerOptions, least: usize, law: impl Fn(&Ring, &Scaler, u64)) {
    let mut count = 0;
    for ring in rings() {
        for t in PLAIN_MODULI {
            match ring.scaler(t, options) {
                Ok(scaler) => {
                    count += 1;
                    law(&ring, &scaler, t);
                }
                Err(RingError::NotCoprime { .. } | RingError::OutOfRange { .. }) => {}
                Err(other) => panic!("{options:?}: {other}"),
            }
        }
    }
    assert!(count >= least, "{options:?}: {count}");
}

/// Returns c·(Σ x_i·q/q_i) mod q for digits x_i of every modulus and a constant c with an inverse.
fn with_digits(ring: &Ring, inverse_of: u64, digit: impl Fn(u64) -> u64) -> BigInt {
    let q = ring.modulus();
    let sum: BigUint = ring.words().unwrap().basis().values().iter().map(|&m| q / m * digit(m)).sum();
    let inverse = BigUint::from(inverse_of).modinv(q).unwrap();
    center(&int(&(sum * inverse % q)), &int(q))
}

/// Returns residues at which sums of digits, remainders and rounding are at their ends, for a conversion of
/// c·a.
fn hard_residues(ring: &Ring, c: u64) -> Vec<BigInt> {
    let q = int(ring.modulus());
    let half: BigInt = &q / 2_u32;
    let mut all = vec![0.into(), 1.into(), (-1).into(), half.clone(), -&half];
    // Cases of multiples of q left over: the most, the least, and for centred digits.
    all.push(with_digits(ring, c, |m| m - 1));
    all.push(with_digits(ring, c, |_| 1));
    all.push(with_digits(ring, c, |m| m / 2));
    all.push(with_digits(ring, c, |m| m / 2 + 1));
    all.iter().map(|x| center(x, &q)).collect()
}

fn cycled(residues: &[BigInt]) -> Vec<BigInt> {
    residues.iter().cycle().take(N).cloned().collect()
}

#[test]
fn every_m_tilde_lifts_within_its_overflow() {
    for options in extensions() {
        for_all(&options, 40, |ring, scaler, t| {
            extension_law(ring, scaler, t);
            let m_tilde = options.m_tilde.value().unwrap_or(1);
            let inputs = [1, m_tilde].map(|c| cycled(&hard_residues(ring, c)));
            lifts_are_bounded(ring, scaler, t, &inputs);
        });
    }
}

/// Checks that digits at the end of their range come within 2 % of the bound, else the bound would be too
/// wide.
#[test]
fn overflows_are_nearly_attained_without_m_tilde() {
    let options = ScalerOptions {
        multiplication: Multiplication::Behz,
        m_tilde: MTilde::None,
        ..ScalerOptions::default()
    };
    for_all(&options, 40, |ring, scaler, _| {
        let a = vec![with_digits(ring, 1, |m| m / 2); N];
        let lifted = norm(&integers(&scaler.wide_top(), scaler.lift(&evaluated(ring, &a)).unwrap()));
        assert!(lifted * 100_u32 >= lift_bound(ring, scaler) * 98_u32);
        assert_eq!(scaler.bounds().overflow, ring.words().unwrap().basis().len() as f64 - 1.0);
    });
}

#[test]
fn every_variant_scales_within_the_error() {
    for options in extensions() {
        for_all(&options, 40, |ring, scaler, t| {
            let products = scaler.product_capacity().min(1 << 20);
            scaling_law_for(ring, scaler, t, products, &hard_residues(ring, t));
        });
    }
}

/// Checks that products of lifts at their ends, as many as the tables say, come back as the exact integers
/// would.
#[test]
fn every_variant_multiplies_like_the_oracle() {
    for options in extensions() {
        for_all(&options, 40, |ring, scaler, t| {
            let (wide, q) = (&scaler.wide_top(), int(ring.modulus()));
            let capacity = BigInt::from(scaler.product_capacity());
            let end = with_digits(ring, options.m_tilde.value().unwrap_or(1), |m| m / 2);
            for a in [vec![-(&q / 2_u32); N], vec![end; N]] {
                let lifted = scaler.lift(&evaluated(ring, &a)).unwrap();
                let as_integers = integers(wide, lifted.clone());
                let product = negacyclic(&as_integers, &as_integers);
                let mut sum = lifted.clone();
                wide.mul_assign(&mut sum, &lifted).unwrap();
                wide.mul_integer_assign(&mut sum, &(&capacity * 2_u32)).unwrap();
                let scaled = ring.to_integers(&scaler.scale_top(sum).unwrap()).unwrap();
                for (x, y) in product.iter().zip(&scaled) {
                    let error = distance(y, &(x * t * 2_u32 * &capacity), &q, &q);
                    assert!(error <= 0.5 + scaler.bounds().scale_error, "{options:?} t {t}: {error}");
                }
            }
        });
    }
}

#[test]
fn auxiliary_moduli_are_what_was_asked_for() {
    for options in extensions() {
        for_all(&options, 40, |ring, scaler, t| {
            let k = ring.words().unwrap().basis().len();
            let longest = ring.words().unwrap().basis().moduli().iter().map(|q| q.bits()).max().unwrap();
            let wide = scaler.wide_top();
            let auxiliary = &wide.words().unwrap().basis().moduli()[k..];
            let capacity = scaler.product_capacity();
            match options.auxiliary {
                Auxiliary::Standard => {
                    // Beside wide moduli they are wide.
                    let widest = ring.words().unwrap().basis().values().iter().max().unwrap();
                    let wide = (DEFAULT_PRIME_BOUND..WIDE_PRIME_BOUND).contains(widest);
                    let bound = if wide { WIDE_PRIME_BOUND } else { DEFAULT_PRIME_BOUND };
                    assert!(auxiliary.iter().all(|p| p.value() < bound));
                    assert!(capacity >= 256);
                }
                Auxiliary::LikeModulus => {
                    assert!(auxiliary.iter().all(|p| p.bits() <= longest));
                    assert!(capacity >= 1);
                    // One prime less would not suffice: eq. (14) with λ = m_sk/2.
                    if auxiliary.len() > 2 {
                        let room: BigUint = auxiliary[1..].iter().map(|p| BigUint::from(p.value())).product();
                        let q = ring.modulus();
                        let lift = lift_bound(ring, scaler);
                        let one = (&lift * &lift * 2_u32 * N * t) / int(q);
                        assert!(int(&(room / 2_u32)) <= one, "{options:?} {ring:?} t {t}");
                    }
                }
            }
        });
    }
}

/// Checks that the basis B_sk has k + 1 moduli [BEHZ16, 5.3]; by default as many as 48-bit primes must be.
#[test]
fn auxiliary_bases_have_the_sizes_of_the_paper() {
    for (log_n, bits, k, standard) in [(11, 30, 3, 3), (12, 62, 3, 5), (13, 30, 13, 9), (13, 62, 6, 9)] {
        let ring = Ring::new(2 << log_n, &primes_with_bits(bits, 2 << log_n, k).unwrap()).unwrap();
        for (auxiliary, count) in [(Auxiliary::LikeModulus, k + 1), (Auxiliary::Standard, standard)] {
            let options =
                ScalerOptions { multiplication: Multiplication::Behz, auxiliary, ..ScalerOptions::default() };
            let wide = ring.scaler(1 << 10, &options).unwrap().wide_top().words().unwrap().basis().len();
            assert_eq!(wide - k, count, "2^{log_n}, {k} of {bits} bits, {auxiliary:?}");
        }
    }
    // A product without m̃, ρ = 12, costs a modulus more at thirteen of 30 bits.
    let ring = Ring::new(1 << 14, &primes_with_bits(30, 1 << 14, 13).unwrap()).unwrap();
    for (m_tilde, count) in [(MTilde::Bits16, 9), (MTilde::None, 10)] {
        let options =
            ScalerOptions { multiplication: Multiplication::Behz, m_tilde, ..ScalerOptions::default() };
        assert_eq!(
            ring.scaler(65_537, &options).unwrap().wide_top().words().unwrap().basis().len() - 13,
            count
        );
    }
}

#[test]
fn every_form_decrypts_up_to_its_margin() {
    let mut margins = Vec::new();
    for decryption in decryptions() {
        for_all(&ScalerOptions { decryption, ..ScalerOptions::default() }, 10, |ring, scaler, t| {
            assert!(scaler.bounds().decryption_margin > 0.0 && scaler.bounds().decryption_margin < 0.5);
            decryption_law(ring, scaler, t);
        });
        let ring = &rings()[3];
        let scaler = ring.scaler(1 << 10, &ScalerOptions { decryption, ..ScalerOptions::default() });
        margins.extend(scaler.map(|scaler| scaler.bounds().decryption_margin));
    }
    // The values of γ are 53 and 2^8, for k = 4 and t = 2^10.
    for gamma in [53.0, 256.0] {
        assert!(margins.iter().any(|margin| (margin - (0.5 - 4.0 / gamma)).abs() < 1e-15), "{margins:?}");
    }
}

#[test]
fn every_form_agrees_with_the_oracle_wherever_it_must() {
    for decryption in decryptions() {
        let constant = match decryption {
            Decryption::Gamma { gamma } => gamma.unwrap_or(1),
            Decryption::PowerOfTwo { log2_gamma } => 1 << log2_gamma.unwrap_or(0),
            Decryption::FloatingPoint { .. } | Decryption::DigitDecomposition => 1,
        };
        let options = ScalerOptions { decryption, ..ScalerOptions::default() };
        for_all(&options, 10, |ring, scaler, t| {
            let (big, q) = (twin(ring), int(ring.modulus()));
            let exact = big.scaler(t, &options).unwrap();
            let random = random_poly(&mut rng("decrypt"), N, ring.modulus());
            let mut hard = hard_residues(ring, 1);
            if decryption != (Decryption::PowerOfTwo { log2_gamma: None }) {
                let product = BigUint::from(constant) * t % ring.modulus();
                hard.extend(product.to_u64().into_iter().flat_map(|c| hard_residues(ring, c)));
            }
            for a in [cycled(&hard), random] {
                let got = scaler.decrypt(&ring.from_integers(&a).unwrap()).unwrap();
                let expected = exact.decrypt(&big.from_integers(&a).unwrap()).unwrap();
                for (a, (got, expected)) in a.iter().zip(got.iter().zip(&expected)) {
                    assert!(*got < t);
                    let distance = center(&(a * t).mod_floor(&q), &q).abs();
                    if distance <= scale_down(&q, scaler.bounds().decryption_margin) {
                        assert_eq!(got, expected, "{decryption:?} {ring:?} t {t} a {a}");
                    }
                }
            }
        });
    }
}

#[test]
fn forms_of_decryption_are_refused_where_they_cannot_be_right() {
    let ring = &rings()[3];
    let q = ring.words().unwrap().basis().values()[2];
    let scaler = |t, decryption| ring.scaler(t, &ScalerOptions { decryption, ..ScalerOptions::default() });
    let gamma = |t, gamma| scaler(t, Decryption::Gamma { gamma: Some(gamma) }).err();
    // The number of moduli is k = 4.
    for bad in [0, 1, 2, 7, 8, 1 << 62, (1 << 62) + 1, u64::MAX] {
        assert!(matches!(gamma(3, bad), Some(RingError::OutOfRange { what: "gamma", .. })), "{bad}");
    }
    for (t, bad) in [(1 << 10, 256), (6, 9), (35, 49), (65_537, 65_537), (2, q), (2, 2 * q + 2 * q)] {
        assert!(matches!(gamma(t, bad), Some(RingError::NotCoprime { left, .. }) if left == bad), "{bad}");
    }
    assert!(gamma(2, 9).is_none() && gamma(3, (1 << 62) - 1).is_some());

    let power = |t, log2_gamma| scaler(t, Decryption::PowerOfTwo { log2_gamma }).err();
    for bad in [0, 1, 2, 3, 52, 61, 62, 63, 64, 1000, u32::MAX] {
        let refused = power(1 << 10, Some(bad));
        assert!(matches!(refused, Some(RingError::OutOfRange { what: "log2_gamma", .. })), "{bad}");
    }
    assert!(power(1 << 10, Some(4)).is_none() && power(1 << 10, Some(51)).is_none());
    assert!(power((1 << 57) - 1, None).is_none() && power((1 << 58) - 1, None).is_none());
    assert!(matches!(power(1 << 58, None), Some(RingError::OutOfRange { what: "plaintext modulus", .. })));

    let float = |t, precision| scaler(t, Decryption::FloatingPoint { precision }).err();
    for t in [(1 << 52) + 5, (1 << 60) - 1] {
        assert!(matches!(float(t, Precision::Double), Some(RingError::OutOfRange { .. })));
        assert!(float(t, Precision::Fixed128).is_none() && float(t, Precision::Automatic).is_none());
    }
    // Automatic precision leaves doubles where they would not suffice, whatever the length of the moduli.
    let short = Ring::new(M, &primes_with_bits(30, M, 4).unwrap()).unwrap();
    let automatic = ScalerOptions {
        decryption: Decryption::FloatingPoint { precision: Precision::Automatic },
        ..ScalerOptions::default()
    };
    assert!(short.scaler((1 << 59) + 55, &automatic).unwrap().bounds().decryption_margin > 0.49);
}

#[test]
fn no_option_panics() {
    let rings = rings();
    let gammas = [0, 1, 2, 3, 8, 97, 1 << 61, (1 << 62) - 1, u64::MAX]
        .map(|gamma| Decryption::Gamma { gamma: Some(gamma) });
    let powers = (0..70).chain([u32::MAX]).map(|power| Decryption::PowerOfTwo { log2_gamma: Some(power) });
    let all: Vec<Decryption> = gammas.into_iter().chain(powers).chain(decryptions()).collect();
    for ring in [&rings[0], &rings[1], &rings[4], &rings[10]] {
        for t in [0, 1, 2, 97, 1 << 20, 1 << 59, (1 << 60) - 1, 1 << 60, u64::MAX] {
            for decryption in &all {
                let options = ScalerOptions { decryption: *decryption, ..ScalerOptions::default() };
                let _ = ring.scaler(t, &options);
            }
        }
    }
    // Too few primes of nine bits exist for an auxiliary basis like the modulus.
    let tiny = Ring::new(M, &[257]).unwrap();
    let like = ScalerOptions {
        multiplication: Multiplication::Behz,
        auxiliary: Auxiliary::LikeModulus,
        ..ScalerOptions::default()
    };
    assert!(matches!(tiny.scaler(2, &like), Err(RingError::Math(_))));
}

/// Checks that results of a scaler are equal on every instruction set, outside of its margins too.
#[test]
fn every_variant_gives_the_same_words_on_every_instruction_set() {
    let lists = [primes_with_bits(48, M, 4), primes_with_bits(30, M, 5), primes_with_bits(62, M, 2)];
    let mut variants = extensions();
    let first = variants[0];
    variants.extend(decryptions().into_iter().map(|decryption| ScalerOptions { decryption, ..first }));
    variants.extend(crate::products::multiplications());
    let all = [Isa::Portable, active_isa().unwrap()];
    for moduli in lists.map(Result::unwrap) {
        for options in &variants {
            for t in [2, 65_537, 1 << 20] {
                let words = all.map(|isa| {
                    let ring = Ring::with_isa(M, &moduli, isa).unwrap();
                    let scaler = ring.scaler(t, options).ok()?;
                    let a = ring.uniform(&mut rng("tables"));
                    let lowest = *scaler.levels().start();
                    let extended = scaler.extend(&a, Side::Left, lowest).unwrap();
                    let scaled = scaler.scale(extended.clone(), lowest).unwrap();
                    let message = scaler.decrypt(&ring.to_coefficient(a).unwrap()).unwrap();
                    Some([extended.words().to_vec(), scaled.words().to_vec(), message])
                });
                assert!(words[0] == words[1], "{options:?} t {t} {moduli:?}");
            }
        }
    }
}
