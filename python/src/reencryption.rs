//! Python classes of re-encryption: the public key of a new owner, and the key of a proxy with its ledger.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sunzi_program::contexts::Proxy;
use sunzi_program::results::ResultsReader;
use sunzi_rlwe::randomness::from_os;
use sunzi_rlwe::reencryption::{ReencryptionContext, Reencryptions};
use sunzi_rlwe::wire::{self, WireError};
use sunzi_rlwe::{Ciphertext as Of, Homomorphic, LedgerFile, RlweContext, SharingLedger, SharingPolicy};
use sunzi_table::in_memory::Keys;

use crate::ciphertext::Ciphertext;
use crate::compute::run;
use crate::context::Context;
use crate::error::Failure;
use crate::keys::{SecretKey, short};
use crate::scheme::{Cipher, Scheme};
use crate::table::{TableKeys, TableResults};

/// Public key for re-encryption of any exact scheme: results are handed on to its owner.
#[pyclass(frozen, module = "sunzi._native")]
pub(crate) struct ReencryptionPublicKey {
    context: RlweContext,
    key: Arc<sunzi_rlwe::ReencryptionPublicKey>,
}

impl ReencryptionPublicKey {
    fn read(context: &RlweContext, bytes: &[u8]) -> Result<Self, Failure> {
        let key = Arc::new(wire::from_bytes(context, bytes)?);
        Ok(Self { context: context.clone(), key })
    }

    pub(crate) fn made(context: &RlweContext, secret: &sunzi_rlwe::SecretKey) -> Result<Self, Failure> {
        let key = sunzi_rlwe::ReencryptionPublicKey::generate(context, secret, &mut from_os()?)?;
        Ok(Self { context: context.clone(), key: Arc::new(key) })
    }
}

#[pymethods]
impl ReencryptionPublicKey {
    /// Makes the public key of an owner of arrays.
    #[staticmethod]
    fn generate(py: Python<'_>, secret: &SecretKey) -> PyResult<Self> {
        let (scheme, secret) = (Arc::clone(&secret.scheme), Arc::clone(&secret.key));
        run(py, move || {
            check_scheme(&scheme)?;
            Self::made(scheme.rlwe(), &secret)
        })
    }

    /// Makes the public key of an owner of results of programs on tables.
    #[staticmethod]
    fn of_tables(py: Python<'_>, keys: &TableKeys) -> PyResult<Self> {
        let held = keys.held();
        run(py, move || {
            held.contexts.check_reencryption()?;
            Self::made(held.contexts.rlwe(), owner(&held)?)
        })
    }

    /// Reads a public key for the parameters of a context.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, context: &Context, bytes: Vec<u8>) -> PyResult<Self> {
        let scheme = Arc::clone(&context.scheme);
        run(py, move || Self::read(scheme.rlwe(), &bytes))
    }

    /// Reads a public key for the parameters of keys of tables.
    #[staticmethod]
    fn from_bytes_of_tables(py: Python<'_>, keys: &TableKeys, bytes: Vec<u8>) -> PyResult<Self> {
        let held = keys.held();
        run(py, move || Self::read(held.contexts.rlwe(), &bytes))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let (context, key) = (self.context.clone(), Arc::clone(&self.key));
        let bytes = run(py, move || Ok(wire::to_bytes(&context, &*key)?))?;
        Ok(PyBytes::new(py, &bytes))
    }

    #[getter]
    fn id(&self) -> String {
        self.key.id().to_string()
    }

    #[getter]
    fn fingerprint(&self, py: Python<'_>) -> PyResult<String> {
        let (context, key) = (self.context.clone(), Arc::clone(&self.key));
        run(py, move || Ok(key.fingerprint(&context)?))
    }
}

/// Re-encryption key from one owner to another, for a proxy, and the ledger that counts.
#[pyclass(frozen, module = "sunzi._native")]
pub(crate) struct ReencryptionKey {
    context: RlweContext,
    key: Arc<sunzi_rlwe::ReencryptionKey>,
    /// Ledger, locked while a ciphertext is handed on: they are counted one after the other.
    ledger: Arc<Mutex<LedgerFile>>,
}

