//! Threads that take jobs from the queue and compute each in a process of its own.

mod process;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use self::process::{Ended, Process};
use crate::config::{Config, Limits, Worker};
use crate::metrics::Metrics;
use crate::name::JobId;
use crate::records::Claimed;
use crate::refusal::{Result, ServiceError};
use crate::store::Store;
use crate::task::RESULT;

/// How long a thread without a job waits before it looks again: for jobs that other processes put back.
const LOOK_AGAIN: Duration = Duration::from_secs(2);
/// Pause before another attempt where state or storage cannot be reached.
const AGAIN: Duration = Duration::from_secs(1);
/// Number of times that a lease is renewed before it would end.
const BEATS: u32 = 4;
/// Time between two looks at a process: short at first, so that short jobs end soon, then longer.
const LOOKS: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(50));

/// Threads that compute jobs.
#[derive(Debug)]
pub(crate) struct Pool {
    shared: Arc<Shared>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    /// Thread that renews the lease of this server.
    heart: Mutex<Option<JoinHandle<()>>>,
}

/// State that the threads of a pool share.
#[derive(Debug)]
struct Shared {
    store: Arc<Store>,
    metrics: Arc<Metrics>,
    worker: Worker,
    limits: Limits,
    state: Mutex<State>,
    /// Wakes threads for jobs.
    wake: Condvar,
    /// Wakes the thread that renews the lease, to end it.
    over: Condvar,
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
    /// Whether all jobs ended after the pool was asked to stop: the lease is not renewed any more.
    is_over: bool,
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
            over: Condvar::new(),
        });
        let start = |name: String, run: fn(&Shared)| {
            let shared = Arc::clone(&shared);
            std::thread::Builder::new().name(name).spawn(move || run(&shared))
        };
        let heart = Mutex::new(Some(start("lease".to_owned(), Shared::keep_lease)?));
        let worker = |number| start(format!("jobs-{number}"), Shared::serve);
        let threads = (0..config.limits.workers.max(1)).map(worker).collect::<std::io::Result<Vec<_>>>()?;
        Ok(Self { threads: Mutex::new(threads), heart, shared: Arc::clone(&shared) })
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
        self.shared.state().is_over = true;
        self.shared.over.notify_all();
        let heart = self.heart.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(heart.map(JoinHandle::join));
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

    /// Renews the lease of this server until all its jobs ended, and gives it up then. Jobs that were removed, or that others took, are stopped.
    fn keep_lease(&self) {
        let lease = self.limits.lease;
        loop {
            let begin = Instant::now();
            let mut state = self.state();
            while !state.is_over && begin.elapsed() < lease / BEATS {
                let left = (lease / BEATS).saturating_sub(begin.elapsed());
                state = self.over.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
            }
            if state.is_over {
                break;
            }
            // Those that begin after this are not known to the state when it answers.
            let before: Vec<_> =
                state.running.iter().map(|(id, flag)| (id.clone(), Arc::clone(flag))).collect();
            drop(state);
            match self.store.records().beat(lease) {
                Ok(beat) => {
                    for (id, flag) in before {
                        flag.fetch_or(!beat.running.contains(&id), Ordering::Relaxed);
                    }
                    if beat.again > 0 {
                        tracing::warn!(jobs = beat.again, "jobs of a server that is gone are computed again");
                        self.state().queued += beat.again;
                        self.wake.notify_all();
                    }
                }
                Err(error) => tracing::warn!("the lease of this server is not renewed: {error}"),
            }
        }
        if let Err(error) = self.store.records().leave() {
            tracing::warn!("the lease of this server ends later: {error}");
        }
    }

    /// Does something again and again while state or storage cannot be reached, until the time of grace is over.
    fn insist<T>(&self, act: impl Fn() -> Result<T>) -> Result<T> {
        loop {
            match act() {
                Err(ServiceError::Unavailable(why)) if !self.is_late() => {
                    tracing::warn!("a job waits: {why}");
                    std::thread::sleep(AGAIN);
                }
                other => return other,
            }
        }
    }

    /// Says whether jobs that still run are to be stopped.
    fn is_late(&self) -> bool {
        self.state().stop.is_some_and(|stop| stop <= Instant::now())
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
            Err(ServiceError::Unavailable(why)) => {
                tracing::error!(
                    job = job.id.as_str(),
                    account,
                    "job is computed again once the lease ends: {why}"
                );
            }
            Err(error) => {
                tracing::error!(job = job.id.as_str(), account, "job: {error}");
                let message = "the server could not store or read the files of this job: ask its operator, and send the job again";
                if let Err(error) = self.finish(job, Err(message.to_owned())) {
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
            Err(ServiceError::Unavailable(why)) => {
                tracing::warn!(job = job.id.as_str(), "job waits for its files: {why}");
                std::thread::sleep(AGAIN);
                self.insist(|| self.store.records().requeue(&job.id))?;
                return Ok("requeued");
            }
            Err(error) => return Err(error),
        };
        match self.watch(&mut process, flag)? {
            Ended::Removed => Ok("removed"),
            Ended::Stopped => {
                self.insist(|| self.store.records().requeue(&job.id))?;
                Ok("requeued")
            }
            Ended::Done => {
                self.finish(job, Ok(folder.path().join(RESULT)))?;
                Ok("done")
            }
            Ended::Failed(message) => {
                self.finish(job, Err(message))?;
                Ok("failed")
            }
        }
    }

    /// Records the end of a job.
    fn finish(&self, job: &Claimed, end: std::result::Result<PathBuf, String>) -> Result<()> {
        self.insist(|| self.store.finish(&job.id, &end))
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
            if self.is_late() {
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
