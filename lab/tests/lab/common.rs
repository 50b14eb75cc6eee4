//! Helpers that run `lab` and look at what it leaves behind.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The folders that `lab_with` made so far: tests run side by side, and two of one name would share a folder.
static FOLDERS: AtomicUsize = AtomicUsize::new(0);

/// Runs `lab` in an empty folder of its own, with `files` in it; nothing else may appear there.
pub(crate) fn lab_with(name: &str, files: &[(&str, &[u8])], arguments: &[&str]) -> Output {
    let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{number}"));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    for (file, content) in files {
        std::fs::write(folder.join(file), content).unwrap();
    }
    let output = Command::new(env!("CARGO_BIN_EXE_lab"))
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

/// The standard output of a program as text.
pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// The standard error of a program as text.
pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// The JSON on standard output of a run of `lab` that went well.
pub(crate) fn json(output: &Output) -> serde_json::Value {
    assert_eq!(output.status.code(), Some(0), "{}", stderr(output));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Asserts that input was refused: exit code 2, one line on standard error with all of `words` in
/// it, nothing on standard output.
pub(crate) fn assert_refused(output: &Output, words: &[&str]) {
    let text = stderr(output);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert_eq!(stdout(output), "", "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(text.starts_with("error: "), "{text}");
    for word in words {
        assert!(text.contains(word), "{word:?} is missing in {text}");
    }
}
