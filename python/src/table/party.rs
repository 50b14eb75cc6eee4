//! Operations of the parties with the keys of a plan: encryption, computation, decryption.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use sunzi_keystore::Passphrase;
use sunzi_program::Plan;
use sunzi_rlwe::wire::Accept;
use sunzi_table::in_memory::Keys;

use super::columns::{Columns, Given};
use super::folder;
use super::plan::{TablePlan, TableProgram};
use super::results::{TableResults, Value, given};
use super::run::{TableBytes, encrypt};
use crate::compute::{Progress, run};
use crate::error::OrRaise as _;

/// Keys of a plan: those that this party has.
#[pyclass(frozen, module = "sunzi._native")]
pub(crate) struct TableKeys {
    held: Arc<Keys>,
}

impl TableKeys {
    /// Shares the keys with other classes.
    pub(crate) fn held(&self) -> Arc<Keys> {
        Arc::clone(&self.held)
    }
}

#[pymethods]
impl TableKeys {
    /// Makes all keys of a plan.
    #[staticmethod]
    fn generate(py: Python<'_>, plan: &TablePlan, progress: Option<Py<PyAny>>) -> PyResult<Self> {
        let plan = Arc::clone(&plan.plan);
        run(py, move || {
            let progress = Progress::new(progress);
            let held = Keys::generate(&plan, |done, total| progress.tell(done, total))?;
            progress.finish()?;
            Ok(Self { held: Arc::new(held) })
        })
    }

    /// Makes the plan of a program within the parameters of the keys.
    fn plan(&self, py: Python<'_>, program: &TableProgram, precision: u32) -> PyResult<TablePlan> {
        let (program, keys) = (Arc::clone(&program.program), Arc::clone(&self.held));
        run(py, move || {
            let plan = Plan::within(&program, keys.contexts.parameters(), precision)?;
            Ok(TablePlan { plan: Arc::new(plan) })
        })
    }

    /// Reads the folder of a party, or that of all parties.
    #[staticmethod]
    #[pyo3(signature = (path, *, insecure_for_research_only=false, passphrase=None))]
    fn load(
        py: Python<'_>,
        path: PathBuf,
        insecure_for_research_only: bool,
        passphrase: Option<&[u8]>,
    ) -> PyResult<Self> {
        let accept = Accept::insecure_for_research_only(insecure_for_research_only);
        let passphrase = passphrase.map(Passphrase::new);
        run(py, move || {
            let held = folder::load(&path, accept, passphrase.transpose()?.as_ref())?;
            Ok(Self { held: Arc::new(held) })
        })
    }

    /// Writes a folder for each party that there are keys for, into one that is not there yet; the secret key under a passphrase, if there is one.
    #[pyo3(signature = (path, *, passphrase=None))]
    fn save(&self, py: Python<'_>, path: PathBuf, passphrase: Option<&[u8]>) -> PyResult<()> {
        let (keys, passphrase) = (Arc::clone(&self.held), passphrase.map(Passphrase::new));
        run(py, move || folder::save(&keys, &path, passphrase.transpose()?.as_ref()))
    }

    #[getter]
    fn id(&self) -> Option<String> {
        self.held.id().map(|id| id.to_string())
    }

    /// Which keys there are: the secret one, the public one, and those of whoever computes.
    #[getter]
    fn parts(&self) -> (bool, bool, bool) {
        (self.held.secret.is_some(), self.held.public.is_some(), self.held.evaluation.is_some())
    }

    #[getter]
    fn scheme(&self) -> &'static str {
        self.held.contexts.parameters().name()
    }

    #[getter]
    fn degree(&self) -> usize {
        self.held.contexts.parameters().degree()
    }

    /// Returns the keys without the secret one.
    #[getter]
    fn without_secret(&self) -> Self {
        Self { held: Arc::new(Keys { secret: None, ..Keys::clone(&self.held) }) }
    }

    /// Encrypts the columns of a plan's schema, its rows where the plan has them.
    fn encrypt(&self, py: Python<'_>, plan: &TablePlan, columns: Vec<Given<'_>>) -> PyResult<TableBytes> {
        let columns = Columns::new(columns).or_raise(py)?;
        let (keys, plan) = (Arc::clone(&self.held), Arc::clone(&plan.plan));
        run(py, move || encrypt(&keys, &plan, columns))
    }

    #[pyo3(signature = (plan, table, progress=None))]
    fn compute(
        &self,
        py: Python<'_>,
        plan: &TablePlan,
        table: &TableBytes,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<TableResults> {
        let (keys, plan, bytes) = (Arc::clone(&self.held), Arc::clone(&plan.plan), Arc::clone(&table.bytes));
        run(py, move || {
            let progress = Progress::new(progress);
            let results = keys.compute(&plan, &bytes, &|done, steps| progress.tell(done, steps))?;
            progress.finish()?;
            Ok(TableResults { bytes: Arc::new(results) })
        })
    }

    /// Opens the results of a plan.
    fn decrypt<'py>(
        &self,
        py: Python<'py>,
        plan: &TablePlan,
        results: &TableResults,
    ) -> PyResult<Vec<(String, Value<'py>)>> {
        let (keys, plan) = (Arc::clone(&self.held), Arc::clone(&plan.plan));
        let bytes = Arc::clone(&results.bytes);
        let results = run(py, move || Ok(keys.decrypt(&plan, &bytes)?))?;
        given(py, results).or_raise(py)
    }
}
