//! The audit log of secret keys: what is opened is logged before, and what cannot be logged is not opened.

use std::fs;
use std::path::Path;

use crate::common::{Folder, json, stderr, stdout};

/// A folder with keys, and results of a program.
fn folder(name: &str, program: &str) -> Folder {
    let folder = Folder::new(name);
    fs::write(folder.path("t.csv"), "x,y\n1,2\n3,4\n").unwrap();
    folder.fine("schema t.csv -o s.json");
    folder.fine_of(&["plan", program, "--schema", "s.json", "--share", "9", "--no-time", "-o", "p.sz"]);
    folder.fine_of(&["keygen", "p.sz", "-d", "keys", "--for", program, "--schema", "s.json", "-q"]);
    folder.fine("encrypt t.csv --keys keys/public --schema s.json -o t.sz -q");
    folder.fine_of(&["eval", program, "--keys", "keys/eval", "t.sz", "-o", "r.sz", "-q"]);
    folder
}

fn lines(folder: &Folder) -> Vec<serde_json::Value> {
    json(&folder.run("keys log keys/secret --json"))["lines"].as_array().unwrap().clone()
}

const DECRYPT: &str = "decrypt r.sz --keys keys/secret -q";

#[test]
fn whatever_is_opened_is_logged() {
    let folder = folder("audit-opened", "sum(x)");
    assert_eq!(folder.fine(DECRYPT), "sum(x): 4\n");
    folder.fine(&format!("{DECRYPT} --share 9 --for sum(x) --schema s.json"));
    let log = lines(&folder);
    assert_eq!(log[0]["event"]["begun"]["with_key"], true);
    let (own, shared) = (&log[1]["event"]["open"], &log[3]["event"]["open"]);
    let hash = folder.shell("sha256sum r.sz");
    assert!(stdout(&hash).starts_with(own["sha256"].as_str().unwrap()), "{own}");
    assert_eq!((own["what"].as_str(), own["file"].as_str()), (Some("decrypt"), Some("r.sz")));
    assert_eq!((own["agreed"].as_bool(), shared["agreed"].as_bool()), (Some(false), Some(true)));
    assert!(own["share"].is_null() && own["program"] == shared["program"]);
    assert_eq!(
        shared["share"],
        serde_json::json!({ "ciphertexts": 1, "queries": 9, "statistical_bits": 40 })
    );
    assert_eq!(log[4]["event"]["end"], serde_json::json!({ "of": 4, "outcome": "done" }));
    // Neither a result nor a secret is in it.
    let text = fs::read_to_string(folder.path("keys/secret/audit.jsonl")).unwrap();
    assert!(!text.contains("\"4\"") && !text.contains("sum(x)"), "{text}");
    let told = folder.fine("keys log keys/secret");
    assert!(told.contains("decrypt \"r.sz\"") && told.contains("share 1 ciphertext of 9"), "{told}");
    // What another key or a damaged file is refused for is before any decryption.
    folder.refused("decrypt t.sz --keys keys/secret", 3, &["t.sz"]);
    assert_eq!(lines(&folder).len(), 5);
    // The log may be elsewhere, for one that several keys have in common.
    folder.fine(&format!("{DECRYPT} --log all.jsonl"));
    let told = folder.fine("keys log all.jsonl");
    assert!(
        told.contains("nobody knows what was opened before") && told.contains("line 2 is done"),
        "{told}"
    );
    assert_eq!(lines(&folder).len(), 5);
    // Standard input has no name.
    let bytes = fs::read(folder.path("r.sz")).unwrap();
    folder.piped("decrypt - --keys keys/secret -q", &bytes);
    assert_eq!(lines(&folder)[5]["event"]["open"]["file"], "standard input");
}

