//! Refreshes by shares for Python: requests, answers, and the class that puts answers together to a fresh ciphertext.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sunzi_parties as parties;
use sunzi_parties::decryption::{Decryptor, Request, Subject};
use sunzi_parties::operations::{Making, OperationCollector, OperationRequest, Refresh};
use sunzi_parties::{PartiesError, Party};
use sunzi_ring::{Evaluation, Poly};
use sunzi_rlwe::KeyId;
use sunzi_rlwe::joint::{ExactJointContext as _, JointContext as _, RefreshShare};
use sunzi_rlwe::randomness::from_os;
use sunzi_rlwe::sharing::{DeclaredNoise, SharingPolicy};
use sunzi_rlwe::wire::{from_bytes, to_bytes};

use super::{Records, Roster, names, policy, receipt};
use crate::ciphertext::Ciphertext;
use crate::compute::run;
use crate::error::{Failure, OrRaise as _, Told as _};
use crate::scheme::{Cipher, Scheme, mixed};

const REFRESH: &str = "refresh by shares";

/// A ciphertext as parties refresh it: its file, the part c_1 that is opened, the name of its key, and the level at which it is opened under some noise.
struct Refreshable {
    bytes: Vec<u8>,
    linear: Poly<Evaluation>,
    key: KeyId,
    level: usize,
}

impl Refreshable {
    /// Fails where a ciphertext has no room for what hides its noise.
    fn new(
        scheme: &Scheme,
        value: &Cipher,
        noise: DeclaredNoise,
        policy: SharingPolicy,
    ) -> Result<Self, Failure> {
        let level = level_of(scheme, value, noise, policy)?;
        let (bytes, linear, key) = match (scheme, value) {
            (Scheme::Bfv(exact), Cipher::Bfv(c)) => {
                let context = exact.evaluator.context();
                let opening = context.opening(c, noise, policy)?;
                let [_, linear] = opening.ciphertext.two_parts(REFRESH)?;
                (to_bytes(context, &**c)?, linear.clone(), c.key())
            }
            (Scheme::Bgv(exact), Cipher::Bgv(c)) => {
                let context = exact.evaluator.context();
                let opening = context.opening(c, noise, policy)?;
                let [_, linear] = opening.ciphertext.two_parts(REFRESH)?;
                (to_bytes(context, &**c)?, linear.clone(), c.key())
            }
            (Scheme::Ckks(reals), Cipher::Ckks(c)) => {
                let [_, linear] = c.two_parts(REFRESH)?;
                (to_bytes(reals.evaluator.context(), &**c)?, linear.clone(), c.key())
            }
            _ => return Err(mixed()),
        };
        Ok(Self { bytes, linear, key, level })
    }

    fn subject(&self) -> Subject<'_> {
        Subject { bytes: &self.bytes, linear: &self.linear, key: self.key }
    }
}

/// Returns the level at which a refresh opens a ciphertext.
fn level_of(
    scheme: &Scheme,
    value: &Cipher,
    noise: DeclaredNoise,
    policy: SharingPolicy,
) -> Result<usize, Failure> {
    Ok(match (scheme, value) {
        (Scheme::Bfv(exact), Cipher::Bfv(c)) => exact.evaluator.context().opening(c, noise, policy)?.level,
        (Scheme::Bgv(exact), Cipher::Bgv(c)) => exact.evaluator.context().opening(c, noise, policy)?.level,
        (Scheme::Ckks(reals), Cipher::Ckks(c)) => {
            reals.evaluator.context().flooded_refresh_level(c, noise, policy)?
        }
        _ => return Err(mixed()),
    })
}

/// A request of a refresh, and the ciphertext that a party has.
pub(super) struct Asked {
    scheme: Arc<Scheme>,
    value: Cipher,
    request: OperationRequest<Refresh>,
    refreshable: Refreshable,
}

impl Asked {
    /// Reads a request for a ciphertext, whose noise this party declares.
    pub(super) fn new(
        (scheme, value): (&Arc<Scheme>, &Cipher),
        request: &[u8],
        noise: DeclaredNoise,
        policy: SharingPolicy,
    ) -> Result<Self, Failure> {
        let request: OperationRequest<Refresh> = from_bytes(scheme.rlwe(), request)?;
        let refreshable = Refreshable::new(scheme, value, noise, policy)?;
        Ok(Self { scheme: Arc::clone(scheme), value: value.clone(), request, refreshable })
    }

