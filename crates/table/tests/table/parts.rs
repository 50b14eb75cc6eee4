//! Parts of a table that several parties encrypt: as files, and joined.

use std::io::Cursor;
use std::ops::Range;
use std::slice::from_ref;

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use sunzi_program::contexts::{ChunkPart, EncryptionKey, PublicKey, SecretKey};
use sunzi_program::run::{Cells, Table};
use sunzi_program::{Column, Contexts, Schema};
use sunzi_rlwe::wire::{Fault, WireError, checksum};
use sunzi_table::file::{Shape, TableFile, TableWriter};
use sunzi_table::{
    Asked, Chunks, EncryptedTable, EncryptedWriter as _, JoinedTable, Source, TableError, inputs, survey,
};

use crate::file::{columns, contexts};

const ROWS: usize = 150;
const SPAN: usize = 64;

fn schema() -> Schema {
    Schema::new(ROWS as u64, columns()).unwrap()
}

/// Returns some rows of the table, which may be none.
fn rows(of: Range<usize>) -> Table {
    rows_under(&schema(), of)
}

/// Returns some rows of a table of this schema.
fn rows_under(schema: &Schema, of: Range<usize>) -> Table {
    let range = || of.clone();
    let cells = vec![
        Cells::Units(range().map(|i| 1 + i as i64 % 90).collect()),
        Cells::Units(range().map(|i| 67 * i as i64 - 500).collect()),
        Cells::Labels(range().map(|i| i as u32 % 3).collect()),
        Cells::Labels(range().map(|i| i as u32 / 75).collect()),
        Cells::Reals(range().map(|i| i as f64 / 60.0 - 1.0).collect()),
    ];
    Table::chunk_of(schema.clone().into(), of.len() as u64, cells).unwrap()
}

struct Case {
    contexts: Contexts,
    secret: SecretKey,
    public: PublicKey,
}

impl Case {
    fn new(parties: u32, seed: u64) -> Self {
        let contexts = contexts(&[257, 641], parties);
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let secret = SecretKey::generate(contexts.rlwe(), &mut rng).unwrap();
        let public = PublicKey::generate(contexts.rlwe(), &secret, &mut rng).unwrap();
        Self { contexts, secret, public }
    }

    /// Writes the part of a party.
    fn write(&self, schema: &Schema, part: Range<usize>) -> Vec<u8> {
        let (mut rng, mut bytes) = (ChaCha20Rng::seed_from_u64(part.start as u64), Vec::new());
        let codec = self.contexts.codec(&self.contexts.layout(schema.rows)).unwrap();
        let mut encrypt = |rows: &Table, at: &sunzi_table::Input, place| {
            let column = (&schema.columns[at.column], at.label);
            let key = EncryptionKey::Public(&self.public);
            let cells = rows.cells(at.column).unwrap();
            let chunk = codec.encrypt_part(column, cells, place, key, &mut rng).unwrap();
            self.contexts.to_bytes(&chunk).unwrap()
        };
        let rows = |of| rows_under(schema, of);
        let first = encrypt(&rows(0..1), &inputs(schema)[0], ChunkPart::WHOLE);
        let shape = Shape::new(schema, SPAN, first.len() as u64).unwrap();
        let shape = shape.of_part(part.start as u64..part.end as u64).unwrap();
        let mut writer =
            TableWriter::create(&self.contexts, shape.clone(), self.secret.id(), &mut bytes).unwrap();
        for chunk in 0..shape.layout().chunks {
            let (place, own) = ChunkPart::of(shape.layout(), chunk, &part);
            assert_eq!(own.len(), shape.own_rows_of(chunk));
            let more = rows(own.start..(own.end + 1).min(ROWS));
            if more.row_count() as usize > own.len() {
                assert!(writer.begin_chunk(&more).is_err(), "a row of somebody else");
            }
            let own = rows(own);
            writer.begin_chunk(&own).unwrap();
            for input in shape.inputs() {
                writer.put_bytes(&encrypt(&own, input, place), self.secret.id()).unwrap();
            }
        }
        Box::new(writer).finish().unwrap();
        assert_eq!(bytes.len() as u64, 64 + shape.body_len());
        bytes
    }

    fn parts(&self, parts: &[Range<usize>]) -> Vec<(String, Box<dyn EncryptedTable>)> {
        let own = |part: &Range<usize>| (format!("{part:?}.sz"), opened(self.write(&schema(), part.clone())));
        parts.iter().map(own).collect()
    }

