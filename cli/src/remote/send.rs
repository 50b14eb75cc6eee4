//! `sunzi remote put`: evaluation keys, programs and encrypted tables.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};
use sunzi::rlwe::wire::{Kind, WireError, open_regular};
use sunzi::rlwe::words::{bytes, counted};

use super::client::Client;
use crate::args::service::{PutCommand, ShowArgs};
use crate::error::CliError;
use crate::files::{named, refuse, stored};
use crate::progress::Progress;
use crate::serve::name;
use crate::{output, program};

/// Bits of the size of a step of a progress bar: 1 MiB.
const STEP: u32 = 20;

/// Report of what was sent.
#[derive(Serialize)]
struct Sent {
    name: String,
    files: Vec<Kept>,
    bytes: u64,
}

/// File that the server keeps.
#[derive(Serialize)]
struct Kept {
    file: String,
    bytes: u64,
    sha256: String,
}

/// Sends something.
pub(super) fn run(what: &PutCommand) -> Result<(), CliError> {
    match what {
        PutCommand::Keys { name: own, folder, show } => {
            let files = evaluation_files(folder)?;
            let name = name(own)?;
            report(show, own, |client, progress| {
                let each = files.iter().map(|(file, path)| {
                    send_file(client, progress, &format!("/v1/keys/{name}/{file}"), file, path)
                });
                each.collect()
            })
        }
        PutCommand::Program { name: own, program, schema, show } => {
            let text = program_text(program, schema.as_deref())?;
            let name = name(own)?;
            report(show, own, |client, progress| {
                let path = format!("/v1/programs/{name}");
                Ok(vec![send(client, progress, &path, own, text.len() as u64, text.as_bytes())?])
            })
        }
        PutCommand::Table { name: own, file, show } => {
            refuse_secret(file)?;
            let name = name(own)?;
            report(show, own, |client, progress| {
                Ok(vec![send_file(client, progress, &format!("/v1/tables/{name}"), own, file)?])
            })
        }
    }
}

/// Connects, sends, and prints what was sent.
fn report(
    show: &ShowArgs,
    name: &str,
    send: impl FnOnce(&Client, &Progress) -> Result<Vec<Kept>, CliError>,
) -> Result<(), CliError> {
    let progress = Progress::new(!show.json && !show.quiet);
    let files = send(&Client::open()?, &progress)?;
    drop(progress);
    let sent = Sent { name: name.to_owned(), bytes: files.iter().map(|file| file.bytes).sum(), files };
    output::report(show.json, &sent, |Sent { name, files, bytes: all }| {
        format!("{name}: {}, {}", counted(files.len(), "file", "files"), bytes(*all))
    })
}

/// Returns what is sent of a program: its text, or with a schema all of it as JSON, with the weights of files that it names.
fn program_text(asked: &str, schema: Option<&Path>) -> Result<String, CliError> {
    let Some(schema) = schema else { return program::text(asked).map(|text| text.into_owned()) };
    let parsed = program::parse(asked, &program::plan::of_file(schema)?)?;
    serde_json::to_string(&parsed).map_err(CliError::failure)
}

/// Lists the files of a folder of evaluation keys, and refuses the folder where it has a secret.
fn evaluation_files(folder: &Path) -> Result<Vec<(String, PathBuf)>, CliError> {
    let wrong = |error| refuse(folder, WireError::Io(error));
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(wrong)? {
        let entry = entry.map_err(wrong)?;
        let path = entry.path();
        if !path.is_file() {
            return Err(CliError::input(format!(
                "{} has a folder in it: give the folder eval that sunzi keygen made, and no other",
                named(folder)
            )));
        }
        refuse_secret(&path)?;
        let file = entry.file_name().to_string_lossy().into_owned();
        found.push((name(&file)?.to_string(), path));
    }
    found.sort();
    if found.is_empty() {
        return Err(CliError::input(format!(
            "{} is empty: give the folder eval that sunzi keygen made",
            named(folder)
        )));
    }
    Ok(found)
}

/// Fails for a file that says it is secret, before a byte of it is sent.
fn refuse_secret(path: &Path) -> Result<(), CliError> {
    // What cannot be read as a file of Sunzi is refused by the server.
    let kind = stored::header(path).ok().and_then(|(header, _)| Kind::of(header.kind));
    match kind.filter(|kind| kind.is_secret()) {
        Some(kind) => Err(CliError::input(format!(
            "{} is {kind}, which never goes to a server: give the folder eval, or the encrypted table",
            named(path)
        ))),
        None => Ok(()),
    }
}

fn send_file(
    client: &Client,
    progress: &Progress,
    to: &str,
    name: &str,
    path: &Path,
) -> Result<Kept, CliError> {
    let file: File = open_regular(path).map_err(|error| refuse(path, error))?;
    let len = file.metadata().map_err(|error| refuse(path, WireError::Io(error)))?.len();
    send(client, progress, to, name, len, file)
}

/// Sends bytes, and compares what the server says that it has with what was sent.
fn send(
    client: &Client,
    progress: &Progress,
    to: &str,
    name: &str,
    len: u64,
    from: impl Read,
) -> Result<Kept, CliError> {
    progress.begin(usize::try_from(len >> STEP).unwrap_or(usize::MAX).max(1));
    progress.say(&format!("sending {name}"));
    let mut counted = Counted { from: from.take(len), hash: Sha256::new(), bytes: 0, len, progress };
    let answer = client.put(to, len, &mut counted)?;
    let hash = counted.hash.finalize();
    let sha256: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    if answer.get("sha256").and_then(Value::as_str) != Some(&sha256) {
        return Err(CliError::damaged(format!(
            "{name}: the server has other bytes than those that were sent: send it again"
        )));
    }
    Ok(Kept { file: name.to_owned(), bytes: counted.bytes, sha256 })
}

/// Bytes that are hashed and counted while they are read.
struct Counted<'a, R> {
    from: R,
    hash: Sha256,
    bytes: u64,
    len: u64,
    progress: &'a Progress,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(buffer)?;
        self.hash.update(buffer.get(..read).unwrap_or_default());
        self.bytes += read as u64;
        let steps = |bytes: u64| usize::try_from(bytes >> STEP).unwrap_or(usize::MAX);
        self.progress.at(steps(self.bytes), steps(self.len).max(1));
        Ok(read)
    }
}