    /// Fails where the noise of the request opens the ciphertext at another level than the declared one: shares of several levels are of no use.
    fn check_level(&self, policy: SharingPolicy) -> Result<(), Failure> {
        let asked = DeclaredNoise::from_bits(self.request.request().noise_bits());
        let (own, got) = (self.refreshable.level, level_of(&self.scheme, &self.value, asked, policy)?);
        if own == got {
            return Ok(());
        }
        let expected = format!("{own}, by the declared noise");
        let got = format!("{got}, by the 2^{:.1} of the request", asked.bits());
        let what = "the level at which the ciphertext is opened";
        Err(Failure::party(PartiesError::Refused { what, expected, got }))
    }
}

/// Answers requests of refreshes: a message for each. All are looked at before one is answered.
pub(super) fn answered(
    decryptor: &mut Decryptor<Records>,
    asked: &[Asked],
    noise: DeclaredNoise,
) -> Result<Vec<Vec<u8>>, Failure> {
    let policy = decryptor.ledger().ledger().policy();
    let mut reviewed = Vec::new();
    for one in asked {
        let subject = one.refreshable.subject();
        reviewed.push(decryptor.review_operation(&one.request, subject, noise, &()).told()?);
        one.check_level(policy)?;
    }
    let mut answers = Vec::new();
    for (one, reviewed) in asked.iter().zip(reviewed) {
        let make = |making: &Making<'_>| match share(&one.scheme, &one.value, making) {
            Ok(share) => Ok(share.into()),
            Err(failure) => Err(Unmade(failure)),
        };
        let given = decryptor.answer_operation(reviewed, make).map_err(|Unmade(failure)| failure)?;
        answers.push(given.message);
    }
    Ok(answers)
}

/// Failure of an answer: errors of the protocol have classes of their own.
struct Unmade(Failure);

impl From<PartiesError> for Unmade {
    fn from(error: PartiesError) -> Self {
        Self(Failure::party(error))
    }
}

/// Makes this party's share of a refresh. In CKKS the noise of before becomes part of the message, hidden by flooding noise as in an opened result.
fn share(scheme: &Scheme, value: &Cipher, making: &Making<'_>) -> Result<RefreshShare, Failure> {
    let Making { declared, policy, seed, secret } = making;
    let rng = &mut from_os()?;
    Ok(match (scheme, value) {
        (Scheme::Bfv(exact), Cipher::Bfv(c)) => {
            exact.evaluator.context().refresh_share(c, *declared, *policy, secret, seed, rng)?
        }
        (Scheme::Bgv(exact), Cipher::Bgv(c)) => {
            exact.evaluator.context().refresh_share(c, *declared, *policy, secret, seed, rng)?
        }
        (Scheme::Ckks(reals), Cipher::Ckks(c)) => {
            reals.evaluator.context().flooded_refresh_share(c, *declared, *policy, secret, seed, rng)?
        }
        _ => return Err(mixed()),
    })
}

/// Makes the request to refresh a ciphertext whose noise may be 2^noise, of the parties of these names.
#[pyfunction]
#[pyo3(signature = (ciphertext, roster, members, noise, queries, statistical_bits, program, purpose))]
#[expect(
    clippy::too_many_arguments,
    reason = "all of them stand in a request, or decide whether there is room"
)]
pub(crate) fn refresh_request<'py>(
    py: Python<'py>,
    ciphertext: &Ciphertext,
    roster: &Roster,
    members: Vec<String>,
    noise: f64,
    queries: u64,
    statistical_bits: u32,
    program: [u8; 32],
    purpose: String,
) -> PyResult<Bound<'py, PyBytes>> {
    let (scheme, value) = (Arc::clone(ciphertext.scheme()), ciphertext.value());
    let members: Vec<Party> =
        members.iter().map(|name| roster.inner.named(name).told().or_raise(py)).collect::<PyResult<_>>()?;
    let roster = Arc::clone(&roster.inner);
    let bytes = run(py, move || {
        let (rlwe, noise) = (scheme.rlwe(), DeclaredNoise::from_bits(noise));
        let refreshable = Refreshable::new(&scheme, &value, noise, policy(queries, statistical_bits)?)?;
        let subject = refreshable.subject();
        let request = Request::new(rlwe, subject, noise.bits(), members, program, purpose).told()?;
        // What no party would answer is not asked.
        request.members(&roster).told()?;
        Ok(to_bytes(rlwe, &OperationRequest::<Refresh>::new(rlwe, request, &()).told()?)?)
    })?;
    Ok(PyBytes::new(py, &bytes))
}

