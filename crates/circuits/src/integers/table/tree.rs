//! Sums over the digits of integers, each digit as 1 in one of sixteen ciphertexts.
//!
//! Of the terms of a sum one counts, so that the noise of one number below reaches it, beside that of all its factors. A bound that does not know which factors are
//! 0 would count all: products are computed as if factors and numbers had no noise, and what they have is added.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::super::carry::Carries;
use super::super::evaluator::UNIT;
use super::super::integer::Digit;
use super::super::kind::{BASE, DIGIT_BITS};
use super::super::product::Parts;
use super::super::{IntegerError, IntegerEvaluator, Integers};

/// Values of a digit.
const VALUES: usize = BASE as usize;

/// Digits of integers from 0 to `size` − 1, as 1 in one ciphertext for each value.
pub(super) struct Tree<'a> {
    evaluator: &'a IntegerEvaluator<'a>,
    count: usize,
    size: usize,
    lowest: Vec<Parts>,
    above: Vec<Factors>,
    zero: Option<Digit>,
}

/// Ciphertexts of which one is 1 and all others are 0, as if they had no noise, and the noise of their numbers.
struct Factors {
    parts: Vec<Parts>,
    noise: f64,
}

/// Numbers that factors choose from, as if they had no noise, and their noise.
struct Chosen<'f> {
    factor: Cow<'f, Parts>,
    parts: Parts,
    noise: f64,
}

/// Sum of products by factors of which one is 1, as if factors and numbers had no noise, and what these add to it.
#[derive(Default)]
struct Sum {
    digit: Option<Digit>,
    /// Noise of the number that was chosen.
    chosen: f64,
    /// Noise of all factors.
    factors: f64,
}

impl<'a> Tree<'a> {
    /// Looks the digits of integers below `size` up, two to four of them.
    pub(super) fn new(
        evaluator: &'a IntegerEvaluator<'a>,
        a: &Integers,
        digits: usize,
        size: usize,
    ) -> Result<Self, IntegerError> {
        let is: Vec<_> = (0..BASE).map(|v| move |m: i64| i64::from(m == v)).collect();
        let is: Vec<&dyn Fn(i64) -> i64> = is.iter().map(|f| f as &dyn Fn(i64) -> i64).collect();
        let own: &dyn Fn(i64) -> i64 = &|m| m;
        let functions: Vec<&dyn Fn(i64) -> i64> = std::iter::once(own).chain(is.iter().copied()).collect();
        let mut carries = Carries::new(*evaluator, a.count);
        let (mut lowest, mut above, mut zero) = (Vec::new(), Vec::new(), None);
        for (k, column) in a.digits.iter().take(digits).enumerate() {
            let is = if k + 1 < digits {
                carries.look_up(column, &functions)?.split_off(1)
            } else {
                let values = size.div_ceil(1 << (DIGIT_BITS as usize * k));
                evaluator.look_up(
                    &carries.entered(Some(column))?,
                    a.count,
                    is.get(..values).unwrap_or(&is),
                )?
            };
            let parts: Vec<Parts> =
                is.iter().map(|is| evaluator.split(is, a.count)).collect::<Result<_, _>>()?;
            if k == 0 {
                lowest = parts;
                zero = is.first().map(|is| evaluator.times(is, 0)).transpose()?;
            } else {
                above.push(Factors::new(evaluator, &parts));
            }
        }
        Ok(Self { evaluator, count: a.count, size, lowest, above, zero })
    }

