//! Python class of the handing on of a key: the parties of a quorum deal its secret to those of another roster.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sunzi_parties as parties;
use sunzi_parties::dealing::{ConfirmingShares, Dealing, HandingOnSetup};
use sunzi_parties::{PartiesError, Party, Round};
use sunzi_rlwe::KeyId;
use sunzi_rlwe::joint::ThresholdShare;
use sunzi_rlwe::randomness::from_os;
use zeroize::Zeroizing;

use super::secret::{Held, PartySecret};
use super::{Over, Records, Roster, names, nonce, policy, receipt};
use crate::compute::run;
use crate::error::{Failure, OrRaise as _, Told as _};
use crate::keys::PublicKey;
use crate::scheme::Scheme;

/// Pieces of a dealer, each with the one that it is for.
type Pieces = BTreeMap<Party, Zeroizing<Vec<u8>>>;

/// Where the handing on is: open for pieces, open for confirmations, over, or at its end.
enum State {
    Dealing(Box<Dealing<Records>>),
    /// The round of confirmations, and the own pieces, which others may still lack.
    Confirming(Box<Round<Records, ConfirmingShares>>, Pieces),
    /// The share of this party, if it gets one, and its confirmation, which others may still lack.
    Made(Option<Arc<ThresholdShare>>, Vec<u8>),
    Ended(Over),
}

/// One party's part in handing a key on.
#[pyclass(frozen, module = "sunzi._native")]
pub(crate) struct PartyHandingOn {
    scheme: Arc<Scheme>,
    /// All parties of the session: those who get shares, and the dealers that leave.
    session: parties::Roster,
    /// Those who get shares.
    to: Arc<parties::Roster>,
    me: Party,
    key: KeyId,
    deals: bool,
    name: String,
    /// Number of the channel of the session, and the most bytes of a message.
    channel: ([u8; 32], u64),
    state: Arc<Mutex<State>>,
}

