//! Names of automorphisms in words, by the number of slots they rotate.

use sunzi_math::slot_of_exponent;

/// Returns an automorphism in words: "a rotation by 5", "a swap of the rows", "a swap of the rows and a rotation by
/// −1", or "X -> X^5" where the ring of index `index` has no rows of slots.
pub(crate) fn describe(exponent: u64, index: u64) -> String {
    let Ok(slot) = slot_of_exponent(exponent, index) else { return format!("X -> X^{exponent}") };
    // The automorphism brings slot `slot` to slot 0.
    let row = index / 4;
    in_words((slot >= row).then_some("a swap of the rows"), slot % row, row)
}

/// Returns a rotation of the rows in words, by the shorter direction, behind the name `besides` of another operation.
#[must_use]
pub fn in_words(besides: Option<&str>, left: u64, row: u64) -> String {
    let steps = if left > row / 2 { format!("−{}", row - left) } else { left.to_string() };
    match (besides, left) {
        (Some(name), 0) => name.to_owned(),
        (Some(name), _) => format!("{name} and a rotation by {steps}"),
        (None, _) => format!("a rotation by {steps}"),
    }
}

/// Returns a list of exponents in words: the first dozen, then the number of the others; "none" for an empty list.
#[must_use]
pub fn describe_all(exponents: &[u64], describe: impl Fn(u64) -> String) -> String {
    const SHOWN: usize = 12;
    let mut parts: Vec<String> = exponents.iter().take(SHOWN).map(|&k| describe(k)).collect();
    match exponents.len() {
        0 => return "none".to_owned(),
        count if count > SHOWN => parts.push(format!("{} more", count - SHOWN)),
        _ => {}
    }
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use sunzi_math::{conjugation_exponent, rotation_exponent};

    #[test]
    fn every_exponent_is_named_by_its_steps() {
        let index = 64;
        for steps in -7_i64..=8 {
            let exponent = rotation_exponent(steps, index).unwrap();
            let words = if steps < 0 { format!("−{}", -steps) } else { steps.to_string() };
            assert_eq!(describe(exponent, index), format!("a rotation by {words}"));
            let swapped = exponent * conjugation_exponent(index).unwrap() % index;
            let expected = match steps {
                0 => "a swap of the rows".to_owned(),
                _ => format!("a swap of the rows and a rotation by {words}"),
            };
            assert_eq!(describe(swapped, index), expected);
        }
        for (exponent, index) in [(5, 9), (2, 64), (65, 64), (3, 0), (u64::MAX, u64::MAX)] {
            assert_eq!(describe(exponent, index), format!("X -> X^{exponent}"));
        }
    }

    #[test]
    fn long_lists_are_cut() {
        assert_eq!(describe_all(&[], |k| describe(k, 64)), "none");
        assert_eq!(describe_all(&[3, 63], |k| describe(k, 64)), "a rotation by 1, a swap of the rows");
        let many: Vec<u64> = (0..40).map(|i| 2 * i + 1).collect();
        assert!(describe_all(&many, |k| describe(k, 64)).ends_with(", 28 more"));
    }
}
