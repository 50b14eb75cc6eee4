//! Context of encrypted integers, and the form in which numbers of a range are encrypted.

use rand_core::CryptoRng;
use sunzi_circuits::bootstrap::Set;
use sunzi_circuits::integers::{IntegerEncoder, IntegerKind, IntegerParameters};
use sunzi_ckks::{Ciphertext, Context};
use zeroize::Zeroizing;

use super::{EncryptionKey, SecretKey};
use crate::analysis::facts_of_column;
use crate::{Column, ProgramError};

/// Context of encrypted integers: that of CKKS, with the set of their look-ups.
#[derive(Clone, Debug)]
pub struct IntegerContext {
    context: Context,
    parameters: IntegerParameters,
    encoder: IntegerEncoder,
}

impl IntegerContext {
    pub(super) fn new(parameters: &IntegerParameters) -> Result<Self, ProgramError> {
        let context = Context::new(parameters.ckks()).map_err(ProgramError::scheme)?;
        let encoder = IntegerEncoder::new(&context, parameters.set());
        Ok(Self { context, parameters: parameters.clone(), encoder })
    }

    /// Returns the CKKS context of the digits.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Returns the set of the look-ups.
    #[must_use]
    pub fn set(&self) -> &Set {
        self.parameters.set()
    }

    /// Encrypts numbers of a column in units, or of an indicator: the digits of their form.
    pub(super) fn encrypt(
        &self,
        (column, indicator): (&Column, bool),
        units: &[i128],
        key: EncryptionKey<'_>,
        rng: &mut dyn CryptoRng,
    ) -> Result<Vec<Ciphertext>, ProgramError> {
        let form = Form::of_column(column, indicator)?;
        let own: Zeroizing<Vec<i128>> =
            Zeroizing::new(units.iter().map(|units| units - form.offset).collect());
        let encrypt = |plaintext: &_| match key {
            EncryptionKey::Public(key) => self.context.encrypt(plaintext, key, rng),
            EncryptionKey::Secret(key) => self.context.encrypt_secret(plaintext, key, rng),
        };
        self.encoder.encrypt(form.kind, form.kind.range(), &own, encrypt).map_err(ProgramError::scheme)
    }

    /// Decrypts the digits of `count` integers, and returns the integers that they make up without a sign.
    pub(super) fn decrypt(
        &self,
        digits: &[Ciphertext],
        count: usize,
        secret: &SecretKey,
    ) -> Result<Digits, ProgramError> {
        let bits = 4 * digits.len() as u32;
        let kind = IntegerKind::new(bits, false).ok_or_else(|| {
            ProgramError::mismatch("digits of a chunk", "1 to 16 ciphertexts", digits.len())
        })?;
        let values = self.encoder.decrypt(kind, count, digits, secret).map_err(ProgramError::scheme)?;
        Ok(Digits { bits, values: Zeroizing::new(values) })
    }
}

/// Decrypted digits of integers, whose range says how to read them.
#[derive(Clone, PartialEq)]
pub struct Digits {
    bits: u32,
    values: Zeroizing<Vec<i128>>,
}

impl Digits {
    /// Returns the number of a slot in units.
    pub(crate) fn units(&self, form: Form, at: usize) -> Result<i128, ProgramError> {
        let (expected, got) = (form.kind.bits(), self.bits);
        if expected != got {
            return Err(ProgramError::mismatch("bits of encrypted integers", expected, got));
        }
        let none = || ProgramError::mismatch("a slot", format!("below {}", self.values.len()), at);
        self.values.get(at).map(|&raw| form.units(raw)).ok_or_else(none)
    }
}

/// Returns the number of ciphertexts of a chunk of a column, or of an indicator of a column, as encrypted integers.
///
/// # Errors
/// [`ProgramError::Mismatch`] for a column of real numbers.
pub fn digits_of(column: &Column, indicator: bool) -> Result<usize, ProgramError> {
    Form::of_column(column, indicator).map(|form| form.kind.digits())
}

/// Form in which numbers from `low` to `high` are encrypted: fewest digits, counted from an offset where that saves digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Form {
    /// Kind of the encrypted integers.
    pub(crate) kind: IntegerKind,
    /// Number of units that an encrypted 0 stands for.
    pub(crate) offset: i128,
}

impl Form {
    /// Returns the form of numbers from `low` to `high`; `None` where 64 bits do not hold them.
    pub(crate) fn holding(low: i128, high: i128) -> Option<Self> {
        let own = kind_holding([low, high]).map(|kind| Self { kind, offset: 0 });
        let moved = high.checked_sub(low).and_then(|width| kind_holding([0, width]));
        let moved = moved.map(|kind| Self { kind, offset: low });
        match (own, moved) {
            (Some(own), Some(moved)) if moved.kind.bits() < own.kind.bits() => Some(moved),
            (Some(own), _) => Some(own),
            (None, moved) => moved,
        }
    }

    /// Returns the form of a column, or of an indicator of a column.
    pub(crate) fn of_column(column: &Column, indicator: bool) -> Result<Self, ProgramError> {
        let exact = facts_of_column(column, indicator).exact;
        let form = exact
            .and_then(|exact| Self::holding(exact.low.min(exact.padding), exact.high.max(exact.padding)));
        form.ok_or_else(|| {
            let expected = "whole or decimal numbers, as encrypted integers have them";
            ProgramError::mismatch("a column", expected, format!("the real numbers of {:?}", column.name))
        })
    }

    /// Returns the range of the encrypted integers of numbers from `low` to `high`.
    pub(crate) fn range(self, [low, high]: [i128; 2]) -> [i128; 2] {
        [low - self.offset, high - self.offset]
    }

    /// Returns the units of an encrypted integer that was read without a sign: the digit at the top has the sign, moved by half.
    fn units(self, raw: i128) -> i128 {
        let half = if self.kind.is_signed() { 1_i128 << (self.kind.bits() - 1) } else { 0 };
        raw - half + self.offset
    }
}

/// Returns the kind of the fewest bits that holds these numbers, without a sign where there is none; `None` above 64 bits.
pub(crate) fn kind_holding([low, high]: [i128; 2]) -> Option<IntegerKind> {
    let holds = |kind: &IntegerKind| {
        let [least, largest] = kind.range();
        least <= low && high <= largest
    };
    (1..=16).filter_map(|digits| IntegerKind::new(4 * digits, low < 0)).find(holds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_take_the_fewest_digits_and_read_what_they_hold() {
        let form = |low, high| Form::holding(low, high).unwrap();
        assert_eq!(form(0, 255), Form { kind: IntegerKind::U8, offset: 0 });
        assert_eq!(form(18, 90), Form { kind: IntegerKind::U8, offset: 0 });
        assert_eq!(form(-50, 60), Form { kind: IntegerKind::I8, offset: 0 });
        assert_eq!(form(-100, 150), Form { kind: IntegerKind::U8, offset: -100 });
        assert_eq!(form(1000, 1200), Form { kind: IntegerKind::U8, offset: 1000 });
        assert_eq!(Form::holding(0, 1 << 64), None);
        for (low, high) in
            [(0, 255), (-128, 127), (-100, 150), (1000, 1200), (-1, 0), (i128::from(i64::MIN), 0)]
        {
            let form = form(low, high);
            for units in [low, high] {
                let stored = units - form.offset;
                let half = if form.kind.is_signed() { 1_i128 << (form.kind.bits() - 1) } else { 0 };
                let digits = Digits { bits: form.kind.bits(), values: Zeroizing::new(vec![stored + half]) };
                assert_eq!(digits.units(form, 0).unwrap(), units);
            }
        }
    }
}
