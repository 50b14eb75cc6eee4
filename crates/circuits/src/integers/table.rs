//! Any function of integers of up to 12 bits, by a table: of digits first, and of integers by a tree over their digits `[GBA21]`.
//!
//! With 1 where digit k is v and 0 elsewhere, for all v by one look-up, f is Σ_a \[d_2 = a\]·Σ_b \[d_1 = b\]·Σ_c f(a, b, c)·\[d_0 = c\]: the innermost sums are linear, and
//! each digit above takes one product, whose terms are relinearised together.
//!
//! Of sixteen terms of a product one counts, so that the noise of one result below reaches the sum, beside that of all sixteen factors. A bound that does not know which are
//! 0 would count sixteen: products are computed as if factors had no noise, and what they have is added.

use super::carry::Carries;
use super::evaluator::UNIT;
use super::integer::Digit;
use super::kind::{BASE, DIGIT_BITS};
use super::product::Parts;
use super::{IntegerError, IntegerEvaluator, IntegerKind, Integers};

/// Most digits that a tree takes: each above the first costs a level.
const MOST_DIGITS: usize = 3;

impl IntegerEvaluator<'_> {
    /// Returns f(x) for every integer x, modulo 2^bits of the kind `to`. The bounds of the integers say for which x the function is asked, at most 4 096 of them.
    ///
    /// Integers of 4 bits take one look-up, of 8 bits two, of 12 bits three and one more for each digit of results.
    ///
    /// # Errors
    /// [`IntegerError::Operand`] for bounds with more than 4 096 integers; [`IntegerError::Bootstrap`] for keys of another secret.
    pub fn table(
        &self,
        a: &Integers,
        to: IntegerKind,
        f: impl Fn(i128) -> i128,
    ) -> Result<Integers, IntegerError> {
        let [low, high] = a.bounds;
        let most = BASE.pow(MOST_DIGITS as u32);
        let size = high - low + 1;
        if size > i128::from(most) {
            let expected = format!("at most {most}: declare tighter bounds when encrypting");
            return Err(IntegerError::Operand {
                what: "the number of integers in the bounds",
                got: size,
                expected,
            });
        }
        let values: Vec<i128> = (low..=high).map(|x| to.wrapped(f(x))).collect();
        let least = values.iter().copied().min().unwrap_or(0);
        let bounds = [least, values.iter().copied().max().unwrap_or(0)];
        let digits: Vec<Vec<i64>> = values.iter().map(|value| to.digits_of(*value).collect()).collect();
        let entry = |v: usize, k: usize| digits.get(v).and_then(|digits| digits.get(k)).copied().unwrap_or(0);
        let moved = self.moved(&self.settled(a)?, -low)?;
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
                let tree = Tree::new(self, &moved, count)?;
                (0..to.digits())
                    .map(|k| tree.digit(&|v| entry(v, k), to.digit_range(k)))
                    .collect::<Result<_, _>>()?
            }
        };
        Ok(Integers { kind: to, count: a.count, digits, bounds, exact: true })
    }
}

/// Digits of integers as 1 in one of sixteen ciphertexts each.
struct Tree<'a> {
    evaluator: &'a IntegerEvaluator<'a>,
    count: usize,
    /// Whether the lowest digit is v, for every v.
    lowest: Vec<Digit>,
    /// Whether each digit above the lowest is v, for every v, as parts of slots without noise, and the noise of their numbers.
    above: Vec<(Vec<Parts>, f64)>,
}

impl<'a> Tree<'a> {
    fn new(evaluator: &'a IntegerEvaluator<'a>, a: &Integers, digits: usize) -> Result<Self, IntegerError> {
        let is: Vec<_> = (0..BASE).map(|v| move |m: i64| i64::from(m == v)).collect();
        let own: &dyn Fn(i64) -> i64 = &|m| m;
        let functions: Vec<&dyn Fn(i64) -> i64> =
            std::iter::once(own).chain(is.iter().map(|f| f as &dyn Fn(i64) -> i64)).collect();
        let mut carries = Carries::new(*evaluator, a.count);
        let (mut lowest, mut above) = (Vec::new(), Vec::new());
        for (k, digit) in a.digits.iter().take(digits).enumerate() {
            let is = carries.look_up(digit, &functions)?.split_off(1);
            if k == 0 {
                lowest = is;
            } else {
                let noise = is.iter().map(|is| evaluator.noise(is)).fold(0.0, f64::max);
                let parts = is.iter().map(|is| evaluator.split(&is.bare(), a.count));
                above.push((parts.collect::<Result<Vec<_>, _>>()?, noise));
            }
        }
        Ok(Self { evaluator, count: a.count, lowest, above })
    }

    /// Returns one digit of all results: `entry(v)` for the integer v.
    fn digit(&self, entry: &dyn Fn(usize) -> i64, range: [i64; 2]) -> Result<Digit, IntegerError> {
        let range = [range[0].min(0), range[1].max(0)];
        let base = BASE as usize;
        let leaves = base.pow(self.above.len() as u32);
        let mut nodes: Vec<Digit> = (0..leaves)
            .map(|leaf| self.leaf(&|c| entry(leaf * base + c), range))
            .collect::<Result<_, _>>()?;
        for (is, noise) in &self.above {
            let node = |below: &[Digit]| self.node(is, *noise, below, range);
            nodes = nodes.chunks(base).map(node).collect::<Result<_, IntegerError>>()?;
        }
        let Some(root) = nodes.into_iter().next() else {
            return Err(IntegerError::Operand {
                what: "the number of digits",
                got: 0,
                expected: "at least 1".to_owned(),
            });
        };
        if root.ciphertext.metadata().level > self.evaluator.lowest_level() {
            return Ok(root);
        }
        // No level is left for carries.
        let own = |m: i64| if m > range[1] { m - BASE } else { m };
        self.evaluator.look_up_one(&root, self.count, own)
    }

    /// Returns Σ \[d = b\]·below_b, for the digit whose factors are given with their noise.
    fn node(
        &self,
        is: &[Parts],
        noise: f64,
        below: &[Digit],
        range: [i64; 2],
    ) -> Result<Digit, IntegerError> {
        let evaluator = self.evaluator;
        let parts: Vec<Parts> =
            below.iter().map(|digit| evaluator.split(&digit.bare(), self.count)).collect::<Result<_, _>>()?;
        let pairs: Vec<_> = is.iter().zip(&parts).collect();
        let sum = evaluator.within(evaluator.sum_of_products(&pairs)?, range)?;
        // (1/8 + e)·(v/8 + f) is an eighth of the number, and 1 is in one of the factors.
        let own = below.iter().map(|digit| evaluator.noise(digit)).fold(0.0, f64::max);
        let factors = below.len() as f64 * noise * (sum.reach() as f64 + own / UNIT);
        let ciphertext = evaluator.bootstrapper.with_slot_error(sum.ciphertext, own + factors);
        Ok(Digit { ciphertext, range })
    }

    /// Returns Σ entry(c)·\[d_0 = c\].
    fn leaf(&self, entry: &dyn Fn(usize) -> i64, range: [i64; 2]) -> Result<Digit, IntegerError> {
        let evaluator = self.evaluator.evaluator();
        let terms: Vec<_> =
            self.lowest.iter().enumerate().map(|(c, is)| (entry(c) as f64, &is.ciphertext)).collect();
        let level = self.lowest.iter().map(|is| is.ciphertext.metadata().level).min().unwrap_or(0);
        let scale = evaluator.context().scale(level)?;
        self.evaluator.declared(evaluator.linear_combination(&terms, level, scale)?, range)
    }
}
