//! Dry runs: the operations of a function on ciphertexts, recorded and run without data.

use std::sync::{Arc, Mutex, PoisonError};

use numpy::{Complex64, PyReadonlyArray1};
use pyo3::prelude::*;
use sunzi_bfv::CrtParameters;
use sunzi_program::ProgramError;
use sunzi_program::analysis::{Parameters, SchemeChoice};
use sunzi_program::tape::{Clear, Rehearsal as Played, Step, Tape as Steps, Wanted};

use crate::compute::run;
use crate::context::Context;
use crate::error::{Failure, OrRaise as _};
use crate::request::{policy, security, unknown_scheme};
use crate::scheme::Scheme;
use crate::series::Series;

/// Clear numbers as they come from numpy.
#[derive(FromPyObject)]
enum Numbers<'py> {
    Integers(PyReadonlyArray1<'py, i64>),
    Reals(PyReadonlyArray1<'py, f64>),
    Complex(PyReadonlyArray1<'py, Complex64>),
}

impl Numbers<'_> {
    fn clear(&self) -> Clear {
        match self {
            Self::Integers(values) => Clear::Integers(values.as_array().to_vec()),
            Self::Reals(values) => Clear::Complex(values.as_array().iter().map(|&v| v.into()).collect()),
            Self::Complex(values) => Clear::Complex(values.as_array().to_vec()),
        }
    }
}

/// Recorded operations on ciphertexts, in the order in which a function requests them.
#[pyclass(frozen, module = "sunzi._native")]
pub(crate) struct Tape {
    steps: Mutex<Steps>,
}

impl Tape {
    fn push(&self, py: Python<'_>, step: Step) -> PyResult<usize> {
        self.steps.lock().unwrap_or_else(PoisonError::into_inner).push(step).or_raise(py)
    }

    fn copy(&self) -> Steps {
        self.steps.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[pymethods]
impl Tape {
    #[new]
    fn new(real: bool) -> Self {
        Self { steps: Mutex::new(Steps::new(real)) }
    }

    fn input(&self, py: Python<'_>, runs: Vec<(f64, usize)>) -> PyResult<usize> {
        self.push(py, Step::Input(runs))
    }

    fn add(&self, py: Python<'_>, a: usize, b: usize) -> PyResult<usize> {
        self.push(py, Step::Add(a, b))
    }

    fn sub(&self, py: Python<'_>, a: usize, b: usize) -> PyResult<usize> {
        self.push(py, Step::Sub(a, b))
    }

    fn negate(&self, py: Python<'_>, a: usize) -> PyResult<usize> {
        self.push(py, Step::Negate(a))
    }

    fn multiply(&self, py: Python<'_>, a: usize, b: usize) -> PyResult<usize> {
        self.push(py, Step::Multiply(a, b))
    }

    fn add_plain(&self, py: Python<'_>, a: usize, values: Numbers<'_>, period: usize) -> PyResult<usize> {
        self.push(py, Step::AddPlain(a, values.clear(), period))
    }

    fn sub_plain(&self, py: Python<'_>, a: usize, values: Numbers<'_>, period: usize) -> PyResult<usize> {
        self.push(py, Step::SubPlain(a, values.clear(), period))
    }

    fn plain_products(
        &self,
        py: Python<'_>,
        terms: Vec<(usize, Numbers<'_>)>,
        period: usize,
    ) -> PyResult<usize> {
        let terms = terms.iter().map(|(a, values)| (*a, values.clear())).collect();
        self.push(py, Step::PlainProducts(terms, period))
    }

    fn products(&self, py: Python<'_>, terms: Vec<(usize, usize)>) -> PyResult<usize> {
        self.push(py, Step::Products(terms))
    }

    fn integer(&self, py: Python<'_>, a: usize, factor: i64) -> PyResult<usize> {
        self.push(py, Step::Integer(a, factor))
    }

    fn constant(&self, py: Python<'_>, a: usize, factor: Complex64) -> PyResult<usize> {
        self.push(py, Step::Constant(a, factor))
    }

    fn rotate(&self, py: Python<'_>, a: usize, steps: i64) -> PyResult<usize> {
        self.push(py, Step::Rotate(a, steps))
    }

    fn swap(&self, py: Python<'_>, a: usize) -> PyResult<usize> {
        self.push(py, Step::Swap(a))
    }

    fn polynomial(&self, py: Python<'_>, a: usize, coefficients: Vec<i64>) -> PyResult<usize> {
        self.push(py, Step::Polynomial(a, coefficients))
    }

    fn series(&self, py: Python<'_>, a: usize, series: &Series) -> PyResult<usize> {
        self.push(py, Step::Series(a, series.series.clone()))
    }

    fn bounded(&self, py: Python<'_>, a: usize, others: Vec<usize>) -> PyResult<usize> {
        self.push(py, Step::Bounded(a, others))
    }

    fn output(&self, py: Python<'_>, place: usize, size: usize) -> PyResult<()> {
        self.steps.lock().unwrap_or_else(PoisonError::into_inner).output(place, size).or_raise(py)
    }

    /// Returns the name of every recorded step and the indices of its operands.
    #[getter]
    fn steps(&self) -> Vec<(&'static str, Vec<usize>)> {
        self.copy().steps().iter().map(|step| (step.name(), step.operands())).collect()
    }

    #[getter]
    fn depth(&self) -> usize {
        self.copy().depth()
    }

    #[getter]
    fn multiplies(&self) -> bool {
        self.copy().multiplies()
    }

    /// Chooses the least parameters of a ring degree, as a context for each plaintext modulus.
    #[pyo3(signature = (log2_degree, *, precision, security, largest=None, scheme=None, sharing=None))]
    #[expect(clippy::too_many_arguments, reason = "all of them named, and none that another would imply")]
    fn choose(
        &self,
        py: Python<'_>,
        log2_degree: u32,
        precision: u32,
        security: u32,
        largest: Option<f64>,
        scheme: Option<&str>,
        sharing: Option<(u64, u32)>,
    ) -> PyResult<(Vec<Context>, Rehearsal, Vec<String>)> {
        let scheme = match scheme {
            None => None,
            Some("bfv") => Some(SchemeChoice::Bfv),
            Some("bgv") => Some(SchemeChoice::Bgv),
            Some("ckks") => Some(SchemeChoice::Ckks),
            Some(other) => return Err(unknown_scheme(other)),
        };
        let (tape, security) = (self.copy(), self::security(Some(security))?);
        let sharing = sharing.map(policy).transpose().or_raise(py)?;
        let wanted = Wanted { log2_degree, security, precision, largest, scheme, sharing };
        run(py, move || {
            let choice = tape.choose(&wanted)?;
            let schemes = match choice.parameters {
                Parameters::Bfv(parameters) => Scheme::bfv_of(&parameters)?,
                Parameters::Bgv { parameters, plain_moduli } => Scheme::bgv_of(&parameters, &plain_moduli)?,
                Parameters::Ckks(parameters) => vec![Scheme::ckks(parameters)?],
                // Tapes choose none of them.
                other => {
                    let reason = format!("a tape has no parameters of {}", other.name());
                    return Err(ProgramError::Invalid(reason).into());
                }
            };
            let contexts = schemes.into_iter().map(Context::of).collect();
            Ok((contexts, Rehearsal::new(&tape, choice.rehearsal), choice.reasons))
        })
    }

    /// Runs the tape without data in a context.
    #[pyo3(signature = (context, *, sharing=None))]
    fn rehearse(
        &self,
        py: Python<'_>,
        context: &Context,
        sharing: Option<(u64, u32)>,
    ) -> PyResult<Rehearsal> {
        let (tape, scheme) = (self.copy(), Arc::clone(&context.scheme));
        let sharing = sharing.map(policy).transpose().or_raise(py)?;
        run(py, move || {
            let parameters = match &*scheme {
                Scheme::Bfv(exact) => Parameters::Bfv(CrtParameters::from(exact.parameters.clone())),
                Scheme::Bgv(exact) => Parameters::Bgv {
                    plain_moduli: vec![exact.parameters.plain_modulus()],
                    parameters: exact.parameters.clone(),
                },
                Scheme::Ckks(reals) => Parameters::Ckks(reals.parameters.clone()),
            };
            let played = tape.rehearse_sharing(&parameters, sharing)?;
            Ok(Rehearsal::new(&tape, played))
        })
    }
}

/// Report of a step of a dry run: level, bits left, precision, magnitude, bytes.
type Report = (Option<usize>, f64, Option<f64>, Option<f64>, usize);

/// Result of a dry run of a tape.
#[pyclass(frozen, module = "sunzi._native")]
pub(crate) struct Rehearsal {
    #[pyo3(get)]
    reports: Vec<Report>,
    #[pyo3(get)]
    key_bytes: usize,
    #[pyo3(get)]
    peak_bytes: usize,
    #[pyo3(get)]
    bits_left: f64,
    #[pyo3(get)]
    precision: Option<f64>,
    /// Step of the dry run that failed, the class of its error, and the message.
    #[pyo3(get)]
    failed: Option<(usize, String, String)>,
}

impl Rehearsal {
    fn new(tape: &Steps, played: Played) -> Self {
        let reports = played.reports.iter();
        Self {
            reports: reports.map(|r| (r.level, r.bits_left, r.precision, r.magnitude, r.bytes)).collect(),
            key_bytes: played.key_bytes,
            peak_bytes: played.peak_bytes,
            bits_left: played.bits_left(tape),
            precision: tape.is_real().then(|| played.precision(tape)),
            failed: played.failed.or(played.unshareable).map(|failed| {
                let (class, message) = Failure::from(failed.error).told();
                (failed.step, class, message)
            }),
        }
    }
}
