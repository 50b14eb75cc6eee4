//! Tests of masks computed limb by limb against masks computed polynomial by polynomial.

use sunzi_math::primes_below;
use sunzi_ring::Ring;
use sunzi_ring::internals::{by_limbs, by_polynomials};
use sunzi_ring::sampling::SeededRng;

#[test]
fn limb_by_limb_is_polynomial_by_polynomial() {
    let moduli = |step| {
        let mut moduli = primes_below(1 << 48, step, 4).unwrap();
        moduli.extend(primes_below(1 << 40, step, 2).unwrap());
        moduli
    };
    let prefixes: Vec<Vec<usize>> = (1..=6).map(|level| (0..level).collect()).collect();
    // Level 3 lacks a modulus of level 5; the highest has all.
    let sets = [&[4][..], &[0, 4], &[1, 5, 2], &[0, 2, 3, 4], &[0, 1, 2, 4, 5], &[0, 1, 2, 3, 4, 5]];
    let mut sets = sets.map(<[_]>::to_vec).to_vec();
    sets[2].sort_unstable();
    // The indices are a power of two, and one whose ring has errors longer than its coefficients.
    for (m, rungs) in [(1 << 12, &prefixes), (105, &prefixes), (1 << 12, &sets), (105, &sets)] {
        let ring = Ring::with_rungs(m, &moduli(Ring::root_order(m).unwrap()), rungs).unwrap();
        let words = ring.words().unwrap();
        let mut rng = SeededRng::derive(&[9; 32], "masks", m);
        let parts = [ring.uniform(&mut rng), ring.uniform(&mut rng)];
        let parts = parts.each_ref();
        let message = ring.scale_plaintext(&vec![65_536; ring.degree()], 65_537).unwrap();
        for level in [6, 5, 3, 1] {
            for message in [None, Some(&message)] {
                let mut streams = [0, 0].map(|i| SeededRng::derive(&[level as u8; 32], "stream", i));
                let [first, second] = &mut streams;
                let got = by_limbs(words, parts, message, level, first).unwrap();
                let expected = by_polynomials(&*ring, parts, message, level, second).unwrap();
                for (got, expected) in got.iter().zip(&expected) {
                    assert_eq!(got.words(), expected.words(), "m = {m}, level {level}");
                }
            }
        }
        let low = ring.restrict(parts[0], 2).unwrap();
        assert!(by_limbs(words, [parts[0], &low], None, 2, &mut rng).is_err());
    }
}
