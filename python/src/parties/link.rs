//! Python classes of channels between machines: identities, cards, and links over TLS or through a shared folder.

use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sunzi_parties as parties;
use sunzi_parties::PartiesError;
use sunzi_parties::driver::Transport;
use sunzi_parties::driver::folder::{FolderLink, FolderOptions};
use sunzi_parties::driver::tls::{TlsLink, TlsOptions};
use sunzi_rlwe::randomness::from_os;

use super::{Over, Roster, channel};
use crate::compute::{PATIENCE, run};
use crate::error::{Failure, OrRaise as _, Told as _};

/// Longest time that a caller may name, in seconds.
const LONGEST: f64 = 1e9;

/// An identity: the secret keys by which a party is known on channels. They make no keys for computing.
#[pyclass(frozen, module = "sunzi._native")]
pub(crate) struct Identity {
    inner: Arc<parties::Identity>,
}

#[pymethods]
impl Identity {
    /// Makes the identity of a party, with new keys.
    #[staticmethod]
    fn generate(py: Python<'_>, name: String) -> PyResult<Self> {
        run(py, move || {
            Ok(Self { inner: Arc::new(parties::Identity::generate(&name, &mut from_os()?).told()?) })
        })
    }

    /// Reads an identity from its file, which nobody but its owner may be able to read.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        run(py, move || Ok(Self { inner: Arc::new(parties::Identity::load(path).told()?) }))
    }

    /// Writes the identity to a new file of mode 0600.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let inner = Arc::clone(&self.inner);
        run(py, move || inner.save(path).told())
    }

    /// Returns the card, which the other parties need, with the address at which this party listens: "host:port", or none.
    #[pyo3(signature = (address=None))]
    fn card(&self, py: Python<'_>, address: Option<&str>) -> PyResult<Card> {
        Ok(Card { inner: self.inner.card(address).told().or_raise(py)? })
    }

    #[getter]
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn __repr__(&self) -> String {
        format!("<SECRET identity of {}>", self.inner.name())
    }
}

/// A card: name, public keys and address of a party.
#[pyclass(frozen, module = "sunzi._native", eq)]
#[derive(Clone, PartialEq)]
pub(crate) struct Card {
    inner: parties::Card,
}

#[pymethods]
impl Card {
    /// Reads a card from its text.
    #[staticmethod]
    fn from_json(py: Python<'_>, text: &str) -> PyResult<Self> {
        Ok(Self { inner: parties::Card::from_json(text).told().or_raise(py)? })
    }

    fn to_json(&self) -> String {
        self.inner.to_json()
    }

    /// Reads a card from its file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        run(py, move || Ok(Self { inner: parties::Card::load(path).told()? }))
    }

    /// Writes the card to a file.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let inner = self.inner.clone();
        run(py, move || inner.save(path).told())
    }

    #[getter]
    fn name(&self) -> &str {
        self.inner.name()
    }

    #[getter]
    fn address(&self) -> Option<&str> {
        self.inner.address()
    }

    #[getter]
    fn fingerprint(&self) -> String {
        self.inner.fingerprint()
    }

    fn __repr__(&self) -> String {
        format!("<card of {}, {}>", self.inner.name(), self.inner.fingerprint())
    }
}

/// Contacts: the cards of all parties, in the order on which they agreed.
#[pyclass(frozen, module = "sunzi._native", eq)]
#[derive(PartialEq)]
pub(crate) struct Contacts {
    inner: parties::Contacts,
}

#[pymethods]
impl Contacts {
    #[new]
    fn new(py: Python<'_>, cards: Vec<PyRef<'_, Card>>) -> PyResult<Self> {
        let cards = cards.iter().map(|card| card.inner.clone());
        Ok(Self { inner: parties::Contacts::new(cards).told().or_raise(py)? })
    }

    /// The roster of the parties, of whom a threshold decrypts: all unless it is given.
    #[pyo3(signature = (threshold=None, *, handed_on=None))]
    fn roster(&self, py: Python<'_>, threshold: Option<usize>, handed_on: Option<&[u8]>) -> PyResult<Roster> {
        Roster::of(py, self.inner.roster().clone(), threshold, handed_on)
    }

    #[getter]
    fn fingerprint(&self) -> String {
        self.inner.fingerprint()
    }

    fn __repr__(&self) -> String {
        format!("<contacts of {} parties, {}>", self.inner.roster().len(), self.inner.fingerprint())
    }
}

type Channel = Box<dyn Transport + Send>;

/// A party's end of a channel to all others.
#[pyclass(frozen, module = "sunzi._native")]
pub(crate) struct PartyLink {
    roster: parties::Roster,
    /// `None` once it was closed.
    transport: Arc<Mutex<Option<Channel>>>,
}

