//! Databases from the rows of a table.

use std::collections::{HashMap, HashSet};
use std::io::Write;

use sha2::{Digest, Sha256};
use sunzi_bfv::{Context, Parameters};
use sunzi_circuits::retrieval::{Keywords, Pair, RetrievalError, parameters};
use sunzi_ring::sampling::SeededRng;
use sunzi_rlwe::wire::WireError;

use super::context::Places;
use super::{By, Description, EntriesWriter, Lookup, MOST_COLUMNS, MOST_KEYWORD, cells};
use crate::{Rows, TableError};

/// Keywords that come several times and are named in a message.
const NAMED: usize = 3;

/// Columns that a database is made of, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// Name of the column whose cells are the keywords; rows are asked by their numbers without one.
    pub by: Option<String>,
    /// Names of the columns whose cells are looked up; all others if none are given.
    pub columns: Option<Vec<String>>,
}

/// The database of a table, whose entries are in memory. Equal rows give equal bytes, and a database by keyword has the same for rows in any order.
pub struct Built {
    lookup: Lookup,
    /// Keywords, which are empty where rows are asked by their numbers, and the bytes of their rows.
    pairs: Vec<Pair>,
    /// Numbers of the pairs in the places of the hash table.
    table: Vec<Option<usize>>,
}

/// Columns of the table that are read, by their numbers.
struct Columns {
    by: Option<usize>,
    values: Vec<usize>,
    names: Vec<String>,
}

impl Columns {
    fn find(names: &[String], choice: &Choice) -> Result<Self, TableError> {
        let place = |name: &String| {
            names.iter().position(|other| other == name).ok_or_else(|| {
                TableError::column(
                    name,
                    format!("is not in the table, whose columns are {}", names.join(", ")),
                )
            })
        };
        let by = choice.by.as_ref().map(place).transpose()?;
        let values: Vec<usize> = match &choice.columns {
            None => (0..names.len()).filter(|at| Some(*at) != by).collect(),
            Some(chosen) => chosen.iter().map(place).collect::<Result<_, _>>()?,
        };
        if values.len() > MOST_COLUMNS {
            return Err(TableError::mismatch("the columns", format!("at most {MOST_COLUMNS}"), values.len()));
        }
        let mut seen = HashSet::new();
        if let Some(twice) = values.iter().find(|at| !seen.insert(**at)) {
            let name = names.get(*twice).map_or("", String::as_str);
            return Err(TableError::column(name, "is named twice"));
        }
        let of = values.iter().filter_map(|at| names.get(*at).cloned()).collect();
        Ok(Self { by, values, names: of })
    }
}

impl Built {
    /// Reads all rows, and finds the places of their keywords, for the [parameters](parameters) that retrieval is made for.
    ///
    /// # Errors
    /// [`TableError::Column`] for a column that the table does not have, and for keywords that come several times; [`TableError::Cell`] for a keyword
    /// that is too long; [`TableError::Retrieval`] for rows that are too long or too many; every error of reading the table.
    pub fn new(rows: &mut dyn Rows, choice: &Choice) -> Result<Self, TableError> {
        Self::with_parameters(rows, choice, parameters()?)
    }

    /// Reads all rows as [`new`](Self::new) does, for other parameters.
    ///
    /// # Errors
    /// Every error of [`new`](Self::new); [`TableError::Retrieval`] for parameters that no retrieval has.
    pub fn with_parameters(
        rows: &mut dyn Rows,
        choice: &Choice,
        parameters: Parameters,
    ) -> Result<Self, TableError> {
        let (pairs, names) = gather(rows, choice)?;
        match choice.by.clone() {
            Some(by) => Self::by_keyword(by, names, pairs, parameters),
            None => Self::by_number(names, pairs, parameters),
        }
    }

    fn by_keyword(
        by: String,
        columns: Vec<String>,
        mut pairs: Vec<Pair>,
        parameters: Parameters,
    ) -> Result<Self, TableError> {
        // So the order of the rows does not count.
        pairs.sort_unstable();
        let mut hash = Sha256::new_with_prefix(b"sunzi lookup by keyword");
        for (keyword, _) in &pairs {
            hash.update((keyword.len() as u64).to_le_bytes());
            hash.update(keyword);
        }
        let context = Context::new(&parameters).map_err(RetrievalError::from)?;
        let mut rng = SeededRng::derive(&hash.finalize().into(), "lookup", 0);
        let (keywords, table) = Keywords::arrange(&context, &pairs, &mut rng)?;
        let description = Description {
            parameters,
            by: By::Keyword(by),
            seed: *keywords.seed(),
            rows: pairs.len() as u64,
            value_bytes: keywords.value_bytes(),
            columns,
        };
        Ok(Self { lookup: Lookup::new(&description)?, pairs, table })
    }

