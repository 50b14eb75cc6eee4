//! Standard input and output, programs in files, and paths that are no regular files.

use std::fs;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::common::{Folder, json, stderr};

const TABLE: &str = "x,y\n1,2\n3,4\n5,6\n";

fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    fs::write(folder.path("t.csv"), TABLE).unwrap();
    fs::write(folder.path("program.txt"), "sum(x * y);\n  mean(x)\n").unwrap();
    folder.fine("schema --table t.csv -o s.json");
    folder.fine("plan @program.txt --schema s.json --scheme bfv -o p.sz --no-time");
    folder.fine("keygen p.sz -d keys --for @program.txt --schema s.json -q");
    folder
}

/// Runs a command that must go well with some bytes on standard input.
fn piped(folder: &Folder, arguments: &str, input: &[u8]) -> Vec<u8> {
    let output = folder.piped(arguments, input);
    assert_eq!(output.status.code(), Some(0), "{arguments}: {}", stderr(&output));
    output.stdout
}

/// A table goes from standard input through all commands to its results, and no file is made on the way.
#[test]
fn a_whole_run_needs_no_files_between() {
    let folder = folder("streams-run");
    let schema = piped(&folder, "schema --table -", TABLE.as_bytes());
    assert_eq!(schema, fs::read(folder.path("s.json")).unwrap());
    let planned = piped(&folder, "plan sum(x*y) --table - --no-time --scheme bfv", TABLE.as_bytes());
    assert!(String::from_utf8(planned).unwrap().contains("rows         3"));
    let before = fs::read_dir(folder.path("")).unwrap().count();
    let table = piped(&folder, "encrypt --keys keys/public --table - -o -", TABLE.as_bytes());
    assert!(table.starts_with(b"\x89SUNZI\r\n"));
    let results = piped(&folder, "eval @program.txt --keys keys/eval - -o -", &table);
    let text = piped(&folder, "decrypt --keys keys/secret - -q", &results);
    assert_eq!(String::from_utf8(text).unwrap(), "sum(x * y): 44\nmean(x): 3\n");
    let seen = String::from_utf8(piped(&folder, "inspect -", &results)).unwrap();
    assert!(seen.contains("results of a program") && seen.contains("result       mean(x)"), "{seen}");
    let whole = String::from_utf8(piped(&folder, "check - --params p.sz", &table)).unwrap();
    assert!(whole.starts_with("whole: a table encrypted in BFV"), "{whole}");
    let parameters = piped(&folder, "params --depth 1 -o -", b"");
    assert!(parameters.starts_with(b"\x89SUNZI\r\n"));
    let given = piped(&folder, "plan sum(x) --schema s.json --params - --no-time", &parameters);
    assert!(String::from_utf8(given).unwrap().contains("these parameters were given"));
    assert_eq!(fs::read_dir(folder.path("")).unwrap().count(), before);
    let own = fs::read(folder.path("p.sz")).unwrap();
    piped(&folder, "keygen - -d more --for @program.txt --schema s.json -q", &own);
    piped(&folder, "check more/eval/galois.sz --params -", &own);
    // The report of what was written is beside it.
    let output = folder.piped("encrypt --keys keys/public --table - -o -", TABLE.as_bytes());
    assert!(stderr(&output).starts_with("standard output: 3 rows in 1 chunk,"), "{}", stderr(&output));
}

/// Copies of standard input are removed, also where the command fails.
#[test]
fn copies_of_standard_input_are_removed() {
    let folder = folder("streams-copies");
    let temporary = folder.path("tmp");
    fs::create_dir(&temporary).unwrap();
    for (arguments, code) in
        [("schema --table -", 0), ("inspect -", 5), ("encrypt --keys none --table - -o u.sz", 6)]
    {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sunzi"));
        command.args(arguments.split(' ')).current_dir(folder.path("")).env("TMPDIR", &temporary);
        let file = fs::File::open(folder.path("t.csv")).unwrap();
        let output = command.stdin(file).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
        assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0, "{arguments}");
    }
}

/// Programs come from arguments, files and standard input.
#[test]
fn programs_are_read_from_files_and_standard_input() {
    let folder = folder("streams-programs");
    let plan = |program: &str| format!("plan {program} --schema s.json --scheme bfv --no-time --json");
    let of_file = json(&folder.run(&plan("@program.txt")));
    let of_input = piped(&folder, &plan("-"), b"sum(x * y); mean(x)");
    let of_input: serde_json::Value = serde_json::from_slice(&of_input).unwrap();
    assert_eq!(of_file["program"], of_input["program"]);
    // Errors point at the line of the file.
    fs::write(folder.path("wrong.txt"), "sum(x);\nmean(z)\n").unwrap();
    let output = folder.run(&plan("@wrong.txt"));
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("2 | mean(z)"), "{}", stderr(&output));
    folder.refused("plan @none.txt --schema s.json", 6, &["none.txt", "no such file"]);
    folder.refused("plan @keys --schema s.json", 2, &["keys", "the text of a program", "a folder"]);
    fs::write(folder.path("latin.txt"), b"sum(\xe9)").unwrap();
    folder.refused("plan @latin.txt --schema s.json", 2, &["latin.txt", "not UTF-8"]);
    let output = folder.piped("plan - --table -", TABLE.as_bytes());
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("standard input is asked for twice"), "{}", stderr(&output));
}

