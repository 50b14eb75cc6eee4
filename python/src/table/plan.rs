//! Programs in text, and their plans.

use std::collections::HashMap;
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sunzi_program::analysis::{Options, SchemeChoice};
use sunzi_program::{Plan, Program, Timing};
use sunzi_rlwe::security::accepting_insecure;

use super::name_of;
use super::schema::TableSchema;
use crate::compute::run;
use crate::error::{Failure, OrRaise as _};
use crate::request::{self, security};

/// Largest number of bytes of a plan in JSON that is read.
const LONGEST_JSON: usize = 1 << 26;

/// Program in text over the columns of a schema.
#[pyclass(frozen, module = "sunzi._native")]
pub(crate) struct TableProgram {
    pub(super) program: Arc<Program>,
}

#[pymethods]
impl TableProgram {
    /// Parses a program; `files` has the texts of the files that it names.
    #[new]
    fn new(
        py: Python<'_>,
        text: &str,
        schema: &TableSchema,
        files: HashMap<String, String>,
    ) -> PyResult<Self> {
        let read = |name: &str| {
            let none = || format!("no text is given for it: files={{{name:?}: \"…\"}}");
            files.get(name).cloned().ok_or_else(none)
        };
        let program = Program::parse_with(text, &schema.schema, &read).or_raise(py)?;
        Ok(Self { program: Arc::new(program) })
    }

    /// Names of the results.
    #[getter]
    fn outputs(&self) -> Vec<String> {
        self.program.outputs().iter().map(|output| output.name.clone()).collect()
    }

    #[getter]
    fn schema(&self) -> TableSchema {
        TableSchema { schema: Arc::new(self.program.schema().clone()) }
    }

    /// Returns the program in JSON, with its schema and the texts of the files that it names.
    fn to_json(&self, py: Python<'_>) -> PyResult<String> {
        serde_json::to_string(&*self.program).or_raise(py)
    }

    /// Chooses scheme, parameters and keys.
    #[pyo3(signature = (*, scheme=None, precision=16, security=None, log2_degree=None, reencryptions=None))]
    fn plan(
        &self,
        py: Python<'_>,
        scheme: Option<&str>,
        precision: u32,
        security: Option<u32>,
        log2_degree: Option<u32>,
        reencryptions: Option<(u32, u64, u32)>,
    ) -> PyResult<TablePlan> {
        let (scheme, security) = (scheme.map(asked).transpose()?, self::security(security)?);
        let reencryptions = reencryptions.map(request::reencryptions).transpose().or_raise(py)?;
        let options =
            Options { scheme, precision, security, log2_degree, reencryptions, ..Options::default() };
        let program = Arc::clone(&self.program);
        run(py, move || Ok(TablePlan { plan: Arc::new(Plan::new(&program, &options)?) }))
    }
}

fn asked(name: &str) -> PyResult<SchemeChoice> {
    let all = [SchemeChoice::Bfv, SchemeChoice::Bgv, SchemeChoice::Ckks, SchemeChoice::Integers];
    all.into_iter().find(|&scheme| name_of(scheme) == name).ok_or_else(|| {
        let message = format!(
            "there is no scheme {name:?}: take \"bfv\", \"bgv\", \"ckks\" or \"integers\", or None for the cheapest"
        );
        PyValueError::new_err(message)
    })
}

/// Plan of a program: scheme, parameters and layout.
#[pyclass(frozen, module = "sunzi._native")]
pub(crate) struct TablePlan {
    pub(super) plan: Arc<Plan>,
}

#[pymethods]
impl TablePlan {
    /// Reads a plan in JSON, and analyses it again.
    #[staticmethod]
    #[pyo3(signature = (json, *, insecure_for_research_only=false))]
    fn from_json(py: Python<'_>, json: String, insecure_for_research_only: bool) -> PyResult<Self> {
        if json.len() > LONGEST_JSON {
            return Err(Failure::new("Parse", "a plan of more than 64 MiB: plans take less").raise(py));
        }
        run(py, move || {
            let read = || serde_json::from_str::<Plan>(&json);
            let plan = if insecure_for_research_only { accepting_insecure(read) } else { read() };
            let plan = plan.map_err(|error| {
                Failure::new(
                    "Parse",
                    format!("no plan as Plan.to_json and sunzi plan --json write it: {error}"),
                )
            })?;
            Ok(Self { plan: Arc::new(plan) })
        })
    }

    /// Returns the plan in JSON, without times.
    fn to_json(&self, py: Python<'_>) -> PyResult<String> {
        serde_json::to_string(&*self.plan).or_raise(py)
    }

    /// Parameters as a file of the command line.
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut bytes = Vec::new();
        self.plan.parameters.write(&mut bytes).or_raise(py)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Seconds of a run by operations that are measured now; none where bootstraps are.
    fn seconds(&self, py: Python<'_>) -> PyResult<Option<f64>> {
        let plan = Arc::clone(&self.plan);
        run(py, move || {
            if plan.bootstraps.is_some() {
                return Ok(None);
            }
            Ok(Some(Timing::measure(&plan)?.seconds(&plan)))
        })
    }

    #[getter]
    fn scheme(&self) -> &'static str {
        name_of(self.plan.parameters.scheme())
    }

    #[getter]
    fn name(&self) -> &'static str {
        self.plan.parameters.name()
    }

    #[getter]
    fn degree(&self) -> usize {
        self.plan.parameters.degree()
    }

    #[getter]
    fn security(&self) -> u32 {
        self.plan.parameters.security().bits()
    }

    /// Numbers of rows, of rows in a full chunk, and of chunks.
    #[getter]
    fn layout(&self) -> (usize, usize, usize) {
        let layout = self.plan.layout;
        (layout.rows, layout.span, layout.chunks)
    }

    #[getter]
    fn depth(&self) -> usize {
        self.plan.depth
    }

    #[getter]
    fn rotations(&self) -> usize {
        self.plan.rotations.len()
    }

    #[getter]
    fn look_ups(&self) -> Option<u64> {
        self.plan.look_ups.map(|look_ups| look_ups.count)
    }

    #[getter]
    fn bootstraps(&self) -> Option<u64> {
        self.plan.bootstraps.map(|bootstraps| bootstraps.count)
    }

    /// log2 of the probability that one look-up, or one bootstrap, is wrong.
    #[getter]
    fn log2_failure(&self) -> Option<f64> {
        let bootstraps = self.plan.bootstraps.map(|bootstraps| bootstraps.log2_failure);
        self.plan.look_ups.map(|look_ups| look_ups.log2_failure).or(bootstraps)
    }

    #[getter]
    fn key_bytes(&self) -> u64 {
        self.plan.key_bytes
    }

    /// Bytes of a run with the tables of its contexts.
    #[getter]
    fn memory(&self) -> u64 {
        self.plan.needed_bytes()
    }

    #[getter]
    fn table_bytes(&self) -> u64 {
        self.plan.table_bytes()
    }

    #[getter]
    fn precision(&self) -> Option<f64> {
        self.plan.precision_bits()
    }

    #[getter]
    fn reasons(&self) -> Vec<String> {
        self.plan.reasons.clone()
    }

    #[getter]
    fn program(&self) -> TableProgram {
        TableProgram { program: Arc::new(self.plan.program.clone()) }
    }
}
