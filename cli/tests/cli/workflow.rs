//! The whole workflow in processes of their own, on two real tables: answers are those of the clear tables.

use std::fs;
use std::path::Path;

use crate::common::{Folder, json};
use serde_json::Value;

const CANCER: &str = include_str!("../../data/breast_cancer.csv");
const DIABETES: &str = include_str!("../../data/diabetes.csv");

/// A column in units of 10^-decimals.
fn units(text: &str, name: &str, decimals: usize) -> Vec<i128> {
    let mut lines = text.lines();
    let at = lines.next().unwrap().split(',').position(|own| own == name).unwrap();
    let unit = |line: &str| {
        let (whole, fraction) = line
            .split(',')
            .nth(at)
            .unwrap()
            .split_once('.')
            .unwrap_or((line.split(',').nth(at).unwrap(), ""));
        format!("{whole}{fraction:0<decimals$}").parse().unwrap()
    };
    lines.map(unit).collect()
}

/// The correlation of two columns, from exact sums.
fn correlation(x: &[i128], y: &[i128]) -> f64 {
    let n = x.len() as i128;
    let dot = |a: &[i128], b: &[i128]| a.iter().zip(b).map(|(a, b)| a * b).sum::<i128>();
    let sum = |a: &[i128]| a.iter().sum::<i128>();
    let covariance = |a, b| (n * dot(a, b) - sum(a) * sum(b)) as f64;
    covariance(x, y) / (covariance(x, x) * covariance(y, y)).sqrt()
}

/// Runs schema, plan, keys, table and results: what `sunzi decrypt --json` says.
fn workflow(folder: &Folder, table: &str, options: &str, program: &str, scheme: &str) -> Value {
    fs::write(folder.path("t.csv"), table).unwrap();
    folder.fine(&format!("schema --table t.csv {options} -o s.json"));
    let run = |arguments: &[&str]| folder.fine_of(arguments);
    run(&["plan", program, "--schema", "s.json", "--scheme", scheme, "-o", "job.params", "--no-time"]);
    let text = run(&["keygen", "job.params", "-d", "keys", "--for", program, "--schema", "s.json"]);
    assert!(text.contains("secret/secret.sz"), "{text}");
    run(&["encrypt", "--keys", "keys/public", "--table", "t.csv", "--schema", "s.json", "-o", "t.sz"]);
    assert!(!Path::new(&folder.path("keys/eval/secret.sz")).exists());
    run(&["eval", program, "--keys", "keys/eval", "t.sz", "-o", "out.sz", "--memory", "4G"]);
    let csv = run(&["decrypt", "--keys", "keys/secret", "out.sz", "--csv"]);
    assert!(csv.starts_with("result,of,value,error,encrypted\n"), "{csv}");
    json(&folder.run("decrypt --keys keys/secret out.sz --json"))["results"].clone()
}

fn number(results: &Value, at: usize) -> (f64, f64) {
    let number = &results[at]["number"];
    (number["value"].as_f64().unwrap(), number["error"].as_f64().unwrap_or(0.0))
}

/// Fails unless a number is equal to the last digit but one, or within the stated error.
fn near((got, error): (f64, f64), expected: f64) {
    assert!((got - expected).abs() <= error + 1e-14 * expected.abs(), "{got} ± {error}, expected {expected}");
}

#[test]
fn diabetes_in_exact_schemes() {
    let (bmi, y, age) =
        (units(DIABETES, "bmi", 1), units(DIABETES, "progression", 0), units(DIABETES, "age", 0));
    let sex = units(DIABETES, "sex", 0);
    let program = "mean(bmi); corr(bmi, progression); var(age); mean(progression) by sex; sum(bmi * age)";
    for scheme in ["bfv", "bgv"] {
        let folder = Folder::new(&format!("workflow-diabetes-{scheme}"));
        let options = "--columns age,sex,bmi,progression --category sex";
        let results = workflow(&folder, DIABETES, options, program, scheme);
        let sum: i128 = bmi.iter().sum();
        assert_eq!(number(&results, 0), (sum as f64 / 4420.0, 0.0));
        near(number(&results, 1), correlation(&bmi, &y));
        let (n, s, q) = (442, age.iter().sum::<i128>(), age.iter().map(|v| v * v).sum::<i128>());
        assert_eq!(number(&results, 2), ((n * q - s * s) as f64 / (n * (n - 1)) as f64, 0.0));
        for (group, label) in ["1", "2"].iter().enumerate() {
            let of = y.iter().zip(&sex).filter(|(_, sex)| sex.to_string() == *label);
            let (sum, count) = of.fold((0, 0), |(sum, count), (y, _)| (sum + y, count + 1));
            let opened = &results[3]["groups"][group];
            assert_eq!(opened["labels"][0], *label);
            assert_eq!(opened["number"]["value"].as_f64().unwrap(), sum as f64 / f64::from(count));
        }
        let dot: i128 = bmi.iter().zip(&age).map(|(a, b)| a * b).sum();
        assert_eq!(number(&results, 4), (dot as f64 / 10.0, 0.0));
        assert!(results[4]["number"]["exact"].is_string());
    }
}

