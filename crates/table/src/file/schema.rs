//! Schemas of tables as bytes.

use sunzi_program::schema::{Kind, MAX_COLUMNS, Origin, TimeUnit, Unit};
use sunzi_program::{Column, Schema};
use sunzi_rlwe::wire::{FieldReader, Fields, WireError};

use crate::TableError;

/// Largest number of bytes of the schema of a table.
pub(super) const MOST: usize = 1 << 20;
/// Number that stands for a column with a unit of time, in the place of its kind, which follows.
const WITH_UNIT: u64 = 3;

/// Number that stands for a column that may have missing cells, in the place of its kind, which follows.
const WITH_MISSING: u64 = 4;

/// Writes the columns of a schema as bytes.
pub(super) fn put(columns: &[Column], fields: &mut Fields) {
    for column in columns {
        fields.text(&column.name);
        fields.u64(u64::from(column.encrypted));
        if column.missing {
            fields.u64(WITH_MISSING);
        }
        if let Some(unit) = column.unit {
            fields.u64(WITH_UNIT);
            fields.choice(&unit.time, &TimeUnit::ALL);
            fields.choice(&unit.since, &Origin::ALL);
        }
        match &column.kind {
            Kind::Decimal { decimals, low, high } => {
                fields.u64(0);
                fields.u64((*decimals).into());
                fields.bytes(&low.to_le_bytes());
                fields.bytes(&high.to_le_bytes());
            }
            Kind::Real { low, high } => {
                fields.u64(1);
                fields.f64(*low);
                fields.f64(*high);
            }
            Kind::Category { labels } => {
                fields.u64(2);
                fields.usize(labels.len());
                labels.iter().for_each(|label| fields.text(label));
            }
        }
    }
}

/// Reads the schema of a table with `rows` rows and `columns` columns.
pub(super) fn get(rows: u64, columns: usize, fields: &mut FieldReader<'_>) -> Result<Schema, TableError> {
    // The capacity is bounded, whatever the file claims: there are at most 4096 columns, and labels of each.
    let mut all = Vec::with_capacity(columns.min(MAX_COLUMNS));
    for _ in 0..columns {
        let name = fields.text("the name of a column", MOST)?.to_owned();
        let encrypted = fields.flag("whether a column is encrypted")?;
        let first = fields.usize_in("the kind of a column", 0..=WITH_MISSING as usize)?;
        let missing = first == WITH_MISSING as usize;
        let first = if missing {
            fields.usize_in("the kind of a column with missing cells", 0..=WITH_UNIT as usize)?
        } else {
            first
        };
        let (kind, unit) = match first {
            kind if kind == WITH_UNIT as usize => {
                let time = fields.choice("the unit of a column", &TimeUnit::ALL)?;
                let since = fields.choice("the origin of a column", &Origin::ALL)?;
                (fields.usize_in("the kind of a column with a unit", 0..=0)?, Some(Unit { time, since }))
            }
            kind => (kind, None),
        };
        let kind = match kind {
            0 => Kind::Decimal {
                decimals: fields.usize_in("decimals", 0..=15)? as u32,
                low: i64::from_le_bytes(fields.array()?),
                high: i64::from_le_bytes(fields.array()?),
            },
            1 => Kind::Real { low: fields.f64()?, high: fields.f64()? },
            _ => Kind::Category { labels: get_labels(fields)? },
        };
        all.push(Column { name, kind, encrypted, unit, missing });
    }
    Ok(Schema::new(rows, all)?)
}

fn get_labels(fields: &mut FieldReader<'_>) -> Result<Vec<String>, WireError> {
    let count = fields.usize_in("labels", 1..=MAX_COLUMNS)?;
    let mut labels = Vec::with_capacity(count);
    for _ in 0..count {
        labels.push(fields.text("a label", MOST)?.to_owned());
    }
    Ok(labels)
}