impl PartyLink {
    fn of(contacts: &parties::Contacts, transport: Channel) -> Self {
        Self { roster: contacts.roster().clone(), transport: Arc::new(Mutex::new(Some(transport))) }
    }

    /// Does something with the channel, without the interpreter's lock.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        act: impl FnOnce(&mut Channel) -> Result<T, PartiesError> + Send,
    ) -> PyResult<T> {
        let outcome =
            py.detach(|| match &mut *self.transport.lock().unwrap_or_else(PoisonError::into_inner) {
                Some(transport) => act(transport).told(),
                None => Err(Over::Closed.error()),
            });
        outcome.map_err(|failure| failure.raise(py))
    }
}

#[pymethods]
impl PartyLink {
    /// Connects by TLS to all others for one channel.
    #[staticmethod]
    #[pyo3(signature = (identity, contacts, channel, longest, listen=None))]
    fn tls(
        py: Python<'_>,
        identity: &Identity,
        contacts: &Contacts,
        channel: &[u8],
        longest: u64,
        listen: Option<String>,
    ) -> PyResult<Self> {
        let (identity, contacts, channel) =
            (Arc::clone(&identity.inner), contacts.inner.clone(), self::channel(py, channel)?);
        run(py, move || {
            let mut options = TlsOptions::new(longest);
            options.listener =
                listen.map(TcpListener::bind).transpose().map_err(PartiesError::Channel).told()?;
            let link = TlsLink::open(&identity, &contacts, &channel, options).told()?;
            Ok(Self::of(&contacts, Box::new(link)))
        })
    }

    /// Opens a folder that all share, for one channel.
    #[staticmethod]
    fn folder(
        py: Python<'_>,
        identity: &Identity,
        contacts: &Contacts,
        channel: &[u8],
        longest: u64,
        folder: PathBuf,
        poll: f64,
    ) -> PyResult<Self> {
        let (identity, contacts, channel) =
            (Arc::clone(&identity.inner), contacts.inner.clone(), self::channel(py, channel)?);
        run(py, move || {
            let mut options = FolderOptions::new(longest);
            options.poll = seconds(poll);
            let link = FolderLink::open(folder, &identity, &contacts, &channel, options).told()?;
            Ok(Self::of(&contacts, Box::new(link)))
        })
    }

    fn send(&self, py: Python<'_>, message: &[u8]) -> PyResult<()> {
        self.with(py, |link| link.send(message))
    }

    fn send_to(&self, py: Python<'_>, party: &str, message: &[u8]) -> PyResult<()> {
        let to = self.roster.named(party).told().or_raise(py)?;
        self.with(py, |link| link.send_to(to, message))
    }

    /// Waits for the next message, open to Ctrl-C.
    fn receive<'py>(&self, py: Python<'py>, timeout: f64) -> PyResult<Option<(String, Bound<'py, PyBytes>)>> {
        let begun = Instant::now();
        let timeout = seconds(timeout);
        loop {
            let left = timeout.saturating_sub(begun.elapsed());
            if let Some((from, message)) = self.with(py, |link| link.receive(left.min(PATIENCE)))? {
                return Ok(Some((self.roster.name(from).to_owned(), PyBytes::new(py, &message))));
            }
            if left <= PATIENCE {
                return Ok(None);
            }
            py.check_signals()?;
        }
    }

    /// What was refused since this was asked last, before it was a message.
    fn refusals(&self, py: Python<'_>) -> PyResult<Vec<Py<PyAny>>> {
        let refused = self.with(py, |link| Ok(link.refusals()))?;
        let raised = |error| Failure::party(error).raise(py).into_value(py).into_any();
        Ok(refused.into_iter().map(raised).collect())
    }

    /// Waits until others have all that was sent to them, and returns the names of those that may lack something.
    fn finish(&self, py: Python<'_>, timeout: f64) -> PyResult<Vec<String>> {
        let begun = Instant::now();
        let timeout = seconds(timeout);
        loop {
            let left = timeout.saturating_sub(begun.elapsed());
            let lacking = self.with(py, |link| link.finish(left.min(PATIENCE)))?;
            if lacking.is_empty() || left <= PATIENCE {
                return Ok(super::names(&self.roster, &lacking));
            }
            py.check_signals()?;
        }
    }

    /// Ends the link: what was sent goes out where others are connected.
    fn close(&self, py: Python<'_>) {
        py.detach(|| drop(self.transport.lock().unwrap_or_else(PoisonError::into_inner).take()));
    }
}

/// Returns a time of so many seconds, none for what is no number.
fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds.clamp(0.0, LONGEST)).unwrap_or_default()
}
