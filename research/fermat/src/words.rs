//! Integers as words of 64 bits, the lowest first.

/// Adds a word to an integer: a ← a + c; returns whether it wrapped.
pub(crate) fn add_word(a: &mut [u64], c: u64) -> bool {
    let mut carry = c;
    for word in a {
        if carry == 0 {
            return false;
        }
        let (sum, overflow) = word.overflowing_add(carry);
        (*word, carry) = (sum, u64::from(overflow));
    }
    carry != 0
}

/// Subtracts a word from an integer: a ← a − c; returns whether it wrapped.
pub(crate) fn sub_word(a: &mut [u64], c: u64) -> bool {
    let mut borrow = c;
    for word in a {
        if borrow == 0 {
            return false;
        }
        let (difference, overflow) = word.overflowing_sub(borrow);
        (*word, borrow) = (difference, u64::from(overflow));
    }
    borrow != 0
}

/// Adds integers: a ← a + b over the words of a; returns whether it wrapped.
pub(crate) fn add_into(a: &mut [u64], b: &[u64]) -> bool {
    let mut carry = false;
    for (a, &b) in a.iter_mut().zip(b) {
        let (sum, first) = a.overflowing_add(b);
        let (sum, second) = sum.overflowing_add(u64::from(carry));
        (*a, carry) = (sum, first | second);
    }
    carry
}

/// Subtracts integers: a ← a − b over the words of a; returns whether it wrapped.
pub(crate) fn sub_from(a: &mut [u64], b: &[u64]) -> bool {
    let mut borrow = false;
    for (a, &b) in a.iter_mut().zip(b) {
        let (difference, first) = a.overflowing_sub(b);
        let (difference, second) = difference.overflowing_sub(u64::from(borrow));
        (*a, borrow) = (difference, first | second);
    }
    borrow
}
