//! Errors as people and programs read them: one JSON object with `--json`, exit codes, wordings and colours.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::{Folder, assert_json_error, stderr, stdout};

/// A folder with a table, its schema, parameters, keys, an encrypted table and results.
fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    fs::write(folder.path("t.csv"), "x,y\n1,2\n3,4\n5,6\n").unwrap();
    folder.fine("schema --table t.csv -o s.json");
    folder.fine("plan sum(x*y) --schema s.json --scheme bfv -o p.sz --no-time");
    folder.fine("keygen p.sz -d keys --for sum(x*y) --schema s.json -q");
    folder.fine("encrypt --keys keys/public --table t.csv -o t.sz -q");
    folder.fine("eval sum(x*y) --keys keys/eval t.sz -o r.sz -q");
    folder
}

/// With `--json` an error of every code and of every command is one object on standard output.
#[test]
fn every_error_is_one_json_object() {
    let folder = folder("errors-json");
    let mut damaged = fs::read(folder.path("r.sz")).unwrap();
    *damaged.last_mut().unwrap() ^= 1;
    fs::write(folder.path("damaged.sz"), damaged).unwrap();
    for (arguments, code, words) in [
        // Arguments that cannot be parsed, wherever the option stands.
        ("--json", 2, "unexpected argument '--json'"),
        ("plan --json", 2, "sunzi plan --help"),
        ("plan --json --no-such", 2, "--no-such"),
        ("params --no-such --json", 2, "--no-such"),
        ("params --depth many --json", 2, "--depth"),
        ("nothing --json", 2, "'nothing'"),
        // Commands.
        ("params --depth 150 --json", 2, "no parameter set fits"),
        ("demo --job lookup --word A --json", 2, "--word"),
        ("bench --rounds 0 --json", 2, "--rounds"),
        ("plan sum(z) --schema s.json --no-time --json", 2, "there is no column `z`"),
        ("plan sum(x) --schema none.json --json", 6, "none.json"),
        ("keygen none.sz -d more --json", 6, "none.sz"),
        ("keygen p.sz -d keys --json", 2, "never overwritten"),
        ("encrypt --keys keys/public --table none.csv -o u.sz --json", 6, "none.csv"),
        ("eval sum(x^9) --keys keys/eval t.sz -o u.sz --json", 4, "cannot be computed"),
        ("eval sum(x*y) --keys keys/eval r.sz -o u.sz --json", 3, "expected"),
        ("decrypt --keys keys/secret damaged.sz --json", 5, "checksum"),
        ("decrypt --keys keys/secret none.sz --json", 6, "none.sz"),
        ("inspect none.sz --json", 6, "none.sz"),
        ("check t.sz --params none.sz --json", 6, "none.sz"),
    ] {
        let output = folder.run(arguments);
        let text = stderr(&output);
        if text.lines().count() > 1 {
            // Errors of programs point at a place: they have lines.
            let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!((output.status.code(), &told["code"]), (Some(code), &code.into()), "{arguments}");
            assert!(
                text.contains(words) && told["error"].as_str().unwrap().contains(words),
                "{arguments}: {text}"
            );
            continue;
        }
        assert_json_error(&output, code, &[words]);
    }
    // Behind two hyphens there are no options, and without the option nobody parses it.
    for arguments in ["plan -- --json", "inspect none.sz"] {
        assert_eq!(stdout(&folder.run(arguments)), "", "{arguments}");
    }
}

/// A report that says what is wrong has the error too, and there is no second object.
#[test]
fn a_report_with_an_error_stays_one_object() {
    let folder = folder("errors-report");
    let mut cut = fs::read(folder.path("keys/public/public.sz")).unwrap();
    cut.pop();
    fs::write(folder.path("cut.sz"), cut).unwrap();
    let output = folder.run("inspect cut.sz --json");
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((output.status.code(), &told["code"]), (Some(5), &5.into()));
    assert_eq!(told["object"], "a public key");
    assert!(told["error"].as_str().unwrap().contains("ends before"), "{told}");
}

/// A plan that was not made, kept by the shell, is told from one that was.
#[test]
fn an_error_where_a_plan_should_be_is_named() {
    let folder = folder("errors-plan");
    let failed = folder.run("plan sum(x^99) --schema s.json --scheme bfv --no-time --json");
    assert_ne!(failed.status.code(), Some(0));
    fs::write(folder.path("plan.json"), &failed.stdout).unwrap();
    folder.refused(
        "keygen p.sz -d more --plan plan.json",
        2,
        &["plan.json", "is no plan: sunzi plan failed with"],
    );
}

