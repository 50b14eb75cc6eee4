//! Values handed over between Sunzi and rivals: slots, and the steps of a circuit.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::bench::{LabError, Result};

/// Values of an operand or of a result.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(untagged)]
pub(crate) enum Values {
    /// Values of slots modulo t, or of residues.
    Words(Vec<u64>),
    /// Values of complex slots: real and imaginary part in turn.
    Reals(Vec<f64>),
}

/// Largest error allowed in a real or imaginary part, relative to the largest expected part, or to 1.
const TOLERANCE: f64 = 1e-4;

impl Values {
    /// The values as words; an error for real numbers.
    pub(crate) fn words(&self) -> Result<&[u64]> {
        match self {
            Self::Words(words) => Ok(words),
            Self::Reals(_) => Err(LabError::request("expected whole numbers, got real ones")),
        }
    }

    /// The values as real numbers. A list in which no number has a point may have been meant so.
    pub(crate) fn reals(&self) -> Cow<'_, [f64]> {
        match self {
            Self::Words(words) => words.iter().map(|word| *word as f64).collect(),
            Self::Reals(reals) => Cow::Borrowed(reals),
        }
    }

    /// Whether these values are the expected ones: exactly for words, closely for real numbers.
    pub(crate) fn agree(&self, expected: &Self) -> bool {
        match (self, expected) {
            (Self::Words(got), Self::Words(expected)) => got == expected,
            (got, expected) => {
                let (got, expected) = (got.reals(), expected.reals());
                let largest = expected.iter().fold(1.0, |largest: f64, part| largest.max(part.abs()));
                let close = |(x, y): (&f64, &f64)| (x - y).abs() <= TOLERANCE * largest;
                got.len() == expected.len() && got.iter().zip(expected.iter()).all(close)
            }
        }
    }
}

impl Default for Values {
    fn default() -> Self {
        Self::Words(Vec::new())
    }
}

/// A circuit's step on numbered values: 0 and 1 are the operands, 2 is the first result.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(crate) struct Step {
    /// Operation of the circuit's step.
    pub(crate) name: Name,
    /// Number of the value that the step takes as its left operand.
    pub(crate) left: usize,
    /// Number of the value that is the step's right operand, or the steps of a rotation to the left.
    pub(crate) right: usize,
}

/// Operation that a circuit's step can be.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Name {
    Add,
    Subtract,
    Negate,
    /// Multiplication of two values with relinearisation.
    Multiply,
    Rotate,
}

impl Name {
    /// Every operation that a circuit's step can be.
    pub(crate) const ALL: [Self; 5] = [Self::Add, Self::Subtract, Self::Negate, Self::Multiply, Self::Rotate];

    /// The operation's name in the protocol.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Subtract => "subtract",
            Self::Negate => "negate",
            Self::Multiply => "multiply",
            Self::Rotate => "rotate",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_written_by_their_words() {
        for name in Name::ALL {
            assert_eq!(serde_json::to_value(name).unwrap(), name.word());
        }
    }

    #[test]
    fn numbers_without_a_point_may_be_meant_as_real_ones() {
        let read = |text| serde_json::from_str::<Values>(text).unwrap();
        assert_eq!(read("[18446744073709551615, 0]").words().unwrap(), [u64::MAX, 0]);
        assert!(read("[0.5, 1]").words().is_err());
        assert_eq!(*read("[1, 0]").reals(), [1.0, 0.0]);
        assert!(read("[1, 0]").agree(&Values::Reals(vec![1.0, 1e-5])));
        assert!(!read("[1, 0]").agree(&Values::Reals(vec![1.0, 1e-3])));
        assert!(!read("[1, 0]").agree(&Values::Reals(vec![1.0])));
        assert!(!read("[1.0, -1e3]").agree(&read("[1.0, 1.0]")));
        assert!(read("[3, 4]").agree(&read("[3, 4]")) && !read("[3, 4]").agree(&read("[3, 5]")));
        assert!(!Values::Reals(vec![f64::NAN]).agree(&Values::Reals(vec![0.0])));
    }
}
