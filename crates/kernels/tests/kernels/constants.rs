//! Constants of a modulus.

use sunzi_kernels::internals::inverse_of_odd;

#[test]
fn inverse_of_odd_inverts() {
    for q in [1, 3, 5, 65_537, (1 << 49) - 1, u64::MAX] {
        assert_eq!(q.wrapping_mul(inverse_of_odd(q)), 1);
    }
}
