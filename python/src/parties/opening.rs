//! Python class that collects the answers to a request and opens its ciphertext.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use sunzi_parties as parties;
use sunzi_parties::decryption::{Collector, Request};
use sunzi_rlwe::joint::JointContext as _;
use sunzi_rlwe::sharing::{DeclaredNoise, SharingPolicy};
use sunzi_rlwe::wire::from_bytes;

use super::{Roster, names, policy, receipt};
use crate::ciphertext::Ciphertext;
use crate::compute::run;
use crate::error::{Failure, Told as _};
use crate::plaintext::Plaintext;
use crate::scheme::{Cipher, Plain, Scheme, mixed};

/// Answers to the request of one ciphertext, and the result that they give.
enum State {
    Open(Box<Collector>),
    Opened(Plain),
    /// The end without a result.
    Spoilt,
}

/// The opening of one ciphertext by the answers of those who were asked.
#[pyclass(frozen, module = "sunzi._native")]
pub(crate) struct PartyOpening {
    scheme: Arc<Scheme>,
    value: Cipher,
    roster: Arc<parties::Roster>,
    request: Arc<Request>,
    policy: SharingPolicy,
    state: Arc<Mutex<State>>,
}

#[pymethods]
impl PartyOpening {
    /// Makes the empty collection of answers to a request.
    #[new]
    fn new(
        py: Python<'_>,
        ciphertext: &Ciphertext,
        roster: &Roster,
        request: Vec<u8>,
        queries: u64,
        statistical_bits: u32,
    ) -> PyResult<Self> {
        let (scheme, value) = (Arc::clone(ciphertext.scheme()), ciphertext.value());
        let roster = Arc::clone(&roster.inner);
        run(py, move || {
            let (policy, rlwe) = (policy(queries, statistical_bits)?, scheme.rlwe());
            let request: Request = from_bytes(rlwe, &request)?;
            let collector = Collector::new(rlwe.clone(), &roster, &request).told()?;
            let state = Arc::new(Mutex::new(State::Open(Box::new(collector))));
            Ok(Self { scheme, value, roster, request: Arc::new(request), policy, state })
        })
    }

    /// Takes an answer that came from a party, by what the channel says.
    fn receive(&self, py: Python<'_>, sender: &str, answer: Vec<u8>) -> PyResult<&'static str> {
        let sender = self.roster.named(sender).map_err(|error| Failure::party(error).raise(py))?;
        let state = Arc::clone(&self.state);
        run(py, move || match &mut *state.lock().unwrap_or_else(PoisonError::into_inner) {
            State::Open(collector) => collector.accept(sender, &answer).map(receipt).told(),
            State::Opened(_) => Ok("over"),
            State::Spoilt => Err(spoilt()),
        })
    }

    #[getter]
    fn missing(&self, py: Python<'_>) -> Vec<String> {
        py.detach(|| match &*self.state.lock().unwrap_or_else(PoisonError::into_inner) {
            State::Open(collector) => names(&self.roster, &collector.missing()),
            State::Opened(_) | State::Spoilt => Vec::new(),
        })
    }

    /// Opens the ciphertext once all answers are there.
    fn open(&self, py: Python<'_>) -> PyResult<Plaintext> {
        let (scheme, value, roster) =
            (Arc::clone(&self.scheme), self.value.clone(), Arc::clone(&self.roster));
        let (request, policy, state) = (Arc::clone(&self.request), self.policy, Arc::clone(&self.state));
        run(py, move || {
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            if let State::Open(collector) = &*state {
                collector.check_complete().told()?;
            }
            let opened = match std::mem::replace(&mut *state, State::Spoilt) {
                State::Open(collector) => opened(&scheme, &value, &roster, &request, policy, *collector)?,
                State::Opened(opened) => opened,
                State::Spoilt => return Err(spoilt()),
            };
            *state = State::Opened(opened.clone());
            Ok(Plaintext { scheme: Arc::clone(&scheme), value: opened })
        })
    }
}

fn spoilt() -> Failure {
    Failure::new(
        "PartySetting",
        "this opening failed before: make another one, parties give the same answers again",
    )
}

/// Opens a ciphertext by the shares of all who were asked.
fn opened(
    scheme: &Scheme,
    value: &Cipher,
    roster: &parties::Roster,
    request: &Request,
    policy: SharingPolicy,
    collector: Collector,
) -> Result<Plain, Failure> {
    let (quorum, shares) = (request.quorum(roster).told()?, collector.finish().told()?);
    let (noise, quorum) = (DeclaredNoise::from_bits(request.noise_bits()), quorum.as_ref());
    Ok(match (scheme, value) {
        (Scheme::Bfv(exact), Cipher::Bfv(c)) => {
            let context = exact.evaluator.context();
            Plain::Exact(Arc::new(context.open_shares(c, noise, policy, quorum, &shares)?))
        }
        (Scheme::Bgv(exact), Cipher::Bgv(c)) => {
            let context = exact.evaluator.context();
            Plain::Exact(Arc::new(context.open_shares(c, noise, policy, quorum, &shares)?))
        }
        (Scheme::Ckks(reals), Cipher::Ckks(c)) => {
            let context = reals.evaluator.context();
            Plain::Ckks(Arc::new(context.open_shares(c, noise, policy, quorum, &shares)?))
        }
        _ => return Err(mixed()),
    })
}
