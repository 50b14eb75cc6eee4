//! Operations of encrypted integers with clear ones, one for each integer of a batch: plaintexts, and no relinearisation.
//!
//! A clear integer is Σ c_k·16^k with c_k from 0 to 15 but for the top, which has what is left, the sign too. Sums add these digits as plaintexts, and products
//! are convolutions of both sequences of digits, a level lower. Nothing is looked up until digits have grown too far. Ranges of digits follow from public bounds
//! and not from the integers, so that a dry run counts what a run takes.
//!
//! Where the second half of a batch is in imaginary parts, a·re(c) + i·b·im(c) is (c + c')/2 times a slot and (c − c')/2 times its conjugate, for the clear digits c
//! and c' of both parts: one key switch a digit.

use num_complex::Complex64;
use sunzi_ckks::{Ciphertext, Encoder, Plaintext};

use super::encoder::{check_values, encode_digits};
use super::evaluator::{MOST_REACH, check_count};
use super::integer::{Digit, check_bounds};
use super::kind::{BASE, DIGIT_BITS};
use super::sum::MOST_NOISE;
use super::{Conditions, IntegerError, IntegerEvaluator, IntegerKind, Integers};
use crate::bootstrap::noise::exact;

/// Clear integers, one for each integer of a batch, with public bounds on all of them.
///
/// ```
/// use sunzi_circuits::integers::ClearIntegers;
///
/// assert_eq!(ClearIntegers::new(&[2000, 2020, 2007], [2000, 2020])?.bounds(), [2000, 2020]);
/// assert!(ClearIntegers::new(&[1999], [2000, 2020]).is_err());
/// # Ok::<(), sunzi_circuits::integers::IntegerError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ClearIntegers<'a> {
    values: &'a [i128],
    bounds: [i128; 2],
}

/// Bits beyond which clear integers are refused: sums of their digits and of encrypted ones stay far below 2^127.
const MOST_BITS: u32 = 100;

impl<'a> ClearIntegers<'a> {
    /// Makes clear integers with bounds, which decide what operations cost.
    ///
    /// # Errors
    /// [`IntegerError::Value`] for an integer outside of the bounds; [`IntegerError::Operand`] for bounds beyond ±2^100.
    pub fn new(values: &'a [i128], bounds: [i128; 2]) -> Result<Self, IntegerError> {
        let most = 1_i128 << MOST_BITS;
        for got in bounds {
            if !(-most..=most).contains(&got) {
                let expected = format!("from -2^{MOST_BITS} to 2^{MOST_BITS}");
                return Err(IntegerError::Operand { what: "a bound of clear integers", got, expected });
            }
        }
        check_values(values, bounds)?;
        Ok(Self { values, bounds })
    }

    /// Public bounds on the clear integers, both ends included.
    #[must_use]
    pub fn bounds(&self) -> [i128; 2] {
        self.bounds
    }

    /// Number of digits of which none is beyond ±15.
    fn digits(&self) -> usize {
        let fits = |n: &usize| self.bounds.iter().all(|end| shifted(*end, n - 1).abs() < i128::from(BASE));
        (1..=32).find(fits).unwrap_or(32)
    }

    /// Returns the range of digit k of n.
    fn range(&self, k: usize, n: usize) -> [i64; 2] {
        let ends = self.bounds.map(|end| shifted(end, k));
        let alike = shifted(ends[0], 1) == shifted(ends[1], 1);
        match (k + 1 == n, alike) {
            (true, _) => ends.map(|end| end as i64),
            (false, true) => ends.map(|end| end.rem_euclid(i128::from(BASE)) as i64),
            (false, false) => [0, BASE - 1],
        }
    }

    /// Returns digit k of n of a clear integer; places that the batch does not fill hold the lower bound.
    fn digit(&self, place: usize, k: usize, n: usize) -> i64 {
        let own = shifted(self.values.get(place).copied().unwrap_or(self.bounds[0]), k);
        if k + 1 == n { own as i64 } else { own.rem_euclid(i128::from(BASE)) as i64 }
    }
}

/// Returns ⌊value/16^k⌋.
fn shifted(value: i128, k: usize) -> i128 {
    value >> (DIGIT_BITS as usize * k).min(127)
}

