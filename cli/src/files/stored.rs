//! Parameters of any scheme from a file.

use std::fs::File;
use std::path::Path;

use sunzi::bfv;
use sunzi::bfv::{CrtParameters, FermatParameters};
use sunzi::rlwe::wire::{Header, Kind, NoContext, Reader, WireError, store};
use sunzi::{bgv, ckks};

use super::refuse;
use crate::error::{CliError, quoted};

/// Parameters of any scheme.
pub(crate) enum Stored {
    Bfv(bfv::Parameters),
    Crt(CrtParameters),
    Bgv(bgv::Parameters),
    Ckks(ckks::Parameters),
    Fermat(FermatParameters),
}

impl Stored {
    /// Reads and validates them.
    pub(super) fn load(path: &Path) -> Result<Self, WireError> {
        let reader = open(path)?;
        let kind = reader.header().kind;
        Ok(match Kind::of(kind) {
            Some(Kind::CrtParameters) => Self::Crt(reader.read(&NoContext)?),
            Some(Kind::BgvParameters) => Self::Bgv(reader.read(&NoContext)?),
            Some(Kind::CkksParameters) => Self::Ckks(reader.read(&NoContext)?),
            Some(Kind::FermatParameters) => Self::Fermat(reader.read(&NoContext)?),
            // Whatever else it is: the error names it.
            _ => Self::Bfv(reader.read(&NoContext)?),
        })
    }

    /// Keeps them in a file that is not there yet.
    pub(crate) fn store(&self, path: &Path) -> Result<(), CliError> {
        if path.exists() {
            let name = quoted(&path.display().to_string());
            return Err(CliError::input(format!(
                "{name} is there already: choose another name, or remove it"
            )));
        }
        let stored = match self {
            Self::Bfv(parameters) => store(&NoContext, parameters, path),
            Self::Crt(parameters) => store(&NoContext, parameters, path),
            Self::Bgv(parameters) => store(&NoContext, parameters, path),
            Self::Ckks(parameters) => store(&NoContext, parameters, path),
            Self::Fermat(parameters) => store(&NoContext, parameters, path),
        };
        stored.map_err(|error| refuse(path, error))
    }
}

/// A file that is one object, with its header read.
pub(super) fn open(path: &Path) -> Result<Reader<File>, WireError> {
    let file = File::open(path).map_err(WireError::Io)?;
    let len = file.metadata().map_err(WireError::Io)?.len();
    Reader::with_len(file, len)
}

/// The header of a file, and how many bytes the file has.
pub(super) fn header(path: &Path) -> Result<(Header, u64), WireError> {
    let mut file = File::open(path).map_err(WireError::Io)?;
    let len = file.metadata().map_err(WireError::Io)?.len();
    Ok((Header::read(&mut file)?, len))
}
