//! Several order statistics by one search, digit by digit from the top.
//!
//! For each rank k the search knows how the k-th integer begins, which rows are equal to it so far, and b = −1 − (how many of the equal rows are before it). Of the
//! next digits d of the equal rows those up to t are counted, for all t by one look-up, and the least t with count + b ≥ 0 is the next digit of the k-th integer. Then
//! b grows by the count before: it is selected among the digits of count + b, which the comparison with 0 has looked up anyway.
//!
//! Rows of several ranks are in blocks of R slots side by side, and in groups of as many blocks as slots allow. The comparisons of all ranks are in the slots of one
//! ciphertext, so that they take the look-ups of one, D: with G groups the first digit takes 1 + D + G look-ups, each after it 2G + D, and the last one G fewer.

use super::RowEvaluator;
use super::counting::digits_of;
use super::mask::Masked;
use crate::integers::carry::Carries;
use crate::integers::integer::{Digit, carry_range};
use crate::integers::kind::{BASE, DIGIT_BITS};
use crate::integers::{IntegerError, Integers};

/// Slots from the counts of one group of ranks to those of the next: those of one rank, and as many that see them in a window from either side, twice.
const SPACING: usize = 4 * BASE as usize;

/// Number of rows up to which counts are compared as they are: roundings of SlotsToCoeffs grow with counts, and tables take those of counts up to here away.
pub(super) const MOST_COUNTED: usize = 1 << 15;

/// Places of rows and of counts in slots.
#[derive(Clone, Copy, Debug)]
struct Places {
    /// Number of slots R of the rows of a rank, a power of two.
    rows: usize,
    /// Number of ranks whose rows are side by side, a power of two.
    blocks: usize,
    /// Number of groups of so many ranks.
    groups: usize,
}

impl Places {
    /// Returns the places of so many ranks, at most one for each [`SPACING`] slots; `None` where slots do not suffice.
    fn new(capacity: usize, rows: usize, ranks: usize) -> Option<Self> {
        let rows = rows.next_power_of_two().max(SPACING);
        let blocks = ranks.next_power_of_two().min(capacity / rows);
        let groups = ranks.div_ceil(blocks.max(1));
        let places = Self { rows, blocks, groups };
        (blocks > 0 && places.folded() <= rows).then_some(places)
    }

    /// Number of rows that are added before counts of all groups come side by side.
    fn folded(self) -> usize {
        if self.groups == 1 { BASE as usize } else { SPACING * self.groups.next_power_of_two() }
    }

    /// Slot of the first count of a rank.
    fn slot(self, rank: usize) -> usize {
        rank % self.blocks * self.rows + rank / self.blocks * SPACING
    }
}

/// Rows of one batch.
struct Chunk {
    /// Digits from 0 to 15.
    digits: Vec<Digit>,
    count: usize,
    /// Which rows are equal to the integer of each rank so far, 1 or 0, for each group of ranks; none before the first digit that differs.
    equal: Vec<Digit>,
}

/// Values that a digit may have.
#[derive(Clone, Copy)]
struct Span {
    least: i64,
    most: i64,
}

/// Results of a comparison of counts.
struct Compared {
    /// Whether up to t too few rows are counted, 1 or 0, for t from one before the least digit on.
    fewer: Digit,
    /// Digits of count + b where it is negative, and anything where it is not.
    missing: Vec<Digit>,
}

/// Search for integers of given ranks.
struct Search<'a> {
    rows: RowEvaluator<'a>,
    places: Places,
    /// Ranks, each once.
    ranks: &'a [usize],
    /// Number of rows of all batches.
    total: usize,
    /// Number of rows up to which counts are compared as they are.
    counted: usize,
}

impl RowEvaluator<'_> {
    /// Returns the integers of given ranks among the rows of all batches, in every slot, and which rows of each batch are equal to the last one if `state` says so.
    /// Batches have one kind and digits from 0 to 15; ranks are below the number of rows. Counts of more rows than `counted` are looked up before they are compared.
    pub(in crate::integers) fn of_ranks(
        &self,
        batches: &[Integers],
        ranks: &[usize],
        counted: usize,
        state: bool,
    ) -> Result<(Vec<Vec<Digit>>, Vec<Digit>), IntegerError> {
        let total = batches.iter().map(|batch| batch.count).sum();
        let most = batches.iter().map(|batch| batch.count).max().unwrap_or(1);
        let (mut found, mut equal) = (Vec::with_capacity(ranks.len()), Vec::new());
        for ranks in ranks.chunks((self.capacity() / SPACING).max(1)) {
            let Some(places) = Places::new(self.capacity(), most, ranks.len()) else {
                let expected = format!("at least {SPACING}");
                return Err(IntegerError::Operand {
                    what: "the number of slots that order takes",
                    got: self.capacity() as i128,
                    expected,
                });
            };
            let search = Search { rows: *self, places, ranks, total, counted };
            let (own, last) = search.run(batches, state)?;
            found.extend(own);
            equal = last;
        }
        Ok((found, equal))
    }
}

