//! Automorphisms that move the 2 × n/2 slots, and those that sum them up.

use crate::EncodingError;

/// Returns the exponent k of the automorphism X → X^k that moves slot i + `steps` of each row to slot i
/// in a power-of-two ring of degree `degree`: 3^steps modulo 2n. 1, the identity, for any other degree.
#[must_use]
pub fn row_rotation_exponent(degree: usize, steps: i64) -> u64 {
    // `rotation_exponent` fails for a degree below 2, where there is nothing to rotate, and for one that is no power of two.
    sunzi_math::rotation_exponent(steps, index(degree)).unwrap_or(1)
}

/// Returns the exponent of the automorphism that swaps the two rows: −1 modulo 2n. 1, the identity, for a degree that is no
/// power of two.
#[must_use]
pub fn row_swap_exponent(degree: usize) -> u64 {
    sunzi_math::conjugation_exponent(index(degree)).unwrap_or(1)
}

/// Returns the ring index m = 2n, or u64::MAX, which is no index, for a degree that exceeds a word.
fn index(degree: usize) -> u64 {
    (degree as u64).saturating_mul(2)
}

/// Yields the rotation steps that add up slots at distances `first`, 2·`first`, … below `end`, each sum being added to its rotation: `first`, doubled
/// while it is below `end`.
pub fn doubling_steps(first: usize, end: usize) -> impl Iterator<Item = usize> {
    std::iter::successors((first > 0).then_some(first), |step| step.checked_mul(2))
        .take_while(move |&step| step < end)
}

/// Checks that slots fall into segments of `length`: a power of two, at most `longest`.
///
/// # Errors
/// [`EncodingError::SegmentLength`] for any other length.
pub fn check_segment(length: usize, longest: usize) -> Result<(), EncodingError> {
    if length.is_power_of_two() && length <= longest {
        Ok(())
    } else {
        Err(EncodingError::SegmentLength { length, longest })
    }
}

/// Returns the exponents of the automorphisms that sums over segments of `length` slots need; for `length` =
/// n, of those for the sum of all slots.
#[must_use]
pub fn slot_sum_exponents(degree: usize, length: usize) -> Vec<u64> {
    let row = degree / 2;
    let mut exponents: Vec<u64> =
        doubling_steps(1, length.min(row)).map(|step| row_rotation_exponent(degree, step as i64)).collect();
    if length > row {
        exponents.push(row_swap_exponent(degree));
    }
    exponents
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_the_powers_of_two_below() {
        for (end, count) in [(0, 0), (1, 0), (2, 1), (3, 2), (4, 2), (5, 3), (1 << 62, 62), (usize::MAX, 64)]
        {
            let steps: Vec<usize> = doubling_steps(1, end).collect();
            assert_eq!(steps, (0..count).map(|i| 1 << i).collect::<Vec<usize>>(), "{end}");
        }
        assert!(doubling_steps(3, 24).eq([3, 6, 12]));
        assert!(doubling_steps(8, 8).eq([]) && doubling_steps(0, 8).eq([]));
    }

    #[test]
    fn segments_are_powers_of_two() {
        for (length, good) in
            [(0, false), (1, true), (3, false), (16, true), (32, false), (usize::MAX, false)]
        {
            assert_eq!(check_segment(length, 16).is_ok(), good, "{length}");
        }
    }
}
