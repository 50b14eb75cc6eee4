//! Tests of the constants of a basis of moduli, and of lists that are not a basis.

use num_bigint::BigUint;
use sunzi_ring::{Basis, RingError};

#[test]
fn constants_follow_their_definitions() {
    let basis = Basis::new(&[17, 97, 64]).unwrap();
    assert_eq!(basis.len(), 3);
    assert_eq!(basis.product(), &BigUint::from(17_u32 * 97 * 64));
    assert_eq!(basis.quotients_mod(1000), [97 * 64 % 1000, 17 * 64 % 1000, 17 * 97 % 1000]);
    assert_eq!(basis.product_mod(1000), 17 * 97 * 64 % 1000);
    for (i, (&inverse, modulus)) in basis.quotient_inverses().iter().zip(basis.moduli()).enumerate() {
        let quotient = basis.quotients_mod(modulus.value())[i];
        assert_eq!(modulus.mul(inverse, quotient), 1);
    }
}

#[test]
fn refuses_what_is_not_a_basis() {
    assert!(matches!(Basis::new(&[]), Err(RingError::LengthMismatch { .. })));
    assert!(matches!(Basis::new(&[15, 21]), Err(RingError::NotCoprime { left: 15, right: 21 })));
    assert!(Basis::new(&[1]).is_err());
    assert!(matches!(Basis::new(&[(1 << 62) + 1]), Err(RingError::Kernel(_))));
}
