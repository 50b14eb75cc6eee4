//! `sunzi inspect` reports what a file says it is. Only its header is read, and parameters, which are small.

use serde::Serialize;
use sunzi::program::{Column, Kind, Schema};
use sunzi::rlwe::wire::{HEADER_LEN, Header, Kind as Object, SecurityClaim, WireError};
use sunzi::table::{Decimal, is_parquet};

use super::stored::{self, Stored};
use super::{refuse, refuse_table};
use crate::args::InspectArgs;
use crate::error::{CliError, listed, one_line, quoted};
use crate::output;

/// Report of `sunzi inspect`: contents of the header of a file.
#[derive(Debug, Serialize)]
struct Inspected {
    file: String,
    /// Kind of the object in the file, in words.
    object: String,
    /// Number of the object's kind in the file format.
    kind: u16,
    /// Whether the object in the file must be kept secret.
    secret: bool,
    /// Bytes of the object, header included, and bytes of the file.
    bytes: u64,
    file_bytes: u64,
    /// Names of the parameters in the file: of ring and keys, and of the scheme's numbers, which keys have
    /// none of.
    ring: String,
    scheme: Option<String>,
    /// Name of the secret key that the object belongs to.
    key: Option<String>,
    /// Grounds of the security of the parameters, in files that have parameters.
    security: Option<SecurityClaim>,
    /// Public schema of the table, in files of tables.
    schema: Option<Schema>,
    /// Rows of the table in each chunk.
    chunk_rows: Option<usize>,
}

impl Inspected {
    fn new(file: String, header: &Header, file_bytes: u64) -> Self {
        let kind = Object::of(header.kind);
        let hex = |bytes: [u8; 8]| format!("{:016x}", u64::from_be_bytes(bytes));
        let unknown = || "an object that this release does not know".to_owned();
        Self {
            file,
            object: kind.map_or_else(unknown, |kind| kind.to_string()),
            kind: header.kind,
            secret: kind.is_some_and(Object::is_secret),
            bytes: header.body_len.saturating_add(HEADER_LEN as u64),
            file_bytes,
            ring: hex(header.parameters.ring),
            scheme: (header.parameters.scheme != [0; 8]).then(|| hex(header.parameters.scheme)),
            key: header.key.map(|key| key.to_string()),
            security: None,
            schema: None,
            chunk_rows: None,
        }
    }

    fn text(&self) -> String {
        let none = || "none".to_owned();
        let secret = if self.secret { " (keep it from others)" } else { "" };
        let mut text = format!(
            "object       {}{secret}\n\
             bytes        {}\n\
             ring         {}\n\
             scheme       {}\n\
             key          {}",
            self.object,
            self.bytes,
            self.ring,
            self.scheme.clone().unwrap_or_else(none),
            self.key.clone().unwrap_or_else(none),
        );
        if let Some(claim) = &self.security {
            text.push_str(&format!("\nparameters   {claim}"));
        }
        if let (Some(schema), Some(rows)) = (&self.schema, self.chunk_rows) {
            text.push_str(&format!("\nrows         {}, {rows} in a chunk", schema.rows));
            schema.columns.iter().for_each(|column| text.push_str(&described(column)));
        }
        text
    }
}

/// Returns one line of text about a column of a table.
fn described(column: &Column) -> String {
    let kind = match &column.kind {
        Kind::Decimal { decimals, low, high } => {
            let unit = |v: i64| Decimal::new(v.into(), -(*decimals as i32));
            format!("{} to {}, {decimals} decimals", unit(*low), unit(*high))
        }
        Kind::Real { low, high } => format!("{low} to {high}, real"),
        Kind::Category { labels } => format!("{} labels: {}", labels.len(), listed(labels, 8)),
    };
    let secrecy = if column.encrypted { "encrypted" } else { "clear" };
    format!("\n{}", one_line(&format!("column       {}  {secrecy}, {kind}", quoted(&column.name))))
}

/// Prints what the header of a file says; a file of another length is damaged.
pub(crate) fn run(args: &InspectArgs) -> Result<(), CliError> {
    let refused = |error| refuse(&args.file, error);
    let parquet = is_parquet(&args.file).map_err(|error| refuse_table(&args.file, error))?;
    let table = if stored::is_table(&args.file)? { Some(stored::table(&args.file)?) } else { None };
    let (header, len) = match &table {
        Some(table) if parquet => {
            let len = std::fs::metadata(&args.file).map_err(|error| refused(WireError::Io(error)))?.len();
            let kind = table.kind().map_or(0, |kind| kind as u16);
            let (parameters, key) = (table.parameters(), Some(table.key()));
            (Header { kind, parameters, key, body_len: len.saturating_sub(HEADER_LEN as u64) }, len)
        }
        _ => stored::header(&args.file).map_err(refused)?,
    };
    let mut inspected = Inspected::new(args.file.display().to_string(), &header, len);
    let is_parameters = Object::of(header.kind).is_some_and(Object::is_parameters);
    let parameters = is_parameters.then(|| Stored::load(args.accept.parameters(), &args.file));
    let parameters = parameters.transpose().map_err(refused);
    if let Ok(Some(parameters)) = &parameters {
        inspected.security = Some(parameters.claim());
    }
    inspected.chunk_rows = table.as_ref().map(|table| table.layout().span);
    inspected.schema = table.as_ref().map(|table| table.schema().clone());
    if args.json {
        output::print_json(&inspected)?
    } else {
        output::print(&inspected.text())?
    }
    parameters?;
    // The message is the one that whoever reads the whole file gets.
    if parquet { Ok(()) } else { stored::whole(&args.file).map_err(refused) }
}
