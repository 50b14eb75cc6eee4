//! Tables in Parquet: clear ones are read, encrypted ones written, cut by a partition and read.

use std::fs::File;
use std::sync::Arc;

use arrow_array::types::Int8Type;
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Date64Array, Decimal128Array, DictionaryArray,
    Float32Array, Float64Array, Int32Array, RecordBatch, StringArray, Time64MicrosecondArray,
    TimestampMicrosecondArray, TimestampMillisecondArray, TimestampNanosecondArray, TimestampSecondArray,
};
use arrow_schema::DataType;
use chacha20::ChaCha20Rng;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use rand_core::SeedableRng;
use sunzi_bfv::CrtParameters;
use sunzi_math::primes_with_bits;
use sunzi_program::analysis::Parameters;
use sunzi_program::contexts::{EncryptionKey, PublicKey, SecretKey};
use sunzi_program::run::{Cells, MISSING_LABEL, MISSING_UNIT, Table};
use sunzi_program::schema::{Origin, TimeUnit, Unit};
use sunzi_program::{Column, Contexts, Kind, Schema};
use sunzi_rlwe::Security;
use sunzi_table::arrow::{CIPHERTEXT, ParquetWriter, ROWS};
use sunzi_table::{
    Asked, Chunks, EncryptedWriter, Input, Missing, MissingCells, Reading, Source, TableError, inputs, open,
    survey,
};

const ROWS_IN_ALL: usize = 200;

/// Returns a batch with every type that is read.
fn batch() -> RecordBatch {
    let range = 0..ROWS_IN_ALL as i32;
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("age", Arc::new(Int32Array::from_iter_values(range.clone().map(|i| i % 90)))),
        ("cost", Arc::new(Float64Array::from_iter_values(range.clone().map(|i| f64::from(i) / 100.0)))),
        ("ill", Arc::new(BooleanArray::from_iter(range.clone().map(|i| Some(i % 3 == 0))))),
        (
            "region",
            Arc::new(StringArray::from_iter_values(
                range.clone().map(|i| if i % 4 == 0 { "north" } else { "south" }),
            )),
        ),
        (
            "price",
            Arc::new(
                Decimal128Array::from_iter_values(range.clone().map(|i| i128::from(i) * 5))
                    .with_precision_and_scale(12, 2)
                    .unwrap(),
            ),
        ),
        ("ratio", Arc::new(Float32Array::from_iter_values(range.map(|i| i as f32 / 10.0)))),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

fn write(path: &std::path::Path, batch: &RecordBatch) {
    let mut writer = ArrowWriter::try_new(File::create(path).unwrap(), batch.schema(), None).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
}

#[test]
fn clear_tables_are_read_with_their_types() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    write(&path, &batch());
    let source = Source::open(&path).unwrap();
    let asked = Asked { clear: vec!["region".to_owned()], ..Asked::default() };
    let surveyed = survey(&mut *source.rows().unwrap(), &asked).unwrap();
    let kinds: Vec<Kind> = surveyed.schema.columns.iter().map(|column| column.kind.clone()).collect();
    let decimal = |decimals, low, high| Kind::Decimal { decimals, low, high };
    assert_eq!(kinds[0], decimal(0, 0, 89));
    assert_eq!(kinds[1], decimal(2, 0, 199));
    assert_eq!(kinds[2], decimal(0, 0, 1));
    assert_eq!(kinds[3], Kind::Category { labels: vec!["north".to_owned(), "south".to_owned()] });
    assert_eq!(kinds[4], decimal(2, 0, 995));
    assert_eq!(kinds[5], decimal(1, 0, 199));
    let mut chunks = Chunks::new(source.rows().unwrap(), &surveyed, 128);
    let first = chunks.next_chunk().unwrap().unwrap();
    assert_eq!(first.cells(1), Some(&Cells::Units((0..128).collect())));
    assert_eq!(chunks.next_chunk().unwrap().unwrap().row_count(), 72);
    assert!(chunks.next_chunk().unwrap().is_none());
    // A cell that does not fit is named by its row.
    let missing = Int32Array::from_iter((0..9).map(|i| (i != 6).then_some(i)));
    write(&path, &RecordBatch::try_from_iter([("a", Arc::new(missing) as ArrayRef)]).unwrap());
    let source = Source::open(&path).unwrap();
    let error = survey(&mut *source.rows().unwrap(), &Asked::default()).unwrap_err().to_string();
    assert!(error.contains("row 7") && error.contains("\"a\"") && error.contains("--missing"), "{error}");
    std::fs::write(&path, b"PAR1 and no more").unwrap();
    assert!(matches!(Source::open(&path).unwrap().rows(), Err(TableError::Parquet { .. })));
}

