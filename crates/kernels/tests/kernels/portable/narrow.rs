//! Products of the portable table for narrow moduli, at the ends of their ranges.

use sunzi_kernels::internals::Constants;
use sunzi_kernels::internals::narrow::{Narrow, Pair, Scalar, Twiddle, factor, widest};

fn congruent(x: u64, value: i128, q: u64) -> bool {
    (i128::from(x.cast_signed()) - value) % i128::from(q) == 0
}

/// Returns both words of a pair, which must agree.
pub(super) fn word(pair: Pair) -> u64 {
    let mut words = [0; 2];
    pair.store(&mut words);
    assert_eq!(words[0], words[1]);
    words[0]
}

fn ends(q: u64) -> Vec<i64> {
    let top = (1 << 51) - 1;
    let multiples = (0..=9).flat_map(|k| [-1, 0, 1].map(|d| k * q.cast_signed() + d));
    let halves = (0..4).flat_map(|k| [-1, 0, 1].map(|d| k * q.cast_signed() + q.cast_signed() / 2 + d));
    multiples.chain(halves).chain([top]).flat_map(|y| [y, -y]).filter(|y| y.abs() <= top).collect()
}

fn check<const PERIOD: usize>(q: u64) {
    let constants = Constants::new(q);
    let a = Narrow::<PERIOD>::new(&constants);
    let small = |x: u64| x.cast_signed().abs() < q.cast_signed();
    for y in ends(q) {
        let pair = Pair::new([y.cast_unsigned(); 2]);
        let reduced = word(a.reduce(pair));
        assert!(small(reduced) && congruent(reduced, y.into(), q));
        for w in [0, 1, 2, q / 3, q / 2, q / 2 + 1, q - 2, q - 1] {
            let factor = factor(w, q);
            let [twiddle, quotient] = factor.map(|word| Pair::new([word; 2]));
            let twiddle = Twiddle::new(twiddle, quotient);
            let product = i128::from(y) * i128::from(w);
            let of_pair = word(a.multiply(pair, twiddle));
            let of_word = Scalar::new(&factor, &constants).multiply(y.cast_unsigned());
            for r in [of_pair, of_word] {
                // A level may add three quarters of q.
                assert!(r.cast_signed().unsigned_abs() <= q / 4 * 3 + 3 && congruent(r, product, q));
            }
            let lifted = word(a.lift(a.multiply(pair, twiddle)));
            assert!(lifted < q && congruent(lifted, product, q));
        }
    }
}

#[test]
fn products_at_the_ends() {
    for q in [3, 257, widest(11) - 1, widest(11), 250_199_977_984_001] {
        check::<11>(q);
    }
    for q in [widest(11) + 1, widest(3) - 1, widest(3)] {
        check::<3>(q);
    }
}
