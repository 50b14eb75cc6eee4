//! Specimens of files of encrypted tables in every scheme.

use std::io::Cursor;

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use sunzi_bfv::CrtParameters;
use sunzi_circuits::integers::IntegerParameters;
use sunzi_program::analysis::{Parameters, SchemeChoice};
use sunzi_program::contexts::{Contexts, EncryptionKey, PublicKey, SecretKey};
use sunzi_program::packed::PackedForm;
use sunzi_program::run::{Cells, MISSING_LABEL, MISSING_UNIT, Table};
use sunzi_program::schema::{Origin, TimeUnit, Unit};
use sunzi_program::{Column, Schema};
use sunzi_rlwe::KeyId;
use sunzi_rlwe::wire::{CHECKSUM_LEN, HEADER_LEN, Kind, WireError};
use sunzi_table::file::{Shape, TableFile, TableWriter};
use sunzi_table::{EncryptedWriter as _, TableError};

use super::Specimen;
use super::specimens::{Failure, bfv_parameters, bgv_parameters, ckks_parameters};

/// Returns a specimen of an encrypted table for each scheme.
///
/// # Errors
/// No error is expected of making encrypted tables.
pub(super) fn table_specimens() -> Result<Vec<Specimen>, Failure> {
    let all = [
        ("bfv-table", Kind::BfvTable),
        ("bgv-table", Kind::BgvTable),
        ("ckks-table", Kind::CkksTable),
        ("integer-table", Kind::IntegerTable),
    ];
    let packed = [("bfv-packed-table", Kind::BfvPackedTable), ("bgv-packed-table", Kind::BgvPackedTable)];
    let apart = all.into_iter().map(|(name, kind)| specimen(name, kind, &parameters(kind)?, schema()?));
    let missing = [("bfv-missing-table", Kind::BfvTable), ("ckks-missing-table", Kind::CkksTable)];
    let missing =
        missing.into_iter().map(|(name, kind)| specimen(name, kind, &parameters(kind)?, missing_schema()?));
    apart
        .chain(missing)
        .chain(packed.into_iter().map(|(name, kind)| packed_specimen(name, kind, &parameters(kind)?)))
        .collect()
}

/// Returns the encryption parameters of tables of a kind.
fn parameters(kind: Kind) -> Result<Parameters, Failure> {
    Ok(match kind {
        Kind::BfvTable | Kind::BfvPackedTable => {
            let bfv = bfv_parameters()?;
            let several =
                CrtParameters::new(bfv.ring(), bfv.moduli().to_vec(), vec![257, 641], bfv.security());
            Parameters::Bfv(several)
        }
        Kind::BgvTable | Kind::BgvPackedTable => {
            Parameters::Bgv { parameters: bgv_parameters()?, plain_moduli: vec![257] }
        }
        Kind::IntegerTable => Parameters::Integers(IntegerParameters::insecure(9)?),
        _ => Parameters::Ckks(ckks_parameters()?),
    })
}

/// Returns whole tables in the clear, with much to do for each of their bytes: many columns, many labels, many chunks.
pub(super) fn whole(kind: Kind) -> Result<Vec<(&'static str, Vec<u8>)>, Failure> {
    // Packed tables have no clear columns.
    if kind.is_packed_table() {
        return Ok(Vec::new());
    }
    let contexts = Contexts::new(&parameters(kind)?)?;
    let labels: Vec<String> = (0..4096).map(|i| format!("label {i:06}")).collect();
    let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
    let of_labels = |name: &str| Column::category(name, &labels).in_the_clear();
    let number = |i: usize| Column::integer(&format!("c{i}"), 0, 9).in_the_clear();
    [
        ("clear columns", (0..4096).map(number).collect(), 70),
        ("clear labels", vec![of_labels("c")], 100_000),
        ("clear categories", (0..10).map(|i| of_labels(&format!("c{i}"))).collect(), 20_000),
        ("chunks", vec![number(0)], 100_000),
    ]
    .into_iter()
    .map(|(name, columns, rows)| Ok((name, in_the_clear(&contexts, columns, rows)?)))
    .collect()
}