    fn by_number(columns: Vec<String>, pairs: Vec<Pair>, parameters: Parameters) -> Result<Self, TableError> {
        let mut hash = Sha256::new_with_prefix(b"sunzi lookup by number");
        hash.update((pairs.len() as u64).to_le_bytes());
        for name in &columns {
            hash.update((name.len() as u64).to_le_bytes());
            hash.update(name);
        }
        let description = Description {
            parameters,
            by: By::Number,
            seed: hash.finalize().into(),
            rows: pairs.len() as u64,
            value_bytes: pairs.iter().map(|(_, value)| value.len()).max().unwrap_or(0),
            columns,
        };
        Ok(Self { lookup: Lookup::new(&description)?, pairs, table: Vec::new() })
    }

    /// The database as its description tells it.
    #[must_use]
    pub fn lookup(&self) -> &Lookup {
        &self.lookup
    }

    /// Bytes of all rows, as they are: entries are filled up to the longest.
    #[must_use]
    pub fn row_bytes(&self) -> u64 {
        self.pairs.iter().map(|(_, value)| value.len() as u64).sum()
    }

    /// Writes the file of entries, which is not flushed; `step` is called for every plaintext of them.
    ///
    /// # Errors
    /// [`WireError::Io`].
    pub fn write_entries(&self, out: impl Write, step: &mut dyn FnMut()) -> Result<(), WireError> {
        let layout = self.lookup.layout();
        let mut writer = EntriesWriter::new(&self.lookup, out)?;
        let mut first = 0;
        while first < layout.entries() {
            let end = layout.entries().min(first.saturating_add(layout.together()));
            let together: Vec<Vec<u8>> = (first..end).map(|place| self.entry(place)).collect();
            writer.put(&together)?;
            step();
            first = end;
        }
        Ok(())
    }

    fn entry(&self, place: u64) -> Vec<u8> {
        let at = usize::try_from(place).unwrap_or(usize::MAX);
        match &self.lookup.places {
            Places::Numbers(_) => {
                let value = self.pairs.get(at).map_or(&[][..], |(_, value)| value);
                self.lookup.numbered(place, value)
            }
            Places::Keywords(keywords) => {
                let pair = self.table.get(at).copied().flatten().and_then(|pair| self.pairs.get(pair));
                keywords.entry(place, pair)
            }
        }
    }
}

/// Reads all rows of a table: returns keywords, which are empty where there is no column of them, with the bytes of their rows, and the names of the columns.
pub(crate) fn gather(rows: &mut dyn Rows, choice: &Choice) -> Result<(Vec<Pair>, Vec<String>), TableError> {
    let columns = Columns::find(rows.names(), choice)?;
    let all: Vec<usize> = columns.by.iter().chain(&columns.values).copied().collect();
    rows.select(&all)?;
    let (mut pairs, mut repeated) = (Vec::new(), Repeated::default());
    while rows.advance()? {
        let keyword = match columns.by {
            Some(at) => keyword(rows, at, choice.by.as_deref().unwrap_or_default())?,
            None => Vec::new(),
        };
        if columns.by.is_some() {
            repeated.see(&keyword, pairs.len(), rows.place());
        }
        let mut value = Vec::new();
        columns.values.iter().for_each(|at| cells::put(&rows.cell(*at).text(), &mut value));
        pairs.push((keyword, value));
    }
    repeated.refuse(choice.by.as_deref().unwrap_or_default())?;
    Ok((pairs, columns.names))
}

/// Returns the bytes of a cell that is a keyword.
fn keyword(rows: &dyn Rows, at: usize, column: &str) -> Result<Vec<u8>, TableError> {
    let cell = rows.cell(at);
    let keyword = cell.text().into_owned().into_bytes();
    if keyword.len() > MOST_KEYWORD {
        let problem = format!("is a keyword of {} bytes: give one of at most {MOST_KEYWORD}", keyword.len());
        return Err(cell.refuse(rows.place(), column, problem));
    }
    Ok(keyword)
}

/// Keywords that were seen, and where those stand that come several times.
#[derive(Default)]
struct Repeated {
    seen: HashMap<Vec<u8>, usize>,
    places: Vec<String>,
    found: Vec<(Vec<u8>, [String; 2])>,
    count: usize,
}

impl Repeated {
    fn see(&mut self, keyword: &[u8], row: usize, place: String) {
        match self.seen.get(keyword) {
            None => drop(self.seen.insert(keyword.to_vec(), row)),
            Some(first) => {
                self.count += 1;
                if self.found.len() < NAMED {
                    let first = self.places.get(*first).cloned().unwrap_or_default();
                    self.found.push((keyword.to_vec(), [first, place.clone()]));
                }
            }
        }
        self.places.push(place);
    }

    fn refuse(self, column: &str) -> Result<(), TableError> {
        if self.count == 0 {
            return Ok(());
        }
        let said = |(keyword, [first, second]): &(Vec<u8>, [String; 2])| {
            let keyword: String = String::from_utf8_lossy(keyword).chars().take(40).collect();
            format!("{keyword:?} on {first} and {second}")
        };
        let mut said: Vec<String> = self.found.iter().map(said).collect();
        if self.count > said.len() {
            said.push(format!("{} more", self.count - said.len()));
        }
        let problem = format!(
            "a keyword is that of one row, and some come again: {}; take another column, or ask by the numbers of rows",
            said.join(", ")
        );
        Err(TableError::column(column, problem))
    }
}
