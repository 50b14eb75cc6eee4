//! Columns as integers: cell · 10^decimals, exact or with a known loss.

use sunzi::table::Decimal;

use super::select::NumberColumn;
use crate::error::{CliError, quoted};

/// Bits of the widest plaintext space, sign included, that the demonstration asks for.
pub(crate) const MOST_BITS: u32 = 120;
/// Largest magnitude that a sum of the job may reach.
const LARGEST_SUM: u128 = (1 << (MOST_BITS - 1)) - 1;

/// Largest number of decimals that a cell can have; more never help.
pub(crate) const MOST_DECIMALS: u32 = 400;

/// Number of decimals that a column keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decimals {
    /// As many decimals as the cells have, fewer if the sums would not fit otherwise.
    Auto,
    /// This many decimals for every column.
    Fixed(u32),
}

/// A column of integers v that stand for v/10^decimals.
#[derive(Debug)]
pub(crate) struct FixedColumn {
    /// Name of the column in the table.
    pub(crate) name: String,
    /// Number of decimals that the column keeps.
    pub(crate) decimals: u32,
    /// Number of decimals that the column's cells have.
    pub(crate) written: u32,
    /// Integers of the column, one a row.
    pub(crate) values: Vec<i128>,
    /// Sum of squares Σ v², the largest magnitude any sum over this column can reach.
    pub(crate) sum_of_squares: u128,
    /// Largest |v/10^decimals − cell| of the column; 0 if the encoding is exact.
    pub(crate) max_error: f64,
}

/// Encodes a column; refused before any computing if its sums could not fit.
pub(crate) fn encode(column: &NumberColumn, decimals: Decimals) -> Result<FixedColumn, CliError> {
    let written = column.numbers.iter().map(|number| number.decimals()).max().unwrap_or(0);
    let fitting = |most: u32| (0..=most).rev().find_map(|k| Some((k, scaled(&column.numbers, k)?)));
    match decimals {
        Decimals::Auto => match fitting(written) {
            Some((kept, (values, squares))) => Ok(finish(column, kept, written, values, squares)),
            None => Err(refuse(column, 0, None)),
        },
        Decimals::Fixed(k) => match scaled(&column.numbers, k) {
            Some((values, squares)) => Ok(finish(column, k, written, values, squares)),
            None => Err(refuse(column, k, fitting(k.min(MOST_DECIMALS)).map(|(fits, _)| fits))),
        },
    }
}

/// Returns the integers of a column and the sum of their squares, unless that exceeds the plaintext space.
fn scaled(numbers: &[Decimal], decimals: u32) -> Option<(Vec<i128>, u128)> {
    let mut sum = 0_u128;
    let mut values = Vec::with_capacity(numbers.len());
    for number in numbers {
        let value = number.scaled(decimals)?;
        let magnitude = value.unsigned_abs();
        sum = magnitude.checked_mul(magnitude).and_then(|square| sum.checked_add(square))?;
        if sum > LARGEST_SUM {
            return None;
        }
        values.push(value);
    }
    Some((values, sum))
}

fn finish(
    column: &NumberColumn,
    decimals: u32,
    written: u32,
    values: Vec<i128>,
    sum_of_squares: u128,
) -> FixedColumn {
    let errors =
        column.numbers.iter().zip(&values).map(|(number, value)| error_of(*number, decimals, *value));
    let max_error = errors.fold(0.0, f64::max);
    FixedColumn { name: column.name.clone(), decimals, written, values, sum_of_squares, max_error }
}

/// Returns the error |value/10^decimals − number|, exact up to the last conversion to double precision.
fn error_of(number: Decimal, decimals: u32, value: i128) -> f64 {
    let (mantissa, exponent) = number.parts();
    let shift = i64::from(exponent) + i64::from(decimals);
    if mantissa == 0 || shift >= 0 {
        return 0.0;
    }
    let divisor = u32::try_from(-shift).ok().and_then(|shift| 10_i128.checked_pow(shift));
    // A mantissa beyond i128 was rounded to zero.
    let rest = divisor.map_or(mantissa, |divisor| mantissa - value * divisor);
    rest.unsigned_abs() as f64 * 10_f64.powi(exponent)
}

