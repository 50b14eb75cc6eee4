//! Tests of every form of decryption on every residue of a small modulus.

use sunzi_ring::internals::Decryptor;
use sunzi_ring::{Basis, Decryption, Precision};

const VALUES: [u64; 3] = [17, 19, 23];

/// Decrypts every a modulo 17·19·23 and counts messages that are wrong: none where t·a/q lies within the
/// margin of an integer, all others returned.
fn wrong_outside(t: u64, decryption: Decryption) -> usize {
    let basis = Basis::new(&VALUES).unwrap();
    let q: u64 = VALUES.iter().product();
    let words: Vec<u64> = VALUES.iter().flat_map(|m| (0..q).map(move |a| a % m)).collect();
    let decryptor = Decryptor::new(&basis, t, decryption).unwrap();
    let messages = decryptor.apply(&words, q as usize).unwrap();
    assert!(decryptor.margin() > 0.0 && decryptor.margin() < 0.5);
    let mut wrong = 0;
    for (a, message) in (0..q).zip(messages) {
        assert!(message < t);
        let nearest = (2 * t * a + q) / (2 * q);
        let distance = (t * a).abs_diff(nearest * q) as f64 / q as f64;
        let right = message == nearest % t;
        assert!(right || distance > decryptor.margin(), "{decryption:?} t {t} a {a}");
        wrong += usize::from(!right);
    }
    wrong
}

#[test]
fn every_residue_within_the_margin_is_decrypted_by_gamma() {
    let mut wrong = 0;
    for (t, gamma) in
        [(2, 7), (5, 7), (5, 8), (16, 11), (27, 64), (1000, 101), (5, 4093), (2, 13), (3, 256), (7, 10)]
    {
        wrong += wrong_outside(t, Decryption::Gamma { gamma: Some(gamma) });
    }
    assert!(wrong > 0, "the margin is not idle");
}

#[test]
fn every_residue_within_the_margin_is_decrypted_by_powers_of_two() {
    let mut wrong = 0;
    for t in [2, 3, 4, 5, 6, 16, 27, 1000, 1024] {
        for log2_gamma in [3, 4, 8, 20, 40] {
            wrong += wrong_outside(t, Decryption::PowerOfTwo { log2_gamma: Some(log2_gamma) });
        }
        wrong_outside(t, Decryption::PowerOfTwo { log2_gamma: None });
    }
    assert!(wrong > 0, "the margin is not idle");
}

/// Checks decryption by quotients. The modulus q is too small here for the errors of the quotients to show;
/// where they do, the laws of the kernels look.
#[test]
fn every_residue_is_decrypted_by_quotients() {
    let precisions = [Precision::Automatic, Precision::Double, Precision::Fixed128];
    let quotients = precisions.map(|precision| Decryption::FloatingPoint { precision });
    for decryption in quotients.into_iter().chain([Decryption::DigitDecomposition]) {
        for t in [2, 3, 4, 5, 16, 27, 1000, 1024] {
            assert_eq!(wrong_outside(t, decryption), 0);
        }
    }
}