/// Makes a table of zeros without an encrypted column.
fn in_the_clear(contexts: &Contexts, columns: Vec<Column>, rows: usize) -> Result<Vec<u8>, Failure> {
    let schema = Schema::new(rows as u64, columns)?;
    let layout = contexts.layout(schema.rows);
    let shape = match contexts.scheme() {
        SchemeChoice::Integers => Shape::of_digits(&schema, layout.span, 0)?,
        _ => Shape::new(&schema, layout.span, 0)?,
    };
    let key = KeyId::from_bytes([7; 16]);
    let mut bytes = Vec::new();
    let mut writer = Box::new(TableWriter::create(contexts, shape, key, &mut bytes)?);
    for chunk in 0..layout.chunks {
        let own = layout.rows_of(chunk);
        let zeros = |column: &Column| match column.kind {
            sunzi_program::Kind::Category { .. } => Cells::Labels(vec![0; own]),
            _ => Cells::Units(vec![0; own]),
        };
        let cells = schema.columns.iter().map(zeros).collect();
        writer.begin_chunk(&Table::new(
            &Schema { rows: own as u64, columns: schema.columns.clone() },
            cells,
        )?)?;
    }
    writer.finish()?;
    Ok(bytes)
}

/// Number of rows of the tables: two chunks of 64 or three of 32 rows, of which the last is not full.
const ROWS: usize = 70;

fn schema() -> Result<Schema, Failure> {
    let columns = vec![
        Column::decimal("age", 1, -50, 900).in_the_clear(),
        Column::integer("count", 0, 100),
        Column::category("region", &["north", "south"]),
        Column::category("sex", &["f", "m"]).in_the_clear(),
        Column::real("weight", -1.0, 2.0).in_the_clear(),
    ];
    Ok(Schema::new(ROWS as u64, columns)?)
}

/// Returns the schema with missing cells in all of its columns, and with a date and a time of day.
fn missing_schema() -> Result<Schema, Failure> {
    let columns = schema()?.columns.into_iter().map(Column::with_missing);
    let days = Unit { time: TimeUnit::Days, since: Origin::Epoch };
    let seconds = Unit { time: TimeUnit::Seconds, since: Origin::Midnight };
    let day = Column::integer("day", 19_000, 19_999).in_units(days).with_missing();
    let clock = Column::integer("clock", 0, 86_399).in_units(seconds).in_the_clear();
    Ok(Schema::new(ROWS as u64, columns.chain([day, clock]).collect())?)
}

/// Returns some rows of a table; in columns that may have missing cells every seventh one is missing, the first among them.
fn rows(schema: &Schema, start: usize, count: usize) -> Result<Table, Failure> {
    let column = |(at, column): (usize, &Column)| {
        let there = |i: usize| !column.missing || !i.is_multiple_of(7);
        let units = |of: &dyn Fn(i64) -> i64| {
            let cell = |i: usize| if there(i) { of(i as i64) } else { MISSING_UNIT };
            Cells::Units((start..start + count).map(cell).collect())
        };
        let labels = |k: usize| {
            let cell = |i: usize| if there(i) { (i / k % 2) as u32 } else { MISSING_LABEL };
            Cells::Labels((start..start + count).map(cell).collect())
        };
        let real = |i: usize| if there(i) { i as f64 / 64.0 - 0.5 } else { f64::NAN };
        match at {
            0 => units(&|i| 13 * i - 50),
            1 => units(&|i| i),
            2 => labels(1),
            3 => labels(5),
            4 => Cells::Reals((start..start + count).map(real).collect()),
            5 => units(&|i| 19_000 + i),
            _ => units(&|i| 1_000 * i),
        }
    };
    let cells = schema.columns.iter().enumerate().map(column).collect();
    Ok(Table::new(&Schema { rows: count as u64, columns: schema.columns.clone() }, cells)?)
}

