//! Schemas: what is known of a table without reading it, which is names, kinds and ranges of columns, and the number
//! of rows.

mod unit;

use serde::{Deserialize, Serialize};

use crate::ProgramError;
pub use unit::{Origin, TimeUnit, Unit};

/// Largest number, in units of the last decimal, that a column of whole or decimal numbers may declare.
pub const LARGEST_CELL: i64 = 1 << 53;
/// Largest number that a column of a program made in memory may declare: exact schemes hold it, doubles need not.
pub const WIDEST_CELL: i64 = 1 << 60;
/// Largest number of rows of a table: 2^40, or 2^31 where memory has addresses of 32 bits, as in WebAssembly.
pub const MAX_ROWS: u64 = if usize::BITS < u64::BITS { 1 << 31 } else { 1 << 40 };
/// Largest number of columns of a table, and of labels of a category.
pub const MAX_COLUMNS: usize = 4096;

/// Label of the indicator of a column of numbers that may have missing cells: 1 where there is a cell, else 0.
pub const CELLS: usize = 0;

/// Schema of a table: public even where the cells of the table are encrypted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schema {
    /// Number of rows of the table.
    pub rows: u64,
    /// Columns of the table, in order.
    pub columns: Vec<Column>,
}

/// Column of a table: name, kind and whether it is encrypted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// Name of a column of the table.
    pub name: String,
    /// Kind and range of the cells of a column.
    pub kind: Kind,
    /// Whether the cells of a column are encrypted; the server knows a clear column.
    pub encrypted: bool,
    /// Unit of a column of dates or times, which has whole numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<Unit>,
    /// Whether rows may have no cell in the column. An encrypted column of numbers has an encrypted indicator of its
    /// cells beside it then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub missing: bool,
}

/// Kind of the cells of a column, with their range or labels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Kind {
    /// Numbers v with a fixed number of decimals and low ≤ v·10^decimals ≤ high; integers have no decimals.
    Decimal {
        /// Number of decimals of a column of decimal numbers.
        decimals: u32,
        /// Least v·10^decimals of a column of decimal numbers.
        low: i64,
        /// Largest v·10^decimals of a column of decimal numbers.
        high: i64,
    },
    /// Real numbers from low to high.
    Real {
        /// Least number of a column of real numbers.
        low: f64,
        /// Largest number of a column of real numbers.
        high: f64,
    },
    /// Labels of a category, encrypted as one column of zeros and ones for each label.
    Category {
        /// Labels of the category, in order.
        labels: Vec<String>,
    },
}

impl Column {
    /// Makes an encrypted column of integers from low to high.
    #[must_use]
    pub fn integer(name: &str, low: i64, high: i64) -> Self {
        Self::decimal(name, 0, low, high)
    }

    /// Makes an encrypted column of decimal numbers; `low` and `high` count units of the last decimal.
    #[must_use]
    pub fn decimal(name: &str, decimals: u32, low: i64, high: i64) -> Self {
        Self::new(name, Kind::Decimal { decimals, low, high })
    }

    /// Makes an encrypted column of real numbers from low to high.
    #[must_use]
    pub fn real(name: &str, low: f64, high: f64) -> Self {
        Self::new(name, Kind::Real { low, high })
    }

    /// Makes an encrypted column of labels.
    #[must_use]
    pub fn category(name: &str, labels: &[&str]) -> Self {
        let labels = labels.iter().map(|&label| label.to_owned()).collect();
        Self::new(name, Kind::Category { labels })
    }

    /// Makes an encrypted column of this kind.
    #[must_use]
    pub fn new(name: &str, kind: Kind) -> Self {
        Self { name: name.to_owned(), kind, encrypted: true, unit: None, missing: false }
    }

    /// Returns the column as one in which rows may have no cell.
    ///
    /// ```
    /// use sunzi_program::Column;
    ///
    /// let age = Column::integer("age", 18, 90).with_missing();
    /// assert!(age.missing);
    /// assert_eq!(age.padding(), 0.0, "what stands in place of a missing cell");
    /// ```
    #[must_use]
    pub fn with_missing(self) -> Self {
        Self { missing: true, ..self }
    }

