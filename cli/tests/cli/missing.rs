//! Tables with missing cells through the whole workflow.

use std::fs;

use serde_json::{Value, json};

use crate::common::{Folder, json, stderr, stdout};

/// Table of another country: missing dates, ages, costs and regions, one of each by another word.
const TABLE: &str = "tag;alter;kosten;region\n\
    17.05.2024;34;120,50;nord\n\
    18.05.2024;;980,00;sued\n\
    ;41;NA;nord\n\
    03.06.2024;67;1310,75;None\n\
    04.06.2024;29;60,00;sued\n\
    null;52;N/A;nord\n";
const READING: [&str; 5] = ["--decimal-comma", "--date-format", "%d.%m.%Y", "--missing", "skip"];

/// Encrypts a table with a program's keys, and computes: all results as JSON.
fn computed(folder: &Folder, program: &str, schema: &[&str], encrypt: &[&str], plan: &[&str]) -> Value {
    folder.fine_of(&[&["schema", "t.csv", "-o", "s.json", "--force"], schema].concat());
    let keys = ["keygen", "job.params", "-d", "keys", "--for", program, "--schema", "s.json", "--quiet"];
    let parameters = ["plan", program, "--schema", "s.json", "-o", "job.params", "--no-time", "--force"];
    folder.fine_of(&[&parameters, plan].concat());
    folder.fine_of(&keys);
    let table = [
        "encrypt",
        "t.csv",
        "--keys",
        "keys/public",
        "--schema",
        "s.json",
        "-o",
        "t.sz",
        "--quiet",
        "--force",
    ];
    folder.fine_of(&[&table, encrypt].concat());
    folder.fine_of(&["eval", program, "--keys", "keys/eval", "t.sz", "-o", "out.sz", "--quiet", "--force"]);
    json(&folder.run("decrypt --keys keys/secret out.sz --json"))["results"].clone()
}

#[test]
fn statistics_leave_missing_cells_out() {
    let folder = Folder::new("missing-statistics");
    fs::write(folder.path("t.csv"), TABLE).unwrap();
    let program = "mean(tag); mean(alter); sum(kosten); count(); count(alter); count(alter * kosten); cov(alter, kosten); \
        sum(kosten) by region; alter * 2; count(region != \"nord\")";
    let results = computed(&folder, program, &READING, &READING[..3], &[]);
    let number = |at: usize| results[at]["number"]["value"].as_f64().unwrap();
    assert_eq!(number(0), (19_860.0 + 19_861.0 + 19_877.0 + 19_878.0) / 4.0);
    assert_eq!((number(1), number(2)), (223.0 / 5.0, 2_471.25));
    assert_eq!((number(3), number(4), number(5), number(9)), (6.0, 5.0, 3.0, 2.0));
    let (age, cost) = ([34.0, 67.0, 29.0], [120.5, 1310.75, 60.0]);
    let means = [age, cost].map(|all| all.iter().sum::<f64>() / 3.0);
    let products = age.iter().zip(cost).map(|(x, y)| (x - means[0]) * (y - means[1]));
    assert!((number(6) - products.sum::<f64>() / 2.0).abs() < 1e-9, "{}", number(6));
    let groups = results[7]["groups"].as_array().unwrap();
    let groups: Vec<f64> = groups.iter().map(|group| group["number"]["value"].as_f64().unwrap()).collect();
    assert_eq!(groups, [120.5, 1_040.0]);
    let rows: Vec<Value> =
        results[8]["rows"].as_array().unwrap().iter().map(|row| row["value"].clone()).collect();
    assert_eq!(rows, [json!(68.0), Value::Null, json!(82.0), json!(134.0), json!(58.0), json!(104.0)]);
    let text = folder.fine("decrypt --keys keys/secret out.sz");
    assert!(text.contains("alter * 2: 6 rows: 68, missing, 82, 134, 58"), "{text}");
    let csv = folder.fine("decrypt --keys keys/secret out.sz --csv");
    assert!(csv.contains("alter * 2,2,,,yes\n"), "{csv}");
    // The schema says that cells may be missing, and so does the table; where they are is nowhere.
    let schema: Value = serde_json::from_str(&fs::read_to_string(folder.path("s.json")).unwrap()).unwrap();
    assert!(schema["columns"].as_array().unwrap().iter().all(|column| column["missing"] == true), "{schema}");
    let text = folder.fine("inspect t.sz");
    assert!(text.contains("\"alter\"  encrypted, 29 to 67, 0 decimals, may have missing cells"), "{text}");
    folder.fine("check t.sz --params job.params");
    // A packed plan takes the same table, as long as no group of it may be without label.
    let packed = "mean(alter); cov(alter, kosten)";
    folder.fine_of(&[
        "plan",
        packed,
        "--schema",
        "s.json",
        "--packing",
        "always",
        "-o",
        "p.params",
        "--no-time",
    ]);
    let groups = "sum(kosten) by region";
    let refused =
        ["plan", groups, "--schema", "s.json", "--packing", "always", "-o", "q.params", "--no-time"];
    let refused = folder.run_of(&refused);
    assert_eq!(refused.status.code(), Some(4), "{}", stderr(&refused));
    assert!(stderr(&refused).contains("without missing cells"), "{}", stderr(&refused));
}

