//! Values of reproduced tables, exact or measured.

use std::fmt;

use serde::{Serialize, Serializer};

/// A value of a reproduced table.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A value that is a whole number.
    Integer(u64),
    /// A value that is a quotient of two whole numbers, in lowest terms.
    Ratio(u64, u64),
    /// A measured value and the number of decimals worth showing.
    Decimal(f64, usize),
    /// A value that is a text of a word or two.
    Text(&'static str),
}

impl From<u64> for Value {
    fn from(value: u64) -> Self {
        Self::Integer(value)
    }
}

impl From<u32> for Value {
    fn from(value: u32) -> Self {
        Self::Integer(value.into())
    }
}

impl From<usize> for Value {
    fn from(value: usize) -> Self {
        Self::Integer(value as u64)
    }
}

impl From<&'static str> for Value {
    fn from(text: &'static str) -> Self {
        Self::Text(text)
    }
}

/// A value from a measured number and the decimals worth showing.
impl From<(f64, usize)> for Value {
    fn from((value, decimals): (f64, usize)) -> Self {
        Self::Decimal(value, decimals)
    }
}

impl Value {
    /// The value as a number; none for a text.
    pub(super) fn number(&self) -> Option<f64> {
        match *self {
            Self::Integer(value) => Some(value as f64),
            Self::Ratio(numerator, denominator) => Some(numerator as f64 / denominator as f64),
            Self::Decimal(value, _) => Some(value),
            Self::Text(_) => None,
        }
    }

    /// Whether a printed value is what `other` rounds to.
    pub(super) fn shows(&self, other: &Self) -> bool {
        let (Self::Decimal(value, decimals), Some(other)) = (self, other.number()) else {
            return self == other;
        };
        let half = 0.5 * 10_f64.powi(-(*decimals as i32));
        (value - other).abs() <= half * (1.0 + 1e-9)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(value) => write!(f, "{value}"),
            Self::Ratio(value, 1) => write!(f, "{value}"),
            Self::Ratio(numerator, denominator) => write!(f, "{numerator}/{denominator}"),
            Self::Decimal(value, decimals) => write!(f, "{value:.decimals$}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Integer(value) => serializer.serialize_u64(*value),
            Self::Decimal(value, _) => serializer.serialize_f64(*value),
            other => serializer.collect_str(other),
        }
    }
}
