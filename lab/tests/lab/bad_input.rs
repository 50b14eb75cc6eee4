//! Every kind of bad input to `lab`: exit code 2, one clear line, nothing on standard output, nothing written.

use super::common::{assert_refused, lab_with};

fn refuse(name: &str, arguments: &[&str], words: &[&str]) {
    assert_refused(&lab_with(name, &[], arguments), words);
}

#[test]
fn options_that_do_not_exist_or_make_no_sense() {
    refuse("nothing", &[], &["expected bench or repro"]);
    refuse("command", &["bnech"], &["'bnech'", "lab --help"]);
    refuse("rounds", &["bench", "--rounds", "0"], &["rounds"]);
    refuse("degree", &["bench", "--log-n", "9"], &["log2 n"]);
    refuse("degree2", &["bench", "wire", "--log-n", "18"], &["log2 n", "18"]);
    refuse("both", &["bench", "--model", "wire"], &["'wire'"]);
    refuse("folder", &["bench", "growth"], &["--directory"]);
}

#[test]
fn a_wrong_override_of_the_kernels() {
    for command in [&["bench"][..], &["repro", "behz", "--only", "table1"]] {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_lab"))
            .args(command)
            .env("SUNZI_ISA", "pdp11")
            .output()
            .unwrap();
        assert_refused(&output, &["pdp11", "portable"]);
    }
}

#[test]
fn parts_of_a_paper_that_are_not_there() {
    for (paper, json) in [("behz", &[][..]), ("behz", &["--json"]), ("kpz", &[]), ("kpz", &["--json"])] {
        let only = |parts| [&["repro", paper, "--only", parts], json].concat();
        refuse("part", &only("table9"), &["table1, table2", "figure", "\"table9\""]);
        refuse("noparts", &only(""), &["--only", "\"\""]);
        refuse("emptypart", &only("table1,,table3"), &["--only", "\"\""]);
    }
    refuse(
        "figure",
        &["repro", "takeshita", "--only", "figure10"],
        &["table1, products", "figure9", "\"figure10\""],
    );
    refuse("bits", &["repro", "takeshita", "--bits", "64"], &["64", "128"]);
    refuse("degree", &["repro", "behz", "--log-n", "11,16"], &["log2 n between 11 and 15", "got 16"]);
    refuse("nodegree", &["repro", "behz", "--log-n", "x"], &["'x'"]);
    let taken = ["repro", "behz", "--only", "figure3", "--out", "taken"];
    assert_refused(&lab_with("taken", &[("taken", b"")], &taken), &["cannot write taken", "--out"]);
    refuse("nopaper", &["repro"], &["behz"]);
    refuse("otherpaper", &["repro", "rsa"], &["rsa"]);
}
