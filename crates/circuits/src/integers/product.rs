//! Products of encrypted integers: a convolution of digits by products of ciphertexts, then carries.
//!
//! Slots hold two digits, and their products must not mix: with P = a + conj(a) = 2·re(a) and M = a − conj(a) = 2i·im(a), the products of both parts are
//! ¼·ΣPP' and −¼·ΣMM'.

use sunzi_ckks::Ciphertext;

use super::evaluator::{UNIT, check_alike};
use super::integer::Digit;
use super::{IntegerError, IntegerEvaluator, Integers};
use crate::bootstrap::noise::exact;

/// Twice the real part and 2i times the imaginary part of the slots of a digit; `None` where it is 0.
#[derive(Clone)]
pub(super) struct Parts {
    real: Ciphertext,
    imaginary: Option<Ciphertext>,
    range: [i64; 2],
}

impl Parts {
    /// Public bounds on the digit.
    pub(super) fn range(&self) -> [i64; 2] {
        self.range
    }

    /// The parts as if they had no noise, for sums of products whose noise is counted otherwise.
    pub(super) fn bare(&self) -> Self {
        let Self { real, imaginary, range } = self;
        Self { real: exact(real), imaginary: imaginary.as_ref().map(exact), range: *range }
    }
}

/// Noise of the number v/8 of a column up to which a look-up of third order leaves less than other noise.
const MOST_COLUMN_NOISE: f64 = 1.0 / (1 << 8) as f64;