    /// Returns digits of all results, the k-th of them within `ranges[k]`: `entry(v, k)` for the integer v.
    ///
    /// With leaves λ(a, b, c), linear in the lowest digit, two products in a row are Σ_c \[d_2 = c\]·Σ_b \[d_1 = b\]·λ for three digits, and for four
    /// Σ_ac (\[d_3 = a\]·\[d_2 = c\])·(Σ_b \[d_1 = b\]·λ).
    pub(super) fn digits(
        &self,
        entry: &dyn Fn(usize, usize) -> i64,
        ranges: &[[i64; 2]],
    ) -> Result<Vec<Digit>, IntegerError> {
        let mut sums: Vec<Sum> = ranges.iter().map(|_| Sum::default()).collect();
        match self.above.as_slice() {
            [low] => {
                for (k, sum) in sums.iter_mut().enumerate() {
                    sum.add(self.evaluator, low, &self.leaves(low, 0, &|v| entry(v, k))?)?;
                }
            }
            [low, middle] => self.branches(low, middle, 0, entry, &mut sums)?,
            [low, middle, top] => {
                for (a, is) in top.parts.iter().enumerate() {
                    let pairs = self.pairs((is, top.noise), middle, a * VALUES)?;
                    self.branches(low, &pairs, a * VALUES, entry, &mut sums)?;
                }
            }
            others => return Err(IntegerError::results(3, others.len())),
        }
        sums.into_iter().zip(ranges).map(|(sum, range)| self.finished(sum, *range)).collect()
    }

    /// Adds Σ_c factor_c·Σ_b \[d_1 = b\]·λ to the sum of every digit, for upper digits from `first` on.
    fn branches(
        &self,
        low: &Factors,
        factors: &Factors,
        first: usize,
        entry: &dyn Fn(usize, usize) -> i64,
        sums: &mut [Sum],
    ) -> Result<(), IntegerError> {
        for (k, sum) in sums.iter_mut().enumerate() {
            let mut chosen = Vec::new();
            for (c, factor) in factors.parts.iter().enumerate() {
                let leaves = self.leaves(low, (first + c) * VALUES, &|v| entry(v, k))?;
                if let Some((parts, noise)) = self.branch(low, &leaves)? {
                    chosen.push(Chosen { factor: Cow::Borrowed(factor), parts, noise });
                }
            }
            sum.add(self.evaluator, factors, &chosen)?;
        }
        Ok(())
    }

    /// Returns Σ_b \[d_1 = b\]·λ and its noise: `None` for 0.
    fn branch(&self, low: &Factors, leaves: &[Chosen<'_>]) -> Result<Option<(Parts, f64)>, IntegerError> {
        if leaves.is_empty() {
            return Ok(None);
        }
        let range = range_of(leaves);
        let pairs: Vec<_> = leaves.iter().map(|leaf| (&*leaf.factor, &leaf.parts)).collect();
        let parts = self.evaluator.parts_of_products(&pairs, range)?;
        let [chosen, factors] = low.noise_of(leaves, range);
        let noise = self.evaluator.noise_of_parts(&parts) + chosen + factors;
        Ok(Some((parts.bare(), noise)))
    }

    /// Returns \[d_3 = a\]·\[d_2 = c\] for one a and those c for which there are integers.
    fn pairs(
        &self,
        (is, noise): (&Parts, f64),
        middle: &Factors,
        first: usize,
    ) -> Result<Factors, IntegerError> {
        let left = self.size.div_ceil(VALUES * VALUES).saturating_sub(first);
        let product = |c: &Parts| self.evaluator.parts_of_products(&[(is, c)], [0, 1]);
        let parts: Vec<Parts> = middle.parts.iter().take(left).map(product).collect::<Result<_, _>>()?;
        let mut factors = Factors::new(self.evaluator, &parts);
        // One of both is at most 1, which is the number 1/8.
        factors.noise += noise + middle.noise + noise * middle.noise / UNIT;
        Ok(factors)
    }

    /// Returns the leaves of integers from 16·first on that are not 0, equal ones once.
    fn leaves<'f>(
        &self,
        low: &'f Factors,
        first: usize,
        entry: &dyn Fn(usize) -> i64,
    ) -> Result<Vec<Chosen<'f>>, IntegerError> {
        let mut equal: BTreeMap<Vec<i64>, Vec<&'f Parts>> = BTreeMap::new();
        for (b, factor) in low.parts.iter().enumerate() {
            let entries: Vec<i64> = (0..VALUES).map(|v| entry((first + b) * VALUES + v)).collect();
            if entries.iter().any(|entry| *entry != 0) {
                equal.entry(entries).or_default().push(factor);
            }
        }
        let leaf = |(entries, factors): (Vec<i64>, Vec<&'f Parts>)| {
            let factor = match factors.as_slice() {
                [factor] => Cow::Borrowed(*factor),
                factors => {
                    let ones: Vec<_> = factors.iter().map(|factor| (1, *factor)).collect();
                    Cow::Owned(self.evaluator.combined_parts(&ones, [0, 1])?)
                }
            };
            let range = entries.iter().fold([0, 0], |[low, high], e| [low.min(*e), high.max(*e)]);
            let terms = entries.iter().copied().zip(&self.lowest).filter(|(entry, _)| *entry != 0);
            let parts = self.evaluator.combined_parts(&terms.collect::<Vec<_>>(), range)?;
            let noise = self.evaluator.noise_of_parts(&parts);
            Ok(Chosen { factor, parts: parts.bare(), noise })
        };
        equal.into_iter().map(leaf).collect()
    }

    /// Returns a sum as a digit from 0 to 15, or with a sign, from which carries can be taken.
    fn finished(&self, sum: Sum, range: [i64; 2]) -> Result<Digit, IntegerError> {
        let Some(digit) = sum.digit else {
            return self.zero.clone().ok_or_else(|| IntegerError::results(VALUES, 0));
        };
        let noise = sum.chosen + sum.factors;
        let ciphertext = self.evaluator.bootstrapper.with_slot_error(digit.ciphertext, noise);
        let root = Digit { ciphertext, range: digit.range };
        if root.ciphertext.metadata().level > self.evaluator.lowest_level() {
            return Ok(root);
        }
        // No level is left for carries.
        self.evaluator.look_up_one(&root, self.count, |m| if m > range[1] { m - BASE } else { m })
    }
}

