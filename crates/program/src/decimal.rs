//! Decimal fractions: the constants of a program, exactly as they were written.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Largest number of decimals of a decimal fraction.
pub const MAX_DECIMALS: u32 = 30;

/// Decimal fraction mantissa / 10^decimals, without trailing zeros after the point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Decimal {
    mantissa: i128,
    decimals: u32,
}

/// Error for a text that is no decimal fraction, or that has too many digits.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no decimal number of at most 36 digits, {MAX_DECIMALS} of them behind the point")]
pub struct DecimalError {
    /// Text that is no decimal fraction, shortened.
    pub text: String,
}

impl Decimal {
    /// Decimal fraction 0.
    pub const ZERO: Self = Self { mantissa: 0, decimals: 0 };
    /// Decimal fraction 1.
    pub const ONE: Self = Self { mantissa: 1, decimals: 0 };
    /// Decimal fraction −1.
    pub const MINUS_ONE: Self = Self { mantissa: -1, decimals: 0 };

    /// Makes the fraction mantissa / 10^decimals; `None` for more than [`MAX_DECIMALS`] decimals that are not zero.
    #[must_use]
    pub fn new(mut mantissa: i128, mut decimals: u32) -> Option<Self> {
        while decimals > 0 && mantissa % 10 == 0 {
            (mantissa, decimals) = (mantissa / 10, decimals - 1);
        }
        (decimals <= MAX_DECIMALS).then_some(Self { mantissa, decimals })
    }

    /// Returns the shortest decimal fraction that reads as a double; `None` if it takes too many digits.
    #[must_use]
    pub fn from_f64(value: f64) -> Option<Self> {
        value.to_string().parse().ok()
    }

    /// Returns all digits of the fraction, as an integer.
    #[must_use]
    pub fn mantissa(&self) -> i128 {
        self.mantissa
    }

    /// Returns the number of digits after the point.
    #[must_use]
    pub fn decimals(&self) -> u32 {
        self.decimals
    }

    /// Returns the fraction times 10^decimals; `None` if that is no integer or does not fit.
    #[must_use]
    pub fn scaled(&self, decimals: u32) -> Option<i128> {
        let factor = 10_i128.checked_pow(decimals.checked_sub(self.decimals)?)?;
        self.mantissa.checked_mul(factor)
    }

    /// Returns the double-precision number nearest to the fraction.
    #[must_use]
    pub fn to_f64(self) -> f64 {
        // Parsing rounds once.
        self.to_string().parse().unwrap_or(f64::NAN)
    }

    /// Returns the sum of two fractions; `None` if it has too many digits.
    #[must_use]
    pub fn checked_add(self, other: Self) -> Option<Self> {
        let decimals = self.decimals.max(other.decimals);
        Self::new(self.scaled(decimals)?.checked_add(other.scaled(decimals)?)?, decimals)
    }

    /// Returns the product of two fractions; `None` if it has too many digits.
    #[must_use]
    pub fn checked_mul(self, other: Self) -> Option<Self> {
        Self::new(self.mantissa.checked_mul(other.mantissa)?, self.decimals + other.decimals)
    }

    /// Returns the negation −x of a fraction; `None` for the least mantissa.
    #[must_use]
    pub fn checked_neg(self) -> Option<Self> {
        Some(Self { mantissa: self.mantissa.checked_neg()?, ..self })
    }

    /// Returns the reciprocal 1/x of a fraction; `None` where that is no decimal fraction.
    #[must_use]
    pub fn reciprocal(self) -> Option<Self> {
        let (mut cofactor, mut twos, mut fives) = (self.mantissa.unsigned_abs(), 0_u32, 0_u32);
        if cofactor == 0 {
            return None;
        }
        while cofactor.is_multiple_of(2) {
            (cofactor, twos) = (cofactor / 2, twos + 1);
        }
        while cofactor.is_multiple_of(5) {
            (cofactor, fives) = (cofactor / 5, fives + 1);
        }
        if cofactor != 1 {
            return None;
        }
        // 1/(2^a·5^b) = 2^(p − a)·5^(p − b)/10^p for p = max(a, b).
        let places = twos.max(fives);
        let whole = 5_i128.checked_pow(places - fives)?.checked_mul(2_i128.checked_pow(places - twos)?)?;
        let whole = whole.checked_mul(self.mantissa.signum())?;
        let mantissa = whole.checked_mul(10_i128.checked_pow(self.decimals)?)?;
        Self::new(mantissa, places)
    }
}

