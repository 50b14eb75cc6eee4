//! Conversion of cells to Arrow arrays and back.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::builder::{Decimal128Builder, Float64Builder, Int64Builder, ListBuilder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, Field};
use sunzi_program::Column;
use sunzi_program::run::Cells;
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
    Field::new("item", kind, false)
}

/// Packs the cells of one chunk as a list; for the column of a partition the label that all cells have. `None` for cells of another kind.
pub(super) fn pack(column: &Column, cells: &Cells, partition: bool) -> Option<ArrayRef> {
    let field = Arc::new(item(column));
    macro_rules! list {
        ($builder:expr, $values:expr) => {{
            let mut list = ListBuilder::new($builder).with_field(field);
            $values.for_each(|value| list.values().append_value(value));
            list.append(true);
            Arc::new(list.finish()) as ArrayRef
        }};
    }
    Some(match (&column.kind, cells) {
        (Kind::Decimal { decimals: 0, .. }, Cells::Units(units)) => {
            list!(Int64Builder::new(), units.iter().copied())
        }
        (Kind::Decimal { decimals, .. }, Cells::Units(units)) => {
            let kind = DataType::Decimal128(PRECISION, *decimals as i8);
            list!(Decimal128Builder::new().with_data_type(kind), units.iter().map(|&v| i128::from(v)))
        }
        (Kind::Real { .. }, Cells::Reals(reals)) => list!(Float64Builder::new(), reals.iter().copied()),
        (Kind::Category { labels }, Cells::Labels(places)) => {
            let texts: Option<Vec<&String>> = places.iter().map(|&at| labels.get(at as usize)).collect();
            let texts = texts?;
            if partition {
                let mut one = StringBuilder::new();
                one.append_value(texts.first()?);
                return Some(Arc::new(one.finish()));
            }
            list!(StringBuilder::new(), texts.into_iter())
        }
        _ => return None,
    })
}

/// Unpacks the `rows` cells of a chunk; `None` for an array of another type or length, for missing cells and for unknown labels.
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
    if *values.data_type() != kind || values.len() != rows || values.null_count() > 0 {
        return None;
    }
    match &column.kind {
        Kind::Decimal { decimals: 0, .. } => {
            Some(Cells::Units(values.as_primitive_opt::<Int64Type>()?.values().to_vec()))
        }
        Kind::Decimal { .. } => {
            let units = values.as_primitive_opt::<Decimal128Type>()?.values().iter();
            units.map(|&v| i64::try_from(v).ok()).collect::<Option<_>>().map(Cells::Units)
        }
        Kind::Real { .. } => Some(Cells::Reals(values.as_primitive_opt::<Float64Type>()?.values().to_vec())),
        Kind::Category { labels } => {
            let places: HashMap<&str, u32> = labels.iter().map(String::as_str).zip(0..).collect();
            let places = values.as_string_opt::<i32>()?.iter().map(|text| places.get(text?).copied());
            places.collect::<Option<_>>().map(Cells::Labels)
        }
    }
}
