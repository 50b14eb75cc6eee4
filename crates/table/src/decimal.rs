//! Decimal numbers exactly as they are written; never through floating point.

/// A decimal number mantissa · 10^exponent, without trailing zeros in the mantissa; zero is 0 · 10^0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decimal {
    mantissa: i128,
    exponent: i32,
}

/// Reason why a text is no decimal number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotDecimal {
    /// The text for a decimal number is blank.
    #[error("is empty, expected a decimal number")]
    Empty,
    /// The text is NaN or an infinity.
    #[error("is not a finite number, expected a decimal number")]
    NotFinite,
    /// The text is no number for any other reason.
    #[error("is not a number, expected a decimal number such as 17.99 or -2e-3")]
    NotANumber,
    /// The text is no number with a decimal comma.
    #[error("is not a number, expected a decimal number such as 17,99, without points between thousands")]
    NotACommaNumber,
    /// The text has more than 37 significant digits or an exponent beyond ±400.
    #[error("is out of range, expected at most 37 significant digits and exponents within ±400")]
    TooLong,
}

/// Number of significant digits that always fit `i128`.
const MOST_DIGITS: usize = 37;
/// Largest exponent: larger ones exceed double precision by far.
const LARGEST_EXPONENT: i32 = 400;

/// Digits of a number without zeros at either end.
struct Significant {
    mantissa: i128,
    trailing_zeros: usize,
}

impl Significant {
    /// Reads digits in one pass. What is no digit is told before there are too many.
    fn of(digits: impl Iterator<Item = u8>) -> Result<Self, NotDecimal> {
        let (mut mantissa, mut length, mut zeros) = (0_i128, 0_usize, 0_usize);
        for byte in digits {
            if !byte.is_ascii_digit() {
                return Err(NotDecimal::NotANumber);
            }
            if byte == b'0' {
                zeros += usize::from(length > 0);
                continue;
            }
            length += zeros + 1;
            if length <= MOST_DIGITS {
                // A run of zeros counts once a digit follows that is none.
                for _ in 0..=zeros {
                    mantissa *= 10;
                }
                mantissa += i128::from(byte - b'0');
            }
            zeros = 0;
        }
        if length > MOST_DIGITS {
            return Err(NotDecimal::TooLong);
        }
        Ok(Self { mantissa, trailing_zeros: zeros })
    }
}

impl Decimal {
    /// Parses \[sign\] digits \[. digits\] \[e \[sign\] digits\], with digits on at least one side of the point.
    ///
    /// # Errors
    /// Every [`NotDecimal`], by the text.
    pub fn parse(text: &str) -> Result<Self, NotDecimal> {
        Self::parse_by(text, '.')
    }

    /// Parses a number as [`parse`](Self::parse) does, with a decimal comma in place of the point.
    ///
    /// # Errors
    /// Every [`NotDecimal`], by the text.
    pub fn parse_with_comma(text: &str) -> Result<Self, NotDecimal> {
        Self::parse_by(text, ',').map_err(|error| match error {
            NotDecimal::NotANumber => NotDecimal::NotACommaNumber,
            other => other,
        })
    }

    fn parse_by(text: &str, point: char) -> Result<Self, NotDecimal> {
        let text = text.trim();
        let (negative, unsigned) = split_sign(text);
        if unsigned.is_empty() {
            return Err(if text.is_empty() { NotDecimal::Empty } else { NotDecimal::NotANumber });
        }
        if ["nan", "inf", "infinity"].iter().any(|word| unsigned.eq_ignore_ascii_case(word)) {
            return Err(NotDecimal::NotFinite);
        }
        let (number, power) = match unsigned.split_once(['e', 'E']) {
            Some((number, power)) => (number, parse_power(power)?),
            None => (unsigned, 0),
        };
        let (whole, fraction) = number.split_once(point).unwrap_or((number, ""));
        if whole.len() + fraction.len() == 0 {
            return Err(NotDecimal::NotANumber);
        }
        let digits = Significant::of(whole.bytes().chain(fraction.bytes()))?;
        if digits.mantissa == 0 {
            return Ok(Self { mantissa: 0, exponent: 0 });
        }
        let exponent = i64::from(power) + digits.trailing_zeros as i64 - fraction.len() as i64;
        let exponent = i32::try_from(exponent).map_err(|_| NotDecimal::TooLong)?;
        if exponent.abs() > LARGEST_EXPONENT {
            return Err(NotDecimal::TooLong);
        }
        Ok(Self { mantissa: if negative { -digits.mantissa } else { digits.mantissa }, exponent })
    }

