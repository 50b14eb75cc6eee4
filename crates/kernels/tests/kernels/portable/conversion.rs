//! Portable conversions at the ends of their ranges.

use sunzi_kernels::{Conversion, Isa, MAX_TERMS, Modulus};

/// Checks the longest sums of the largest words, and odd numbers of pairs and terms.
#[test]
fn the_largest_sums_fit() {
    for q in [(1 << 49) - 1, (1 << 52) / 18 - 1, 3] {
        let q = Modulus::with_isa(q, Isa::Portable).unwrap();
        let top = q.value() - 1;
        for terms in [1, 2, 3, 4, 5, 7, 8, 9, 15, MAX_TERMS - 1, MAX_TERMS] {
            for entry in [0, 1, top] {
                let conversion = Conversion::new(&vec![q; terms], &[q], |_, _| entry).unwrap();
                let (row, mut out) = ([top; 65], [0; 65]);
                conversion.apply(&vec![&row[..]; terms], &mut [&mut out]).unwrap();
                let product = u128::from(top) * u128::from(entry) % u128::from(q.value());
                let expected = product * terms as u128 % u128::from(q.value());
                assert!(out.iter().all(|word| u128::from(*word) == expected));
            }
        }
    }
}