fn specimen(name: &str, kind: Kind, parameters: &Parameters, schema: Schema) -> Result<Specimen, Failure> {
    let contexts = Contexts::new(parameters)?;
    let mut rng = ChaCha20Rng::seed_from_u64(41);
    let secret = SecretKey::generate(contexts.rlwe(), &mut rng)?;
    let public = PublicKey::generate(contexts.rlwe(), &secret, &mut rng)?;
    let codec = contexts.codec(&contexts.layout(schema.rows))?;
    let span = codec.layout().span;
    let mut chunks = Vec::new();
    for start in (0..ROWS).step_by(span) {
        let table = rows(&schema, start, span.min(ROWS - start))?;
        let mut encrypted = Vec::new();
        for input in sunzi_table::inputs(&schema) {
            let (column, cells) =
                schema.columns.get(input.column).zip(table.cells(input.column)).ok_or("columns")?;
            encrypted.push(codec.encrypt(
                column,
                input.label,
                cells,
                EncryptionKey::Public(&public),
                &mut rng,
            )?);
        }
        chunks.push((table, encrypted));
    }
    let first = chunks.first().and_then(|(_, encrypted)| encrypted.first()).ok_or("chunks")?;
    let len = contexts.to_bytes(first)?.len() as u64;
    let shape = match kind {
        Kind::IntegerTable => Shape::of_digits(&schema, span, len)?,
        _ => Shape::new(&schema, span, len)?,
    };
    let mut bytes = Vec::new();
    let mut writer = Box::new(TableWriter::create(&contexts, shape, secret.id(), &mut bytes)?);
    for (table, encrypted) in &chunks {
        writer.begin_chunk(table)?;
        encrypted.iter().try_for_each(|one| writer.put(one))?;
    }
    writer.finish()?;
    let records = records(&bytes)?;
    let (reader, runner) = (contexts.clone(), contexts);
    Ok(Specimen {
        name: name.to_owned(),
        kind,
        bytes,
        records,
        read: Box::new(move |bytes| rewritten(&reader, kind, bytes).map_err(wire)),
        run: Box::new(move |bytes| open_all(&runner, &secret, bytes).map_err(wire)),
    })
}

/// Makes a packed table of two chunks: a column of numbers and a label, by the labels of a category. What its ciphertexts hold is left to chance.
fn packed_specimen(name: &str, kind: Kind, parameters: &Parameters) -> Result<Specimen, Failure> {
    let contexts = Contexts::new(parameters)?;
    let mut rng = ChaCha20Rng::seed_from_u64(42);
    let secret = SecretKey::generate(contexts.rlwe(), &mut rng)?;
    let public = PublicKey::generate(contexts.rlwe(), &secret, &mut rng)?;
    let schema = schema()?;
    let form = PackedForm {
        degree: parameters.degree(),
        segment: 4,
        longest_group: 7,
        largest: Some(1 << 70),
        group: Some(2),
        columns: vec![(1, None), (2, Some(1))],
        pairs: [(0, 0), (0, 1)].into_iter().collect(),
    };
    let codec = contexts.codec(&contexts.layout(schema.rows))?;
    let column = schema.columns.get(1).ok_or("columns")?;
    let mut encrypt = || {
        let key = EncryptionKey::Public(&public);
        codec.encrypt(column, None, &Cells::Units(vec![1, 2, 3]), key, &mut rng)
    };
    let shape = Shape::packed(&schema, form, contexts.to_bytes(&encrypt()?)?.len() as u64)?;
    let mut bytes = Vec::new();
    let mut writer = Box::new(TableWriter::create(&contexts, shape.clone(), secret.id(), &mut bytes)?);
    for _ in 0..shape.layout().chunks {
        writer.begin_packed_chunk()?;
        (0..shape.input_count()).try_for_each(|_| -> Result<(), Failure> { Ok(writer.put(&encrypt()?)?) })?;
    }
    writer.finish()?;
    let mut records = records(&bytes)?;
    let start = records.last().map_or(0, |record| record.end + CHECKSUM_LEN);
    let lists = start + FORM_LEN + CHECKSUM_LEN;
    records.extend([start..start + FORM_LEN, lists..lists + 8 * (2 + 2)]);
    let (reader, runner) = (contexts.clone(), contexts);
    Ok(Specimen {
        name: name.to_owned(),
        kind,
        bytes,
        records,
        read: Box::new(move |bytes| rewritten(&reader, kind, bytes).map_err(wire)),
        run: Box::new(move |bytes| open_all(&runner, &secret, bytes).map_err(wire)),
    })
}