    /// Makes the number mantissa · 10^exponent, without trailing zeros in the mantissa.
    #[must_use]
    pub fn new(mut mantissa: i128, mut exponent: i32) -> Self {
        if mantissa == 0 {
            return Self { mantissa: 0, exponent: 0 };
        }
        while mantissa % 10 == 0 {
            (mantissa, exponent) = (mantissa / 10, exponent.saturating_add(1));
        }
        Self { mantissa, exponent }
    }

    /// Returns the double-precision number nearest to the decimal one.
    #[must_use]
    pub fn to_f64(self) -> f64 {
        // Parsing rounds once.
        format!("{}e{}", self.mantissa, self.exponent).parse().unwrap_or(f64::NAN)
    }

    /// Number of decimals needed to write the number without rounding.
    #[must_use]
    pub fn decimals(self) -> u32 {
        self.exponent.min(0).unsigned_abs()
    }

    /// Returns the number times 10^decimals, rounded half away from zero; `None` beyond `i128`.
    #[must_use]
    pub fn scaled(self, decimals: u32) -> Option<i128> {
        let shift = i64::from(self.exponent) + i64::from(decimals);
        let power = |shift: i64| u32::try_from(shift).ok().and_then(|shift| 10_i128.checked_pow(shift));
        if self.mantissa == 0 {
            return Some(0);
        }
        if shift >= 0 {
            return self.mantissa.checked_mul(power(shift)?);
        }
        // A divisor beyond i128 is more than twice any mantissa.
        let Some(divisor) = power(-shift) else { return Some(0) };
        let (quotient, rest) = (self.mantissa / divisor, self.mantissa % divisor);
        let away = rest.unsigned_abs() >= divisor.unsigned_abs().div_ceil(2);
        Some(if away { quotient + self.mantissa.signum() } else { quotient })
    }

    /// Returns mantissa and exponent of the number.
    #[must_use]
    pub fn parts(self) -> (i128, i32) {
        (self.mantissa, self.exponent)
    }
}

/// Writes the number by digits and a point, or with an exponent where that would take many zeros.
impl std::fmt::Display for Decimal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (sign, digits) =
            (if self.mantissa < 0 { "-" } else { "" }, self.mantissa.unsigned_abs().to_string());
        match self.exponent {
            0 => write!(f, "{sign}{digits}"),
            zeros @ 1..=20 => write!(f, "{sign}{digits}{:0<width$}", "", width = zeros as usize),
            places @ -20..=-1 => {
                let places = places.unsigned_abs() as usize;
                let digits = format!("{digits:0>width$}", width = places + 1);
                let (whole, fraction) = digits.split_at(digits.len() - places);
                write!(f, "{sign}{whole}.{fraction}")
            }
            exponent => write!(f, "{sign}{digits}e{exponent}"),
        }
    }
}

fn split_sign(text: &str) -> (bool, &str) {
    match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    }
}

