//! `sunzi encrypt` turns a table in the clear into an encrypted one.

use std::fs::File;
use std::path::Path;
use std::time::Instant;

use rayon::prelude::*;
use serde::Serialize;
use sunzi::program::analysis::{Layout, SchemeChoice};
use sunzi::program::contexts::{ChunkPart, Codec, EncryptionKey, PARAMETERS, PublicKey, SECRET, SecretKey};
use sunzi::program::packed::{self, Packer};
use sunzi::program::run::{Cells, MISSING_UNIT, Table};
use sunzi::program::{Contexts, Kind, Plan, ProgramError, Schema};
use sunzi::rlwe::words::{bytes, counted};
use sunzi::rlwe::{KeyId, randomness};
use sunzi::table::file::{Shape, TableWriter};
use sunzi::table::{Chunks, EncryptedWriter, Input, Source, Surveyed, TableError, inputs, parquet_writer};

use super::input::InputFile;
use super::schema::{Looked, look};
use super::target::{Content, Stopped, Target};
use super::{refuse_keys, refuse_table};
use crate::args::{EncryptArgs, RowRange};
use crate::error::{CliError, quoted};
use crate::keys::properties::Held;
use crate::passphrase::opened;
use crate::program;
use crate::progress::Progress;

/// Report of `sunzi encrypt`: the encrypted table that it wrote.
#[derive(Debug, Serialize)]
struct Made {
    file: String,
    key: String,
    rows: u64,
    /// First row of one of several parties, and the row behind its last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    part: Option<[u64; 2]>,
    chunks: usize,
    /// Number of columns, labels and indicators of cells of the table that are encrypted.
    encrypted: usize,
    bytes: u64,
    seconds: f64,
}

/// Key in the folder: the owner's secret key, or the public key.
enum Key {
    Secret(SecretKey),
    Public(PublicKey),
}

impl Key {
    fn load(contexts: &Contexts, args: &EncryptArgs) -> Result<Self, CliError> {
        let held = |key, secret| Held { folder: &args.keys, key, secret };
        if args.keys.join(SECRET).exists() {
            let secret = opened::secret(contexts, &args.keys, &args.mode, &args.passphrase)?;
            held(secret.id(), Some((contexts.rlwe(), &secret))).admit()?;
            return Ok(Self::Secret(secret));
        }
        let public = contexts.load_public(&args.keys);
        let public = public.map_err(|error| refuse_keys(&args.keys, "public", error))?;
        held(public.id(), None).admit()?;
        Ok(Self::Public(public))
    }

    fn id(&self) -> KeyId {
        match self {
            Self::Secret(key) => key.id(),
            Self::Public(key) => key.id(),
        }
    }

    fn encrypting(&self) -> EncryptionKey<'_> {
        match self {
            Self::Secret(key) => EncryptionKey::Secret(key),
            Self::Public(key) => EncryptionKey::Public(key),
        }
    }
}

