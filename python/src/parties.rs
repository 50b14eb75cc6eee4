//! Several parties for Python: rosters, and what the classes of the folder `parties` share.

mod additive;
mod answering;
mod collecting;
mod dealing;
mod decryption;
mod handing_on;
mod link;
mod opening;
mod refreshing;
mod secret;
mod session;
mod switching;
mod work;

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyIterator, PyList};
use sunzi_parties as parties;
use sunzi_parties::{FolderStore, MemoryStore, PartiesError, Party, Receipt, Store};
use sunzi_rlwe::randomness::from_os;
use sunzi_rlwe::sharing::SharingPolicy;
use sunzi_rlwe::wire::WireError;
use zeroize::Zeroizing;

use crate::compute::run;
use crate::error::{Failure, OrRaise as _, Told as _};

pub(crate) use additive::{PartySharing, additive_request};
pub(crate) use dealing::PartyDealing;
pub(crate) use decryption::{PartyDecryptor, read_party_request, request_channel};
pub(crate) use handing_on::PartyHandingOn;
pub(crate) use link::{Card, Contacts, Identity, PartyLink};
pub(crate) use opening::{PartyOpening, decryption_request};
pub(crate) use refreshing::{PartyRefreshing, refresh_request};
pub(crate) use secret::{PartySecret, party_ledger};
pub(crate) use session::PartyKeySession;
pub(crate) use switching::{PartySwitching, switch_request};

/// A roster: names of parties in their order, and how many of them decrypt.
#[pyclass(frozen, module = "sunzi._native", name = "Roster", eq)]
#[derive(PartialEq)]
pub(crate) struct Roster {
    pub(crate) inner: Arc<parties::Roster>,
}

#[pymethods]
impl Roster {
    #[new]
    #[pyo3(signature = (names, threshold=None, *, handed_on=None))]
    fn new(
        py: Python<'_>,
        names: Vec<String>,
        threshold: Option<usize>,
        handed_on: Option<&[u8]>,
    ) -> PyResult<Self> {
        Self::of(py, parties::Roster::new(names).told().or_raise(py)?, threshold, handed_on)
    }

    #[getter]
    fn names(&self) -> Vec<String> {
        self.inner.parties().map(|party| self.inner.name(party).to_owned()).collect()
    }

    #[getter]
    fn threshold(&self) -> usize {
        self.inner.threshold()
    }

    /// The number of the session in which the joint secret was handed on to these parties, if it was.
    #[getter]
    fn handed_on<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.inner.origin().map(|session| PyBytes::new(py, session))
    }

    /// Whether the parties decrypt by shares of a threshold, and not each by its own secret.
    #[getter]
    fn has_shares(&self) -> bool {
        self.inner.has_shares()
    }

    fn __len__(&self) -> usize {
        self.inner.len()
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        PyList::new(py, self.names())?.try_iter()
    }

    fn __contains__(&self, name: &str) -> bool {
        self.inner.named(name).is_ok()
    }

    fn __hash__(&self) -> u64 {
        use std::hash::{DefaultHasher, Hash as _, Hasher as _};
        let mut hasher = DefaultHasher::new();
        (self.names(), self.threshold(), self.inner.origin()).hash(&mut hasher);
        hasher.finish()
    }

    fn __repr__(&self) -> String {
        let origin = if self.inner.origin().is_some() { "; the secret was handed on to them" } else { "" };
        let names = self.names().join(", ");
        format!("<roster of {names}; {} of {} decrypt{origin}>", self.threshold(), self.inner.len())
    }
}

impl Roster {
    /// Returns a roster of whose parties a threshold decrypts, all unless it is given, to whom the joint secret was handed on in a session if one is given.
    fn of(
        py: Python<'_>,
        roster: parties::Roster,
        threshold: Option<usize>,
        handed_on: Option<&[u8]>,
    ) -> PyResult<Self> {
        let roster = match threshold {
            Some(threshold) => roster.with_threshold(threshold).told().or_raise(py)?,
            None => roster,
        };
        let roster = match handed_on {
            Some(session) => roster.handed_on(self::origin(py, session)?),
            None => roster,
        };
        Ok(Self { inner: Arc::new(roster) })
    }

    /// Returns the party of a name, which must be on the roster.
    fn party(&self, py: Python<'_>, name: &str) -> PyResult<Party> {
        self.inner.named(name).told().or_raise(py)
    }
}

