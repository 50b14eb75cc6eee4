//! Files that were made to take long: every command ends within a second, and a second more for each MB of what it reads.

use std::fs;
use std::io::Read;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::common::Folder;

/// How a run ended: its code, and what it wrote.
struct Ended {
    code: Option<i32>,
    error: String,
}

/// Runs a command that reads `file`, and kills it where it takes too long.
fn run(folder: &Folder, file: &str, arguments: &[&str]) -> Ended {
    let bytes = fs::metadata(folder.path(file)).unwrap().len();
    let limit = Duration::from_secs_f64(1.0 + bytes as f64 / 1e6);
    let mut command = Command::new(env!("CARGO_BIN_EXE_sunzi"));
    command.args(arguments).current_dir(folder.path("")).env_remove("SUNZI_ISA");
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if start.elapsed() > limit {
            child.kill().unwrap();
            panic!("{arguments:?}: more than {limit:?} for {bytes} bytes");
        }
        sleep(Duration::from_millis(5));
    };
    let mut error = String::new();
    child.stderr.unwrap().read_to_string(&mut error).unwrap();
    Ended { code: status.code(), error }
}

/// A header of 200 000 columns once took 33 seconds until it was refused.
#[test]
fn headers_of_200_000_columns_are_refused_at_once() {
    let folder = Folder::new("hostile-header");
    let line = |cell: &dyn Fn(usize) -> String| (0..200_000).map(cell).collect::<Vec<_>>().join(",");
    let table = format!("{}\n{}\n", line(&|i| format!("c{i}")), line(&|i| (i % 10).to_string()));
    fs::write(folder.path("t.csv"), table).unwrap();
    let commands: [&[&str]; 3] = [
        &["schema", "--table", "t.csv", "-o", "s.json"],
        &["plan", "sum(c7)", "--table", "t.csv", "--no-time"],
        &["demo", "--input", "t.csv", "--quiet"],
    ];
    for arguments in commands {
        let ended = run(&folder, "t.csv", arguments);
        assert_eq!(ended.code, Some(2), "{}", ended.error);
        assert!(ended.error.contains("200000 columns, at most"), "{}", ended.error);
    }
}
