//! `sunzi inspect` reports what a file says it is. Headers are read, and what is small: parameters, descriptions, counts.

mod contents;
mod python;

use std::path::Path;

use serde::Serialize;
use sunzi::program::Schema;
use sunzi::rlwe::wire::{Accept, HEADER_LEN, Header, Kind, SecurityClaim, WireError};
use sunzi::rlwe::words::{bytes, counted};
use sunzi::table::{EncryptedTable, is_parquet};
use sunzi_keystore::Properties;

use self::contents::{Database, Sharing, described};
use self::python::PythonObject;
use super::input::InputFile;
use super::stored::{self, Objects, Stored};
use super::{mode, named, refuse, refuse_table};
use crate::args::InspectArgs;
use crate::error::{CliError, one_line};
use crate::keys::properties;
use crate::output;

/// Report of `sunzi inspect`: what a file says that it has.
#[derive(Debug, Serialize)]
struct Inspected {
    file: String,
    /// Kind of the object in the file, in words.
    object: String,
    /// Number of the object's kind in the file format.
    kind: u16,
    /// Whether the object in the file must be kept secret.
    secret: bool,
    /// Bytes of all objects as their headers say, headers included, and bytes of the file.
    bytes: u64,
    file_bytes: u64,
    /// Number of objects one after the other in the file.
    objects: u64,
    /// Names of the parameters in the file: of ring and keys, and of the scheme's numbers, which keys have
    /// none of.
    ring: String,
    scheme: Option<String>,
    /// Name of the secret key that the object belongs to.
    key: Option<String>,
    /// Grounds of the security of the parameters, in files that have parameters.
    security: Option<SecurityClaim>,
    /// Public schema of the table, in files of tables and of results.
    schema: Option<Schema>,
    /// Rows of the table in each chunk.
    chunk_rows: Option<usize>,
    /// Number of keys or ciphertexts of an object of several.
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u64>,
    /// Names of the results of a program.
    #[serde(skip_serializing_if = "Option::is_none")]
    results: Option<Vec<String>>,
    /// What a sharing ledger has counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    sharing: Option<Sharing>,
    /// Label and expiry of the key, in their own file and in files beside it.
    #[serde(skip_serializing_if = "Option::is_none")]
    properties: Option<Properties>,
    /// Description of a lookup database.
    #[serde(skip_serializing_if = "Option::is_none")]
    lookup: Option<Database>,
    /// Description of an object of the Python package.
    #[serde(skip_serializing_if = "Option::is_none")]
    python: Option<PythonObject>,
}

impl Inspected {
    fn new(file: String, objects: &Objects) -> Self {
        let Objects { header, count, bytes, file_bytes } = objects;
        let kind = Kind::of(header.kind);
        let hex = |bytes: [u8; 8]| format!("{:016x}", u64::from_be_bytes(bytes));
        let unknown = || "an object that this release does not know".to_owned();
        Self {
            file,
            object: kind.map_or_else(unknown, |kind| kind.to_string()),
            kind: header.kind,
            secret: kind.is_some_and(Kind::is_secret),
            bytes: *bytes,
            file_bytes: *file_bytes,
            objects: *count,
            ring: hex(header.parameters.ring),
            scheme: (header.parameters.scheme != [0; 8]).then(|| hex(header.parameters.scheme)),
            key: header.key.map(|key| key.to_string()),
            security: None,
            schema: None,
            chunk_rows: None,
            count: None,
            results: None,
            sharing: None,
            properties: None,
            lookup: None,
            python: None,
        }
    }

    /// Adds what the contents of a file say that its headers do not.
    fn look_inside(
        &mut self,
        file: &Path,
        accept: Accept,
        table: Option<&dyn EncryptedTable>,
    ) -> Result<(), WireError> {
        match (Kind::of(self.kind), table) {
            (_, Some(table)) => {
                self.chunk_rows = Some(table.layout().span);
                self.schema = Some(table.schema().clone());
            }
            (Some(Kind::Results), _) => {
                let (schema, chunk_rows, results) = contents::results(file)?;
                (self.schema, self.chunk_rows, self.results) =
                    (Some(schema), Some(chunk_rows), Some(results));
            }
            (Some(kind), _) if kind.is_of_python() => {
                let object = self.python.insert(PythonObject::read(file)?);
                self.security = object.claim(accept, file)?;
            }
            (Some(Kind::SharingLedger), _) => self.sharing = contents::sharing(file)?,
            (Some(Kind::KeyProperties), _) => {
                self.properties = properties::read(file)?.map(|stored| stored.properties().clone());
            }
            (Some(Kind::LookupDescription), _) => {
                let (database, claim) = contents::database(accept, file)?;
                (self.lookup, self.security) = (Some(database), Some(claim));
            }
            _ => self.count = stored::open(file)?.count()?,
        }
        Ok(())
    }

