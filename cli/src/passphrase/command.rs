//! Commands of the shell that keep passphrases and wrap keys, such as those of a key management service.
//!
//! A command is a line that the user wrote, and nothing is put into it: what it works on comes on its standard input.

use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use zeroize::Zeroizing;

use crate::error::CliError;

/// Longest output of a command that is read, in bytes.
pub(super) const LONGEST_OUTPUT: u64 = 1 << 16;
/// Time that a command has.
pub(super) const LIMIT: Duration = Duration::from_secs(120);
/// Time between two looks at whether a command ended.
const LOOK: Duration = Duration::from_millis(5);

/// Runs a command that `what` names in errors, with these bytes on its standard input, and returns what it prints.
pub(super) fn printed(
    (command, what): (&str, &str),
    input: Option<&[u8]>,
    limit: Duration,
) -> Result<Zeroizing<Vec<u8>>, CliError> {
    let failed = |why: String| CliError::input(format!("the command for {what} {why}"));
    let (deadline, seconds) = (Instant::now() + limit, limit.as_secs_f64());
    let late = || failed(format!("took longer than {seconds} seconds, and was stopped"));
    let mut child = started(command, input.is_some())
        .map_err(|error| failed(format!("could not be started: {error}")))?;
    give(&mut child, input);
    let output = match read(&mut child, limit) {
        Ok(output) => output,
        Err(error) => {
            stop(&mut child);
            return Err(error.map_or_else(late, |error| failed(format!("could not be read: {error}"))));
        }
    };
    let long = output.len() as u64 > LONGEST_OUTPUT;
    let status = loop {
        match child.try_wait().map_err(|error| failed(error.to_string()))? {
            Some(status) => break status,
            None if long || Instant::now() >= deadline => {
                stop(&mut child);
                if !long {
                    return Err(late());
                }
            }
            None => thread::sleep(LOOK),
        }
    };
    if long {
        return Err(failed(format!("printed more than {LONGEST_OUTPUT} bytes")));
    }
    if !status.success() {
        return Err(failed(format!("ended with {status}")));
    }
    if output.is_empty() {
        return Err(failed("printed nothing".to_owned()));
    }
    Ok(output)
}

fn started(command: &str, has_input: bool) -> std::io::Result<Child> {
    let shell = if cfg!(windows) { ["cmd", "/C"] } else { ["sh", "-c"] };
    let input = if has_input { Stdio::piped() } else { Stdio::null() };
    Command::new(shell[0]).args([shell[1], command]).stdin(input).stdout(Stdio::piped()).spawn()
}

/// Writes the input of a command, which need not read it.
fn give(child: &mut Child, input: Option<&[u8]>) {
    if let (Some(mut to), Some(input)) = (child.stdin.take(), input) {
        let input = Zeroizing::new(input.to_vec());
        thread::spawn(move || drop(to.write_all(&input)));
    }
}

/// Reads what a command prints, one byte more than is taken at most; the error is none where the time is over.
fn read(child: &mut Child, limit: Duration) -> Result<Zeroizing<Vec<u8>>, Option<std::io::Error>> {
    let Some(out) = child.stdout.take() else { return Ok(Zeroizing::default()) };
    let (sender, receiver) = channel();
    // A command may leave processes behind that keep its output open: the thread is left to them.
    thread::spawn(move || {
        let mut output = Zeroizing::new(Vec::with_capacity(LONGEST_OUTPUT as usize + 1));
        let read = out.take(LONGEST_OUTPUT + 1).read_to_end(&mut output);
        drop(sender.send(read.map(|_| output)));
    });
    match receiver.recv_timeout(limit) {
        Ok(read) => read.map_err(Some),
        Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => Err(None),
    }
}

/// Ends a command, and waits for it.
fn stop(child: &mut Child) {
    // It may have ended by itself.
    drop(child.kill());
    drop(child.wait());
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn told(command: &str, input: Option<&[u8]>) -> Result<Vec<u8>, String> {
        let limit = Duration::from_millis(800);
        printed((command, "a test"), input, limit)
            .map(|output| output.to_vec())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn commands_get_bytes_and_give_bytes() {
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(told("cat", Some(&all)), Ok(all.clone()));
        assert_eq!(told("printf x", Some(&all)), Ok(b"x".to_vec()), "whether they read it or not");
        assert_eq!(told("cat; printf end", None), Ok(b"end".to_vec()));
        let long = vec![b'x'; LONGEST_OUTPUT as usize];
        assert_eq!(told("cat", Some(&long)), Ok(long));
    }

    #[test]
    fn commands_that_fail_or_do_not_end_are_refused() {
        for (command, word) in [
            ("exit 3", "ended with"),
            ("printf x; exit 3", "ended with"),
            ("true", "printed nothing"),
            ("cat /dev/zero", "more than 65536 bytes"),
            ("exec sleep 60", "took longer than 0.8 seconds"),
            ("printf x; sleep 60 & wait", "took longer"),
            ("exec >&-; exec sleep 60", "took longer"),
            ("no-such-command-anywhere 2> /dev/null", "ended with"),
        ] {
            let start = Instant::now();
            let refused = told(command, None).unwrap_err();
            assert!(
                refused.contains(word) && refused.contains("the command for a test"),
                "{command}: {refused}"
            );
            assert!(start.elapsed() < Duration::from_secs(20), "{command}");
        }
    }
}
