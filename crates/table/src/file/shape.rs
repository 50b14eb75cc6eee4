//! Layout of a table file: all offsets follow from the schema.

use std::io::BufRead;
use std::ops::Range;
use std::sync::Arc;

use sunzi_program::analysis::Layout;
use sunzi_program::packed::PackedForm;
use sunzi_program::schema::{Kind, MAX_COLUMNS, MAX_ROWS};
use sunzi_program::{Column, Schema};
use sunzi_rlwe::wire::{
    CHECKSUM_LEN, FieldReader, Fields, HEADER_LEN, Kind as Object, Sink, Source, WireError,
};

use super::{digits, form, schema};
use crate::input::count_inputs;
use crate::{Input, TableError, inputs};

/// Number of bytes of the leading numbers of a table file: rows, rows of a chunk, bytes of an encrypted
/// chunk, columns, bytes of the schema.
const NUMBERS_LEN: usize = 5 * 8;
/// Number that is added to that of the columns where the file has the rows of one of several parties, whose record follows the schema.
const PART: u64 = 1 << 32;
/// Number of bytes of the record of a part: its first row, and the row behind its last one.
const PART_LEN: usize = 2 * 8;
/// Largest number of rows of a chunk of a table.
const MOST_SPAN: usize = 1 << 20;

/// How the inputs of a chunk follow one another.
enum Layers {
    /// All inputs have one length.
    Equal,
    /// Inputs are encrypted integers, each of as many digits as its range takes.
    Digits,
    /// Inputs are packed for a program.
    Packed(PackedForm),
}

/// Contents of a table file, and their offsets.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    schema: Arc<Schema>,
    layout: Layout,
    encrypted_len: u64,
    inputs: Vec<Input>,
    input_count: usize,
    schema_len: usize,
    body_len: u64,
    form: Option<PackedForm>,
    /// Rows of the party whose part of the table the file has; none for all rows.
    part: Option<Range<u64>>,
    /// Number of digits of all inputs of encrypted integers.
    digits: Option<usize>,
    /// Offsets in a chunk at which the inputs of encrypted integers begin, and the end; none where all inputs have one length.
    starts: Vec<u64>,
}

impl Shape {
    /// Makes the shape of a table of this schema in chunks of [`Layout::span`] rows, where one chunk of an encrypted column takes `encrypted_len` bytes.
    ///
    /// # Errors
    /// [`TableError::Wire`] with [`WireError::Value`] for a span that is no power of two up to 2^20, a schema of more than 1 MiB, and files of more than 2^63
    /// bytes; [`TableError::Program`] for an invalid schema.
    pub fn new(schema: &Schema, span: usize, encrypted_len: u64) -> Result<Self, TableError> {
        let mut fields = Fields::default();
        schema::put(&schema.columns, &mut fields);
        let shape = Self::of(schema.clone(), span, encrypted_len, fields.as_bytes().len(), Layers::Equal)?;
        shape.with_inputs()
    }

    /// Makes the shape of a table of encrypted integers, of which the first input takes `first_len` bytes.
    ///
    /// # Errors
    /// Every error of [`new`](Self::new); [`TableError::Program`] for columns of real numbers.
    pub fn of_digits(schema: &Schema, span: usize, first_len: u64) -> Result<Self, TableError> {
        let mut fields = Fields::default();
        schema::put(&schema.columns, &mut fields);
        let first = inputs(schema).first().map(|input| digits::of_input(schema, input)).transpose()?;
        let one = digits::one_of(first_len, first.unwrap_or(1));
        let shape = Self::of(schema.clone(), span, one, fields.as_bytes().len(), Layers::Digits)?;
        shape.with_inputs()
    }

    /// Makes the shape of a packed table of this schema and form, where one ciphertext for each plaintext modulus takes `encrypted_len` bytes together.
    ///
    /// # Errors
    /// Every error of [`new`](Self::new); [`TableError::Program`] for a form that the schema does not allow.
    pub fn packed(schema: &Schema, form: PackedForm, encrypted_len: u64) -> Result<Self, TableError> {
        let mut fields = Fields::default();
        schema::put(&schema.columns, &mut fields);
        let span = form.layout(schema)?.unit();
        Self::of(schema.clone(), span, encrypted_len, fields.as_bytes().len(), Layers::Packed(form))
    }

    /// Returns the shape of a table of the same contents whose first input takes `first_len` bytes in each chunk.
    pub(super) fn with_first_len(&self, first_len: u64) -> Result<Self, TableError> {
        let (schema, span) = (&self.schema, self.layout.span);
        match &self.form {
            Some(form) => Self::packed(schema, form.clone(), first_len),
            None if self.digits.is_some() => Self::of_digits(schema, span, first_len),
            None => Self::new(schema, span, first_len)?.of_part(self.rows()),
        }
    }