impl Search<'_> {
    /// Returns the digits of the integer of each rank, and which rows of each batch are equal to that of the last rank.
    fn run(&self, batches: &[Integers], state: bool) -> Result<(Vec<Vec<Digit>>, Vec<Digit>), IntegerError> {
        let Some(first) = batches.first() else { return Ok((Vec::new(), Vec::new())) };
        let low = |place: usize| first.kind.digit_range(place)[0];
        let mut chunks: Vec<Chunk> =
            batches.iter().map(|batch| self.chunk(batch)).collect::<Result<_, _>>()?;
        let mut found: Vec<Vec<Digit>> = vec![Vec::new(); self.ranks.len()];
        let mut base: Option<Vec<Digit>> = None;
        for place in (0..first.digits.len()).rev() {
            let started = chunks.iter().any(|chunk| !chunk.equal.is_empty());
            let span = if started { Span { least: 0, most: BASE - 1 } } else { span(batches, place) };
            let to_come = place > 0 || state;
            let own = if span.least == span.most {
                self.known(&chunks, place, span.least)?
            } else {
                self.next_digits(&mut chunks, place, span, &mut base, to_come)?
            };
            for (found, digit) in found.iter_mut().zip(own) {
                found.push(self.rows.integers.raised(digit, low(place))?);
            }
        }
        found.iter_mut().for_each(|digits| digits.reverse());
        let equal = chunks.iter().map(|chunk| match chunk.equal.last() {
            Some(equal) => Ok(equal.clone()),
            None => self.all_rows(chunk),
        });
        Ok((found, if state { equal.collect::<Result<_, _>>()? } else { Vec::new() }))
    }

    fn chunk(&self, batch: &Integers) -> Result<Chunk, IntegerError> {
        let digit = |(place, digit): (usize, &Digit)| {
            self.rows.integers.raised(digit.clone(), -batch.kind.digit_range(place)[0])
        };
        let digits = batch.digits.iter().enumerate().map(digit).collect::<Result<_, _>>()?;
        Ok(Chunk { digits, count: batch.count, equal: Vec::new() })
    }

    /// Returns a digit that is the same in all rows, for each rank.
    fn known(&self, chunks: &[Chunk], place: usize, value: i64) -> Result<Vec<Digit>, IntegerError> {
        let integers = self.rows.integers;
        let digit = chunks.first().and_then(|chunk| chunk.digits.get(place));
        let digit = digit.map(|digit| integers.raised(integers.times(digit, 0)?, value)).transpose()?;
        Ok(digit.into_iter().cycle().take(self.ranks.len()).collect())
    }

    /// Returns 1 in all rows of a batch.
    fn all_rows(&self, chunk: &Chunk) -> Result<Digit, IntegerError> {
        let Some(digit) = chunk.digits.first() else { return Err(IntegerError::results(1, 0)) };
        let zero = self.rows.integers.times(digit, 0)?;
        self.rows.plus_clear(&zero, &|slot| i64::from(slot < chunk.count))
    }

    /// Returns the next digit from the top of the integer of each rank, in every slot, and keeps which rows are equal to it.
    fn next_digits(
        &self,
        chunks: &mut [Chunk],
        place: usize,
        span: Span,
        base: &mut Option<Vec<Digit>>,
        to_come: bool,
    ) -> Result<Vec<Digit>, IntegerError> {
        let (rows, integers) = (self.rows, self.rows.integers);
        let spread: Vec<Digit> =
            chunks.iter().map(|chunk| self.spread(chunk, place)).collect::<Result<_, _>>()?;
        let counts = self.counts(chunks, &spread, place, span)?;
        let Compared { fewer, missing } = self.compared(&counts, base.as_deref(), span)?;
        // In the first slot of a rank, 1 for t = −1 and 1 for each t below its digit.
        let gathered = integers.within(rows.window(&fewer, BASE as usize, 1)?, [0, BASE])?;
        let everywhere = |rank: usize| {
            let own = rows.masked(&gathered, &|slot| i64::from(slot == self.places.slot(rank)))?;
            let own = own.window(&rows, rows.capacity(), 1)?.settled(&rows, 1);
            let own = integers.within(own, [1, 1 + span.most - span.least])?;
            integers.raised(own, span.least - 1)
        };
        let found: Vec<Digit> = (0..self.ranks.len()).map(everywhere).collect::<Result<_, _>>()?;
        if to_come {
            *base = Some(self.selected(&fewer, &missing)?);
            let of_group = |group: usize| match found.get(group) {
                // One rank is a group.
                Some(found) if self.places.blocks == 1 => Ok(found.clone()),
                _ => self.in_blocks(&gathered, group, span.least),
            };
            let found: Vec<Digit> = (0..self.places.groups).map(of_group).collect::<Result<_, _>>()?;
            for (chunk, digit) in chunks.iter_mut().zip(&spread) {
                chunk.equal = self.still_equal(chunk, digit, &found)?;
            }
        }
        Ok(found)
    }

    /// Returns a digit of the rows in the blocks of all ranks.
    fn spread(&self, chunk: &Chunk, place: usize) -> Result<Digit, IntegerError> {
        let Some(digit) = chunk.digits.get(place) else { return Err(IntegerError::results(place + 1, 0)) };
        if self.places.blocks == 1 {
            return Ok(digit.clone());
        }
        let own = self.rows.masked(digit, &|slot| i64::from(slot < chunk.count))?;
        let own = own.window(&self.rows, self.places.blocks, -(self.places.rows as i64))?;
        self.rows.integers.within(own.settled(&self.rows, 1), [0, BASE - 1])
    }

    /// Returns how many equal rows have a digit up to t, t from the least digit on, in the slots after the first one of each rank, and numbers up to that of all rows in
    /// other slots: columns that make up the counts.
    fn counts(
        &self,
        chunks: &[Chunk],
        spread: &[Digit],
        place: usize,
        span: Span,
    ) -> Result<Vec<Digit>, IntegerError> {
        let (rows, Places { blocks, groups, .. }) = (self.rows, self.places);
        let first = chunks.iter().all(|chunk| chunk.equal.is_empty());
        let mut sum: Option<Masked> = None;
        for group in (0..if first { 1 } else { groups }).rev() {
            let mut up_to: Vec<Digit> = Vec::new();
            for (chunk, digit) in chunks.iter().zip(spread) {
                let next = self.up_to(chunk, digit, place, group, span)?;
                up_to = match up_to.is_empty() {
                    true => next,
                    false => {
                        let sums = up_to.iter().zip(&next).map(|(a, b)| rows.integers.plus(a, b));
                        sums.collect::<Result<_, _>>()?
                    }
                };
            }
            let own = self.side_by_side(&up_to, if first { 1 } else { blocks })?;
            sum = Some(match sum {
                None => own,
                Some(sum) => own.beside(sum.turned(&rows, -(SPACING as i64))?, &rows)?,
            });
        }
        let mut sum = sum.ok_or_else(|| IntegerError::results(groups, 0))?;
        if first {
            // All ranks have the same counts.
            sum = sum.window(&rows, groups.next_power_of_two(), -(SPACING as i64))?;
        }
        let copies = if first { blocks } else { 1 };
        self.summed(sum, copies, (self.places.folded() * chunks.len()) as i64)
    }

    /// Adds counts up to `most` over the windows of each block, and copies those of the first block.
    fn summed(&self, counts: Masked, copies: usize, most: i64) -> Result<Vec<Digit>, IntegerError> {
        let (rows, block, folded) = (self.rows, self.places.rows, self.places.folded());
        let windows = block / folded;
        if self.total <= self.counted {
            let sum = counts.window(&rows, windows, folded as i64)?;
            let sum = sum.window(&rows, copies, -(block as i64))?.settled(&rows, windows);
            return Ok(vec![rows.integers.within(sum, [0, self.total as i64])?]);
        }
        // The sums of each digit are a column of the counts.
        let counts = rows.integers.within(counts.settled(&rows, 1), [0, most])?;
        let zero = rows.integers.times(&counts, 0)?;
        let mut columns = vec![counts];
        columns.resize(digits_of(most as usize), zero);
        let digits = rows.integers.digits_of_columns(&columns, rows.capacity(), false)?;
        let column = |digit: &Digit| {
            let sum = rows.window(digit, windows, folded as i64)?;
            let sum = rows.window(&sum, copies, -(block as i64))?;
            rows.integers.within(sum, [0, (BASE - 1) * windows as i64])
        };
        digits.iter().map(column).collect()
    }

    /// Returns which rows are equal so far and have a digit up to t, 1 or 0, for each t below the greatest digit.
    fn up_to(
        &self,
        chunk: &Chunk,
        digit: &Digit,
        place: usize,
        group: usize,
        span: Span,
    ) -> Result<Vec<Digit>, IntegerError> {
        let (rows, integers) = (self.rows, self.rows.integers);
        // The greatest digit for rows that are not equal: they are counted for no t.
        let top = BASE - 1;
        let less = match (chunk.equal.get(group), chunk.digits.get(place)) {
            (Some(equal), _) => {
                integers.product(equal, &integers.raised(digit.clone(), -top)?, rows.capacity())?
            }
            (None, Some(digit)) => {
                let own = integers.raised(digit.clone(), -top)?;
                rows.masked(&own, &|slot| i64::from(slot < chunk.count))?.settled(&rows, 1)
            }
            (None, None) => return Err(IntegerError::results(place + 1, 0)),
        };
        let marked = integers.within(integers.raised(less, top)?, [0, top])?;
        let tests: Vec<_> = (span.least..span.most).map(|t| move |m: i64| i64::from(m <= t)).collect();
        let tests: Vec<&dyn Fn(i64) -> i64> = tests.iter().map(|f| f as &dyn Fn(i64) -> i64).collect();
        integers.look_up(&marked, rows.capacity(), &tests)
    }

    /// Adds rows in windows of F slots, and brings the sums of the i-th digit to slot i + 1 of each window.
    fn side_by_side(&self, digits: &[Digit], blocks: usize) -> Result<Masked, IntegerError> {
        let (rows, folded) = (self.rows, self.places.folded());
        let mut sum: Option<Masked> = None;
        for digit in digits.iter().rev() {
            let own = rows.window(digit, folded, 1)?;
            let first = |slot: usize| slot.is_multiple_of(folded) && slot < blocks * self.places.rows;
            let own = rows.masked(&own, &|slot| i64::from(first(slot)))?;
            sum = Some(match sum {
                None => own,
                Some(sum) => own.beside(sum.turned(&rows, -1)?, &rows)?,
            });
        }
        sum.ok_or_else(|| IntegerError::results(1, 0))?.turned(&rows, -1)
    }

    /// Returns whether a slot is in the block of a rank of a group.
    fn holds(&self, slot: usize, group: usize) -> bool {
        let Places { rows, blocks, .. } = self.places;
        slot / rows < blocks && group * blocks + slot / rows < self.ranks.len()
    }

    /// Returns the rank whose counts a slot belongs to.
    fn count_at(&self, slot: usize, span: Span) -> Option<usize> {
        let Places { rows, blocks, .. } = self.places;
        let (block, within) = (slot / rows, slot % rows);
        let (group, at) = (within / SPACING, within % SPACING);
        let rank = group * blocks + block;
        (block < blocks && at as i64 <= span.most - span.least && rank < self.ranks.len()).then_some(rank)
    }

    /// Compares counts + b with 0.
    fn compared(
        &self,
        counts: &[Digit],
        base: Option<&[Digit]>,
        span: Span,
    ) -> Result<Compared, IntegerError> {
        let (rows, integers) = (self.rows, self.rows.integers);
        let most = self.ranks.iter().copied().max().unwrap_or(0) as i64 + 1;
        let clear = |slot: usize| match (self.count_at(slot, span), base) {
            (Some(rank), None) => -(self.ranks.get(rank).copied().unwrap_or(0) as i64 + 1),
            (Some(_), Some(_)) => 0,
            // Not negative, whatever b is there.
            (None, _) => most,
        };
        let Some(first) = counts.first() else { return Err(IntegerError::results(1, 0)) };
        let zero = integers.times(first, 0)?;
        // Column k of counts + b, with digit k of what is clear, or all that is left of it at the top.
        let column = |k: usize, top: bool| {
            let part = |slot: usize| {
                let left = clear(slot) / (1 << (DIGIT_BITS * k as u32));
                if top { left } else { left % BASE }
            };
            let own = rows.plus_clear(counts.get(k).unwrap_or(&zero), &part)?;
            match base.and_then(|base| base.get(k)) {
                Some(base) => integers.plus(&own, base),
                None => Ok(own),
            }
        };
        let mut range = [-most, self.total as i64 + most];
        let mut carries = Carries::new(integers, rows.capacity());
        let mut missing = Vec::new();
        while range[1] - range[0] >= BASE {
            missing.push(carries.next_digit(&column(missing.len(), false)?)?);
            range = carry_range(range);
        }
        let top = column(missing.len(), true)?;
        let negative = |m: i64| m >= BASE + range[0];
        let fewer: &dyn Fn(i64) -> i64 = &|m| i64::from(negative(m));
        let least: &dyn Fn(i64) -> i64 = &|m| if negative(m) { m - BASE } else { 0 };
        let mut top = carries.look_up(&top, &[fewer, least])?;
        missing.extend(top.pop());
        let fewer = top.pop().ok_or_else(|| IntegerError::results(2, 0))?;
        Ok(Compared { fewer, missing })
    }

    /// Returns the digits of the last count + b that is negative, in the slots of all counts of its rank.
    fn selected(&self, fewer: &Digit, missing: &[Digit]) -> Result<Vec<Digit>, IntegerError> {
        let (rows, integers) = (self.rows, self.rows.integers);
        // One in the slot before the first count, where the difference would be −1.
        let firsts: Vec<usize> = (0..self.ranks.len()).map(|rank| self.places.slot(rank)).collect();
        let before = |slot: usize| firsts.contains(&((slot + 1) % rows.capacity()));
        let own = rows.plus_clear(fewer, &|slot| i64::from(before(slot)))?;
        let last = integers.within(integers.minus(&own, &rows.rotated(fewer, 1)?)?, [0, 1])?;
        let products = integers.products(&last, missing, rows.capacity())?;
        let all = |(product, digit): (&Digit, &Digit)| {
            let sum = rows.rotated(&rows.window(product, 2 * BASE as usize, 1)?, -BASE)?;
            // One of them counts.
            integers.within(sum, [digit.range[0].min(0), digit.range[1].max(0)])
        };
        products.iter().zip(missing).map(all).collect()
    }

    /// Returns the digits that were found for the ranks of a group, in the slots of their rows.
    fn in_blocks(&self, gathered: &Digit, group: usize, least: i64) -> Result<Digit, IntegerError> {
        let (rows, Places { blocks, rows: block, .. }) = (self.rows, self.places);
        let first = |slot: usize| slot / block < blocks && slot % block == group * SPACING;
        let own = rows.masked(gathered, &|slot| i64::from(first(slot)))?;
        let own = own.turned(&rows, (group * SPACING) as i64)?.window(&rows, block, -1)?.settled(&rows, 1);
        rows.integers.raised(rows.integers.within(own, [0, BASE])?, least - 1)
    }

    /// Returns which rows stay equal, for each group: those that were, and have the digit that was found.
    fn still_equal(&self, chunk: &Chunk, digit: &Digit, found: &[Digit]) -> Result<Vec<Digit>, IntegerError> {
        let (rows, integers) = (self.rows, self.rows.integers);
        let middle = BASE / 2;
        let equal = |(group, found): (usize, &Digit)| {
            let apart = integers.raised(integers.minus(digit, found)?, -middle)?;
            let own = match chunk.equal.get(group) {
                Some(equal) => integers.product(equal, &apart, rows.capacity())?,
                None => {
                    let own = |slot: usize| self.holds(slot, group) && slot % self.places.rows < chunk.count;
                    rows.masked(&apart, &|slot| i64::from(own(slot)))?.settled(&rows, 1)
                }
            };
            // 8 for rows that were not equal, and no other multiple of 16 than 0 for those that were.
            let own = integers.within(integers.raised(own, middle)?, [1 - BASE, BASE - 1])?;
            rows.look_up_one(&own, |m| i64::from(m == 0))
        };
        found.iter().enumerate().map(equal).collect()
    }
}

/// Returns the values that a digit may have by the bounds of all batches, if all digits above are known.
fn span(batches: &[Integers], place: usize) -> Span {
    let mut ends = batches.iter().flat_map(|batch| batch.bounds);
    let first = ends.next().unwrap_or(0);
    let [low, high] = ends.fold([first; 2], |[low, high], end| [low.min(end), high.max(end)]);
    let least = batches.first().map_or(0, |batch| batch.kind.digit_range(place)[0]);
    let shift = DIGIT_BITS * place as u32;
    let [low, high] = [low, high].map(|end| end >> shift);
    let digit = |end: i128| (end - i128::from(least)).rem_euclid(i128::from(BASE)) as i64;
    if high - low < i128::from(BASE) && digit(low) <= digit(high) {
        return Span { least: digit(low), most: digit(high) };
    }
    Span { least: 0, most: BASE - 1 }
}
