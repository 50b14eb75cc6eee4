//! Specimens of files of private lookups: a database, what is asked of it, and what it answers.

use std::rc::Rc;

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use sunzi_rlwe::wire::{Accept, CHECKSUM_LEN, HEADER_LEN, Kind, WireError};
use sunzi_rlwe::{EvaluationKeys, SecretKey};
use sunzi_table::TableError;
use sunzi_table::csv::CsvRows;
use sunzi_table::lookup::{
    Answer, Asked, Built, Choice, Description, EntriesReader, EntriesWriter, Lookup, Query, Wanted,
};

use super::Specimen;
use super::specimens::{Failure, bfv_parameters};

/// Table of the database.
const TABLE: &str =
    "country,capital,people\nFrance,Paris,69\nJapan,Tokyo,123\nKenya,Nairobi,56\nPeru,Lima,34\n";
const ACCEPT: Accept = Accept::InsecureForResearchOnly;

/// A database, and a client of it who asked.
struct Asking {
    lookup: Lookup,
    entries: Vec<u8>,
    secret: SecretKey,
    keys: EvaluationKeys,
    query: Query,
    asked: Asked,
    answer: Answer,
}

impl Asking {
    fn new() -> Result<Self, Failure> {
        let choice = Choice { by: Some("country".to_owned()), columns: None };
        let mut rows = CsvRows::new(TABLE.as_bytes(), "table")?;
        let built = Built::with_parameters(&mut rows, &choice, bfv_parameters()?)?;
        let lookup = built.lookup().clone();
        let mut entries = Vec::new();
        built.write_entries(&mut entries, &mut || ())?;
        let (mut rng, rlwe) = (ChaCha20Rng::seed_from_u64(61), lookup.context().rlwe());
        let secret = SecretKey::generate(rlwe, &mut rng)?;
        let keys = EvaluationKeys::for_exponents(rlwe, &secret, lookup.layout().exponents(), &mut rng)?;
        let (query, asked) = lookup.ask(Wanted::Keyword(b"Kenya".to_vec()), &secret, &mut rng)?;
        let answer = lookup.answer(&query, &keys, &entries[..], entries.len() as u64, &mut || ())?;
        let own = Self { lookup, entries, secret, keys, query, asked, answer };
        match own.open(&own.asked, &own.answer)? {
            Some(cells) if cells == ["Nairobi", "56"] => Ok(own),
            other => Err(format!("expected the row of Kenya, got {other:?}").into()),
        }
    }

    fn answered(&self, query: &Query) -> Result<Answer, TableError> {
        self.lookup.answer(query, &self.keys, &self.entries[..], self.entries.len() as u64, &mut || ())
    }

    fn open(&self, asked: &Asked, answer: &Answer) -> Result<Option<Vec<String>>, TableError> {
        Lookup::new(asked.description())?.read(asked, answer, &self.secret)
    }

    /// The specimen of the file of entries, each record of which is read.
    fn entries(&self) -> Specimen {
        let lookup = self.lookup.clone();
        let layout = lookup.layout();
        let record = layout.together() as usize * layout.entry_bytes();
        let mut records: Vec<_> = std::iter::once(HEADER_LEN..HEADER_LEN + 32).collect();
        let mut at = HEADER_LEN + 32 + CHECKSUM_LEN;
        while at < self.entries.len() {
            let end = (at + record).min(self.entries.len() - CHECKSUM_LEN);
            records.push(at..end);
            at = end + CHECKSUM_LEN;
        }
        let read = move |bytes: &[u8]| -> Result<Vec<u8>, WireError> {
            let mut reader = EntriesReader::open(&lookup, bytes, bytes.len() as u64)?;
            let mut again = Vec::new();
            let mut writer = EntriesWriter::new(&lookup, &mut again)?;
            while let Some(together) = reader.next_together()? {
                writer.put(&together)?;
            }
            drop(writer);
            Ok(again)
        };
        Specimen::of_reader("lookup-entries", Kind::LookupEntries, (self.entries.clone(), records), read)
    }
}

/// Makes specimens of the description and the entries of a database, a query, an answer and the note of what was asked.
pub(super) fn lookup_specimens() -> Result<Vec<Specimen>, Failure> {
    let own = Rc::new(Asking::new()?);
    let [answering, opening, noted] = [(); 3].map(|()| Rc::clone(&own));
    Ok(vec![
        Specimen::new(
            "lookup-description",
            &ACCEPT,
            own.lookup.description(),
            |description: &Description| {
                drop(Lookup::new(description));
            },
        )?,
        own.entries(),
        Specimen::new("lookup-query", &own.lookup, &own.query, move |query: &Query| {
            drop(answering.answered(query));
        })?,
        Specimen::new("lookup-answer", &own.lookup, &own.answer, move |answer: &Answer| {
            drop(opening.open(&opening.asked, answer));
        })?,
        Specimen::new("lookup-asked", &ACCEPT, &own.asked, move |asked: &Asked| {
            drop(noted.open(asked, &noted.answer));
        })?,
    ])
}
