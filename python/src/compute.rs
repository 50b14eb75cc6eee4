//! Calls that compute: without the interpreter's lock, on threads of the caller's choice, interruptible by Ctrl-C, with panics turned into
//! exceptions.

use std::any::Any;
use std::cell::{OnceCell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error::Failure;

/// Longest time that a call may leave Ctrl-C unnoticed.
pub(crate) const PATIENCE: Duration = Duration::from_millis(50);

/// Largest number of words of polynomials whose operations end before Ctrl-C could be missed: a product takes some 20 ms.
const SHORT_WORDS: usize = 1 << 19;
/// Largest number of callers' threads that compute themselves: each keeps a few kilobytes for good.
const MOST_CALLERS: usize = 1 << 8;

/// Number of callers' threads that have computed themselves.
static CALLERS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Pool of the calling thread alone, which shares nothing with others; `None` where it cannot be made.
    static ALONE: OnceCell<Option<ThreadPool>> = const { OnceCell::new() };
    /// Pools chosen by `with sunzi.threads(k)`, the innermost last, each with its process: a fork inherits the list and none of the threads.
    static CHOSEN: RefCell<Vec<(u32, Arc<ThreadPool>)>> = const { RefCell::new(Vec::new()) };
}

/// Nanoseconds that the work of all calls of the process has taken so far.
static WORKED: AtomicU64 = AtomicU64::new(0);

/// Pool of callers that chose none, with its process: a fork has none of its threads.
static SHARED: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// Runs short `work` on polynomials of `words` words: where one thread was chosen, the caller's thread runs it. To wake another and to be woken
/// by it would take some dozens of microseconds, and milliseconds where other programs have the processors.
pub(crate) fn run_short<T: Send + 'static>(
    py: Python<'_>,
    words: usize,
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> PyResult<T> {
    let pool = current()?;
    let shared = pool.current_num_threads() > 1 || pool.current_thread_index().is_some();
    if shared || words > SHORT_WORDS || !ALONE.with(|alone| alone.get_or_init(caller_as_pool).is_some()) {
        return run(py, work);
    }
    py.detach(|| counted(work)).map_err(|failure| failure.raise(py))
}

fn caller_as_pool() -> Option<ThreadPool> {
    if CALLERS.fetch_add(1, Ordering::Relaxed) >= MOST_CALLERS {
        return None;
    }
    ThreadPoolBuilder::new().num_threads(1).use_current_thread().build().ok()
}

/// Runs the work of a call; counts its time and turns a panic into an error.
fn counted<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    let begun = Instant::now();
    let outcome = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(described(&*panic)));
    WORKED.fetch_add(u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
    outcome
}

/// Runs `work` on other threads and waits for it. Ctrl-C ends the wait: the work is finished in the background, and its result dropped.
pub(crate) fn run<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> PyResult<T> {
    let pool = current()?;
    if pool.current_thread_index().is_some() {
        // These threads wait for the callback, and would be needed for the keys whose generation waits for it too.
        let what = "a progress callback cannot compute: let it note what it is told and compute afterwards";
        return Err(Failure::new("ReentrantCall", what).raise(py));
    }
    let (sender, mut receiver) = channel();
    pool.spawn(move || {
        // The time is counted before the caller sees the result.
        let outcome = counted(work);
        // Nothing receives the result after Ctrl-C.
        let _ = sender.send(outcome);
    });
    loop {
        let waited = py.detach(move || {
            let outcome = receiver.recv_timeout(PATIENCE);
            (receiver, outcome)
        });
        receiver = waited.0;
        match waited.1 {
            Ok(outcome) => return outcome.map_err(|failure| failure.raise(py)),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Failure::internal("a thread was lost").raise(py));
            }
        }
    }
}

/// Seconds of wall-clock time that the calls of this process have spent computing in Rust so far.
#[pyfunction]
pub(crate) fn seconds_of_work() -> f64 {
    Duration::from_nanos(WORKED.load(Ordering::Relaxed)).as_secs_f64()
}

