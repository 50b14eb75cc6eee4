//! Configuration of a server: where it keeps what it has, its limits, and the command that computes a job.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use crate::records::Allowance;

/// Configuration of a server.
#[derive(Clone, Debug)]
pub struct Config {
    /// Folder with state and stored bytes, or with files of this machine alone where they are elsewhere.
    pub data: PathBuf,
    /// Database and object storage that several machines share; none where the folder has all.
    #[cfg(feature = "shared")]
    pub shared: Option<crate::shared::Shared>,
    /// Command that computes a job.
    pub worker: Worker,
    /// Limits of requests, accounts and jobs.
    pub limits: Limits,
}

impl Config {
    /// Makes the configuration of a server whose folder has all.
    #[must_use]
    pub fn new(data: PathBuf, worker: Worker, limits: Limits) -> Self {
        Self {
            data,
            #[cfg(feature = "shared")]
            shared: None,
            worker,
            limits,
        }
    }

    /// Whether other machines may serve the same state.
    pub(crate) fn is_shared(&self) -> bool {
        #[cfg(feature = "shared")]
        let is_shared = self.shared.is_some();
        #[cfg(not(feature = "shared"))]
        let is_shared = false;
        is_shared
    }
}

/// Command that computes a job: it is started in the folder of the job, with a [`Task`](crate::task::Task) on standard input, and writes its
/// [`Outcome`](crate::task::Outcome) to standard output.
#[derive(Clone, Debug)]
pub struct Worker {
    /// Executable.
    pub program: PathBuf,
    /// Arguments.
    pub arguments: Vec<OsString>,
}

/// Limits of requests, accounts and jobs.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Largest number of connections at a time; further ones wait.
    pub connections: usize,
    /// Largest number of connections of an address at a time, of a network in IPv6; further ones are closed. This machine has no such limit.
    pub connections_each: usize,
    /// Largest number of bytes of an uploaded object.
    pub upload: u64,
    /// Largest number of bytes of a program.
    pub program: u64,
    /// Limits of each account.
    pub account: Allowance,
    /// Largest number of uploads of one account at a time.
    pub uploads: usize,
    /// Number of jobs that are computed at a time.
    pub workers: usize,
    /// Time that a job may take.
    pub job_time: Duration,
    /// Bytes of memory that a job may take.
    pub job_memory: u64,
    /// Time that a client has to send the head of a request, and to agree on TLS.
    pub head: Duration,
    /// Time that a client may send or take nothing in the middle of a body.
    pub idle: Duration,
    /// Least number of bytes a second of a body, after the first minute.
    pub least_rate: u64,
    /// Time after which jobs of a server that is not heard of any more are computed by another one; whole seconds.
    pub lease: Duration,
    /// Largest number of bytes of stored objects that a server keeps at hand on its own machine, where they are stored elsewhere.
    pub cache: u64,
    /// Time that running jobs and open requests have to end when the server is asked to stop.
    pub grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 256,
            connections_each: 64,
            upload: 16 << 30,
            program: 16 << 20,
            account: Allowance { bytes: 64 << 30, unfinished: 100, jobs: 10_000 },
            uploads: 4,
            workers: 1,
            job_time: Duration::from_secs(3600),
            job_memory: 16 << 30,
            head: Duration::from_secs(10),
            idle: Duration::from_secs(30),
            least_rate: 1 << 10,
            lease: Duration::from_secs(30),
            cache: 16 << 30,
            grace: Duration::from_secs(10),
        }
    }
}