    fn text(&self) -> String {
        let secret = if self.secret { " (keep it from others)" } else { "" };
        let mut text = format!("object       {}{secret}\nbytes        {}", self.object, self.bytes);
        if self.bytes >= 1 << 10 {
            text.push_str(&format!(" ({})", bytes(self.bytes)));
        }
        if self.objects > 1 {
            text.push_str(&format!(" in {} objects", self.objects));
        }
        if self.bytes != self.file_bytes {
            text.push_str(&format!(", the file has {}", self.file_bytes));
        }
        let none = || "none".to_owned();
        let mut line = |name: &str, value: &str| text.push_str(&format!("\n{name:<13}{value}"));
        line("ring", &self.ring);
        let name = self.python.as_ref().and_then(PythonObject::scheme);
        let of = |id: &String| name.map_or_else(|| id.clone(), |name| format!("{id} ({name})"));
        line("scheme", &self.scheme.as_ref().map_or_else(none, of));
        line("key", &self.key.clone().unwrap_or_else(none));
        if let Some(claim) = &self.security {
            line("parameters", &claim.to_string());
        }
        for (name, value) in self.python.iter().flat_map(PythonObject::lines) {
            line(name, &value);
        }
        if let Some(count) = self.count {
            line("has", &self.counted(count as usize));
        }
        if let Some(sharing) = &self.sharing {
            line("shared", &sharing.to_string());
        }
        if let Some(Properties { label, expires, .. }) = &self.properties {
            line("label", &label.as_ref().map_or_else(none, ToString::to_string));
            line("expires", &expires.map_or_else(|| "never".to_owned(), |end| end.to_string()));
        }
        for (name, value) in self.lookup.iter().flat_map(Database::lines) {
            line(name, &value);
        }
        for name in self.results.iter().flatten() {
            line("result", &one_line(name));
        }
        if let (Some(schema), Some(rows)) = (&self.schema, self.chunk_rows) {
            line("rows", &format!("{}, {rows} in a chunk", schema.rows));
            schema.columns.iter().for_each(|column| line("column", &described(column)));
        }
        text
    }

    /// Returns how many keys or ciphertexts there are, in words.
    fn counted(&self, count: usize) -> String {
        match Kind::of(self.kind) {
            Some(Kind::GaloisKeys) => format!("keys for {}", counted(count, "rotation", "rotations")),
            _ => counted(count, "ciphertext", "ciphertexts"),
        }
    }
}

/// Prints what a file says of itself; a file of another length is damaged.
pub(crate) fn run(args: &InspectArgs) -> Result<(), CliError> {
    let input = InputFile::open(&args.file)?;
    let refused = |error| refuse(&args.file, error);
    let (objects, table) = objects(&input, &args.file)?;
    let mut inspected = Inspected::new(input.name().to_owned(), &objects);
    let checked = fill(&mut inspected, &objects, input.path(), args.accept.parameters(), table.as_deref());
    if let Some(complaint) = mode::complaint(input.path()) {
        output::warn(&complaint);
    }
    match checked {
        Ok(()) => output::report(args.json, &inspected, Inspected::text),
        Err(error) => Err(output::report_failed(args.json, &inspected, Inspected::text, refused(error))),
    }
}

/// Returns what the headers of a file say, and the encrypted table if it has one.
fn objects(input: &InputFile, asked: &Path) -> Result<(Objects, Option<Box<dyn EncryptedTable>>), CliError> {
    let (file, refused) = (input.path(), |error| refuse(asked, error));
    let table = stored::is_table(file, asked)?.then(|| stored::table(file, asked)).transpose()?;
    let parquet = is_parquet(file).map_err(|error| refuse_table(asked, error))?;
    let Some(of_parquet) = table.as_ref().filter(|_| parquet) else {
        return Ok((stored::objects(file).map_err(refused)?, table));
    };
    // The file has the header's numbers in its own metadata.
    let len = std::fs::metadata(file).map_err(|error| refused(WireError::Io(error)))?.len();
    let none = || CliError::damaged(format!("{} does not say what it is", named(asked)));
    let kind = of_parquet.kind().ok_or_else(none)? as u16;
    let (parameters, key) = (of_parquet.parameters(), Some(of_parquet.key()));
    let header = Header { kind, parameters, key, body_len: len.saturating_sub(HEADER_LEN as u64) };
    Ok((Objects { header, count: 1, bytes: len, file_bytes: len }, table))
}

/// Adds all that a file says to its report, as far as it can be read.
fn fill(
    inspected: &mut Inspected,
    objects: &Objects,
    file: &Path,
    accept: Accept,
    table: Option<&dyn EncryptedTable>,
) -> Result<(), WireError> {
    if Kind::of(objects.header.kind).is_some_and(Kind::is_parameters) {
        inspected.security = match objects {
            Objects { header, count: 2.., .. } if header.kind == Kind::BfvParameters as u16 => {
                python::claims(accept, file, 0, objects.count)?
            }
            _ => Some(Stored::load(accept, file)?.claim()),
        };
    }
    objects.check()?;
    inspected.look_inside(file, accept, table)?;
    if inspected.properties.is_none() {
        inspected.properties = properties::beside(file, objects.header.key);
    }
    Ok(())
}