fn locked(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the share in what a party of the roster of before holds, if it is there.
fn share_of(secret: Option<&PartySecret>) -> Result<Option<Arc<ThresholdShare>>, Failure> {
    match secret.map(|secret| &secret.held) {
        None => Ok(None),
        Some(Held::Share(share)) => Ok(Some(Arc::clone(share))),
        Some(Held::Own(_)) => {
            let message = "what is handed on: expected a share of a threshold, got the own secret of this party: deal it first";
            Err(Failure::new("PartySetting", message))
        }
    }
}

#[pymethods]
impl PartyHandingOn {
    /// Takes part in handing the key on, or goes on with the records in a folder.
    #[new]
    #[pyo3(signature = (public, before, dealers, to, me, nonce, policy, *, secret=None, folder=None))]
    #[expect(clippy::too_many_arguments, reason = "all of them named, and none that another would imply")]
    fn new(
        py: Python<'_>,
        public: &PublicKey,
        before: &Roster,
        dealers: Vec<String>,
        to: &Roster,
        me: String,
        nonce: &[u8],
        policy: (u64, u32),
        secret: Option<&PartySecret>,
        folder: Option<PathBuf>,
    ) -> PyResult<Self> {
        let (nonce, key) = (self::nonce(py, nonce)?, public.key.id());
        let quorum: Vec<Party> =
            dealers.iter().map(|name| before.party(py, name)).collect::<PyResult<_>>()?;
        let share = share_of(secret).or_raise(py)?;
        let (scheme, before, to) =
            (Arc::clone(&public.scheme), Arc::clone(&before.inner), parties::Roster::clone(&to.inner));
        run(py, move || {
            self::policy(policy.0, policy.1)?;
            let from = (&*before, &quorum[..]);
            let setup = HandingOnSetup::new(scheme.rlwe().clone(), from, to, key, nonce).told()?;
            let session = setup.session().roster().clone();
            let (me, deals) = (session.named(&me).told()?, dealers.contains(&me));
            // Those who deal nothing need no share of before.
            let share = share.as_deref().filter(|_| deals);
            let dealing = setup.begin(me, share, Records::open(folder)?, &mut from_os()?).told()?;
            let channel = (*setup.session().id(), setup.longest_message().told()?);
            let (name, to) = (setup.session().name(), Arc::clone(setup.roster()));
            let state = Arc::new(Mutex::new(State::Dealing(Box::new(dealing))));
            Ok(Self { scheme, session, to, me, key, deals, name, channel, state })
        })
    }

    /// The piece for another party, which is for that party alone; None for one that gets none of this party.
    fn message_for<'py>(&self, py: Python<'py>, party: &str) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let to = self.session.named(party).told().or_raise(py)?;
        let piece = py.detach(|| match &*locked(&self.state) {
            State::Dealing(dealing) => {
                Ok(dealing.message_for(to).map(|piece| Zeroizing::new(piece.to_vec())))
            }
            State::Confirming(_, pieces) => Ok(pieces.get(&to).cloned()),
            State::Made(..) => Ok(None),
            State::Ended(over) => Err(over.error()),
        });
        Ok(piece.or_raise(py)?.map(|piece| PyBytes::new(py, &piece)))
    }

    /// Takes a message of a party, by what the channel says: its piece, or its confirmation.
    fn receive(&self, py: Python<'_>, sender: &str, message: Vec<u8>) -> PyResult<&'static str> {
        let (state, sender) = (Arc::clone(&self.state), self.session.named(sender).told().or_raise(py)?);
        let message = Zeroizing::new(message);
        run(py, move || match &mut *locked(&state) {
            State::Dealing(dealing) => dealing.accept(sender, &message).map(receipt).told(),
            State::Confirming(round, _) => round.accept(sender, &message).map(receipt).told(),
            State::Made(..) => Ok("over"),
            State::Ended(over) => Err(over.error()),
        })
    }

    /// Opens the round of confirmations once all pieces for this party are there.
    fn advance(&self, py: Python<'_>) -> PyResult<()> {
        let state = Arc::clone(&self.state);
        run(py, move || {
            let mut state = locked(&state);
            match &*state {
                State::Dealing(dealing) => dealing.check_complete().told()?,
                State::Confirming(..) | State::Made(..) => return Ok(()),
                State::Ended(over) => return Err(over.error()),
            }
            let before = std::mem::replace(&mut *state, State::Ended(Over::Failed("in between".to_owned())));
            let State::Dealing(dealing) = before else { return Ok(()) };
            let pieces = dealing.messages().map(|(to, piece)| (to, Zeroizing::new(piece.to_vec()))).collect();
            let round = dealing.confirm().map_err(|error| ended(&mut state, error))?;
            *state = State::Confirming(Box::new(round), pieces);
            Ok(())
        })
    }

    /// The confirmation of this party, for all others.
    #[getter]
    fn message<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let message = py.detach(|| match &*locked(&self.state) {
            State::Dealing(_) => Err(Failure::new(
                "PartySetting",
                "a confirmation before the pieces of all dealers are there: receive() them, then advance()",
            )),
            State::Confirming(round, _) => Ok(round.message().to_vec()),
            State::Made(_, message) => Ok(message.clone()),
            State::Ended(over) => Err(over.error()),
        });
        Ok(PyBytes::new(py, &message.or_raise(py)?))
    }

    /// Returns what this party holds from now on, nothing for one that leaves, once all have confirmed.
    fn finish(&self, py: Python<'_>) -> PyResult<Option<PartySecret>> {
        let state = Arc::clone(&self.state);
        let share = run(py, move || {
            let mut state = locked(&state);
            match &*state {
                State::Dealing(dealing) => {
                    dealing.check_complete().told()?;
                    let message = "a share that nobody has confirmed: advance(), send the message to all, and receive theirs";
                    return Err(Failure::new("PartySetting", message));
                }
                State::Confirming(round, _) => round.check_complete().told()?,
                State::Made(share, _) => return Ok(share.clone()),
                State::Ended(over) => return Err(over.error()),
            }
            let before = std::mem::replace(&mut *state, State::Ended(Over::Failed("in between".to_owned())));
            let State::Confirming(round, _) = before else { return Ok(None) };
            let message = round.message().to_vec();
            let share = round.advance().map_err(|error| ended(&mut state, error))?.map(Arc::new);
            *state = State::Made(share.clone(), message);
            Ok(share)
        })?;
        let (scheme, roster) = (Arc::clone(&self.scheme), Arc::clone(&self.to));
        let (me, key) = (self.me, self.key);
        Ok(share.map(|share| PartySecret { scheme, roster, me, key, held: Held::Share(share) }))
    }

    /// The channel of the session, and the most bytes of its messages.
    fn channel<'py>(&self, py: Python<'py>) -> (Bound<'py, PyBytes>, u64) {
        let (number, longest) = &self.channel;
        (PyBytes::new(py, number), *longest)
    }

    /// Lets the records go, so that another object can go on with them. A share that is made stays.
    fn close(&self, py: Python<'_>) {
        py.detach(|| {
            let mut state = locked(&self.state);
            if matches!(*state, State::Dealing(_) | State::Confirming(..)) {
                *state = State::Ended(Over::Closed);
            }
        });
    }

    /// Those who get shares, by whose roster they decrypt.
    #[getter]
    fn roster(&self) -> Roster {
        Roster { inner: Arc::clone(&self.to) }
    }

    /// The names of all parties of the session.
    #[getter]
    fn parties(&self) -> Vec<String> {
        self.session.names().map(str::to_owned).collect()
    }

    /// Whether this party deals.
    #[getter]
    fn deals(&self) -> bool {
        self.deals
    }

    /// The step: 1 for pieces, 2 for confirmations, 3 once it is over.
    #[getter]
    fn step(&self, py: Python<'_>) -> u64 {
        py.detach(|| match &*locked(&self.state) {
            State::Dealing(_) => 1,
            State::Confirming(..) => 2,
            State::Made(..) | State::Ended(_) => 3,
        })
    }

    #[getter]
    fn missing(&self, py: Python<'_>) -> Vec<String> {
        py.detach(|| match &*locked(&self.state) {
            State::Dealing(dealing) => names(&self.session, &dealing.missing()),
            State::Confirming(round, _) => names(&self.session, &round.missing()),
            State::Made(..) | State::Ended(_) => Vec::new(),
        })
    }

    /// The name of the session, equal for all parties.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let (me, name) = (self.session.name(self.me), self.name.get(..8).unwrap_or_default());
        let place = py.detach(|| match &*locked(&self.state) {
            State::Dealing(dealing) => format!("{} pieces missing", dealing.missing().len()),
            State::Confirming(round, _) => format!("{} confirmations missing", round.missing().len()),
            State::Made(..) => "done".to_owned(),
            State::Ended(over) => over.to_string(),
        });
        format!("<handing on {name} by party {me}: {place}>")
    }
}

/// Returns the error that ends what it came out of.
fn ended(state: &mut State, error: PartiesError) -> Failure {
    *state = State::Ended(Over::by(&error));
    Failure::party(error)
}