/// Where a new ledger is, and its policy: results and statistical bits.
type Counting = (u64, u32, Option<PathBuf>);

impl ReencryptionKey {
    fn made(
        context: &RlweContext,
        secret: &sunzi_rlwe::SecretKey,
        target: &sunzi_rlwe::ReencryptionPublicKey,
        (queries, bits, path): Counting,
    ) -> Result<Self, Failure> {
        let policy = SharingPolicy::new(bits, queries)?;
        let key = sunzi_rlwe::ReencryptionKey::generate(context, secret, target, &mut from_os()?)?;
        let ledger = SharingLedger::new(context.fingerprint(), key.source(), policy);
        let ledger = match path {
            Some(path) => LedgerFile::create(path, ledger)?,
            None => LedgerFile::in_memory(ledger),
        };
        Ok(Self { context: context.clone(), key: Arc::new(key), ledger: Arc::new(Mutex::new(ledger)) })
    }

    fn read(context: &RlweContext, bytes: &[u8], path: PathBuf) -> Result<Self, Failure> {
        let key: sunzi_rlwe::ReencryptionKey = wire::from_bytes(context, bytes)?;
        let ledger = LedgerFile::open(path)?;
        let (expected, got) = (key.source(), ledger.ledger().key());
        if expected != got {
            return Err(WireError::Key { expected: Some(expected), got: Some(got) }.into());
        }
        Ok(Self { context: context.clone(), key: Arc::new(key), ledger: Arc::new(Mutex::new(ledger)) })
    }
}

#[pymethods]
impl ReencryptionKey {
    /// Makes the key from an owner of arrays to the owner of a public key, and its ledger, in a new file unless there is no path.
    #[staticmethod]
    #[pyo3(signature = (secret, target, queries, statistical_bits, path=None))]
    fn generate(
        py: Python<'_>,
        secret: &SecretKey,
        target: &ReencryptionPublicKey,
        queries: u64,
        statistical_bits: u32,
        path: Option<PathBuf>,
    ) -> PyResult<Self> {
        let (scheme, secret) = (Arc::clone(&secret.scheme), Arc::clone(&secret.key));
        let target = Arc::clone(&target.key);
        run(py, move || {
            check_scheme(&scheme)?;
            Self::made(scheme.rlwe(), &secret, &target, (queries, statistical_bits, path))
        })
    }

    /// Makes the key from an owner of results of programs on tables.
    #[staticmethod]
    #[pyo3(signature = (keys, target, queries, statistical_bits, path=None))]
    fn of_tables(
        py: Python<'_>,
        keys: &TableKeys,
        target: &ReencryptionPublicKey,
        queries: u64,
        statistical_bits: u32,
        path: Option<PathBuf>,
    ) -> PyResult<Self> {
        let (held, target) = (keys.held(), Arc::clone(&target.key));
        run(py, move || {
            held.contexts.check_reencryption()?;
            Self::made(held.contexts.rlwe(), owner(&held)?, &target, (queries, statistical_bits, path))
        })
    }

    /// Reads a key for the parameters of a context, and opens its ledger.
    #[staticmethod]
    fn from_export(py: Python<'_>, context: &Context, bytes: Vec<u8>, path: PathBuf) -> PyResult<Self> {
        let (scheme, bytes) = (Arc::clone(&context.scheme), zeroize::Zeroizing::new(bytes));
        run(py, move || Self::read(scheme.rlwe(), &bytes, path))
    }

    /// Reads a key for the parameters of keys of tables, and opens its ledger.
    #[staticmethod]
    fn from_export_of_tables(
        py: Python<'_>,
        keys: &TableKeys,
        bytes: Vec<u8>,
        path: PathBuf,
    ) -> PyResult<Self> {
        let (held, bytes) = (keys.held(), zeroize::Zeroizing::new(bytes));
        run(py, move || Self::read(held.contexts.rlwe(), &bytes, path))
    }