/// Checks dates and times of every type, and that columns which are not taken are not even looked at.
#[test]
fn dates_and_times_are_numbers_and_other_columns_are_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    let seconds = [1_704_067_200_i64, 1_704_067_260];
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("bytes", Arc::new(BinaryArray::from_vec(vec![b"x", b"y"]))),
        ("date32", Arc::new(Date32Array::from(vec![-1, 19_723]))),
        ("date64", Arc::new(Date64Array::from(vec![86_400_000, 0]))),
        ("s", Arc::new(TimestampSecondArray::from(seconds.to_vec()))),
        (
            "ms",
            Arc::new(
                TimestampMillisecondArray::from(seconds.map(|v| v * 1000).to_vec()).with_timezone("UTC"),
            ),
        ),
        ("us", Arc::new(TimestampMicrosecondArray::from(seconds.map(|v| v * 1_000_000 + 500).to_vec()))),
        ("ns", Arc::new(TimestampNanosecondArray::from(seconds.map(|v| v * 1_000_000_000).to_vec()))),
        ("clock", Arc::new(Time64MicrosecondArray::from(vec![0, 3_600_000_000]))),
        ("text", Arc::new(StringArray::from(vec!["2024-05-17", "2024-05-18"]))),
    ];
    write(&path, &RecordBatch::try_from_iter(columns).unwrap());
    let source = Source::open(&path).unwrap();
    let of = |names: &[&str], reading: Reading| {
        let columns = names.iter().map(|&name| name.to_owned()).collect();
        survey(&mut *source.rows().unwrap(), &Asked { columns, reading, ..Asked::default() })
    };
    let found = of(&["date32", "date64", "s", "ms", "ns", "clock"], Reading::default()).unwrap();
    let unit = |time, since| Unit { time, since };
    let (days, times) = (unit(TimeUnit::Days, Origin::Epoch), unit(TimeUnit::Seconds, Origin::Epoch));
    let expected = [
        Column::integer("date32", -1, 19_723).in_units(days),
        Column::integer("date64", 0, 1).in_units(days),
        Column::integer("s", seconds[0], seconds[1]).in_units(times),
        Column::integer("ms", seconds[0], seconds[1]).in_units(times),
        Column::integer("ns", seconds[0], seconds[1]).in_units(times),
        Column::integer("clock", 0, 3600).in_units(unit(TimeUnit::Seconds, Origin::Midnight)),
    ];
    assert_eq!(found.schema.columns, expected);
    let chunk = Chunks::new(source.rows().unwrap(), &found, 2).next_chunk().unwrap().unwrap();
    assert_eq!(chunk.cells(0), Some(&Cells::Units(vec![-1, 19_723])));
    assert_eq!(chunk.cells(4), Some(&Cells::Units(seconds.to_vec())));
    // A column that is taken is read: its type, and what is finer than its unit.
    let message = |names: &[&str]| of(names, Reading::default()).unwrap_err().to_string();
    assert!(message(&["bytes"]).contains("has the type Binary"), "{}", message(&["bytes"]));
    assert!(message(&["us"]).contains("no whole number of seconds"), "{}", message(&["us"]));
    let micro = Reading { units: vec![("us".to_owned(), TimeUnit::Microseconds)], ..Reading::default() };
    let last =
        Kind::Decimal { decimals: 0, low: seconds[0] * 1_000_000 + 500, high: seconds[1] * 1_000_000 + 500 };
    assert_eq!(of(&["us"], micro).unwrap().schema.columns[0].kind, last);
    // Texts may be dates too, unless they are to be labels.
    let dates = [Column::integer("text", 19_860, 19_861).in_units(days)];
    assert_eq!(of(&["text"], Reading::default()).unwrap().schema.columns, dates);
    let (columns, categories) = (vec!["text".to_owned()], vec!["text".to_owned()]);
    let labels = survey(&mut *source.rows().unwrap(), &Asked { columns, categories, ..Asked::default() });
    assert!(matches!(labels.unwrap().schema.columns[0].kind, Kind::Category { .. }));
}