fn parse_power(text: &str) -> Result<i32, NotDecimal> {
    let (negative, digits) = split_sign(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(NotDecimal::NotANumber);
    }
    // The bound is beyond any accepted exponent, even after a long fraction.
    let value = digits.parse::<i32>().unwrap_or(i32::MAX).min(1 << 29);
    Ok(if negative { -value } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> (i128, i32) {
        Decimal::parse(text).unwrap().parts()
    }

    #[test]
    fn numbers_are_taken_digit_by_digit() {
        for (text, parts) in [
            ("0", (0, 0)),
            ("-0.000", (0, 0)),
            ("0e999999999999", (0, 0)),
            ("17.99", (1799, -2)),
            ("+.5", (5, -1)),
            ("-5.", (-5, 0)),
            ("1001", (1001, 0)),
            ("1000", (1, 3)),
            ("000123.4500", (12345, -2)),
            ("1.5e3", (15, 2)),
            ("1.5E-3", (15, -4)),
            ("12e+2", (12, 2)),
            (" 7 ", (7, 0)),
            ("0.1", (1, -1)),
            ("1e400", (1, 400)),
            ("1234567890123456789012345678901234567", (1_234_567_890_123_456_789_012_345_678_901_234_567, 0)),
            (
                "-9999999999999999999999999999999999999",
                (-9_999_999_999_999_999_999_999_999_999_999_999_999, 0),
            ),
        ] {
            assert_eq!(of(text), parts, "{text}");
        }
    }

    #[test]
    fn everything_else_is_refused_by_kind() {
        use NotDecimal::{Empty, NotANumber, NotFinite, TooLong};
        for (text, kind) in [
            ("", Empty),
            ("  ", Empty),
            ("NaN", NotFinite),
            ("-nan", NotFinite),
            ("inf", NotFinite),
            ("+Infinity", NotFinite),
            ("-", NotANumber),
            (".", NotANumber),
            ("e5", NotANumber),
            ("1e", NotANumber),
            ("1e+", NotANumber),
            ("1e5.0", NotANumber),
            ("1,5", NotANumber),
            ("1.2.3", NotANumber),
            ("--1", NotANumber),
            ("1 2", NotANumber),
            ("0x10", NotANumber),
            ("1_000", NotANumber),
            ("١", NotANumber),
            ("twelve", NotANumber),
            ("1e401", TooLong),
            ("1e-401", TooLong),
            ("1e99999999999999999999", TooLong),
            ("1e-99999999999999999999", TooLong),
            ("12345678901234567890123456789012345678", TooLong),
            ("10000000000000000000000000000000000001", TooLong),
            ("12345678901234567890123456789012345678x", NotANumber),
        ] {
            assert_eq!(Decimal::parse(text), Err(kind), "{text:?}");
        }
    }

    #[test]
    fn a_decimal_comma_is_read_where_it_is_asked_for() {
        for (text, parts) in [("17,99", (1799, -2)), ("-,5", (-5, -1)), ("1000", (1, 3)), ("1,5e3", (15, 2))]
        {
            assert_eq!(Decimal::parse_with_comma(text).unwrap().parts(), parts, "{text}");
        }
        for text in ["1.5", "1.000,5", "1,5,0", "x"] {
            assert_eq!(Decimal::parse_with_comma(text), Err(NotDecimal::NotACommaNumber), "{text}");
        }
        assert_eq!(Decimal::parse_with_comma("nan"), Err(NotDecimal::NotFinite));
    }

    #[test]
    fn digits_come_back() {
        for text in
            ["0", "-3", "100", "1.5", "-0.05", "12345.678", "1e21", "-7e-21", "0.00000000000000000001"]
        {
            assert_eq!(Decimal::parse(text).unwrap().to_string(), text);
            assert_eq!(Decimal::parse(text).unwrap().to_f64(), text.parse::<f64>().unwrap());
        }
        assert_eq!(Decimal::new(-12_500, -4).parts(), (-125, -2));
        assert_eq!(Decimal::new(0, 7).parts(), (0, 0));
    }

    #[test]
    fn rounding_is_half_away_from_zero() {
        for (text, decimals, scaled) in [
            ("0.5", 0, 1),
            ("-0.5", 0, -1),
            ("0.49", 0, 0),
            ("-0.4999", 0, 0),
            ("1.5", 0, 2),
            ("2.5", 0, 3),
            ("-2.5", 0, -3),
            ("2.449", 1, 24),
            ("2.45", 1, 25),
            ("1e-40", 3, 0),
            ("9e-38", 0, 0),
            ("0.15", 2, 15),
            ("3", 4, 30_000),
        ] {
            assert_eq!(Decimal::parse(text).unwrap().scaled(decimals), Some(scaled), "{text} {decimals}");
        }
        assert_eq!(Decimal::parse("1e38").unwrap().scaled(0), Some(10_i128.pow(38)));
        assert_eq!(Decimal::parse("1e38").unwrap().scaled(1), None);
        assert_eq!(Decimal::parse("2e38").unwrap().scaled(0), None);
        assert_eq!(Decimal::parse("0").unwrap().scaled(4_000_000_000), Some(0));
    }

    #[test]
    fn decimals_are_those_that_are_needed() {
        for (text, decimals) in
            [("1.500", 1), ("1200", 0), ("1e-7", 7), ("0.000", 0), ("-12.25", 2), ("1.25e1", 1)]
        {
            assert_eq!(Decimal::parse(text).unwrap().decimals(), decimals, "{text}");
        }
    }
}
