//! Parameters of any scheme from a file.

use std::fs::File;
use std::io::{BufRead, Seek, SeekFrom, Write};
use std::path::Path;

use sunzi::bfv;
use sunzi::bfv::{CrtParameters, FermatParameters};
use sunzi::circuits::bootstrap::BootstrapParameters;
use sunzi::circuits::integers::IntegerParameters;
use sunzi::program::analysis::Parameters;
use sunzi::rlwe::wire::{
    Accept, ErasingReader, HEADER_LEN, Header, Kind, NoContext, Reader, SecurityClaim, StoredParameters,
    WireError, open_regular, write,
};
use sunzi::table::{EncryptedTable, is_parquet};
use sunzi::{bgv, ckks};

use super::{refuse, refuse_table};
use crate::error::CliError;

/// Parameters of any scheme.
pub(crate) enum Stored {
    Bfv(bfv::Parameters),
    Crt(CrtParameters),
    /// BGV parameters for all of these plaintext moduli.
    Bgv(bgv::Parameters, Vec<u64>),
    Ckks(ckks::Parameters),
    Fermat(FermatParameters),
    Integers(IntegerParameters),
    /// Parameters of CKKS with bootstrapping.
    Bootstrapped(BootstrapParameters),
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
        Self::read(accept, open(path)?)
    }

    /// Reads parameters that are one object, and validates them.
    pub(super) fn read(accept: Accept, reader: Reader<impl BufRead>) -> Result<Self, WireError> {
        Ok(match Kind::of(reader.header().kind) {
            Some(Kind::BgvParameters) => {
                let parameters: bgv::Parameters = reader.read(&accept)?;
                let plain_moduli = vec![parameters.plain_modulus()];
                Self::Bgv(parameters, plain_moduli)
            }
            Some(Kind::CrtParameters) => Self::Crt(reader.read(&accept)?),
            Some(Kind::CkksParameters) => Self::Ckks(reader.read(&accept)?),
            Some(Kind::FermatParameters) => Self::Fermat(reader.read(&accept)?),
            Some(Kind::IntegerParameters) => Self::Integers(reader.read(&accept)?),
            Some(Kind::BootstrapParameters) => Self::Bootstrapped(reader.read(&accept)?),
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
            Self::Integers(parameters) => parameters.claim(),
            Self::Bootstrapped(parameters) => parameters.claim(),
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
            Self::Integers(parameters) => StoredParameters::table_bytes(parameters),
            Self::Bootstrapped(parameters) => StoredParameters::table_bytes(parameters),
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
            Self::Integers(parameters) => parameters.switch_key_bytes(),
            Self::Bootstrapped(parameters) => parameters.switch_key_bytes(),
        }
    }

    /// Name of the scheme.
    pub(crate) fn scheme(&self) -> &'static str {
        match self {
            Self::Bfv(_) | Self::Crt(_) | Self::Fermat(_) => "BFV",
            Self::Bgv(..) => "BGV",
            Self::Ckks(_) | Self::Bootstrapped(_) => "CKKS",
            Self::Integers(_) => "integers",
        }
    }

    /// Writes these parameters.
    pub(crate) fn write(&self, out: impl Write) -> Result<(), WireError> {
        match self {
            Self::Bfv(parameters) => write(&NoContext, parameters, out),
            Self::Crt(parameters) => write(&NoContext, parameters, out),
            Self::Bgv(parameters, plain_moduli) => {
                let (parameters, plain_moduli) = (parameters.clone(), plain_moduli.clone());
                Parameters::Bgv { parameters, plain_moduli }.write(out)
            }
            Self::Ckks(parameters) => write(&NoContext, parameters, out),
            Self::Fermat(parameters) => write(&NoContext, parameters, out),
            Self::Integers(parameters) => write(&NoContext, parameters, out),
            Self::Bootstrapped(parameters) => write(&NoContext, parameters, out),
        }
    }
}

/// Opens a file that is one object, and reads its header.
pub(super) fn open(path: &Path) -> Result<Reader<ErasingReader<File>>, WireError> {
    Reader::open(path)
}

/// The objects of a file by their headers: one, or as many as come where several may.
pub(super) struct Objects {
    /// First header of the file.
    pub(super) header: Header,
    /// Number of objects whose headers are there.
    pub(super) count: u64,
    /// Bytes of these objects as their headers say.
    pub(super) bytes: u64,
    pub(super) file_bytes: u64,
}

impl Objects {
    /// Checks that the file has the bytes that its headers say.
    pub(super) fn check(&self) -> Result<(), WireError> {
        match self.file_bytes.checked_sub(self.bytes) {
            Some(0) => Ok(()),
            Some(extra) => Err(WireError::Trailing { extra }),
            None => Err(WireError::Truncated),
        }
    }
}

/// Reads the headers of a file up to where there is none.
pub(super) fn objects(path: &Path) -> Result<Objects, WireError> {
    let mut file = open_regular(path)?;
    let file_bytes = file.metadata().map_err(WireError::Io)?.len();
    let after =
        |header: &Header, place: u64| place.saturating_add(HEADER_LEN as u64).saturating_add(header.body_len);
    let header = Header::read(&mut file)?;
    let mut objects = Objects { header, count: 1, bytes: after(&header, 0), file_bytes };
    // The Python package has parameters of BFV for each plaintext modulus, too.
    let several = [Kind::BfvParameters, Kind::BgvParameters, Kind::Results];
    let several = Kind::of(header.kind).is_some_and(|kind| several.contains(&kind));
    while several && objects.bytes < file_bytes {
        file.seek(SeekFrom::Start(objects.bytes)).map_err(WireError::Io)?;
        // Bytes that are no object follow the last one.
        let Ok(header) = Header::read(&mut file) else { break };
        (objects.count, objects.bytes) = (objects.count + 1, after(&header, objects.bytes));
    }
    Ok(objects)
}

/// Returns the header of a file, and how many bytes the file has.
pub(crate) fn header(path: &Path) -> Result<(Header, u64), WireError> {
    let mut file = open_regular(path)?;
    let len = file.metadata().map_err(WireError::Io)?.len();
    Ok((Header::read(&mut file)?, len))
}

/// Whether a file is an encrypted table, or claims to be one: also an encrypted table in Parquet. Messages call the file `asked`.
pub(super) fn is_table(path: &Path, asked: &Path) -> Result<bool, CliError> {
    if is_parquet(path).map_err(|error| refuse_table(asked, error))? {
        return Ok(true);
    }
    let (header, _) = header(path).map_err(|error| refuse(asked, error))?;
    Ok(Kind::of(header.kind).is_some_and(Kind::is_table))
}

/// Opens an encrypted table, and reads its schema. Messages call the file `asked`.
pub(crate) fn table(path: &Path, asked: &Path) -> Result<Box<dyn EncryptedTable>, CliError> {
    sunzi::table::open(path).map_err(|error| refuse_table(asked, error))
}
