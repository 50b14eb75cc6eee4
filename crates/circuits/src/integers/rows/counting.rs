//! Sorting by counting how often each integer occurs, for public bounds with few different integers.
//!
//! Of P places, at least twice as many as there are different integers v, each has B slots side by side: slot p·B + b.
//!
//! 1. Row s of place p goes to place v = x − low: the digits of p − v as 1 in one of sixteen ciphertexts each, products of two of them, and the product that is 1 for
//!    p − v = t rotated by t places. Sums over the slots of a place are how often v occurs.
//! 2. Sums over places before are C(v), the number of rows up to v, in every slot of place v.
//! 3. The sorted row r = l·B + b is low + #{v : C(v) ≤ r}, and C(v) ≤ r if ⌈(C(v) − b)/B⌉ ≤ l: slot b of place v goes to place ⌈(C(v) − b)/B⌉ as in 1, and
//!    sums over places before are counted.
//!
//! So look-ups do not grow with rows, but for the digits of their number.

use super::RowEvaluator;
use crate::integers::carry::Carries;
use crate::integers::integer::Digit;
use crate::integers::kind::{BASE, DIGIT_BITS};
use crate::integers::{IntegerError, IntegerKind, Integers};

/// Most places that slots move between: their numbers have two digits.
const MOST_MOVES: usize = 1 << (2 * DIGIT_BITS);

/// Places of different integers in slots, and what is counted there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counting {
    rows: usize,
    /// Number of different integers that bounds allow.
    values: usize,
    /// Number of places P.
    places: usize,
    /// Number of slots B of a place.
    block: usize,
    /// Number of places that the sorted rows fill.
    filled: usize,
}

impl Counting {
    /// Returns how to count so many rows of so many different integers; `None` where places do not suffice.
    pub(super) fn new(capacity: usize, rows: usize, values: i128) -> Option<Self> {
        let values = usize::try_from(values).ok().filter(|values| (2..=MOST_MOVES).contains(values))?;
        let places = 2 * values.next_power_of_two();
        let block = capacity / places;
        if block == 0 {
            return None;
        }
        let counting = Self { rows, values, places, block, filled: rows.div_ceil(block) };
        // Sums over the places before must not lead the last ones before the first.
        let apart = counting.filled + counting.filled.next_power_of_two() <= places + 1;
        (apart && counting.moves() <= MOST_MOVES).then_some(counting)
    }

    /// Number of look-ups for integers of a kind: digits of p − v, of counts, of ⌈(C − b)/B⌉ with the digits below, of differences of places, of counts again, and of
    /// results.
    pub(super) fn look_ups(self, kind: IntegerKind, [low, high]: [i128; 2]) -> usize {
        let of_values = digits_of(self.values - 1);
        let results = match kind.digits() {
            // A second digit that is 0 by its range takes none.
            2 if low >= 0 && high < i128::from(BASE) => 1,
            digits if digits <= 2 => digits,
            _ => of_values,
        };
        2 * of_values + digits_of(self.rows) + self.dropped() + 2 * digits_of(self.moves() - 1) + results
    }

    /// Number of places that slots move between in the second turn: those of the sorted rows, and one for all other slots.
    fn moves(self) -> usize {
        (self.filled + 1).next_power_of_two()
    }

    /// Number of places that slots move by at most in the first turn. A row has a copy this many places further, and so on, so that one of them has not further to go
    /// to the place of its integer.
    fn moves_of_values(self) -> usize {
        self.filled.next_power_of_two().min(self.values.next_power_of_two())
    }

    /// Number of copies of the rows.
    fn copies(self) -> usize {
        self.values.next_power_of_two() / self.moves_of_values()
    }

    /// Returns whether a slot without a row counts for the least integer.
    fn counts_for_least(self, slot: usize) -> bool {
        let (moves, kinds) = (self.moves_of_values(), self.values.next_power_of_two());
        let in_copy = slot < kinds * self.block && slot % (moves * self.block) < self.rows;
        self.place(slot) % kinds < moves && !in_copy
    }

    /// Number of places that slots move by at most in the second turn: the integers have a second copy, half of all moves further, where places suffice.
    fn moves_of_rows(self) -> usize {
        if self.moves() <= self.places / 2 { self.moves() / 2 } else { self.moves() }
    }