    /// Returns the column with a unit, for whole numbers that stand for dates or times.
    #[must_use]
    pub fn in_units(self, unit: Unit) -> Self {
        Self { unit: Some(unit), ..self }
    }

    /// Returns the column with clear cells, which the server knows.
    #[must_use]
    pub fn in_the_clear(self) -> Self {
        Self { encrypted: false, ..self }
    }

    /// Returns the number in slots that belong to no row: the one nearest to zero in the column's range, so that no
    /// computation leaves its range there; 0 for each label of a category. In a column with missing cells it is 0, and
    /// stands in place of these cells too.
    #[must_use]
    pub fn padding(&self) -> f64 {
        match self.kind {
            _ if self.missing => 0.0,
            Kind::Decimal { decimals, .. } => self.padding_units() as f64 / 10_f64.powi(decimals as i32),
            Kind::Real { low, high } => 0.0_f64.max(low).min(high),
            Kind::Category { .. } => 0.0,
        }
    }

    /// Returns the number in slots that belong to no row, in units of the last decimal; 0 for real columns.
    #[must_use]
    pub fn padding_units(&self) -> i64 {
        match self.kind {
            Kind::Decimal { low, high, .. } if !self.missing => 0.max(low).min(high),
            _ => 0,
        }
    }

    /// Whether the column is one of numbers whose cells may be missing, and so has an indicator of its cells.
    #[must_use]
    pub fn has_indicator(&self) -> bool {
        self.missing && !matches!(self.kind, Kind::Category { .. })
    }

    /// Returns the number of parts of the column that are encrypted or read by themselves: labels of a category, or
    /// numbers and the indicator of their cells if these may be missing.
    #[must_use]
    pub fn parts(&self) -> Vec<Option<usize>> {
        match &self.kind {
            Kind::Category { labels } => (0..labels.len()).map(Some).collect(),
            _ if self.missing => vec![None, Some(CELLS)],
            _ => vec![None],
        }
    }

    /// Returns the largest |v| of a column in units of the last decimal; 1 for categories and 0 for real columns.
    #[must_use]
    pub fn largest_unit(&self) -> u64 {
        match self.kind {
            Kind::Decimal { low, high, .. } => low.unsigned_abs().max(high.unsigned_abs()),
            Kind::Category { .. } => 1,
            Kind::Real { .. } => 0,
        }
    }

    fn check(&self, largest: i64) -> Result<(), ProgramError> {
        let wrong = |why: &str| Err(ProgramError::Schema(format!("column {:?}: {why}", self.name)));
        if self.name.is_empty() {
            return wrong("it needs a name");
        }
        if self.unit.is_some() && !matches!(self.kind, Kind::Decimal { decimals: 0, .. }) {
            return wrong("a unit of time is for whole numbers: give it no decimals");
        }
        match &self.kind {
            Kind::Decimal { decimals, low, high } => {
                let fits = |v: i64| v.unsigned_abs() <= largest.unsigned_abs();
                if low > high || !fits(*low) || !fits(*high) || *decimals > 15 {
                    return wrong(&format!(
                        "give a range within ±2^{} with the lower end first, and at most 15 decimals",
                        largest.ilog2()
                    ));
                }
            }
            Kind::Real { low, high } => {
                if !(low.is_finite() && high.is_finite() && low <= high && low.abs().max(high.abs()) <= 1e15)
                {
                    return wrong("give a finite range within ±1e15 with the lower end first");
                }
            }
            Kind::Category { labels } => {
                let mut sorted: Vec<&String> = labels.iter().collect();
                sorted.sort();
                sorted.dedup();
                if labels.is_empty() || sorted.len() != labels.len() || labels.len() > MAX_COLUMNS {
                    return wrong("give at least one label, each once, at most 4096");
                }
            }
        }
        Ok(())
    }
}

impl Schema {
    /// Makes the schema of these columns, after a check.
    ///
    /// # Errors
    /// [`ProgramError::Schema`]: every error of [`check`](Self::check).
    pub fn new(rows: u64, columns: Vec<Column>) -> Result<Self, ProgramError> {
        let schema = Self { rows, columns };
        schema.check()?;
        Ok(schema)
    }