impl From<i64> for Decimal {
    fn from(value: i64) -> Self {
        Self { mantissa: value.into(), decimals: 0 }
    }
}

impl FromStr for Decimal {
    type Err = DecimalError;

    /// Reads a decimal fraction of digits with at most one point and a sign, as `-12.5`, without exponent.
    fn from_str(text: &str) -> Result<Self, DecimalError> {
        let wrong = || DecimalError { text: text.chars().take(60).collect() };
        let (negative, digits) = match text.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, text),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let all = whole.chars().chain(fraction.chars());
        if whole.is_empty() || !all.clone().all(|c| c.is_ascii_digit()) || digits.ends_with('.') {
            return Err(wrong());
        }
        let fraction = fraction.trim_end_matches('0');
        let digits = whole.trim_start_matches('0').len() + fraction.len();
        if digits > 36 || fraction.len() > MAX_DECIMALS as usize {
            return Err(wrong());
        }
        let digits = whole.bytes().chain(fraction.bytes());
        let mantissa = digits.fold(0_i128, |sum, digit| sum * 10 + i128::from(digit - b'0'));
        let mantissa = if negative { -mantissa } else { mantissa };
        Self::new(mantissa, fraction.len() as u32).ok_or_else(wrong)
    }
}

impl TryFrom<String> for Decimal {
    type Error = DecimalError;

    fn try_from(text: String) -> Result<Self, DecimalError> {
        text.parse()
    }
}

impl From<Decimal> for String {
    fn from(value: Decimal) -> Self {
        value.to_string()
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.mantissa < 0 { "-" } else { "" };
        let decimals = self.decimals as usize;
        let digits = format!("{:0>width$}", self.mantissa.unsigned_abs(), width = decimals + 1);
        let (whole, fraction) = digits.split_at(digits.len() - decimals);
        let point = if decimals > 0 { "." } else { "" };
        write!(f, "{sign}{whole}{point}{fraction}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn d(text: &str) -> Decimal {
        text.parse().unwrap()
    }

    #[test]
    fn texts_and_numbers_agree() {
        for (text, back) in [
            ("0", "0"),
            ("-0.50", "-0.5"),
            ("007", "7"),
            ("12.340", "12.34"),
            ("-3", "-3"),
            ("0.001", "0.001"),
        ] {
            assert_eq!(d(text).to_string(), back);
            assert_eq!(d(text).to_f64(), text.parse::<f64>().unwrap());
        }
        for wrong in ["", "-", ".5", "5.", "1e3", "1.2.3", "٣", "+1", "0.0000000000000000000000000000001"] {
            assert!(wrong.parse::<Decimal>().is_err(), "{wrong}");
        }
        assert!("1".repeat(37).parse::<Decimal>().is_err());
        assert_eq!(Decimal::from_f64(0.1), Some(d("0.1")));
        assert_eq!(Decimal::from_f64(f64::NAN), None);
        assert_eq!(Decimal::from_f64(1e-40), None);
        assert_eq!(Decimal::from_f64(1e40), None);
    }

    #[test]
    fn arithmetic_is_exact_or_nothing() {
        assert_eq!(d("0.5").checked_add(d("0.25")), Some(d("0.75")));
        assert_eq!(d("0.5").checked_mul(d("-0.4")), Some(d("-0.2")));
        assert_eq!(d("2.5").scaled(3), Some(2500));
        assert_eq!(d("2.5").scaled(0), None);
        let large = Decimal::new(i128::MAX, 0).unwrap();
        assert_eq!(large.checked_add(Decimal::ONE), None);
        assert_eq!(large.checked_mul(large), None);
        assert_eq!(Decimal::new(i128::MIN, 0).unwrap().checked_neg(), None);
        for (x, inverse) in [("4", "0.25"), ("-0.05", "-20"), ("1", "1"), ("1.6", "0.625"), ("10", "0.1")] {
            assert_eq!(d(x).reciprocal(), Some(d(inverse)), "{x}");
        }
        assert_eq!(d("3").reciprocal(), None);
        assert_eq!(Decimal::ZERO.reciprocal(), None);
    }
}
