//! Permutations of words.

use sunzi_kernels::{KernelError, permute};

#[test]
fn permutes_or_refuses() {
    let mut out = [0; 3];
    permute(&mut out, &[10, 20, 30], &[2, 0, 1]).unwrap();
    assert_eq!(out, [30, 10, 20]);
    assert!(permute(&mut out, &[10], &[0, 0]).is_err());
    let missing = KernelError::IndexOutOfRange { index: 1, len: 1 };
    assert_eq!(permute(&mut out, &[10], &[0, 1, 0]), Err(missing));
    assert!(permute(&mut out, &[], &[0, 0, 0]).is_err());
    assert_eq!(permute(&mut [], &[], &[]), Ok(()));
}
