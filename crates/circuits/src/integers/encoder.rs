//! Encoder of integers: all that whoever encrypts and decrypts needs, without keys or matrices of look-ups.

use num_complex::Complex64;
use sunzi_ckks::{Ciphertext, CkksError, Context, Encoder, Plaintext};
use sunzi_rlwe::SecretKey;
use zeroize::Zeroizing;

use super::evaluator::UNIT;
use super::integer::check_bounds;
use super::kind::{BASE, DIGIT_BITS};
use super::{IntegerError, IntegerKind};
use crate::bootstrap::noise::largest_slot;
use crate::bootstrap::{BootstrapError, Set};

/// Encoder of integers in the digits that [`IntegerEvaluator`](super::IntegerEvaluator) computes with.
///
/// ```
/// use sunzi_circuits::bootstrap::Set;
/// use sunzi_circuits::integers::{IntegerEncoder, IntegerKind};
/// use sunzi_ckks::Context;
/// use sunzi_rlwe::{SecretKey, randomness};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let set = Set::insecure_for_integers(9);
/// let context = Context::new(&set.parameters()?)?;
/// let mut rng = randomness::from_os()?;
/// let secret = SecretKey::generate(context.rlwe(), &mut rng)?;
/// let encoder = IntegerEncoder::new(&context, &set);
/// let kind = IntegerKind::I16;
/// let digits = encoder.encrypt(kind, kind.range(), &[-5, 1000], |plaintext| {
///     context.encrypt_secret(plaintext, &secret, &mut rng)
/// })?;
/// assert_eq!(digits.len(), 4, "one ciphertext for each digit of 4 bits");
/// assert_eq!(encoder.decrypt(kind, 2, &digits, &secret)?, [-5, 1000]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct IntegerEncoder {
    context: Context,
    level: usize,
}

impl IntegerEncoder {
    /// Makes the encoder of a set in its context.
    #[must_use]
    pub fn new(context: &Context, set: &Set) -> Self {
        Self { context: context.clone(), level: set.residual.levels }
    }

    /// Largest number of integers of a batch: two for each slot.
    #[must_use]
    pub fn capacity(&self) -> usize {
        2 * self.context.max_slots()
    }

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
        check_values(values, bounds)?;
        let scale = self.context.scale(self.level)?;
        (0..kind.digits())
            .map(|k| {
                let middle = kind.digit_middle(k);
                let digit = |value: &i128| kind.digits_of(*value).nth(k).unwrap_or(0) - middle;
                let digits: Zeroizing<Vec<i64>> = Zeroizing::new(values.iter().map(digit).collect());
                encode_digits(&self.context, &digits, self.level, scale)
            })
            .collect()
    }

    /// Encrypts a batch, given how a plaintext is encrypted: one ciphertext for each digit, the least first.
    ///
    /// # Errors
    /// Every error of [`encode`](Self::encode), and of the encryption.
    pub fn encrypt(
        &self,
        kind: IntegerKind,
        bounds: [i128; 2],
        values: &[i128],
        encrypt: impl FnMut(&Plaintext) -> Result<Ciphertext, CkksError>,
    ) -> Result<Vec<Ciphertext>, IntegerError> {
        let plaintexts = self.encode(kind, bounds, values)?;
        Ok(plaintexts.iter().map(encrypt).collect::<Result<_, _>>()?)
    }

    /// Decrypts the ciphertexts that [`encrypt`](Self::encrypt) or [`to_digits`](super::IntegerEvaluator::to_digits) returned.
    ///
    /// # Errors
    /// [`IntegerError::Mismatch`] for another number of ciphertexts than the kind has digits; [`IntegerError::Operand`] for too many integers;
    /// [`IntegerError::Bootstrap`] for noise that may lead a digit to the next one; [`IntegerError::Ckks`] for another secret key.
    pub fn decrypt(
        &self,
        kind: IntegerKind,
        count: usize,
        digits: &[Ciphertext],
        secret: &SecretKey,
    ) -> Result<Vec<i128>, IntegerError> {
        check_digits(kind, digits.len())?;
        self.check_capacity(count)?;
        let mut values = vec![0_i128; count];
        for (k, digit) in digits.iter().enumerate() {
            let middle = kind.digit_middle(k);
            let digits = opened(&self.context, digit, count, secret)?;
            for (value, digit) in values.iter_mut().zip(digits.iter()) {
                *value += i128::from(*digit + middle) << (DIGIT_BITS * k as u32);
            }
        }
        Ok(values.into_iter().map(|value| kind.wrapped(value)).collect())
    }

    pub(super) fn check_capacity(&self, got: usize) -> Result<(), IntegerError> {
        let most = self.capacity();
        if (1..=most).contains(&got) {
            return Ok(());
        }
        let expected = format!("from 1 to {most}: two for each slot");
        Err(IntegerError::Operand { what: "the number of integers of a batch", got: got as i128, expected })
    }
}

/// Refuses integers outside of these bounds.
pub(super) fn check_values(values: &[i128], [low, high]: [i128; 2]) -> Result<(), IntegerError> {
    match values.iter().enumerate().find(|(_, value)| !(low..=high).contains(*value)) {
        Some((place, &got)) => Err(IntegerError::Value { place, got, low, high }),
        None => Ok(()),
    }
}

/// Refuses another number of ciphertexts than a kind has digits.
pub(super) fn check_digits(kind: IntegerKind, got: usize) -> Result<(), IntegerError> {
    if got == kind.digits() {
        return Ok(());
    }
    Err(IntegerError::Mismatch {
        operation: "a batch",
        left: format!("{} digits", kind.digits()),
        right: format!("{got} ciphertexts"),
        advice: "give one ciphertext for each digit",
    })
}

/// Encodes digits as the numbers d/8, the second half of a batch in imaginary parts.
pub(super) fn encode_digits(
    context: &Context,
    digits: &[i64],
    level: usize,
    scale: f64,
) -> Result<Plaintext, IntegerError> {
    let slots = context.max_slots();
    let number = |i: usize| digits.get(i).map_or(0.0, |digit| *digit as f64 * UNIT);
    let numbers: Vec<Complex64> = (0..slots).map(|i| Complex64::new(number(i), number(slots + i))).collect();
    Ok(Encoder::new(context, slots)?.encode_at(&numbers, level, scale)?)
}

/// Returns the digits of a ciphertext, which may have grown.
pub(super) fn opened(
    context: &Context,
    digit: &Ciphertext,
    count: usize,
    secret: &SecretKey,
) -> Result<Zeroizing<Vec<i64>>, IntegerError> {
    let (modulus, limit) = (BASE as usize, UNIT / 2.0);
    let got = largest_slot(context, digit.noise(), digit.metadata().scale);
    // A NaN is refused, too.
    if got.is_nan() || got >= limit {
        return Err(BootstrapError::MessageNoise { modulus, got, limit }.into());
    }
    let plaintext = context.decrypt(digit, secret)?;
    let slots = Encoder::new(context, context.max_slots())?.decode(&plaintext)?;
    let rounded = |number: f64| (number / UNIT).round() as i64;
    let (real, imaginary) =
        (slots.iter().map(|slot| rounded(slot.re)), slots.iter().map(|slot| rounded(slot.im)));
    Ok(Zeroizing::new(real.chain(imaginary).take(count).collect()))
}
