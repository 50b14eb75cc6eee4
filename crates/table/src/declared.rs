//! Schemas as files that people read and write: JSON with ranges in decimals, dates and times.

use serde::{Deserialize, Serialize};
use sunzi_program::schema::{Kind, Unit};
use sunzi_program::{Column, Schema};

use crate::{Asked, Decimal, Moment, TableError};

/// Number of significant digits that a number of JSON always keeps: more are written as a text.
const DIGITS: u128 = 1_000_000_000_000_000;

/// A declared schema, whose number of rows may be missing.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SchemaFile {
    #[serde(skip_serializing_if = "Option::is_none")]
    rows: Option<u64>,
    columns: Vec<ColumnFile>,
}

/// A declared column; it is encrypted unless the file says otherwise.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ColumnFile {
    name: String,
    kind: KindFile,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    unit: Option<Unit>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    missing: bool,
    #[serde(default = "encrypted")]
    encrypted: bool,
}

fn encrypted() -> bool {
    true
}

/// Kind of a declared column. A range has both ends as people write them; `low` and `high` are what earlier releases wrote, decimal numbers in
/// units of the last decimal.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum KindFile {
    Decimal {
        #[serde(default)]
        decimals: u32,
        #[serde(skip_serializing_if = "Option::is_none")]
        range: Option<(End, End)>,
        #[serde(skip_serializing_if = "Option::is_none")]
        low: Option<i64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        high: Option<i64>,
    },
    Real {
        #[serde(skip_serializing_if = "Option::is_none")]
        range: Option<(f64, f64)>,
        #[serde(skip_serializing_if = "Option::is_none")]
        low: Option<f64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        high: Option<f64>,
    },
    Category {
        labels: Vec<String>,
    },
}

/// Returns the ends of a range by the one form in which they are given.
fn ends<T, V>(
    range: Option<(T, T)>,
    old: (Option<V>, Option<V>),
    read: impl Fn(T) -> Result<V, String>,
) -> Result<(V, V), String> {
    match (range, old) {
        (Some((low, high)), (None, None)) => Ok((read(low)?, read(high)?)),
        (None, (Some(low), Some(high))) => Ok((low, high)),
        _ => Err("needs a range, such as \"range\": [0, 99.5]".to_owned()),
    }
}

/// End of a range: a number, or a text with a number of many digits, a date or a time.
#[derive(Serialize, Deserialize)]
#[serde(untagged, expecting = "expected an end of a range: a number, or a text such as \"2024-12-31\"")]
enum End {
    Number(serde_json::Number),
    Text(String),
}

/// Reads a schema from JSON. The range of a column is written in numbers, dates or times; rows may be left out, since a table is counted.
///
/// ```
/// let asked = sunzi_table::read_schema(
///     r#"{"columns": [
///         {"name": "cost", "kind": {"decimal": {"decimals": 2, "range": [0, 999.99]}}},
///         {"name": "day", "kind": {"decimal": {"range": ["2024-01-01", "2024-12-31"]}}, "unit": "days since 1970-01-01"}
///     ]}"#,
/// )?;
/// assert_eq!(asked.declared.map(|columns| columns.len()), Some(2));
/// # Ok::<(), sunzi_table::TableError>(())
/// ```
///
/// # Errors
/// [`TableError::Schema`] for other JSON; [`TableError::Column`] for a range that its decimals do not hold; [`TableError::Program`] for invalid columns.
pub fn read_schema(json: &str) -> Result<Asked, TableError> {
    let SchemaFile { rows, columns } = serde_json::from_str(json)?;
    let columns: Vec<Column> = columns.into_iter().map(ColumnFile::column).collect::<Result<_, _>>()?;
    Schema::new(rows.unwrap_or(1), columns.clone())?;
    Ok(Asked { declared: Some(columns), rows, ..Asked::default() })
}

/// Writes a schema as JSON for people, which [`read_schema`] reads.
///
/// # Errors
/// [`TableError::Schema`] if the JSON cannot be made.
pub fn write_schema(schema: &Schema) -> Result<String, TableError> {
    let columns = schema.columns.iter().map(ColumnFile::of).collect();
    Ok(serde_json::to_string_pretty(&SchemaFile { rows: Some(schema.rows), columns })?)
}

impl ColumnFile {
    fn of(column: &Column) -> Self {
        let Column { name, kind, encrypted, unit, missing } = column.clone();
        let kind = match kind {
            Kind::Decimal { decimals, low, high } => {
                let end = |v| End::of(v, decimals, unit);
                KindFile::Decimal { decimals, range: Some((end(low), end(high))), low: None, high: None }
            }
            Kind::Real { low, high } => KindFile::Real { range: Some((low, high)), low: None, high: None },
            Kind::Category { labels } => KindFile::Category { labels },
        };
        Self { name, kind, unit, missing, encrypted }
    }

    fn column(self) -> Result<Column, TableError> {
        let Self { name, kind, unit, missing, encrypted } = self;
        let wrong = |problem| TableError::column(&name, problem);
        let kind = match kind {
            KindFile::Decimal { decimals, range, low, high } => {
                let ends = ends(range, (low, high), |end: End| end.units(decimals, unit));
                let (low, high) = ends.map_err(wrong)?;
                Kind::Decimal { decimals, low, high }
            }
            KindFile::Real { range, low, high } => {
                let (low, high) = ends(range, (low, high), Ok).map_err(wrong)?;
                Kind::Real { low, high }
            }
            KindFile::Category { labels } => Kind::Category { labels },
        };
        Ok(Column { name, kind, encrypted, unit, missing })
    }
}

