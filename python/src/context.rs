//! Contexts for Python: parameters chosen or given, and the encodings under them.

use std::sync::Arc;

use numpy::{Complex64, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use sunzi_encoding::Encoder as _;
use sunzi_ring::GadgetOptions;
use sunzi_rlwe::wire::{Accept, Kind, Reader};
use sunzi_rlwe::{SecretDistribution, Security};
use zeroize::Zeroizing;
use {sunzi_bfv as bfv, sunzi_bgv as bgv, sunzi_ckks as ckks};

use crate::compute::{run, run_short};
use crate::error::{Failure, OrRaise as _};
use crate::plaintext::Plaintext;
use crate::request::{Builder, security, unknown_scheme};
use crate::scheme::{Plain, Scheme, wrong_scheme};
use crate::{several, unified};

/// A context: parameters of a scheme with their tables.
#[pyclass(frozen, module = "sunzi._native", from_py_object)]
#[derive(Clone)]
pub(crate) struct Context {
    pub(crate) scheme: Arc<Scheme>,
}

impl Context {
    pub(crate) fn of(scheme: Scheme) -> Self {
        Self { scheme: Arc::new(scheme) }
    }
}

#[pymethods]
impl Context {
    /// Chooses the cheapest parameters of a scheme for a request.
    #[staticmethod]
    fn choose(py: Python<'_>, scheme: &str, request: &Bound<'_, PyDict>) -> PyResult<Self> {
        let builder = Builder::new(scheme, request)?;
        run(py, move || Ok(Self::of(builder.build()?)))
    }

    /// Chooses the cheapest ring with at least so many slots of GF(p^d), and its parameters.
    #[staticmethod]
    fn choose_field(
        py: Python<'_>,
        scheme: &str,
        request: &Bound<'_, PyDict>,
        prime: u64,
        slots: usize,
    ) -> PyResult<Self> {
        let builder = Builder::new(scheme, request)?;
        run(py, move || Ok(Self::of(builder.build_for_slots(prime, slots)?)))
    }

    /// Chooses parameters for integers of any width: a context for each of as many plaintext moduli as they take, with one ring and one set of keys.
    #[staticmethod]
    fn choose_all(py: Python<'_>, scheme: &str, request: &Bound<'_, PyDict>) -> PyResult<Vec<Self>> {
        let builder = Builder::new(scheme, request)?;
        run(py, move || {
            let schemes = match builder {
                Builder::Bfv(builder) => Scheme::bfv_of(&builder.build_crt()?)?,
                Builder::Bgv(builder) => {
                    let (parameters, plain_moduli) = several::bgv(&builder)?;
                    Scheme::bgv_of(&parameters, &plain_moduli)?
                }
                other => vec![other.build()?],
            };
            Ok(schemes.into_iter().map(Self::of).collect())
        })
    }

    /// Makes the BFV contexts with the ring, the key switching and the plaintext moduli of BGV contexts.
    #[staticmethod]
    fn bfv_of(py: Python<'_>, contexts: Vec<Self>) -> PyResult<Vec<Self>> {
        run(py, move || {
            let schemes: Vec<&Scheme> = contexts.iter().map(|context| &*context.scheme).collect();
            Ok(unified::bfv_of(&schemes)?.into_iter().map(Self::of).collect())
        })
    }

    /// Whether keys of the context serve another one.
    fn shares_keys(&self, other: &Self) -> bool {
        unified::share_keys(&self.scheme, &other.scheme)
    }

    /// Explains the choice of parameters for a request.
    #[staticmethod]
    fn explain(py: Python<'_>, scheme: &str, request: &Bound<'_, PyDict>) -> PyResult<String> {
        let builder = Builder::new(scheme, request)?;
        run(py, move || builder.explain())
    }

    /// Makes a context of exactly the given moduli.
    #[staticmethod]
    #[pyo3(signature = (scheme, log2_degree, moduli, *, special_moduli, plain_modulus, levels, scale_bits, message_bits, digits, security, parties=1))]
    #[expect(clippy::too_many_arguments, reason = "all of them named, and none that another would imply")]
    fn explicit(
        py: Python<'_>,
        scheme: &str,
        log2_degree: u32,
        moduli: Vec<u64>,
        special_moduli: Vec<u64>,
        plain_modulus: Option<u64>,
        levels: Option<Vec<usize>>,
        scale_bits: Option<u32>,
        message_bits: u32,
        digits: Option<usize>,
        security: Option<u32>,
        parties: u32,
    ) -> PyResult<Self> {
        let (security, secrets) = (self::security(security)?, SecretDistribution::of_parties(parties));
        let key_switching = GadgetOptions { special_moduli, digits, ..GadgetOptions::default() };
        let plain =
            || plain_modulus.ok_or_else(|| PyTypeError::new_err(format!("{scheme} takes a plain_modulus")));
        let made: Box<dyn FnOnce() -> Result<Scheme, Failure> + Send> = match scheme {
            "bfv" => {
                let algorithms = bfv::Algorithms { key_switching, ..bfv::Algorithms::default() };
                let parameters = bfv::Parameters::new(log2_degree, moduli, plain()?, security);
                Box::new(move || Scheme::bfv(parameters.with_algorithms(algorithms).with_secrets(secrets)))
            }
            "bgv" => {
                let parameters = bgv::Parameters::new(log2_degree, moduli, plain()?, security);
                let parameters = parameters.with_key_switching(key_switching).with_secrets(secrets);
                let parameters = match levels {
                    Some(levels) => parameters.with_levels(levels),
                    None => parameters,
                };
                Box::new(move || Scheme::bgv(parameters))
            }
            "ckks" => {
                let scale_bits = scale_bits
                    .ok_or_else(|| PyTypeError::new_err("ckks takes scale_bits: log2 of the scale"))?;
                let levels = levels.unwrap_or_else(|| (1..=moduli.len()).collect());
                let parameters = ckks::Parameters::new(log2_degree, moduli, levels, scale_bits, security);
                let parameters = parameters.with_message_bits(message_bits).with_key_switching(key_switching);
                let parameters = parameters.with_secrets(secrets);
                Box::new(move || Scheme::ckks(parameters))
            }
            other => return Err(unknown_scheme(other)),
        };
        run(py, move || Ok(Self::of(made()?)))
    }

    /// Makes a context from the bytes of `to_bytes`, or of any file of parameters.
    #[staticmethod]
    #[pyo3(signature = (data, *, insecure_for_research_only=false))]
    fn from_bytes(py: Python<'_>, data: Vec<u8>, insecure_for_research_only: bool) -> PyResult<Self> {
        let accept = Accept::insecure_for_research_only(insecure_for_research_only);
        run(py, move || {
            let mut input = data.as_slice();
            let scheme = read_parameters(accept, &mut input)?;
            if input.is_empty() { Ok(Self::of(scheme)) } else { Err(trailing()) }
        })
    }

    /// Makes contexts from several files of parameters in a row, which differ only in the plaintext modulus.
    #[staticmethod]
    #[pyo3(signature = (data, *, insecure_for_research_only=false))]
    fn all_from_bytes(
        py: Python<'_>,
        data: Vec<u8>,
        insecure_for_research_only: bool,
    ) -> PyResult<Vec<Self>> {
        let accept = Accept::insecure_for_research_only(insecure_for_research_only);
        run(py, move || {
            let mut input = data.as_slice();
            let mut schemes = vec![read_parameters(accept, &mut input)?];
            while !input.is_empty() {
                schemes.push(read_parameters(accept, &mut input)?);
            }
            if schemes.len() > 1 {
                schemes = several::together(&schemes)?.ok_or_else(trailing)?;
            }
            Ok(schemes.into_iter().map(Self::of).collect())
        })
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.scheme.to_bytes().or_raise(py)?))
    }

    #[getter]
    fn scheme(&self) -> &'static str {
        self.scheme.name()
    }

    #[getter]
    fn degree(&self) -> usize {
        self.scheme.rlwe().ring().degree()
    }

    #[getter]
    fn ring_index(&self) -> u64 {
        self.scheme.rlwe().ring().index()
    }

    #[getter]
    fn slots(&self) -> usize {
        self.scheme.slots()
    }

    #[getter]
    fn depth(&self) -> Option<usize> {
        self.scheme.depth()
    }

    #[getter]
    fn plain_modulus(&self) -> Option<u64> {
        self.scheme.plain_modulus()
    }

    #[getter]
    fn moduli(&self) -> Vec<u64> {
        self.scheme.moduli().0.to_vec()
    }

    #[getter]
    fn special_moduli(&self) -> Vec<u64> {
        self.scheme.moduli().1.to_vec()
    }

    #[getter]
    fn log2_modulus(&self) -> f64 {
        self.scheme.rlwe().log2_modulus()
    }

    #[getter]
    fn log2_key_modulus(&self) -> f64 {
        self.scheme.rlwe().log2_key_modulus()
    }

    #[getter]
    fn security(&self) -> u32 {
        match self.scheme.security() {
            Security::Bits128 => 128,
            Security::Bits192 => 192,
            Security::Bits256 => 256,
            Security::InsecureForResearchOnly => 0,
        }
    }

    /// Number of parties whose secrets the secret key is the sum of; 1 for a key of one holder.
    #[getter]
    fn parties(&self) -> u32 {
        self.scheme.rlwe().parties()
    }

    #[getter]
    fn message_bound(&self, py: Python<'_>) -> PyResult<f64> {
        Ok(self.scheme.reals().or_raise(py)?.evaluator.context().message_bound())
    }

    /// Returns the canonical scale of a level of CKKS.
    fn scale(&self, py: Python<'_>, level: usize) -> PyResult<f64> {
        self.scheme.reals().or_raise(py)?.evaluator.context().scale(level).or_raise(py)
    }

    /// Encodes integers in [−t/2, t/2), repeated with period `slots`.
    fn encode_integers(
        &self,
        py: Python<'_>,
        values: PyReadonlyArray1<'_, i64>,
        slots: usize,
    ) -> PyResult<Plaintext> {
        let values: Zeroizing<Vec<i64>> = Zeroizing::new(values.as_array().iter().copied().collect());
        let scheme = Arc::clone(&self.scheme);
        run_short(py, self.scheme.words(), move || {
            let encoder = scheme.encoder()?;
            let all = encoder.slots();
            if slots == 0 || all % slots != 0 || values.len() > slots {
                let message =
                    format!("{} values in {slots} slots of {all}: the slots must divide those", values.len());
                return Err(Failure::new("ShapeError", message));
            }
            let mut tile = values;
            tile.resize(slots, 0);
            let repeated = if slots == all { tile } else { Zeroizing::new(tile.repeat(all / slots)) };
            let plaintext = Plain::Exact(Arc::new(encoder.encode_signed(&repeated)?));
            Ok(Plaintext::new(&scheme, plaintext))
        })
    }

    /// Encodes real numbers in `slots` slots, at a level and a scale.
    #[pyo3(signature = (values, slots, level=None, scale=None))]
    fn encode_reals(
        &self,
        py: Python<'_>,
        values: PyReadonlyArray1<'_, f64>,
        slots: usize,
        level: Option<usize>,
        scale: Option<f64>,
    ) -> PyResult<Plaintext> {
        let values: Zeroizing<Vec<f64>> = Zeroizing::new(values.as_array().iter().copied().collect());
        let scheme = Arc::clone(&self.scheme);
        run_short(py, self.scheme.words(), move || {
            let reals = scheme.reals()?;
            let (level, scale) = place(reals.evaluator.context(), level, scale)?;
            let plaintext = reals.encoder(slots)?.encode_real_at(&values, level, scale)?;
            Ok(Plaintext::new(&scheme, Plain::Ckks(Arc::new(plaintext))))
        })
    }

    /// Encodes complex numbers in `slots` slots, at a level and a scale.
    #[pyo3(signature = (values, slots, level=None, scale=None))]
    fn encode_complex(
        &self,
        py: Python<'_>,
        values: PyReadonlyArray1<'_, Complex64>,
        slots: usize,
        level: Option<usize>,
        scale: Option<f64>,
    ) -> PyResult<Plaintext> {
        let values: Vec<Complex64> = values.as_array().iter().copied().collect();
        let scheme = Arc::clone(&self.scheme);
        run_short(py, self.scheme.words(), move || {
            let reals = scheme.reals()?;
            let (level, scale) = place(reals.evaluator.context(), level, scale)?;
            let plaintext = reals.encoder(slots)?.encode_at(&values, level, scale)?;
            Ok(Plaintext::new(&scheme, Plain::Ckks(Arc::new(plaintext))))
        })
    }

    /// Decodes all slots of a plaintext of an exact scheme.
    fn decode_integers<'py>(
        &self,
        py: Python<'py>,
        plaintext: &Plaintext,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let (scheme, value) = (Arc::clone(&self.scheme), plaintext.value.clone());
        let values = run_short(py, self.scheme.words(), move || match &value {
            Plain::Exact(plaintext) => Ok(scheme.encoder()?.decode_signed(plaintext)?),
            Plain::Ckks(_) => Err(wrong_scheme("a plaintext of integers", "bfv or bgv", "ckks")),
        })?;
        Ok(PyArray1::from_vec(py, values))
    }

    /// Decodes all slots of a plaintext of CKKS.
    fn decode_complex<'py>(
        &self,
        py: Python<'py>,
        plaintext: &Plaintext,
    ) -> PyResult<Bound<'py, PyArray1<Complex64>>> {
        let (scheme, value) = (Arc::clone(&self.scheme), plaintext.value.clone());
        let values = run_short(py, self.scheme.words(), move || {
            let reals = scheme.reals()?;
            match &value {
                Plain::Ckks(plaintext) => Ok(reals.encoder(plaintext.slots())?.decode(plaintext)?),
                Plain::Exact(_) => Err(wrong_scheme("a plaintext of reals", "ckks", "bfv or bgv")),
            }
        })?;
        Ok(PyArray1::from_vec(py, values))
    }

    /// Decodes the real parts of all slots of a plaintext of CKKS.
    fn decode_reals<'py>(
        &self,
        py: Python<'py>,
        plaintext: &Plaintext,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let (scheme, value) = (Arc::clone(&self.scheme), plaintext.value.clone());
        let values = run_short(py, self.scheme.words(), move || {
            let reals = scheme.reals()?;
            match &value {
                Plain::Ckks(plaintext) => Ok(reals.encoder(plaintext.slots())?.decode_real(plaintext)?),
                Plain::Exact(_) => Err(wrong_scheme("a plaintext of reals", "ckks", "bfv or bgv")),
            }
        })?;
        Ok(PyArray1::from_vec(py, values))
    }

    /// Returns the exponent k of the automorphism X → X^k that rotates slots left.
    fn rotation_exponent(&self, steps: i64) -> u64 {
        crate::ops::rotation_exponent(&self.scheme, steps)
    }

    /// Returns the exponent k of the automorphism X → X^k that swaps rows, or conjugates.
    fn swap_exponent(&self) -> u64 {
        crate::ops::swap_exponent(&self.scheme)
    }
}

/// Reads the next file of parameters.
fn read_parameters(accept: Accept, input: &mut &[u8]) -> Result<Scheme, Failure> {
    let reader = Reader::new(input)?;
    match Kind::of(reader.header().kind) {
        Some(Kind::BgvParameters) => Scheme::bgv(reader.read(&accept)?),
        Some(Kind::CkksParameters) => Scheme::ckks(reader.read(&accept)?),
        // The reader refuses anything else by its kind.
        _ => Scheme::bfv(reader.read(&accept)?),
    }
}

fn trailing() -> Failure {
    Failure::new("Trailing", "bytes after the parameters that are no parameters of another plaintext modulus")
}

/// Returns a level and a scale: the highest level and its canonical scale unless given.
pub(crate) fn place(
    context: &ckks::Context,
    level: Option<usize>,
    scale: Option<f64>,
) -> Result<(usize, f64), Failure> {
    let level = level.unwrap_or(context.depth());
    Ok((level, scale.map_or_else(|| context.scale(level), Ok)?))
}
