//! Rival libraries, each in a process of its own.
//!
//! Three threads stand between the harness and a rival's pipes, so that neither can wait for the other with a
//! full pipe: one writes requests, one reads answers, one keeps the last words on standard error. The harness
//! itself only ever waits on a channel, and never for longer than its patience.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;
use serde_json::Value;
use thiserror::Error;

use super::protocol::{self, Hello, Numbered, Preparation, Prepared, Request, Taken};
use crate::Result;
use crate::alternate::Contender;
use crate::bench::values::{Step, Values};

/// Bytes of a rival's longest answer: sixteen rotations of n = 2^16 numbers, twenty-odd characters each, fit
/// twice over.
const LONGEST_ANSWER: u64 = 64 << 20;
/// Bytes of a rival's standard error that are kept.
const LAST_WORDS: usize = 2000;
/// Bytes of a rival's answer that an error shows.
const SHOWN: usize = 200;
/// Longest time a rival may take to end once it was told to, or once it closed its output.
const FAREWELL: Duration = Duration::from_secs(2);

/// Errors of a rival library's process.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RivalError {
    /// The rival's program could not be started.
    #[error("{rival}: cannot start {program}: {reason}; build it with cargo xtask peers")]
    Start {
        /// Name of the rival that did not start.
        rival: String,
        /// Path of the rival's program.
        program: String,
        /// Reason of the operating system why the program did not start.
        reason: String,
    },
    /// No answer of the rival came in time; its program was ended.
    #[error("{rival}: no answer to {request} within {seconds:.1} s, ended it{last_words}")]
    Silent {
        /// Name of the rival that gave no answer.
        rival: String,
        /// Request that the rival did not answer.
        request: &'static str,
        /// Seconds that the harness waited for the answer.
        seconds: f64,
        /// Last text that the silent rival wrote to standard error.
        last_words: String,
    },
    /// The rival's program ended by itself.
    #[error("{rival}: ended while asked to {request}, {status}{last_words}")]
    Ended {
        /// Name of the rival whose program ended.
        rival: String,
        /// Request during which the rival's program ended.
        request: &'static str,
        /// Exit status of the rival's program.
        status: String,
        /// Last text that the ended rival wrote to standard error.
        last_words: String,
    },
    /// The rival's answer is not what the protocol says.
    #[error("{rival}: expected {expected} in answer to {request}, got {got}")]
    Nonsense {
        /// Name of the rival that broke the protocol.
        rival: String,
        /// Request that the rival answered wrongly.
        request: &'static str,
        /// Answer that the protocol prescribes.
        expected: String,
        /// Beginning of the answer that came instead.
        got: String,
    },
    /// The rival answers that it cannot do what it was asked.
    #[error("{rival}: cannot {request}: {message}")]
    Refused {
        /// Name of the rival that refused.
        rival: String,
        /// Request that the rival refused.
        request: &'static str,
        /// The rival's own words of refusal.
        message: String,
    },
    /// The rival cannot do every step of which circuits are made.
    #[error("{rival}: no circuits, for want of {}; add them to its program in peers/", gaps.join(", "))]
    Gaps {
        /// Name of the rival that lacks steps.
        rival: String,
        /// Steps that the rival refused, each with its words of refusal.
        gaps: Vec<String>,
    },
}

/// The running process of a rival that has given its name and version.
pub(crate) struct Rival {
    name: String,
    child: Child,
    requests: Sender<String>,
    answers: Receiver<Vec<u8>>,
    last_words: Arc<Mutex<VecDeque<u8>>>,
    listener: JoinHandle<()>,
    patience: Duration,
    id: u64,
    hello: Hello,
}