    /// Returns the bytes of the key, by explicit request.
    fn export<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let (context, key) = (self.context.clone(), Arc::clone(&self.key));
        let bytes = run(py, move || Ok(zeroize::Zeroizing::new(wire::to_bytes(&context, &*key)?)))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Hands ciphertexts on, all of which are checked before any is counted.
    fn reencrypt(
        &self,
        py: Python<'_>,
        ciphertexts: Vec<PyRef<'_, Ciphertext>>,
        further: u32,
    ) -> PyResult<Vec<Ciphertext>> {
        let given: Vec<(Arc<Scheme>, Cipher)> =
            ciphertexts.iter().map(|one| (Arc::clone(one.scheme()), one.value())).collect();
        let (key, ledger) = (Arc::clone(&self.key), Arc::clone(&self.ledger));
        run(py, move || {
            let mut ledger = locked(&ledger);
            let policy = ledger.ledger().policy();
            let asked = Reencryptions { hops: further.saturating_add(1), policy };
            for (scheme, value) in &given {
                check(scheme, value, &key, asked)?;
            }
            check_left(&ledger, given.len() as u64)?;
            given.into_iter().map(|(scheme, value)| one(&scheme, &value, &key, asked, &mut ledger)).collect()
        })
    }

    /// Hands results of a program on a table on, which are checked before anything is counted.
    fn reencrypt_results(
        &self,
        py: Python<'_>,
        keys: &TableKeys,
        results: &TableResults,
        further: u32,
    ) -> PyResult<TableResults> {
        let (held, bytes) = (keys.held(), results.bytes());
        let (key, ledger) = (Arc::clone(&self.key), Arc::clone(&self.ledger));
        run(py, move || {
            let mut ledger = locked(&ledger);
            let reader = || ResultsReader::open(&held.contexts, &bytes[..]);
            let proxy = Proxy::new(&key, &mut ledger, further)?;
            let count = reader()?.check_reencryptable::<Stopped>(&proxy).map_err(|stopped| stopped.0)?;
            check_left(&ledger, count)?;
            let (mut proxy, mut out) = (Proxy::new(&key, &mut ledger, further)?, Vec::new());
            let done = reader()?.reencrypt::<Stopped>(&mut proxy, &mut out, &|| ());
            done.map_err(|stopped| stopped.0)?;
            Ok(TableResults::of(out))
        })
    }

    #[getter]
    fn source(&self) -> String {
        self.key.source().to_string()
    }

    #[getter]
    fn target(&self) -> String {
        self.key.target().to_string()
    }

    #[getter]
    fn nbytes(&self) -> usize {
        self.key.byte_len()
    }

    #[getter]
    fn queries(&self) -> u64 {
        locked(&self.ledger).ledger().policy().queries()
    }

    #[getter]
    fn statistical_bits(&self) -> u32 {
        locked(&self.ledger).ledger().policy().statistical_bits()
    }

    #[getter]
    fn used(&self) -> u64 {
        locked(&self.ledger).ledger().used()
    }

    fn __repr__(&self) -> String {
        let (from, to) = (short(self.key.source()), short(self.key.target()));
        format!("<re-encryption key {from} to {to}: {} of {} used>", self.used(), self.queries())
    }
}

/// Reason why results were not handed on.
struct Stopped(Failure);

impl From<WireError> for Stopped {
    fn from(error: WireError) -> Self {
        Self(error.into())
    }
}

impl From<sunzi_program::ProgramError> for Stopped {
    fn from(error: sunzi_program::ProgramError) -> Self {
        Self(error.into())
    }
}

fn locked(ledger: &Mutex<LedgerFile>) -> MutexGuard<'_, LedgerFile> {
    ledger.lock().unwrap_or_else(PoisonError::into_inner)
}

