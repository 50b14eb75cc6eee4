//! Batches of encrypted integers and of conditions.

use sunzi_ckks::Ciphertext;

use super::kind::BASE;
use super::{IntegerError, IntegerKind};
use crate::bootstrap::noise::exact;

/// One digit of all integers of a batch: the numbers d/8, with public bounds on d.
#[derive(Clone)]
pub(super) struct Digit {
    pub(super) ciphertext: Ciphertext,
    pub(super) range: [i64; 2],
}

impl Digit {
    /// The digit as if it had no noise, for sums of products whose noise is counted otherwise.
    pub(super) fn bare(&self) -> Self {
        Self { ciphertext: exact(&self.ciphertext), range: self.range }
    }

    /// Largest |d|.
    pub(super) fn reach(&self) -> i64 {
        self.range[0].abs().max(self.range[1].abs())
    }
}

/// A batch of encrypted integers of one kind: as many as slots have parts, or fewer.
///
/// [`IntegerEvaluator::from_digits`](super::IntegerEvaluator::from_digits) makes a batch of ciphertexts, and
/// [`to_digits`](super::IntegerEvaluator::to_digits) gives them back.
#[derive(Clone)]
pub struct Integers {
    pub(super) kind: IntegerKind,
    pub(super) count: usize,
    pub(super) digits: Vec<Digit>,
    /// Public bounds on all integers of the batch.
    pub(super) bounds: [i128; 2],
    /// Whether Σ d_k·16^k is the integer, and not only the same modulo 2^bits.
    pub(super) exact: bool,
}

impl Integers {
    /// Kind of the integers.
    #[must_use]
    pub fn kind(&self) -> IntegerKind {
        self.kind
    }

    /// Number of integers.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns the first integers of the batch alone, as many as there are or fewer: those that are the same in every row are one.
    #[must_use]
    pub fn first(self, count: usize) -> Self {
        Self { count: count.min(self.count), ..self }
    }

    /// Returns the batch read as so many integers from its first slot on: beyond those that it had there is what an operation says of all slots, such as the same
    /// integer in every row, or 0.
    #[must_use]
    pub fn read_as(self, count: usize) -> Self {
        Self { count, ..self }
    }

    /// Returns the batch with bounds that the caller knows to hold for every integer.
    ///
    /// # Errors
    /// [`IntegerError::Operand`] for bounds outside of the kind.
    pub fn within(self, bounds: [i128; 2]) -> Result<Self, IntegerError> {
        check_bounds(self.kind, bounds)?;
        Ok(Self { bounds, ..self })
    }

    /// Public bounds on all integers of the batch, both ends included.
    #[must_use]
    pub fn bounds(&self) -> [i128; 2] {
        self.bounds
    }

    /// The ciphertexts of the digits, the least first, as they are: unlike those of [`to_digits`](super::IntegerEvaluator::to_digits) their digits may have grown.
    pub fn ciphertexts(&self) -> impl ExactSizeIterator<Item = &Ciphertext> {
        self.digits.iter().map(|digit| &digit.ciphertext)
    }

    /// Returns whether every digit is from 0 to 15, the one at the top with the sign.
    pub(super) fn is_carried(&self) -> bool {
        let fits = |(k, digit): (usize, &Digit)| {
            let [low, high] = self.kind.digit_range(k);
            low <= digit.range[0] && digit.range[1] <= high
        };
        self.exact && self.digits.iter().enumerate().all(fits)
    }
}

/// Refuses bounds that a kind does not hold, or that hold nothing.
pub(super) fn check_bounds(kind: IntegerKind, bounds: [i128; 2]) -> Result<(), IntegerError> {
    let [low, high] = bounds;
    let [least, largest] = kind.range();
    if kind.holds(bounds) && low <= high {
        return Ok(());
    }
    let (what, got) = if least <= low && low <= high {
        ("the upper bound of integers", high)
    } else {
        ("the lower bound of integers", low)
    };
    Err(IntegerError::Operand {
        what,
        got,
        expected: format!("from {least} to {largest}, the lower one first"),
    })
}

/// A batch of encrypted conditions, each 1 (true) or 0 (false).
#[derive(Clone)]
pub struct Conditions {
    pub(super) count: usize,
    pub(super) digit: Digit,
}

impl Conditions {
    /// Returns the batch read as so many conditions from its first slot on.
    #[must_use]
    pub fn read_as(self, count: usize) -> Self {
        Self { count, ..self }
    }

    /// Number of conditions.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// The ciphertext of the conditions: the numbers 1/8 and 0.
    #[must_use]
    pub fn ciphertext(&self) -> &Ciphertext {
        &self.digit.ciphertext
    }
}

/// Returns the range of carries out of columns in this range: ⌊v/16⌋.
pub(super) fn carry_range([low, high]: [i64; 2]) -> [i64; 2] {
    [low.div_euclid(BASE), high.div_euclid(BASE)]
}