impl Rival {
    /// Starts the rival `command`, with one thread and no input but requests, and asks for its name and version.
    pub(crate) fn start(name: &str, mut command: Command, patience: Duration) -> Result<Self, RivalError> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.env("GOMAXPROCS", "1").env("RAYON_NUM_THREADS", "1").env("OMP_NUM_THREADS", "1");
        let program = command.get_program().to_string_lossy().into_owned();
        let failed = |reason| RivalError::Start { rival: name.to_owned(), program: program.clone(), reason };
        let mut child = match command.spawn() {
            Ok(child) => child,
            Err(error) => return Err(failed(error.to_string())),
        };
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(failed("it has no pipes".to_owned()));
        };
        let (requests, to_write) = channel();
        // One answer waits at most: a rival that talks without being asked stops at a full pipe.
        let (read, answers) = sync_channel(1);
        let last_words = Arc::new(Mutex::new(VecDeque::new()));
        let kept = Arc::clone(&last_words);
        thread::spawn(move || write_requests(stdin, &to_write));
        thread::spawn(move || read_answers(stdout, &read));
        let listener = thread::spawn(move || keep_last_words(stderr, &kept));
        let nobody =
            Hello { protocol: 0, library: String::new(), version: String::new(), features: String::new() };
        let name = name.to_owned();
        let id = 0;
        let mut rival =
            Self { name, child, requests, answers, last_words, listener, patience, id, hello: nobody };
        rival.hello = rival.ask("hello", Request::Hello { protocol: protocol::VERSION })?;
        match rival.hello.protocol {
            protocol::VERSION => Ok(rival),
            other => {
                let expected = format!("protocol {}", protocol::VERSION);
                Err(rival.nonsense("hello", expected, format!("protocol {other}")))
            }
        }
    }

    /// Name and version of the rival's library.
    pub(crate) fn title(&self) -> String {
        format!("{} {}", self.hello.library, self.hello.version)
    }

    /// How the rival library was built and what it uses of the machine.
    pub(crate) fn features(&self) -> &str {
        &self.hello.features
    }

    /// Asks the rival to make keys and data; returns the operations that can be verified and run.
    pub(crate) fn prepare(&mut self, preparation: Preparation) -> Result<Prepared, RivalError> {
        self.ask("prepare", Request::Prepare(preparation))
    }

    /// Gives the rival another left operand.
    pub(crate) fn replace(&mut self, left: Values) -> Result<(), RivalError> {
        let protocol::Replaced {} = self.ask("replace", Request::Replace { left })?;
        Ok(())
    }

    /// Process id of the rival.
    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    /// The values that the rival's result of an operation decrypts to.
    pub(crate) fn verify(&mut self, operation: &str) -> Result<Values, RivalError> {
        let operation = operation.to_owned();
        let outcome: protocol::Outcome = self.ask("verify", Request::Verify { operation })?;
        Ok(outcome.values)
    }

    /// The values that the last value of a circuit decrypts to in the rival.
    pub(crate) fn circuit(&mut self, steps: &[Step]) -> Result<Values, RivalError> {
        let steps = steps.to_vec();
        let outcome: protocol::Outcome = self.ask("run a circuit", Request::Circuit { steps })?;
        Ok(outcome.values)
    }

    /// The rival's operation as a contender to time.
    pub(crate) fn contender<'a>(&'a mut self, operation: &'a str) -> impl Contender + 'a {
        Turns { rival: self, operation }
    }

    /// Runs one turn of a rival's operation. The rival times itself; its time cannot exceed what passed here.
    fn run(&mut self, operation: &str, calls: u32, warm: bool) -> Result<Duration, RivalError> {
        let begin = Instant::now();
        let request = Request::Run { operation: operation.to_owned(), calls, warm };
        let taken: Taken = self.ask("run", request)?;
        let passed = begin.elapsed();
        let taken = Duration::from_nanos(taken.nanoseconds);
        if taken.is_zero() || taken > passed {
            let expected = format!("between 1 and {} nanoseconds", passed.as_nanos());
            return Err(self.nonsense("run", expected, taken.as_nanos().to_string()));
        }
        Ok(taken)
    }

    fn ask<T: DeserializeOwned>(&mut self, request: &'static str, asked: Request) -> Result<T, RivalError> {
        self.id += 1;
        let text = match serde_json::to_string(&Numbered { id: self.id, request: asked }) {
            Ok(text) => text,
            Err(error) => return Err(self.nonsense(request, "a request".to_owned(), error.to_string())),
        };
        // A writer that has gone means a rival that has gone: the answer will say so.
        let _ = self.requests.send(text);
        let line = match self.answers.recv_timeout(self.patience) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) => return Err(self.silent(request)),
            Err(RecvTimeoutError::Disconnected) => return Err(self.ended(request)),
        };
        let shown: String = String::from_utf8_lossy(&line).chars().take(SHOWN).collect();
        let Ok(Value::Object(mut answer)) = serde_json::from_slice(&line) else {
            return Err(self.nonsense(request, "a JSON object".to_owned(), shown));
        };
        if answer.remove("id").and_then(|id| id.as_u64()) != Some(self.id) {
            return Err(self.nonsense(request, format!("id {}", self.id), shown));
        }
        if let Some(Value::String(message)) = answer.remove("error") {
            return Err(RivalError::Refused { rival: self.name.clone(), request, message });
        }
        serde_json::from_value(Value::Object(answer))
            .map_err(|error| self.nonsense(request, error.to_string(), shown))
    }

    fn nonsense(&self, request: &'static str, expected: String, got: String) -> RivalError {
        RivalError::Nonsense { rival: self.name.clone(), request, expected, got }
    }

    fn silent(&mut self, request: &'static str) -> RivalError {
        self.kill();
        let seconds = self.patience.as_secs_f64();
        RivalError::Silent { rival: self.name.clone(), request, seconds, last_words: self.last_words() }
    }

    fn ended(&mut self, request: &'static str) -> RivalError {
        let status = match wait(&mut self.child, FAREWELL) {
            Some(status) => status,
            None => {
                self.kill();
                "it closed its output or said too much at once".to_owned()
            }
        };
        RivalError::Ended { rival: self.name.clone(), request, status, last_words: self.last_words() }
    }

    fn kill(&mut self) {
        // An error says that it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Last text of an ended rival on standard error, which a child of its own may still hold open.
    fn last_words(&self) -> String {
        let begin = Instant::now();
        while !self.listener.is_finished() && begin.elapsed() < FAREWELL {
            thread::sleep(Duration::from_millis(2));
        }
        let mut kept = self.last_words.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(kept.make_contiguous()).trim().to_owned();
        if text.is_empty() { text } else { format!("; it wrote:\n{text}") }
    }
}