    fn join(&self, parts: &[Range<usize>]) -> Result<JoinedTable, TableError> {
        JoinedTable::new(&self.contexts, self.parts(parts))
    }
}

fn opened(bytes: Vec<u8>) -> Box<dyn EncryptedTable> {
    let len = bytes.len() as u64;
    Box::new(TableFile::open(Cursor::new(bytes), len).unwrap())
}

fn refused<T>(result: Result<T, TableError>, words: &[&str]) {
    let Err(error) = result else { panic!("{words:?} were expected") };
    words.iter().for_each(|word| assert!(error.to_string().contains(word), "{word}: {error}"));
}

#[test]
fn parts_are_the_table_together() {
    let case = Case::new(4, 1);
    // In any order, one of them without rows in two chunks, and one with the ends of two.
    let mut joined = case.join(&[100..150, 0..3, 3..100]).unwrap();
    assert_eq!((joined.schema(), joined.rows(), joined.layout().chunks), (&schema(), 0..ROWS as u64, 3));
    joined.check_whole().unwrap();
    assert_eq!(joined.check(&case.contexts).unwrap(), 3 * 4 * 2);
    let mut whole = case.join(from_ref(&(0..ROWS))).unwrap();
    let codec = case.contexts.codec(&case.contexts.layout(ROWS as u64)).unwrap();
    for chunk in 0..3 {
        assert_eq!(joined.rows_of(chunk), whole.rows_of(chunk));
        assert_eq!(joined.clear(chunk).unwrap(), whole.clear(chunk).unwrap());
        for input in inputs(&schema()) {
            let [sum, own] = [&mut joined, &mut whole].map(|table| {
                let chunk = table.encrypted(&case.contexts, chunk, &input).unwrap();
                let slots = codec.decrypt(&chunk, &case.secret).unwrap();
                codec.cells(&schema().columns[input.column], input.label, &slots, SPAN).unwrap()
            });
            assert_eq!(sum, own, "{input:?} in chunk {chunk}");
        }
    }
}

#[test]
fn a_part_says_which_rows_it_has() {
    let case = Case::new(2, 1);
    let bytes = case.write(&schema(), 60..130);
    let mut part = opened(bytes.clone());
    assert_eq!((part.rows(), part.schema().rows, part.layout().chunks), (60..130, ROWS as u64, 3));
    let counts: Vec<u64> = (0..3).map(|chunk| part.clear(chunk).unwrap().row_count()).collect();
    assert_eq!(counts, [4, 64, 2]);
    assert_eq!(part.clear(0).unwrap().cells(1), rows(60..64).cells(1));
    refused(part.check_whole(), &["all 150 rows", "60..130"]);
    // All rows are no part: the file is that of a whole table.
    let all = opened(case.write(&schema(), 0..ROWS));
    assert_eq!(all.rows(), 0..ROWS as u64);
    let shape = |rows| Shape::new(&schema(), SPAN, 1000).unwrap().of_part(rows);
    assert_eq!(shape(0..150).unwrap(), Shape::new(&schema(), SPAN, 1000).unwrap());
    for wrong in [5..5, 0..151, 150..151, u64::MAX - 1..u64::MAX] {
        refused(shape(wrong), &["rows of a part", "150"]);
    }

    // Every byte of the first records counts, and rows that no writer writes are refused with a right checksum too.
    let fault = |bytes: &[u8]| {
        let error = TableFile::open(Cursor::new(bytes), bytes.len() as u64).err().unwrap();
        match error {
            TableError::Wire(error) => error.fault(),
            other => other.fault(),
        }
    };
    let schema_len = u64::from_le_bytes(bytes[96..104].try_into().unwrap()) as usize;
    let record = 64 + 40 + 8 + schema_len + 8;
    for at in 64..record + 24 {
        let mut bytes = bytes.clone();
        bytes[at] ^= 1;
        assert_eq!(fault(&bytes), Fault::Damage, "{at}");
    }
    for (first, end) in [(0, 150), (60, 60), (61, 60), (60, 151), (0, u64::MAX), (60, 131), (u64::MAX, 3)] {
        let mut bytes = bytes.clone();
        bytes[record..record + 8].copy_from_slice(&first.to_le_bytes());
        bytes[record + 8..record + 16].copy_from_slice(&end.to_le_bytes());
        let sum = checksum(&bytes[record..record + 16]);
        bytes[record + 16..record + 24].copy_from_slice(&sum.to_le_bytes());
        assert!(TableFile::open(Cursor::new(&bytes), bytes.len() as u64).is_err(), "{first} {end}");
    }
    // As many columns as there are for a part or for a whole table, and no others.
    for columns in [5_u64, (1 << 32) + 4097, 1 << 33, (1 << 32) - 1, u64::MAX] {
        let mut bytes = bytes.clone();
        bytes[88..96].copy_from_slice(&columns.to_le_bytes());
        let sum = checksum(&bytes[64..104]);
        bytes[104..112].copy_from_slice(&sum.to_le_bytes());
        assert!(TableFile::open(Cursor::new(&bytes), bytes.len() as u64).is_err(), "{columns}");
    }
}

