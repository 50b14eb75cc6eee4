//! Python class of a party that answers requests, and what requests say.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sunzi_parties as parties;
use sunzi_parties::Message;
use sunzi_parties::decryption::{Decryptor, Request};
use sunzi_parties::operations::{Additive, Operation as _, Refresh, Switch};
use sunzi_rlwe::RlweContext;
use sunzi_rlwe::randomness::from_os;
use sunzi_rlwe::sharing::{DeclaredNoise, LedgerFile, SharingLedger, SharingPolicy};
use sunzi_rlwe::wire::{Header, Kind, from_bytes};

use super::opening::Open;
use super::secret::PartySecret;
use super::work::{Case, Part, Work};
use super::{Over, Records, Roster, additive, policy};
use crate::ciphertext::Ciphertext;
use crate::compute::run;
use crate::context::Context;
use crate::error::{Failure, OrRaise as _, Told as _};
use crate::keys::PublicKey;
use crate::plaintext::Plaintext;

/// A party that answers requests by its shares, each of which its ledger counts.
#[pyclass(frozen, module = "sunzi._native")]
pub(crate) struct PartyDecryptor {
    pub(super) policy: SharingPolicy,
    /// `None` once it was closed.
    pub(super) decryptor: Arc<Mutex<Option<Decryptor<Records>>>>,
}

/// Does something with a decryptor that is not closed.
pub(super) fn opened<T>(
    decryptor: &Mutex<Option<Decryptor<Records>>>,
    work: impl FnOnce(&mut Decryptor<Records>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    match &mut *decryptor.lock().unwrap_or_else(PoisonError::into_inner) {
        Some(decryptor) => work(decryptor),
        None => Err(Over::Closed.error()),
    }
}

#[pymethods]
impl PartyDecryptor {
    /// Makes the party, with shares and a new ledger in memory, which goes on from `used` results, or with those of a folder and a file.
    #[new]
    #[pyo3(signature = (secret, queries, statistical_bits, files=None, used=0))]
    fn new(
        py: Python<'_>,
        secret: &PartySecret,
        queries: u64,
        statistical_bits: u32,
        files: Option<(PathBuf, PathBuf)>,
        used: u64,
    ) -> PyResult<Self> {
        let (scheme, roster, held) =
            (Arc::clone(&secret.scheme), Arc::clone(&secret.roster), secret.held.clone());
        let (me, key) = (secret.me, secret.key);
        run(py, move || {
            let policy = policy(queries, statistical_bits)?;
            let (ledger, folder) = match files {
                Some((ledger, folder)) => (LedgerFile::begin(ledger, key, policy)?, Some(folder)),
                None => {
                    let ledger = SharingLedger::new(scheme.fingerprint(), key, policy).taken_over(used)?;
                    (LedgerFile::in_memory(ledger), None)
                }
            };
            let (policy, rlwe) = (ledger.ledger().policy(), scheme.rlwe().clone());
            let holding = held.holding(&scheme)?;
            let decryptor =
                Decryptor::new(rlwe, roster, me, holding, ledger, Records::open(folder)?).told()?;
            Ok(Self { policy, decryptor: Arc::new(Mutex::new(Some(decryptor))) })
        })
    }

    /// Answers requests for ciphertexts whose noise is at most 2^noise by what this party knows: a message for each. All are looked at before one is answered.
    fn answer<'py>(
        &self,
        py: Python<'py>,
        ciphertexts: Vec<PyRef<'_, Ciphertext>>,
        requests: Vec<Vec<u8>>,
        noise: f64,
    ) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let cases: Vec<Case> = ciphertexts.iter().map(|one| Case::of(one)).collect();
        let (decryptor, policy) = (Arc::clone(&self.decryptor), self.policy);
        let answers = run(py, move || {
            let noise = DeclaredNoise::from_bits(noise);
            let mut asked: Vec<(Request, Part)> = Vec::new();
            for (case, request) in cases.iter().zip(&requests) {
                asked.push((from_bytes(case.rlwe(), request)?, Open::part(case, noise, policy)?));
            }
            opened(&decryptor, |decryptor| {
                let mut reviewed = Vec::new();
                for (request, part) in &asked {
                    reviewed.push(decryptor.review(request, part.subject(), noise).told()?);
                }
                let rng = &mut from_os()?;
                let answers = reviewed.into_iter().map(|one| decryptor.answer(one, rng).told());
                answers.collect::<Result<Vec<_>, _>>()
            })
        })?;
        Ok(answers.iter().map(|answer| PyBytes::new(py, answer)).collect())
    }

    /// Answers requests to refresh ciphertexts whose noise is at most 2^noise by what this party knows: a message for each. All are looked at before one is answered.
    fn refresh<'py>(
        &self,
        py: Python<'py>,
        ciphertexts: Vec<PyRef<'_, Ciphertext>>,
        requests: Vec<Vec<u8>>,
        noise: f64,
    ) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let answers = self.operate::<Refresh>(py, &ciphertexts, requests, noise, Arc::new(()))?;
        Ok(answers.iter().map(|answer| PyBytes::new(py, &answer.message)).collect())
    }

    /// Answers requests to switch ciphertexts, whose noise is at most 2^noise by what this party knows, to a public key: a message for each. All are looked at before one is
    /// answered.
    fn switch<'py>(
        &self,
        py: Python<'py>,
        ciphertexts: Vec<PyRef<'_, Ciphertext>>,
        requests: Vec<Vec<u8>>,
        noise: f64,
        target: &PublicKey,
    ) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let answers = self.operate::<Switch>(py, &ciphertexts, requests, noise, Arc::clone(&target.key))?;
        Ok(answers.iter().map(|answer| PyBytes::new(py, &answer.message)).collect())
    }

    /// Answers requests of additive shares of ciphertexts whose noise is at most 2^noise by what this party knows: for each a message, and the share that this party keeps. All are
    /// looked at before one is answered.
    fn share_additively<'py>(
        &self,
        py: Python<'py>,
        ciphertexts: Vec<PyRef<'_, Ciphertext>>,
        requests: Vec<Vec<u8>>,
        noise: f64,
    ) -> PyResult<Vec<(Bound<'py, PyBytes>, Plaintext)>> {
        let answers = self.operate::<Additive>(py, &ciphertexts, requests, noise, Arc::new(()))?;
        let pairs = ciphertexts.iter().zip(&answers).map(|(ciphertext, answer)| {
            let own = additive::kept(ciphertext.scheme(), &answer.own).or_raise(py)?;
            Ok((PyBytes::new(py, &answer.message), own))
        });
        pairs.collect()
    }

    #[getter]
    fn queries(&self) -> u64 {
        self.policy.queries()
    }

    #[getter]
    fn statistical_bits(&self) -> u32 {
        self.policy.statistical_bits()
    }

    #[getter]
    fn used(&self, py: Python<'_>) -> PyResult<u64> {
        let used = py.detach(|| opened(&self.decryptor, |decryptor| Ok(decryptor.ledger().ledger().used())));
        used.or_raise(py)
    }

    /// Lets the secret and the files go.
    fn close(&self, py: Python<'_>) {
        py.detach(|| drop(self.decryptor.lock().unwrap_or_else(PoisonError::into_inner).take()));
    }
}

