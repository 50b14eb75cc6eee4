//! Tests of `lab repro`.

use super::common::{json, lab_with, stdout};

#[test]
fn repro_sets_the_printed_tables_beside_ours() {
    let text = stdout(&lab_with("behz", &[], &["repro", "behz", "--only", "table1,table4"]));
    for part in [
        "Table 1",
        "of 60 printed values 57 equal, 3 differs",
        "ρ = 1/20 is not the largest",
        "Table 4",
        "of 36 printed values 36 equal",
    ] {
        assert!(text.contains(part), "{part} is missing:\n{text}");
    }
    let report = json(&lab_with("behz", &[], &["repro", "behz", "--only", "table3", "--json"]));
    assert_eq!(report["paper"], "BEHZ16");
    let rows = report["tables"][0]["rows"].as_array().unwrap();
    assert_eq!((report["tables"][0]["name"].as_str(), rows.len()), (Some("Table 3"), 10));
    for row in rows {
        assert!(
            row["paper"].is_object() && row["paper"] == row["ours"] && row["verdict"] == "equal",
            "{row}"
        );
    }
}

#[test]
fn repro_times_what_it_draws() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("figures of behz");
    let _ = std::fs::remove_dir_all(&folder);
    let out = folder.to_str().unwrap();
    let parts = ["--only", "table2,table5,figure1", "--log-n", "11", "--quick"];
    let arguments = [&["repro", "behz", "--json", "--out", out], &parts[..]].concat();
    let report = json(&lab_with("behztimed", &[], &arguments));
    assert_eq!(report["tables"][0]["name"], "Table 2");
    for row in report["tables"][1]["rows"].as_array().unwrap() {
        assert!(row["n"] == 2048 && row["ours"]["decrypt_ms"].as_f64().unwrap() > 0.0, "{row}");
        assert!(row["paper"].is_object() || row["reason"].is_string(), "{row}");
    }
    assert_eq!(report["figures"][0]["file"], "figure1.svg");
    let files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(files, ["figure1.svg"], "nothing else is left behind");
    assert!(std::fs::read_to_string(folder.join("figure1.svg")).unwrap().contains("RNS-flp"));
}
