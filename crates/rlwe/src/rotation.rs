//! Names of automorphisms in words, by the number of slots they rotate.

use sunzi_math::slot_of_exponent;

use crate::words::counted;

/// What an automorphism does to slots: whether it exchanges every slot with its partner, and by how many slots it
/// rotates to the left, negative to the right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Movement {
    /// Whether the automorphism exchanges partners: swaps the rows, or conjugates.
    pub exchanges: bool,
    /// Number of slots of the rotation to the left, by the shorter direction.
    pub steps: i64,
}

impl Movement {
    /// Describes an automorphism that brings slot `left` of a row of `row` slots to slot 0.
    #[must_use]
    pub fn new(exchanges: bool, left: u64, row: u64) -> Self {
        let left = left % row.max(1);
        let steps = if left > row / 2 { left.wrapping_sub(row) } else { left };
        Self { exchanges, steps: steps.cast_signed() }
    }

    /// Returns the movement in words, with a name for the exchange: "a rotation by 5 slots", "a swap of the rows", "a swap
    /// of the rows and a rotation by −1 slot".
    fn in_words(self, exchange: &str) -> String {
        match (self.exchanges, self.steps) {
            (true, 0) => exchange.to_owned(),
            (true, steps) => format!("{exchange} and a rotation by {}", slots(steps)),
            (false, steps) => format!("a rotation by {}", slots(steps)),
        }
    }
}

/// Returns a signed number as it is written in messages.
fn number(steps: i64) -> String {
    if steps < 0 { format!("−{}", steps.unsigned_abs()) } else { steps.to_string() }
}

/// Returns a signed number of slots in words: "1 slot", "−3 slots".
fn slots(steps: i64) -> String {
    let counted = counted(steps.unsigned_abs() as usize, "slot", "slots");
    if steps < 0 { format!("−{counted}") } else { counted }
}

/// Returns an automorphism in words, or "X -> X^5" where it moves no rows of slots.
#[must_use]
pub fn in_words(exponent: u64, exchange: &str, movement: impl Fn(u64) -> Option<Movement>) -> String {
    movement(exponent).map_or_else(|| format!("X -> X^{exponent}"), |movement| movement.in_words(exchange))
}

/// Returns a list of automorphisms in words, "rotations by 1, 2, −1 slots, a swap of the rows": the first dozen, then the
/// number of the others; "none" for an empty list.
#[must_use]
pub fn all_in_words(exponents: &[u64], exchange: &str, movement: impl Fn(u64) -> Option<Movement>) -> String {
    const SHOWN: usize = 12;
    let (mut rotations, mut parts) = (Vec::new(), Vec::new());
    for &exponent in exponents.iter().take(SHOWN) {
        match movement(exponent) {
            Some(Movement { exchanges: false, steps }) => rotations.push(steps),
            _ => parts.push(in_words(exponent, exchange, &movement)),
        }
    }
    rotations.sort_unstable_by_key(|&steps| (steps < 0, steps.unsigned_abs()));
    match rotations.as_slice() {
        [] => {}
        &[steps] => parts.insert(0, format!("a rotation by {}", slots(steps))),
        _ => {
            let listed: Vec<String> = rotations.iter().map(|&steps| number(steps)).collect();
            parts.insert(0, format!("rotations by {} slots", listed.join(", ")));
        }
    }
    match exponents.len() {
        0 => return "none".to_owned(),
        count if count > SHOWN => parts.push(format!("{} more", count - SHOWN)),
        _ => {}
    }
    parts.join(", ")
}

/// Name of the exchange of partners in rings with two rows of slots.
const SWAP: &str = "a swap of the rows";

/// Returns what an automorphism does to two rows of slots, in a ring that has them.
fn of_rows(exponent: u64, index: u64) -> Option<Movement> {
    let slot = slot_of_exponent(exponent, index).ok()?;
    let row = index / 4;
    Some(Movement::new(slot >= row, slot % row, row))
}

/// Returns which key of two rows of slots is missing and which are there, in words and without a remedy.
#[must_use]
pub fn missing(exponent: u64, index: u64, present: &[u64]) -> String {
    let movement = |exponent| of_rows(exponent, index);
    format!(
        "there is no key for {}; there are keys for: {}",
        in_words(exponent, SWAP, movement),
        all_in_words(present, SWAP, movement)
    )
}

/// Returns how the key of an automorphism is made.
pub(crate) fn remedy(exponent: u64, index: u64) -> String {
    match of_rows(exponent, index) {
        Some(Movement { exchanges: false, steps }) => {
            let python = format!("keygen(rotations=[{steps}]) in Python");
            format!("GaloisKeys::for_rotations, with {} among the steps ({python})", number(steps))
        }
        Some(Movement { exchanges: true, steps: 0 }) => {
            "GaloisKeys::generate, with galois::swap_exponent among the exponents".to_owned()
        }
        _ => format!("GaloisKeys::generate, with {exponent} among the exponents"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sunzi_math::{conjugation_exponent, rotation_exponent};

    fn words(exponent: u64, index: u64) -> String {
        in_words(exponent, SWAP, |exponent| of_rows(exponent, index))
    }

    fn all(exponents: &[u64]) -> String {
        all_in_words(exponents, SWAP, |exponent| of_rows(exponent, 64))
    }

    #[test]
    fn every_exponent_is_named_by_its_steps() {
        let index = 64;
        for steps in -7_i64..=8 {
            let exponent = rotation_exponent(steps, index).unwrap();
            let sign = if steps < 0 { "−" } else { "" };
            let plural = if steps.abs() == 1 { "" } else { "s" };
            let named = format!("a rotation by {sign}{} slot{plural}", steps.abs());
            assert_eq!(words(exponent, index), named);
            let swapped = exponent * conjugation_exponent(index).unwrap() % index;
            let expected = match steps {
                0 => "a swap of the rows".to_owned(),
                _ => format!("a swap of the rows and {named}"),
            };
            assert_eq!(words(swapped, index), expected);
        }
        for (exponent, index) in [(5, 9), (2, 64), (65, 64), (3, 0), (u64::MAX, u64::MAX)] {
            assert_eq!(words(exponent, index), format!("X -> X^{exponent}"));
        }
    }

    #[test]
    fn lists_gather_rotations_and_are_cut() {
        assert_eq!(all(&[]), "none");
        assert_eq!(all(&[3, 63]), "a rotation by 1 slot, a swap of the rows");
        let exponents: Vec<u64> =
            [-1, 4, 1, 2].into_iter().map(|steps| rotation_exponent(steps, 64).unwrap()).collect();
        assert_eq!(all(&exponents), "rotations by 1, 2, 4, −1 slots");
        let many: Vec<u64> = (0..40).map(|i| 2 * i + 1).collect();
        assert!(all(&many).ends_with(", 28 more"));
    }

    #[test]
    fn what_is_missing_comes_with_what_is_there_and_how_it_is_made() {
        let [one, three] = [1, 3].map(|steps| rotation_exponent(steps, 64).unwrap());
        let expected = "there is no key for a rotation by 3 slots; there are keys for: a rotation by 1 slot";
        assert_eq!(missing(three, 64, &[one]), expected);
        assert!(remedy(three, 64).starts_with("GaloisKeys::for_rotations, with 3 among the steps"));
        assert!(remedy(63, 64).contains("swap_exponent"));
        assert!(remedy(2, 9).ends_with("with 2 among the exponents"));
    }
}
