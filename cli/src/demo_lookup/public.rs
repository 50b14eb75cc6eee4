//! The public words of a lookup, and the secret word that is looked for among them.

use std::path::Path;

use serde::Serialize;
use sunzi::circuits::lookup::Word as Elements;

use super::genome::{self, Genome};
use crate::args::{DemoArgs, flat};
use crate::error::{CliError, quoted};
use crate::files;
use crate::table::{csv, select};

/// Bytes of the longest cell of a column: more take more products in a row than the ring has room for.
const MOST_BYTES: usize = 32;
/// Rows of the longest column: its encoded words are in memory at once.
const MOST_ROWS: usize = 1 << 16;
/// Number of bytes in one element of GF(2^16).
const ELEMENT_BYTES: usize = 2;

/// Public words and a secret one, as elements of GF(2^16).
pub(super) struct Lookup {
    /// Name of the sequence or file that is public.
    pub(super) source: String,
    pub(super) place: Place,
    /// Elements of the public words in order; all words have as many.
    pub(super) words: Vec<Elements>,
    pub(super) query: Elements,
    /// The secret word as text.
    pub(super) word: String,
    /// Positions where the word is, found in the clear, counted from 0.
    pub(super) positions: Vec<usize>,
}

/// Where the words of a lookup stand.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Place {
    /// A circle of letters: a word begins at each.
    Sequence {
        /// Number of letters of the sequence.
        letters: usize,
    },
    /// A column of a table: a word in each row.
    Column {
        /// Name of the column.
        column: String,
        /// Number of rows of the table.
        rows: usize,
    },
}

impl Lookup {
    /// Prepares the lookup that the options of `sunzi demo` ask for.
    pub(super) fn prepare(args: &DemoArgs) -> Result<Self, CliError> {
        let Some(path) = &args.input else {
            if !args.columns.is_empty() {
                return Err(CliError::input("--columns of a lookup names a column of --input: give both"));
            }
            return Self::in_genome(args.word.as_deref());
        };
        let columns = flat(&args.columns);
        let [column] = columns.as_slice() else {
            return Err(CliError::input("a lookup in --input takes one column: give --columns NAME"));
        };
        let Some(word) = &args.word else {
            return Err(CliError::input(format!(
                "--word is missing: give the cell to look up in {}",
                quoted(column)
            )));
        };
        Self::in_column(path, column, word.trim())
    }

    fn in_genome(word: Option<&str>) -> Result<Self, CliError> {
        let genome = Genome::embedded()?;
        let word = genome::word(word.unwrap_or(genome::USUAL_WORD))?;
        Ok(Self {
            source: genome::NAME.to_owned(),
            place: Place::Sequence { letters: genome.len() },
            words: genome.words(),
            query: word.elements(),
            positions: genome.positions(&word),
            word: word.text(),
        })
    }

    fn in_column(path: &Path, column: &str, word: &str) -> Result<Self, CliError> {
        let table = csv::read(path)?;
        let index = select::position(&table, column, "--columns")?;
        let rows = table.rows.len();
        if rows == 0 || rows > MOST_ROWS {
            return Err(CliError::input(format!(
                "the table has {rows} rows: a lookup takes 1 to {MOST_ROWS}"
            )));
        }
        let mut longest = 1;
        for (line, cell) in table.column(index) {
            // Cells are filled up with zeros, which must not make two cells of one.
            if cell.len() > MOST_BYTES || cell.contains('\0') {
                return Err(CliError::input(format!(
                    "line {line}, column {}, holds {}: a lookup takes cells of at most {MOST_BYTES} bytes, none of them 0",
                    quoted(column),
                    quoted(cell)
                )));
            }
            longest = longest.max(cell.len());
        }
        if word.len() > longest || word.contains('\0') {
            return Err(CliError::input(format!(
                "--word {} has {} bytes, and the longest cell of {} has {longest}: none can be equal",
                quoted(word),
                word.len(),
                quoted(column)
            )));
        }
        let width = longest.div_ceil(ELEMENT_BYTES);
        let equal = |(at, (_, cell)): (usize, (u64, &str))| (cell == word).then_some(at);
        Ok(Self {
            source: files::shown(path),
            place: Place::Column { column: column.to_owned(), rows },
            words: table.column(index).map(|(_, cell)| elements(cell, width)).collect(),
            query: elements(word, width),
            word: word.to_owned(),
            positions: table.column(index).enumerate().filter_map(equal).collect(),
        })
    }
}

/// Returns `width` elements of GF(2^16) for a text: the bits of two bytes each, zeros at the end.
fn elements(text: &str, width: usize) -> Elements {
    let bits = |byte: u8| (0..8).map(move |i| u64::from(byte >> i & 1));
    let bytes: Vec<u8> = text.bytes().chain(std::iter::repeat(0)).take(width * ELEMENT_BYTES).collect();
    bytes.chunks(ELEMENT_BYTES).map(|element| element.iter().copied().flat_map(bits).collect()).collect()
}

impl Place {
    /// Asks where the secret word is.
    pub(super) fn question(&self) -> String {
        match self {
            Self::Sequence { letters } => {
                format!(
                    "where does a secret word of {} letters begin among {letters} public ones?",
                    genome::WORD_LETTERS
                )
            }
            Self::Column { column, rows } => {
                format!("in which of {rows} public rows does {} hold a secret word?", quoted(column))
            }
        }
    }

    /// Describes the public part of a lookup, which the server has in the clear.
    pub(super) fn public(&self) -> String {
        match self {
            Self::Sequence { letters } => format!("the sequence of {letters} letters, which is public"),
            Self::Column { rows, .. } => format!("the table of {rows} rows, which is public"),
        }
    }

    /// How words fill the slots of GF(2^16), for words of so many elements.
    pub(super) fn packing(&self, width: usize) -> String {
        let element = match self {
            Self::Sequence { .. } => "eight letters",
            Self::Column { .. } => "two bytes",
        };
        format!("{element} an element, {width} in a word")
    }

    /// Says where a word is, by positions from 1.
    pub(super) fn listed(&self, positions: &[usize]) -> String {
        if positions.is_empty() {
            return "nowhere".to_owned();
        }
        let unit = match self {
            Self::Sequence { .. } => "letter",
            Self::Column { .. } => "row",
        };
        let numbers: Vec<String> = positions.iter().map(usize::to_string).collect();
        format!("at {unit} {}", numbers.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_fill_elements_with_their_bits() {
        let a = elements("A", 2);
        assert_eq!(a, [vec![1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0], vec![0; 16]]);
        assert_ne!(elements("AB", 1), elements("BA", 1));
        assert_eq!(elements("", 1), [vec![0; 16]]);
    }
}
