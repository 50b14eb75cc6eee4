//! Private nearest neighbours: which vectors of a public database are near one that the server does not learn.
//!
//! The client encrypts its vector; the server computes the scores of all vectors of the database, many in a ciphertext; the client decrypts them and picks the best.
//! [`integers`] has exact scores on BFV, [`reals`] scores with a stated error on CKKS.
//!
//! **The database is public to whoever may ask.** An answer has the scores of all vectors, from which the vectors follow after as many
//! queries as they have coordinates. The server learns that somebody asked, and nothing of the vector.

pub mod integers;
pub mod reals;

use std::cmp::Ordering;

/// Measure of the nearness of two vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// The square of the Euclidean distance: the smallest is nearest.
    Distance,
    /// The inner product: the largest is nearest. Of vectors of length 1 it is the cosine of the angle between them.
    Product,
}

/// Returns the numbers and scores of the nearest vectors, the nearest first, and of equal scores the one of the lower number.
///
/// ```
/// use sunzi_circuits::nearest::{Measure, nearest};
///
/// assert_eq!(nearest(&[7, 1, 9, 1], Measure::Distance, 3), [(1, 1), (3, 1), (0, 7)]);
/// assert_eq!(nearest(&[0.5, -0.5, 0.75], Measure::Product, 1), [(2, 0.75)]);
/// ```
#[must_use]
pub fn nearest<T: Copy + PartialOrd>(scores: &[T], measure: Measure, count: usize) -> Vec<(usize, T)> {
    let by_score = |a: &(usize, T), b: &(usize, T)| {
        let order = a.1.partial_cmp(&b.1).unwrap_or(Ordering::Equal);
        let order = if measure == Measure::Product { order.reverse() } else { order };
        order.then(a.0.cmp(&b.0))
    };
    let mut all: Vec<(usize, T)> = scores.iter().copied().enumerate().collect();
    if count < all.len() {
        all.select_nth_unstable_by(count, by_score);
        all.truncate(count);
    }
    all.sort_unstable_by(by_score);
    all
}

/// Why vectors, or a query of them, cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}: expected {expected}, got {got}")]
pub struct VectorError {
    what: &'static str,
    expected: String,
    got: String,
}

impl VectorError {
    fn new(what: &'static str, expected: impl ToString, got: impl ToString) -> Self {
        Self { what, expected: expected.to_string(), got: got.to_string() }
    }

    /// Fails for a number outside of a range.
    fn check(what: &'static str, got: usize, (least, most): (usize, usize)) -> Result<(), Self> {
        if (least..=most).contains(&got) {
            Ok(())
        } else {
            Err(Self::new(what, format!("{least} to {most}"), got))
        }
    }
}

/// Largest number of coordinates of a vector.
pub const MOST_DIMENSIONS: usize = 1 << 12;
