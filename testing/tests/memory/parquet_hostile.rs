//! Hostile tables in Parquet: typed errors or tables of which every cell is read, in the time and memory of a file.

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::{BinaryBuilder, Decimal128Builder, ListBuilder};
use arrow_array::{ArrayRef, Float64Array, Int32Array, RecordBatch, StringArray, UInt32Array};
use arrow_schema::{DataType, Field};
use chacha20::ChaCha20Rng;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::{Compression, GzipLevel};
use parquet::file::properties::WriterProperties;
use rand::RngExt as _;
use rand_core::SeedableRng;
use sunzi_bfv::CrtParameters;
use sunzi_math::primes_with_bits;
use sunzi_program::Contexts;
use sunzi_program::analysis::Parameters;
use sunzi_program::contexts::{EncryptionKey, PublicKey, SecretKey};
use sunzi_rlwe::Security;
use sunzi_table::arrow::{ParquetWriter, ROWS};
use sunzi_table::{Asked, Chunks, EncryptedWriter as _, Source, TableError, inputs, open, survey};
use sunzi_testing::Figure;
use sunzi_testing::process::alone;
use sunzi_testing::wire::alloc;

use crate::MEMORY;

const COUNT: usize = 200;
/// Number of bytes at the end of a file that are changed more often: the description of its columns.
const FOOTER: usize = 4096;
/// Additional bytes that a table in the clear may take: a page and the rows that are read together.
const CLEAR: usize = 8 << 20;

fn batch() -> RecordBatch {
    let all = 0..COUNT as i32;
    let regions = all.clone().map(|i| if i % 4 == 0 { "north" } else { "south" });
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("age", Arc::new(Int32Array::from_iter_values(all.clone().map(|i| i % 90)))),
        ("cost", Arc::new(Float64Array::from_iter_values(all.map(|i| f64::from(i) / 100.0)))),
        ("region", Arc::new(StringArray::from_iter_values(regions))),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

fn write(path: &Path, batches: &[RecordBatch], compression: Compression) {
    let properties = WriterProperties::builder().set_compression(compression).build();
    let schema = batches[0].schema();
    let mut writer = ArrowWriter::try_new(File::create(path).unwrap(), schema, Some(properties)).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.close().unwrap();
}

/// A table in the clear, its encrypted form, and the keys of that.
struct Case {
    contexts: Contexts,
    folder: tempfile::TempDir,
    clear: Vec<u8>,
    encrypted: Vec<u8>,
}

#[derive(Debug, Default)]
struct Tally {
    refused: usize,
    accepted: usize,
    slowest: f64,
    fullest: f64,
    panics: usize,
}

impl Case {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.parquet");
        write(&path, &[batch()], Compression::SNAPPY);
        let clear = std::fs::read(&path).unwrap();
        let source = Source::open(&path).unwrap();
        let asked = ["region", "cost"].map(str::to_owned).to_vec();
        let surveyed =
            survey(&mut *source.rows().unwrap(), &Asked { clear: asked, ..Asked::default() }).unwrap();
        let (moduli, security) = (primes_with_bits(36, 128, 3).unwrap(), Security::InsecureForResearchOnly);
        let parameters = CrtParameters::new(6, moduli, vec![257], security);
        let contexts = Contexts::new(&Parameters::Bfv(parameters)).unwrap();
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let secret = SecretKey::generate(contexts.rlwe(), &mut rng).unwrap();
        let public = PublicKey::generate(contexts.rlwe(), &secret, &mut rng).unwrap();
        let schema = &surveyed.schema;
        let codec = contexts.codec(&contexts.layout(schema.rows)).unwrap();
        let path = folder.path().join("e.parquet");
        let out = File::create(&path).unwrap();
        let mut writer = Box::new(ParquetWriter::create(&contexts, schema, secret.id(), None, out).unwrap());
        let mut chunks = Chunks::new(source.rows().unwrap(), &surveyed, 64);
        while let Some(rows) = chunks.next_chunk().unwrap() {
            writer.begin_chunk(&rows).unwrap();
            for input in inputs(schema) {
                let (column, cells) = (&schema.columns[input.column], rows.cells(input.column).unwrap());
                let key = EncryptionKey::Public(&public);
                let encrypted = codec.encrypt(column, input.label, cells, key, &mut rng).unwrap();
                writer.put_bytes(&contexts.to_bytes(&encrypted).unwrap(), secret.id()).unwrap();
            }
        }
        writer.finish().unwrap();
        let encrypted = std::fs::read(&path).unwrap();
        Self { contexts, folder, clear, encrypted }
    }

    fn path(&self) -> std::path::PathBuf {
        self.folder.path().join("hostile.parquet")
    }

    /// Reads an encrypted table completely.
    fn encrypted(&self) -> Result<u64, TableError> {
        open(&self.path()).and_then(|mut table| table.check(&self.contexts))
    }

    /// Reads a table in the clear completely.
    fn clear(&self) -> Result<u64, TableError> {
        let source = Source::open(&self.path())?;
        let surveyed = survey(&mut *source.rows()?, &Asked::default())?;
        let mut chunks = Chunks::new(source.rows()?, &surveyed, 64);
        while chunks.next_chunk()?.is_some() {}
        Ok(surveyed.schema.rows)
    }

    /// Reads a file both ways; returns whether each way succeeded.
    fn read(&self, name: &str, bytes: &[u8], tally: &mut Tally) -> [bool; 2] {
        std::fs::write(self.path(), bytes).unwrap();
        let own = alloc::crafted_ceiling(bytes.len());
        let encrypted = tally.measure(name, bytes.len(), own, || self.encrypted());
        [encrypted, tally.measure(name, bytes.len(), own + CLEAR, || self.clear())]
    }
}