#[test]
fn ckks_leaves_missing_cells_out_too() {
    let folder = Folder::new("missing-ckks");
    fs::write(folder.path("t.csv"), TABLE).unwrap();
    let program = "mean(kosten); count(alter > 40); mean(log(alter))";
    let results = computed(&folder, program, &READING, &READING[..3], &["--scheme", "ckks"]);
    let logarithms = [34.0_f64, 41.0, 67.0, 29.0, 52.0].map(f64::ln).iter().sum::<f64>();
    for (at, right) in [(0, 2_471.25 / 4.0), (1, 3.0), (2, logarithms / 5.0)] {
        let number = &results[at]["number"];
        let (value, error) = (number["value"].as_f64().unwrap(), number["error"].as_f64().unwrap());
        assert!((value - right).abs() <= error && error < 0.1 * right, "{value} ± {error}: {right}");
    }
}

#[test]
fn values_stand_in_missing_cells() {
    let folder = Folder::new("missing-values");
    fs::write(folder.path("t.csv"), TABLE).unwrap();
    let program = "sum(alter); sum(kosten); count(region == \"unbekannt\")";
    let choices = "alter=18,kosten=0.25,region=unbekannt,tag=skip";
    let reading = ["--decimal-comma", "--date-format", "%d.%m.%Y", "--missing", choices];
    let results = computed(&folder, program, &reading, &reading, &[]);
    let numbers: Vec<f64> = results
        .as_array()
        .unwrap()
        .iter()
        .map(|result| result["number"]["value"].as_f64().unwrap())
        .collect();
    assert_eq!(numbers, [223.0 + 18.0, 2_471.75, 1.0]);
    let text = folder.fine("inspect t.sz");
    assert!(text.contains("\"tag\"") && text.matches("may have missing cells").count() == 1, "{text}");
    assert!(
        text.contains("\"alter\"  encrypted, 18 to 67"),
        "what is filled in is a cell of the range: {text}"
    );
    // Whoever encrypts another day's table fills it in alike, or is told.
    let command =
        "encrypt t.csv --keys keys/public --schema s.json -o u.sz --decimal-comma --date-format %d.%m.%Y";
    folder.refused(command, 2, &["line 3", "\"alter\"", "--missing"]);
}

