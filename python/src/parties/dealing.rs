//! Python class of a dealing of a threshold: every party sends every other one a piece of its secret.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sunzi_parties as parties;
use sunzi_parties::Party;
use sunzi_parties::dealing::{Dealing, DealingSetup};
use sunzi_rlwe::KeyId;
use sunzi_rlwe::joint::ThresholdShare;
use sunzi_rlwe::randomness::from_os;
use zeroize::Zeroizing;

use super::secret::{Held, PartySecret};
use super::{Over, Records, names, nonce, receipt};
use crate::compute::run;
use crate::error::{Failure, OrRaise as _, Told as _};
use crate::scheme::Scheme;

/// Where a dealing is: open for pieces, the share of this party, or its end.
enum State {
    Open(Box<Dealing<Records>>),
    Made(Arc<ThresholdShare>),
    Ended(Over),
}

/// One party's part in a dealing.
#[pyclass(frozen, module = "sunzi._native")]
pub(crate) struct PartyDealing {
    scheme: Arc<Scheme>,
    roster: Arc<parties::Roster>,
    me: Party,
    key: KeyId,
    /// Number of the channel of the dealing, and the most bytes of a message.
    channel: ([u8; 32], u64),
    state: Arc<Mutex<State>>,
}

fn locked(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

#[pymethods]
impl PartyDealing {
    /// Deals the secret of a party by the threshold of its roster, or goes on with the records in a folder.
    #[new]
    #[pyo3(signature = (secret, nonce, folder=None))]
    fn new(py: Python<'_>, secret: &PartySecret, nonce: &[u8], folder: Option<PathBuf>) -> PyResult<Self> {
        let nonce = self::nonce(py, nonce)?;
        let (scheme, roster, held) =
            (Arc::clone(&secret.scheme), Arc::clone(&secret.roster), secret.held.clone());
        let (me, key) = (secret.me, secret.key);
        run(py, move || {
            let Held::Own(own) = held else {
                let message = "what is dealt: expected the own secret of this party, got its share of a threshold, which was dealt already";
                return Err(Failure::new("PartySetting", message));
            };
            let context = scheme.rlwe().clone();
            let setup = DealingSetup::new(context, parties::Roster::clone(&roster), key, nonce).told()?;
            let dealing = setup.begin(me, &own, Records::open(folder)?, &mut from_os()?).told()?;
            let channel = (*setup.session().id(), setup.longest_message().told()?);
            let state = Arc::new(Mutex::new(State::Open(Box::new(dealing))));
            Ok(Self { scheme, roster, me, key, channel, state })
        })
    }

    /// The message for another party, which is for that party alone.
    fn message_for<'py>(&self, py: Python<'py>, party: &str) -> PyResult<Bound<'py, PyBytes>> {
        let to = self.party(py, party)?;
        let message = py.detach(|| match &*locked(&self.state) {
            State::Open(dealing) => {
                Ok(dealing.message_for(to).map(|message| Zeroizing::new(message.to_vec())))
            }
            State::Made(_) => Err(Over::Closed.error()),
            State::Ended(over) => Err(over.error()),
        });
        let message = message.or_raise(py)?;
        let missing = || {
            Failure::new("PartySetting", format!("a message for {party}: it is this party itself")).raise(py)
        };
        Ok(PyBytes::new(py, &message.ok_or_else(missing)?))
    }

    /// Takes a message of a party, by what the channel says.
    fn receive(&self, py: Python<'_>, sender: &str, message: Vec<u8>) -> PyResult<&'static str> {
        let (state, sender, message) =
            (Arc::clone(&self.state), self.party(py, sender)?, Zeroizing::new(message));
        run(py, move || match &mut *locked(&state) {
            State::Open(dealing) => dealing.accept(sender, &message).map(receipt).told(),
            State::Made(_) => Ok("over"),
            State::Ended(over) => Err(over.error()),
        })
    }

    /// Returns what this party holds from now on, once the messages of all are there.
    fn finish(&self, py: Python<'_>) -> PyResult<PartySecret> {
        let state = Arc::clone(&self.state);
        let share = run(py, move || {
            let mut state = locked(&state);
            if let State::Open(dealing) = &*state {
                dealing.check_complete().told()?;
            }
            let before = std::mem::replace(&mut *state, State::Ended(Over::Failed("in between".to_owned())));
            let share = match before {
                State::Open(dealing) => Arc::new(dealing.finish().told()?),
                State::Made(share) => share,
                State::Ended(over) => {
                    let error = over.error();
                    *state = State::Ended(over);
                    return Err(error);
                }
            };
            *state = State::Made(Arc::clone(&share));
            Ok(share)
        })?;
        let (scheme, roster) = (Arc::clone(&self.scheme), Arc::clone(&self.roster));
        Ok(PartySecret { scheme, roster, me: self.me, key: self.key, held: Held::Share(share) })
    }

    /// The channel of the dealing, and the most bytes of its messages.
    fn channel<'py>(&self, py: Python<'py>) -> (Bound<'py, PyBytes>, u64) {
        let (number, longest) = &self.channel;
        (PyBytes::new(py, number), *longest)
    }

    /// Lets the records go, so that another dealing can go on with them. A share that is made stays.
    fn close(&self, py: Python<'_>) {
        py.detach(|| {
            let mut state = locked(&self.state);
            if matches!(*state, State::Open(_)) {
                *state = State::Ended(Over::Closed);
            }
        });
    }

    #[getter]
    fn missing(&self, py: Python<'_>) -> Vec<String> {
        py.detach(|| match &*locked(&self.state) {
            State::Open(dealing) => names(&self.roster, &dealing.missing()),
            State::Made(_) | State::Ended(_) => Vec::new(),
        })
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let place = py.detach(|| match &*locked(&self.state) {
            State::Open(dealing) => format!("{} messages missing", dealing.missing().len()),
            State::Made(_) => "done".to_owned(),
            State::Ended(over) => over.to_string(),
        });
        let (threshold, parties) = (self.roster.threshold(), self.roster.len());
        format!("<dealing of {threshold} of {parties} by party {}: {place}>", self.roster.name(self.me))
    }
}

impl PartyDealing {
    fn party(&self, py: Python<'_>, name: &str) -> PyResult<Party> {
        self.roster.named(name).map_err(|error| Failure::party(error).raise(py))
    }
}
