//! Tables as other programs and countries write them, through the whole workflow.

use std::fs;

use serde_json::Value;

use crate::common::{Folder, json};

/// Runs schema, plan, keys, table and program on a table that is read with these options: the number of each result.
fn results(folder: &Folder, table: &str, reading: &[&str], taken: &[&str], program: &str) -> Vec<f64> {
    let run = |arguments: &[&str], more: &[&str]| folder.fine_of(&[arguments, more].concat());
    run(&["schema", table, "-o", "s.json"], &[reading, taken].concat());
    run(&["plan", program, "--schema", "s.json", "-o", "job.params", "--no-time"], &[]);
    run(&["keygen", "job.params", "-d", "keys", "--for", program, "--schema", "s.json", "--quiet"], &[]);
    run(&["encrypt", table, "--keys", "keys/public", "--schema", "s.json", "-o", "t.sz", "--quiet"], reading);
    run(&["eval", program, "--keys", "keys/eval", "t.sz", "-o", "out.sz", "--quiet"], &[]);
    let results = json(&folder.run("decrypt --keys keys/secret out.sz --json"))["results"].clone();
    results.as_array().unwrap().iter().map(|result| result["number"]["value"].as_f64().unwrap()).collect()
}

fn schema(folder: &Folder) -> Value {
    serde_json::from_str(&fs::read_to_string(folder.path("s.json")).unwrap()).unwrap()
}

#[test]
fn a_table_of_another_country_is_read_as_it_is() {
    let folder = Folder::new("dialects-country");
    // What nobody takes may be anything: an index without a name, bytes that are no UTF-8, a name that is there twice.
    let text = b";tag;kosten;\"Name, Ort\";frei;frei\n\
        0;17.05.2024;1,5;7;\xff;x\n1;18.05.2024;20,25;9;\xfe;y\n2;01.06.2024;-3,5;11;;\n";
    fs::write(folder.path("t.csv"), text).unwrap();
    let reading = ["--decimal-comma", "--date-format", "%d.%m.%Y"];
    let taken = ["--columns", r#"tag,kosten,"Name, Ort""#];
    let program = "mean(tag); sum(kosten); sum(`Name, Ort` * kosten)";
    let found = results(&folder, "t.csv", &reading, &taken, program);
    let products = 7.0 * 1.5 + 9.0 * 20.25 - 11.0 * 3.5;
    assert_eq!(found, [(19_860.0 + 19_861.0 + 19_875.0) / 3.0, 18.25, products]);
    let columns = &schema(&folder)["columns"];
    assert_eq!(columns[0]["unit"], "days since 1970-01-01");
    assert_eq!(columns[0]["kind"]["decimal"]["range"], serde_json::json!(["2024-05-17", "2024-06-01"]));
    let text = folder.fine("inspect t.sz");
    assert!(text.contains("\"tag\"  encrypted, 2024-05-17 to 2024-06-01, days since 1970-01-01"), "{text}");
    // Without being told so, each thing is named.
    folder.refused("schema t.csv --columns kosten", 2, &["\"kosten\"", "a decimal comma"]);
    folder.refused("schema t.csv --columns tag", 2, &["\"tag\"", "date format"]);
    folder.refused("schema t.csv --columns tag,frei", 2, &["two columns are named \"frei\""]);
    folder.refused("schema t.csv --columns tag, --date-format %d.%m.%Y", 2, &["a name is empty"]);
    folder.refused("schema t.csv --date-format dd.mm.yyyy", 2, &["expected a pattern such as %d.%m.%Y"]);
    folder.refused("schema t.csv --delimiter ;;", 2, &["expected one character"]);
    folder.refused("schema t.csv --delimiter ,", 2, &["is not UTF-8"]);
}

#[test]
fn dates_and_times_count_their_unit() {
    let folder = Folder::new("dialects-times");
    fs::write(
        folder.path("t.csv"),
        "day,admitted,left,clock\n\
         2024-01-01,2024-01-01T10:00:00Z,2024-01-01T12:30:00Z,00:01\n\
         2024-12-31,2024-12-31 23:00:00,2025-01-01 01:00:00+01:00,23:59\n",
    )
    .unwrap();
    let hours =
        ["--unit", "admitted=minutes", "--unit", "left=minutes", "--range", "day=2020-01-01..2029-12-31"];
    let found = results(&folder, "t.csv", &[], &hours, "mean(left - admitted); mean(day); sum(clock)");
    assert_eq!(found, [(150.0 + 60.0) / 2.0, (19_723.0 + 20_088.0) / 2.0, 60.0 + 86_340.0]);
    let columns = &schema(&folder)["columns"];
    assert_eq!(columns[0]["kind"]["decimal"]["range"], serde_json::json!(["2020-01-01", "2029-12-31"]));
    assert_eq!(
        (&columns[1]["unit"], &columns[3]["unit"]),
        (&"minutes since 1970-01-01".into(), &"seconds since midnight".into())
    );
    folder.refused(
        "schema t.csv --unit clock=hours",
        2,
        &["line 2", "\"clock\"", "no whole number of hours"],
    );
    folder.refused("schema t.csv --unit day=weeks", 2, &["days, hours, minutes"]);
    folder.refused("schema t.csv --unit dya=days", 2, &["dya", "day, admitted, left, clock"]);
    fs::write(folder.path("later.csv"), "day,admitted,left,clock\n2030-01-01,,,\n").unwrap();
    let later = "encrypt later.csv --keys keys/public --schema s.json --columns day -o later.sz";
    folder.refused(later, 2, &["line 2", "2030-01-01", "from 2020-01-01 to 2029-12-31"]);
}

#[test]
fn true_and_false_are_one_and_zero() {
    let folder = Folder::new("dialects-truth");
    fs::write(folder.path("t.csv"), "smoker,age\ntrue,30\nfalse,40\nTrue,50\nFALSE,60\n").unwrap();
    let found = results(&folder, "t.csv", &[], &[], "mean(smoker); sum(smoker * age)");
    assert_eq!(found, [0.5, 80.0]);
    assert_eq!(schema(&folder)["columns"][0]["kind"]["decimal"]["range"], serde_json::json!([0, 1]));
    let labels: Value = serde_json::from_str(&folder.fine("schema t.csv --category smoker")).unwrap();
    assert_eq!(labels["columns"][0]["kind"]["category"]["labels"].as_array().unwrap().len(), 4);
}

#[test]
fn the_delimiter_is_told_by_the_header_or_by_the_user() {
    let folder = Folder::new("dialects-delimiter");
    fs::write(folder.path("comma.csv"), "a,b\n1,2\n").unwrap();
    let plain = folder.fine("schema comma.csv");
    for (text, options) in
        [("a;b\n1;2\n", ""), ("a\tb\n1\t2\n", ""), ("a|b\n1|2\n", ""), ("a:b\n1:2\n", " --delimiter :")]
    {
        fs::write(folder.path("other.csv"), text).unwrap();
        assert_eq!(folder.fine(&format!("schema other.csv{options}")), plain, "{text:?}");
    }
    let piped = folder.piped("schema - --delimiter tab", b"a\tb\n1\t2\n");
    assert_eq!(String::from_utf8(piped.stdout).unwrap(), plain);
}
