//! Schemas as their users meet them: made once, edited, and used for the tables of other days.

use std::fs;

use serde_json::{Value, json};

use crate::common::{Folder, json as report, stderr};

/// A table of patients with ages from `first` on, costs with a decimal, and a region.
fn table(rows: u32, first: u32) -> String {
    let row = |i: u32| {
        let region = if i.is_multiple_of(3) { "north" } else { "south" };
        format!("{},{}.{},{region}\n", first + i % 50, i % 100, i % 10)
    };
    format!("age,cost,region\n{}", (0..rows).map(row).collect::<String>())
}

fn read(folder: &Folder, file: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(folder.path(file)).unwrap()).unwrap()
}

/// Encrypts the table of a day, computes on it and decrypts: the first number.
fn day(folder: &Folder, rows: u32, first: u32) -> f64 {
    fs::write(folder.path("day.csv"), table(rows, first)).unwrap();
    folder.fine("encrypt day.csv --keys keys/public --schema s.json -o day.sz --force --quiet");
    folder.fine("eval sum(age) --keys keys/eval day.sz -o out.sz --force --quiet");
    report(&folder.run("decrypt --keys keys/secret out.sz --json"))["results"][0]["number"]["value"]
        .as_f64()
        .unwrap()
}

fn sum(rows: u32, first: u32) -> f64 {
    (0..rows).map(|i| f64::from(first + i % 50)).sum()
}

#[test]
fn a_schema_serves_the_tables_of_other_days() {
    let folder = Folder::new("schemas-days");
    fs::write(folder.path("t.csv"), table(300, 20)).unwrap();
    folder.fine("schema t.csv --range age=0..120 --rows 1000 -o s.json");
    assert_eq!(read(&folder, "s.json")["rows"], 1000);
    folder.fine("plan sum(age) --schema s.json -o job.params --no-time");
    folder.fine("keygen job.params -d keys --for sum(age) --schema s.json --quiet");
    for (rows, first) in [(300, 20), (7, 33), (900, 0)] {
        assert_eq!(day(&folder, rows, first), sum(rows, first), "{rows} rows");
    }
    // More rows than were planned for are encrypted, and whoever does it is told.
    fs::write(folder.path("day.csv"), table(1001, 20)).unwrap();
    let output = folder.run("encrypt day.csv --keys keys/public --schema s.json -o day.sz --force");
    assert_eq!(output.status.code(), Some(0));
    let text = stderr(&output);
    assert!(text.contains("the schema is for 1000 rows and the table has 1001"), "{text}");
    assert!(!text.contains("changed while"), "{text}");
    // A cell out of the declared range is refused, whatever day it is.
    fs::write(folder.path("day.csv"), "age,cost,region\n121,0.5,north\n").unwrap();
    let encrypt = "encrypt day.csv --keys keys/public --schema s.json -o other.sz";
    folder.refused(encrypt, 2, &["line 2", "\"age\"", "\"121\"", "declared range from 0 to 120"]);
    folder.refused("schema t.csv --rows 299", 2, &["300 rows", "--rows declares 299"]);
}

#[test]
fn a_packed_plan_serves_the_tables_of_other_days() {
    let folder = Folder::new("schemas-packed");
    fs::write(folder.path("t.csv"), table(300, 20)).unwrap();
    folder.fine("schema t.csv --columns age,cost --range age=0..120 --range cost=0..99.9 -o s.json");
    let plan =
        folder.fine("plan mean(age*cost) --schema s.json --packing always -o job.params --no-time --json");
    fs::write(folder.path("job.plan"), plan).unwrap();
    folder.fine("keygen job.params -d keys --plan job.plan --quiet");
    for (rows, first) in [(300, 20), (41, 33)] {
        fs::write(folder.path("day.csv"), table(rows, first)).unwrap();
        folder.fine("encrypt day.csv --keys keys/public --plan job.plan -o day.sz --force --quiet");
        folder.fine("eval mean(age*cost) --keys keys/eval day.sz -o out.sz --force --quiet");
        let results = report(&folder.run("decrypt --keys keys/secret out.sz --json"));
        let product = |i: u32| f64::from(first + i % 50) * (10.0 * f64::from(i % 100) + f64::from(i % 10));
        let expected = (0..rows).map(product).sum::<f64>() / 10.0 / f64::from(rows);
        assert_eq!(results["results"][0]["number"]["value"].as_f64().unwrap(), expected, "{rows} rows");
    }
}