fn owner(held: &Keys) -> Result<&sunzi_rlwe::SecretKey, Failure> {
    let missing = "there is no secret key to hand results on: load the folder secret";
    held.secret.as_deref().ok_or_else(|| Failure::new("MissingKey", missing))
}

/// Refuses schemes without re-encryption, and secrets of several parties.
fn check_scheme(scheme: &Scheme) -> Result<(), Failure> {
    if matches!(scheme, Scheme::Ckks(_)) {
        let message = "real numbers have no re-encryption: noise is part of them, which it would show. Open them by decrypt_for_sharing and encrypt them again, or take \
                       integers";
        return Err(Failure::new("WrongScheme", message));
    }
    match scheme.rlwe().parties() {
        1 => Ok(()),
        parties => Err(Failure::new(
            "PartySetting",
            format!("a secret of {parties} parties has no re-encryption: let the parties open results"),
        )),
    }
}

/// Refuses more ciphertexts than the ledger has left, before any of them is counted.
fn check_left(ledger: &LedgerFile, count: u64) -> Result<(), Failure> {
    let (queries, used) = (ledger.ledger().policy().queries(), ledger.ledger().used());
    let left = queries.saturating_sub(used);
    if count <= left {
        return Ok(());
    }
    let message =
        format!("{count} ciphertexts, and this key may hand on {left} more of {queries}: make another key");
    Err(Failure::new("SharingSpent", message))
}

/// Checks that a ciphertext belongs to the key and has room, before anything is counted.
fn check(
    scheme: &Scheme,
    value: &Cipher,
    key: &sunzi_rlwe::ReencryptionKey,
    asked: Reencryptions,
) -> Result<(), Failure> {
    let own = match value {
        Cipher::Bfv(c) => c.key(),
        Cipher::Bgv(c) => c.key(),
        Cipher::Ckks(c) => c.key(),
    };
    check_scheme(scheme)?;
    if own == key.target() {
        let message = format!("the array is under {own} already, where the re-encryption key leads");
        return Err(Failure::new("SameKey", message));
    }
    if own != key.source() {
        let message = format!("an array under {own} for a re-encryption key from {}", key.source());
        return Err(Failure::new("KeyMismatch", message));
    }
    match (scheme, value) {
        (Scheme::Bfv(exact), Cipher::Bfv(c)) => {
            exact.evaluator.context().largest_declared(c, asked)?;
        }
        (Scheme::Bgv(exact), Cipher::Bgv(c)) => {
            exact.evaluator.context().largest_declared(c, asked)?;
        }
        _ => return Err(crate::scheme::mixed()),
    }
    Ok(())
}

/// Hands one ciphertext on.
fn one(
    scheme: &Arc<Scheme>,
    value: &Cipher,
    key: &sunzi_rlwe::ReencryptionKey,
    asked: Reencryptions,
    ledger: &mut LedgerFile,
) -> Result<Ciphertext, Failure> {
    let value: Cipher = match (&**scheme, value) {
        (Scheme::Bfv(exact), Cipher::Bfv(c)) => {
            handed_on(exact.evaluator.context(), c, key, asked, ledger)?.into()
        }
        (Scheme::Bgv(exact), Cipher::Bgv(c)) => {
            handed_on(exact.evaluator.context(), c, key, asked, ledger)?.into()
        }
        _ => return Err(crate::scheme::mixed()),
    };
    Ok(Ciphertext::new(scheme, value))
}

fn handed_on<C: ReencryptionContext>(
    context: &C,
    ciphertext: &Of<C::Scheme>,
    key: &sunzi_rlwe::ReencryptionKey,
    asked: Reencryptions,
    ledger: &mut LedgerFile,
) -> Result<Of<C::Scheme>, Failure>
where
    Failure: From<<C::Scheme as Homomorphic>::Error>,
{
    let noise = context.largest_declared(ciphertext, asked)?;
    Ok(context.reencrypt(ciphertext, key, noise, ledger, &mut from_os()?)?)
}