#[test]
fn parts_that_do_not_fit_are_refused_by_name() {
    let case = Case::new(3, 1);
    refused(case.join(&[0..60, 61..150]), &["each of the 150 rows", "60..61 in none"]);
    refused(case.join(&[1..60, 60..150]), &["0..1 in none"]);
    refused(case.join(&[0..60, 60..149]), &["149..150 in none"]);
    refused(case.join(from_ref(&(3..150))), &["0..3 in none"]);
    refused(case.join(&[0..60, 58..150]), &["58..60 in 0..60.sz and in 58..150.sz"]);
    refused(case.join(&[0..150, 58..60]), &["58..60 in 0..150.sz and in 58..60.sz"]);
    refused(case.join(&[0..150, 0..150]), &["0..150 in"]);
    refused(case.join(&[]), &["at most 3", "got 0"]);
    let four = [0..10, 10..20, 20..30, 30..150];
    refused(case.join(&four), &["parts of the table", "at most 3, as many as parties", "got 4"]);
    refused(Case::new(1, 1).join(&[0..60, 60..150]), &["at most 1"]);

    let join = |other: Box<dyn EncryptedTable>| {
        let mut parts = case.parts(from_ref(&(0..60)));
        parts.push(("other.sz".to_owned(), other));
        JoinedTable::new(&case.contexts, parts)
    };
    assert!(join(opened(case.write(&schema(), 60..150))).is_ok());
    let stranger = Case::new(3, 2).write(&schema(), 60..150);
    refused(join(opened(stranger)), &["the key of a part", "0..60.sz", "other.sz"]);
    let mut columns = schema();
    columns.columns[0] = Column::integer("age", 1, 91);
    refused(join(opened(case.write(&columns, 60..150))), &["the schema of a part", "other.sz"]);
    let longer = Schema { rows: 180, ..schema() };
    refused(join(opened(case.write(&longer, 60..140))), &["the schema of a part", "other.sz"]);
    let alien = Case::new(2, 1).write(&schema(), 60..150);
    let error = join(opened(alien)).err().unwrap();
    assert!(matches!(error, TableError::Wire(WireError::Parameters { .. })), "{error}");
}

/// Chunks of a part are those of the whole table, each with the part's own rows.
#[test]
fn rows_of_a_part_come_chunk_by_chunk() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    for (first, count, all) in
        [(0, 5, 5), (0, 5, 40), (3, 5, 40), (8, 8, 40), (17, 20, 40), (39, 1, 40), (7, 2, 40)]
    {
        let lines: String = (0..count).map(|row| format!("{}\n", first + row)).collect();
        std::fs::write(&path, format!("x\n{lines}")).unwrap();
        let source = Source::open(&path).unwrap();
        let surveyed = survey(&mut *source.rows().unwrap(), &Asked::default()).unwrap();
        let chunks = Chunks::new(source.rows().unwrap(), &surveyed, 8);
        let mut chunks = chunks.part_of(all, first).unwrap();
        let mut found = Vec::new();
        while let Some(table) = chunks.next_chunk().unwrap() {
            assert_eq!(table.schema().rows, all);
            let Some(Cells::Units(cells)) = table.cells(0) else { panic!("numbers") };
            let chunk = found.len() as i64;
            assert!(cells.iter().all(|cell| cell / 8 == chunk), "{cells:?} in chunk {chunk}");
            found.push(cells.clone());
        }
        assert_eq!(found.len() as u64, all.div_ceil(8), "{first} {count} {all}");
        let whole: Vec<i64> = (first..first + count).map(|row| row as i64).collect();
        assert_eq!(found.concat(), whole);
        assert!(chunks.next_chunk().unwrap().is_none());
        for (all, first) in [(first + count - 1, first), (all, all), (all, u64::MAX)] {
            let chunks = Chunks::new(source.rows().unwrap(), &surveyed, 8);
            refused(chunks.part_of(all, first), &["rows of a part"]);
        }
    }
}
