//! Missing cells: which cells are missing, and what is done about them.

use crate::Cell;

/// Texts that stand for a missing cell, beside an empty one.
pub const MISSING_WORDS: [&str; 10] =
    ["NaN", "nan", "NA", "<NA>", "N/A", "n/a", "null", "NULL", "None", "none"];

/// What is done about missing cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Missing {
    /// The table is refused.
    Refuse,
    /// The cell stays missing: the column has an indicator of its cells, and statistics leave the row out.
    Skip,
    /// This value stands in the cell: a number with a decimal point, a date, a time, a truth value or a label.
    Value(String),
}

/// Choices of what is done about missing cells, for all columns and for columns by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MissingCells {
    /// Choice for columns that are not named. Without one, cells are skipped where a declared column may have missing
    /// ones, and else refused.
    pub all: Option<Missing>,
    /// Choices for columns, by name.
    pub columns: Vec<(String, Missing)>,
}

impl MissingCells {
    /// Returns what is asked for a column by its name; `None` where nothing is.
    pub(crate) fn named(&self, column: &str) -> Option<&Missing> {
        self.columns.iter().find(|(name, _)| name == column).map(|(_, missing)| missing)
    }

    /// Returns what is done about missing cells of a column, which may have some by its declaration.
    pub(crate) fn of(&self, column: &str, may: bool) -> &Missing {
        let default = if may { &Missing::Skip } else { &Missing::Refuse };
        self.named(column).or(self.all.as_ref()).unwrap_or(default)
    }
}

/// Problem of a missing cell that is refused.
pub(crate) const REFUSED: &str = "is missing: fill it in, leave the column out, or say what is done about missing cells: \
     --missing skip leaves them out of statistics, --missing VALUE fills them in";

/// Problem of a missing cell that is skipped where the schema has none.
pub(crate) const UNDECLARED: &str = "is missing, and the schema says that the column has no missing cells: make a schema with \
     --missing skip, or fill them in with --missing VALUE";

impl Cell<'_> {
    /// Whether there is no cell: an empty one of CSV, a null, or a double that is no number.
    pub(crate) fn is_absent(&self) -> bool {
        match self {
            Self::Missing => true,
            Self::Real(value) => value.is_nan(),
            // An empty text of Parquet is a text.
            Self::Text(_) | Self::Label(_) | Self::Number(_) | Self::Moment(_) => false,
        }
    }

    /// Whether the text of the cell is one that stands for a missing cell where numbers are expected.
    pub(crate) fn is_missing_word(&self) -> bool {
        match self {
            // Most cells are told by their first letter.
            Self::Text(text) | Self::Label(text) => {
                text.len() <= 4 && text.starts_with(['N', 'n', '<']) && MISSING_WORDS.contains(text)
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_missing_by_their_text_or_type() {
        for word in MISSING_WORDS {
            assert!(Cell::Text(word).is_missing_word() && Cell::Label(word).is_missing_word(), "{word}");
        }
        for text in ["", "Na", "nil", "-", "0", "inf", "Nones"] {
            assert!(!Cell::Text(text).is_missing_word(), "{text}");
        }
        for (cell, absent) in [
            (Cell::Missing, true),
            (Cell::Label(""), false),
            (Cell::Real(f64::NAN), true),
            (Cell::Real(f64::INFINITY), false),
            (Cell::Text("NA"), false),
        ] {
            assert_eq!(cell.is_absent(), absent, "{cell:?}");
        }
    }

    #[test]
    fn a_choice_for_a_column_comes_before_that_for_all() {
        let cells = MissingCells {
            all: Some(Missing::Skip),
            columns: vec![("cost".to_owned(), Missing::Value("0".to_owned()))],
        };
        assert_eq!(cells.of("cost", false), &Missing::Value("0".to_owned()));
        assert_eq!(cells.of("age", false), &Missing::Skip);
        let nothing = MissingCells::default();
        assert_eq!((nothing.of("a", false), nothing.of("a", true)), (&Missing::Refuse, &Missing::Skip));
    }
}
