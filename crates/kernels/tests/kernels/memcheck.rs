//! Marks for memcheck.

use sunzi_kernels::memcheck::{mark_public, mark_secret};

#[test]
fn marks_change_no_word() {
    let words = [1_u64, 2, 3];
    mark_secret(&words);
    mark_public(&words);
    assert_eq!(words, [1, 2, 3]);
}
