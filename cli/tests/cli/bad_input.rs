//! Every kind of bad input: exit code 2, one clear line, nothing on standard output, nothing written.

#[cfg(unix)]
use std::fs::File;

#[cfg(unix)]
use crate::common::{Folder, stderr};
use crate::common::{assert_json_error, assert_refused, sunzi_with};

fn refuse_file(name: &str, content: &[u8], more: &[&str], words: &[&str]) {
    let run = |json: &[&str]| {
        let arguments = [&["demo", "--input", "t.csv"], more, json].concat();
        sunzi_with(&format!("{name}{}", json.len()), &[("t.csv", content)], &arguments)
    };
    assert_refused(&run(&[]), words);
    assert_json_error(&run(&["--json"]), 2, words);
}

fn refuse(name: &str, arguments: &[&str], words: &[&str]) {
    assert_refused(&sunzi_with(name, &[], arguments), words);
}

#[test]
fn files_that_are_no_tables() {
    let missing = sunzi_with("missing", &[], &["demo", "--input", "nowhere.csv", "--json"]);
    assert_json_error(&missing, 6, &["nowhere.csv", "no such file"]);
    refuse("folder", &["demo", "--input", "."], &["is a folder"]);
    refuse_file("empty", b"", &[], &["is empty", "header"]);
    refuse_file("blank", b"\n\n  \n", &[], &["is empty"]);
    refuse_file("header", b"a,b\n", &[], &["no rows"]);
    refuse_file("latin", b"a,b\n1,2\n\xe9,3\n", &[], &["line 3", "UTF-8"]);
    refuse_file("binary", &[0, 159, 146, 150, 0, 1, 2], &[], &["UTF-8"]);
}

#[test]
fn rows_that_are_ragged() {
    refuse_file("short", b"a,b\n1,2\n3\n", &[], &["line 3", "1 cells", "header has 2"]);
    refuse_file("long", b"a,b\r\n1,2\r\n\r\n3,4,5\r\n", &[], &["line 4", "3 cells"]);
}

#[test]
fn columns_that_are_not_there() {
    refuse_file(
        "typo",
        b"height,weight\n1,2\n",
        &["--columns", "hieght"],
        &["\"hieght\"", "did you mean \"height\"?"],
    );
    refuse_file("group", b"height,weight\n1,2\n", &["--group-by", "sex"], &["\"sex\"", "height, weight"]);
    refuse_file("same", b"x,x\n1,2\n", &[], &["two columns are named \"x\""]);
    refuse_file("twice", b"x,y\n1,2\n", &["--columns", "x,x"], &["\"x\" twice"]);
    refuse_file("unnamed", b"x,\n1,2\n", &[], &["column 2 has no name"]);
    refuse("embedded", &["demo", "--columns", "mean_raduis"], &["did you mean \"mean_radius\"?"]);
}

#[test]
fn cells_that_are_no_numbers() {
    for (cell, word) in [
        ("12a", "\"12a\" is not a number"),
        ("", "empty"),
        ("NaN", "finite"),
        ("-inf", "finite"),
        ("1;5", "not a number"),
    ] {
        let content = format!("x,y\n1,2\n3,{cell}\n");
        refuse_file("cell", content.as_bytes(), &[], &["line 3", "column \"y\"", word]);
        refuse_file("named", content.as_bytes(), &["--columns", "y"], &["line 3", "column \"y\"", word]);
    }
    refuse_file(
        "text",
        b"name,x\nann,1\n",
        &["--columns", "name"],
        &["line 2", "column \"name\"", "\"ann\""],
    );
    refuse_file("alltext", b"name\nann\n", &[], &["no column holds numbers", "line 2"]);
    refuse_file("grouponly", b"x\n1\n", &["--group-by", "x"], &["no column"]);
    refuse_file("control", b"x\n1\n\"a\nb\x1b[2J\"\n", &[], &["line 3", "\\n"]);
}

#[test]
fn numbers_and_sums_that_do_not_fit() {
    let range = "±(2^119 − 1)";
    refuse_file("value", b"x\n1e30\n", &[], &["column \"x\"", range, "larger unit"]);
    refuse_file(
        "digits",
        b"x\n12345678901234567890123456789012345678901\n",
        &[],
        &["line 2", "37 significant digits"],
    );
    refuse_file("exponent", b"x\n1e999\n", &[], &["line 2", "out of range"]);
    // Each value fits, the sum of their squares does not.
    refuse_file("sum", b"x\n8e17\n8e17\n", &["--decimals", "0"], &["column \"x\"", "2 rows", range]);
    refuse_file(
        "decimals",
        b"x\n1.5\n",
        &["--decimals", "30"],
        &["column \"x\"", range, "--decimals 17 or fewer"],
    );
}

