//! Python classes of secret, public and evaluation keys.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sunzi_circuits::EvaluationKeys as Keys;
use sunzi_rlwe::randomness::from_os;
use sunzi_rlwe::wire::{self, Kind, Reader, WireError};
use sunzi_rlwe::{GaloisKeys, KeyId, RelinearizationKey};

use crate::ciphertext::Ciphertext;
use crate::compute::{Progress, run, run_short};
use crate::context::Context;
use crate::error::Failure;
use crate::plaintext::Plaintext;
use crate::scheme::{Cipher, Plain, Scheme, mixed};

/// Encrypts a plaintext under a key of any kind, in the scheme of both.
macro_rules! encrypted {
    ($py:expr, $scheme:expr, $plaintext:expr, |$context:ident, $m:ident| $body:expr) => {{
        let (scheme, value) = (Arc::clone($scheme), $plaintext.value.clone());
        let words = scheme.words();
        run_short($py, words, move || {
            let value: Cipher = match (&*scheme, &value) {
                (Scheme::Bfv(exact), Plain::Exact($m)) => {
                    let $context = exact.evaluator.context();
                    $body?.into()
                }
                (Scheme::Bgv(exact), Plain::Exact($m)) => {
                    let $context = exact.evaluator.context();
                    $body?.into()
                }
                (Scheme::Ckks(reals), Plain::Ckks($m)) => {
                    let $context = reals.evaluator.context();
                    $body?.into()
                }
                _ => return Err(mixed()),
            };
            Ok(Ciphertext::new(&scheme, value))
        })
    }};
}

/// Secret key of any scheme, which decrypts.
#[pyclass(frozen, module = "sunzi._native")]
pub(crate) struct SecretKey {
    pub(crate) scheme: Arc<Scheme>,
    pub(crate) key: Arc<sunzi_rlwe::SecretKey>,
}

#[pymethods]
impl SecretKey {
    #[staticmethod]
    fn generate(py: Python<'_>, context: &Context) -> PyResult<Self> {
        let scheme = Arc::clone(&context.scheme);
        run(py, move || {
            let parties = scheme.rlwe().parties();
            if parties > 1 {
                let message = format!(
                    "these parameters are of {parties} parties, whose keys nobody makes alone: make them together with sunzi.parties.KeySession"
                );
                return Err(Failure::new("PartySetting", message));
            }
            let key = sunzi_rlwe::SecretKey::generate(scheme.rlwe(), &mut from_os()?)?;
            Ok(Self { scheme: Arc::clone(&scheme), key: Arc::new(key) })
        })
    }

    /// Makes a secret key of one holder in a context of several parties, who get what they switch to its public key.
    #[staticmethod]
    fn generate_alone(py: Python<'_>, context: &Context) -> PyResult<Self> {
        let scheme = Arc::clone(&context.scheme);
        run(py, move || {
            let key = sunzi_rlwe::SecretKey::generate_share(scheme.rlwe(), &mut from_os()?)?;
            Ok(Self { scheme: Arc::clone(&scheme), key: Arc::new(key) })
        })
    }

    /// Returns the bytes of the secret key, by explicit request.
    fn export<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let (scheme, key) = (Arc::clone(&self.scheme), Arc::clone(&self.key));
        let bytes = run(py, move || Ok(zeroize::Zeroizing::new(wire::to_bytes(scheme.rlwe(), &*key)?)))?;
        Ok(PyBytes::new(py, &bytes))
    }

    #[staticmethod]
    fn from_export(py: Python<'_>, context: &Context, bytes: Vec<u8>) -> PyResult<Self> {
        let (scheme, bytes) = (Arc::clone(&context.scheme), zeroize::Zeroizing::new(bytes));
        run(py, move || {
            let key: sunzi_rlwe::SecretKey = wire::from_bytes(scheme.rlwe(), &bytes)?;
            Ok(Self { scheme: Arc::clone(&scheme), key: Arc::new(key) })
        })
    }

    #[getter]
    fn id(&self) -> String {
        self.key.id().to_string()
    }

    /// Returns the secret key for a context of the same ring and another plaintext modulus, on which keys do
    /// not depend.
    fn within(&self, context: &Context) -> Self {
        Self { scheme: Arc::clone(&context.scheme), key: Arc::clone(&self.key) }
    }

    fn encrypt(&self, py: Python<'_>, plaintext: &Plaintext) -> PyResult<Ciphertext> {
        let key = Arc::clone(&self.key);
        encrypted!(py, &self.scheme, plaintext, |context, m| context.encrypt_secret(m, &key, &mut from_os()?))
    }

    fn decrypt(&self, py: Python<'_>, ciphertext: &Ciphertext) -> PyResult<Plaintext> {
        let (scheme, key, value) = (Arc::clone(&self.scheme), Arc::clone(&self.key), ciphertext.value());
        run_short(py, self.scheme.words(), move || {
            let value = match (&*scheme, &value) {
                (Scheme::Bfv(exact), Cipher::Bfv(c)) => {
                    Plain::Exact(Arc::new(exact.evaluator.context().decrypt(c, &key)?))
                }
                (Scheme::Bgv(exact), Cipher::Bgv(c)) => {
                    Plain::Exact(Arc::new(exact.evaluator.context().decrypt(c, &key)?))
                }
                (Scheme::Ckks(reals), Cipher::Ckks(c)) => {
                    Plain::Ckks(Arc::new(reals.evaluator.context().decrypt(c, &key)?))
                }
                _ => return Err(mixed()),
            };
            Ok(Plaintext::new(&scheme, value))
        })
    }

    fn __repr__(&self) -> String {
        format!("<secret key {}>", short(self.key.id()))
    }
}

