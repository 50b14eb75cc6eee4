//! Functions of order and choice: extremes, quantiles, ranks, and one of two numbers by a condition.

use std::ops::Range;

use super::compile::{Compiler, Value, wrong};
use super::error::Wrong;
use super::needs::Rows;
use super::syntax::Tree;
use crate::language::Builtin;
use crate::{Decimal, Formula, NodeId, ProgramError};

/// Largest number of rows that `top` lists: each has look-ups and a result of its own.
const MOST_LISTED: i128 = 64;

impl Compiler<'_> {
    /// Returns one of two numbers in every row: x where the condition is 1, and y where it is 0.
    pub(super) fn choice(
        &mut self,
        [condition, x, y]: [&Tree; 3],
        span: &Range<usize>,
    ) -> Result<Value, Wrong> {
        let condition_rows = self.argument(condition)?;
        if !self.is_of_conditions(condition_rows.id) {
            let message = "the first argument of `where` is a comparison, which holds or not";
            let help = "write for example where(age > 65, cost, 0)";
            return Err(Wrong::at(&condition.span, message).with_help(help));
        }
        let (x, y) = (self.argument(x)?, self.argument(y)?);
        self.chosen(&condition_rows, &x, &y).map(Value::Rows).map_err(|error| wrong(span, &error))
    }

    /// Returns y + c·(x − y).
    fn chosen(&mut self, condition: &Rows, x: &Rows, y: &Rows) -> Result<Rows, ProgramError> {
        let difference = self.graph.sub(x.id, y.id)?;
        let share = self.graph.multiply(condition.id, difference)?;
        let id = self.graph.add(y.id, share)?;
        let needs = condition.joint(x).union(&y.needs).copied().collect();
        Ok(Rows { id, needs })
    }

    /// Returns the greater or the lesser of two numbers in every row.
    pub(super) fn extreme_of_two(
        &mut self,
        greatest: bool,
        [x, y]: [&Tree; 2],
        span: &Range<usize>,
    ) -> Result<Value, Wrong> {
        let (x, y) = (self.argument(x)?, self.argument(y)?);
        let made = (|| {
            let difference = self.graph.sub(x.id, y.id)?;
            let difference = Rows { id: difference, needs: x.joint(&y) };
            let of = self.filled(&difference)?;
            let above = Rows::everywhere(self.graph.positive(of, false)?);
            if greatest { self.chosen(&above, &x, &y) } else { self.chosen(&above, &y, &x) }
        })();
        made.map(Value::Rows).map_err(|error| wrong(span, &error))
    }

    /// Returns the greatest or the least number of the rows of the current group in which x is not missing.
    pub(super) fn extreme(&mut self, greatest: bool, x: &Rows) -> Result<Formula, ProgramError> {
        let place = if greatest { self.schema.rows.saturating_sub(1) } else { 0 };
        let there = self.indicator_of(&x.needs)?;
        let there = match (there, self.group) {
            (Some(there), Some(group)) => Some(self.graph.multiply(group, there)?),
            (there, group) => there.or(group),
        };
        let Some(there) = there else { return Ok(Formula::Total(self.graph.kth(x.id, place)?)) };
        // Other rows get the number at the far end of the range, which is not chosen unless there are no rows: a count of 0 then divides.
        let [low, high] = self.ends(x.id)?;
        let far = if greatest { low } else { high };
        let own =
            self.graph.linear(&[(x.id, Decimal::ONE)], far.checked_neg().ok_or(ProgramError::Digits)?)?;
        let own = self.graph.multiply(there, own)?;
        let filled = self.graph.linear(&[(own, Decimal::ONE)], far)?;
        let count = Formula::Total(there);
        Ok(Formula::Total(self.graph.kth(filled, place)?).multiply(count.clone()).divide(count))
    }

    /// Returns the least and the largest value that a node may have.
    fn ends(&mut self, id: NodeId) -> Result<[Decimal; 2], ProgramError> {
        let grid = self.facts(id).and_then(|facts| facts.grid);
        let ends = grid.map(|grid| [grid.low, grid.high].map(|units| Decimal::new(units, grid.decimals)));
        match ends {
            Some([Some(low), Some(high)]) => Ok([low, high]),
            _ => Err(ProgramError::Invalid(
                "order is that of whole and decimal numbers: declare the decimals of real columns".to_owned(),
            )),
        }
    }

    /// Returns what functions of the order of one column give.
    pub(super) fn ordered(
        &mut self,
        builtin: Builtin,
        x: &Tree,
        constant: Option<&Tree>,
        span: &Range<usize>,
    ) -> Result<Value, Wrong> {
        let own = self.argument(x)?;
        if matches!(builtin, Builtin::Maximum | Builtin::Minimum) {
            let extreme = self.extreme(builtin == Builtin::Maximum, &own);
            return extreme.map(Value::Total).map_err(|error| wrong(span, &error));
        }
        if !own.needs.is_empty() || self.group.is_some() {
            let message = "order is that of all rows: here not of columns with missing cells, nor in groups, whose numbers of rows are encrypted";
            let help = "max and min take both; count(x <= 50) by region counts the rows up to a number";
            return Err(Wrong::at(&x.span, message).with_help(help));
        }
        let failed = |error: ProgramError| wrong(span, &error);
        match (builtin, constant) {
            (Builtin::Sort, _) => {
                self.graph.sorted(own.id, false).map(|id| Value::Rows(own.at(id))).map_err(failed)
            }
            (Builtin::Rank, _) => {
                let rank = self.graph.rank(own.id, false);
                let rank = rank.and_then(|rank| self.graph.linear(&[(rank, Decimal::ONE)], Decimal::ONE));
                rank.map(|id| Value::Rows(own.at(id))).map_err(failed)
            }
            (Builtin::Quantile, Some(q)) => {
                let share = self.constant(q)?;
                self.quantile(own.id, share, &q.span)
            }
            (Builtin::Top, Some(k)) => {
                let count = self.constant(k)?;
                self.top(own.id, count, &k.span)
            }
            _ => {
                let half = Decimal::new(5, 1).ok_or_else(|| failed(ProgramError::Digits))?;
                self.quantile(own.id, half, span)
            }
        }
    }

    /// Returns the number that a share q of the rows come before: between two of them in proportion.
    fn quantile(&mut self, x: NodeId, q: Decimal, span: &Range<usize>) -> Result<Value, Wrong> {
        let unit = 10_i128.checked_pow(q.decimals());
        let steps = q.mantissa().checked_mul(i128::from(self.schema.rows) - 1);
        let (Some(unit), Some(steps)) = (unit, steps) else {
            return Err(Wrong::at(span, "this share has too many digits"));
        };
        if !(0..=unit).contains(&q.mantissa()) {
            let help = "0 is the least number, 0.5 the median and 1 the greatest";
            return Err(Wrong::at(span, "a quantile has a share of the rows, from 0 to 1").with_help(help));
        }
        let failed = |error: ProgramError| wrong(span, &error);
        let (place, rest) = (steps.div_euclid(unit) as u64, steps.rem_euclid(unit));
        let below = Formula::Total(self.graph.kth(x, place).map_err(failed)?);
        if rest == 0 {
            return Ok(Value::Total(below));
        }
        let above = Formula::Total(self.graph.kth(x, place + 1).map_err(failed)?);
        let share = Decimal::new(rest, q.decimals()).ok_or_else(|| failed(ProgramError::Digits))?;
        let part = above.sub(below.clone()).multiply(Formula::Number(share));
        Ok(Value::Total(below.add(part)))
    }

    /// Returns the greatest numbers, the greatest one first.
    fn top(&mut self, x: NodeId, count: Decimal, span: &Range<usize>) -> Result<Value, Wrong> {
        let rows = self.schema.rows;
        let most = MOST_LISTED.min(rows.into());
        let count = count.scaled(0).filter(|count| (1..=most).contains(count));
        let Some(count) = count else {
            return Err(Wrong::at(span, format!("`top` lists a whole number of rows from 1 to {most}")));
        };
        let places = (1..=count as u64).map(|k| self.graph.kth(x, rows - k).map(Formula::Total));
        places.collect::<Result<_, _>>().map(Value::Places).map_err(|error| wrong(span, &error))
    }
}