/// Checks columns of categories as pandas writes them: labels by their indices, and one in which all cells are missing.
#[test]
fn dictionaries_are_read_as_labels() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    let labels: DictionaryArray<Int8Type> = (0..9000).map(|i| ["b", "a", "c"][i % 3]).collect();
    let read = |column: DictionaryArray<Int8Type>| {
        write(&path, &RecordBatch::try_from_iter([("label", Arc::new(column) as ArrayRef)]).unwrap());
        let source = Source::open(&path).unwrap();
        let clear = vec!["label".to_owned()];
        let surveyed = survey(&mut *source.rows().unwrap(), &Asked { clear, ..Asked::default() })?;
        Chunks::new(source.rows()?, &surveyed, 9000).next_chunk()
    };
    let rows = read(labels).unwrap().unwrap();
    let Some(Cells::Labels(places)) = rows.cells(0) else { panic!() };
    assert!(places.iter().enumerate().all(|(i, &place)| place == [1, 0, 2][i % 3]));
    let missing = [None::<&str>; 3].into_iter().collect();
    assert!(read(missing).unwrap_err().to_string().contains("--missing"));
}

/// Checks nulls and doubles that are no numbers: skipped, filled in, or refused; an infinity is no missing cell.
#[test]
fn nulls_and_nans_are_missing_cells() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    let whole = Int32Array::from(vec![Some(5), None, Some(7)]);
    let real = Float64Array::from(vec![Some(f64::NAN), Some(0.5), None]);
    let text = StringArray::from(vec![None, Some("x"), Some("")]);
    let columns: Vec<(&str, ArrayRef)> =
        vec![("a", Arc::new(whole)), ("b", Arc::new(real)), ("c", Arc::new(text))];
    write(
        &path,
        &RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(n, c)| (n, c, true))).unwrap(),
    );
    let source = Source::open(&path).unwrap();
    let of = |all| {
        let reading = Reading { missing: MissingCells { all, columns: Vec::new() }, ..Reading::default() };
        survey(&mut *source.rows().unwrap(), &Asked { reading, ..Asked::default() })
    };
    let skipped = of(Some(Missing::Skip)).unwrap();
    assert!(skipped.schema.columns.iter().all(|column| column.missing));
    let rows = Chunks::new(source.rows().unwrap(), &skipped, 8).next_chunk().unwrap().unwrap();
    assert_eq!(rows.cells(0), Some(&Cells::Units(vec![5, MISSING_UNIT, 7])));
    assert_eq!(rows.cells(1), Some(&Cells::Units(vec![MISSING_UNIT, 5, MISSING_UNIT])));
    // An empty text is a label, since Parquet has nulls.
    assert_eq!(rows.cells(2), Some(&Cells::Labels(vec![MISSING_LABEL, 1, 0])));
    for all in [None, Some(Missing::Refuse)] {
        assert!(of(all).unwrap_err().to_string().contains("row 1, column \"b\""));
    }
    let filled = of(Some(Missing::Value("6".to_owned()))).unwrap();
    let rows = Chunks::new(source.rows().unwrap(), &filled, 8).next_chunk().unwrap().unwrap();
    assert_eq!(rows.cells(0), Some(&Cells::Units(vec![5, 6, 7])));
    assert_eq!(rows.cells(2), Some(&Cells::Labels(vec![1, 2, 0])));
    let infinite = Float64Array::from(vec![0.5, f64::INFINITY]);
    write(&path, &RecordBatch::try_from_iter([("b", Arc::new(infinite) as ArrayRef)]).unwrap());
    let source = Source::open(&path).unwrap();
    let reading = Reading {
        missing: MissingCells { all: Some(Missing::Skip), columns: Vec::new() },
        ..Reading::default()
    };
    let refused = survey(&mut *source.rows().unwrap(), &Asked { reading, ..Asked::default() });
    assert!(refused.unwrap_err().to_string().contains("not a finite number"));
}

