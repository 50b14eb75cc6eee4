//! `sunzi inspect`: what a file says it is. Only its header is read.

use serde::Serialize;
use sunzi::rlwe::wire::{HEADER_LEN, Header, Kind};

use super::{refuse, stored};
use crate::args::InspectArgs;
use crate::error::CliError;
use crate::output;

/// What the header says.
#[derive(Debug, Serialize)]
struct Inspected {
    file: String,
    /// The object, in words.
    object: String,
    /// Its number in the format.
    kind: u16,
    /// Whether it must be kept from others.
    secret: bool,
    /// Bytes of the object, header included, and of the file.
    bytes: u64,
    file_bytes: u64,
    /// Names of the parameters: of ring and keys, and of the scheme's numbers, which keys have none of.
    ring: String,
    scheme: Option<String>,
    /// The name of the secret key.
    key: Option<String>,
}

impl Inspected {
    fn new(file: String, header: &Header, file_bytes: u64) -> Self {
        let kind = Kind::of(header.kind);
        let hex = |bytes: [u8; 8]| format!("{:016x}", u64::from_be_bytes(bytes));
        let unknown = || "an object that this release does not know".to_owned();
        Self {
            file,
            object: kind.map_or_else(unknown, |kind| kind.to_string()),
            kind: header.kind,
            secret: kind.is_some_and(Kind::is_secret),
            bytes: header.body_len.saturating_add(HEADER_LEN as u64),
            file_bytes,
            ring: hex(header.parameters.ring),
            scheme: (header.parameters.scheme != [0; 8]).then(|| hex(header.parameters.scheme)),
            key: header.key.map(|key| key.to_string()),
        }
    }

    fn text(&self) -> String {
        let none = || "none".to_owned();
        let secret = if self.secret { " (keep it from others)" } else { "" };
        format!(
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
        )
    }
}

/// Prints what the header says; a file of another length is damaged.
pub(crate) fn run(args: &InspectArgs) -> Result<(), CliError> {
    let (header, len) = stored::header(&args.file).map_err(|error| refuse(&args.file, error))?;
    let inspected = Inspected::new(args.file.display().to_string(), &header, len);
    if args.json {
        output::print_json(&inspected)?
    } else {
        output::print(&inspected.text())?
    }
    // The same words as for whoever reads all of it.
    stored::open(&args.file).map(drop).map_err(|error| refuse(&args.file, error))
}
