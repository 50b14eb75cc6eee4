//! What a server and the process of a job tell one another.
//!
//! The process is started in a folder with the files of the job. It reads a [`Task`] as one line of JSON from standard input, computes, writes the
//! result to [`RESULT`] and an [`Outcome`] as JSON to standard output. Standard input stays open as long as the server lives: at its end the process ends.

use std::io::{self, BufRead, Read};

use serde::{Deserialize, Serialize};

/// Name of the file with the program in the folder of a job.
pub const PROGRAM: &str = "program";
/// Name of the folder with the evaluation keys in the folder of a job.
pub const KEYS: &str = "keys";
/// Name of the folder with the tables in the folder of a job.
pub const TABLES: &str = "tables";
/// Name of the file with the result in the folder of a job.
pub const RESULT: &str = "result.sz";
/// Longest task and longest outcome, in bytes.
pub(crate) const LONGEST: u64 = 1 << 20;
/// Exit code of a process whose server has gone.
const ABANDONED: i32 = 130;

/// Task of the process of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// Paths of the tables in the folder of the job.
    pub tables: Vec<String>,
    /// Bits of precision of CKKS, if they are given.
    pub precision: Option<u32>,
    /// Bytes of memory that the process may take.
    pub memory: u64,
    /// Largest number of bytes of a file that the process writes.
    pub file: u64,
}

/// Outcome of the process of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// Why there is no result; nothing if there is one. Files are named as they are in the folder of the job.
    pub error: Option<String>,
}

/// Reads the task of this process from standard input, sets its limits, and makes it end when the server does.
///
/// # Errors
/// An error of standard input, of its JSON, or of the limits.
pub fn begin() -> io::Result<Task> {
    let mut line = String::new();
    io::stdin().lock().take(LONGEST).read_line(&mut line)?;
    let task: Task = serde_json::from_str(&line)?;
    limit(&task)?;
    // Nothing else comes: a read returns when the server closes its end, or is no longer there.
    std::thread::Builder::new().name("server".to_owned()).spawn(|| {
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        std::process::exit(ABANDONED);
    })?;
    Ok(task)
}

/// Sets the limits of this process: memory, length of files, and no core dumps, which would hold what it computes on.
#[cfg(unix)]
fn limit(task: &Task) -> io::Result<()> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    let limits = [(Resource::As, task.memory), (Resource::Fsize, task.file), (Resource::Core, 0)];
    for (resource, most) in limits {
        let most = getrlimit(resource).maximum.map_or(most, |maximum| maximum.min(most));
        setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?;
    }
    Ok(())
}

/// Sets no limits: other systems than Unix have none of this kind.
#[cfg(not(unix))]
fn limit(_: &Task) -> io::Result<()> {
    Ok(())
}