impl IntegerEvaluator<'_> {
    /// Returns a·b, integer by integer, with digits from 0 to 15.
    ///
    /// # Errors
    /// [`IntegerError::Mismatch`] for batches of different kinds or lengths; [`IntegerError::Overflow`] where that is refused; [`IntegerError::Bootstrap`] for
    /// keys of another secret.
    pub fn multiply(&self, a: &Integers, b: &Integers) -> Result<Integers, IntegerError> {
        check_alike("a product", a, b)?;
        let [[a0, a1], [b0, b1]] = [a.bounds, b.bounds];
        let ends = [(a0, b0), (a0, b1), (a1, b0), (a1, b1)].map(|(x, y)| x.checked_mul(y));
        let bounds = ends.iter().try_fold([i128::MAX, i128::MIN], |[low, high], end| {
            end.map(|end| [low.min(end), high.max(end)])
        });
        let (bounds, _) = self.bounded("a product", a, bounds)?;
        let (kind, count, n) = (a.kind, a.count, a.kind.digits());
        let [a, b] = [self.factor(a, n)?, self.factor(b, n)?];
        let columns = self.product_columns([&a, &b], count, n)?;
        let digits = self.digits_of_columns(&columns, count, kind.is_signed())?;
        Ok(Integers { kind, count, digits, bounds, exact: true })
    }

    /// Returns the digits of a factor of `terms` digits, looked up where they have grown, lost levels, or gathered too much noise.
    fn factor(&self, a: &Integers, terms: usize) -> Result<Vec<Digit>, IntegerError> {
        let limit = MOST_COLUMN_NOISE / (2 * 15 * terms) as f64;
        let unfit = |digit: &Digit| {
            digit.reach() > 15
                || digit.ciphertext.metadata().level < self.lowest_level() + 2
                || self.noise(digit) > limit
        };
        if a.digits.iter().any(unfit) { Ok(self.carried(a)?.digits) } else { Ok(a.digits.clone()) }
    }

    /// Returns columns Σ a_i·b_(k−i), k below n.
    fn product_columns(
        &self,
        [a, b]: [&[Digit]; 2],
        count: usize,
        n: usize,
    ) -> Result<Vec<Digit>, IntegerError> {
        let split = |digits: &[Digit]| {
            digits.iter().map(|digit| self.split(digit, count)).collect::<Result<Vec<_>, _>>()
        };
        let [a, b] = [split(a)?, split(b)?];
        let column = |k: usize| {
            let pairs: Vec<_> =
                a.iter().take(k + 1).enumerate().filter_map(|(i, a)| Some((a, b.get(k - i)?))).collect();
            self.sum_of_products(&pairs)
        };
        (0..n).map(column).collect()
    }

    /// Returns the products of conditions and digits, which may lie around 0.
    pub(super) fn products(
        &self,
        condition: &Digit,
        digits: &[Digit],
        count: usize,
    ) -> Result<Vec<Digit>, IntegerError> {
        let condition = self.split(condition, count)?;
        let product = |digit: &Digit| self.sum_of_products(&[(&condition, &self.split(digit, count)?)]);
        digits.iter().map(product).collect()
    }

    /// Returns the product of conditions and a digit, which may lie around 0.
    pub(super) fn product(
        &self,
        condition: &Digit,
        digit: &Digit,
        count: usize,
    ) -> Result<Digit, IntegerError> {
        self.sum_of_products(&[(&self.split(condition, count)?, &self.split(digit, count)?)])
    }

    pub(super) fn split(&self, digit: &Digit, count: usize) -> Result<Parts, IntegerError> {
        let (evaluator, a) = (self.evaluator(), &digit.ciphertext);
        self.switched();
        let conjugate = self.bootstrapper.conjugate(a, self.keys)?;
        let magnitude = 2.0 * UNIT * digit.reach().max(1) as f64;
        let real = evaluator.with_magnitude(&evaluator.add(a, &conjugate)?, magnitude)?;
        let imaginary = if 2 * count > self.capacity() {
            Some(evaluator.with_magnitude(&evaluator.sub(a, &conjugate)?, magnitude)?)
        } else {
            None
        };
        Ok(Parts { real, imaginary, range: digit.range })
    }

    /// Bound on the noise of the numbers d/8 of a digit that parts are of.
    pub(super) fn noise_of_parts(&self, a: &Parts) -> f64 {
        let noise =
            [Some(&a.real), a.imaginary.as_ref()].map(|part| part.map(|a| self.bootstrapper.noise(a)));
        noise.into_iter().flatten().fold(0.0, f64::max) / 2.0
    }

    /// Returns Σ c·a for clear integers c, whose digits are known to be in a range.
    pub(super) fn combined_parts(
        &self,
        terms: &[(i64, &Parts)],
        range: [i64; 2],
    ) -> Result<Parts, IntegerError> {
        let evaluator = self.evaluator();
        let level = terms.iter().map(|(_, a)| a.real.metadata().level).min().unwrap_or(0);
        let scale = evaluator.context().scale(level)?;
        let sum = |terms: Vec<(f64, &Ciphertext)>| evaluator.linear_combination(&terms, level, scale);
        let real = sum(terms.iter().map(|(c, a)| (*c as f64, &a.real)).collect())?;
        let imaginary: Option<Vec<_>> =
            terms.iter().map(|(c, a)| Some((*c as f64, a.imaginary.as_ref()?))).collect();
        self.declared_parts(real, imaginary.map(sum).transpose()?, range)
    }

    /// Returns parts with the bounds on their slots that follow from the range of their digit.
    fn declared_parts(
        &self,
        real: Ciphertext,
        imaginary: Option<Ciphertext>,
        range: [i64; 2],
    ) -> Result<Parts, IntegerError> {
        let magnitude = 2.0 * UNIT * range[0].abs().max(range[1].abs()).max(1) as f64;
        let bounded = |a: Ciphertext| self.evaluator().with_magnitude(&a, magnitude);
        Ok(Parts { real: bounded(real)?, imaginary: imaginary.map(bounded).transpose()?, range })
    }

    /// Returns Σ a·b for both parts of slots, a level lower.
    pub(super) fn sum_of_products(&self, pairs: &[(&Parts, &Parts)]) -> Result<Digit, IntegerError> {
        let evaluator = self.evaluator();
        let (real, imaginary) = self.products_of_parts(pairs)?;
        // (d/8)·(d'/8) is an eighth of the number of d·d', and P·P' four times the product.
        let mut sum = evaluator.multiply_integer(&real, 2)?;
        if let Some(product) = imaginary {
            let product = evaluator.multiply_by_i(&evaluator.multiply_integer(&product, -2)?)?;
            sum = evaluator.add(&sum, &product)?;
        }
        let range = pairs.iter().fold([0, 0], |[low, high], (a, b)| {
            let [[a0, a1], [b0, b1]] = [a.range, b.range];
            let ends = [a0 * b0, a0 * b1, a1 * b0, a1 * b1];
            let (least, most) = ends.iter().fold((i64::MAX, i64::MIN), |(l, h), &e| (l.min(e), h.max(e)));
            [low + least, high + most]
        });
        self.declared(sum, range)
    }

    /// Returns the parts of Σ a·b, a level lower, whose digits are known to be in a range.
    pub(super) fn parts_of_products(
        &self,
        pairs: &[(&Parts, &Parts)],
        range: [i64; 2],
    ) -> Result<Parts, IntegerError> {
        let evaluator = self.evaluator();
        let (real, imaginary) = self.products_of_parts(pairs)?;
        let real = evaluator.multiply_integer(&real, 4)?;
        let turned = |product: Ciphertext| {
            evaluator.multiply_integer(&product, -4).and_then(|product| evaluator.multiply_by_i(&product))
        };
        self.declared_parts(real, imaginary.map(turned).transpose()?, range)
    }

    /// Returns ΣP·P' and ΣM·M', a level lower.
    fn products_of_parts(
        &self,
        pairs: &[(&Parts, &Parts)],
    ) -> Result<(Ciphertext, Option<Ciphertext>), IntegerError> {
        let (evaluator, key) = (self.evaluator(), self.keys.relinearization());
        self.switched();
        let real = evaluator.sum_of_products(pairs.iter().map(|(a, b)| (&a.real, &b.real)), key)?;
        let imaginary: Option<Vec<_>> =
            pairs.iter().map(|(a, b)| Some((a.imaginary.as_ref()?, b.imaginary.as_ref()?))).collect();
        let Some(imaginary) = imaginary else { return Ok((real, None)) };
        self.switched();
        Ok((real, Some(evaluator.sum_of_products(imaginary, key)?)))
    }
}
