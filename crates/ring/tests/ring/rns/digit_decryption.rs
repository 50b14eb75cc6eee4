//! Tests of the fractions of decryption by digits, and of its margins.

use sunzi_ring::Basis;
use sunzi_ring::internals::{DecryptionForm, DigitDecryption, split};

#[test]
fn fractions_are_what_integers_leave() {
    for (t, r, q) in
        [(2, 1, 3), (65_537, 12_345, (1 << 61) + 1), ((1 << 60) - 1, (1 << 61) - 1, (1 << 62) - 57)]
    {
        let (omega, theta) = split(t, r, q);
        assert!(theta.abs() <= 0.5 && omega <= t);
        let exact = t as f64 * (r as f64 / q as f64);
        assert!((omega as f64 + theta - exact).abs() <= exact * 1e-15, "{t} {r} {q}");
    }
}

/// Checks that errors of the fractions stay far below 1/2 for moduli of 30 to 61 bits, many of them, and
/// every t.
#[test]
fn margins_hardly_depend_on_the_moduli() {
    for (bits, count) in [(30, 26), (48, 16), (55, 16), (60, 40), (61, 40)] {
        let moduli = sunzi_math::primes_with_bits(bits, 1 << 13, count).unwrap();
        let basis = Basis::new(&moduli).unwrap();
        for t in [2, 65_537, (1 << 59) + 55] {
            let margin = DigitDecryption::new(&basis, t).unwrap().margin();
            assert!(margin > 0.49, "{bits} {t}: {margin}");
        }
    }
}