/// Encrypts a table: first reads all of it, so that nothing is encrypted of a table that does not fit.
pub(crate) fn run(args: &EncryptArgs) -> Result<(), CliError> {
    let start = Instant::now();
    let target = Target::new(&args.output, &args.force, Content::Binary, args.json)?;
    let input = InputFile::open(args.table.path())?;
    let of_keys = |error| refuse_keys(&args.keys, "public", error);
    let contexts = super::contexts(args.accept.parameters(), &args.keys.join(PARAMETERS)).map_err(of_keys)?;
    let key = Key::load(&contexts, args)?;
    let progress = Progress::new(!args.json && !args.quiet);
    progress.say("looking at the table");
    let plan = args.plan.as_ref().map(|path| program::planned(path, contexts.parameters())).transpose()?;
    let schema = plan.as_ref().map(|plan| plan.program.schema());
    let looked = look(&input, &args.table, args.partition.as_ref(), schema)?;
    looked.tell_rows();
    let part = Part::new(args, &looked, contexts.parameters().parties())?;
    let Looked { source, surveyed, .. } = looked;
    let schema = &Schema { rows: part.all, ..surveyed.schema.clone() };
    // Results of this plan may be handed on.
    let fills = plan.as_ref().is_some_and(|plan| plan.layout.span == contexts.parameters().slots());
    let packed = packing(plan, schema)?;
    if packed.is_none() {
        fits(&contexts, schema)?;
    } else if is_parquet_name(&args.output) {
        return Err(CliError::input("a packed table is no table in Parquet: give --output another name"));
    }
    let layout = match &packed {
        Some(plan) => plan.layout,
        None => layout(&contexts, schema.rows, (args, fills))?,
    };
    let job = Job::new(contexts, &key, (schema, &layout), part, packed.as_ref())?;
    if let Some(most) = args.memory.filter(|&most| most < job.memory()) {
        let (needed, most) = (bytes(job.memory()), bytes(most));
        return Err(CliError::input(format!(
            "this takes about {needed} of memory, --memory allows {most}: use fewer threads or columns"
        )));
    }
    let chunks = job.chunks(&source, &surveyed, args.partition.as_deref());
    let chunks = chunks.map_err(|error| refuse_table(args.table.path(), error))?;
    let mut count = 0;
    let written = target.write(|file| {
        count = job.write(chunks, file, args, &progress)?;
        Ok(())
    });
    let len = written.map_err(|stopped| target.stopped(stopped))?;
    drop(progress);
    let made = Made {
        file: target.name(),
        key: key.id().to_string(),
        rows: surveyed.schema.rows,
        part: job.part.is_some().then_some([job.part.rows.start, job.part.rows.end]),
        chunks: count,
        encrypted: job.width(),
        bytes: len,
        seconds: start.elapsed().as_secs_f64(),
    };
    let found = args.table.schema.is_none() && args.plan.is_none();
    target.report(args.json, &made, |made| made.text(found))
}

/// Returns the plan that a table of this schema is packed for, which may have other rows than the one that was planned for; none if it packs nothing.
fn packing(plan: Option<Plan>, schema: &Schema) -> Result<Option<Plan>, CliError> {
    let packed = plan.filter(|plan| plan.packed().is_some());
    packed.map(|plan| plan.with_rows(schema.rows).map_err(program::refuse)).transpose()
}

/// Returns where rows stand in slots: chunks of results that are handed on fill all of these.
fn layout(contexts: &Contexts, rows: u64, (args, fills): (&EncryptArgs, bool)) -> Result<Layout, CliError> {
    let usual = contexts.layout(rows);
    let parquet = is_parquet_name(&args.output);
    if !args.fill_slots {
        let filling = contexts.filling_layout(rows).filter(|_| fills && !parquet);
        return Ok(filling.unwrap_or(usual));
    }
    if parquet {
        let message = "--fill-slots is not for tables in Parquet: give --output another name";
        return Err(CliError::input(message));
    }
    contexts.filling_layout(rows).ok_or_else(|| {
        CliError::input(
            "--fill-slots is for results that are handed on, which CKKS and encrypted integers do not have: leave it away, or take BFV or BGV",
        )
    })
}

fn is_parquet_name(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("parquet"))
}

/// Fails for columns of a table that the scheme cannot hold.
fn fits(contexts: &Contexts, schema: &Schema) -> Result<(), CliError> {
    contexts.parameters().check_numbers().map_err(CliError::impossible)?;
    let moduli = contexts.parameters().plain_moduli();
    if contexts.scheme() == SchemeChoice::Integers {
        let real =
            schema.columns.iter().find(|column| column.encrypted && matches!(column.kind, Kind::Real { .. }));
        return real.map_or(Ok(()), |column| {
            let name = quoted(&column.name);
            Err(CliError::input(format!(
                "column {name} has real numbers, encrypted integers are whole or decimal: declare its decimals in a schema, or name it with --clear"
            )))
        });
    }
    let range = moduli.iter().fold(1_u128, |product, &t| product.saturating_mul(t.into()));
    for column in schema.columns.iter().filter(|column| column.encrypted && !moduli.is_empty()) {
        let (scheme, name) = (contexts.parameters().name(), quoted(&column.name));
        if matches!(column.kind, Kind::Real { .. }) {
            return Err(CliError::input(format!(
                "column {name} has real numbers, {scheme} has integers and decimals: declare its decimals in a schema, or take parameters of CKKS"
            )));
        }
        if range <= 2 * u128::from(column.largest_unit()) {
            return Err(CliError::impossible(format!(
                "column {name} reaches {} units of its last decimal, these parameters hold numbers below {}: make parameters with a wider --plain-range",
                column.largest_unit(),
                range / 2
            )));
        }
    }
    Ok(())
}