/// Plaintexts of a digit of clear integers: the factor of slots, and of their conjugates where both parts of slots count.
struct Factor {
    slots: Plaintext,
    conjugates: Option<Plaintext>,
    range: [i64; 2],
}

impl IntegerEvaluator<'_> {
    /// Returns Σ c_i·a_i plus clear integers in a kind, as [`linear_combination`](Self::linear_combination) does with one clear integer.
    ///
    /// # Errors
    /// [`IntegerError::Mismatch`] for another number of clear integers; [`IntegerError::Operand`] for clear integers of more bits than the kind; every error of
    /// [`linear_combination`](Self::linear_combination).
    pub fn linear_combination_plus(
        &self,
        terms: &[(i128, &Integers)],
        clear: &ClearIntegers<'_>,
        kind: IntegerKind,
        bounds: [i128; 2],
    ) -> Result<Integers, IntegerError> {
        check_bounds(kind, bounds)?;
        let most = 1_i128 << kind.bits();
        for got in clear.bounds {
            if !(-most..=most).contains(&got) {
                let expected = format!("from {} to {most}", -most);
                return Err(IntegerError::Operand { what: "a bound of clear integers", got, expected });
            }
        }
        let sum = self.combined(terms, kind)?;
        check_number("a linear combination", sum.count, clear)?;
        let (n, context) = (sum.digits.len(), self.evaluator().context());
        let digit = |(k, digit): (usize, &Digit)| {
            let [low, high] = clear.range(k, n);
            if low == high {
                return self.raised(digit.clone(), low);
            }
            let of = digit.ciphertext.metadata();
            let own: Vec<i64> = (0..self.capacity()).map(|place| clear.digit(place, k, n)).collect();
            let plaintext = encode_digits(context, &own, of.level, of.scale)?;
            let sum = self.evaluator().add_plain(&digit.ciphertext, &plaintext)?;
            self.declared(sum, [digit.range[0] + low, digit.range[1] + high])
        };
        let digits = sum.digits.iter().enumerate().map(digit).collect::<Result<_, IntegerError>>()?;
        Ok(Integers { digits, bounds, ..sum })
    }

    /// Returns a·c in a kind, integer by integer, for clear integers c: no key switch for up to half of the capacity, and no look-up but where digits of a have
    /// grown, gathered noise or lost levels. The bounds are those of every result, and the kind has to hold them.
    ///
    /// # Errors
    /// [`IntegerError::Operand`] for bounds outside of the kind; [`IntegerError::Mismatch`] for another number of clear integers; [`IntegerError::Bootstrap`] where
    /// digits had to be looked up, and for keys of another secret.
    pub fn multiply_each(
        &self,
        a: &Integers,
        clear: &ClearIntegers<'_>,
        kind: IntegerKind,
        bounds: [i128; 2],
    ) -> Result<Integers, IntegerError> {
        check_bounds(kind, bounds)?;
        check_number("a product", a.count, clear)?;
        let (n, columns) = (clear.digits(), kind.digits());
        let reach = |k: usize| clear.range(k, n).map(i64::abs).into_iter().max().unwrap_or(0);
        let norm: i64 = (0..n).map(reach).sum();
        let unfit = |digit: &Digit| {
            digit.ciphertext.metadata().level < self.lowest_level() + 2
                || digit.reach() * norm > MOST_REACH
                || self.noise(digit) * norm as f64 > MOST_NOISE
        };
        let a = if !a.exact || a.digits.iter().any(unfit) { self.carried(a)? } else { a.clone() };
        let digits = self.convolved_with_clear(&a, clear, n, columns)?;
        // Columns above the top are left out.
        let own = a.digits.iter().rposition(|digit| digit.range != [0, 0]).map_or(0, |top| top + 1);
        let whole = (own + n).saturating_sub(1) <= columns;
        Ok(Integers { kind, count: a.count, digits, bounds, exact: a.exact && whole })
    }

    /// Returns conditions where clear integers are 1, and false where they are 0.
    ///
    /// # Errors
    /// [`IntegerError::Operand`] for bounds other than 0 and 1; every error of [`multiply_each`](Self::multiply_each).
    pub fn and_each(&self, a: &Conditions, clear: &ClearIntegers<'_>) -> Result<Conditions, IntegerError> {
        check_count("a condition of two", a, clear.values.len())?;
        if let Some(got) = clear.bounds.into_iter().find(|end| !(0..=1).contains(end)) {
            let expected = "0 or 1".to_owned();
            return Err(IntegerError::Operand { what: "a bound of conditions", got, expected });
        }
        let a = self.fresh(a)?;
        let (level, both) = (a.digit.ciphertext.metadata().level, 2 * a.count > self.capacity());
        let factor = self.factor_of(clear, (0, 1), level, both)?;
        let product = self.sum_of_plain_products(&[(&self.turnable(&a.digit, both)?, &factor)])?;
        Ok(Conditions { digit: self.within(product, [0, 1])?, ..a })
    }

    /// Returns Σ_j c_j·digit_(k−j) for as many columns, n of them clear.
    fn convolved_with_clear(
        &self,
        a: &Integers,
        clear: &ClearIntegers<'_>,
        n: usize,
        columns: usize,
    ) -> Result<Vec<Digit>, IntegerError> {
        let level = a.digits.iter().map(|digit| digit.ciphertext.metadata().level).min().unwrap_or(0);
        let both = 2 * a.count > self.capacity();
        let factors: Vec<Factor> = (0..n.min(columns))
            .map(|j| self.factor_of(clear, (j, n), level, both))
            .collect::<Result<_, _>>()?;
        let own = |digit: &Digit| {
            let lowered = self.evaluator().level_to(&digit.ciphertext, level)?;
            self.turnable(&Digit { ciphertext: lowered, range: digit.range }, both)
        };
        let digits: Vec<Turnable> = a.digits.iter().map(own).collect::<Result<_, IntegerError>>()?;
        let none = || IntegerError::Operand {
            what: "the number of digits",
            got: 0,
            expected: "at least 1".to_owned(),
        };
        let column = |k: usize| {
            let pairs: Vec<(&Turnable, &Factor)> = factors
                .iter()
                .take(k + 1)
                .enumerate()
                .filter_map(|(j, factor)| Some((digits.get(k - j)?, factor)))
                .filter(|(own, factor)| own.digit.range != [0, 0] && factor.range != [0, 0])
                .collect();
            match (pairs.is_empty(), a.digits.first()) {
                (false, _) => self.sum_of_plain_products(&pairs),
                (true, Some(digit)) => self.times(digit, 0),
                (true, None) => Err(none()),
            }
        };
        (0..columns).map(column).collect()
    }

    /// Encodes digit k of n of clear integers as factors at a level.
    fn factor_of(
        &self,
        clear: &ClearIntegers<'_>,
        (k, n): (usize, usize),
        level: usize,
        both: bool,
    ) -> Result<Factor, IntegerError> {
        let context = self.evaluator().context();
        let (slots, scale) = (context.max_slots(), context.scale(level)?);
        let encoder = Encoder::new(context, slots)?;
        let encode = |number: &dyn Fn(usize) -> f64| {
            let numbers: Vec<Complex64> = (0..slots).map(|slot| number(slot).into()).collect();
            encoder.encode_at(&numbers, level, scale)
        };
        let own = |place: usize| clear.digit(place, k, n) as f64;
        let range = clear.range(k, n);
        if !both {
            return Ok(Factor { slots: encode(&own)?, conjugates: None, range });
        }
        let sum = encode(&|slot| (own(slot) + own(slots + slot)) / 2.0)?;
        let difference = encode(&|slot| (own(slot) - own(slots + slot)) / 2.0)?;
        Ok(Factor { slots: sum, conjugates: Some(difference), range })
    }

    /// Returns a digit with its conjugate if both parts of slots count.
    fn turnable(&self, digit: &Digit, both: bool) -> Result<Turnable, IntegerError> {
        if !both {
            return Ok(Turnable { digit: digit.clone(), conjugate: None });
        }
        self.switched();
        let conjugate = self.bootstrapper.conjugate(&digit.ciphertext, self.keys)?;
        Ok(Turnable { digit: digit.clone(), conjugate: Some(conjugate) })
    }

    /// Returns Σ of digits times clear ones, a level lower. Clear digits multiply the noise of a slot by no more than themselves, whatever the plaintexts are.
    fn sum_of_plain_products(&self, pairs: &[(&Turnable, &Factor)]) -> Result<Digit, IntegerError> {
        let evaluator = self.evaluator();
        let (mut sum, mut range, mut noise): (Option<Ciphertext>, _, _) = (None, [0, 0], 0.0);
        for (Turnable { digit, conjugate }, factor) in pairs {
            self.multiplied_plain();
            let own = self.noise(digit).max(conjugate.as_ref().map_or(0.0, |c| self.bootstrapper.noise(c)));
            let [low, high] = factor.range;
            noise += own * low.abs().max(high.abs()) as f64;
            // Roundings of the plaintext multiply the noise, too.
            let bare = |a: &Ciphertext| {
                evaluator.with_magnitude(&exact(a), a.metadata().precision.magnitude() + 2.0 * own)
            };
            let product = evaluator.multiply_plain_unscaled(&bare(&digit.ciphertext)?, &factor.slots)?;
            let turned = conjugate.as_ref().zip(factor.conjugates.as_ref());
            let turned = turned
                .map(|(conjugate, factor)| evaluator.multiply_plain_unscaled(&bare(conjugate)?, factor));
            for term in std::iter::once(product).chain(turned.transpose()?) {
                sum = Some(match sum {
                    Some(sum) => evaluator.add(&sum, &term)?,
                    None => term,
                });
            }
            let ends = [low, high].map(|factor| digit.range.map(|end| end * factor));
            let all = || ends.iter().flatten().copied();
            range = [range[0] + all().min().unwrap_or(0), range[1] + all().max().unwrap_or(0)];
        }
        let none = || IntegerError::Operand {
            what: "the number of products",
            got: 0,
            expected: "at least 1".to_owned(),
        };
        let rescaled = evaluator.rescale(&sum.ok_or_else(none)?)?;
        let digit = self.declared(rescaled, range)?;
        Ok(Digit { ciphertext: self.bootstrapper.with_slot_error(digit.ciphertext, noise), range })
    }
}

