//! Products of the portable table for the shortest moduli, at the ends of their ranges.

use sunzi_kernels::internals::Constants;
use sunzi_kernels::internals::short::{Pair, Scalar, Short, Twiddle, WIDEST, factor};

/// Returns both words of a pair, which must agree.
fn word(pair: Pair) -> u64 {
    let mut words = [0; 2];
    pair.store(&mut words);
    assert_eq!(words[0], words[1]);
    words[0]
}

#[test]
fn products_at_the_ends() {
    for q in [2, 3, 4, 257, 1 << 16, 1_073_738_753, WIDEST - 1, WIDEST] {
        let a = Short::new(&Constants::new(q));
        let multiples = (0..=4).flat_map(|k| [0, 1, 2].map(|d| (k * q + d).saturating_sub(1)));
        for y in multiples.chain([q / 2, u32::MAX.into()]) {
            for w in [0, 1, 2, q / 3, q / 2, q / 2 + 1, q - 2, q - 1].into_iter().filter(|w| *w < q) {
                let factor = factor(w, q);
                let twiddle = factor.map(|word| Pair::new([word; 2]));
                let product = a.multiply(Pair::new([y; 2]), Twiddle::new(twiddle[0], twiddle[1]));
                for r in [word(product), a.multiply_word(y, Scalar::new(&factor))] {
                    assert!(r < 2 * q && r % q == y * w % q, "{q} {w} {y}");
                }
                assert_eq!(word(a.canonical(product)), y * w % q);
            }
        }
    }
}