/// Rows of a table that are encrypted: those of one of several parties, or all.
struct Part {
    /// Number of rows of the table of all parties.
    all: u64,
    rows: RowRange,
}

impl Part {
    fn new(args: &EncryptArgs, looked: &Looked, parties: u32) -> Result<Self, CliError> {
        let own = looked.surveyed.schema.rows;
        let Some(rows) = args.rows.clone() else { return Ok(Self { all: own, rows: 0..own }) };
        if parties < 2 {
            return Err(CliError::impossible(
                "--rows is for several parties, and these parameters are for the secret of one: make them with sunzi plan --parties",
            ));
        }
        let Some(all) = looked.declared_rows else {
            return Err(CliError::input(
                "--rows takes the schema that all parties agreed on, with its number of rows: give --schema or --plan",
            ));
        };
        let asked = format!("--rows {}..{}", rows.start, rows.end);
        if rows.end > all {
            let message = format!("{asked} is beyond the {all} rows of the schema: give rows up to {all}");
            return Err(CliError::input(message));
        }
        if rows.end - rows.start != own {
            return Err(CliError::input(format!(
                "{asked} has {}, and the table {}: give as many as it has",
                counted((rows.end - rows.start) as usize, "row", "rows"),
                counted(own as usize, "row", "rows")
            )));
        }
        if is_parquet_name(&args.output) {
            let message = "a part of a table is no table in Parquet: give --output another name";
            return Err(CliError::input(message));
        }
        Ok(Self { all, rows })
    }

    fn is_some(&self) -> bool {
        self.rows != (0..self.all)
    }

    /// Place of the rows in a chunk.
    fn place(&self, layout: &Layout, chunk: usize) -> ChunkPart {
        if !self.is_some() {
            return ChunkPart::WHOLE;
        }
        ChunkPart::of(layout, chunk, &self.indices()).0
    }

    /// Rows as indices into the table.
    fn indices(&self) -> std::ops::Range<usize> {
        self.rows.start as usize..self.rows.end as usize
    }
}

/// Encryption of a whole table, chunk by chunk.
struct Job<'a> {
    codec: Codec,
    key: &'a Key,
    schema: &'a Schema,
    part: Part,
    inputs: Vec<Input>,
    /// The plan that the table is packed for, if it is.
    packed: Option<&'a Plan>,
}

