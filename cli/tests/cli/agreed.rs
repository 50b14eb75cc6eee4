//! What the key holder agreed to, and what a server may write: other programs are refused, numbers that were never encrypted are named.

use std::fs;

use crate::common::{Folder, json, stderr};
use sunzi::program::contexts::Contexts;
use sunzi::program::results::{Description, ResultsReader, ResultsWriter};

const SCHEMA: &str = r#"{"columns": [
    {"name": "age", "kind": {"decimal": {"decimals": 0, "low": 0, "high": 120}}, "encrypted": true},
    {"name": "cost", "kind": {"decimal": {"decimals": 1, "low": 0, "high": 900}}, "encrypted": false},
    {"name": "sex", "kind": {"category": {"labels": ["f", "m"]}}, "encrypted": false}
], "rows": 40}"#;
const PROGRAM: &str = "sum(age);sum(cost);sum(age) by sex;sum(cost) by sex;age;cost";

fn results(name: &str, scheme: &str) -> Folder {
    let folder = Folder::new(name);
    let rows: String =
        (0..40).map(|i| format!("{},{}.5,{}\n", i + 20, i, if i % 2 == 0 { "f" } else { "m" })).collect();
    fs::write(folder.path("t.csv"), format!("age,cost,sex\n{rows}")).unwrap();
    fs::write(folder.path("s.json"), SCHEMA).unwrap();
    let precision: &[&str] = if scheme == "ckks" { &["--precision", "20"] } else { &[] };
    let plan = ["plan", PROGRAM, "--schema", "s.json", "--scheme", scheme, "--no-time", "-o", "job.params"];
    folder.fine_of(&[&plan, precision].concat());
    folder.fine("keygen job.params -d keys -q");
    folder.fine("encrypt --keys keys/public --table t.csv --schema s.json -o t.sz -q");
    let eval = ["eval", PROGRAM, "--keys", "keys/eval", "t.sz", "-o", "out.sz", "-q"];
    folder.fine_of(&[&eval, precision].concat());
    folder
}

#[test]
fn the_agreed_program_is_checked_without_sharing() {
    for scheme in ["bfv", "bgv", "ckks"] {
        let folder = results(&format!("agreed-{scheme}"), scheme);
        let decrypt = "decrypt --keys keys/secret out.sz";
        let mut agreed: Vec<&str> =
            decrypt.split(' ').chain(["--for", PROGRAM, "--schema", "s.json"]).collect();
        if scheme == "ckks" {
            agreed.extend(["--precision", "20"]);
        }
        let checked = folder.run_of(&agreed);
        assert_eq!(checked.status.code(), Some(0), "{}", stderr(&checked));
        assert!(!stderr(&checked).contains("--for"), "{}", stderr(&checked));
        // Whoever gives no program is told what that means.
        let trusting = folder.run(decrypt);
        assert_eq!(trusting.stdout, checked.stdout);
        assert!(stderr(&trusting).contains("is what the file says"), "{}", stderr(&trusting));
        folder.refused(&format!("{decrypt} --for sum(age) --schema s.json"), 3, &["not the results"]);
        // The same words over a column that is said to be clear.
        fs::write(folder.path("other.json"), SCHEMA.replace("\"encrypted\": true", "\"encrypted\": false"))
            .unwrap();
        let at = agreed.iter().position(|word| *word == "s.json").unwrap();
        agreed[at] = "other.json";
        let other = folder.run_of(&agreed);
        assert_eq!(other.status.code(), Some(3), "{}", stderr(&other));
        folder.refused(&format!("{decrypt} --for sum(age)"), 2, &["--schema"]);
    }
}

#[test]
fn what_was_never_encrypted_is_named() {
    for scheme in ["bfv", "ckks"] {
        let folder = results(&format!("clear-{scheme}"), scheme);
        let decrypt = "decrypt --keys keys/secret out.sz -q";
        let text = folder.fine(decrypt);
        let csv = folder.fine(&format!("{decrypt} --csv"));
        let results = json(&folder.run(&format!("{decrypt} --json")))["results"].clone();
        for (at, (name, clear)) in PROGRAM.split(';').zip([false, true, false, true, false, true]).enumerate()
        {
            let lines = text.lines().filter(|line| {
                line.starts_with(&format!("{name}:")) || line.starts_with(&format!("{name} ["))
            });
            let lines: Vec<&str> = lines.collect();
            assert!(
                !lines.is_empty() && lines.iter().all(|line| line.ends_with("(never encrypted)") == clear),
                "{text}"
            );
            let lines = csv.lines().filter(|line| line.starts_with(&format!("{name},")));
            let lines: Vec<&str> = lines.collect();
            let ending = if clear { ",no" } else { ",yes" };
            assert!(!lines.is_empty() && lines.iter().all(|line| line.ends_with(ending)), "{csv}");
            let result = &results[at];
            let first = [&result["number"], &result["groups"][0]["number"], &result["rows"][0]];
            let marks: Vec<bool> = first
                .iter()
                .filter(|value| value["value"].is_f64())
                .map(|value| value["never_encrypted"] == true)
                .collect();
            assert_eq!(marks, [clear], "{result}");
        }
        // Numbers are given in units of the last decimal.
        assert!(text.contains("cost: 40 rows: 0.5, 1.5, 2.5"), "{text}");
    }
}

/// A server that asks for a total of its own under the words that were agreed on.
#[test]
fn formulas_of_a_server_are_not_those_of_the_key_holder() {
    let folder = results("agreed-formula", "bfv");
    let contexts = Contexts::open(&folder.path("keys/secret")).unwrap();
    let bytes = fs::read(folder.path("out.sz")).unwrap();
    let mut reader = ResultsReader::open(&contexts, bytes.as_slice()).unwrap();
    let mut program = serde_json::to_value(&reader.description().program).unwrap();
    let formula = program["outputs"][0]["value"]["number"].clone();
    program["outputs"][0]["value"]["number"] = serde_json::json!({ "multiply": [formula, "rows"] });
    let description =
        Description { program: serde_json::from_value(program).unwrap(), ..reader.description().clone() };
    let mut crafted = Vec::new();
    let mut writer = ResultsWriter::new(&contexts, reader.key(), description, &mut crafted).unwrap();
    while let Some((_, _, answer)) = reader.next_answer().unwrap() {
        writer.put(&answer).unwrap();
    }
    fs::write(folder.path("crafted.sz"), crafted).unwrap();
    let printed = folder.fine("decrypt --keys keys/secret crafted.sz -q");
    let sum: usize = (0..40).map(|i| i + 20).sum();
    assert!(printed.starts_with(&format!("sum(age): {}\n", 40 * sum)), "{printed}");
    let agreed = ["decrypt", "--keys", "keys/secret", "crafted.sz", "--for", PROGRAM, "--schema", "s.json"];
    let refused = folder.run_of(&agreed);
    assert_eq!(refused.status.code(), Some(3), "{}", stderr(&refused));
    assert!(stderr(&refused).contains("not the results"), "{}", stderr(&refused));
}