/// Public key of any scheme, which encrypts.
#[pyclass(frozen, module = "sunzi._native")]
pub(crate) struct PublicKey {
    pub(crate) scheme: Arc<Scheme>,
    pub(crate) key: Arc<sunzi_rlwe::PublicKey>,
}

#[pymethods]
impl PublicKey {
    #[staticmethod]
    fn generate(py: Python<'_>, secret: &SecretKey) -> PyResult<Self> {
        let (scheme, secret) = (Arc::clone(&secret.scheme), Arc::clone(&secret.key));
        run(py, move || {
            let key = sunzi_rlwe::PublicKey::generate(scheme.rlwe(), &secret, &mut from_os()?)?;
            Ok(Self { scheme: Arc::clone(&scheme), key: Arc::new(key) })
        })
    }

    #[getter]
    fn context(&self) -> Context {
        Context { scheme: Arc::clone(&self.scheme) }
    }

    #[getter]
    fn id(&self) -> String {
        self.key.id().to_string()
    }

    /// Returns the public key for a context of the same ring and another plaintext modulus.
    fn within(&self, context: &Context) -> Self {
        Self { scheme: Arc::clone(&context.scheme), key: Arc::clone(&self.key) }
    }

    fn encrypt(&self, py: Python<'_>, plaintext: &Plaintext) -> PyResult<Ciphertext> {
        let key = Arc::clone(&self.key);
        encrypted!(py, &self.scheme, plaintext, |context, m| context.encrypt(m, &key, &mut from_os()?))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let (scheme, key) = (Arc::clone(&self.scheme), Arc::clone(&self.key));
        let bytes = run(py, move || Ok(wire::to_bytes(scheme.rlwe(), &*key)?))?;
        Ok(PyBytes::new(py, &bytes))
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, context: &Context, bytes: Vec<u8>) -> PyResult<Self> {
        let scheme = Arc::clone(&context.scheme);
        run(py, move || {
            let key: sunzi_rlwe::PublicKey = wire::from_bytes(scheme.rlwe(), &bytes)?;
            Ok(Self { scheme: Arc::clone(&scheme), key: Arc::new(key) })
        })
    }

    fn __repr__(&self) -> String {
        format!("<public key {}>", short(self.key.id()))
    }
}

/// Evaluation keys of any scheme, with which a server computes.
#[pyclass(frozen, module = "sunzi._native")]
pub(crate) struct EvaluationKeys {
    scheme: Arc<Scheme>,
    pub(crate) keys: Arc<Keys>,
    id: KeyId,
}

impl EvaluationKeys {
    /// Makes the object of keys that belong to the secret of a name.
    pub(crate) fn of(scheme: Arc<Scheme>, keys: Arc<Keys>, id: KeyId) -> Self {
        Self { scheme, keys, id }
    }
}

