//! Words of sixty bits against big integers.

use num_bigint::BigUint;
use num_traits::One;
use sunzi_big::internals::words::{BITS, MASK, TERMS, bits, columns, integer, interleave, length, words};

#[test]
fn words_are_those_of_the_integer() {
    let x = (BigUint::from(u64::MAX) << 200_u32) + (BigUint::from(12_345_u32) << 61_u32) + 7_u32;
    let all = words(&x, length(&x));
    assert_eq!(integer(&all), x);
    for at in [0, 1, 59, 60, 61, 119, 120, 199, 240, 263, 264, 1000] {
        for count in [1, 32, 59, 60, 62, 64] {
            let expected = (&x >> at) & ((BigUint::one() << count) - 1_u32);
            assert_eq!(BigUint::from(bits(&all, at, count)), expected, "{count} bits at {at}");
        }
    }
}

/// Checks sums of products with the largest terms there are, in every number around the end of a sum.
#[test]
fn sums_do_not_overflow() {
    for terms in [0, 1, 2, TERMS - 1, TERMS, TERMS + 1, 2 * TERMS, 1000] {
        let (shared, a) = (vec![(1 << 62) - 1; terms], vec![MASK; terms]);
        let [sum, nothing] = columns(&shared, &interleave(&a, &[]));
        let expected = BigUint::from((1_u64 << 62) - 1) * MASK * terms;
        assert_eq!(BigUint::from(sum.low) + (BigUint::from(sum.high) << BITS), expected);
        assert_eq!((nothing.low, nothing.high), (0, 0));
    }
}
