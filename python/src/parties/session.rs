//! Python class of a session that makes keys: the typed rounds, one after the other.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sunzi_circuits::EvaluationKeys as Keys;
use sunzi_parties as parties;
use sunzi_parties::keys::{
    AfterShares, Committing, CommittingShares, Confirming, JointKeys, KeyPlan, KeySetup, Revealing,
    SecondSharing, Sharing,
};
use sunzi_parties::{PartiesError, Party, Round};
use sunzi_rlwe::randomness::from_os;

use super::secret::{Held, PartySecret};
use super::{Over, Records, Roster, names, nonce, receipt};
use crate::compute::run;
use crate::context::Context;
use crate::error::{Failure, OrRaise as _, Told as _};
use crate::keys::{EvaluationKeys, PublicKey};
use crate::scheme::Scheme;

/// Where a session is: one of its rounds, its keys, or its end.
enum State {
    Committing(Round<Records, Committing>),
    Revealing(Round<Records, Revealing>),
    CommittingShares(Round<Records, CommittingShares>),
    Sharing(Round<Records, Sharing>),
    Second(Round<Records, SecondSharing>),
    Confirming(Round<Records, Confirming>),
    /// Keys, and the last message, which others may still lack.
    Made(Box<Made>),
    /// The end without keys.
    Ended(Over),
}

struct Made {
    keys: JointKeysOf,
    message: Vec<u8>,
}

/// Keys of a session, shared between Python objects.
struct JointKeysOf {
    public: Arc<sunzi_rlwe::PublicKey>,
    evaluation: Arc<Keys>,
    secret: Held,
}

impl From<JointKeys> for JointKeysOf {
    fn from(keys: JointKeys) -> Self {
        let JointKeys { public, galois, relinearization, secret, .. } = keys;
        Self {
            public: Arc::new(public),
            evaluation: Arc::new(Keys { relinearization, galois: Some(galois) }),
            secret: Held::Own(Arc::new(secret)),
        }
    }
}

/// Does the same with a round of any type; `$made` and `$ended` are for what is no round.
macro_rules! in_round {
    ($state:expr, |$round:ident| $body:expr, |$keys:ident| $made:expr, |$over:ident| $ended:expr) => {
        match $state {
            State::Committing($round) => $body,
            State::Revealing($round) => $body,
            State::CommittingShares($round) => $body,
            State::Sharing($round) => $body,
            State::Second($round) => $body,
            State::Confirming($round) => $body,
            State::Made($keys) => $made,
            State::Ended($over) => $ended,
        }
    };
}

impl State {
    /// Opens the next round, whose messages must all be there.
    fn advanced(self) -> Result<Self, PartiesError> {
        let mut rng = from_os()?;
        Ok(match self {
            Self::Committing(round) => Self::Revealing(round.advance(&mut rng)?),
            Self::Revealing(round) => Self::CommittingShares(round.advance(&mut rng)?),
            Self::CommittingShares(round) => Self::Sharing(round.advance(&mut rng)?),
            Self::Sharing(round) => match round.advance(&mut rng)? {
                AfterShares::Second(round) => Self::Second(round),
                AfterShares::Confirm(round) => Self::Confirming(round),
            },
            Self::Second(round) => Self::Confirming(round.advance(&mut rng)?),
            Self::Confirming(round) => {
                let message = round.message().to_vec();
                Self::Made(Box::new(Made { keys: round.advance()?.into(), message }))
            }
            Self::Made(made) => Self::Made(made),
            Self::Ended(over) => Self::Ended(over),
        })
    }
}

/// One party's part in the making of keys.
#[pyclass(frozen, module = "sunzi._native")]
pub(crate) struct PartyKeySession {
    scheme: Arc<Scheme>,
    roster: Arc<parties::Roster>,
    me: Party,
    name: String,
    /// Number of the channel of the session, and the most bytes of a message.
    channel: ([u8; 32], u64),
    state: Arc<Mutex<State>>,
}