#[pymethods]
impl EvaluationKeys {
    /// Makes a relinearisation key if requested, and Galois keys by exponent, for ciphertexts of at most `level` in CKKS.
    #[staticmethod]
    #[pyo3(signature = (secret, *, relinearization, exponents, level=None, progress=None))]
    fn generate(
        py: Python<'_>,
        secret: &SecretKey,
        relinearization: bool,
        exponents: Vec<u64>,
        level: Option<usize>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let (scheme, secret) = (Arc::clone(&secret.scheme), Arc::clone(&secret.key));
        run(py, move || {
            let (rlwe, rng, progress) = (scheme.rlwe(), &mut from_os()?, Progress::new(progress));
            let level = scheme.key_level(level)?;
            let others = usize::from(relinearization);
            let total = exponents.iter().filter(|&&k| k != 1).count() + others;
            let made =
                relinearization.then(|| RelinearizationKey::generate_at_level(rlwe, &secret, level, rng));
            let relinearization = made.transpose()?;
            if relinearization.is_some() {
                progress.tell(1, total);
            }
            let listed = exponents.iter().map(|&exponent| (exponent, level));
            let told = |done: usize, _| progress.tell(done + others, total);
            let galois = GaloisKeys::generate_levels(rlwe, &secret, listed, rng, told)?;
            progress.finish()?;
            let keys = Keys { relinearization, galois: Some(galois) };
            Ok(Self { scheme: Arc::clone(&scheme), keys: Arc::new(keys), id: secret.id() })
        })
    }

    #[getter]
    fn context(&self) -> Context {
        Context { scheme: Arc::clone(&self.scheme) }
    }

    #[getter]
    fn id(&self) -> String {
        self.id.to_string()
    }

    #[getter]
    fn nbytes(&self) -> usize {
        self.keys.byte_len()
    }

    #[getter]
    fn can_multiply(&self) -> bool {
        self.keys.relinearization.is_some()
    }

    /// Exponents k of all automorphisms X → X^k that have a Galois key.
    #[getter]
    fn exponents(&self) -> Vec<u64> {
        self.keys.galois.as_ref().map(|keys| keys.exponents().collect()).unwrap_or_default()
    }

    /// Returns the same keys with sums of their polynomials, for key switches by merged digits.
    fn with_merged_digits(&self, py: Python<'_>) -> PyResult<Self> {
        let (scheme, keys, id) = (Arc::clone(&self.scheme), Arc::clone(&self.keys), self.id);
        run(py, move || {
            let keys = Keys::clone(&keys).with_merged_digits(scheme.rlwe())?;
            Ok(Self { scheme: Arc::clone(&scheme), keys: Arc::new(keys), id })
        })
    }

    /// Returns the relinearisation key, then the Galois keys, each as a file of its own.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let (scheme, keys) = (Arc::clone(&self.scheme), Arc::clone(&self.keys));
        let bytes = run(py, move || {
            let mut bytes = Vec::new();
            if let Some(key) = &keys.relinearization {
                wire::write(scheme.rlwe(), key, &mut bytes)?;
            }
            if let Some(keys) = &keys.galois {
                wire::write(scheme.rlwe(), keys, &mut bytes)?;
            }
            Ok(bytes)
        })?;
        Ok(PyBytes::new(py, &bytes))
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, context: &Context, bytes: Vec<u8>) -> PyResult<Self> {
        let scheme = Arc::clone(&context.scheme);
        run(py, move || {
            let (keys, id) = read_keys(&scheme, &bytes)?;
            Ok(Self { scheme: Arc::clone(&scheme), keys: Arc::new(keys), id })
        })
    }

    fn __repr__(&self) -> String {
        let (rotations, mib) = (self.exponents().len(), self.nbytes() >> 20);
        let product = if self.can_multiply() { "products and " } else { "" };
        format!("<evaluation keys {} for {product}{rotations} automorphisms, {mib} MiB>", short(self.id))
    }
}

/// Reads evaluation keys one after the other until the bytes end.
fn read_keys(scheme: &Scheme, bytes: &[u8]) -> Result<(Keys, KeyId), Failure> {
    let mut input = bytes;
    let mut keys = Keys { relinearization: None, galois: None };
    let mut owner: Option<KeyId> = None;
    while !input.is_empty() {
        let reader = Reader::new(&mut input)?;
        let id = reader.header().required_key()?;
        if owner.is_some_and(|owner| owner != id) {
            return Err(WireError::Key { expected: owner, got: Some(id) }.into());
        }
        owner = Some(id);
        if Kind::of(reader.header().kind) == Some(Kind::RelinearizationKey) {
            keys.relinearization = Some(reader.read(scheme.rlwe())?);
        } else {
            keys.galois = Some(reader.read(scheme.rlwe())?);
        }
    }
    Ok((keys, owner.ok_or(WireError::Truncated)?))
}

/// Returns the first digits of a key's identifier.
pub(crate) fn short(id: KeyId) -> String {
    id.to_string().chars().take(8).collect()
}