impl Drop for Rival {
    fn drop(&mut self) {
        let quit = Numbered { id: self.id + 1, request: Request::Quit };
        if let Ok(text) = serde_json::to_string(&quit) {
            let _ = self.requests.send(text);
        }
        if wait(&mut self.child, FAREWELL).is_none() {
            self.kill();
        }
    }
}

/// One operation of a rival, as a contender that takes turns.
struct Turns<'a> {
    rival: &'a mut Rival,
    operation: &'a str,
}

impl Contender for Turns<'_> {
    fn turn(&mut self, calls: u32, warm: bool) -> Result<Duration> {
        Ok(self.rival.run(self.operation, calls, warm)?)
    }
}

/// Exit status of a rival's process, if it ends within `patience`.
fn wait(child: &mut Child, patience: Duration) -> Option<String> {
    let begin = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status.to_string()),
            Err(error) => return Some(error.to_string()),
            Ok(None) if begin.elapsed() >= patience => return None,
            Ok(None) => thread::sleep(Duration::from_millis(2)),
        }
    }
}

fn write_requests(mut stdin: ChildStdin, requests: &Receiver<String>) {
    for request in requests {
        if writeln!(stdin, "{request}").and_then(|()| stdin.flush()).is_err() {
            return;
        }
    }
}

fn read_answers(stdout: ChildStdout, answers: &SyncSender<Vec<u8>>) {
    let mut reader = BufReader::new(stdout);
    loop {
        let mut line = Vec::new();
        let read = reader.by_ref().take(LONGEST_ANSWER).read_until(b'\n', &mut line);
        // An end without a newline, or none within the limit: whoever waits sees the channel close.
        if read.is_err() || line.pop() != Some(b'\n') || answers.send(line).is_err() {
            return;
        }
    }
}

