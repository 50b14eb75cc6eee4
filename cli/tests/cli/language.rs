//! The language of programs on the command line: where a newcomer finds it, and what wrong programs are told.

use sunzi::program::language::{FUNCTIONS, text};

use crate::common::{Folder, assert_refused, json, stderr, stdout, sunzi_with};

const SCHEMA: &str = r#"{"rows": 5, "columns": [
    {"name": "age", "kind": {"decimal": {"decimals": 0, "low": 18, "high": 90}}, "encrypted": true},
    {"name": "cost", "kind": {"decimal": {"decimals": 2, "low": 0, "high": 50000}}, "encrypted": true},
    {"name": "region", "kind": {"category": {"labels": ["north", "south"]}}, "encrypted": true}]}"#;

#[test]
fn help_language_prints_the_reference() {
    let printed = stdout(&sunzi_with("language", &[], &["help", "language"]));
    assert_eq!(printed.trim_end(), text(100).trim_end());
    for entry in &FUNCTIONS {
        assert!(printed.contains(entry.example), "{}", entry.name);
    }
    let one = stdout(&sunzi_with("language", &[], &["help", "language", "corr"]));
    assert!(one.contains("corr(x, y)") && one.lines().count() < 12, "{one}");
    let other = stdout(&sunzi_with("language", &[], &["help", "language", "mae"]));
    assert!(other.contains("mae(x, y) is written mean((2 * (x > y) - 1) * (x - y))"), "{other}");
    let reference = json(&sunzi_with("language", &[], &["help", "language", "--json"]));
    assert_eq!(reference["functions"].as_array().unwrap().len(), FUNCTIONS.len());
    assert_eq!(reference["functions"][1]["name"], "sum");
    assert_eq!(reference["functions"][1]["schemes"], "all");
}

#[test]
fn help_knows_commands_and_refuses_other_words() {
    let plan = stdout(&sunzi_with("language", &[], &["help", "plan"]));
    assert_eq!(plan, stdout(&sunzi_with("language", &[], &["plan", "--help"])));
    assert!(plan.contains("sunzi help language"), "{plan}");
    let all = stdout(&sunzi_with("language", &[], &["help"]));
    assert!(all.contains("Commands:") && all.contains("sunzi help language"), "{all}");
    for (arguments, words) in [
        (vec!["help", "nonsense"], ["no command", "sunzi --help"]),
        (vec!["help", "language", "frobnicate"], ["no function", "count, sum, mean"]),
        (vec!["help", "plan", "sum"], ["only", "help language"]),
    ] {
        assert_refused(&sunzi_with("language", &[], &arguments), &words);
    }
    // Programs that ask for JSON are told in JSON.
    let output = sunzi_with("language", &[], &["help", "plan", "--json"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stdout(&output).contains("--json is for `sunzi help language`"), "{}", stdout(&output));
}

#[test]
fn the_manual_has_a_page_of_the_language() {
    let page = stdout(&sunzi_with("language", &[], &["manual", "language"]));
    assert!(page.contains(".TH sunzi-language 7") && page.contains(".SH FUNCTIONS"), "{page}");
    for entry in &FUNCTIONS {
        assert!(page.contains(&format!(".SS {}", entry.name)), "{}", entry.name);
    }
}

#[test]
fn wrong_programs_are_told_what_there_is() {
    let folder = Folder::new("language-wrong");
    std::fs::write(folder.path("s.json"), SCHEMA).unwrap();
    for (program, expected) in [
        ("abs(cost)", "write (2 * (cost > 0) - 1) * cost; "),
        ("quartile(cost)", "quantile(x, 0.9)"),
        ("argsort(cost)", "the row of rank 1 has the least number"),
        ("round(cost, 1)", "encrypted numbers are not rounded"),
        ("maen(cost)", "did you mean `mean`?"),
        ("mean(csot)", "did you mean `cost`?"),
        ("sum(cost) by regoin", "did you mean `region`?"),
        ("count(18 < age < 65)", "(18 < age) * (age < 65)"),
    ] {
        let output = folder.run_of(&["plan", program, "--schema", "s.json", "--no-time"]);
        let told = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{program}: {told}");
        assert!(told.contains(expected), "{program}: {told}");
        assert!(told.trim_end().ends_with("see sunzi help language"), "{told}");
    }
}