fn refuse(column: &NumberColumn, decimals: u32, fits: Option<u32>) -> CliError {
    let advice = match fits {
        Some(k) => format!("use --decimals {k} or fewer"),
        None => "no number of decimals helps: give the column in a larger unit".to_owned(),
    };
    let rows = column.numbers.len();
    CliError::input(format!(
        "column {}: with {decimals} decimals the sum of squares over {rows} rows does not fit the plaintext space, \
         whose range is ±(2^{} − 1); {advice}",
        quoted(&column.name),
        MOST_BITS - 1
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(cells: &[&str]) -> NumberColumn {
        let numbers = cells.iter().map(|cell| Decimal::parse(cell).unwrap()).collect();
        let doubles = cells.iter().map(|cell| cell.parse().unwrap()).collect();
        NumberColumn { name: "x".to_owned(), numbers, doubles }
    }

    #[test]
    fn auto_keeps_every_digit_there_is() {
        let fixed = encode(&column(&["1.25", "-3", "0.5", "1e2"]), Decimals::Auto).unwrap();
        assert_eq!((fixed.decimals, fixed.values.as_slice()), (2, [125, -300, 50, 10_000].as_slice()));
        assert_eq!(fixed.sum_of_squares, 125 * 125 + 300 * 300 + 50 * 50 + 100_000_000);
        assert!(fixed.max_error == 0.0);
    }

    #[test]
    fn auto_gives_up_as_few_decimals_as_possible() {
        // v² < 2^119 means v < 8.15·10^17.
        let fixed = encode(&column(&["8.1234567890123456789"]), Decimals::Auto).unwrap();
        assert_eq!((fixed.decimals, fixed.written), (17, 19));
        assert_eq!(fixed.values, [812_345_678_901_234_568]);
        assert!((fixed.max_error - 1.1e-18).abs() < 1e-20, "{}", fixed.max_error);
        let fixed = encode(&column(&["8.2234567890123456789"]), Decimals::Auto).unwrap();
        assert_eq!(fixed.decimals, 16);
        let tiny = encode(&column(&["1e-400", "1e5"]), Decimals::Auto).unwrap();
        assert_eq!((tiny.decimals, tiny.values[0]), (12, 0));
    }

    #[test]
    fn a_fixed_number_of_decimals_rounds_and_says_how_much_was_lost() {
        let fixed = encode(&column(&["0.125", "-0.135", "2"]), Decimals::Fixed(2)).unwrap();
        assert_eq!(fixed.values, [13, -14, 200]);
        assert!((fixed.max_error - 0.005).abs() < 1e-15);
        let padded = encode(&column(&["0.5"]), Decimals::Fixed(4)).unwrap();
        assert_eq!((padded.values[0], padded.max_error.to_bits()), (5000, 0));
    }

    #[test]
    fn the_ends_of_the_range_are_exact() {
        // floor(sqrt(2^119 - 1))
        let root = 815_238_614_083_298_888_u128;
        assert!(root * root <= LARGEST_SUM && (root + 1) * (root + 1) > LARGEST_SUM);
        assert!(encode(&column(&[&root.to_string()]), Decimals::Fixed(0)).is_ok());
        let over = (root + 1).to_string();
        for decimals in [Decimals::Auto, Decimals::Fixed(0)] {
            let error = encode(&column(&[&over]), decimals).unwrap_err().to_string();
            assert!(error.contains("±(2^119 − 1)") && error.contains("larger unit"), "{error}");
        }
        let error = encode(&column(&[&root.to_string()]), Decimals::Fixed(1)).unwrap_err().to_string();
        assert!(error.contains("use --decimals 0 or fewer"), "{error}");
        // Two rows that fit alone do not fit together.
        assert!(encode(&column(&[&root.to_string(), &root.to_string()]), Decimals::Fixed(0)).is_err());
        assert!(encode(&column(&["1e38"]), Decimals::Auto).is_err());
        assert!(encode(&column(&["1"]), Decimals::Fixed(4_000_000_000)).is_err());
        assert!(encode(&column(&["0"]), Decimals::Fixed(400)).is_ok());
    }
}