#[test]
fn messages_call_standard_input_by_its_name() {
    let folder = folder("streams-names");
    for (arguments, input, code, words) in [
        ("schema --table -", "x\n1\n2,3\n", 2, "line 3"),
        ("schema --table -", "", 2, "standard input: is empty"),
        ("demo --input -", "x\n", 2, "standard input"),
        ("inspect -", "no file", 5, "standard input: this is no file of Sunzi"),
        ("plan sum(x) --schema -", "{", 2, "standard input is no schema"),
        ("plan sum(x) --schema s.json -o - --json", "", 2, "both write to standard output"),
        ("encrypt --keys keys/public --table t.csv -o - --json", "", 2, "both write to standard output"),
    ] {
        let output = folder.piped(arguments, input.as_bytes());
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{arguments}: {text}");
        assert!(text.contains(words), "{arguments}: {text}");
    }
}

/// Runs a command that must end by itself.
#[cfg(unix)]
fn ends(folder: &Folder, arguments: &str) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sunzi"));
    command.args(arguments.split(' ')).current_dir(folder.path("")).stdin(Stdio::null());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > Duration::from_secs(20) {
            child.kill().unwrap();
            panic!("{arguments}: it waits for ever");
        }
        sleep(Duration::from_millis(5));
    }
    let output = child.wait_with_output().unwrap();
    (output.status.code(), stderr(&output))
}

/// A pipe that nobody writes to is refused, whichever file it stands for.
#[test]
#[cfg(unix)]
fn pipes_and_devices_are_refused_at_once() {
    let folder = folder("streams-pipes");
    folder.fine("encrypt --keys keys/public --table t.csv -o t.sz -q");
    let pipe = |path: &str| {
        assert!(Command::new("mkfifo").arg(folder.path(path)).status().unwrap().success());
    };
    pipe("pipe");
    for (party, file) in [
        ("secret", "parameters.sz"),
        ("secret", "secret.sz"),
        ("public", "public.sz"),
        ("eval", "galois.sz"),
        ("eval", "relinearization.sz"),
    ] {
        // Keys of which one file is a pipe.
        let own = format!("of-{file}");
        fs::create_dir(folder.path(&own)).unwrap();
        for entry in fs::read_dir(folder.path("keys").join(party)).unwrap() {
            let entry = entry.unwrap();
            if entry.file_name() != file {
                fs::copy(entry.path(), folder.path(&own).join(entry.file_name())).unwrap();
            }
        }
        pipe(&format!("{own}/{file}"));
    }
    for arguments in [
        "demo --input pipe",
        "schema --table pipe",
        "plan sum(x) --table pipe",
        "plan sum(x) --schema pipe",
        "plan @pipe --schema s.json",
        "plan sum(x) --schema s.json --params pipe",
        "keygen pipe -d more",
        "keygen p.sz -d more --plan pipe",
        "encrypt --keys keys/public --table pipe -o u.sz",
        "encrypt --keys keys/public --table t.csv --schema pipe -o u.sz",
        "encrypt --keys of-parameters.sz --table t.csv -o u.sz",
        "encrypt --keys of-public.sz --table t.csv -o u.sz",
        "eval sum(x*y) --keys keys/eval pipe -o u.sz",
        "eval @program.txt --keys of-galois.sz t.sz -o u.sz",
        "eval @program.txt --keys of-relinearization.sz t.sz -o u.sz",
        "decrypt --keys keys/secret pipe",
        "decrypt --keys of-secret.sz t.sz",
        "inspect pipe",
        "check pipe --params p.sz",
        "check t.sz --params pipe",
        "schema --table /dev/null",
        "inspect /dev/zero",
        "params -o pipe",
        "params -o pipe --force",
        "params -o /dev/null --force",
    ] {
        let (code, text) = ends(&folder, arguments);
        assert_eq!(code, Some(2), "{arguments}: {text}");
        assert!(text.contains("a pipe or device"), "{arguments}: {text}");
    }
    assert!(fs::symlink_metadata("/dev/null").is_ok_and(|data| !data.is_file()), "/dev/null is no file");
    let (_, text) = ends(&folder, "schema --table pipe");
    assert!(text.contains("or - and the data on standard input"), "{text}");
    assert!(!folder.path("u.sz").exists() && !folder.path("more").exists());
}

/// One rule for every `-o`: what is there stays, unless it is to be replaced.
#[test]
fn every_output_is_replaced_only_if_asked_for() {
    let folder = folder("streams-force");
    folder.fine("encrypt --keys keys/public --table t.csv -o t.sz -q");
    for command in [
        "schema --table t.csv -o old",
        "params -o old",
        "plan sum(x) --schema s.json --no-time -o old",
        "encrypt --keys keys/public --table t.csv -o old",
        "eval @program.txt --keys keys/eval t.sz -o old",
    ] {
        fs::write(folder.path("old"), "old").unwrap();
        folder.refused(command, 2, &["\"old\" is there already", "--force to replace it"]);
        assert_eq!(fs::read(folder.path("old")).unwrap(), b"old", "{command}");
        folder.fine(&format!("{command} --force"));
        assert_ne!(fs::read(folder.path("old")).unwrap(), b"old", "{command}");
        fs::remove_file(folder.path("old")).unwrap();
        folder.fine(command);
        folder.refused(&command.replace("-o old", "-o keys --force"), 2, &["\"keys\" is a folder"]);
        folder.refused(&command.replace("-o old", "-o none/old"), 6, &["there is no folder \"none\""]);
    }
    folder.refused("params --force", 2, &["--output <FILE>"]);
    #[cfg(unix)]
    {
        // A link to nowhere is there, too.
        std::os::unix::fs::symlink("nowhere", folder.path("link")).unwrap();
        folder.refused("params -o link", 2, &["is there already"]);
        assert!(!folder.path("nowhere").exists());
    }
}