    /// Checks a schema that was read from elsewhere.
    ///
    /// # Errors
    /// [`ProgramError::Schema`] for no or too many rows or columns, names that occur twice, and empty ranges.
    pub fn check(&self) -> Result<(), ProgramError> {
        self.check_up_to(LARGEST_CELL)
    }

    /// Checks that the schema is valid with cells of magnitude at most `largest`.
    pub(crate) fn check_up_to(&self, largest: i64) -> Result<(), ProgramError> {
        if self.rows == 0 || self.rows > MAX_ROWS || self.columns.len() > MAX_COLUMNS {
            let (rows, columns) = (self.rows, self.columns.len());
            return Err(ProgramError::Schema(format!(
                "{rows} rows and {columns} columns: give 1 to 2^40 rows and at most {MAX_COLUMNS} columns"
            )));
        }
        let mut names: Vec<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
        names.sort_unstable();
        if let Some([twice, _]) = names.windows(2).find(|pair| pair.first() == pair.last()) {
            return Err(ProgramError::Schema(format!("two columns are named {twice:?}")));
        }
        self.columns.iter().try_for_each(|column| column.check(largest))
    }

    /// Returns the index of the column with this name.
    #[must_use]
    pub fn position(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_schemas_are_refused() {
        let good = Column::integer("a", -3, 7);
        assert!(Schema::new(5, vec![good.clone()]).is_ok());
        for columns in [
            vec![good.clone(), Column::real("a", 0.0, 1.0)],
            vec![Column::integer("", 0, 1)],
            vec![Column::integer("a", 1, 0)],
            vec![Column::integer("a", 0, LARGEST_CELL + 1)],
            vec![Column::integer("a", i64::MIN, 0)],
            vec![Column::decimal("a", 16, 0, 1)],
            vec![Column::real("a", f64::NAN, 1.0)],
            vec![Column::real("a", 0.0, f64::INFINITY)],
            vec![Column::category("a", &[])],
            vec![Column::category("a", &["x", "x"])],
            vec![Column::decimal("a", 1, 0, 9).in_units(Unit { time: TimeUnit::Days, since: Origin::Epoch })],
        ] {
            assert!(Schema::new(5, columns).is_err());
        }
        assert!(Schema::new(0, vec![good.clone()]).is_err());
        assert!(Schema::new(MAX_ROWS + 1, vec![good]).is_err());
    }

    #[test]
    fn units_are_stored_by_their_names_and_left_out_where_there_are_none() {
        for unit in TimeUnit::ALL.into_iter().flat_map(|time| Origin::ALL.map(|since| Unit { time, since })) {
            let column = Column::integer("a", 0, 9).in_units(unit);
            let text = serde_json::to_string(&column).unwrap();
            assert!(text.contains(&unit.to_string()), "{text}");
            assert_eq!(serde_json::from_str::<Column>(&text).unwrap(), column);
        }
        let plain = serde_json::to_string(&Column::integer("a", 0, 9)).unwrap();
        assert!(!plain.contains("unit") && !plain.contains("missing"), "{plain}");
        let missing = Column::integer("a", 0, 9).with_missing();
        let text = serde_json::to_string(&missing).unwrap();
        assert_eq!(serde_json::from_str::<Column>(&text).unwrap(), missing);
        for wrong in ["days", "days since 1970", "weeks since 1970-01-01", "days  since 1970-01-01"] {
            assert!(Unit::try_from(wrong.to_owned()).unwrap_err().contains("such as"), "{wrong}");
        }
    }

    #[test]
    fn padding_stays_in_range() {
        assert_eq!(Column::integer("a", 29, 77).padding_units(), 29);
        assert_eq!(Column::integer("a", -9, -2).padding_units(), -2);
        assert_eq!(Column::decimal("a", 1, 15, 20).padding(), 1.5);
        assert_eq!(Column::real("a", -1.0, 1.0).padding(), 0.0);
        assert_eq!(Column::category("a", &["x"]).padding(), 0.0);
        assert_eq!(Column::integer("a", 29, 77).with_missing().padding_units(), 0);
        assert_eq!(Column::real("a", 1.0, 2.0).with_missing().padding(), 0.0);
    }
}