    /// First and last place of the integers that are copied, the last one excluded, and how many places further.
    fn second_copy(self) -> impl Iterator<Item = [usize; 3]> {
        let (kinds, half) = (self.places / 2, self.moves() / 2);
        let (end, most) = (kinds.saturating_sub(half), self.values - 1);
        let parts = [[0, end.min(most), kinds + half], [end, most, half]];
        parts.into_iter().filter(move |[from, to, _]| self.moves_of_rows() == half && from < to)
    }

    /// Returns the integer of a place, or the greatest for none.
    fn value_at(self, place: usize) -> usize {
        let copied = self.second_copy().find(|[from, to, moved]| (from + moved..to + moved).contains(&place));
        match copied {
            Some([_, _, moved]) => place - moved,
            None => place.min(self.values - 1),
        }
    }

    /// Number of digits that a division by B drops.
    fn dropped(self) -> usize {
        self.block.ilog2().div_ceil(DIGIT_BITS) as usize
    }

    /// The factor that makes B a power of 16.
    fn factor(self) -> i64 {
        1 << (DIGIT_BITS * self.dropped() as u32 - self.block.ilog2())
    }

    fn place(self, slot: usize) -> usize {
        slot / self.block
    }
}

impl RowEvaluator<'_> {
    /// Returns the rows in ascending order, more than one with more than one possible integer.
    pub(super) fn counted(&self, a: &Integers, counting: Counting) -> Result<Integers, IntegerError> {
        let a = self.comparable(a)?;
        let index = self.index_of_values(&a, counting)?;
        let counts = self.counts(&index, counting)?;
        let index = self.index_of_rows(&counts, counting)?;
        let turned = self.moved_places(&index, [counting.moves(), counting.moves_of_rows()], counting)?;
        let zero = self.integers.times(&turned, 0)?;
        let mut columns = vec![turned];
        columns.resize(digits_of(counting.values - 1), zero);
        let digits = self.integers.digits_of_columns(&columns, self.capacity(), false)?;
        let before = |(k, digit): (usize, &Digit)| {
            let own = self.masked(digit, &|slot| i64::from(slot < counting.rows))?;
            let all = own.window(self, counting.filled.next_power_of_two(), -(counting.block as i64))?;
            // All places together have each integer once.
            let most = (counting.values as i64 - 1) >> (DIGIT_BITS * k as u32);
            self.integers.within(all.settled(self, counting.filled), [0, most])
        };
        let columns: Vec<Digit> = digits.iter().enumerate().map(before).collect::<Result<_, _>>()?;
        self.result_of(columns, &a, counting)
    }

    /// Returns the digits of p − v, v = x − low, in the slots of place p of every copy of the rows; other slots have v = 0.
    fn index_of_values(&self, a: &Integers, counting: Counting) -> Result<Vec<Digit>, IntegerError> {
        let moved = self.integers.moved(a, -a.bounds[0])?;
        let apart = counting.moves_of_values() * counting.block;
        let index = |(k, digit): (usize, &Digit)| {
            let own = self.masked(digit, &|slot| -i64::from(slot < counting.rows))?;
            let own = own.window(self, counting.copies(), -(apart as i64))?.settled(self, 1);
            let own = self.integers.within(own, [-digit.reach(), digit.reach()])?;
            self.plus_clear(&own, &|slot| nibble(counting.place(slot), k))
        };
        moved.digits.iter().take(digits_of(counting.values - 1)).enumerate().map(index).collect()
    }

    /// Returns the digits of the number of rows with v, in the first slot of place v.
    fn counts(&self, index: &[Digit], counting: Counting) -> Result<Vec<Digit>, IntegerError> {
        let kinds = counting.values.next_power_of_two();
        let found = self.moved_places(index, [kinds, counting.moves_of_values()], counting)?;
        let all = self.window(&found, counting.block, 1)?;
        // Slots without a row have v = 0.
        let beyond = (0..self.capacity()).filter(|&slot| counting.counts_for_least(slot)).count() as i64;
        let own = self.plus_clear(&all, &|slot| if slot == 0 { -beyond } else { 0 })?;
        let own = self.integers.within(own, [0, self.capacity() as i64])?;
        let zero = self.integers.times(&own, 0)?;
        let mut columns = vec![own];
        columns.resize(digits_of(counting.rows), zero);
        self.integers.digits_of_columns(&columns, self.capacity(), false)
    }

    /// Returns the digits of p − ⌈(C(p) − b)/B⌉ in the slots of place p, for integers below the greatest. Other slots go beyond the places of rows.
    fn index_of_rows(&self, counts: &[Digit], counting: Counting) -> Result<Vec<Digit>, IntegerError> {
        let Counting { values, block, .. } = counting;
        let up_to = |digit: &Digit| {
            let first = |slot: usize| slot.is_multiple_of(block) && counting.place(slot) < values;
            let own = self.masked(digit, &|slot| i64::from(first(slot)))?;
            let own = own.window(self, block, -1)?;
            let all = own.window(self, values.next_power_of_two(), -(block as i64))?.settled(self, values);
            let all = self.integers.within(all, [0, (BASE - 1) * values as i64])?;
            self.integers.times(&all, counting.factor())
        };
        let mut columns: Vec<Digit> = counts.iter().map(up_to).collect::<Result<_, _>>()?;
        if let Some(first) = columns.first_mut() {
            let rounding = |slot: usize| counting.factor() * (block - 1 - slot % block) as i64;
            *first = self.plus_clear(first, &rounding)?;
            let zero = self.integers.times(first, 0)?;
            columns.resize(counting.dropped() + digits_of(counting.moves() - 1), zero);
        }
        let digits = self.integers.digits_of_columns(&columns, self.capacity(), false)?;
        let index = |(k, digit): (usize, &Digit)| {
            let sign = |holds: bool| -i64::from(holds);
            let mut own = self.masked(digit, &|slot| sign(counting.place(slot) + 1 < values))?;
            for [from, to, moved] in counting.second_copy() {
                let part = self.masked(digit, &|slot| sign((from..to).contains(&counting.place(slot))))?;
                own = own.beside(part.turned(self, -((moved * block) as i64))?, self)?;
            }
            let own = own.settled(self, 1);
            let own = self.integers.within(own, [-digit.reach(), digit.reach()])?;
            let beyond = nibble(counting.moves() - 1, k);
            let clear = |slot: usize| {
                let place = counting.place(slot);
                nibble(place, k) - if counting.value_at(place) + 1 < values { 0 } else { beyond }
            };
            self.plus_clear(&own, &clear)
        };
        digits.iter().skip(counting.dropped()).enumerate().map(index).collect()
    }

    /// Returns in slot b of place q how many places p have p − q in their slot b, modulo `period` places and if it is below `moves`. The columns of one digit or two are
    /// p − q in every slot.
    fn moved_places(
        &self,
        index: &[Digit],
        [period, moves]: [usize; 2],
        counting: Counting,
    ) -> Result<Digit, IntegerError> {
        let mut carries = Carries::new(self.integers, self.capacity());
        let (mut turns, mut left) = (period as i64, moves as i64);
        let mut found: Vec<Vec<Digit>> = Vec::with_capacity(index.len());
        for column in index {
            let (size, tests) = (turns.min(BASE), left.min(BASE));
            (turns, left) = ((turns / size).max(1), (left / tests).max(1));
            let tests: Vec<_> = (0..tests).map(|v| move |m: i64| i64::from(m % size == v)).collect();
            let own: &dyn Fn(i64) -> i64 = &|m| m;
            let functions: Vec<&dyn Fn(i64) -> i64> =
                std::iter::once(own).chain(tests.iter().map(|f| f as &dyn Fn(i64) -> i64)).collect();
            found.push(carries.look_up(column, &functions)?.split_off(1));
        }
        let mut found = found.into_iter();
        let lowest = found.next().unwrap_or_default();
        let sum = match found.next() {
            None => self.moved_together(lowest, counting.block)?,
            Some(above) => {
                let split = |digits: &[Digit]| {
                    let parts = digits.iter().map(|digit| self.integers.split(digit, self.capacity()));
                    parts.collect::<Result<Vec<_>, _>>()
                };
                let lowest = split(&lowest)?;
                let line = |above| {
                    let products = lowest.iter().map(|low| self.integers.sum_of_products(&[(low, above)]));
                    self.moved_together(products.collect::<Result<_, _>>()?, counting.block)
                };
                let lines = split(&above)?.iter().map(line).collect::<Result<_, _>>()?;
                self.moved_together(lines, BASE as usize * counting.block)?
            }
        };
        self.window(&sum, counting.places / period, (period * counting.block) as i64)
    }

    /// Returns Σ over i of the i-th digits rotated left by i·stride.
    fn moved_together(&self, mut digits: Vec<Digit>, mut stride: usize) -> Result<Digit, IntegerError> {
        while digits.len() > 1 {
            let pair = |pair: &[Digit]| match pair {
                [first, second] => self.integers.plus(first, &self.rotated(second, stride as i64)?),
                _ => pair.first().cloned().ok_or_else(nothing),
            };
            digits = digits.chunks(2).map(pair).collect::<Result<_, _>>()?;
            stride *= 2;
        }
        digits.pop().ok_or_else(nothing)
    }

    /// Returns v + low, of columns that make up v.
    fn result_of(
        &self,
        mut columns: Vec<Digit>,
        a: &Integers,
        counting: Counting,
    ) -> Result<Integers, IntegerError> {
        let [low, _] = a.bounds;
        let bounds = [0, counting.values as i128 - 1];
        if a.kind.digits() > 2 {
            let own = IntegerKind::new(DIGIT_BITS * columns.len() as u32, false).unwrap_or(IntegerKind::U8);
            let v = Integers { kind: own, count: a.count, digits: columns, bounds, exact: true };
            let sorted = self.integers.table(&v, a.kind, |v| v + low)?;
            return Ok(Integers { bounds: a.bounds, ..sorted });
        }
        if let Some(first) = columns.first() {
            let zero = self.integers.times(first, 0)?;
            columns.resize(a.kind.digits(), zero);
        }
        let v = self.integers.moved(&Integers { digits: columns, ..a.clone() }, low)?;
        let digits = self.integers.digits_of_columns(&v.digits, self.capacity(), a.kind.is_signed())?;
        Ok(Integers { digits, exact: true, ..v })
    }
}