    /// Returns the shape of the part of a table that one of several parties encrypts: rows from `rows.start` to `rows.end` − 1. Its ciphertexts have zero in all
    /// other rows, and its clear columns have its own rows alone.
    ///
    /// # Errors
    /// [`TableError::Mismatch`] for no rows, for rows that the table does not have, and for encrypted integers, whose digits have no sums.
    pub fn of_part(self, rows: Range<u64>) -> Result<Self, TableError> {
        if self.digits.is_some() {
            let expected = "those of a table in BFV, BGV or CKKS";
            return Err(TableError::mismatch("rows of a part", expected, "those of encrypted integers"));
        }
        if rows.is_empty() || rows.end > self.schema.rows {
            let expected = format!("a range of the {} rows of the table", self.schema.rows);
            return Err(TableError::mismatch("rows of a part", expected, format!("{rows:?}")));
        }
        let part = (rows != (0..self.schema.rows)).then_some(rows);
        Self { part, ..self }.with_body()
    }

    /// Rows of the table that the file has: all of them, or those of one of several parties.
    #[must_use]
    pub fn rows(&self) -> Range<u64> {
        self.part.clone().unwrap_or(0..self.schema.rows)
    }

    /// Returns the number of rows of a chunk that the file has, as far as they are the party's own.
    #[must_use]
    pub fn own_rows_of(&self, chunk: usize) -> usize {
        (self.own_before(chunk.saturating_add(1)) - self.own_before(chunk)) as usize
    }

    /// Number of the file's own rows before a chunk.
    fn own_before(&self, chunk: usize) -> u64 {
        let before = (chunk as u64).saturating_mul(self.layout.span as u64);
        let Range { start, end } = self.rows();
        before.clamp(start, end) - start
    }

    /// Form of a packed table; none where every column has ciphertexts of its own.
    #[must_use]
    pub fn form(&self) -> Option<&PackedForm> {
        self.form.as_ref()
    }

    /// Number of ciphertexts of a chunk, over all plaintext moduli as one.
    #[must_use]
    pub fn input_count(&self) -> usize {
        self.input_count
    }

    /// Returns the shape with its inputs, whose list is as long as names and labels together: made once the length of the file confirms them.
    fn with_inputs(mut self) -> Result<Self, TableError> {
        self.inputs = inputs(&self.schema);
        if self.digits.is_none() {
            return Ok(self);
        }
        let mut next = 0_u64;
        for input in &self.inputs {
            self.starts.push(next);
            let own = digits::array_len(digits::of_input(&self.schema, input)?, self.encrypted_len);
            next = next.saturating_add(own.unwrap_or(0));
        }
        self.starts.push(next);
        Ok(self)
    }

    fn of(
        schema: Schema,
        span: usize,
        encrypted_len: u64,
        schema_len: usize,
        layers: Layers,
    ) -> Result<Self, TableError> {
        schema.check()?;
        if !span.is_power_of_two() || span > MOST_SPAN {
            return Err(WireError::value("rows of a chunk", "a power of two up to 2^20", span).into());
        }
        if schema_len > schema::MOST {
            return Err(WireError::value("bytes of the schema", "at most 2^20", schema_len).into());
        }
        let rows = usize::try_from(schema.rows).unwrap_or(usize::MAX);
        let mut all_digits = None;
        let (span, chunks, input_count) = match &layers {
            Layers::Equal => (span, rows.div_ceil(span), count_inputs(&schema)),
            Layers::Digits => {
                let (inputs, digits) = digits::totals(&schema)?;
                all_digits = Some(digits);
                (span, rows.div_ceil(span), inputs)
            }
            Layers::Packed(form) => {
                let packed = form.layout(&schema)?;
                if packed.unit() != span {
                    return Err(WireError::value("slots of a unit", packed.unit(), span).into());
                }
                (span, packed.chunks(), packed.packed() + packed.repeated())
            }
        };
        let (schema, layout) = (Arc::new(schema), Layout { rows, span, chunks });
        let (inputs, starts, body_len) = (Vec::new(), Vec::new(), 0);
        let form = if let Layers::Packed(form) = layers { Some(form) } else { None };
        let shape = Self {
            schema,
            layout,
            encrypted_len,
            inputs,
            input_count,
            schema_len,
            body_len,
            form,
            part: None,
            digits: all_digits,
            starts,
        };
        shape.with_body()
    }

