//! Parameters of any scheme from a file.

use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::path::Path;

use sunzi::bfv;
use sunzi::bfv::{CrtParameters, FermatParameters};
use sunzi::program::analysis::Parameters;
use sunzi::rlwe::wire::{
    Accept, ErasingReader, HEADER_LEN, Header, Kind, NoContext, Reader, SecurityClaim, StoredParameters,
    WireError, store,
};
use sunzi::table::{EncryptedTable, is_parquet};
use sunzi::{bgv, ckks};

use super::{refuse, refuse_table};
use crate::error::{CliError, quoted};

/// Parameters of any scheme.
pub(crate) enum Stored {
    Bfv(bfv::Parameters),
    Crt(CrtParameters),
    /// BGV parameters for all of these plaintext moduli.
    Bgv(bgv::Parameters, Vec<u64>),
    Ckks(ckks::Parameters),
    Fermat(FermatParameters),
}

impl Stored {
    /// Reads parameters from a file and validates them.
    pub(super) fn load(accept: Accept, path: &Path) -> Result<Self, WireError> {
        let kind = header(path)?.0.kind;
        if kind == Kind::BgvParameters as u16
            && let Parameters::Bgv { parameters, plain_moduli } = Parameters::load_as(accept, path)?
        {
            return Ok(Self::Bgv(parameters, plain_moduli));
        }
        let reader = open(path)?;
        Ok(match Kind::of(kind) {
            Some(Kind::CrtParameters) => Self::Crt(reader.read(&accept)?),
            Some(Kind::CkksParameters) => Self::Ckks(reader.read(&accept)?),
            Some(Kind::FermatParameters) => Self::Fermat(reader.read(&accept)?),
            // Any other object is read as BFV parameters: the error names it.
            _ => Self::Bfv(reader.read(&accept)?),
        })
    }

    /// Returns the grounds of the security of the parameters.
    pub(crate) fn claim(&self) -> SecurityClaim {
        match self {
            Self::Bfv(parameters) => parameters.claim(),
            Self::Crt(parameters) => parameters.claim(),
            Self::Bgv(parameters, plain_moduli) => {
                SecurityClaim { plain_moduli: plain_moduli.clone(), ..parameters.claim() }
            }
            Self::Ckks(parameters) => parameters.claim(),
            Self::Fermat(parameters) => parameters.claim(),
        }
    }

    /// Estimated bytes of memory that the tables of these parameters take.
    pub(super) fn table_bytes(&self) -> u64 {
        match self {
            Self::Bfv(parameters) => StoredParameters::table_bytes(parameters),
            Self::Crt(parameters) => StoredParameters::table_bytes(parameters),
            Self::Bgv(parameters, _) => parameters.table_bytes(),
            Self::Ckks(parameters) => parameters.table_bytes(),
            Self::Fermat(parameters) => StoredParameters::table_bytes(parameters),
        }
    }

    /// Estimated bytes of memory that a switching key takes.
    pub(super) fn switch_key_bytes(&self) -> u64 {
        match self {
            Self::Bfv(parameters) => parameters.switch_key_bytes(),
            Self::Crt(parameters) => parameters.switch_key_bytes(),
            Self::Bgv(parameters, _) => parameters.switch_key_bytes(),
            Self::Ckks(parameters) => parameters.switch_key_bytes(),
            Self::Fermat(parameters) => parameters.switch_key_bytes(),
        }
    }

    /// Keeps these parameters in a file that is not there yet.
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
            Self::Bgv(parameters, plain_moduli) => {
                let (parameters, plain_moduli) = (parameters.clone(), plain_moduli.clone());
                Parameters::Bgv { parameters, plain_moduli }.store(path)
            }
            Self::Ckks(parameters) => store(&NoContext, parameters, path),
            Self::Fermat(parameters) => store(&NoContext, parameters, path),
        };
        stored.map_err(|error| refuse(path, error))
    }
}

/// Opens a file that is one object, and reads its header.
pub(super) fn open(path: &Path) -> Result<Reader<ErasingReader<File>>, WireError> {
    Reader::open(path)
}

/// Fails unless a file has all the objects it should have: one, or as many as come where several may.
pub(super) fn whole(path: &Path) -> Result<(), WireError> {
    let (header, len) = header(path)?;
    if !matches!(Kind::of(header.kind), Some(Kind::BgvParameters | Kind::Results)) {
        return open(path)?.whole().map(drop);
    }
    let mut file = File::open(path).map_err(WireError::Io)?;
    let mut place = 0_u64;
    while place < len {
        file.seek(SeekFrom::Start(place)).map_err(WireError::Io)?;
        let header = Header::read(&mut file)?;
        place = place.saturating_add(HEADER_LEN as u64).saturating_add(header.body_len);
    }
    if place == len { Ok(()) } else { Err(WireError::Truncated) }
}

/// Returns the header of a file, and how many bytes the file has.
pub(super) fn header(path: &Path) -> Result<(Header, u64), WireError> {
    let mut file = File::open(path).map_err(WireError::Io)?;
    let len = file.metadata().map_err(WireError::Io)?.len();
    Ok((Header::read(&mut file)?, len))
}

/// Whether a file is an encrypted table, or claims to be one: also an encrypted table in Parquet.
pub(super) fn is_table(path: &Path) -> Result<bool, CliError> {
    if is_parquet(path).map_err(|error| refuse_table(path, error))? {
        return Ok(true);
    }
    let (header, _) = header(path).map_err(|error| refuse(path, error))?;
    Ok(Kind::of(header.kind).is_some_and(Kind::is_table))
}

/// Opens an encrypted table, and reads its schema.
pub(crate) fn table(path: &Path) -> Result<Box<dyn EncryptedTable>, CliError> {
    sunzi::table::open(path).map_err(|error| refuse_table(path, error))
}