#[test]
fn options_that_do_not_exist_or_make_no_sense() {
    refuse("nothing", &[], &["expected demo, params, keygen, "]);
    refuse("command", &["dmeo"], &["'dmeo'", "sunzi --help"]);
    refuse("unknown", &["demo", "--colums", "x"], &["'--colums'", "'--columns'", "try 'sunzi demo --help'"]);
    refuse("threads", &["demo", "--threads", "0"], &["--threads", "1..=1024"]);
    refuse("threads2", &["demo", "--threads", "many"], &["--threads"]);
    refuse("auto", &["demo", "--decimals", "-1"], &["--decimals", "from 0 to 400"]);
    refuse("value", &["demo", "--input"], &["--input"]);
    refuse("identifiers", &["demo", "--group-by", "mean_area"], &["539 groups", "at most 64"]);
    refuse("depth", &["params", "--depth", "150"], &["no parameter set fits", "depth"]);
    refuse("bits", &["params", "--plain-bits", "61"], &["plain_bits", "61"]);
    refuse("slots", &["params", "--slots", "0"], &["--slots", "0 is not in 1.."]);
    refuse("security", &["params", "--security", "100"], &["128", "192", "256"]);
    refuse("rounds", &["bench", "--rounds", "0"], &["rounds"]);
    refuse("degree", &["bench", "--log-n", "9"], &["log2 n"]);
}

#[test]
fn a_wrong_override_of_the_kernels() {
    for command in ["demo", "bench"] {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_sunzi"))
            .arg(command)
            .env("SUNZI_ISA", "pdp11")
            .output()
            .unwrap();
        assert_refused(&output, &["pdp11", "portable"]);
    }
}

/// Runs a command in a folder with little memory, for at most a minute.
#[cfg(unix)]
fn limited(folder: &Folder, arguments: &[&str]) -> std::process::Output {
    let line = "ulimit -v 2000000; exec timeout 60 \"$@\"";
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", line, "sh", env!("CARGO_BIN_EXE_sunzi")]).args(arguments);
    // Each thread takes address space of its own, so there is one.
    shell.env("RAYON_NUM_THREADS", "1").current_dir(folder.path("")).env_remove("SUNZI_ISA").output().unwrap()
}

#[test]
#[cfg(unix)]
fn plans_schemas_and_weights_have_a_longest_file() {
    let folder = Folder::new("longest-files");
    std::fs::write(folder.path("t.csv"), "x\n1\n2\n").unwrap();
    std::fs::write(folder.path("s.json"), folder.fine("schema --table t.csv")).unwrap();
    folder.fine("plan sum(x) --schema s.json --scheme bfv -o p.sz --no-time");
    folder.fine("keygen p.sz -d keys");
    let sparse = |name: &str, len: u64| File::create(folder.path(name)).unwrap().set_len(len).unwrap();
    sparse("huge", 10 << 30);
    sparse("above", (1 << 26) + 1);
    sparse("weights", (1 << 24) + 1);
    // Blanks are JSON: the text alone is no reason to refuse this file.
    let text = std::fs::read_to_string(folder.path("s.json")).unwrap();
    let padded = |len: usize| text.clone() + &" ".repeat(len - text.len());
    std::fs::write(folder.path("longest"), padded(1 << 26)).unwrap();
    std::fs::write(folder.path("longer"), padded((1 << 26) + 1)).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(folder.path("pipe")).status().unwrap().success());
    let of_schema = ["plan", "sum(x)", "--no-time", "--schema"];
    let readers = [
        (&of_schema[..], "a schema"),
        (&["encrypt", "--keys", "keys/public", "--table", "t.csv", "-o", "t.sz", "--schema"], "a schema"),
        (&["encrypt", "--keys", "keys/public", "--table", "t.csv", "-o", "t.sz", "--plan"], "a plan"),
        (&["keygen", "p.sz", "-d", "made", "--plan"], "a plan"),
    ];
    for (arguments, expected) in readers {
        for (file, got) in [
            ("huge", "10.0 GiB"),
            ("above", "64.0 MiB"),
            ("longer", "64.0 MiB"),
            ("pipe", "a pipe or device"),
            ("/dev/zero", "a pipe or device"),
            (".", "a folder"),
        ] {
            let output = limited(&folder, &[arguments, &[file]].concat());
            assert_refused(&output, &[file, expected, "at most 64.0 MiB", got, "give the name"]);
        }
    }
    for (file, got) in [("huge", "10.0 GiB"), ("weights", "16.0 MiB"), ("/dev/zero", "a pipe or device")] {
        let program = format!("sum(linear(\"{file}\"))");
        let output = limited(&folder, &["plan", &program, "--schema", "s.json"]);
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(["weights", "at most 16.0 MiB", got].iter().all(|word| text.contains(word)), "{text}");
    }
    let output = limited(&folder, &[&of_schema[..], &["longest"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}
