//! The process of one job.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};

use crate::config::{Limits, Worker};
use crate::records::Claimed;
use crate::refusal::Result;
use crate::store::Store;
use crate::task::{KEYS, LONGEST, Outcome, RESULT, TABLES, Task};

/// Name of the file that takes what the process writes to standard output.
const SAID: &str = "said";

/// Process of a job, which is killed when this is dropped.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    /// The process ends when this is closed, also because the server was killed.
    _open: ChildStdin,
    folder: PathBuf,
}

/// End of a process.
#[derive(Debug)]
pub(super) enum Ended {
    /// The result is in its file.
    Done,
    /// There is none, and this says why.
    Failed(String),
    /// The job was removed.
    Removed,
    /// The server stops: the job is to be computed again.
    Stopped,
}

impl Process {
    /// Fills the folder of a job and starts its process there.
    pub(super) fn start(
        worker: &Worker,
        limits: &Limits,
        store: &Store,
        job: &Claimed,
        folder: &Path,
    ) -> Result<Self> {
        for own in [KEYS, TABLES] {
            fs::create_dir(folder.join(own))?;
        }
        for (path, blob) in &job.inputs {
            store.blobs().place(blob, &folder.join(path))?;
        }
        let mut command = Command::new(&worker.program);
        command.args(&worker.arguments).current_dir(folder);
        command.stdin(Stdio::piped()).stdout(File::create(folder.join(SAID))?).stderr(Stdio::null());
        // A key of the terminal interrupts the server, which then waits for its jobs.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn()?;
        let open = child.stdin.take();
        let mut process = match open {
            Some(open) => Self { child, _open: open, folder: folder.to_owned() },
            None => {
                drop(child.kill());
                return Err(std::io::Error::other("a process without standard input").into());
            }
        };
        let task = Task {
            tables: job.tables.clone(),
            precision: job.precision,
            memory: limits.job_memory,
            file: limits.upload,
        };
        let line = serde_json::to_string(&task).map_err(std::io::Error::from)? + "\n";
        // A process that ended at once reads nothing: its exit status says so later.
        drop(process._open.write_all(line.as_bytes()));
        Ok(process)
    }

    /// Says how the process ended, if it did.
    pub(super) fn ended(&mut self, limits: &Limits) -> Result<Option<Ended>> {
        let Some(status) = self.child.try_wait()? else { return Ok(None) };
        let said = self.said();
        Ok(Some(match said {
            Some(Outcome { error: Some(message) }) => Ended::Failed(message),
            Some(Outcome { error: None }) if status.success() && self.folder.join(RESULT).is_file() => {
                Ended::Done
            }
            _ => Ended::Failed(unsaid(status, limits)),
        }))
    }

    /// Reads what the process wrote to standard output, if it is an outcome.
    fn said(&self) -> Option<Outcome> {
        let mut text = Vec::new();
        File::open(self.folder.join(SAID)).ok()?.take(LONGEST).read_to_end(&mut text).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// Kills the process, and waits until it is gone.
    pub(super) fn kill(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Says why a process that told nothing may have ended.
fn unsaid(status: ExitStatus, limits: &Limits) -> String {
    let how = match status.code() {
        Some(code) => format!("with exit code {code}"),
        None => "by a signal".to_owned(),
    };
    format!(
        "the process of the job ended {how} before it had a result, most likely because it needed more than the {} bytes of memory, or had a longer result than the {} bytes, \
        that this server allows: compute fewer results at once, or ask its operator for more",
        limits.job_memory, limits.upload
    )
}
