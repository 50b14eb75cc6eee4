//! Operations of nodes row by row on encrypted integers.

use sunzi_circuits::integers::{ClearIntegers, Conditions, IntegerError, Integers};

use super::{Clear, IntegerBackend, Value, broken, end_of, kind_above, scheme, wide};
use crate::analysis::{linear_units, polynomial_units};
use crate::contexts::kind_holding;
use crate::{Decimal, Node, NodeId, ProgramError};

/// Largest number of values of an operand whose polynomial is a table: by two look-ups.
const MOST_TABLED: i128 = 256;

impl IntegerBackend<'_> {
    /// Computes a node of which an operand is encrypted.
    pub(super) fn encrypted(
        &self,
        id: NodeId,
        node: &Node,
        operands: &[&Value],
    ) -> Result<Value, ProgramError> {
        let range = self.range(id)?;
        let first = || operands.first().copied().ok_or_else(broken);
        match node {
            Node::Linear { terms, constant } => self.linear(terms, *constant, operands, range),
            Node::Product(a, b) => match operands {
                [Value::Clear(clear), value] => self.clear_product(value, (*a, clear), range),
                [value, Value::Clear(clear)] => self.clear_product(value, (*b, clear), range),
                [a, b] => self.product([a, b], range),
                _ => Err(broken()),
            },
            Node::Polynomial { of, coefficients } => self.polynomial((*of, first()?), coefficients, range),
            Node::Positive { or_zero, .. } => {
                let compared =
                    self.compared(&self.integers(first()?)?, *or_zero, self.equalities.contains(&id));
                compared.map(Value::Conditions).map_err(scheme)
            }
            Node::LookUp { first: least, values, .. } => {
                let entries = entries(values).ok_or_else(wide)?;
                let entry = |x: i128| {
                    let at = usize::try_from(x - i128::from(*least)).ok();
                    at.and_then(|at| entries.get(at)).copied().unwrap_or(0)
                };
                self.table(&self.integers(first()?)?, range, entry)
            }
            Node::Kth { .. } | Node::Sorted { .. } | Node::Rank { .. } => {
                self.ordered(id, node, &self.integers(first()?)?).map(Value::Integers)
            }
            Node::Column(_) | Node::Indicator { .. } | Node::Apply { .. } => Err(broken()),
        }
    }

    /// Returns whether integers are above 0, or not below it. Where only the difference of both is used, it is whether they are 0, and nowhere.
    fn compared(&self, a: &Integers, or_zero: bool, only_equality: bool) -> Result<Conditions, IntegerError> {
        let e = &self.evaluator;
        match (only_equality, or_zero) {
            (true, true) => e.equal_to_clear(a, 0),
            // No look-up decides what no bounds reach.
            (true, false) => e.less_than_clear(a, end_of(a, 0)),
            (false, _) => e.not(&e.less_than_clear(a, i128::from(!or_zero))?),
        }
    }

    /// Returns conditions for integers that are known to be 0 or 1, and integers otherwise.
    fn valued(&self, a: Integers, range: [i128; 2]) -> Result<Value, ProgramError> {
        if range == [0, 1] {
            return self.evaluator.conditions_of(&a).map(Value::Conditions).map_err(scheme);
        }
        Ok(Value::Integers(a))
    }

    fn linear(
        &self,
        terms: &[(NodeId, Decimal)],
        constant: Decimal,
        operands: &[&Value],
        range: [i128; 2],
    ) -> Result<Value, ProgramError> {
        let pairs = terms.iter().map(|&(of, c)| Ok((c, self.exact(of)?.decimals)));
        let pairs: Vec<(Decimal, u32)> = pairs.collect::<Result<_, ProgramError>>()?;
        let (_, factors, constant) = linear_units(&pairs, constant).ok_or_else(wide)?;
        let mut known = Known::new(self.span(), constant);
        let mut own: Vec<(i128, Integers)> = Vec::new();
        for ((&factor, value), &(of, _)) in factors.iter().zip(operands).zip(terms) {
            match value {
                Value::Clear(Clear::Units(units)) => known.plus(factor, units, self.range(of)?)?,
                Value::Clear(Clear::Reals(_)) => return Err(broken()),
                value => own.push((factor, self.integers(value)?)),
            }
        }
        let [low, high] = known.bounds;
        let digits = own.iter().map(|(factor, a)| a.kind().digits() + digits_of(*factor).saturating_sub(1));
        let kind = kind_above(range, digits.max().unwrap_or(1).min(16), [low, high])?;
        let terms: Vec<(i128, &Integers)> = own.iter().map(|(factor, a)| (*factor, a)).collect();
        let sum = if low == high {
            self.evaluator.linear_combination(&terms, low, kind, range)
        } else {
            let clear = ClearIntegers::new(&known.units, known.bounds).map_err(scheme)?;
            self.evaluator.linear_combination_plus(&terms, &clear, kind, range)
        };
        self.valued(sum.map_err(scheme)?, range)
    }

    /// Multiplies by a node that the server knows: by plaintexts.
    fn clear_product(
        &self,
        value: &Value,
        (of, clear): (NodeId, &Clear),
        range: [i128; 2],
    ) -> Result<Value, ProgramError> {
        let Clear::Units(units) = clear else { return Err(broken()) };
        let clear = ClearIntegers::new(units, self.range(of)?).map_err(scheme)?;
        if let (Value::Conditions(condition), [0 | 1, 0 | 1]) = (value, clear.bounds()) {
            return self.evaluator.and_each(condition, &clear).map(Value::Conditions).map_err(scheme);
        }
        let a = self.integers(value)?;
        let kind = kind_above(range, a.kind().digits(), [])?;
        self.valued(self.evaluator.multiply_each(&a, &clear, kind, range).map_err(scheme)?, range)
    }

    fn product(&self, operands: [&Value; 2], range: [i128; 2]) -> Result<Value, ProgramError> {
        let e = &self.evaluator;
        match operands {
            [Value::Conditions(a), Value::Conditions(b)] => {
                e.and(a, b).map(Value::Conditions).map_err(scheme)
            }
            [Value::Conditions(condition), Value::Integers(a)]
            | [Value::Integers(a), Value::Conditions(condition)] => {
                self.masked(condition, a, range).map(Value::Integers)
            }
            [Value::Integers(a), Value::Integers(b)] => {
                let kind = kind_above(range, a.kind().digits().max(b.kind().digits()), [])?;
                let wider = |a: &Integers| e.linear_combination(&[(1, a)], 0, kind, a.bounds());
                let product = e.multiply(&wider(a).map_err(scheme)?, &wider(b).map_err(scheme)?);
                product.and_then(|product| product.within(range)).map(Value::Integers).map_err(scheme)
            }
            _ => Err(broken()),
        }
    }

    /// Returns integers where a condition holds, else 0.
    pub(super) fn masked(
        &self,
        condition: &Conditions,
        a: &Integers,
        range: [i128; 2],
    ) -> Result<Integers, ProgramError> {
        let masked = self.evaluator.masked(condition, a).map_err(scheme)?;
        let own = [end_of(&masked, 0).max(range[0]), end_of(&masked, 1).min(range[1])];
        // Both bounds hold.
        let masked = masked.within(own).map_err(scheme)?;
        let kind = kind_above(range, masked.kind().digits(), [])?;
        if kind == masked.kind() {
            return masked.within(range).map_err(scheme);
        }
        self.evaluator.linear_combination(&[(1, &masked)], 0, kind, range).map_err(scheme)
    }

    fn polynomial(
        &self,
        (of, value): (NodeId, &Value),
        coefficients: &[Decimal],
        range: [i128; 2],
    ) -> Result<Value, ProgramError> {
        let (_, factors) = polynomial_units(coefficients, self.exact(of)?.decimals).ok_or_else(wide)?;
        let x = self.integers(value)?;
        if end_of(&x, 1) - end_of(&x, 0) < MOST_TABLED {
            let at =
                |x: i128| factors.iter().rev().fold(0_i128, |sum, c| sum.wrapping_mul(x).wrapping_add(*c));
            return self.table(&x, range, at);
        }
        let e = &self.evaluator;
        let kind = kind_above(range, x.kind().digits(), [])?;
        let wrapped = |c: i128| kind.wrapped(c);
        let x = e.linear_combination(&[(1, &x)], 0, kind, x.bounds()).map_err(scheme)?;
        let mut left = factors.iter().rev().copied();
        let (top, next) = (left.next().unwrap_or(0), left.next().unwrap_or(0));
        // All modulo 2^bits, which the result does not reach.
        let mut sum =
            e.linear_combination(&[(wrapped(top), &x)], wrapped(next), kind, kind.range()).map_err(scheme)?;
        for c in left {
            sum =
                e.multiply(&sum, &x).and_then(|product| e.add_clear(&product, wrapped(c))).map_err(scheme)?;
        }
        sum.within(range).map(Value::Integers).map_err(scheme)
    }

    fn table(
        &self,
        a: &Integers,
        range: [i128; 2],
        entry: impl Fn(i128) -> i128,
    ) -> Result<Value, ProgramError> {
        let kind = kind_holding(range).ok_or_else(wide)?;
        let found = self.evaluator.table(a, kind, entry).and_then(|found| found.within(range));
        self.valued(found.map_err(scheme)?, range)
    }

    /// Returns clear numbers as a batch beside an encrypted one.
    pub(super) fn batch(&self, like: &Integers, units: &[i128]) -> Result<Integers, ProgramError> {
        let (low, high) =
            (units.iter().copied().min().unwrap_or(0), units.iter().copied().max().unwrap_or(0));
        let kind = kind_holding([low.min(0), high.max(0)]).ok_or_else(wide)?;
        self.evaluator.clear_batch(like, kind, units).map_err(scheme)
    }
}

