//! Python class of the ledger of results shared with others.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use sunzi_rlwe::randomness::from_os;
use sunzi_rlwe::sharing::{DeclaredNoise, LedgerFile, SharingLedger as Ledger, SharingPolicy};

use crate::ciphertext::Ciphertext;
use crate::compute::run;
use crate::keys::SecretKey;
use crate::plaintext::Plaintext;
use crate::scheme::{Cipher, Plain, Scheme, mixed};

/// Ledger of the shared results of a secret key, and of their limit: in a file, or in memory.
#[pyclass(frozen, module = "sunzi._native")]
pub(crate) struct SharingLedger {
    /// File of the ledger, locked while a result is opened: results are counted one after the other.
    file: Arc<Mutex<LedgerFile>>,
    policy: SharingPolicy,
}

#[pymethods]
impl SharingLedger {
    /// Makes a new ledger of a key, in a new file unless there is no path.
    #[staticmethod]
    #[pyo3(signature = (secret, queries, statistical_bits, path=None))]
    fn create(
        py: Python<'_>,
        secret: &SecretKey,
        queries: u64,
        statistical_bits: u32,
        path: Option<std::path::PathBuf>,
    ) -> PyResult<Self> {
        let (scheme, key) = (Arc::clone(&secret.scheme), Arc::clone(&secret.key));
        run(py, move || {
            let policy = SharingPolicy::new(statistical_bits, queries)?;
            let ledger = Ledger::new(scheme.fingerprint(), key.id(), policy);
            let file = match path {
                Some(path) => LedgerFile::create(path, ledger)?,
                None => LedgerFile::in_memory(ledger),
            };
            Ok(Self { file: Arc::new(Mutex::new(file)), policy })
        })
    }

    /// Opens the ledger of a key from its file. A ledger that was made with the key and has no policy yet
    /// gets this policy.
    #[staticmethod]
    fn open(
        py: Python<'_>,
        secret: &SecretKey,
        queries: u64,
        statistical_bits: u32,
        path: std::path::PathBuf,
    ) -> PyResult<Self> {
        let key = secret.key.id();
        run(py, move || {
            let file = LedgerFile::begin(path, key, SharingPolicy::new(statistical_bits, queries)?)?;
            let policy = file.ledger().policy();
            Ok(Self { file: Arc::new(Mutex::new(file)), policy })
        })
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
    fn used(&self) -> u64 {
        self.file.lock().unwrap_or_else(PoisonError::into_inner).ledger().used()
    }

    /// Decrypts a ciphertext whose noise is at most 2^noise, for sharing with others.
    fn decrypt(
        &self,
        py: Python<'_>,
        ciphertext: &Ciphertext,
        secret: &SecretKey,
        noise: f64,
    ) -> PyResult<Plaintext> {
        let (scheme, key, value) = (Arc::clone(&secret.scheme), Arc::clone(&secret.key), ciphertext.value());
        let (file, noise) = (Arc::clone(&self.file), DeclaredNoise::from_bits(noise));
        run(py, move || {
            let (ledger, rng) = (&mut *file.lock().unwrap_or_else(PoisonError::into_inner), &mut from_os()?);
            let value = match (&*scheme, &value) {
                (Scheme::Bfv(exact), Cipher::Bfv(c)) => {
                    let context = exact.evaluator.context();
                    Plain::Exact(Arc::new(context.decrypt_for_sharing(c, &key, noise, ledger, rng)?))
                }
                (Scheme::Bgv(exact), Cipher::Bgv(c)) => {
                    let context = exact.evaluator.context();
                    Plain::Exact(Arc::new(context.decrypt_for_sharing(c, &key, noise, ledger, rng)?))
                }
                (Scheme::Ckks(reals), Cipher::Ckks(c)) => {
                    let context = reals.evaluator.context();
                    Plain::Ckks(Arc::new(context.decrypt_for_sharing(c, &key, noise, ledger, rng)?))
                }
                _ => return Err(mixed()),
            };
            Ok(Plaintext::new(&scheme, value))
        })
    }

    fn __repr__(&self) -> String {
        format!("<ledger of shared decryptions: {} of {} used>", self.used(), self.queries())
    }
}