fn keep_last_words(mut stderr: ChildStderr, kept: &Mutex<VecDeque<u8>>) {
    let mut block = [0; 1024];
    while let Ok(count @ 1..) = stderr.read(&mut block) {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(block.iter().take(count));
        let surplus = kept.len().saturating_sub(LAST_WORDS);
        kept.drain(..surplus);
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;

    /// A rival made of a shell script, for tests.
    fn script(text: &str) -> Result<Rival, RivalError> {
        patient(text, 30_000)
    }

    fn patient(text: &str, milliseconds: u64) -> Result<Rival, RivalError> {
        let mut command = Command::new("sh");
        command.args(["-c", text]);
        Rival::start("fake", command, Duration::from_millis(milliseconds))
    }

    /// A line of the script that reads a request and answers it.
    fn answer(id: u64, rest: &str) -> String {
        format!("read line; echo '{{\"id\": {id}, {rest}}}'; ")
    }

    fn hello() -> String {
        answer(1, r#""protocol": 1, "library": "Fake", "version": "1", "features": """#)
    }

    fn preparation(n: usize) -> Preparation {
        let words = Values::Words(vec![u64::MAX; n]);
        let (scheme, q) = ("ntt".to_owned(), vec![17]);
        Preparation { scheme, n, q, left: words.clone(), right: words, ..Preparation::default() }
    }

    #[test]
    fn one_that_behaves() {
        let prepared = answer(2, r#""operations": ["forward"], "differs": {"forward": "half of it"}"#);
        let values = answer(3, r#""values": [1, 2]"#);
        let taken = answer(4, r#""nanoseconds": 5"#);
        let mut rival = script(&format!("{}{prepared}{values}{taken} read line", hello())).unwrap();
        assert_eq!(rival.title(), "Fake 1");
        // A request larger than a pipe holds.
        let prepared = rival.prepare(preparation(1 << 15)).unwrap();
        assert_eq!(prepared.operations, ["forward"]);
        assert_eq!(prepared.differs.get("forward").map(String::as_str), Some("half of it"));
        assert_eq!(rival.verify("forward").unwrap().words().unwrap(), [1, 2]);
        assert_eq!(rival.contender("forward").turn(1, true).unwrap().as_nanos(), 5);
    }

    #[test]
    fn one_that_does_not_exist() {
        let error = Rival::start("fake", Command::new("./no-such-rival"), FAREWELL).err().unwrap();
        assert!(matches!(&error, RivalError::Start { .. }), "{error}");
        assert!(error.to_string().contains("cargo xtask peers"), "{error}");
    }

    #[test]
    fn one_that_dies() {
        let error = script("echo 'out of luck' >&2; exit 3").err().unwrap();
        let text = error.to_string();
        assert!(matches!(error, RivalError::Ended { .. }), "{text}");
        assert!(text.contains("hello") && text.contains('3') && text.contains("out of luck"), "{text}");
        // Later, and by a signal.
        let mut rival = script(&format!("{} read line; kill -9 $$", hello())).unwrap();
        let error = rival.verify("forward").unwrap_err();
        assert!(matches!(&error, RivalError::Ended { status, .. } if status.contains('9')), "{error}");
    }

    #[test]
    fn one_that_hangs() {
        let begin = Instant::now();
        let error = patient("exec sleep 60", 100).err().unwrap();
        assert!(matches!(error, RivalError::Silent { request: "hello", .. }), "{error}");
        // It never reads, so that a large request fills its pipe.
        let mut rival = patient(&format!("{} exec sleep 60", hello()), 1500).unwrap();
        let error = rival.prepare(preparation(1 << 15)).unwrap_err();
        assert!(matches!(error, RivalError::Silent { request: "prepare", .. }), "{error}");
        drop(rival);
        assert!(begin.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn one_that_answers_nonsense() {
        let turns = |rest: &str| {
            let mut rival = script(&format!("{}{rest} read line", hello())).unwrap();
            let error = rival.run("forward", 1, false).unwrap_err();
            assert!(matches!(error, RivalError::Nonsense { .. }), "{error}");
            error.to_string()
        };
        assert!(turns("read line; echo hi;").contains("hi"));
        assert!(turns("read line; echo '[1]';").contains("a JSON object"));
        assert!(turns(&answer(7, r#""nanoseconds": 5"#)).contains("id 2"));
        assert!(turns(&answer(2, r#""seconds": 5"#)).contains("nanoseconds"));
        assert!(turns(&answer(2, r#""nanoseconds": -5"#)).contains("-5"));
        // A clock that stands still, and one that runs ahead.
        assert!(turns(&answer(2, r#""nanoseconds": 0"#)).contains("between 1 and"));
        assert!(turns(&answer(2, r#""nanoseconds": 60000000000"#)).contains("between 1 and"));
        let other = hello().replace(r#""protocol": 1"#, r#""protocol": 2"#);
        assert!(script(&other).err().unwrap().to_string().contains("protocol 2"));
    }

    #[test]
    fn one_that_never_stops_talking() {
        let error = script("exec yes").err().unwrap();
        assert!(matches!(error, RivalError::Nonsense { .. }), "{error}");
        // Without a newline: the limit, not the memory, ends it.
        let error = script("exec tr '\\0' x < /dev/zero").err().unwrap();
        assert!(matches!(error, RivalError::Ended { .. } | RivalError::Silent { .. }), "{error}");
        let error = patient("while :; do echo complaint; done >&2", 300).err().unwrap();
        assert!(error.to_string().len() < LAST_WORDS + 300, "{error}");
    }

    #[test]
    fn one_that_refuses() {
        let mut rival = script(&format!("{}{} read line", hello(), answer(2, r#""error": "no such ring""#)));
        let error = rival.as_mut().ok().unwrap().prepare(preparation(2)).unwrap_err();
        assert!(
            matches!(&error, RivalError::Refused { message, .. } if message == "no such ring"),
            "{error}"
        );
    }
}
