//! Threads that take jobs from the queue and compute each in a process of its own.

mod process;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use self::process::{Ended, Process};
use crate::config::{Config, Limits, Worker};
use crate::metrics::Metrics;
use crate::name::JobId;
use crate::records::Claimed;
use crate::refusal::Result;
use crate::store::Store;
use crate::task::RESULT;

/// How long a thread without a job waits before it looks again: for jobs that other processes put back.
const LOOK_AGAIN: Duration = Duration::from_secs(2);
/// Time between two looks at a process: short at first, so that short jobs end soon, then longer.
const LOOKS: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(50));

/// Threads that compute jobs.
#[derive(Debug)]
pub(crate) struct Pool {
    shared: Arc<Shared>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

/// State that the threads of a pool share.
#[derive(Debug)]
struct Shared {
    store: Arc<Store>,
    metrics: Arc<Metrics>,
    worker: Worker,
    limits: Limits,
    state: Mutex<State>,
    wake: Condvar,
}

/// State of a pool that changes while it runs.
#[derive(Debug, Default)]
struct State {
    /// When jobs that run are stopped at the latest, once the pool was asked to stop.
    stop: Option<Instant>,
    /// Jobs that run, and whether they are to be stopped.
    running: HashMap<JobId, Arc<AtomicBool>>,
    /// Number of jobs that were queued: a thread that found none waits only if none came since it looked.
    queued: u64,
}

impl Pool {
    /// Starts the threads.
    pub(crate) fn start(config: &Config, store: &Arc<Store>, metrics: &Arc<Metrics>) -> Result<Self> {
        let shared = Arc::new(Shared {
            store: Arc::clone(store),
            metrics: Arc::clone(metrics),
            worker: config.worker.clone(),
            limits: config.limits.clone(),
            state: Mutex::default(),
            wake: Condvar::new(),
        });
        let start = |number| {
            let shared = Arc::clone(&shared);
            std::thread::Builder::new().name(format!("jobs-{number}")).spawn(move || shared.serve())
        };
        let threads = (0..config.limits.workers.max(1)).map(start).collect::<std::io::Result<Vec<_>>>()?;
        Ok(Self { shared, threads: Mutex::new(threads) })
    }

    /// Wakes a thread for a job that was queued.
    pub(crate) fn wake(&self) {
        self.shared.state().queued += 1;
        self.shared.wake.notify_one();
    }

    /// Stops a job, if it runs; its record should be removed before.
    pub(crate) fn stop_job(&self, id: &JobId) {
        if let Some(flag) = self.shared.state().running.get(id) {
            flag.store(true, Ordering::Relaxed);
        }
    }

    /// Takes no further job, and stops jobs that still run after the time that the limits say.
    pub(crate) fn ask_to_stop(&self) {
        self.shared.state().stop.get_or_insert(Instant::now() + self.shared.limits.grace);
        self.shared.wake.notify_all();
    }

    /// Asks to stop, waits for jobs that run, and ends all threads; jobs that had to be stopped are queued again.
    pub(crate) fn stop(&self) {
        self.ask_to_stop();
        let threads = std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        for thread in threads {
            if thread.join().is_err() {
                tracing::error!("a thread of jobs ended by a panic");
            }
        }
    }
}

/// Stops the threads, also where a server never ran.
impl Drop for Pool {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Computes jobs until the pool is asked to stop.
    fn serve(&self) {
        loop {
            let State { stop, queued, .. } = *self.state();
            if stop.is_some() {
                return;
            }
            match self.store.records().claim() {
                Ok(Some(job)) => self.compute(&job),
                Ok(None) => self.wait(queued),
                Err(error) => {
                    tracing::error!("the queue cannot be read: {error}");
                    self.wait(queued);
                }
            }
        }
    }

    /// Waits until a job is queued, unless one was since so many had been, or until it is time to look again.
    fn wait(&self, queued: u64) {
        let state = self.state();
        if state.stop.is_none() && state.queued == queued {
            // Whether it was woken or waited long enough, the queue is looked at again.
            drop(self.wake.wait_timeout(state, LOOK_AGAIN));
        }
    }

    /// Computes one job and records its end.
    fn compute(&self, job: &Claimed) {
        let flag = Arc::new(AtomicBool::new(false));
        self.state().running.insert(job.id.clone(), Arc::clone(&flag));
        self.metrics.job_began(job.waited);
        let begin = Instant::now();
        let result = self.run(job, &flag);
        self.state().running.remove(&job.id);
        let seconds = begin.elapsed().as_secs_f64();
        let account = job.account.0;
        match result {
            Ok(end) => {
                self.metrics.job_ended(end, seconds);
                tracing::info!(job = job.id.as_str(), account, end, seconds, "job");
            }
            Err(error) => {
                tracing::error!(job = job.id.as_str(), account, "job: {error}");
                let message = "the server could not store or read the files of this job: ask its operator, and send the job again";
                if let Err(error) = self.store.finish(&job.id, Err(message.to_owned())) {
                    tracing::error!(job = job.id.as_str(), account, "job stays unfinished: {error}");
                }
            }
        }
    }

    /// Runs the process of a job and records what came of it; returns a word for it.
    fn run(&self, job: &Claimed, flag: &AtomicBool) -> Result<&'static str> {
        let folder = self.store.blobs().folder()?;
        let mut process = match Process::start(&self.worker, &self.limits, &self.store, job, folder.path()) {
            Ok(process) => process,
            // A job that was removed has lost its files.
            Err(_) if flag.load(Ordering::Relaxed) => return Ok("removed"),
            Err(error) => return Err(error),
        };
        match self.watch(&mut process, flag)? {
            Ended::Removed => Ok("removed"),
            Ended::Stopped => {
                self.store.records().requeue(&job.id)?;
                Ok("requeued")
            }
            Ended::Done => {
                self.store.finish(&job.id, Ok(&folder.path().join(RESULT)))?;
                Ok("done")
            }
            Ended::Failed(message) => {
                self.store.finish(&job.id, Err(message))?;
                Ok("failed")
            }
        }
    }

    /// Waits until a process ends, or stops it.
    fn watch(&self, process: &mut Process, flag: &AtomicBool) -> Result<Ended> {
        let deadline = Instant::now() + self.limits.job_time;
        let (mut pause, longest) = LOOKS;
        loop {
            if let Some(ended) = process.ended(&self.limits)? {
                return Ok(ended);
            }
            let now = Instant::now();
            if flag.load(Ordering::Relaxed) {
                process.kill();
                return Ok(Ended::Removed);
            }
            if self.state().stop.is_some_and(|stop| stop <= now) {
                process.kill();
                return Ok(Ended::Stopped);
            }
            if deadline <= now {
                process.kill();
                let most = self.limits.job_time.as_secs_f64();
                return Ok(Ended::Failed(format!(
                    "the job took longer than the {most} s that this server allows: compute fewer results at once, or ask its operator for more time"
                )));
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(longest);
        }
    }
}
