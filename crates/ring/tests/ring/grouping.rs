//! Tests of the number of moduli that a digit of key switching is made of.

use std::ops::Range;

use num_bigint::BigUint;
use sunzi_ring::internals::group_moduli;

fn powers(bits: &[u32]) -> Vec<BigUint> {
    bits.iter().map(|&bits| (BigUint::from(1_u8) << bits) - 1_u8).collect()
}

fn lengths(bits: &[u32], special: u32, digits: Option<usize>) -> Vec<usize> {
    let special = BigUint::from(1_u8) << special;
    let ranges = group_moduli(&powers(bits), &special, digits).unwrap();
    // Every modulus occurs once, in order.
    let all: Vec<usize> = ranges.iter().cloned().flatten().collect();
    assert_eq!(all, (0..bits.len()).collect::<Vec<_>>());
    ranges.iter().map(Range::len).collect()
}

#[test]
fn moduli_of_one_length_make_digits_of_one_length() {
    assert_eq!(lengths(&[48; 7], 96, None), [2, 2, 2, 1]);
    assert_eq!(lengths(&[48; 7], 95, None), [1; 7]);
    assert_eq!(lengths(&[48; 7], 1000, None), [7]);
    assert_eq!(lengths(&[48; 7], 10, None), [1; 7]);
    // Limit for all or none: 48 bits of one length, of which two fit only once.
    let mut moduli = powers(&[48; 4]);
    moduli[0] = (BigUint::from(1_u8) << 47_u32) + 1_u8;
    let special = &moduli[0] * &moduli[1];
    assert_eq!(group_moduli(&moduli, &special, None).unwrap().len(), 4);
}

#[test]
fn moduli_of_many_lengths_fill_the_room() {
    assert_eq!(lengths(&[29, 29, 40, 40, 48, 29, 29, 29], 96, None), [2, 2, 2, 2]);
    assert_eq!(lengths(&[29, 30, 29, 48, 48, 29, 29, 29], 96, None), [3, 2, 3]);
    assert_eq!(lengths(&[60, 29, 29], 40, None), [1, 1, 1]);
    assert_eq!(lengths(&[60, 29, 29], 60, None), [1, 2]);
    assert_eq!(lengths(&[60, 20, 20], 58, None), [1, 2]);
}

#[test]
fn a_number_of_digits_counts_moduli() {
    assert_eq!(lengths(&[29, 40, 48, 29, 29], 10, Some(2)), [3, 2]);
    assert_eq!(lengths(&[29, 40, 48, 29, 29], 10, Some(4)), [2, 2, 1]);
    for digits in [0, 6] {
        assert!(group_moduli(&powers(&[29; 5]), &BigUint::from(7_u8), Some(digits)).is_err());
    }
}