/// Returns the names of parties.
fn names(roster: &parties::Roster, found: &[Party]) -> Vec<String> {
    found.iter().map(|&party| roster.name(party).to_owned()).collect()
}

/// Records of a party, in memory or in a folder.
enum Records {
    Memory(MemoryStore),
    Folder(FolderStore),
}

impl Records {
    /// Opens the records in a folder, or makes new ones in memory.
    fn open(folder: Option<impl AsRef<Path>>) -> Result<Self, Failure> {
        Ok(match folder {
            Some(folder) => Self::Folder(FolderStore::open(folder)?),
            None => Self::Memory(MemoryStore::default()),
        })
    }
}

impl Store for Records {
    fn get(&self, record: &str) -> Result<Option<Zeroizing<Vec<u8>>>, WireError> {
        match self {
            Self::Memory(store) => store.get(record),
            Self::Folder(store) => store.get(record),
        }
    }

    fn put(&mut self, record: &str, bytes: &[u8], secret: bool) -> Result<(), WireError> {
        match self {
            Self::Memory(store) => store.put(record, bytes, secret),
            Self::Folder(store) => store.put(record, bytes, secret),
        }
    }

    fn remove(&mut self, record: &str) -> Result<(), WireError> {
        match self {
            Self::Memory(store) => store.remove(record),
            Self::Folder(store) => store.remove(record),
        }
    }
}

/// What became of a message, in a word for Python.
fn receipt(receipt: Receipt) -> &'static str {
    match receipt {
        Receipt::Accepted => "accepted",
        Receipt::Repeated => "repeated",
        Receipt::Kept => "kept",
    }
}

/// The number that tells sessions apart, 32 bytes.
fn nonce(py: Python<'_>, bytes: &[u8]) -> PyResult<[u8; 32]> {
    let message =
        format!("a nonce of {} bytes: give the 32 that parties.nonce() made for this session", bytes.len());
    bytes.try_into().map_err(|_| Failure::new("PartySetting", message).raise(py))
}

/// The number of the session in which a secret was handed on, 32 bytes.
fn origin(py: Python<'_>, bytes: &[u8]) -> PyResult<[u8; 32]> {
    let message = format!(
        "the session of a secret that was handed on: expected 32 bytes, got {}: give those of HandingOn.roster.handed_on",
        bytes.len()
    );
    bytes.try_into().map_err(|_| Failure::new("PartySetting", message).raise(py))
}

/// The number of a channel, 32 bytes.
fn channel(py: Python<'_>, bytes: &[u8]) -> PyResult<[u8; 32]> {
    let message = format!("a channel of {} bytes: it has 32", bytes.len());
    bytes.try_into().map_err(|_| Failure::new("PartySetting", message).raise(py))
}

/// Returns the sharing policy of a ledger.
fn policy(queries: u64, statistical_bits: u32) -> Result<SharingPolicy, Failure> {
    Ok(SharingPolicy::new(statistical_bits, queries)?)
}

/// Draws the number that tells sessions of equal terms apart.
#[pyfunction]
pub(crate) fn session_nonce(py: Python<'_>) -> PyResult<Bound<'_, PyBytes>> {
    let nonce = run(py, || Ok(parties::keys::KeySetup::nonce(&mut from_os()?)))?;
    Ok(PyBytes::new(py, &nonce))
}

/// Why a session, a dealing or a decryptor does not go on in this process.
enum Over {
    /// It was closed.
    Closed,
    /// An error came in between.
    Failed(String),
    /// It was given up for good.
    Aborted(String),
}

impl Over {
    /// Returns the end that an error makes of what it came out of.
    fn by(error: &PartiesError) -> Self {
        if error.is_fatal() { Self::Aborted(error.to_string()) } else { Self::Failed(error.to_string()) }
    }

    fn error(&self) -> Failure {
        match self {
            Self::Closed => Failure::new(
                "SessionClosed",
                "this was closed, and holds nothing any more: make it again to go on",
            ),
            Self::Failed(reason) => {
                let message =
                    format!("this has stopped ({reason}): make it again with the same records to go on");
                Failure::new("SessionClosed", message)
            }
            Self::Aborted(reason) => Failure::party(PartiesError::Aborted { reason: reason.clone() }),
        }
    }
}

impl fmt::Display for Over {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => f.write_str("closed"),
            Self::Failed(reason) => write!(f, "stopped: {reason}"),
            Self::Aborted(reason) => write!(f, "given up: {reason}"),
        }
    }
}