/// What is missing or cannot be written has exit code 6, and help and manual say so.
#[test]
fn what_cannot_be_read_or_written_has_its_code() {
    let folder = folder("errors-io");
    for (arguments, words) in [
        ("schema --table none.csv", "\"none.csv\": there is no such file or folder"),
        ("plan sum(x) --table none.csv", "none.csv"),
        ("plan @none.txt --schema s.json", "none.txt"),
        ("params -o none/p.sz", "there is no folder \"none\""),
        ("eval sum(x*y) --keys none t.sz -o u.sz", "none"),
        ("decrypt --keys none r.sz", "none"),
        ("inspect t.csv/none.sz", "t.csv/none.sz"),
    ] {
        folder.refused(arguments, 6, &[words]);
    }
    let output = folder.run_of(&["plan", "sum(linear(\"none.json\"))", "--schema", "s.json"]);
    assert_eq!(output.status.code(), Some(6), "{}", stderr(&output));
    assert!(stderr(&output).contains("cannot read the weights: \"none.json\""), "{}", stderr(&output));
    for text in ["--help", "plan --help", "schema --help", "decrypt --help", "manual", "manual eval"] {
        assert!(folder.fine(text).contains("6 a file is missing"), "{text}");
    }
}

/// A full disk, a disk that cannot be written to, and a reader that goes away.
#[test]
#[cfg(target_os = "linux")]
fn full_disks_and_closed_pipes_are_told_apart() {
    let folder = folder("errors-full");
    for line in ["sunzi params >/dev/full", "sunzi decrypt --keys keys/secret r.sz --csv >/dev/full"] {
        let output = folder.shell(line);
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(6), "{text}");
        assert!(text.starts_with("error: cannot write to standard output: the disk is full"), "{text}");
    }
    folder.refused("params -o /proc/p.sz", 6, &["/proc/p.sz"]);
    // A reader that stops early, as head does, is no error.
    for line in
        ["sunzi params --json", "sunzi decrypt --keys keys/secret r.sz --csv -q", "sunzi completions bash"]
    {
        let output = folder.shell(&format!("{{ {line}; echo $? >code; }} | true; cat code"));
        assert_eq!((stdout(&output).trim(), stderr(&output).as_str()), ("0", ""), "{line}");
    }
    // A table that did not arrive is one.
    let output = folder
        .shell("{ sunzi encrypt --keys keys/public --table t.csv -o - -q; echo $? >code; } | true; cat code");
    assert_eq!(stdout(&output).trim(), "6");
    assert!(stderr(&output).contains("whoever reads the output has stopped"), "{}", stderr(&output));
}

/// Returns whether a message has a plural for nobody, or the number of an error of the system.
fn awkward(text: &str) -> bool {
    let plural = ["(s)", "(es)", "(ies)"].iter().any(|end| {
        text.match_indices(end).any(|(at, _)| {
            let (before, after) = (&text[..at], &text[at + end.len()..]);
            // Mathematics such as ct(s) has no blank or end behind a word of three letters.
            before.chars().rev().take_while(char::is_ascii_lowercase).count() > 2
                && !after.starts_with(|c: char| c.is_ascii_alphanumeric())
        })
    });
    plural || text.contains("(os error")
}

