//! Audit logs: what is appended is found again, and what was changed is found out.

use std::fs;
use std::path::{Path, PathBuf};

use sunzi_keystore::log::{AuditLog, Event, Line, LogError, Opening, Outcome, Share, Summary, check, sha256};
use sunzi_rlwe::KeyId;
use tempfile::TempDir;

fn folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    (folder, path)
}

fn log(path: &Path) -> AuditLog {
    AuditLog::new(path, KeyId::from_bytes([7; 16]))
}

fn opening(file: &str) -> Event {
    let share = Some(Share { ciphertexts: 2, queries: 100, statistical_bits: 40 });
    let program = Some(sha256(b"sum(x)"));
    Event::Open(Opening {
        what: "decrypt".to_owned(),
        file: file.to_owned(),
        sha256: sha256(b"file"),
        program,
        agreed: true,
        share,
    })
}

/// A log of five lines: it begins, and two files are opened.
fn written(path: &Path) -> String {
    let log = log(path);
    for file in ["r.sz", "strange \u{7}\n\u{202e}\"name\""] {
        let of = log.append(opening(file)).unwrap();
        log.append(Event::End { of, outcome: Outcome::Done }).unwrap();
    }
    fs::read_to_string(path).unwrap()
}

fn checked(path: &Path) -> Result<Summary, LogError> {
    check(path, None, |_| ())
}

#[test]
fn lines_follow_one_another() {
    let (_folder, path) = folder();
    let text = written(&path);
    assert_eq!(text.lines().count(), 5);
    let mut events = Vec::new();
    let summary = check(&path, None, |line: &Line| events.push(line.event.clone())).unwrap();
    assert_eq!((summary.lines, summary.open.len(), summary.torn), (5, 0, 0));
    assert_eq!(events[0], Event::Begun { with_key: false });
    assert_eq!(events[3], opening("strange \u{7}\n\u{202e}\"name\""));
    assert_eq!(summary.head, sha256(text.lines().last().unwrap().as_bytes()));
    // A line that was noted is found as long as it is there.
    let third = sha256(text.lines().nth(2).unwrap().as_bytes());
    assert!(check(&path, Some(&third), |_| ()).is_ok());
    let cut: String = text.lines().take(2).map(|line| format!("{line}\n")).collect();
    fs::write(&path, cut).unwrap();
    assert!(checked(&path).is_ok());
    assert!(matches!(check(&path, Some(&third), |_| ()), Err(LogError::Cut { .. })));
    #[cfg(unix)]
    {
        let (_folder, path) = folder();
        written(&path);
        let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&path).unwrap().permissions());
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[test]
fn lines_that_were_changed_removed_or_inserted_are_found() {
    let (_folder, path) = folder();
    let text = written(&path);
    let lines: Vec<&str> = text.lines().collect();
    let found = |lines: &[&str]| {
        fs::write(&path, lines.join("\n") + "\n").unwrap();
        let refused = matches!(checked(&path), Err(LogError::Changed { .. } | LogError::NotLog { .. }));
        assert!(refused, "{lines:?}");
    };
    for at in 0..lines.len() - 1 {
        let mut removed = lines.clone();
        removed.remove(at);
        found(&removed);
        let mut swapped = lines.clone();
        swapped.swap(at, at + 1);
        found(&swapped);
        let mut twice = lines.clone();
        twice.insert(at, lines[at]);
        found(&twice);
    }
    // Every byte of every line but the last is in the chain; that of the last one is in what was noted.
    let (bytes, head) = (text.as_bytes(), sha256(lines[4].as_bytes()));
    for at in 0..bytes.len() {
        let mut changed = bytes.to_vec();
        changed[at] ^= 1;
        fs::write(&path, &changed).unwrap();
        assert!(check(&path, Some(&head), |_| ()).is_err(), "byte {at}");
    }
}

