//! Runs the binary and looks at what it leaves behind.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The folders that `sunzi_with` made so far: tests run side by side, and two of one name would share a folder.
static FOLDERS: AtomicUsize = AtomicUsize::new(0);

/// Runs `sunzi` in an empty folder of its own, with `files` in it; nothing else may appear there.
pub(crate) fn sunzi_with(name: &str, files: &[(&str, &[u8])], arguments: &[&str]) -> Output {
    let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{number}"));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    for (file, content) in files {
        std::fs::write(folder.join(file), content).unwrap();
    }
    let output = Command::new(env!("CARGO_BIN_EXE_sunzi"))
        .args(arguments)
        .current_dir(&folder)
        .env_remove("SUNZI_ISA")
        .output()
        .unwrap();
    let left = std::fs::read_dir(&folder).unwrap().count();
    assert_eq!(left, files.len(), "{arguments:?} wrote a file");
    std::fs::remove_dir_all(&folder).unwrap();
    output
}

/// Standard output as text.
pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Standard error as text.
pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// The JSON object on standard output of a run that went well.
pub(crate) fn json(output: &Output) -> serde_json::Value {
    assert_eq!(output.status.code(), Some(0), "{}", stderr(output));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Asserts that input was refused: exit code 2, one line on standard error with all of `words` in
/// it, nothing on standard output.
pub(crate) fn assert_refused(output: &Output, words: &[&str]) {
    assert_eq!(stdout(output), "", "{}", stderr(output));
    assert_error(output, 2, words);
}

/// Asserts that a run with `--json` failed: one line on standard error, and one JSON object on standard output that has
/// the same message and the exit code.
pub(crate) fn assert_json_error(output: &Output, code: i32, words: &[&str]) {
    assert_error(output, code, words);
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let message = told["error"].as_str().unwrap();
    assert_eq!(told, serde_json::json!({ "error": message, "code": code }));
    assert_eq!(stderr(output), format!("error: {message}\n"));
}

/// Asserts the exit code of a run that failed, and one line on standard error with all of `words` in it.
fn assert_error(output: &Output, code: i32, words: &[&str]) {
    let text = stderr(output);
    assert_eq!(output.status.code(), Some(code), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(text.starts_with("error: "), "{text}");
    for word in words {
        assert!(text.contains(word), "{word:?} is missing in {text}");
    }
}

/// A folder of its own in which commands of one test may write.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    /// Runs the command with arguments that have no blanks.
    pub(crate) fn run(&self, arguments: &str) -> Output {
        self.run_of(&arguments.split(' ').collect::<Vec<_>>())
    }

    pub(crate) fn run_of(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sunzi"));
        command.args(arguments).current_dir(&self.0).env_remove("SUNZI_ISA").output().unwrap()
    }

    /// Runs a command that reads these bytes from standard input.
    pub(crate) fn piped(&self, arguments: &str, input: &[u8]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sunzi"));
        command.args(arguments.split(' ')).current_dir(&self.0).env_remove("SUNZI_ISA");
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // A command that refuses to start reads nothing.
        let _ = child.stdin.take().unwrap().write_all(input);
        child.wait_with_output().unwrap()
    }

    /// Runs a line of the shell in which `sunzi` is the command.
    #[cfg(unix)]
    pub(crate) fn shell(&self, line: &str) -> Output {
        let line = format!("sunzi() {{ \"$SUNZI\" \"$@\"; }}; {line}");
        let mut shell = Command::new("sh");
        shell.args(["-c", &line]).env("SUNZI", env!("CARGO_BIN_EXE_sunzi")).env_remove("SUNZI_ISA");
        shell.current_dir(&self.0).output().unwrap()
    }

    pub(crate) fn fine(&self, arguments: &str) -> String {
        self.fine_of(&arguments.split(' ').collect::<Vec<_>>())
    }

    pub(crate) fn fine_of(&self, arguments: &[&str]) -> String {
        let output = self.run_of(arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", stderr(&output));
        stdout(&output)
    }

    /// Runs a command that must fail with this code and one line on standard error with all of these words.
    pub(crate) fn refused(&self, arguments: &str, code: i32, words: &[&str]) {
        let output = self.run(arguments);
        let text = stderr(&output);
        assert_eq!((output.status.code(), text.lines().count()), (Some(code), 1), "{arguments}: {text}");
        assert!(words.iter().all(|word| text.contains(word)), "{arguments}: {text}");
    }

    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.0.join(file)
    }
}