#[test]
fn no_message_has_a_plural_in_brackets_or_a_number_of_the_system() {
    assert!(awkward("3 modulus(es) of") && awkward("1 chunk(s)") && awkward("x (os error 2)"));
    assert!(!awkward("ct(s) = m + e") && !awkward("sum(x)"));
    let mut found = Vec::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut folders: Vec<_> = [
        "cli/src",
        "crates",
        "lab/src",
        "python/src",
        "python/sunzi",
        "research",
        "testing/src",
        "xtask/src",
    ]
    .map(|folder| root.join(folder))
    .into();
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() && !["tests", "target", "examples", "benches"].contains(&name.as_str()) {
                folders.push(path);
            } else if [".rs", ".py"].iter().any(|end| name.ends_with(end))
                && name != "words.rs"
                && name != "tests.rs"
            {
                files += 1;
                let text = fs::read_to_string(&path).unwrap();
                // Only what stands in quotation marks is shown to anybody, and a text may go on in the next line.
                let mut goes_on = false;
                let shown = text.lines().map(str::trim).filter(|line| {
                    let before = std::mem::replace(&mut goes_on, line.ends_with('\\'));
                    !line.starts_with("//") && (before || line.contains('"')) && awkward(line)
                });
                found.extend(shown.map(|line| format!("{}: {line}", path.display())));
            }
        }
    }
    assert!(files > 300, "{files}");
    assert!(found.is_empty(), "{}", found.join("\n"));
    // What commands print, and what they fail with.
    let folder = folder("errors-words");
    for arguments in [
        "plan sum(x*y) --schema s.json --no-time",
        "plan sum(x*y) --schema s.json --no-time --packing always",
        "plan sum(x,y) --schema s.json",
        "eval sum(x*y) --keys keys/eval t.sz -o u.sz",
        "encrypt --keys keys/public --table t.csv -o v.sz",
        "inspect .",
        "inspect none",
        "inspect t.csv/none",
        "keygen keys -d more",
        "schema --table /proc/self/mem",
        "params -o /proc/none/p.sz",
    ] {
        let output = folder.run(arguments);
        let text = stdout(&output) + &stderr(&output);
        assert!(!text.is_empty() && !awkward(&text), "{arguments}: {text}");
    }
}

/// Colours are for terminals, unless somebody wants them or does not.
#[test]
fn colours_follow_the_option_and_the_environment() {
    const RED: &str = "\u{1b}[1m\u{1b}[31m";
    let run = |arguments: &str, variables: &[(&str, &str)]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sunzi"));
        for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
            command.env_remove(name);
        }
        let output = command.args(arguments.split(' ')).envs(variables.iter().copied()).output().unwrap();
        stderr(&output) + &stdout(&output)
    };
    let is_colored = |text: &str| text.contains('\u{1b}');
    assert!(run("inspect none --color always", &[]).starts_with(RED));
    assert!(
        is_colored(&run("--color=always --help", &[])) && is_colored(&run("plan --help --color always", &[]))
    );
    assert!(is_colored(&run("inspect none", &[("CLICOLOR_FORCE", "1")])));
    for (arguments, variables) in [
        ("inspect none", &[][..]),
        ("inspect none --color auto", &[]),
        ("plan --help", &[]),
        ("inspect none --color never", &[("CLICOLOR_FORCE", "1")]),
        ("--color never --help", &[("CLICOLOR_FORCE", "1")]),
        ("inspect none", &[("NO_COLOR", "1")]),
    ] {
        let text = run(arguments, variables);
        assert!(!text.is_empty() && !is_colored(&text), "{arguments} {variables:?}: {text}");
    }
    // What programs read has none.
    assert!(!is_colored(&stdout(&Folder::new("errors-colour").run("params --json --color always"))));
    assert!(run("params --color sometimes", &[]).contains("auto, always, never"));
}

/// A terminal has colours, unless NO_COLOR is set; and no bytes that would garble it.
#[test]
#[cfg(target_os = "linux")]
fn a_terminal_has_colours_and_no_binary_output() {
    let folder = folder("errors-terminal");
    let on_terminal = |line: &str| {
        let quoted = format!("{} {line}", env!("CARGO_BIN_EXE_sunzi"));
        let mut script = Command::new("script");
        script.args(["-qec", &quoted, "/dev/null"]).current_dir(folder.path("")).env("TERM", "xterm");
        for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
            script.env_remove(name);
        }
        // Linux without this program of util-linux cannot run the test.
        script.output().expect("script of util-linux")
    };
    assert!(stdout(&on_terminal("inspect none")).contains('\u{1b}'));
    assert!(!stdout(&on_terminal("inspect none --color never")).contains('\u{1b}'));
    let whole = stdout(&on_terminal("check keys/public/public.sz --params p.sz"));
    assert!(whole.contains("\u{1b}[1m\u{1b}[32mwhole\u{1b}[0m: a public key"), "{whole:?}");
    for line in [
        "params -o -",
        "encrypt --keys keys/public --table t.csv -o -",
        "eval \"sum(x*y)\" --keys keys/eval t.sz -o -",
    ] {
        let output = on_terminal(line);
        let text = stdout(&output);
        assert_eq!(output.status.code(), Some(2), "{line}: {text}");
        assert!(text.contains("binary, and standard output is a terminal"), "{line}: {text}");
    }
}