/// Sum of multiples of clear numbers, in all slots that a chunk fills, with bounds that follow from the program alone.
struct Known {
    units: Vec<i128>,
    bounds: [i128; 2],
}

impl Known {
    fn new(count: usize, constant: i128) -> Self {
        Self { units: vec![constant; count], bounds: [constant; 2] }
    }

    /// Adds a multiple of numbers of a range.
    fn plus(&mut self, factor: i128, units: &[i128], range: [i128; 2]) -> Result<(), ProgramError> {
        let [Some(a), Some(b)] = range.map(|end| end.checked_mul(factor)) else { return Err(wide()) };
        let [low, high] = self.bounds;
        let bounds = [low.checked_add(a.min(b)), high.checked_add(a.max(b))];
        let [Some(low), Some(high)] = bounds else { return Err(wide()) };
        self.bounds = [low, high];
        for (sum, unit) in self.units.iter_mut().zip(units) {
            *sum = factor.checked_mul(*unit).and_then(|own| sum.checked_add(own)).ok_or_else(wide)?;
        }
        Ok(())
    }
}

/// Number of digits of 4 bits, from −8 to 7, of a factor.
fn digits_of(factor: i128) -> usize {
    (0..16).find(|digits| factor.unsigned_abs() <= 7 << (4 * digits)).map_or(17, |digits| digits + 1)
}

/// Returns the entries of a table in units of the last decimal.
fn entries(values: &[Decimal]) -> Option<Vec<i128>> {
    let decimals = values.iter().map(|value| value.decimals()).max()?;
    values.iter().map(|value| value.scaled(decimals)).collect()
}
