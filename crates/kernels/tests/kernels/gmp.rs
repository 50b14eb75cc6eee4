//! Lengths that functions of GMP refuse.

use sunzi_kernels::gmp::{mul, mul_add, remainder, remainder_assign};

#[test]
fn wrong_lengths_are_harmless() {
    let mut acc = [u64::MAX; 3];
    assert_eq!(mul_add(&mut acc, &[u64::MAX; 4], 5), 0);
    assert_eq!(mul_add(&mut acc, &[], 5), 0);
    assert_eq!(acc, [u64::MAX; 3]);
    assert_eq!(mul_add(&mut acc, &[1], 1), 1);
    assert_eq!(acc, [0; 3]);
    let mut out = [7; 3];
    mul(&mut out, &[1], &[1, 2]);
    mul(&mut out, &[1, 2, 3], &[]);
    mul(&mut out, &[1], &[1]);
    assert_eq!(out, [7; 3]);
    mul(&mut out, &[u64::MAX, 1], &[2]);
    assert_eq!(out, [u64::MAX - 1, 3, 0]);
    let mut x = [5, 7, 1];
    for d in [&[][..], &[1, 0], &[1, 1, 1, 1]] {
        remainder_assign(&mut x, d);
    }
    assert_eq!(x, [5, 7, 1]);
    remainder_assign(&mut x, &[0, 4]);
    assert_eq!(x[..2], [5, 3]);
    assert_eq!((remainder(&[], 3), remainder(&[1], 0), remainder(&[1, 1], 3)), (0, 0, 2));
}