#[test]
fn what_cannot_be_logged_is_not_opened() {
    let folder = folder("audit-refused", "sum(x)");
    let refused = |log: &str, code, words: &[&str]| {
        let output = folder.run(&format!("{DECRYPT} --share 9 --log {log}"));
        assert_eq!((stdout(&output).as_str(), output.status.code()), ("", Some(code)), "{}", stderr(&output));
        assert!(words.iter().all(|word| stderr(&output).contains(word)), "{}", stderr(&output));
    };
    refused("no/such/folder", 6, &["nothing is opened that is not logged", "--log"]);
    refused("keys", 2, &["a folder"]);
    refused("t.csv", 2, &["no audit log", "something else"]);
    #[cfg(unix)]
    {
        refused("/dev/null", 2, &["a device"]);
        if Path::new("/dev/full").exists() {
            std::os::unix::fs::symlink("/dev/full", folder.path("full")).unwrap();
            refused("full", 2, &["a device"]);
        }
    }
    assert_eq!(fs::read_to_string(folder.path("t.csv")).unwrap(), "x,y\n1,2\n3,4\n");
    // Nothing was shared, so nothing is counted.
    let counted = folder.fine("inspect keys/secret/sharing.sz");
    assert!(!counted.contains("1 of 9"), "{counted}");
    // What fails on the way is logged as failed: here nothing is left to share.
    fs::remove_file(folder.path("keys/secret/audit.jsonl")).unwrap();
    folder.fine(DECRYPT);
    assert_eq!(lines(&folder)[0]["event"]["begun"]["with_key"], false);
}

#[test]
fn a_log_that_was_changed_is_found() {
    let folder = folder("audit-changed", "sum(x)");
    (0..2).for_each(|_| drop(folder.fine(DECRYPT)));
    let path = folder.path("keys/secret/audit.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    let head = json(&folder.run("keys log keys/secret --json"))["head"].as_str().unwrap().to_owned();
    folder.fine(DECRYPT);
    folder.fine(&format!("keys log keys/secret --expect {head}"));
    // A line in the middle: those before it are shown, and the error names it.
    fs::write(&path, text.replacen("r.sz", "q.sz", 1)).unwrap();
    let output = folder.run("keys log keys/secret --json");
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (output.status.code(), told["code"].as_u64(), told["lines"].as_array().unwrap().len()),
        (Some(5), Some(5), 2)
    );
    assert!(stderr(&output).contains("changed at line 3"), "{}", stderr(&output));
    // Lines at the end: a head that was noted tells.
    let short: String = text.lines().take(3).map(|line| format!("{line}\n")).collect();
    fs::write(&path, &short).unwrap();
    folder.fine("keys log keys/secret");
    let cut = folder.run(&format!("keys log keys/secret --expect {head}"));
    assert!(cut.status.code() == Some(5) && stderr(&cut).contains("no line with hash"), "{}", stderr(&cut));
    // A line that a crash tore is skipped, and said.
    fs::write(&path, &text[..text.len() - 30]).unwrap();
    assert!(folder.fine("keys log keys/secret").contains("a crash left them"));
    folder.fine(DECRYPT);
    let told = folder.fine("keys log keys/secret");
    assert!(told.contains("that a crash left are skipped") && told.contains("line 4 has no end"), "{told}");
    folder.refused("keys log t.csv", 2, &["t.csv", "no audit log"]);
    folder.refused("keys log none", 6, &["none"]);
}

/// Processes that are killed whenever, and others that go on meanwhile: every result that was printed is in the log, which stays whole.
#[cfg(unix)]
#[test]
fn processes_that_are_killed_leave_a_whole_log() {
    let folder = folder("audit-killed", "sum(x)");
    let line = "for delay in 05 10 15 20 25 30 35 40; do \
        sunzi decrypt r.sz --keys keys/secret -q & \
        \"$SUNZI\" decrypt r.sz --keys keys/secret -q & killed=$!; sleep 0.$delay; kill -9 $killed; wait; done 2> /dev/null";
    let printed = stdout(&folder.shell(line)).lines().count();
    assert!(printed >= 8, "{printed}");
    let log = json(&folder.run("keys log keys/secret --json"));
    let count = |what: &str| {
        let lines = log["lines"].as_array().unwrap();
        lines.iter().filter(|line| !line["event"][what].is_null()).count()
    };
    assert!(count("open") >= printed && count("end") >= 8, "{printed} {log}");
    assert_eq!(log["open"].as_array().unwrap().len(), count("open") - count("end"));
}