/// A digit, with the conjugates of its slots if both parts of these count.
struct Turnable {
    digit: Digit,
    conjugate: Option<Ciphertext>,
}

/// Refuses another number of clear integers than a batch has integers.
fn check_number(
    operation: &'static str,
    count: usize,
    clear: &ClearIntegers<'_>,
) -> Result<(), IntegerError> {
    if clear.values.len() == count {
        return Ok(());
    }
    Err(IntegerError::Mismatch {
        operation,
        left: format!("{count} integers"),
        right: format!("{} clear integers", clear.values.len()),
        advice: "give one clear integer for each",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_of_clear_integers_make_them_up_within_their_ranges() {
        let most = 1_i128 << 64;
        for bounds in [
            [0, 1],
            [0, 15],
            [-1, 0],
            [-8, 7],
            [-16, 15],
            [2000, 2020],
            [-100, 150],
            [5, 5],
            [-most, most],
            [-(most << 36), most << 36],
        ] {
            let width = bounds[1] - bounds[0];
            let values =
                [0, 1, 7, width / 3, width / 2, width - 1, width].map(|v| bounds[0] + v.clamp(0, width));
            let clear = ClearIntegers::new(&values, bounds).unwrap();
            for n in [clear.digits(), clear.digits() + 2] {
                for (place, value) in values.iter().enumerate() {
                    let digits = (0..n).map(|k| clear.digit(place, k, n));
                    let sum: i128 = digits.clone().enumerate().map(|(k, d)| i128::from(d) << (4 * k)).sum();
                    assert_eq!(sum, *value, "{bounds:?}");
                    for (k, digit) in digits.enumerate() {
                        let [low, high] = clear.range(k, n);
                        assert!(
                            (low..=high).contains(&digit),
                            "{bounds:?}, {value}: {digit} of {low}..={high}"
                        );
                        assert!(-BASE < low && high < BASE);
                    }
                }
            }
        }
        assert!(ClearIntegers::new(&[2], [0, 1]).is_err());
        assert!(ClearIntegers::new(&[], [0, i128::MAX]).is_err());
    }
}
