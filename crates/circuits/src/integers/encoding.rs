//! Integers as plaintexts, and back.

use sunzi_ckks::{Ciphertext, CkksError, Plaintext};
use sunzi_rlwe::SecretKey;

use super::encoder::{check_digits, check_values, encode_digits, opened};
use super::integer::{Digit, check_bounds};
use super::kind::DIGIT_BITS;
use super::{Conditions, IntegerEncoder, IntegerError, IntegerEvaluator, IntegerKind, Integers};

impl IntegerEvaluator<'_> {
    /// Returns the encoder of the integers, which needs no keys.
    #[must_use]
    pub fn encoder(&self) -> IntegerEncoder {
        IntegerEncoder::new(self.evaluator().context(), self.bootstrapper.blueprint().set())
    }

    /// Returns the plaintexts of a batch as [`IntegerEncoder::encode`] does.
    ///
    /// # Errors
    /// [`IntegerError::Value`] for an integer outside of the bounds; [`IntegerError::Operand`] for too many integers, or bounds outside of the kind.
    pub fn encode(
        &self,
        kind: IntegerKind,
        bounds: [i128; 2],
        values: &[i128],
    ) -> Result<Vec<Plaintext>, IntegerError> {
        self.encoder().encode(kind, bounds, values)
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
        let digits = self.encoder().encrypt(kind, bounds, values, encrypt)?;
        self.from_digits(kind, values.len(), bounds, digits)
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
        check_digits(kind, ciphertexts.len())?;
        check_bounds(kind, bounds)?;
        self.encoder().check_capacity(count)?;
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
        self.encoder().check_capacity(count)?;
        Ok(Conditions { count, digit: self.declared(ciphertext, [0, 1])? })
    }

    /// Decrypts a batch.
    ///
    /// # Errors
    /// [`IntegerError::Bootstrap`] for noise that may lead a digit to the next one; [`IntegerError::Ckks`] for another secret key.
    pub fn decrypt(&self, a: &Integers, secret: &SecretKey) -> Result<Vec<i128>, IntegerError> {
        let mut values = vec![0_i128; a.count];
        for (k, digit) in a.digits.iter().enumerate() {
            let digits = opened(self.evaluator().context(), &digit.ciphertext, a.count, secret)?;
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
        Ok(opened(self.evaluator().context(), &a.digit.ciphertext, a.count, secret)?
            .iter()
            .map(|digit| *digit != 0)
            .collect())
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
        check_values(c, a.kind.range())?;
        let least = c.iter().copied().min().unwrap_or(0);
        let largest = c.iter().copied().max().unwrap_or(0);
        let (bounds, holds) = self.bounded("a sum", a, Some([a.bounds[0] + least, a.bounds[1] + largest]))?;
        let mut digits = Vec::with_capacity(a.digits.len());
        for (k, digit) in a.digits.iter().enumerate() {
            let of = digit.ciphertext.metadata();
            let own: Vec<i64> = c.iter().map(|value| a.kind.digits_of(*value).nth(k).unwrap_or(0)).collect();
            let plaintext = encode_digits(self.evaluator().context(), &own, of.level, of.scale)?;
            let sum = self.evaluator().add_plain(&digit.ciphertext, &plaintext)?;
            let [low, high] = a.kind.digit_range(k);
            digits.push(self.declared(sum, [digit.range[0] + low, digit.range[1] + high])?);
        }
        Ok(Integers { digits, bounds, exact: a.exact && holds, ..a.clone() })
    }
}
