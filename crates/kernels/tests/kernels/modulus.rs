//! Scalar arithmetic, and arguments that are refused.

use sunzi_kernels::{KernelError, MAX_TERMS, Modulus};

#[test]
fn scalars_agree_with_wide_division() {
    for value in [2, 3, 4, 97, 1 << 16, (1 << 30) - 35, (1 << 48) - 59, 1 << 61, (1 << 62) - 1] {
        let q = Modulus::new(value).unwrap();
        let ends = [0, 1, value / 2, value - 2, value - 1];
        for a in ends {
            for b in ends {
                let (x, y, m) = (u128::from(a), u128::from(b), u128::from(value));
                assert_eq!(u128::from(q.mul(a, b)), x * y % m);
                assert_eq!(u128::from(q.add(a, b)), (x + y) % m);
                assert_eq!(u128::from(q.sub(a, b)), (x + m - y) % m);
            }
            assert_eq!(q.reduce_i64(a.cast_signed().wrapping_neg()), q.neg(a));
            if let Some(inverse) = q.inv(a) {
                assert_eq!(q.mul(a, inverse), 1 % value);
            }
        }
        for wide in [0, 1, u128::MAX, u128::MAX - 1, u128::from(u64::MAX), 1 << 64, 1 << 127] {
            assert_eq!(u128::from(q.reduce_u128(wide)), wide % u128::from(value));
            assert_eq!(q.reduce(wide as u64), wide as u64 % value);
        }
        assert_eq!(q.reduce_i64(i64::MIN), q.neg((1 << 63) % value));
    }
}

#[test]
fn ranges_are_refused() {
    for value in [0, 1, 1 << 62, u64::MAX] {
        assert_eq!(Modulus::new(value), Err(KernelError::ModulusOutOfRange { value }));
    }
    let q = Modulus::new(6).unwrap();
    assert_eq!(q.inv(4), None);
    assert_eq!(q.inv(0), None);
    assert_eq!(q.inv(5), Some(5));
    assert!(q.add_assign(&mut [0; 3], &[0; 2]).is_err());
    assert!(q.mul_scalar_assign(&mut [0], 6).is_err());
    let long = vec![&[0u64; 1][..]; MAX_TERMS + 1];
    assert!(q.inner_product(&mut [0], &long, &long).is_err());
    let (one, two) = ([&[1][..]], [&[1, 1][..]]);
    let (mut first, mut second) = ([0], [0]);
    assert!(q.inner_product_pair([&mut first, &mut second], &one, [&one, &[]]).is_err());
    assert!(q.inner_product_pair([&mut first, &mut second], &one, [&one, &two]).is_err());
    assert!(q.inner_product_pair([&mut first, &mut []], &one, [&one, &one]).is_err());
    assert!(q.inner_product_pair([&mut first, &mut []], &[], [&[], &[]]).is_err());
    assert!(q.inner_product_pair([&mut first, &mut second], &one, [&one, &one]).is_ok());
    assert_eq!((first, second), ([1], [1]));
}