#[test]
fn ranges_are_written_in_decimals_and_may_be_edited() {
    let folder = Folder::new("schemas-ranges");
    fs::write(folder.path("t.csv"), table(300, 20)).unwrap();
    folder.fine("schema t.csv --columns age,cost -o s.json");
    let mut schema = read(&folder, "s.json");
    assert_eq!(schema["columns"][1]["kind"], json!({"decimal": {"decimals": 1, "range": [0, 99.9]}}));
    schema["columns"][1]["kind"]["decimal"]["range"] = json!([0, 1000]);
    fs::write(folder.path("wide.json"), schema.to_string()).unwrap();
    folder.fine("params --plain-range 100000 -o job.params");
    folder.fine("keygen job.params -d keys --rotations none --quiet");
    folder.fine("encrypt t.csv --keys keys/public --schema wide.json -o t.sz");
    let text = folder.fine("inspect t.sz");
    assert!(text.contains("\"cost\"  encrypted, 0 to 1000, 1 decimals"), "{text}");
    // Schemas of earlier releases have ranges in units of the last decimal.
    fs::write(
        folder.path("old.json"),
        r#"{"rows": 1, "columns": [{"name": "cost", "kind": {"decimal": {"decimals": 1, "low": 0, "high": 2000}}, "encrypted": true}]}"#,
    )
    .unwrap();
    folder.fine("encrypt t.csv --keys keys/public --schema old.json -o t.sz --force");
    assert!(folder.fine("inspect t.sz").contains("0 to 200, 1 decimals"));
    schema["columns"][1]["kind"]["decimal"]["range"] = json!([0, 99.95]);
    fs::write(folder.path("fine.json"), schema.to_string()).unwrap();
    let refused = "encrypt t.csv --keys keys/public --schema fine.json -o t.sz --force";
    folder.refused(refused, 2, &["\"cost\"", "99.95", "1 decimals: declare more"]);
}

#[test]
fn a_subset_of_a_schema_is_taken() {
    let folder = Folder::new("schemas-subset");
    fs::write(folder.path("t.csv"), table(30, 20)).unwrap();
    folder.fine("schema t.csv --range age=0..120 --clear region -o s.json");
    let found: Value =
        serde_json::from_str(&folder.fine("schema t.csv --schema s.json --columns region,age")).unwrap();
    let names: Vec<&Value> =
        found["columns"].as_array().unwrap().iter().map(|column| &column["name"]).collect();
    assert_eq!(names, ["region", "age"]);
    assert_eq!(
        (&found["columns"][0]["encrypted"], &found["columns"][1]["kind"]["decimal"]["range"]),
        (&false.into(), &json!([0, 120]))
    );
    folder.refused(
        "schema t.csv --schema s.json --columns coast",
        2,
        &["coast", "not in the schema", "age, cost, region"],
    );
}

#[test]
fn files_that_are_there_are_kept_unless_force_is_given() {
    let folder = Folder::new("schemas-force");
    fs::write(folder.path("t.csv"), table(5, 20)).unwrap();
    for command in ["schema t.csv -o kept", "params -o kept", "plan sum(age) t.csv --no-time -o kept"] {
        fs::write(folder.path("kept"), "old").unwrap();
        folder.refused(command, 2, &["\"kept\" is there already", "--force"]);
        assert_eq!(fs::read(folder.path("kept")).unwrap(), b"old");
        folder.fine(&format!("{command} --force"));
        assert_ne!(fs::read(folder.path("kept")).unwrap(), b"old");
    }
}

#[test]
fn the_table_stands_where_eval_has_it() {
    let folder = Folder::new("schemas-positional");
    fs::write(folder.path("t.csv"), table(5, 20)).unwrap();
    assert_eq!(folder.fine("schema t.csv"), folder.fine("schema --table t.csv"));
    let plans = ["plan sum(age) t.csv --no-time", "plan sum(age) --table t.csv --no-time"]
        .map(|plan| folder.fine(plan));
    assert_eq!(plans[0], plans[1]);
    folder.refused("schema", 2, &["<TABLE>"]);
    folder.refused("schema t.csv --table t.csv", 2, &["cannot be used with"]);
    folder.refused("plan sum(age)", 2, &["<TABLE>"]);
}