/// Reads what a request of some work says of the ciphertext, its noise and the parties.
fn terms<W: Work>(rlwe: &RlweContext, bytes: &[u8]) -> Result<Request, Failure> {
    Ok(W::terms(&W::read(rlwe, bytes)?).clone())
}

/// Operation, purpose, log2 of the noise, names of the parties, and hash of the program.
type Said<'py> = (&'static str, String, f64, Vec<String>, Bound<'py, PyBytes>);

/// Reads what a request says, whatever is asked for.
#[pyfunction]
pub(crate) fn read_party_request<'py>(
    py: Python<'py>,
    context: &Context,
    roster: &Roster,
    request: Vec<u8>,
) -> PyResult<Said<'py>> {
    let (scheme, roster) = (Arc::clone(&context.scheme), Arc::clone(&roster.inner));
    let (operation, request, members) = run(py, move || {
        let (rlwe, kind) = (scheme.rlwe(), Header::read(&mut &request[..])?.kind);
        let (operation, request) = match Kind::of(kind) {
            Some(Kind::RefreshRequest) => ("refresh", terms::<Refresh>(rlwe, &request)?),
            Some(Kind::SwitchRequest) => ("switch", terms::<Switch>(rlwe, &request)?),
            Some(Kind::AdditiveRequest) => ("share", terms::<Additive>(rlwe, &request)?),
            _ => ("open", terms::<Open>(rlwe, &request)?),
        };
        let members = request.members(&roster).told()?;
        Ok((operation, request, super::names(&roster, &members)))
    })?;
    let program = PyBytes::new(py, request.program());
    Ok((operation, request.description().to_owned(), request.noise_bits(), members, program))
}

/// Returns the channel on which the parties of a joint key ask one another, and the most bytes of a request or an answer for one ciphertext.
#[pyfunction]
pub(crate) fn request_channel<'py>(
    py: Python<'py>,
    public: &PublicKey,
) -> PyResult<(Bound<'py, PyBytes>, u64)> {
    let rlwe = public.scheme.rlwe();
    let opening = parties::decryption::longest_message(rlwe).told().or_raise(py)?;
    // The answer to a request of a refresh has two polynomials, as that of a switch.
    let refresh = Message::bytes(Refresh::most(rlwe, rlwe.level()).told().or_raise(py)?);
    Ok((PyBytes::new(py, &parties::decryption::channel(public.key.id())), opening.max(refresh)))
}