    /// Returns the shape with the number of bytes that follow from the others.
    fn with_body(self) -> Result<Self, TableError> {
        let too_long = || WireError::value("bytes of the table", "less than 2^63", "more");
        let body_len = self.chunk_start(self.layout.chunks).filter(|len| len >> 63 == 0);
        Ok(Self { body_len: body_len.ok_or_else(too_long)?, ..self })
    }

    /// Schema of the table in the file.
    #[must_use]
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Layout of the table's rows in chunks.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Number of bytes of one chunk of an encrypted column, or of a digit of one.
    #[must_use]
    pub fn encrypted_len(&self) -> u64 {
        self.encrypted_len
    }

    /// Number of bytes of a chunk of the input at a place.
    pub(super) fn input_len(&self, at: usize) -> u64 {
        match self.starts.get(at).zip(self.starts.get(at + 1)) {
            Some((start, end)) => end - start,
            None => self.encrypted_len,
        }
    }

    /// Number of bytes of all inputs of a chunk.
    fn inputs_len(&self) -> Option<u64> {
        let one = self.encrypted_len;
        let Some(digits) = self.digits else { return (self.input_count as u64).checked_mul(one) };
        // Each input is an array, and each of its digits as long as one alone, less the array.
        let overhead = digits::array_len(0, one)?;
        let own = one.checked_sub(overhead)?.checked_mul(digits as u64)?;
        own.checked_add(overhead.checked_mul(self.input_count as u64)?)
    }

    /// Encrypted inputs of each chunk, in the order of the file.
    #[must_use]
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// Number of bytes of the file after its header.
    #[must_use]
    pub fn body_len(&self) -> u64 {
        self.body_len
    }

    /// Number of rows of a chunk of the table.
    #[must_use]
    pub fn rows_of(&self, chunk: usize) -> usize {
        self.layout.rows.saturating_sub(chunk.saturating_mul(self.layout.span)).min(self.layout.span)
    }

    /// Returns the schema of the table, for tables that share it.
    pub(super) fn shared_schema(&self) -> Arc<Schema> {
        Arc::clone(&self.schema)
    }

    /// Number of bytes of the clear columns of a chunk.
    pub(super) fn clear_len(&self, chunk: usize) -> u64 {
        let [row, chunk_end] = self.clear_widths();
        row * self.own_rows_of(chunk) as u64 + chunk_end
    }

    /// Number of bytes of the clear cells of a row, and of those that every chunk has besides.
    fn clear_widths(&self) -> [u64; 2] {
        if self.form.is_some() {
            return [0; 2];
        }
        let clear = self.schema.columns.iter().filter(|column| !column.encrypted);
        clear.fold([0; 2], |[row, sums], column| [row + width(column) as u64, sums + CHECKSUM_LEN as u64])
    }

    /// Offset of a chunk after the header; for the number of chunks the end.
    pub(super) fn chunk_start(&self, chunk: usize) -> Option<u64> {
        let [row, chunk_end] = self.clear_widths();
        let each = self.inputs_len()?.checked_add(chunk_end)?.checked_mul(chunk as u64)?;
        let clear = row.checked_mul(self.own_before(chunk))?;
        let form = self.form.as_ref().map_or(0, |form| {
            form::NUMBERS_LEN + 8 * (form.columns.len() + form.pairs.len()) + 2 * CHECKSUM_LEN
        });
        let part = if self.part.is_some() { PART_LEN + CHECKSUM_LEN } else { 0 };
        let before = (NUMBERS_LEN + self.schema_len + 2 * CHECKSUM_LEN + part + form) as u64;
        before.checked_add(each)?.checked_add(clear)
    }

    /// Place of an input in every chunk; `None` for an input that does not exist.
    pub(super) fn place_of(&self, input: &Input) -> Option<usize> {
        self.inputs.binary_search(input).ok()
    }

    /// Offset of a place in a chunk after the header; `None` for a place that does not exist.
    pub(super) fn place_start(&self, chunk: usize, at: usize) -> Option<u64> {
        if chunk >= self.layout.chunks || at >= self.input_count {
            return None;
        }
        let own = self.starts.get(at).copied().unwrap_or(at as u64 * self.encrypted_len);
        let before = self.clear_len(chunk).checked_add(own)?;
        self.chunk_start(chunk)?.checked_add(before)
    }