/// Answers to the request of one ciphertext, and the fresh one that they give.
enum State {
    Open(Box<OperationCollector<Refresh>>),
    Refreshed(Cipher),
    /// The end without a result.
    Spoilt,
}

/// The refresh of one ciphertext by the answers of those who were asked.
#[pyclass(frozen, module = "sunzi._native")]
pub(crate) struct PartyRefreshing {
    scheme: Arc<Scheme>,
    value: Cipher,
    roster: Arc<parties::Roster>,
    request: Arc<OperationRequest<Refresh>>,
    policy: SharingPolicy,
    state: Arc<Mutex<State>>,
}

#[pymethods]
impl PartyRefreshing {
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
            let request: OperationRequest<Refresh> = from_bytes(rlwe, &request)?;
            let collector = OperationCollector::new(rlwe.clone(), &roster, &request).told()?;
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
            State::Refreshed(_) => Ok("over"),
            State::Spoilt => Err(spoilt()),
        })
    }

    #[getter]
    fn missing(&self, py: Python<'_>) -> Vec<String> {
        py.detach(|| match &*self.state.lock().unwrap_or_else(PoisonError::into_inner) {
            State::Open(collector) => names(&self.roster, &collector.missing()),
            State::Refreshed(_) | State::Spoilt => Vec::new(),
        })
    }

    /// Returns the fresh ciphertext once all answers are there.
    fn refreshed(&self, py: Python<'_>) -> PyResult<Ciphertext> {
        let (scheme, value, roster) =
            (Arc::clone(&self.scheme), self.value.clone(), Arc::clone(&self.roster));
        let (request, policy, state) = (Arc::clone(&self.request), self.policy, Arc::clone(&self.state));
        let fresh = run(py, move || {
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            if let State::Open(collector) = &*state {
                collector.check_complete().told()?;
            }
            let fresh = match std::mem::replace(&mut *state, State::Spoilt) {
                State::Open(collector) => {
                    refreshed((&scheme, &value), &roster, request.request(), policy, *collector)?
                }
                State::Refreshed(fresh) => fresh,
                State::Spoilt => return Err(spoilt()),
            };
            *state = State::Refreshed(fresh.clone());
            Ok(fresh)
        })?;
        Ok(Ciphertext::new(&self.scheme, fresh))
    }
}

fn spoilt() -> Failure {
    Failure::new(
        "PartySetting",
        "this refresh failed before: make another one, parties give the same answers again",
    )
}

/// Returns the fresh ciphertext of the shares of all who were asked.
fn refreshed(
    (scheme, value): (&Scheme, &Cipher),
    roster: &parties::Roster,
    request: &Request,
    policy: SharingPolicy,
    collector: OperationCollector<Refresh>,
) -> Result<Cipher, Failure> {
    let (quorum, seed) = (request.quorum(roster).told()?, *collector.seed());
    let (shares, quorum) = (collector.finish().told()?, quorum.as_ref());
    let noise = DeclaredNoise::from_bits(request.noise_bits());
    Ok(match (scheme, value) {
        (Scheme::Bfv(exact), Cipher::Bfv(c)) => {
            exact.evaluator.context().refresh(c, noise, policy, quorum, &seed, &shares)?.into()
        }
        (Scheme::Bgv(exact), Cipher::Bgv(c)) => {
            exact.evaluator.context().refresh(c, noise, policy, quorum, &seed, &shares)?.into()
        }
        (Scheme::Ckks(reals), Cipher::Ckks(c)) => {
            reals.evaluator.context().flooded_refresh(c, noise, policy, quorum, &seed, &shares)?.into()
        }
        _ => return Err(mixed()),
    })
}
