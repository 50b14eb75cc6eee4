//! A server of `sunzi serve` or `sunzi lookup serve` in a process of its own.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use crate::common::Folder;

/// A server in a process of its own, which is killed when this is dropped.
pub(crate) struct Server {
    pub(crate) process: Child,
    pub(crate) address: String,
}

impl Server {
    /// Starts a server by a command line, at a port that is free.
    pub(crate) fn start(folder: &Folder, line: &str) -> Self {
        Self::start_with(folder, line, &[])
    }

    /// Starts a server that has these environment variables.
    pub(crate) fn start_with(folder: &Folder, line: &str, variables: &[(&str, &str)]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sunzi"));
        command.args(format!("{line} --listen 127.0.0.1:0").split_whitespace());
        command.envs(variables.iter().copied());
        command.current_dir(folder.path("")).stdout(Stdio::piped());
        let mut process = command.stderr(fs::File::create(folder.path("log")).unwrap()).spawn().unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let line = lines.find_map(|line| line.unwrap().strip_prefix("listening at ").map(str::to_owned));
        Self {
            process,
            address: line.unwrap_or_else(|| panic!("{}", fs::read_to_string(folder.path("log")).unwrap())),
        }
    }

    /// A server that was started elsewhere.
    pub(crate) fn of(process: Child) -> Self {
        Self { process, address: String::new() }
    }

    /// Asks the server to stop, and returns its exit code.
    pub(crate) fn stop(mut self) -> Option<i32> {
        let line = format!("kill -TERM {}", self.process.id());
        assert!(Command::new("sh").args(["-c", &line]).status().unwrap().success());
        self.process.wait().unwrap().code()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}
