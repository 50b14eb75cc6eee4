//! Headers and checksums of the wire format, for the objects that Python puts together itself.

use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sunzi_rlwe::wire::{self, Fingerprint, Header, Kind, WireError};

use crate::compute::run;
use crate::error::OrRaise as _;

/// Number of the kind, fingerprints of ring and scheme, name of the key, bytes of the body.
type Fields<'py> = (u16, Bound<'py, PyBytes>, Bound<'py, PyBytes>, Option<String>, u64);

/// Returns a header with the parameters and the key of another one; without another one, of no parameters and no key.
#[pyfunction]
#[pyo3(signature = (kind, body_len, like=None))]
pub(crate) fn header<'py>(
    py: Python<'py>,
    kind: u16,
    body_len: u64,
    like: Option<&[u8]>,
) -> PyResult<Bound<'py, PyBytes>> {
    let like = like.map(|mut bytes| Header::read(&mut bytes)).transpose().or_raise(py)?;
    let none = Fingerprint { ring: [0; 8], scheme: [0; 8] };
    let (parameters, key) = like.map_or((none, None), |like| (like.parameters, like.key));
    Ok(PyBytes::new(py, &Header { kind, parameters, key, body_len }.to_bytes()))
}

/// Reads the header that bytes begin with.
#[pyfunction]
pub(crate) fn read_header<'py>(py: Python<'py>, mut data: &[u8]) -> PyResult<Fields<'py>> {
    let header = Header::read(&mut data).or_raise(py)?;
    let ring = PyBytes::new(py, &header.parameters.ring);
    let scheme = PyBytes::new(py, &header.parameters.scheme);
    Ok((header.kind, ring, scheme, header.key.map(|key| key.to_string()), header.body_len))
}

/// Returns the checksum that follows a record.
#[pyfunction]
pub(crate) fn checksum(data: &[u8]) -> u64 {
    wire::checksum(data)
}

/// Returns what an object of the kind with this number is, in words.
#[pyfunction]
pub(crate) fn kind_name(number: u16) -> String {
    Kind::describe(number)
}

/// Whether an object of the kind with this number is secret, and never goes to whoever computes.
#[pyfunction]
pub(crate) fn kind_is_secret(number: u16) -> bool {
    Kind::of(number).is_some_and(Kind::is_secret)
}

/// Writes bytes that anybody may see to a file, which is replaced in one step if it is there.
#[pyfunction]
pub(crate) fn write_file(py: Python<'_>, path: PathBuf, bytes: Vec<u8>) -> PyResult<()> {
    run(py, move || {
        let write = |file: &mut File| file.write_all(&bytes).map_err(WireError::Io);
        Ok(wire::replace(&path, false, write)?)
    })
}