fn locked(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl PartyKeySession {
    /// Looks at the state, without the interpreter's lock: another thread may compute with it.
    fn look<T: Send>(&self, py: Python<'_>, look: impl FnOnce(&State) -> T + Send) -> T {
        py.detach(|| look(&locked(&self.state)))
    }
}

#[pymethods]
impl PartyKeySession {
    /// Begins a session, or goes on with the records in a folder.
    #[new]
    #[pyo3(signature = (context, roster, me, nonce, *, relinearization, exponents, level=None, folder=None))]
    #[expect(clippy::too_many_arguments, reason = "all of them named, and none that another would imply")]
    fn new(
        py: Python<'_>,
        context: &Context,
        roster: &Roster,
        me: &str,
        nonce: &[u8],
        relinearization: bool,
        exponents: Vec<u64>,
        level: Option<usize>,
        folder: Option<PathBuf>,
    ) -> PyResult<Self> {
        let (me, nonce) = (roster.party(py, me)?, self::nonce(py, nonce)?);
        let (scheme, roster) = (Arc::clone(&context.scheme), Arc::clone(&roster.inner));
        run(py, move || {
            let rlwe = scheme.rlwe();
            let level = scheme.key_level(level)?;
            let listed = exponents.into_iter().map(|exponent| (exponent, level));
            let plan = KeyPlan::new(rlwe, relinearization.then_some(level), listed).told()?;
            let setup = KeySetup::new(rlwe.clone(), parties::Roster::clone(&roster), plan, nonce).told()?;
            let first = setup.begin(me, Records::open(folder)?, &mut from_os()?).told()?;
            let channel = (*setup.session().id(), setup.longest_message().told()?);
            let (name, state) = (setup.session().name(), Arc::new(Mutex::new(State::Committing(first))));
            Ok(Self { scheme, roster, me, name, channel, state })
        })
    }

    /// The message of this party in the round, which all others must get.
    #[getter]
    fn message<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let message = self.look(py, |state| {
            in_round!(state, |round| Ok(round.message().to_vec()), |made| Ok(made.message.clone()), |over| {
                Err(over.error())
            })
        });
        Ok(PyBytes::new(py, &message.or_raise(py)?))
    }

    /// All messages of this party so far, the latest last, for a party that begins again.
    fn messages<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let state = Arc::clone(&self.state);
        let messages = run(py, move || {
            in_round!(
                &*locked(&state),
                |round| round.messages_so_far().told(),
                |made| Ok(vec![made.message.clone().into()]),
                |over| Err(over.error())
            )
        })?;
        Ok(messages.iter().map(|message| PyBytes::new(py, message)).collect())
    }

    /// Takes a message of a party, by what the channel says.
    fn receive(&self, py: Python<'_>, sender: &str, message: Vec<u8>) -> PyResult<&'static str> {
        let (state, sender) = (Arc::clone(&self.state), self.party(py, sender)?);
        run(py, move || {
            in_round!(
                &mut *locked(&state),
                |round| round.accept(sender, &message).map(receipt).told(),
                |_made| Ok("over"),
                |over| Err(over.error())
            )
        })
    }

    /// Opens the next round once all messages of this one are there.
    fn advance(&self, py: Python<'_>) -> PyResult<()> {
        let state = Arc::clone(&self.state);
        run(py, move || {
            let mut state = locked(&state);
            // A round that is not complete stays as it is.
            in_round!(&*state, |round| round.check_complete().told()?, |_made| (), |over| return Err(
                over.error()
            ));
            let before = std::mem::replace(&mut *state, State::Ended(Over::Failed("in between".to_owned())));
            match before.advanced() {
                Ok(next) => *state = next,
                Err(error) => {
                    *state = State::Ended(Over::by(&error));
                    return Err(Failure::party(error));
                }
            }
            Ok(())
        })
    }

    /// Gives the session up for good.
    fn abort(&self, py: Python<'_>, reason: String) -> PyResult<()> {
        let state = Arc::clone(&self.state);
        run(py, move || {
            let mut state = locked(&state);
            if matches!(*state, State::Made(_)) {
                let message = "the session has made its keys: there is nothing to give up, delete what it keeps instead";
                return Err(Failure::new("PartySetting", message));
            }
            let before = std::mem::replace(&mut *state, State::Ended(Over::Aborted(reason.clone())));
            in_round!(before, |round| round.abort(&reason).told(), |_made| Ok(()), |_over| Ok(()))
        })
    }

    /// Lets the records go, so that another session can go on with them. Keys that are made stay.
    fn close(&self, py: Python<'_>) {
        py.detach(|| {
            let mut state = locked(&self.state);
            if !matches!(*state, State::Made(_) | State::Ended(_)) {
                *state = State::Ended(Over::Closed);
            }
        });
    }

    /// The keys of a session that made them: the public one, those for computing, and the secret of this party.
    fn keys(&self, py: Python<'_>) -> Option<(PublicKey, EvaluationKeys, PartySecret)> {
        let (public, evaluation, held) = self.look(py, |state| {
            let State::Made(made) = state else { return None };
            let JointKeysOf { public, evaluation, secret } = &made.keys;
            Some((Arc::clone(public), Arc::clone(evaluation), secret.clone()))
        })?;
        let (scheme, key) = (|| Arc::clone(&self.scheme), public.id());
        let secret =
            PartySecret { scheme: scheme(), roster: Arc::clone(&self.roster), me: self.me, key, held };
        let evaluation = EvaluationKeys::of(scheme(), evaluation, key);
        Some((PublicKey { scheme: scheme(), key: public }, evaluation, secret))
    }

    #[getter]
    fn missing(&self, py: Python<'_>) -> Vec<String> {
        self.look(py, |state| {
            in_round!(state, |round| names(&self.roster, &round.missing()), |_made| Vec::new(), |_over| {
                Vec::new()
            })
        })
    }

    #[getter]
    fn received(&self, py: Python<'_>) -> usize {
        self.look(py, |state| in_round!(state, |round| round.received(), |_made| 0, |_over| 0))
    }

    /// The number and the name of the round; None once there is none.
    #[getter]
    fn step(&self, py: Python<'_>) -> Option<(u64, String)> {
        self.look(py, |state| {
            let step = in_round!(state, |round| round.step(), |_made| return None, |_over| return None);
            Some((step.round(), step.kind().to_string()))
        })
    }

    #[getter]
    fn longest_message(&self, py: Python<'_>) -> u64 {
        self.look(py, |state| in_round!(state, |round| round.longest_message(), |_made| 0, |_over| 0))
    }

    #[getter]
    fn done(&self, py: Python<'_>) -> bool {
        self.look(py, |state| matches!(state, State::Made(_)))
    }

    /// The channel of the session, and the most bytes of its messages.
    fn channel<'py>(&self, py: Python<'py>) -> (Bound<'py, PyBytes>, u64) {
        let (number, longest) = &self.channel;
        (PyBytes::new(py, number), *longest)
    }

    /// The name of the session, equal for all parties.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let (me, name) = (self.roster.name(self.me), self.name.get(..8).unwrap_or_default());
        let place = self.look(py, |state| {
            in_round!(state, |round| round.step().to_string(), |_made| "keys made".to_owned(), |over| over
                .to_string())
        });
        format!("<session {name} of party {me}: {place}>")
    }
}

impl PartyKeySession {
    fn party(&self, py: Python<'_>, name: &str) -> PyResult<Party> {
        self.roster.named(name).map_err(|error| Failure::party(error).raise(py))
    }
}