impl Tally {
    fn measure(
        &mut self,
        name: &str,
        len: usize,
        ceiling: usize,
        read: impl FnOnce() -> Result<u64, TableError>,
    ) -> bool {
        let before = MEMORY.current_usage();
        MEMORY.reset_peak_usage();
        let start = alloc::clock();
        let read = catch_unwind(AssertUnwindSafe(read));
        let time = (alloc::clock() - start) / alloc::seconds(len);
        let used = MEMORY.peak_usage().saturating_sub(before);
        let memory = used as f64 / ceiling as f64;
        if time > 1.0 || memory > 1.0 || read.is_err() {
            println!("{name}: {len} bytes took {time:.2} of the time, {used} bytes; {read:?}");
        }
        (self.slowest, self.fullest) = (self.slowest.max(time), self.fullest.max(memory));
        let Ok(read) = read else {
            self.panics += 1;
            return false;
        };
        *(if read.is_ok() { &mut self.accepted } else { &mut self.refused }) += 1;
        read.is_ok()
    }

    fn record(&self, what: &str, count: usize, of: usize) {
        println!("{self:?}");
        Figure::new(21, format!("seconds for a Parquet file, {what}, over 1 s + 1 s/MB"))
            .cases(count, of)
            .at_most(self.slowest, 1.0);
        let bar = "over 24 times its length and 1 MiB, 9 MiB where rows are in the clear";
        Figure::new(22, format!("bytes allocated for a Parquet file, {what}, {bar}"))
            .cases(count, of)
            .at_most(self.fullest, 1.0);
        Figure::new(10, format!("panics of Parquet files, {what}")).cases(count, of).none_wrong(self.panics);
    }
}

/// Returns a file with bits, bytes and words changed, cut or doubled, most of them in its own description.
fn mutant(file: &[u8], rng: &mut ChaCha20Rng) -> Vec<u8> {
    let mut bytes = file.to_vec();
    for _ in 0..rng.random_range(1..4) {
        let from = if rng.random_bool(0.7) { bytes.len().saturating_sub(FOOTER) } else { 4 };
        let at = rng.random_range(from..bytes.len());
        match rng.random_range(0..5) {
            0 => bytes[at] ^= 1 << rng.random_range(0..8),
            1 => bytes[at] = rng.random(),
            2 => bytes[at] = [0x00, 0x7f, 0x80, 0xff][rng.random_range(0..4)],
            3 => {
                // A number of many bytes.
                bytes.splice(at..at, [0xff, 0xff, 0xff, 0xff, 0x0f]);
            }
            _ => {
                let to = (at + rng.random_range(1..16)).min(bytes.len());
                bytes.drain(at..to);
            }
        }
        if bytes.len() < 16 {
            break;
        }
    }
    // Half of the files have the right length of their description again.
    let end = bytes.len();
    if end > 16 && rng.random_bool(0.5) {
        let old = u32::from_le_bytes(file[file.len() - 8..file.len() - 4].try_into().unwrap());
        let len = old.wrapping_add((end as u32).wrapping_sub(file.len() as u32));
        bytes[end - 8..end - 4].copy_from_slice(&len.to_le_bytes());
        bytes[end - 4..].copy_from_slice(b"PAR1");
    }
    bytes
}

#[test]
fn mutants_are_refused_or_harmless() {
    alone("parquet_hostile::mutants_are_refused_or_harmless", || {
        mutants(500);
    });
}

#[test]
#[ignore = "long: a minute"]
fn many_mutants_are_refused_or_harmless() {
    alone("parquet_hostile::many_mutants_are_refused_or_harmless", || {
        mutants(50_000);
    });
}

fn mutants(count: usize) {
    let case = Case::new();
    let (mut tally, mut rng) = (Tally::default(), ChaCha20Rng::seed_from_u64(7));
    std::fs::write(case.path(), &case.encrypted).unwrap();
    assert!(case.encrypted().is_ok() && case.clear().is_err());
    for i in 0..count {
        let bytes = mutant(if i % 2 == 0 { &case.encrypted } else { &case.clear }, &mut rng);
        case.read(&format!("mutant {i}"), &bytes, &mut tally);
    }
    assert!(tally.refused > 0 && tally.accepted > 0);
    tally.record("mutated", count, 50_000);
}

