//! Rows that take the place of others in a file of entries.

use std::collections::HashMap;
use std::io::{BufRead, Write};

use sunzi_circuits::retrieval::{Keywords, Pair, opened};

use super::context::Places;
use super::{By, Choice, EntriesReader, EntriesWriter, Lookup, build};
use crate::{Rows, TableError};

/// Keywords that the database does not have and that are named in a message.
const NAMED: usize = 3;

/// Rows with other cells for keywords that a database has: its description stays, and all other entries.
pub struct Changes<'a> {
    lookup: &'a Lookup,
    keywords: &'a Keywords,
    pairs: Vec<Pair>,
    /// Numbers of the rows that may stand in a place.
    candidates: HashMap<u64, Vec<usize>>,
}

impl<'a> Changes<'a> {
    /// Reads the rows of a table that has the columns of the database, and maybe others.
    ///
    /// # Errors
    /// [`TableError::Mismatch`] for a database whose rows are asked by their numbers, and for a row that is longer than the longest of the database: both
    /// take a new database; every error of [`Built::new`](super::Built::new).
    pub fn new(lookup: &'a Lookup, rows: &mut dyn Rows) -> Result<Self, TableError> {
        let (description, by) = (lookup.description(), lookup.description().by());
        let (By::Keyword(column), Places::Keywords(keywords)) = (by, &lookup.places) else {
            let expected = "a database by keyword, or a new one";
            return Err(TableError::mismatch("what is updated", expected, "one by the numbers of rows"));
        };
        let choice = Choice { by: Some(column.clone()), columns: Some(description.columns().to_vec()) };
        let (pairs, names) = build::gather(rows, &choice)?;
        debug_assert_eq!(names, description.columns());
        let mut candidates: HashMap<u64, Vec<usize>> = HashMap::new();
        for (at, (keyword, value)) in pairs.iter().enumerate() {
            if value.len() > description.value_bytes() {
                let expected =
                    format!("at most {}, as the longest has, or a new database", description.value_bytes());
                return Err(TableError::mismatch("the bytes of a row", expected, value.len()));
            }
            for place in keywords.places(keyword) {
                candidates.entry(place).or_default().push(at);
            }
        }
        Ok(Self { lookup, keywords, pairs, candidates })
    }

    /// The number of rows that change.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.pairs.len()
    }

    /// Writes a file of entries again, with these rows in place of those of the same keywords; `step` is called for every plaintext.
    ///
    /// # Errors
    /// [`TableError::Column`] for keywords that the database does not have, once all of it was written; [`TableError::Wire`] and
    /// [`TableError::Retrieval`] for entries that are damaged.
    pub fn write(
        &self,
        entries: impl BufRead,
        len: u64,
        out: impl Write,
        step: &mut dyn FnMut(),
    ) -> Result<(), TableError> {
        let mut reader = EntriesReader::open(self.lookup, entries, len)?;
        let mut writer = EntriesWriter::new(self.lookup, out)?;
        let (mut place, mut found) = (0, vec![false; self.pairs.len()]);
        while let Some(mut together) = reader.next_together()? {
            for entry in &mut together {
                self.replace(place, entry, &mut found)?;
                place += 1;
            }
            writer.put(&together)?;
            step();
        }
        self.check(&found)
    }

    /// Puts the row of its keyword into an entry, if there is one.
    fn replace(&self, place: u64, entry: &mut Vec<u8>, found: &mut [bool]) -> Result<(), TableError> {
        let Some(candidates) = self.candidates.get(&place) else { return Ok(()) };
        let content = opened(self.keywords.seed(), place, entry)?;
        let of = |at: &&usize| {
            self.pairs.get(**at).is_some_and(|(keyword, _)| self.keywords.holds(content, keyword))
        };
        if let Some(&at) = candidates.iter().find(of) {
            *entry = self.keywords.entry(place, self.pairs.get(at));
            if let Some(found) = found.get_mut(at) {
                *found = true;
            }
        }
        Ok(())
    }

    /// Fails where a keyword was in no entry.
    fn check(&self, found: &[bool]) -> Result<(), TableError> {
        let absent = self.pairs.iter().zip(found).filter(|(_, found)| !**found);
        let absent: Vec<String> =
            absent.map(|((keyword, _), _)| format!("{:?}", String::from_utf8_lossy(keyword))).collect();
        if absent.is_empty() {
            return Ok(());
        }
        let mut named: Vec<String> = absent.iter().take(NAMED).cloned().collect();
        if absent.len() > NAMED {
            named.push(format!("{} more", absent.len() - NAMED));
        }
        let column = match self.lookup.description().by() {
            By::Keyword(column) => column,
            By::Number => "",
        };
        let problem =
            format!("the database does not have {}; new keywords take a new database", named.join(", "));
        Err(TableError::column(column, problem))
    }
}
