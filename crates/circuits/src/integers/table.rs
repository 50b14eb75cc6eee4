//! Any function of integers of up to 16 bits, by a table: of digits first, and of integers by a tree over their digits `[GBA21]`.
//!
//! With 1 where digit k is v and 0 elsewhere, for all v by one look-up, f is Σ_a \[d_2 = a\]·Σ_b \[d_1 = b\]·Σ_c f(a, b, c)·\[d_0 = c\]: the innermost sums are linear, and
//! each digit above takes one product, whose terms are relinearised together. There are levels for two products in a row: of four digits the upper two are multiplied
//! with each other while the lower two are.

mod tree;

use super::kind::DIGIT_BITS;
use super::{IntegerError, IntegerEvaluator, IntegerKind, Integers};
use tree::Tree;

/// Most digits that a tree takes: two products in a row have four factors.
const MOST_DIGITS: usize = 4;
/// Most integers of a table.
const MOST_ENTRIES: i128 = 1 << (DIGIT_BITS as usize * MOST_DIGITS);

impl IntegerEvaluator<'_> {
    /// Returns f(x) for every integer x, modulo 2^bits of the kind `to`. The bounds of the integers say for which x the function is asked, at most 65 536 of them.
    ///
    /// Integers of 4 bits take one look-up, of 8 bits two, of 12 bits three and of 16 bits four; above 8 bits one more for each digit of results that is not always
    /// 0. Products and sums grow with the entries: they take most of the time of a table of 16 bits.
    ///
    /// # Errors
    /// [`IntegerError::Operand`] for bounds with more than 65 536 integers; [`IntegerError::Bootstrap`] for keys of another secret.
    pub fn table(
        &self,
        a: &Integers,
        to: IntegerKind,
        f: impl Fn(i128) -> i128,
    ) -> Result<Integers, IntegerError> {
        let [low, high] = a.bounds;
        let size = check_entries(high - low + 1)?;
        let values: Vec<i128> = (low..=high).map(|x| to.wrapped(f(x))).collect();
        let least = values.iter().copied().min().unwrap_or(0);
        let bounds = [least, values.iter().copied().max().unwrap_or(0)];
        let digits: Vec<Vec<i64>> = values.iter().map(|value| to.digits_of(*value).collect()).collect();
        let entry = |v: usize, k: usize| digits.get(v).and_then(|digits| digits.get(k)).copied().unwrap_or(0);
        // Digits modulo 16 tell the entry, whether they make up the integer or what is equal to it modulo 2^bits.
        let moved = self.moved(a, -low)?;
        let count = (1..MOST_DIGITS).find(|&d| size <= 1 << (DIGIT_BITS as usize * d)).unwrap_or(MOST_DIGITS);
        let digits = match (count, moved.digits.first()) {
            (1, Some(digit)) => {
                let functions: Vec<_> =
                    (0..to.digits()).map(|k| move |m: i64| entry(m as usize, k)).collect();
                let functions: Vec<&dyn Fn(i64) -> i64> =
                    functions.iter().map(|f| f as &dyn Fn(i64) -> i64).collect();
                self.look_up(digit, a.count, &functions)?
            }
            _ => {
                let ranges: Vec<[i64; 2]> = (0..to.digits()).map(|k| to.digit_range(k)).collect();
                Tree::new(self, &moved, count, size)?.digits(&entry, &ranges)?
            }
        };
        Ok(Integers { kind: to, count: a.count, digits, bounds, exact: true })
    }

    /// Returns f(x, y) for every pair of integers, modulo 2^bits of the kind `to`, by the table of x·n + y, where y takes n values. The bounds of both batches say for which
    /// pairs the function is asked, at most 65 536 of them.
    ///
    /// # Errors
    /// [`IntegerError::Mismatch`] for batches of different lengths; [`IntegerError::Operand`] for bounds with more pairs; [`IntegerError::Bootstrap`] for keys of
    /// another secret.
    pub fn table_of_two(
        &self,
        a: &Integers,
        b: &Integers,
        to: IntegerKind,
        f: impl Fn(i128, i128) -> i128,
    ) -> Result<Integers, IntegerError> {
        let ([x, x_high], [y, y_high]) = (a.bounds, b.bounds);
        let n = y_high - y + 1;
        let size = check_entries((x_high - x + 1).saturating_mul(n))?;
        let bits = (1..MOST_DIGITS as u32).map(|digits| DIGIT_BITS * digits).find(|bits| size <= 1 << bits);
        let bits = bits.unwrap_or(DIGIT_BITS * MOST_DIGITS as u32);
        let refused = || IntegerError::Operand {
            what: "the number of bits of pairs",
            got: bits.into(),
            expected: "a multiple of 4 up to 64".to_owned(),
        };
        let kind = IntegerKind::new(bits, false).ok_or_else(refused)?;
        let last = size as i128 - 1;
        let pairs = self.linear_combination(&[(n, a), (1, b)], -(n * x + y), kind, [0, last])?;
        self.table(&pairs, to, |pair| f(x + pair / n, y + pair % n))
    }
}

/// Refuses more entries than tables have.
fn check_entries(entries: i128) -> Result<usize, IntegerError> {
    if (1..=MOST_ENTRIES).contains(&entries) {
        return Ok(entries as usize);
    }
    let expected = format!("at most {MOST_ENTRIES}: declare tighter bounds when encrypting");
    Err(IntegerError::Operand { what: "the number of integers in the bounds", got: entries, expected })
}