impl<'a> Job<'a> {
    fn new(
        contexts: Contexts,
        key: &'a Key,
        (schema, layout): (&'a Schema, &Layout),
        part: Part,
        packed: Option<&'a Plan>,
    ) -> Result<Self, CliError> {
        let codec = contexts.codec(layout).map_err(CliError::input)?;
        Ok(Self { codec, key, schema, part, inputs: inputs(schema), packed })
    }

    /// Returns the chunks of the table, in which its rows stand as they are encrypted.
    fn chunks(
        &self,
        source: &Source,
        surveyed: &Surveyed,
        partition: Option<&str>,
    ) -> Result<Chunks, TableError> {
        let rows = if self.packed.is_some() { self.schema.rows as usize } else { self.codec.layout().span };
        let chunks = Chunks::new(source.rows()?, surveyed, rows);
        match partition {
            Some(column) => chunks.partitioned(column),
            None if self.part.is_some() => chunks.part_of(self.part.all, self.part.rows.start),
            None => Ok(chunks),
        }
    }

    /// Number of columns and labels that are encrypted.
    fn width(&self) -> usize {
        let packed = self.packed.and_then(Plan::packed).map(|packed| packed.layout().shape().columns);
        packed.unwrap_or(self.inputs.len())
    }

    /// Number of inputs of a chunk that are encrypted together.
    fn batch(&self) -> usize {
        2 * rayon::current_num_threads()
    }

    /// Estimated bytes that the encryption of a table takes: cells of two chunks, and for each input of a
    /// batch plaintexts, ciphertexts and their bytes.
    fn memory(&self) -> u64 {
        let contexts = self.codec.contexts();
        let (n, moduli) =
            (contexts.parameters().degree() as u64, contexts.parameters().plain_moduli().len().max(1) as u64);
        let limbs = contexts.rlwe().level() as u64 + 1;
        let one = moduli * n * 8 * (5 * limbs + 4);
        // Rows are sorted into groups before a table is packed: it is in memory as a whole.
        let rows = if self.packed.is_some() { self.schema.rows } else { self.codec.layout().span as u64 };
        let cells = rows.saturating_mul(32 * self.schema.columns.len() as u64);
        let tables = 64 * n * (limbs + moduli);
        let work = (16 << 20) + tables + one * self.batch().min(self.inputs.len()) as u64;
        cells.saturating_add(work)
    }

    /// Returns the bytes of some inputs of a chunk, encrypted on all threads.
    fn encrypt(&self, rows: &Table, place: ChunkPart, inputs: &[Input]) -> Result<Vec<Vec<u8>>, CliError> {
        let one = |input: &Input| {
            let column = self.schema.columns.get(input.column).zip(rows.cells(input.column));
            let (column, cells) = column.ok_or_else(|| CliError::failure("a column is missing"))?;
            let mut rng = randomness::from_os().map_err(CliError::failure)?;
            let (column, key) = ((column, input.label), self.key.encrypting());
            let encrypted = self.codec.encrypt_part(column, cells, place, key, &mut rng);
            self.codec.contexts().to_bytes(&encrypted.map_err(CliError::input)?).map_err(CliError::failure)
        };
        inputs.par_iter().map(one).collect()
    }

    /// Writes all of the table, and counts its chunks.
    fn write(
        &self,
        mut chunks: Chunks,
        file: &mut File,
        args: &EncryptArgs,
        progress: &Progress,
    ) -> Result<usize, Stopped> {
        let of_table = |error: TableError| Stopped::Said(refuse_table(args.table.path(), error));
        let of_file = |error: TableError| Stopped::Said(refuse_table(&args.output, error));
        if let Some(plan) = self.packed {
            return match chunks.next_chunk().map_err(of_table)? {
                Some(rows) => self.write_packed(plan, &rows, (file, args), progress),
                None => Err(Stopped::Said(CliError::input("the table has no rows"))),
            };
        }
        let mut writer = self.writer(file, args)?;
        progress.begin(self.codec.layout().chunks * self.inputs.len());
        progress.say("encrypting");
        let mut count = 0;
        while let Some(rows) = chunks.next_chunk().map_err(of_table)? {
            writer.begin_chunk(&rows).map_err(of_file)?;
            let place = self.part.place(self.codec.layout(), count);
            for batch in self.inputs.chunks(self.batch()) {
                for bytes in self.encrypt(&rows, place, batch).map_err(Stopped::Said)? {
                    writer.put_bytes(&bytes, self.key.id()).map_err(of_file)?;
                    progress.step();
                }
            }
            count += 1;
        }
        writer.finish().map(|()| count).map_err(of_file)
    }

    /// Writes all of a table packed for a plan, and counts its chunks.
    fn write_packed(
        &self,
        plan: &Plan,
        rows: &Table,
        (file, args): (&mut File, &EncryptArgs),
        progress: &Progress,
    ) -> Result<usize, Stopped> {
        let of_file = |error: TableError| Stopped::Said(refuse_table(&args.output, error));
        let said = |error: ProgramError| Stopped::Said(program::refuse(error));
        let packer = Packer::new(plan, &self.codec, rows).map_err(said)?;
        let (layout, form) = (packer.layout(), plan.form().map_err(said)?);
        let (contexts, inputs) = (self.codec.contexts(), layout.inputs().collect::<Vec<_>>());
        let encrypt = |chunk: usize, input: packed::Input| {
            let encrypted = packer.encrypt(chunk, input, self.key.encrypting()).map_err(CliError::input)?;
            contexts.to_bytes(&encrypted).map_err(CliError::failure)
        };
        let first = inputs.first().map(|&input| encrypt(0, input)).transpose().map_err(Stopped::Said)?;
        let shape = Shape::packed(self.schema, form, first.map_or(0, |bytes| bytes.len() as u64));
        let mut writer =
            TableWriter::create(contexts, shape.map_err(of_file)?, self.key.id(), file).map_err(of_file)?;
        progress.begin(layout.chunks() * inputs.len());
        progress.say("encrypting");
        for chunk in 0..layout.chunks() {
            writer.begin_packed_chunk().map_err(of_file)?;
            for batch in inputs.chunks(self.batch()) {
                let all = batch.par_iter().map(|&input| encrypt(chunk, input));
                for bytes in all.collect::<Result<Vec<_>, _>>().map_err(Stopped::Said)? {
                    writer.put_bytes(&bytes, self.key.id()).map_err(of_file)?;
                    progress.step();
                }
            }
        }
        Box::new(writer).finish().map(|()| layout.chunks()).map_err(of_file)
    }

    /// Begins the file, in the form that its name asks for.
    fn writer<'f>(
        &'f self,
        file: &'f mut File,
        args: &EncryptArgs,
    ) -> Result<Box<dyn EncryptedWriter + 'f>, Stopped> {
        let of_file = |error: TableError| Stopped::Said(refuse_table(&args.output, error));
        let (contexts, key) = (self.codec.contexts(), self.key.id());
        let len = self.encrypted_len().map_err(Stopped::Said)?;
        if is_parquet_name(&args.output) {
            if contexts.scheme() == SchemeChoice::Integers {
                let message =
                    "a table of encrypted integers is no table in Parquet: give --output another name";
                return Err(Stopped::Said(CliError::input(message)));
            }
            let of_name = |name| self.schema.position(name).and_then(|at| self.schema.columns.get(at));
            let partition = args.partition.as_deref().and_then(of_name);
            let out = (&*args.output, file);
            return parquet_writer(contexts, self.schema, key, partition, out).map_err(of_file);
        }
        if args.partition.is_some() {
            let message = "--partition is for tables in Parquet: give --output a name that ends in .parquet";
            return Err(Stopped::Said(CliError::input(message)));
        }
        let span = self.codec.layout().span;
        let shape = match contexts.scheme() {
            SchemeChoice::Integers => Shape::of_digits(self.schema, span, len),
            _ => Shape::new(self.schema, span, len).and_then(|shape| shape.of_part(self.part.rows.clone())),
        };
        let shape = shape.map_err(of_file)?;
        Ok(Box::new(TableWriter::create(contexts, shape, key, file).map_err(of_file)?))
    }

    /// Bytes of an encrypted chunk of the first input, equal for all chunks, and but for encrypted integers for all inputs.
    fn encrypted_len(&self) -> Result<u64, CliError> {
        let none = || CliError::input("no column would be encrypted: name fewer with --clear");
        let input = self.inputs.first().ok_or_else(none)?;
        let columns = self.schema.columns.iter().map(|column| match column.kind {
            Kind::Decimal { .. } if column.missing => Cells::Units(vec![MISSING_UNIT]),
            Kind::Decimal { .. } => Cells::Units(vec![column.padding_units()]),
            Kind::Real { .. } if column.missing => Cells::Reals(vec![f64::NAN]),
            Kind::Real { .. } => Cells::Reals(vec![column.padding()]),
            Kind::Category { .. } => Cells::Labels(vec![0]),
        });
        let schema = Schema { rows: 1, columns: self.schema.columns.clone() };
        let row = Table::new(&schema, columns.collect()).map_err(CliError::failure)?;
        Ok(self.encrypt(&row, ChunkPart::WHOLE, &[*input])?.first().map_or(0, Vec::len) as u64)
    }
}

impl Made {
    fn text(&self, found: bool) -> String {
        let Self { file, key, rows, part, chunks, encrypted, bytes: size, seconds } = self;
        let of_all = part.map_or_else(String::new, |[first, end]| format!(" ({first}..{end} of all)"));
        let mut text = format!(
            "{file}: {rows} rows{of_all} in {}, {encrypted} encrypted columns and labels, {} for key {key}, {seconds:.1} s",
            counted(*chunks, "chunk", "chunks"),
            bytes(*size)
        );
        if found {
            text.push_str("\nranges, labels and which columns have missing cells are those of the table, and public: to hide them, declare wider ones with --schema");
        }
        text
    }
}
