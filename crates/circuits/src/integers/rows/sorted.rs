//! Sorting by the way that takes the fewest look-ups.

use super::RowEvaluator;
use super::counting::Counting;
use super::network::Width;
use crate::integers::integer::carry_range;
use crate::integers::kind::BASE;
use crate::integers::{IntegerError, IntegerKind, Integers};

/// Way of sorting rows. All give the same integers, and differ in look-ups, which public counts and bounds tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SortMethod {
    /// All pairs are compared at once, as many as there are slots: n²/2^15 blocks of some 7 look-ups for n rows.
    Pairs,
    /// Rows with each integer are counted: look-ups do not grow with rows. Bounds hold at most 256 different integers.
    Counting,
    /// Batcher's network of comparisons between rows at distances of powers of two: ½·log n·(log n + 1) stages of one look-up a digit and one more.
    Network,
}

impl SortMethod {
    /// All ways.
    pub const ALL: [Self; 3] = [Self::Pairs, Self::Counting, Self::Network];
}

impl RowEvaluator<'_> {
    /// Returns the rows in ascending order, by the [way](SortMethod) that takes the [fewest look-ups](Self::sort_look_ups).
    ///
    /// # Errors
    /// [`IntegerError::Operand`] for more rows than slots; [`IntegerError::Bootstrap`] for missing keys and for keys of another secret.
    pub fn sorted(&self, a: &Integers) -> Result<Integers, IntegerError> {
        self.sorted_by(a, self.sort_method(a))
    }

    /// Returns the rows in ascending order, by this way.
    ///
    /// # Errors
    /// [`IntegerError::Operand`] for bounds too wide or rows too many to be counted; every error of [`sorted`](Self::sorted).
    pub fn sorted_by(&self, a: &Integers, method: SortMethod) -> Result<Integers, IntegerError> {
        self.check(a)?;
        if is_in_order(a) {
            return self.comparable(a);
        }
        match (method, self.counting(a)) {
            (SortMethod::Pairs, _) => self.of_pairs(a),
            (SortMethod::Network, _) => self.through_network(a),
            (SortMethod::Counting, Some(counting)) => self.counted(a, counting),
            (SortMethod::Counting, None) => Err(IntegerError::Operand {
                what: "the number of integers in the bounds of rows that are counted",
                got: a.bounds[1] - a.bounds[0] + 1,
                expected: "at most 256, and fewer for many rows: declare tighter bounds when encrypting"
                    .to_owned(),
            }),
        }
    }

    /// Returns the way that takes the fewest look-ups.
    #[must_use]
    pub fn sort_method(&self, a: &Integers) -> SortMethod {
        let look_ups = |method: &SortMethod| self.sort_look_ups(a, *method).unwrap_or(usize::MAX);
        SortMethod::ALL.into_iter().min_by_key(look_ups).unwrap_or(SortMethod::Network)
    }

    /// Returns how many look-ups a way of sorting takes for integers with digits from 0 to 15, by the number of rows, the bounds and the digits of the kind;
    /// `None` where rows cannot be counted, or are more than slots.
    #[must_use]
    pub fn sort_look_ups(&self, a: &Integers, method: SortMethod) -> Option<usize> {
        self.check(a).ok()?;
        if is_in_order(a) {
            return Some(0);
        }
        match method {
            SortMethod::Pairs => Some(self.look_ups_of_pairs(a.count, a.kind)),
            SortMethod::Counting => Some(self.counting(a)?.look_ups(a.kind, a.bounds)),
            SortMethod::Network => Some(Width::new(a.bounds).look_ups(a.kind, a.count)),
        }
    }

    fn counting(&self, a: &Integers) -> Option<Counting> {
        Counting::new(self.capacity(), a.count, a.bounds[1] - a.bounds[0] + 1)
    }

    /// Number of look-ups of all pairs: each block compares, and finds where a rank is 0; digits of results are looked up once.
    fn look_ups_of_pairs(&self, count: usize, kind: IntegerKind) -> usize {
        // Digits of a rank less a place until the carry is narrow, the carry, and their sum.
        let ranges =
            std::iter::successors(Some([1 - count.next_power_of_two() as i64, count as i64]), |range| {
                Some(carry_range(*range))
            });
        let zero = match ranges.take_while(|[low, high]| *low <= -BASE || *high >= BASE).count() {
            0 => 1,
            digits => digits + 2,
        };
        self.blocks(count).count() * (kind.digits() + 1 + zero) + kind.digits()
    }
}

/// Returns whether nothing is to be sorted.
fn is_in_order(a: &Integers) -> bool {
    a.count == 1 || a.bounds[0] == a.bounds[1]
}