#[test]
fn whatever_a_crash_leaves_is_skipped() {
    let (_folder, path) = folder();
    let text = written(&path);
    let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
    let whole = |len| ends.iter().filter(|end| **end <= len).count() as u64;
    for len in 1..text.len() {
        fs::write(&path, &text.as_bytes()[..len]).unwrap();
        let before = checked(&path).unwrap();
        // A line that lacks nothing but its end is whole.
        let torn =
            ends.iter().rev().find(|end| **end <= len).map_or(len, |end| (len - end).saturating_sub(1));
        assert_eq!((before.lines, before.torn), (whole(len), torn as u64), "{len}");
        let line = log(&path).append(opening("r.sz")).unwrap();
        let after = checked(&path).unwrap();
        let added = 1 + u64::from(torn > 0) + u64::from(whole(len) == 0);
        assert_eq!((after.lines, line, after.torn), (before.lines + added, before.lines + added, 0), "{len}");
        assert!(after.open.contains(&line), "what does not end is said");
    }
    // Crashes one after the other, of which the second tears the line that says what the first left.
    fs::write(&path, format!("{}\nmore{{", &text[..text.len() - 40])).unwrap();
    log(&path).append(opening("r.sz")).unwrap();
    assert_eq!(checked(&path).unwrap().lines, 6);
    // What is skipped is as it was.
    let recovered = fs::read_to_string(&path).unwrap().replace("more{", "less{");
    fs::write(&path, recovered).unwrap();
    assert!(matches!(checked(&path), Err(LogError::Changed { .. })));
}

#[test]
fn processes_append_one_after_the_other() {
    let (_folder, path) = folder();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let log = log(&path);
                for _ in 0..20 {
                    let of = log.append(opening("r.sz")).unwrap();
                    log.append(Event::End { of, outcome: Outcome::Failed(4) }).unwrap();
                }
            });
        }
    });
    let summary = checked(&path).unwrap();
    assert_eq!((summary.lines, summary.open.len(), summary.torn), (1 + 8 * 40, 0, 0));
}

#[test]
fn other_files_are_left_alone() {
    let (folder, path) = folder();
    let long = [&b"{\"line\":1,"[..], &[b'x'; 1 << 18]].concat();
    for content in [&b"important\n"[..], b"{}\n", b"\0", b"{\"line\":2", &long] {
        fs::write(&path, content).unwrap();
        let refused = log(&path).append(opening("r.sz"));
        assert!(matches!(refused, Err(LogError::NotLog { .. } | LogError::NoEnd)), "{refused:?}");
        assert_eq!(fs::read(&path).unwrap(), content);
    }
    let refused = |path: &Path| {
        assert!(log(path).append(opening("r.sz")).is_err());
        assert!(checked(path).is_err());
    };
    refused(folder.path());
    refused(&folder.path().join("no/such/folder"));
    #[cfg(unix)]
    refused(Path::new("/dev/null"));
    // The log was moved away between two lines.
    let (_folder, path) = self::folder();
    let missing = log(&path).append(Event::End { of: 7, outcome: Outcome::Done });
    assert!(matches!(missing, Err(LogError::NoEnd)));
}

#[test]
fn names_of_files_are_kept_short_and_clocks_that_go_back_are_told() {
    let (_folder, path) = folder();
    for name in ["\u{1}".repeat(1 << 20), "\u{1F600}".repeat(1 << 16)] {
        log(&path).append(opening(&name)).unwrap();
    }
    assert_eq!(checked(&path).unwrap().lines, 3);
    let (_folder, path) = self::folder();
    let line = |line, time: &str, before: &str| {
        let event = Event::Begun { with_key: true };
        let line =
            Line { line, time: time.parse().unwrap(), key: "k".to_owned(), before: before.to_owned(), event };
        serde_json::to_string(&line).unwrap()
    };
    let first = line(1, "2027-01-01", &"0".repeat(64));
    let second = line(2, "2026-01-01", &sha256(first.as_bytes()));
    fs::write(&path, format!("{first}\n{second}\n")).unwrap();
    assert_eq!(checked(&path).unwrap().set_back, [2]);
}