/// Checks that clear cells go through the file with what is missing, and that a column without missing cells takes no null.
#[test]
fn missing_cells_of_clear_columns_come_back() {
    let case = Case::new();
    let mut schema = Schema::new(
        3,
        vec![
            Column::integer("a", 1, 9).in_the_clear().with_missing(),
            Column::decimal("b", 1, 1, 9).in_the_clear().with_missing(),
            Column::real("c", 0.5, 1.0).in_the_clear().with_missing(),
            Column::category("d", &["x", "y"]).in_the_clear().with_missing(),
            Column::integer("e", 1, 9).with_missing(),
        ],
    )
    .unwrap();
    let cells = vec![
        Cells::Units(vec![MISSING_UNIT, 2, 9]),
        Cells::Units(vec![1, MISSING_UNIT, 9]),
        Cells::Reals(vec![0.5, 1.0, f64::NAN]),
        Cells::Labels(vec![MISSING_LABEL, 1, 0]),
        Cells::Units(vec![1, MISSING_UNIT, 3]),
    ];
    let rows = Table::new(&schema, cells.clone()).unwrap();
    let codec = case.contexts.codec(&case.contexts.layout(3)).unwrap();
    let path = case.folder.path().join("m.parquet");
    let mut file = File::create(&path).unwrap();
    let mut writer: Box<dyn EncryptedWriter> =
        Box::new(ParquetWriter::create(&case.contexts, &schema, case.secret.id(), None, &mut file).unwrap());
    writer.begin_chunk(&rows).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(2);
    for input in inputs(&schema) {
        let key = EncryptionKey::Secret(&case.secret);
        let one = codec.encrypt(&schema.columns[4], input.label, &cells[4], key, &mut rng).unwrap();
        writer.put_bytes(&case.contexts.to_bytes(&one).unwrap(), case.secret.id()).unwrap();
    }
    writer.finish().unwrap();
    let mut table = open(&path).unwrap();
    assert_eq!(table.schema(), &schema);
    let clear = table.clear(0).unwrap();
    assert!((0..4).all(|at| clear.cells(at) == Some(&cells[at])));
    let valid = table.encrypted(&case.contexts, 0, &Input { column: 4, label: Some(0) }).unwrap();
    let slots = codec.decrypt(&valid, &case.secret).unwrap();
    let valid = codec.cells(&schema.columns[4], Some(0), &slots, 3).unwrap();
    assert_eq!(valid, Cells::Units(vec![1, 0, 1]));
    schema.columns.iter_mut().for_each(|column| column.missing = false);
    assert!(Table::new(&schema, cells).is_err());
}

struct Case {
    contexts: Contexts,
    secret: SecretKey,
    schema: Schema,
    folder: tempfile::TempDir,
}

impl Case {
    fn path(&self) -> std::path::PathBuf {
        self.folder.path().join("e.parquet")
    }

    /// Writes an encrypted table, partitioned by region.
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.parquet");
        write(&path, &batch());
        let source = Source::open(&path).unwrap();
        let clear = ["region", "cost", "ill"].map(str::to_owned).to_vec();
        let asked = Asked { clear, ..Asked::default() };
        let surveyed = survey(&mut *source.rows().unwrap(), &asked).unwrap();
        let (moduli, security) = (primes_with_bits(36, 128, 3).unwrap(), Security::InsecureForResearchOnly);
        let parameters = CrtParameters::new(6, moduli, vec![257, 641], security);
        let contexts = Contexts::new(&Parameters::Bfv(parameters)).unwrap();
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let secret = SecretKey::generate(contexts.rlwe(), &mut rng).unwrap();
        let public = PublicKey::generate(contexts.rlwe(), &secret, &mut rng).unwrap();
        let schema = surveyed.schema.clone();
        let codec = contexts.codec(&contexts.layout(schema.rows)).unwrap();
        let case = Self { contexts, secret, schema, folder };
        let region = &case.schema.columns[3];
        let out = File::create(case.path()).unwrap();
        let mut writer = Box::new(
            ParquetWriter::create(&case.contexts, &case.schema, case.secret.id(), Some(region), out).unwrap(),
        );
        let mut chunks = Chunks::new(source.rows().unwrap(), &surveyed, 64).partitioned("region").unwrap();
        while let Some(rows) = chunks.next_chunk().unwrap() {
            writer.begin_chunk(&rows).unwrap();
            for input in inputs(&case.schema) {
                let (column, cells) = (&case.schema.columns[input.column], rows.cells(input.column).unwrap());
                let encrypted = codec
                    .encrypt(column, input.label, cells, EncryptionKey::Public(&public), &mut rng)
                    .unwrap();
                writer.put_bytes(&case.contexts.to_bytes(&encrypted).unwrap(), case.secret.id()).unwrap();
            }
        }
        writer.finish().unwrap();
        case
    }

    /// Returns the sum of all ages in a file.
    fn sum(&self) -> i64 {
        let mut table = open(&self.path()).unwrap();
        let codec = self.contexts.codec(&self.contexts.layout(self.schema.rows)).unwrap();
        let (input, chunks) = (table.inputs()[0], table.layout().chunks);
        let sum = |chunk: usize| {
            let encrypted = table.encrypted(&self.contexts, chunk, &input).unwrap();
            let slots = codec.decrypt(&encrypted, &self.secret).unwrap();
            let rows = table.rows_of(chunk);
            let Cells::Units(units) = codec.cells(&self.schema.columns[0], None, &slots, rows).unwrap()
            else {
                return 0;
            };
            units.iter().sum::<i64>()
        };
        (0..chunks).map(sum).sum()
    }
}