/// Bytes of the numbers of a form.
const FORM_LEN: usize = 80;

/// Returns the two records that everything else follows from; the others are found by changing any byte.
fn records(bytes: &[u8]) -> Result<Vec<std::ops::Range<usize>>, Failure> {
    let numbers = HEADER_LEN..HEADER_LEN + 40;
    let schema_len =
        bytes.get(numbers.end - 8..numbers.end).and_then(|len| len.try_into().ok()).ok_or("numbers")?;
    let start = numbers.end + CHECKSUM_LEN;
    Ok(vec![numbers, start..start + u64::from_le_bytes(schema_len) as usize])
}

fn wire(error: TableError) -> WireError {
    match error {
        TableError::Wire(error) => error,
        other => WireError::scheme(other),
    }
}

fn open(bytes: &[u8]) -> Result<TableFile<Cursor<&[u8]>>, TableError> {
    TableFile::open(Cursor::new(bytes), bytes.len() as u64)
}

fn rewritten(contexts: &Contexts, kind: Kind, bytes: &[u8]) -> Result<Vec<u8>, TableError> {
    let mut file = open(bytes)?;
    // One reader takes tables of columns apart and packed ones.
    if file.header().kind != kind as u16 {
        return Err(WireError::Kind { expected: kind, got: file.header().kind }.into());
    }
    file.belongs_to(contexts)?;
    let shape = file.shape().clone();
    let mut bytes = Vec::new();
    let mut writer = Box::new(TableWriter::create(contexts, shape.clone(), file.key(), &mut bytes)?);
    for chunk in 0..shape.layout().chunks {
        if shape.form().is_some() {
            writer.begin_packed_chunk()?;
            for at in 0..shape.input_count() {
                writer.put(&file.packed(contexts, chunk, at)?)?;
            }
            continue;
        }
        writer.begin_chunk(&file.clear(chunk)?)?;
        for input in shape.inputs() {
            writer.put(&file.encrypted(contexts, chunk, input)?)?;
        }
    }
    writer.finish()?;
    Ok(bytes)
}

/// Reads every part of a table's file, and decrypts the encrypted ones, ignoring what they are.
fn open_all(contexts: &Contexts, secret: &SecretKey, bytes: &[u8]) -> Result<(), TableError> {
    let mut file = open(bytes)?;
    file.belongs_to(contexts)?;
    let shape = file.shape().clone();
    let codec = contexts.codec(shape.layout())?;
    for chunk in 0..shape.layout().chunks {
        file.clear(chunk)?;
        if shape.form().is_some() {
            for at in 0..shape.input_count() {
                drop(codec.decrypt(&file.packed(contexts, chunk, at)?, secret));
            }
        }
        for input in shape.inputs() {
            let encrypted = file.encrypted(contexts, chunk, input)?;
            let slots = codec.decrypt(&encrypted, secret).ok();
            let column = shape.schema().columns.get(input.column);
            let cells = slots
                .zip(column)
                .map(|(slots, column)| codec.cells(column, input.label, &slots, shape.rows_of(chunk)));
            drop(cells);
        }
    }
    Ok(())
}