fn described(panic: &(dyn Any + Send)) -> Failure {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    Failure::internal(text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic"))
}

fn current() -> PyResult<Arc<ThreadPool>> {
    let process = std::process::id();
    match CHOSEN.with_borrow(|chosen| chosen.last().cloned()) {
        Some((owner, pool)) if owner == process => Ok(pool),
        _ => shared(),
    }
}

/// Returns the shared pool. It is called with the interpreter's lock only, as forks are: no fork finds the mutex taken.
fn shared() -> PyResult<Arc<ThreadPool>> {
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    if let Some((owner, pool)) = &*shared
        && *owner == process
    {
        return Ok(Arc::clone(pool));
    }
    let pool = Arc::new(pool(0)?);
    // The pool of a parent process has locks that nobody will release: it is leaked.
    std::mem::forget(shared.replace((process, Arc::clone(&pool))));
    Ok(pool)
}

fn pool(threads: usize) -> PyResult<ThreadPool> {
    let named = ThreadPoolBuilder::new().num_threads(threads).thread_name(|i| format!("sunzi-{i}"));
    named.build().map_err(|error| pyo3::exceptions::PyRuntimeError::new_err(error.to_string()))
}

/// A thread pool for all calls of the thread that entered it.
#[pyclass(frozen, name = "threads", module = "sunzi")]
pub(crate) struct Threads {
    pool: Arc<ThreadPool>,
    process: u32,
}

#[pymethods]
impl Threads {
    #[new]
    fn new(count: usize) -> PyResult<Self> {
        if count == 0 {
            return Err(pyo3::exceptions::PyValueError::new_err("threads(0): take at least one thread"));
        }
        Ok(Self { pool: Arc::new(pool(count)?), process: std::process::id() })
    }

    #[getter]
    fn count(&self) -> usize {
        self.pool.current_num_threads()
    }

    fn __enter__(slf: PyRef<'_, Self>) -> PyResult<PyRef<'_, Self>> {
        if slf.process != std::process::id() {
            let what = "these threads belong to the parent process: make them after the fork";
            return Err(pyo3::exceptions::PyRuntimeError::new_err(what));
        }
        CHOSEN.with_borrow_mut(|chosen| chosen.push((slf.process, Arc::clone(&slf.pool))));
        Ok(slf)
    }

    #[pyo3(signature = (*_error))]
    fn __exit__(&self, _error: &Bound<'_, pyo3::types::PyTuple>) {
        CHOSEN.with_borrow_mut(|chosen| {
            if let Some(place) = chosen.iter().rposition(|(_, pool)| Arc::ptr_eq(pool, &self.pool)) {
                chosen.remove(place);
            }
        });
    }

    fn __repr__(&self) -> String {
        format!("sunzi.threads({})", self.count())
    }
}

/// A Python callable that receives the numbers of steps done and of all steps, from any thread; its first exception is kept.
pub(crate) struct Progress {
    callback: Option<Py<PyAny>>,
    raised: Mutex<Option<PyErr>>,
}

impl Progress {
    pub(crate) fn new(callback: Option<Py<PyAny>>) -> Self {
        Self { callback, raised: Mutex::new(None) }
    }

    pub(crate) fn tell(&self, done: usize, total: usize) {
        let Some(callback) = &self.callback else { return };
        let mut raised = self.raised.lock().unwrap_or_else(PoisonError::into_inner);
        if raised.is_none()
            && let Err(error) = Python::attach(|py| callback.call1(py, (done, total)).map(drop))
        {
            *raised = Some(error);
        }
    }

    /// Returns the exception that the callable of a progress report raised, if any.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        let raised = self.raised.into_inner().unwrap_or_else(PoisonError::into_inner);
        raised.map_or(Ok(()), |error| Err(Failure::Python(error)))
    }
}
