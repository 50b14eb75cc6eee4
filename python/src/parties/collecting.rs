//! The collection of answers to the request for one ciphertext, whatever is asked for.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use sunzi_parties::{self as parties, PartiesError};
use sunzi_rlwe::sharing::{DeclaredNoise, SharingPolicy};

use super::work::{Case, Shared, Work};
use super::{Roster, names, policy, receipt};
use crate::ciphertext::Ciphertext;
use crate::compute::run;
use crate::error::{Failure, Told as _};
use crate::scheme::Scheme;

/// Answers to the request of one ciphertext, and the result that they give.
enum State<W: Work> {
    Open(Box<W::Answers>),
    Given(W::Given),
    /// The end without a result.
    Spoilt,
}

/// The answers of those who were asked for one ciphertext.
pub(super) struct Collection<W: Work> {
    case: Case,
    roster: Arc<parties::Roster>,
    request: Arc<W::Request>,
    target: Arc<W::Target>,
    policy: SharingPolicy,
    state: Arc<Mutex<State<W>>>,
}

/// Takes the lock of a state, also where a thread that had it panicked.
fn locked<W: Work>(state: &Mutex<State<W>>) -> MutexGuard<'_, State<W>> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<W: Work> Collection<W> {
    /// Makes the empty collection of answers to a request, whose result is for a target, under a policy of shared results and statistical bits.
    pub(super) fn new(
        py: Python<'_>,
        ciphertext: &Ciphertext,
        roster: &Roster,
        (request, target): (Vec<u8>, Arc<W::Target>),
        (queries, statistical_bits): (u64, u32),
    ) -> PyResult<Self> {
        let (case, roster) = (Case::of(ciphertext), Arc::clone(&roster.inner));
        run(py, move || {
            let (policy, rlwe, bytes) = (policy(queries, statistical_bits)?, case.rlwe(), request);
            let request = W::read(rlwe, &bytes)?;
            if W::asked(rlwe, W::terms(&request).clone(), &target)? != bytes {
                return Err(other_target());
            }
            let answers = W::answers(rlwe, &roster, &request)?;
            let state = Arc::new(Mutex::new(State::Open(Box::new(answers))));
            Ok(Self { case, roster, request: Arc::new(request), target, policy, state })
        })
    }

    /// The scheme of the ciphertext.
    pub(super) fn scheme(&self) -> &Arc<Scheme> {
        &self.case.scheme
    }

    /// Takes an answer that came from a party, by what the channel says.
    pub(super) fn receive(&self, py: Python<'_>, sender: &str, answer: Vec<u8>) -> PyResult<&'static str> {
        let sender = self.roster.named(sender).map_err(|error| Failure::party(error).raise(py))?;
        let state = Arc::clone(&self.state);
        run(py, move || match &mut *locked(&state) {
            State::Open(answers) => answers.accept(sender, &answer).map(receipt).told(),
            State::Given(_) => Ok("over"),
            State::Spoilt => Err(spoilt::<W>()),
        })
    }

    /// Returns the names of those whose answers did not come yet.
    pub(super) fn missing(&self, py: Python<'_>) -> Vec<String> {
        py.detach(|| match &*locked(&self.state) {
            State::Open(answers) => names(&self.roster, &answers.missing()),
            State::Given(_) | State::Spoilt => Vec::new(),
        })
    }

    /// Returns what the answers give, once all are there.
    pub(super) fn given(&self, py: Python<'_>) -> PyResult<W::Given> {
        let (case, roster, policy) = (self.case.clone(), Arc::clone(&self.roster), self.policy);
        let (request, target) = (Arc::clone(&self.request), Arc::clone(&self.target));
        let state = Arc::clone(&self.state);
        run(py, move || {
            let mut state = locked(&state);
            if let State::Open(answers) = &*state {
                answers.check_complete().told()?;
            }
            let given = match std::mem::replace(&mut *state, State::Spoilt) {
                State::Open(answers) => {
                    let terms = W::terms(&request);
                    let quorum = terms.quorum(&roster).told()?;
                    let noise = DeclaredNoise::from_bits(terms.noise_bits());
                    let quorum = quorum.as_ref();
                    W::given(&Shared { case: &case, noise, policy, quorum }, &target, *answers)?
                }
                State::Given(given) => given,
                State::Spoilt => return Err(spoilt::<W>()),
            };
            *state = State::Given(given.clone());
            Ok(given)
        })
    }
}

/// Makes the Python class of the answers to the request for one ciphertext. A class of Python cannot be generic: this one has the constructor and the methods of
/// [`Collection`], and a method for the result.
macro_rules! collection_class {
    (
        $(#[$about:meta])*
        $name:ident($work:ty $(, $target:ident: &$class:ty)?) for $for_whom:expr;
        $(#[$result:meta])*
        $give:ident -> $given:ty
    ) => {
        $(#[$about])*
        #[pyclass(frozen, module = "sunzi._native")]
        pub(crate) struct $name($crate::parties::collecting::Collection<$work>);

        #[pymethods]
        impl $name {
            /// Makes the empty collection of answers to a request.
            #[new]
            fn new(
                py: Python<'_>,
                ciphertext: &$crate::ciphertext::Ciphertext,
                roster: &$crate::parties::Roster,
                request: Vec<u8>,
                queries: u64,
                statistical_bits: u32,
                $($target: &$class,)?
            ) -> PyResult<Self> {
                let (asked, policy) = ((request, $for_whom), (queries, statistical_bits));
                $crate::parties::collecting::Collection::new(py, ciphertext, roster, asked, policy).map(Self)
            }

            fn receive(&self, py: Python<'_>, sender: &str, answer: Vec<u8>) -> PyResult<&'static str> {
                self.0.receive(py, sender, answer)
            }

            #[getter]
            fn missing(&self, py: Python<'_>) -> Vec<String> {
                self.0.missing(py)
            }

            $(#[$result])*
            fn $give(&self, py: Python<'_>) -> PyResult<$given> {
                Ok(<$given>::new(self.0.scheme(), self.0.given(py)?))
            }
        }
    };
}
pub(super) use collection_class;

fn spoilt<W: Work>() -> Failure {
    let message =
        format!("this {} failed before: make another one, parties give the same answers again", W::NAME);
    Failure::new("PartySetting", message)
}

/// Error of a request whose result is for somebody else.
pub(super) fn other_target() -> Failure {
    Failure::party(PartiesError::Refused {
        what: "whom the result is for",
        expected: "the public key that is given".to_owned(),
        got: "another one".to_owned(),
    })
}