#[test]
fn breast_cancer_in_ckks() {
    let (radius, area) = (units(CANCER, "mean_radius", 4), units(CANCER, "worst_area", 1));
    let folder = Folder::new("workflow-cancer");
    let weights =
        r#"{"weights": {"mean_radius": 0.1, "worst_area": 0.001}, "intercept": -2, "interval": [-3, 6]}"#;
    fs::write(folder.path("w.json"), weights).unwrap();
    let program = "mean(mean_radius); corr(mean_radius, worst_area); logistic(\"w.json\"); sum(worst_area) by diagnosis";
    let options = "--columns mean_radius,worst_area,diagnosis";
    let results = workflow(&folder, CANCER, options, program, "auto");
    let sum: i128 = radius.iter().sum();
    near(number(&results, 0), sum as f64 / 10_000.0 / 569.0);
    near(number(&results, 1), correlation(&radius, &area));
    let rows = results[2]["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 569);
    for ((row, radius), area) in rows.iter().zip(&radius).zip(&area) {
        let score = 0.1 * *radius as f64 / 1e4 + 0.001 * *area as f64 / 10.0 - 2.0;
        let (value, error) = (row["value"].as_f64().unwrap(), row["error"].as_f64().unwrap());
        assert!(error < 0.01, "{error}");
        near((value, error), 1.0 / (1.0 + (-score).exp()));
    }
    let malignant = |line: &str| line.ends_with("malignant");
    let flags: Vec<bool> = CANCER.lines().skip(1).map(malignant).collect();
    let sums = [false, true].map(|which| {
        let of = area.iter().zip(&flags).filter(|(_, flag)| **flag == which);
        of.map(|(area, _)| area).sum::<i128>() as f64 / 10.0
    });
    for group in results[3]["groups"].as_array().unwrap() {
        let expected = sums[usize::from(group["labels"][0] == "malignant")];
        let number = &group["number"];
        near((number["value"].as_f64().unwrap(), number["error"].as_f64().unwrap()), expected);
    }
}

#[test]
fn what_cannot_be_is_refused_with_its_code() {
    let folder = Folder::new("workflow-refused");
    let table: String = (0..50).map(|i| format!("{},{}\n", i % 7, i % 5)).collect();
    fs::write(folder.path("t.csv"), format!("x,y\n{table}")).unwrap();
    folder.fine("schema --table t.csv -o s.json");
    folder.fine("plan sum(x*y) --table t.csv -o job.params --no-time");
    folder.refused("plan sum(x) --table t.csv -o job.params --no-time", 2, &["is there already"]);
    folder.fine("keygen job.params -d keys --for sum(x*y) --schema s.json");
    folder.fine("keygen job.params -d others");
    folder.fine("encrypt --keys keys/public --table t.csv -o t.sz");
    let eval = |program: &str, rest: &str| format!("eval {program} --keys keys/eval t.sz -o out.sz {rest}");
    folder.refused("plan sum(x>2) --table t.csv --params job.params", 4, &["make parameters", "x - 2 > 0"]);
    folder.refused(eval("sum(x^3)", "--json").trim(), 4, &["cannot be computed", "x"]);
    folder.refused(eval("sum(x*y)", "--memory 1M").trim(), 2, &["--memory"]);
    folder.refused("eval sum(x*y) --keys others/eval t.sz -o out.sz", 3, &["belongs to key"]);
    folder.refused("eval sum(x*y) --keys keys/secret t.sz -o out.sz", 6, &["not the folder eval"]);
    folder.refused("eval sum(x*y) --keys keys t.sz -o out.sz", 2, &["give", "keys/eval"]);
    folder.refused("eval sum(x*y) --keys none t.sz -o out.sz", 6, &["no such folder"]);
    folder.refused("eval sum(x*y) --keys keys/eval t.csv -o out.sz", 5, &["no file of Sunzi"]);
    folder.refused("eval sum(x*y) --keys keys/eval t.sz -o keys", 2, &["is a folder"]);
    folder.refused("eval sum(x*y) --keys keys/eval t.sz -o none/out.sz", 6, &["no folder"]);
    assert!(!folder.path("out.sz").exists(), "nothing is written before anything runs");
    let output = folder.run("eval sum(z) --keys keys/eval t.sz -o out.sz");
    assert_eq!(output.status.code(), Some(2));
    assert!(crate::common::stderr(&output).contains("there is no column `z`\n"));
    folder.fine("eval sum(x*y) --keys keys/eval t.sz -o out.sz");
    // Where auto takes an exact scheme the plan says so, and keeps nothing.
    let words = ["--scheme auto takes B", "leave --precision away", "--scheme ckks"];
    folder.refused("plan sum(x*y) --schema s.json --precision 16 --no-time -o auto.params", 2, &words);
    assert!(!folder.path("auto.params").exists());
    folder.fine("plan sum(sigmoid(x)) --schema s.json --precision 12 --no-time");
    // A precision means nothing where numbers are exact.
    for command in [
        "plan sum(x*y) --schema s.json --scheme bfv",
        "plan sum(x*y) --schema s.json --params job.params",
        "eval sum(x*y) --keys keys/eval t.sz -o more.sz",
        "decrypt --keys keys/secret out.sz --for sum(x*y) --schema s.json",
    ] {
        let words = ["--precision is for CKKS, and BFV and BGV compute exactly: leave --precision away"];
        folder.refused(&format!("{command} --precision 20"), 2, &words);
    }
    folder.refused("decrypt --keys others/secret out.sz", 3, &["belongs to key"]);
    let expected: u32 = (0..50).map(|i| (i % 7) * (i % 5)).sum();
    assert_eq!(folder.fine("decrypt --keys keys/secret out.sz"), format!("sum(x*y): {expected}\n"));
    let bytes = fs::read(folder.path("out.sz")).unwrap();
    for (name, changed) in
        [("cut.sz", bytes[..bytes.len() - 1].to_vec()), ("more.sz", [&bytes[..], &[0]].concat())]
    {
        fs::write(folder.path(name), changed).unwrap();
        folder.refused(&format!("decrypt --keys keys/secret {name}"), 5, &["file"]);
    }
    let mut changed = bytes;
    let last = changed.len() - 1;
    changed[last] ^= 1;
    fs::write(folder.path("changed.sz"), changed).unwrap();
    folder.refused("decrypt --keys keys/secret changed.sz", 5, &["checksum"]);
}
