//! Crafted encrypted tables, whose schema has an excessive part.

use std::ops::Range;

use sunzi_rlwe::wire::{Fields, HEADER_LEN};

use super::{Crafted, LONG, craft, many};
use crate::wire::specimens::Failure;
use crate::wire::{Specimen, tables};

/// Offset of the number of rows in the numbers' record of a table file; the next constant is that of the
/// number of columns.
const ROWS: usize = HEADER_LEN;
const COLUMNS: usize = HEADER_LEN + 24;

/// Bytes of a crafted schema's columns: one column, or as many as there is room for.
struct Columns {
    fields: Fields,
    count: u64,
}

impl Columns {
    fn new() -> Self {
        Self { fields: Fields::default(), count: 0 }
    }

    fn begin(&mut self, name: &str, kind: u64) {
        self.count += 1;
        self.fields.text(name);
        self.fields.u64(1);
        self.fields.u64(kind);
    }

    fn number(&mut self, name: &str) {
        self.begin(name, 0);
        [0, 0, 1].into_iter().for_each(|word| self.fields.u64(word));
    }

    fn category(&mut self, name: &str, labels: impl ExactSizeIterator<Item = String>) {
        self.begin(name, 2);
        self.fields.usize(labels.len());
        labels.for_each(|label| self.fields.text(&label));
    }

    /// Whether a part of a megabyte has room for more bytes.
    fn has_room(&self, bytes: usize) -> bool {
        self.fields.as_bytes().len() + bytes < LONG
    }
}

/// Yields `count` labels of a crafted column with a common beginning, which make comparing them slow.
fn labels(count: usize, len: usize) -> impl ExactSizeIterator<Item = String> {
    (0..count).map(move |i| format!("{}{i:08}", "l".repeat(len)))
}

pub(super) fn of_table(specimen: &Specimen) -> Result<Vec<Crafted>, Failure> {
    let record = specimen.records.get(1).cloned().ok_or("a schema")?;
    let schema = specimen.bytes.get(record.clone()).ok_or("a schema")?;
    let named = |names: &dyn Fn(usize) -> String| {
        let mut columns = Columns::new();
        while columns.count < 4096 && columns.has_room(512) {
            columns.number(&names(columns.count as usize));
        }
        columns
    };
    let of_length = |len: usize| {
        let mut columns = Columns::new();
        while columns.has_room(4096 * (16 + len)) {
            columns.category(&format!("c{}", columns.count), labels(4096, len));
        }
        columns
    };
    // Two bytes each: a label in memory takes many times that.
    let letters = |i: usize| char::from(b' ' + i as u8);
    let mut short = Columns::new();
    while short.has_room(4096 * 10) {
        let labels = (0..4096).map(|i| [letters(i / 64), letters(i % 64)].iter().collect());
        short.category(&format!("c{}", short.count), labels);
    }
    let one = |of: &dyn Fn(&mut Columns)| {
        let mut columns = Columns::new();
        of(&mut columns);
        columns
    };
    let mut files = Vec::new();
    for (name, columns) in [
        ("columns", named(&|i| format!("c{i}"))),
        ("columns with long names", named(&|i| format!("{}{i}", "c".repeat(200)))),
        ("columns of one name", named(&|_| "c".to_owned())),
        ("categories", of_length(8)),
        ("categories of short labels", short),
        ("labels", one(&|columns| columns.category("c", labels(40_000, 8)))),
        ("long labels", one(&|columns| columns.category("c", labels(4096, 230)))),
        ("labels that are one", one(&|columns| columns.category("c", vec!["l".into(); 4096].into_iter()))),
        ("a name", one(&|columns| columns.number(&"c".repeat(LONG - 100)))),
        ("a name of too much", one(&|columns| columns.number(&"c".repeat(LONG)))),
    ] {
        files.push(of_columns(specimen, &record, name, columns));
    }
    for (name, at, word) in [
        ("rows", ROWS, 1 << 40),
        ("columns that are not there", COLUMNS, 4096),
        ("too many columns", COLUMNS, u64::MAX),
    ] {
        let mut file = craft(specimen, record.clone(), name, schema.to_vec());
        set(&mut file.bytes, at, word);
        super::repair(&mut file.bytes, &specimen.records, specimen.kind);
        files.push(file);
    }
    let text = many(|i| format!("\"{i}\""));
    files.push(craft(specimen, record, "a text", format!("[{text}]").into_bytes()));
    for (name, bytes) in tables::whole(specimen.kind)? {
        files.push(Crafted { name: format!("{}, {name}", specimen.name), bytes, json: false });
    }
    Ok(files)
}

fn of_columns(specimen: &Specimen, record: &Range<usize>, name: &str, columns: Columns) -> Crafted {
    let count = columns.count;
    let mut file = craft(specimen, record.clone(), name, columns.fields.into_bytes());
    set(&mut file.bytes, COLUMNS, count);
    let numbers = specimen.records.first().cloned().unwrap_or_default();
    let sum = sunzi_rlwe::wire::checksum(file.bytes.get(numbers.clone()).unwrap_or_default());
    set(&mut file.bytes, numbers.end, sum);
    file
}

fn set(bytes: &mut [u8], at: usize, word: u64) {
    bytes.iter_mut().skip(at).zip(word.to_le_bytes()).for_each(|(to, byte)| *to = byte);
}
