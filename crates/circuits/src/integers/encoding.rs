//! Integers as plaintexts, and back.

use num_complex::Complex64;
use sunzi_ckks::{Ciphertext, CkksError, Encoder, Plaintext};
use sunzi_rlwe::SecretKey;
use zeroize::Zeroizing;

use super::evaluator::UNIT;
use super::integer::{Digit, check_bounds};
use super::kind::{BASE, DIGIT_BITS};
use super::{Conditions, IntegerError, IntegerEvaluator, IntegerKind, Integers};
use crate::bootstrap::BootstrapError;

impl IntegerEvaluator<'_> {
    /// Returns the plaintexts of a batch, one for each digit, the least first: the numbers (d − 8)/8 of digits from 0 to 15, and d/8 at the top of integers with
    /// a sign. Integers are at most as many as the [capacity](Self::capacity), the first half of them in real parts of slots.
    ///
    /// # Errors
    /// [`IntegerError::Value`] for an integer outside of the bounds; [`IntegerError::Operand`] for too many integers, or bounds outside of the kind.
    pub fn encode(
        &self,
        kind: IntegerKind,
        bounds: [i128; 2],
        values: &[i128],
    ) -> Result<Vec<Plaintext>, IntegerError> {
        check_bounds(kind, bounds)?;
        self.check_capacity(values.len())?;
        let [low, high] = bounds;
        if let Some((place, &got)) =
            values.iter().enumerate().find(|(_, value)| !(low..=high).contains(*value))
        {
            return Err(IntegerError::Value { place, got, low, high });
        }
        let level = self.bootstrapper.blueprint().set().residual.levels;
        let scale = self.evaluator().context().scale(level)?;
        (0..kind.digits())
            .map(|k| {
                let middle = kind.digit_middle(k);
                let digit = |value: &i128| kind.digits_of(*value).nth(k).unwrap_or(0) - middle;
                let digits: Zeroizing<Vec<i64>> = Zeroizing::new(values.iter().map(digit).collect());
                self.encode_digits(&digits, level, scale)
            })
            .collect()
    }

    /// Encrypts a batch, given how a plaintext is encrypted.
    ///
    /// # Errors
    /// Every error of [`encode`](Self::encode), and of the encryption.
    pub fn encrypt(
        &self,
        kind: IntegerKind,
        bounds: [i128; 2],
        values: &[i128],
        encrypt: impl FnMut(&Plaintext) -> Result<Ciphertext, CkksError>,
    ) -> Result<Integers, IntegerError> {
        let plaintexts = self.encode(kind, bounds, values)?;
        let ciphertexts = plaintexts.iter().map(encrypt).collect::<Result<_, _>>()?;
        self.from_digits(kind, values.len(), bounds, ciphertexts)
    }

    /// Makes a batch of ciphertexts whose plaintexts are those of [`encode`](Self::encode).
    ///
    /// # Errors
    /// [`IntegerError::Mismatch`] for another number of ciphertexts than the kind has digits; [`IntegerError::Operand`] for bounds outside of the kind, or for too
    /// many integers; [`IntegerError::Ckks`] for ciphertexts of another context.
    pub fn from_digits(
        &self,
        kind: IntegerKind,
        count: usize,
        bounds: [i128; 2],
        ciphertexts: Vec<Ciphertext>,
    ) -> Result<Integers, IntegerError> {
        if ciphertexts.len() != kind.digits() {
            return Err(IntegerError::Mismatch {
                operation: "a batch",
                left: format!("{} digits", kind.digits()),
                right: format!("{} ciphertexts", ciphertexts.len()),
                advice: "give one ciphertext for each digit",
            });
        }
        check_bounds(kind, bounds)?;
        self.check_capacity(count)?;
        let digit = |(k, ciphertext)| {
            let middle = kind.digit_middle(k);
            self.raised(Digit { ciphertext, range: kind.digit_range(k).map(|end| end - middle) }, middle)
        };
        let digits = ciphertexts.into_iter().enumerate().map(digit).collect::<Result<_, _>>()?;
        Ok(Integers { kind, count, digits, bounds, exact: true })
    }

    /// Returns the ciphertexts of a batch, as [`from_digits`](Self::from_digits) takes them, for files and other programs: digits that have grown are looked
    /// up first.
    ///
    /// # Errors
    /// Every error of [`carried`](Self::carried).
    pub fn to_digits(&self, a: &Integers) -> Result<Vec<Ciphertext>, IntegerError> {
        let a = self.with_digits(a)?;
        let digit = |(k, digit)| Ok(self.raised(digit, -a.kind.digit_middle(k))?.ciphertext);
        a.digits.into_iter().enumerate().map(digit).collect()
    }

    /// Makes conditions of a ciphertext that [`Conditions::ciphertext`] gave.
    ///
    /// # Errors
    /// [`IntegerError::Operand`] for too many conditions; [`IntegerError::Ckks`] for a ciphertext of another context.
    pub fn conditions(&self, count: usize, ciphertext: Ciphertext) -> Result<Conditions, IntegerError> {
        self.check_capacity(count)?;
        Ok(Conditions { count, digit: self.declared(ciphertext, [0, 1])? })
    }

    /// Decrypts a batch.
    ///
    /// # Errors
    /// [`IntegerError::Bootstrap`] for noise that may lead a digit to the next one; [`IntegerError::Ckks`] for another secret key.
    pub fn decrypt(&self, a: &Integers, secret: &SecretKey) -> Result<Vec<i128>, IntegerError> {
        let mut values = vec![0_i128; a.count];
        for (k, digit) in a.digits.iter().enumerate() {
            let digits = self.opened(digit, a.count, secret)?;
            for (value, digit) in values.iter_mut().zip(digits.iter()) {
                // Of 64 bits the sum stays far below 2^127, however far digits have grown.
                *value += i128::from(*digit) << (DIGIT_BITS * k as u32);
            }
        }
        values.iter_mut().for_each(|value| *value = a.kind.wrapped(*value));
        Ok(values)
    }

    /// Decrypts conditions.
    ///
    /// # Errors
    /// Every error of [`decrypt`](Self::decrypt).
    pub fn decrypt_conditions(&self, a: &Conditions, secret: &SecretKey) -> Result<Vec<bool>, IntegerError> {
        Ok(self.opened(&a.digit, a.count, secret)?.iter().map(|digit| *digit != 0).collect())
    }

    /// Returns a + c for clear integers c of the kind, one for each.
    ///
    /// # Errors
    /// [`IntegerError::Mismatch`] for another number of clear integers; [`IntegerError::Value`] for one outside of the kind; [`IntegerError::Overflow`] where
    /// that is refused.
    pub fn add_clear_batch(&self, a: &Integers, c: &[i128]) -> Result<Integers, IntegerError> {
        if c.len() != a.count {
            return Err(IntegerError::Mismatch {
                operation: "a sum",
                left: format!("{} integers", a.count),
                right: format!("{} clear integers", c.len()),
                advice: "give one clear integer for each",
            });
        }
        let [low, high] = a.kind.range();
        if let Some((place, &got)) = c.iter().enumerate().find(|(_, value)| !(low..=high).contains(*value)) {
            return Err(IntegerError::Value { place, got, low, high });
        }
        let least = c.iter().copied().min().unwrap_or(0);
        let largest = c.iter().copied().max().unwrap_or(0);
        let (bounds, holds) = self.bounded("a sum", a, Some([a.bounds[0] + least, a.bounds[1] + largest]))?;
        let mut digits = Vec::with_capacity(a.digits.len());
        for (k, digit) in a.digits.iter().enumerate() {
            let of = digit.ciphertext.metadata();
            let own: Vec<i64> = c.iter().map(|value| a.kind.digits_of(*value).nth(k).unwrap_or(0)).collect();
            let plaintext = self.encode_digits(&own, of.level, of.scale)?;
            let sum = self.evaluator().add_plain(&digit.ciphertext, &plaintext)?;
            let [low, high] = a.kind.digit_range(k);
            digits.push(self.declared(sum, [digit.range[0] + low, digit.range[1] + high])?);
        }
        Ok(Integers { digits, bounds, exact: a.exact && holds, ..a.clone() })
    }

    fn encode_digits(&self, digits: &[i64], level: usize, scale: f64) -> Result<Plaintext, IntegerError> {
        let context = self.evaluator().context();
        let slots = context.max_slots();
        let number = |i: usize| digits.get(i).map_or(0.0, |digit| *digit as f64 * UNIT);
        let numbers: Vec<Complex64> =
            (0..slots).map(|i| Complex64::new(number(i), number(slots + i))).collect();
        Ok(Encoder::new(context, slots)?.encode_at(&numbers, level, scale)?)
    }

    /// Returns the digits of a ciphertext, which may have grown.
    fn opened(
        &self,
        digit: &Digit,
        count: usize,
        secret: &SecretKey,
    ) -> Result<Zeroizing<Vec<i64>>, IntegerError> {
        let (modulus, limit) = (BASE as usize, UNIT / 2.0);
        let got = self.noise(digit);
        // A NaN is refused, too.
        if got.is_nan() || got >= limit {
            return Err(BootstrapError::MessageNoise { modulus, got, limit }.into());
        }
        let context = self.evaluator().context();
        let plaintext = context.decrypt(&digit.ciphertext, secret)?;
        let slots = Encoder::new(context, context.max_slots())?.decode(&plaintext)?;
        let rounded = |number: f64| (number / UNIT).round() as i64;
        let (real, imaginary) =
            (slots.iter().map(|slot| rounded(slot.re)), slots.iter().map(|slot| rounded(slot.im)));
        Ok(Zeroizing::new(real.chain(imaginary).take(count).collect()))
    }

    fn check_capacity(&self, got: usize) -> Result<(), IntegerError> {
        let most = self.capacity();
        if (1..=most).contains(&got) {
            return Ok(());
        }
        let expected = format!("from 1 to {most}: two for each slot");
        Err(IntegerError::Operand { what: "the number of integers of a batch", got: got as i128, expected })
    }
}