/// Returns the encrypted table with other columns: the metadata that it is one stays.
fn rewritten(case: &Case, compression: Compression, change: impl Fn(&str, ArrayRef) -> ArrayRef) -> Vec<u8> {
    let path = case.folder.path().join("e.parquet");
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
    let arrow = Arc::clone(reader.schema());
    let batches: Vec<RecordBatch> = reader.build().unwrap().map(Result::unwrap).collect();
    let changed: Vec<RecordBatch> = batches
        .iter()
        .map(|batch| {
            let columns = arrow.fields().iter().zip(batch.columns());
            let columns = columns.map(|(field, column)| change(field.name(), Arc::clone(column))).collect();
            RecordBatch::try_new(Arc::clone(&arrow), columns).unwrap()
        })
        .collect();
    write(&case.path(), &changed, compression);
    std::fs::read(case.path()).unwrap()
}

/// Makes a table in the clear of five thousand row groups.
fn groups(case: &Case) -> Vec<u8> {
    let row = batch().slice(0, 1).project(&[0]).unwrap();
    let mut writer = ArrowWriter::try_new(File::create(case.path()).unwrap(), row.schema(), None).unwrap();
    for _ in 0..5000 {
        writer.write(&row).unwrap();
        writer.flush().unwrap();
    }
    writer.close().unwrap();
    std::fs::read(case.path()).unwrap()
}

/// Makes a table in the clear of as many columns.
fn columns(case: &Case) -> Vec<u8> {
    let cell: ArrayRef = Arc::new(Int32Array::from(vec![1]));
    let columns = (0..5000).map(|i| (format!("{i}"), Arc::clone(&cell)));
    let row = RecordBatch::try_from_iter(columns).unwrap();
    write(&case.path(), &[row], Compression::UNCOMPRESSED);
    std::fs::read(case.path()).unwrap()
}

#[test]
fn crafted_files_end_in_their_time_and_memory() {
    alone("parquet_hostile::crafted_files_end_in_their_time_and_memory", || {
        let case = Case::new();
        let mut tally = Tally::default();
        let many = |count: usize, rows: usize| {
            let kind = DataType::Decimal128(18, 2);
            let field = Arc::new(Field::new("item", kind.clone(), false));
            let mut list = ListBuilder::new(Decimal128Builder::new().with_data_type(kind)).with_field(field);
            for row in 0..rows {
                (0..if row == 0 { count } else { 1 }).for_each(|_| list.values().append_value(100));
                list.append(true);
            }
            Arc::new(list.finish()) as ArrayRef
        };
        let zeros = |bytes: usize, rows: usize| {
            let mut cells = BinaryBuilder::new();
            (0..rows).for_each(|_| cells.append_value(vec![0; bytes]));
            Arc::new(cells.finish()) as ArrayRef
        };
        let gzip = Compression::GZIP(GzipLevel::default());
        let compressions = [Compression::UNCOMPRESSED, Compression::SNAPPY, gzip, Compression::LZ4_RAW];
        for compression in compressions {
            let with = |column: &str, change: &dyn Fn(usize) -> ArrayRef| {
                let changed =
                    |name: &str, old: ArrayRef| if name == column { change(old.len()) } else { old };
                rewritten(&case, compression, changed)
            };
            let crafted = [
                ("as it was", with("", &|rows| zeros(0, rows))),
                ("a list of a million equal cells", with("cost", &|rows| many(1_000_000, rows))),
                ("cells of 16 MB of zeros", with("age", &|rows| zeros(1 << 24, rows))),
                ("empty cells", with("age", &|rows| zeros(0, rows))),
                ("full chunks", with(ROWS, &|rows| Arc::new(UInt32Array::from(vec![64; rows])))),
            ];
            for (i, (name, bytes)) in crafted.iter().enumerate() {
                let [accepted, _] = case.read(&format!("{name}, {compression:?}"), bytes, &mut tally);
                assert_eq!(accepted, i == 0, "{name}");
            }
        }
        assert_eq!(case.read("many row groups", &groups(&case), &mut tally), [false, true]);
        // More columns than a table may have.
        assert_eq!(case.read("many columns", &columns(&case), &mut tally), [false, false]);
        let of = 5 * compressions.len() + 2;
        tally.record("crafted", of, of);
    });
}

/// Checks pages that claim to decompress to two gigabytes.
#[test]
fn pages_that_say_too_much_are_refused() {
    alone("parquet_hostile::pages_that_say_too_much_are_refused", || {
        let case = Case::new();
        let mut tally = Tally::default();
        let mut found = 0;
        for file in [&case.encrypted, &case.clear] {
            // A header begins with its type and two sizes, each a number of 32 bits after the byte 0x15.
            for at in (4..file.len() - 8).filter(|&at| file[at] == 0x15 && file[at + 2] == 0x15) {
                let mut bytes = file.clone();
                let end = (at + 3..).find(|&at| bytes[at] < 0x80).unwrap();
                bytes.splice(at + 3..=end, [0xfe, 0xff, 0xff, 0xff, 0x0f]);
                // Later columns moved; the column of this page is found where it was.
                found += 1;
                case.read(&format!("sizes at {at}"), &bytes, &mut tally);
            }
        }
        assert!(found > 4 && tally.accepted == 0, "{found}: {tally:?}");
        tally.record("overstated", found, found);
    });
}