    /// Writes the numbers and the schema of a table file that stand before the chunks.
    pub(super) fn put(&self, sink: &mut impl Sink) -> Result<(), WireError> {
        let mut numbers = Fields::default();
        numbers.u64(self.schema.rows);
        numbers.usize(self.layout.span);
        numbers.u64(self.encrypted_len);
        numbers.u64(self.schema.columns.len() as u64 + if self.part.is_some() { PART } else { 0 });
        numbers.usize(self.schema_len);
        sink.sealed(numbers.as_bytes())?;
        let mut fields = Fields::default();
        schema::put(&self.schema.columns, &mut fields);
        sink.sealed(fields.as_bytes())?;
        if let Some(Range { start, end }) = self.part {
            let mut fields = Fields::default();
            fields.u64(start);
            fields.u64(end);
            sink.sealed(fields.as_bytes())?;
        }
        let Some(form) = &self.form else { return Ok(()) };
        let (numbers, lists) = form::put(form);
        sink.sealed(numbers.as_bytes())?;
        sink.sealed(lists.as_bytes())
    }

    /// Reads the shape at the beginning of a body.
    pub(super) fn get(source: &mut Source<impl BufRead>, kind: Object) -> Result<Self, TableError> {
        let body_len = source.left();
        let record = source.sealed("the numbers of the table", NUMBERS_LEN)?;
        let mut numbers = FieldReader::new(&record);
        let rows = numbers.usize_in("rows", 1..=MAX_ROWS as usize)? as u64;
        let span = numbers.usize_in("rows of a chunk", 1..=MOST_SPAN)?;
        let encrypted_len = numbers.u64()?;
        let (columns, is_part) = get_columns(&mut numbers)?;
        let schema_len = numbers.usize_in("bytes of the schema", 0..=schema::MOST)?;
        let record = source.sealed("the schema", schema_len)?;
        let mut fields = FieldReader::new(&record);
        let schema = schema::get(rows, columns, &mut fields)?;
        fields.finish()?;
        drop(record);
        let part = is_part.then(|| get_part(source)).transpose()?;
        let layers = match kind {
            Object::IntegerTable => Layers::Digits,
            kind if kind.is_packed_table() => Layers::Packed(get_form(source)?),
            _ => Layers::Equal,
        };
        let mut shape = Self::of(schema, span, encrypted_len, schema_len, layers)?;
        if let Some(part) = part {
            shape = shape.of_part(part)?;
            if shape.part.is_none() {
                return Err(WireError::value("rows of a part", "fewer than the table has", "all").into());
            }
        }
        if shape.body_len == body_len {
            // Each ciphertext is an object with a header of its own.
            if shape.input_count > 0 && encrypted_len < HEADER_LEN as u64 {
                let expected = format!("at least {HEADER_LEN}");
                return Err(WireError::value("bytes of an encrypted chunk", expected, encrypted_len).into());
            }
            return if shape.form.is_some() { Ok(shape) } else { shape.with_inputs() };
        }
        Err(WireError::Length { expected: shape.body_len, got: body_len }.into())
    }
}

/// Reads the number of columns, and whether the file has the rows of one of several parties.
fn get_columns(numbers: &mut FieldReader<'_>) -> Result<(usize, bool), WireError> {
    let stored = numbers.u64()?;
    let (columns, is_part) = match stored.checked_sub(PART) {
        Some(columns) => (columns, true),
        None => (stored, false),
    };
    match usize::try_from(columns) {
        Ok(columns) if columns <= MAX_COLUMNS => Ok((columns, is_part)),
        _ => Err(WireError::value("columns", format!("0..={MAX_COLUMNS}"), stored)),
    }
}

/// Reads the record of the rows of one of several parties.
fn get_part(source: &mut Source<impl BufRead>) -> Result<Range<u64>, WireError> {
    let record = source.sealed("the rows of a part", PART_LEN)?;
    let mut fields = FieldReader::new(&record);
    let part = fields.u64()?..fields.u64()?;
    fields.finish().map(|()| part)
}

/// Reads the records of a form.
fn get_form(source: &mut Source<impl BufRead>) -> Result<PackedForm, WireError> {
    let record = source.sealed("the numbers of the packing", form::NUMBERS_LEN)?;
    let mut fields = FieldReader::new(&record);
    let numbers = form::get(&mut fields)?;
    fields.finish()?;
    let record = source.sealed("the packed columns", numbers.lists_len())?;
    let mut fields = FieldReader::new(&record);
    let form = numbers.lists(&mut fields)?;
    fields.finish().map(|()| form)
}

/// Number of bytes of a clear cell.
pub(super) fn width(column: &Column) -> usize {
    match column.kind {
        Kind::Decimal { .. } | Kind::Real { .. } => 8,
        Kind::Category { .. } => 4,
    }
}