impl End {
    /// Makes the end of a range from a number of units: of time if there is a unit, and else of the last decimal.
    fn of(units: i64, decimals: u32, unit: Option<Unit>) -> Self {
        if let Some(unit) = unit {
            return Self::Text(Moment::of_units(units, unit).to_string());
        }
        let number = Decimal::new(units.into(), -(decimals as i32));
        let few = number.parts().0.unsigned_abs() < DIGITS;
        match number.to_string().parse() {
            Ok(number) if few => Self::Number(number),
            _ => Self::Text(number.to_string()),
        }
    }

    /// Returns the number of units of the end of a range, or the problem that it has.
    fn units(&self, decimals: u32, unit: Option<Unit>) -> Result<i64, String> {
        let text = match self {
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text.clone(),
        };
        if let Some(unit) = unit {
            let moment = Moment::parse(&text, None).filter(|moment| moment.since == unit.since);
            let units = moment.and_then(|moment| moment.units(unit.time));
            return units.ok_or_else(|| {
                format!("has the end {text} of its range, expected a date or time that {unit} count")
            });
        }
        let number = Decimal::parse(&text)
            .map_err(|problem| format!("has the end {text} of its range, which {problem}"))?;
        if matches!(self, Self::Number(number) if number.is_f64())
            && number.parts().0.unsigned_abs() >= DIGITS
        {
            return Err(format!(
                "has the end {text} of its range: write more than 15 digits as a text, as in \"0.5\""
            ));
        }
        let units = number.scaled(decimals).and_then(|units| i64::try_from(units).ok());
        match units.filter(|_| number.decimals() <= decimals) {
            Some(units) => Ok(units),
            None => Err(format!(
                "has the end {text} of its range and {decimals} decimals: declare more, or round"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sunzi_program::schema::{LARGEST_CELL, Origin, TimeUnit};

    #[test]
    fn a_schema_comes_back_as_people_read_it() {
        let unit = |time, since| Unit { time, since };
        let columns = vec![
            Column::integer("age", 0, 120),
            Column::integer("weight", 1, 300).with_missing(),
            Column::decimal("cost", 2, -5, 99_999).in_the_clear(),
            Column::decimal("long", 1, -LARGEST_CELL, LARGEST_CELL),
            Column::integer("most", -LARGEST_CELL, LARGEST_CELL),
            Column::real("r", -0.5, 1e-20),
            Column::category("c", &["x", ""]),
            Column::integer("day", 19_723, 20_088).in_units(unit(TimeUnit::Days, Origin::Epoch)),
            Column::integer("at", 0, 86_399).in_units(unit(TimeUnit::Seconds, Origin::Midnight)),
            Column::integer("when", -1, 1).in_units(unit(TimeUnit::Milliseconds, Origin::Epoch)),
        ];
        let schema = Schema::new(7, columns).unwrap();
        let json = write_schema(&schema).unwrap();
        for part in [
            "-0.05",
            "999.99",
            "\"missing\": true",
            "\"900719925474099.2\"",
            "9007199254740992",
            "\"2024-01-01\"",
            "\"23:59:59\"",
        ] {
            assert!(json.contains(part), "{part}: {json}");
        }
        let asked = read_schema(&json).unwrap();
        assert_eq!((asked.rows, asked.declared), (Some(7), Some(schema.columns)));
    }

    #[test]
    fn ranges_of_earlier_releases_are_read() {
        let json = r#"{"rows": 3, "columns": [
            {"name": "a", "kind": {"decimal": {"decimals": 1, "low": -5, "high": 100}}, "encrypted": true},
            {"name": "b", "kind": {"real": {"low": 0, "high": 1.5}}, "encrypted": false}]}"#;
        let columns = vec![Column::decimal("a", 1, -5, 100), Column::real("b", 0.0, 1.5).in_the_clear()];
        assert_eq!(read_schema(json).unwrap().declared, Some(columns));
    }

    #[test]
    fn what_is_wrong_with_a_range_is_said() {
        let message = |kind: &str, more: &str| {
            let json = format!(r#"{{"columns": [{{"name": "a", "kind": {kind}{more}}}]}}"#);
            read_schema(&json).unwrap_err().to_string()
        };
        let days = r#", "unit": "days since 1970-01-01""#;
        for (kind, more, words) in [
            (r#"{"decimal": {"decimals": 1, "range": [0, 9.99]}}"#, "", "declare more"),
            (r#"{"decimal": {"range": [0, "x"]}}"#, "", "not a number"),
            (r#"{"decimal": {"decimals": 2, "range": [0, 1234567890123.123456]}}"#, "", "15 digits"),
            (r#"{"decimal": {"range": [5, 3]}}"#, "", "lower end first"),
            (r#"{"decimal": {"range": [0, 9]}}"#, days, "expected a date"),
            (r#"{"decimal": {"range": ["10:30", "11:30"]}}"#, days, "expected a date"),
            (r#"{"decimal": {"range": [0, 9]}}"#, r#", "unit": "weeks""#, "days since 1970-01-01"),
            (r#"{"decimal": {"range": [0, 9], "low": 0}}"#, "", "needs a range"),
            (r#"{"decimal": {"decimals": 1}}"#, "", "needs a range"),
            (r#"{"decimal": {"range": [0, null]}}"#, "", "expected an end of a range"),
            (r#"{"decimal": {"range": [0, 9], "hihg": 0}}"#, "", "hihg"),
            (r#"{"category": {"labels": []}}"#, "", "at least one label"),
        ] {
            let error = message(kind, more);
            assert!(error.contains(words), "{words}: {error}");
        }
    }
}