#[test]
fn encrypted_tables_come_back_and_are_filtered_by_their_partition() {
    let case = Case::new();
    let mut table = open(&case.path()).unwrap();
    assert_eq!((table.schema(), table.key()), (&case.schema, case.secret.id()));
    // 50 rows of the north, 150 of the south: 1 and 3 chunks of at most 64.
    assert_eq!((table.layout().chunks, table.layout().span), (4, 64));
    assert_eq!(table.check(&case.contexts).unwrap(), 4 * 3 * 2);
    let rows: Vec<usize> = (0..4).map(|chunk| table.rows_of(chunk)).collect();
    assert_eq!((rows.iter().sum::<usize>(), *rows.iter().max().unwrap()), (200, 64));
    for (chunk, &count) in rows.iter().enumerate() {
        let clear = table.clear(chunk).unwrap();
        let Some(Cells::Labels(labels)) = clear.cells(3) else { panic!() };
        assert!(labels.len() == count && labels.iter().all(|label| label == &labels[0]));
        assert_eq!(clear.cells(0), Some(&Cells::Unknown));
    }
    let all: i64 = (0..200).map(|i| i % 90).sum();
    assert_eq!(case.sum(), all);

    // An engine that knows nothing of Sunzi keeps rows by a clear column, and writes fewer row groups.
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(case.path()).unwrap()).unwrap();
    let arrow = Arc::clone(reader.schema());
    let field = arrow.field_with_name("age").unwrap();
    assert_eq!((field.data_type(), field.extension_type_name()), (&DataType::Binary, Some(CIPHERTEXT)));
    assert_eq!(arrow.field_with_name(ROWS).unwrap().data_type(), &DataType::UInt32);
    let batches: Vec<RecordBatch> = reader.build().unwrap().map(Result::unwrap).collect();
    let south = |batch: &RecordBatch| {
        let at = batch.schema().index_of("region").unwrap();
        let regions = batch.column(at).as_any().downcast_ref::<StringArray>().unwrap().clone();
        (0..batch.num_rows())
            .filter(|&row| regions.value(row) == "south")
            .map(|row| batch.slice(row, 1))
            .collect::<Vec<_>>()
    };
    let mut writer = ArrowWriter::try_new(File::create(case.path()).unwrap(), arrow, None).unwrap();
    batches.iter().flat_map(south).for_each(|row| writer.write(&row).unwrap());
    writer.close().unwrap();
    let filtered = open(&case.path()).unwrap();
    assert_eq!((filtered.schema().rows, filtered.layout().chunks), (150, 3));
    assert_eq!(case.sum(), (0..200).filter(|i| i % 4 != 0).map(|i| i % 90).sum::<i64>());
}

#[test]
fn what_is_no_encrypted_table_is_refused() {
    let case = Case::new();
    let clear = open(&case.folder.path().join("t.parquet")).err().unwrap().to_string();
    assert!(clear.contains("no encrypted table"), "{clear}");
    let moduli = primes_with_bits(36, 128, 3).unwrap();
    let parameters = CrtParameters::new(6, moduli, vec![257], Security::InsecureForResearchOnly);
    let other = Contexts::new(&Parameters::Bfv(parameters)).unwrap();
    assert!(matches!(open(&case.path()).unwrap().check(&other), Err(TableError::Wire(_))));
    // Cells that were changed, byte by byte, are detected where they matter.
    let bytes = std::fs::read(case.path()).unwrap();
    let mut noticed = 0;
    for at in (4..bytes.len()).step_by(211) {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        std::fs::write(case.path(), changed).unwrap();
        noticed += usize::from(open(&case.path()).and_then(|mut table| table.check(&case.contexts)).is_err());
    }
    assert!(noticed > bytes.len() / 211 / 2, "{noticed}");
}
