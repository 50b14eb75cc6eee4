//! Conversion of cells to Arrow arrays and back.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::builder::{Decimal128Builder, Float64Builder, Int64Builder, ListBuilder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, Field};
use sunzi_program::Column;
use sunzi_program::run::{Cells, MISSING_LABEL, MISSING_UNIT};
use sunzi_program::schema::Kind;

/// Digits of a decimal column with a fraction: 2^53 has 16.
const PRECISION: u8 = 18;

/// Returns the Arrow field of one cell of a column.
pub(super) fn item(column: &Column) -> Field {
    let kind = match column.kind {
        Kind::Decimal { decimals: 0, .. } => DataType::Int64,
        Kind::Decimal { decimals, .. } => DataType::Decimal128(PRECISION, decimals as i8),
        Kind::Real { .. } => DataType::Float64,
        Kind::Category { .. } => DataType::Utf8,
    };
    Field::new("item", kind, column.missing)
}

/// Packs the cells of one chunk as a list; for the column of a partition the label that all cells have. `None` for cells of another kind.
pub(super) fn pack(column: &Column, cells: &Cells, partition: bool) -> Option<ArrayRef> {
    let field = Arc::new(item(column));
    macro_rules! list {
        ($builder:expr, $values:expr) => {{
            let mut list = ListBuilder::new($builder).with_field(field);
            $values.for_each(|value| list.values().append_option(value));
            list.append(true);
            Arc::new(list.finish()) as ArrayRef
        }};
    }
    Some(match (&column.kind, cells) {
        (Kind::Decimal { decimals: 0, .. }, Cells::Units(units)) => {
            list!(Int64Builder::new(), units.iter().map(|&v| there(v)))
        }
        (Kind::Decimal { decimals, .. }, Cells::Units(units)) => {
            let kind = DataType::Decimal128(PRECISION, *decimals as i8);
            list!(
                Decimal128Builder::new().with_data_type(kind),
                units.iter().map(|&v| there(v).map(i128::from))
            )
        }
        (Kind::Real { .. }, Cells::Reals(reals)) => {
            list!(Float64Builder::new(), reals.iter().map(|v| (!v.is_nan()).then_some(*v)))
        }
        (Kind::Category { labels }, Cells::Labels(places)) => {
            let texts: Vec<Option<&String>> = places.iter().map(|&at| labels.get(at as usize)).collect();
            if partition {
                let mut one = StringBuilder::new();
                one.append_value((*texts.first()?)?);
                return Some(Arc::new(one.finish()));
            }
            let missing = |(text, at): (&Option<&String>, &u32)| text.is_some() || *at == MISSING_LABEL;
            if !texts.iter().zip(places).all(missing) {
                return None;
            }
            list!(StringBuilder::new(), texts.into_iter())
        }
        _ => return None,
    })
}

/// Returns a number that is not missing.
fn there(v: i64) -> Option<i64> {
    (v != MISSING_UNIT).then_some(v)
}

/// Unpacks the `rows` cells of a chunk; `None` for an array of another type or length, for missing cells of a column that has none and for unknown labels.
pub(super) fn unpack(column: &Column, array: &ArrayRef, rows: usize, partition: bool) -> Option<Cells> {
    let kind = item(column).data_type().clone();
    if array.len() != 1 || array.is_null(0) {
        return None;
    }
    if let (true, Kind::Category { labels }) = (partition, &column.kind) {
        let text = array.as_string_opt::<i32>()?.value(0);
        let at = labels.iter().position(|label| label == text)?;
        return Some(Cells::Labels(vec![at as u32; rows]));
    }
    let values = array.as_list_opt::<i32>()?.value(0);
    if *values.data_type() != kind || values.len() != rows || values.null_count() > 0 && !column.missing {
        return None;
    }
    match &column.kind {
        Kind::Decimal { decimals: 0, .. } => {
            let units = values.as_primitive_opt::<Int64Type>()?.iter();
            Some(Cells::Units(units.map(|v| v.unwrap_or(MISSING_UNIT)).collect()))
        }
        Kind::Decimal { .. } => {
            let units = values.as_primitive_opt::<Decimal128Type>()?.iter();
            let unit = |v: Option<i128>| v.map_or(Some(MISSING_UNIT), |v| i64::try_from(v).ok());
            units.map(unit).collect::<Option<_>>().map(Cells::Units)
        }
        Kind::Real { .. } => {
            let reals = values.as_primitive_opt::<Float64Type>()?.iter();
            Some(Cells::Reals(reals.map(|v| v.unwrap_or(f64::NAN)).collect()))
        }
        Kind::Category { labels } => {
            let places: HashMap<&str, u32> = labels.iter().map(String::as_str).zip(0..).collect();
            let places = values.as_string_opt::<i32>()?.iter().map(|text| match text {
                Some(text) => places.get(text).copied(),
                None => Some(MISSING_LABEL),
            });
            places.collect::<Option<_>>().map(Cells::Labels)
        }
    }
}
