//! Reductions by NTL, the line of Figure 1 of `[BEHMSZ17]` that is another library: a program of its own (`peers/native/ntl.cpp`), which the
//! variable `SUNZI_NTL` names.

use std::cell::RefCell;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use crate::repro::{LabError, Result};

/// Bits of the longest modulus that NTL computes with in words; that of `[BEHMSZ17]` has 62.
pub(super) const BITS: u32 = 60;

/// A running program, with a ring chosen.
pub(super) struct Ntl {
    process: Child,
    pipes: RefCell<(ChildStdin, BufReader<ChildStdout>)>,
    degree: usize,
}

impl Ntl {
    /// Starts the program for the polynomial of index m modulo q; none where no program is named.
    pub(super) fn start(m: u64, q: u64) -> Result<Option<Self>> {
        let Some(program) = std::env::var_os("SUNZI_NTL").map(PathBuf::from) else { return Ok(None) };
        let failed = |error| {
            LabError::Failed(format!("cannot start {}, which SUNZI_NTL names: {error}", program.display()))
        };
        let mut command = Command::new(&program);
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(failed)?;
        let pipes = process.stdin.take().zip(process.stdout.take());
        let (input, output) = pipes.ok_or_else(|| LabError::Failed("a program without pipes".to_owned()))?;
        let pipes = RefCell::new((input, BufReader::new(output)));
        let mut started = Self { process, pipes, degree: 0 };
        started.degree = started.ask(&format!("ring {m} {q}"))?.first().copied().unwrap_or(0) as usize;
        Ok(Some(started))
    }

    /// The degree of the polynomial.
    pub(super) fn degree(&self) -> usize {
        self.degree
    }

    /// The coefficients of a polynomial reduced.
    pub(super) fn remainder(&self, words: &[u64]) -> Result<Vec<u64>> {
        let words: Vec<String> = words.iter().map(u64::to_string).collect();
        self.ask(&format!("remainder {}", words.join(" ")))
    }

    /// The time of a reduction, the mean of `count` in a row.
    pub(super) fn time(&self, count: u32) -> Result<Duration> {
        let taken = self.ask(&format!("time {count}"))?.first().copied();
        let taken = taken.ok_or_else(|| LabError::Failed("no time from the program for NTL".to_owned()))?;
        Ok(Duration::from_nanos(taken) / count.max(1))
    }

    /// Writes a line, and reads the numbers of the line that answers.
    fn ask(&self, line: &str) -> Result<Vec<u64>> {
        let (input, output) = &mut *self.pipes.borrow_mut();
        let mut answer = String::new();
        let talk = writeln!(input, "{line}")
            .and_then(|()| input.flush())
            .and_then(|()| output.read_line(&mut answer));
        talk.map_err(|error| LabError::Failed(format!("the program for NTL: {error}")))?;
        let numbers: std::result::Result<Vec<u64>, _> = answer.split_whitespace().map(str::parse).collect();
        numbers.map_err(|_| LabError::Failed(format!("the program for NTL answered {answer:?}, not numbers")))
    }
}

impl Drop for Ntl {
    fn drop(&mut self) {
        // It waits for lines for ever otherwise.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
