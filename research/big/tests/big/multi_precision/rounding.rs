//! Rounded quotients of big integers against division.

use num_bigint::BigUint;
use sunzi_big::internals::words;
use sunzi_big::internals::{Ratio, Rounding};

/// Checks the rounding of integers u around every multiple of q/t: the fraction decides all but those closest
/// to an integer, which the division decides.
#[test]
fn doubt_is_resolved_by_division() {
    let q = (BigUint::from(1_u32) << 367_u32) - 1_234_567_u32;
    let mut wrong_without = 0;
    for (t, wide) in [(1_u64 << 10, 760_u32), ((1 << 60) - 1, 400), (2, 1500)] {
        let offset = (BigUint::from(1_u32) << wide) / 3_u32;
        let length = words::length(&(&offset * 4_u32));
        let rounding = Rounding::new(Ratio { t, q: &q }, &offset, length);
        let (mut hasty, mut careful) = (rounding.clone(), rounding.clone());
        (hasty.doubt, careful.doubt) = (u64::MAX, 0);
        let apply = |rounding: &Rounding, u: &BigUint| {
            let mut padded = vec![0; length + 2];
            padded[1..=length].copy_from_slice(&words::words(u, length));
            let mut out = vec![0; rounding.length()];
            rounding.apply(&padded, &mut Vec::new(), &mut out);
            words::integer(&out)
        };
        for j in 0..200_u32 {
            // The x with t·x + ⌊q/2⌋ next to a multiple of q, at u = x + offset.
            let integer = &offset * t / &q * j / 200_u32;
            let multiple = &q * (integer * 2_u32 + 1_u32) / (2 * u128::from(t));
            for u in [&offset + &multiple, &offset + &multiple + 1_u32, &offset - &multiple - 1_u32] {
                let exact = (&u * t + &rounding.constant) / &q;
                assert_eq!(apply(&rounding, &u), exact);
                assert_eq!(apply(&careful, &u), exact);
                wrong_without += usize::from(apply(&hasty, &u) != exact);
            }
        }
    }
    assert!(wrong_without > 100, "the doubt is real: {wrong_without}");
}