#[test]
fn missing_cells_are_refused_unless_something_is_said() {
    let folder = Folder::new("missing-refused");
    fs::write(folder.path("t.csv"), "a,b,g\n1,2.5,x\n,3,y\n4,NaN,NA\n").unwrap();
    folder.refused("schema t.csv", 2, &["line 3", "\"a\"", "--missing skip"]);
    folder.refused("schema t.csv --missing refuse", 2, &["line 3", "\"a\"", "--missing VALUE"]);
    folder.refused("schema t.csv --columns b", 2, &["line 4", "\"b\"", "NaN", "--missing"]);
    folder.refused("schema t.csv --missing skip,b=refuse", 2, &["line 4", "\"b\""]);
    // NA is a label as long as nothing is said about missing cells.
    assert!(folder.fine("schema t.csv --columns g").contains("\"NA\""));
    assert!(!folder.fine("schema t.csv --columns g --missing skip").contains("\"NA\""));
    for bad in ["", ",", "a=", "=skip", "skip,0"] {
        let output = folder.run_of(&["schema", "t.csv", "--missing", bad]);
        assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(2), ""), "{bad}");
    }
    folder.refused("schema t.csv --missing c=skip", 2, &["\"c\"", "is not taken"]);
    folder.refused("schema t.csv --missing skip,a=x", 2, &["value for missing cells", "\"a\"", "\"x\""]);
    folder.refused(
        "schema t.csv --missing skip,a=9 --range a=0..8",
        2,
        &["\"a\"", "outside of the declared range"],
    );
    fs::write(folder.path("inf.csv"), "a\n1\ninf\n").unwrap();
    folder.refused("schema inf.csv --missing skip", 2, &["line 3", "not a finite number"]);
    fs::write(folder.path("none.csv"), "a,b\n,1\n,2\n").unwrap();
    folder.refused("schema none.csv --missing skip", 2, &["\"a\"", "has no cells"]);
    fs::write(folder.path("late.csv"), "a\nNA\n1\n").unwrap();
    folder.refused("schema late.csv", 2, &["line 3", "NA", "--missing skip"]);
}

#[test]
fn a_schema_without_missing_cells_takes_none() {
    let folder = Folder::new("missing-schema");
    fs::write(folder.path("t.csv"), "a,b,g\n1,2,x\n3,4,y\n5,7,x\n").unwrap();
    computed(&folder, "corr(a, b)", &[], &[], &[]);
    fs::write(folder.path("m.csv"), "a,b,g\n1,2,x\n,4,y\n5,7,\n").unwrap();
    let encrypt = |more: &str| format!("encrypt m.csv --keys keys/public --schema s.json -o m.sz {more}");
    folder.refused(encrypt("--quiet").as_str(), 2, &["line 3", "\"a\"", "--missing"]);
    let words = ["line 3", "\"a\"", "the schema says that the column has no missing cells"];
    folder.refused(encrypt("--missing skip").as_str(), 2, &words);
    folder.refused(encrypt("--missing 9").as_str(), 2, &["\"a\"", "outside of the declared range"]);
    folder.refused(encrypt("--missing 3,g=z").as_str(), 2, &["\"g\"", "none of the 2 labels"]);
    folder.fine(encrypt("--missing 3,g=y --quiet").as_str());
    // A table with missing cells needs a level more than these parameters have, and is told so.
    fs::write(
        folder.path("wide.json"),
        fs::read_to_string(folder.path("s.json"))
            .unwrap()
            .replace("\"encrypted\"", "\"missing\": true, \"encrypted\""),
    )
    .unwrap();
    folder.fine("encrypt m.csv --keys keys/public --schema wide.json -o n.sz --quiet");
    let output = folder.run_of(&["eval", "corr(a, b)", "--keys", "keys/eval", "n.sz", "-o", "o.sz"]);
    assert_ne!(output.status.code(), Some(0));
    // Its sums fit, and whoever agreed on a table without missing cells is told that these are others.
    folder.fine_of(&["eval", "mean(a)", "--keys", "keys/eval", "n.sz", "-o", "o.sz", "--quiet"]);
    let decrypt = ["decrypt", "--keys", "keys/secret", "o.sz", "--for", "mean(a)", "--schema"];
    let mean = folder.fine_of(&[&decrypt[..], &["wide.json", "--quiet"]].concat());
    assert_eq!(mean, "mean(a): 3\n");
    assert_ne!(folder.run_of(&[&decrypt[..], &["s.json"]].concat()).status.code(), Some(0));
}
