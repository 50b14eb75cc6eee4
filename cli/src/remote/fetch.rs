//! `sunzi remote get`: the result of a job, also over a connection that breaks.

use std::fs::File;
use std::io::{Read, Write};
use std::thread::sleep;
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};
use sunzi::rlwe::wire::WireError;
use sunzi::rlwe::words::bytes;

use super::client::Client;
use crate::args::service::GetArgs;
use crate::error::CliError;
use crate::files::target::{Content, Stopped, Target};
use crate::output;
use crate::progress::Progress;
use crate::serve::name;

/// Pauses between two looks at a job: short at first, then longer.
const PAUSES: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(2));
/// How often a connection may break before the command gives up.
const BREAKS: usize = 5;
/// How many connections a download may take, besides one for each MiB: a server could give a byte over each.
const CONNECTIONS: u64 = 1000;
/// Bits of the size of a step of a progress bar: 1 MiB.
const STEP: u32 = 20;

/// Report of a result that was fetched.
#[derive(Serialize)]
struct Fetched {
    job: String,
    file: String,
    bytes: u64,
    sha256: String,
}

/// Waits for a job, and writes its result.
pub(super) fn run(args: &GetArgs) -> Result<(), CliError> {
    let target = Target::new(&args.output, &args.force, Content::Binary, args.show.json)?;
    let progress = Progress::new(!args.show.json && !args.show.quiet);
    let (client, id) = (Client::open()?, name(&args.job)?);
    let job = wait(&client, id.as_str(), &progress)?;
    let text = |name: &str| job.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (sha256, len) = (text("sha256"), job.get("bytes").and_then(Value::as_u64).unwrap_or(0));
    let path = format!("/v1/jobs/{id}/result");
    let mut download = Download { client: &client, path: &path, hash: Sha256::new(), bytes: 0, len };
    let written = target.write(|file| download.write(file, &sha256, &progress));
    written.map_err(|stopped| target.stopped(stopped))?;
    drop(progress);
    let fetched = Fetched { job: id.to_string(), file: target.name(), bytes: len, sha256 };
    target.report(args.show.json, &fetched, |Fetched { file, bytes: len, .. }| {
        format!("{file}: {}", bytes(*len))
    })?;
    if !args.show.json && !args.show.quiet {
        output::remark("sunzi decrypt reads it; --for and --schema refuse results of another program");
    }
    Ok(())
}

/// Waits until a job is done.
fn wait(client: &Client, id: &str, progress: &Progress) -> Result<Value, CliError> {
    let (mut pause, longest) = PAUSES;
    loop {
        let job = client.get(&format!("/v1/jobs/{id}"))?;
        let state = job.get("state").and_then(Value::as_str).unwrap_or_default();
        match state {
            "done" => return Ok(job),
            "failed" => {
                let why = job.get("error").and_then(Value::as_str).unwrap_or("the server does not say why");
                return Err(CliError::impossible(format!("the job failed: {why}")));
            }
            _ => progress.say(state),
        }
        sleep(pause);
        pause = (pause * 2).min(longest);
    }
}

/// Result that is being fetched.
struct Download<'a> {
    client: &'a Client,
    path: &'a str,
    hash: Sha256,
    bytes: u64,
    len: u64,
}

impl Download<'_> {
    /// Writes all of the result to a file, from where it was on after a connection broke.
    fn write(&mut self, file: &mut File, sha256: &str, progress: &Progress) -> Result<(), Stopped> {
        progress.say("fetching");
        let tag = format!("\"{sha256}\"");
        let (mut breaks, mut connections) = (0, 0);
        while self.bytes < self.len {
            if connections == CONNECTIONS + (self.len >> STEP) {
                let message = format!("the server broke {connections} connections: try again later");
                return Err(CliError::io(message).into());
            }
            connections += 1;
            let before = self.bytes;
            let came = self.take(file, &tag, progress);
            match came {
                Err(Stopped::Said(CliError::Io(message))) if breaks == BREAKS => {
                    return Err(CliError::Io(message).into());
                }
                Err(Stopped::Said(CliError::Io(_))) => {}
                Err(other) => return Err(other),
                Ok(()) => {}
            }
            if self.bytes == before {
                breaks += 1;
                if breaks > BREAKS {
                    return Err(
                        CliError::io("the server sends nothing more of the result: try again later").into()
                    );
                }
                sleep(PAUSES.1);
            }
        }
        let own: String = self.hash.clone().finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        if own != sha256 {
            return Err(CliError::damaged(
                "the bytes of the result are not those that the server says: fetch it again",
            )
            .into());
        }
        Ok(())
    }

    /// Takes as much as comes over one connection.
    fn take(&mut self, file: &mut File, tag: &str, progress: &Progress) -> Result<(), Stopped> {
        let response = self.client.bytes(self.path, self.bytes, Some(tag))?;
        if self.bytes > 0 && response.status().as_u16() != 206 {
            return Err(CliError::damaged("the result is another one than it was: fetch it again").into());
        }
        let mut from = response.into_body().into_with_config().limit(u64::MAX).reader();
        let mut buffer = vec![0; 1 << 17];
        let steps = |bytes: u64| usize::try_from(bytes >> STEP).unwrap_or(usize::MAX);
        loop {
            let read = from
                .read(&mut buffer)
                .map_err(|error| CliError::io(format!("the connection broke: {error}")))?;
            let part = buffer.get(..read).unwrap_or_default();
            if part.is_empty() {
                return Ok(());
            }
            if self.bytes + read as u64 > self.len {
                return Err(
                    CliError::damaged("the result is longer than the server says: fetch it again").into()
                );
            }
            file.write_all(part).map_err(WireError::Io)?;
            self.hash.update(part);
            self.bytes += read as u64;
            progress.at(steps(self.bytes), steps(self.len).max(1));
        }
    }
}