impl Factors {
    fn new(evaluator: &IntegerEvaluator<'_>, parts: &[Parts]) -> Self {
        let noise = parts.iter().map(|part| evaluator.noise_of_parts(part)).fold(0.0, f64::max);
        Self { parts: parts.iter().map(Parts::bare).collect(), noise }
    }

    /// Returns the noise that reaches a sum of products from the number that is chosen, and from all factors.
    fn noise_of(&self, numbers: &[Chosen<'_>], range: [i64; 2]) -> [f64; 2] {
        let chosen = numbers.iter().map(|number| number.noise).fold(0.0, f64::max);
        let reach = range[0].abs().max(range[1].abs()) as f64;
        // (1/8 + e)·(v/8 + f) is an eighth of the number.
        [chosen, self.parts.len() as f64 * self.noise * (reach + chosen / UNIT)]
    }
}

impl Sum {
    fn add(
        &mut self,
        evaluator: &IntegerEvaluator<'_>,
        factors: &Factors,
        numbers: &[Chosen<'_>],
    ) -> Result<(), IntegerError> {
        if numbers.is_empty() {
            return Ok(());
        }
        let range = range_of(numbers);
        let pairs: Vec<_> = numbers.iter().map(|number| (&*number.factor, &number.parts)).collect();
        let next = evaluator.within(evaluator.sum_of_products(&pairs)?, range)?;
        let [chosen, noise] = factors.noise_of(numbers, range);
        self.chosen = self.chosen.max(chosen);
        self.factors += noise;
        self.digit = Some(match self.digit.take() {
            Some(sum) => {
                let both = union(sum.range, range);
                evaluator.within(evaluator.plus(&sum, &next)?, both)?
            }
            None => next,
        });
        Ok(())
    }
}

fn range_of(numbers: &[Chosen<'_>]) -> [i64; 2] {
    numbers.iter().map(|number| number.parts.range()).fold([0, 0], union)
}

fn union(a: [i64; 2], b: [i64; 2]) -> [i64; 2] {
    [a[0].min(b[0]), a[1].max(b[1])]
}
