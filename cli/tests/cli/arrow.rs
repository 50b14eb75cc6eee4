//! Encrypted tables in the hands of an engine that knows nothing of Sunzi: pyarrow filters, sorts, cuts and writes them, and programs run on what is left.

use std::fs;
use std::io::Write;
use std::process::Command;

use crate::common::{Folder, json, stderr, stdout};

const ROWS: i64 = 9000;
const PROGRAM: &str = "sum(age); mean(age) by sex; sum(cost); sum(age * cost)";

/// What is computed of some rows: sums of ages, ages and people of one sex, costs and products, the last two in tenths.
fn expected(regions: &[&str]) -> [f64; 5] {
    let mut sums = [0; 5];
    for i in (0..ROWS).filter(|i| regions.contains(&region(*i))) {
        let (age, cost, f) = (i % 90, i % 300, i64::from(i % 7 < 3));
        for (sum, add) in sums.iter_mut().zip([age, f * age, f, cost, age * cost]) {
            *sum += add;
        }
    }
    let [age, of_f, count, cost, product] = sums.map(|sum| sum as f64);
    [age, of_f / count, (age - of_f), cost / 10.0, product / 10.0]
}

fn region(i: i64) -> &'static str {
    ["north", "south", "south", "east"][(i / 5 % 4) as usize]
}

/// A Python with pyarrow, if there is one: the one that `SUNZI_PYTHON` names, or python3.
fn engine(folder: &Folder, key: &str) -> Option<String> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/arrow_engine.py");
    let python = std::env::var_os("SUNZI_PYTHON").unwrap_or("python3".into());
    let run = Command::new(python).args([script, "e.parquet", key]).current_dir(folder.path(".")).output();
    match run {
        Ok(output) if output.status.success() && !stdout(&output).starts_with("SKIPPED") => {
            Some(stdout(&output))
        }
        Ok(output) if output.status.success() => None,
        Ok(output) => panic!("{}", stderr(&output)),
        Err(_) => None,
    }
}

/// Evaluates and decrypts a file that an engine left.
fn answers(folder: &Folder, file: &str, program: &str) -> serde_json::Value {
    folder.fine_of(&["eval", program, "--keys", "keys/eval", file, "-o", "out.sz", "--force", "--quiet"]);
    json(&folder.run("decrypt --keys keys/secret out.sz --json"))["results"].clone()
}

fn check(folder: &Folder, file: &str, regions: &[&str]) {
    let [age, of_f, _, cost, product] = expected(regions);
    let results = answers(folder, file, PROGRAM);
    let number = |at: usize| results[at]["number"]["value"].as_f64().unwrap();
    assert_eq!((number(0), number(2), number(3)), (age, cost, product), "{file}");
    assert_eq!(results[1]["groups"][0]["number"]["value"].as_f64().unwrap(), of_f, "{file}");
}

#[test]
fn an_engine_filters_and_programs_run_on_what_is_left() {
    let folder = Folder::new("arrow");
    let row = |i: i64| {
        let sex = if i % 7 < 3 { "f" } else { "m" };
        format!("{},{}.{},{},{sex}\n", i % 90, i % 300 / 10, i % 10, region(i))
    };
    fs::write(
        folder.path("t.csv"),
        format!("age,cost,region,sex\n{}", (0..ROWS).map(row).collect::<String>()),
    )
    .unwrap();
    folder.fine("schema --table t.csv --clear cost --clear region --category sex -o s.json");
    let partition = ["--partition", "region"];
    let run = |arguments: &[&str]| folder.fine_of(&[arguments, &partition].concat());
    run(&["plan", PROGRAM, "--schema", "s.json", "--scheme", "bfv", "-o", "job.params", "--no-time"]);
    run(&["keygen", "job.params", "-d", "keys", "--for", PROGRAM, "--schema", "s.json", "--quiet"]);
    let encrypt = [
        "encrypt",
        "--keys",
        "keys/public",
        "--table",
        "t.csv",
        "--schema",
        "s.json",
        "-o",
        "e.parquet",
        "--quiet",
    ];
    run(&encrypt);
    check(&folder, "e.parquet", &["north", "south", "east"]);
    let inspected = json(&folder.run("inspect e.parquet --json"));
    let Some(said) = engine(&folder, inspected["key"].as_str().unwrap()) else {
        // The message goes past the test harness, which keeps to itself what tests print.
        std::io::stderr().write_all(b"SKIPPED: no Python with pyarrow (SUNZI_PYTHON names one)\n").unwrap();
        return;
    };
    std::io::stderr().write_all(said.as_bytes()).unwrap();
    for file in ["south.parquet", "wide.parquet"] {
        check(&folder, file, &["south", "east"]);
        assert!(folder.fine(&format!("check {file} --params job.params")).starts_with("whole"));
    }
    // There is a folder for each label.
    for region in ["north", "south", "east"] {
        check(&folder, &format!("parts/region={region}/part-0.parquet"), &[region]);
    }
    let ages = answers(&folder, "age.parquet", "sum(age)");
    assert_eq!(ages[0]["number"]["value"].as_f64(), Some(expected(&["north", "south", "east"])[0]));
    // Rows come out in the order that they have now, without padding.
    let rows = answers(&folder, "south.parquet", "age");
    let count = (0..ROWS).filter(|&i| region(i) != "north").count();
    assert_eq!(rows[0]["rows"].as_array().unwrap().len(), count);
    let csv = folder.fine("decrypt --keys keys/secret out.sz --csv");
    assert!(csv.lines().last().unwrap().starts_with(&format!("age,{count},")), "{:?}", csv.lines().last());
    let eval =
        |file: &str, program: &str| format!("eval {program} --keys keys/eval {file} -o out.sz --force");
    let other = folder.run(&eval("age.parquet", "sum(cost)"));
    assert_eq!(other.status.code(), Some(2));
    assert!(stderr(&other).contains("there is no column `cost`"), "{}", stderr(&other));
    folder.refused(&eval("bare.parquet", "sum(age)"), 2, &["metadata of the schema"]);
    folder.refused(&eval("none.parquet", "sum(age)"), 2, &["no chunks"]);
    folder.refused(&eval("rowless.parquet", "sum(age)"), 2, &["sunzi.rows", "left it out"]);
}
