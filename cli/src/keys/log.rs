//! `sunzi keys log`: shows the audit log of a secret key, and checks that it is as it was written.

use std::path::Path;

use serde::Serialize;
use sunzi::rlwe::words::counted;
use sunzi_keystore::log::{Event, Line, LogError, Outcome, Share, Summary, check};

use crate::args::keys::ShowLogArgs;
use crate::audit::{LOG, refused};
use crate::error::{CliError, one_line, quoted};
use crate::output;

/// Report of `sunzi keys log`.
#[derive(Serialize)]
struct Log {
    file: String,
    lines: Vec<Line>,
    /// SHA-256 of the last line that was read.
    head: Option<String>,
    /// Numbers of lines whose event never ended.
    open: Vec<u64>,
    /// Numbers of lines before which the clock was set back.
    set_back: Vec<u64>,
    /// Bytes that a crash left behind the last line.
    torn: u64,
}

/// Prints a log; one that was changed is printed up to there.
pub(super) fn run(args: &ShowLogArgs) -> Result<(), CliError> {
    let file = if args.log.is_dir() { args.log.join(LOG) } else { args.log.clone() };
    let mut lines = Vec::new();
    let checked = check(&file, args.expect.as_deref(), |line| lines.push(line.clone()));
    let error = match checked {
        Ok(summary) => {
            let log = Log::new(&file, lines, Some(summary));
            output::report(args.json, &log, Log::text)?;
            return Ok(());
        }
        Err(error @ (LogError::Io(_) | LogError::NotLog { .. })) => return Err(refused(&file, error)),
        Err(error) => refused(&file, error),
    };
    let log = Log::new(&file, lines, None);
    Err(output::report_failed(args.json, &log, Log::text, error))
}

impl Log {
    fn new(file: &Path, lines: Vec<Line>, summary: Option<Summary>) -> Self {
        let file = file.display().to_string();
        let Some(Summary { head, open, set_back, torn, .. }) = summary else {
            return Self { file, lines, head: None, open: Vec::new(), set_back: Vec::new(), torn: 0 };
        };
        Self { file, lines, head: Some(head), open: open.into_iter().collect(), set_back, torn }
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for line in &self.lines {
            let told = described(line);
            text.push_str(&format!("{:<5} {}  {}\n", line.line, line.time, one_line(&told)));
        }
        for number in &self.set_back {
            text.push_str(&format!("the clock was set back before line {number}\n"));
        }
        for number in &self.open {
            text.push_str(&format!("line {number} has no end: the process was stopped, or still runs\n"));
        }
        if self.torn > 0 {
            text.push_str(&format!(
                "{} bytes behind the last line: a crash left them, and the next line says so\n",
                self.torn
            ));
        }
        if let Some(head) = &self.head {
            let lines = counted(self.lines.len(), "line", "lines");
            text.push_str(&format!("{lines}, none changed or removed before the last\nhead  {head}\n"));
        }
        text
    }
}

/// Returns what a line says, in words.
fn described(line: &Line) -> String {
    match &line.event {
        Event::Begun { with_key: true } => format!("key {} is made", line.key),
        Event::Begun { with_key: false } => {
            format!("the log begins, and nobody knows what was opened before with key {}", line.key)
        }
        Event::Open(opening) => {
            let mut told = format!("{} {}, SHA-256 {}", opening.what, quoted(&opening.file), opening.sha256);
            if let Some(program) = &opening.program {
                let agreed = if opening.agreed { ", which was agreed on" } else { "" };
                told.push_str(&format!(", of program {program}{agreed}"));
            }
            if let Some(Share { ciphertexts, queries, statistical_bits }) = &opening.share {
                let count = counted(*ciphertexts as usize, "ciphertext", "ciphertexts");
                told.push_str(&format!(", share {count} of {queries} at 2^-{statistical_bits}"));
            }
            told
        }
        Event::Enable { by, to } => format!("make {by} to {to}"),
        Event::End { of, outcome: Outcome::Done } => format!("line {of} is done"),
        Event::End { of, outcome: Outcome::Failed(code) } => {
            format!("line {of} failed with exit code {code}")
        }
        Event::Recovered { bytes, .. } => format!("{bytes} bytes that a crash left are skipped"),
    }
}