/// Number of digits of 4 bits of a number.
pub(super) fn digits_of(number: usize) -> usize {
    (usize::BITS - number.leading_zeros()).div_ceil(DIGIT_BITS).max(1) as usize
}

/// Digit k of a number.
fn nibble(number: usize, k: usize) -> i64 {
    (number >> (DIGIT_BITS as usize * k)) as i64 & (BASE - 1)
}

fn nothing() -> IntegerError {
    IntegerError::Operand { what: "the number of results", got: 0, expected: "at least 1".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests the places of every shape in 64 slots: each row goes to the place of its integer once, each integer once to that of its first sorted row.
    #[test]
    fn slots_go_to_their_places_once() {
        let capacity = 64;
        let mut shapes = 0;
        for (rows, values) in (1..=capacity).flat_map(|rows| (2..=32).map(move |values| (rows, values))) {
            let Some(counting) = Counting::new(capacity, rows, values) else { continue };
            shapes += 1;
            let Counting { values, places, block, filled, .. } = counting;
            assert!(places * block == capacity && filled * block >= rows && 2 * values <= places);
            let (kinds, moves) = (values.next_power_of_two(), counting.moves_of_values());
            for v in 0..values {
                let goes = |place: usize| (place + kinds - v) % kinds < moves;
                for row in 0..rows {
                    let copies = (0..counting.copies()).map(|c| counting.place(row) + c * moves);
                    assert_eq!(copies.filter(|place| goes(*place)).count(), 1, "{counting:?}");
                }
            }
            let taken: Vec<usize> = (0..counting.copies())
                .flat_map(|copy| (0..rows).map(move |row| row + copy * moves * block))
                .collect();
            let free = (0..capacity).filter(|slot| !taken.contains(slot));
            let least = free.filter(|slot| counting.place(*slot) % kinds < moves).count();
            assert_eq!((0..capacity).filter(|&slot| counting.counts_for_least(slot)).count(), least);
            for v in 0..values - 1 {
                let copies: Vec<usize> = (0..places).filter(|&place| counting.value_at(place) == v).collect();
                for to in 0..=filled {
                    let goes = |place: &&usize| {
                        (**place + counting.moves() - to) % counting.moves() < counting.moves_of_rows()
                    };
                    assert_eq!(copies.iter().filter(goes).count(), 1, "{counting:?} {v} {to}");
                }
            }
            assert_eq!(counting.factor() as usize * block, 1 << (4 * counting.dropped()));
        }
        assert!(shapes > 500, "{shapes}");
    }
}
