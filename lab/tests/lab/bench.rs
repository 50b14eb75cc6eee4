//! Tests of `lab bench`.

use super::common::{json, lab_with, stdout};

#[test]
fn bench_times_every_operation() {
    let rows = json(&lab_with("bench", &[], &["bench", "--log-n", "12", "--rounds", "1", "--json"]));
    let rows = rows.as_array().unwrap();
    assert!(rows.len() > 10);
    for row in rows {
        assert!(
            row["name"].is_string() && row["n"] == 4096 && row["log_q"].as_f64().unwrap() > 50.0,
            "{row}"
        );
        assert!(row["ours_us"].as_f64().unwrap() > 0.0, "{row}");
    }
}

#[test]
fn help_names_every_subcommand() {
    let help = stdout(&lab_with("help", &[], &["bench", "--help"]));
    for command in [
        "ntt",
        "conversion",
        "variants",
        "mp",
        "isa",
        "keyswitch",
        "multiply",
        "model",
        "cyclotomic",
        "wire",
        "bfv",
        "strategies",
        "bootstrap",
        "growth",
        "publish",
        "--model",
        "--threads",
    ] {
        assert!(help.contains(command), "{command} is missing:\n{help}");
    }
    #[cfg(feature = "peers")]
    for command in ["peers", "circuits", "serve"] {
        assert!(help.contains(command), "{command} is missing:\n{help}");
    }
}

#[test]
fn subcommands_print_rows_as_tables_and_as_json() {
    let arguments = ["bench", "conversion", "--log-n", "12", "--rounds", "1"];
    let text = stdout(&lab_with("conversion", &[], &arguments));
    assert!(text.contains("ours µs") && text.contains("right") && text.contains("4096"), "{text}");
    let rows = json(&lab_with("conversionjson", &[], &[&arguments[..], &["--json"]].concat()));
    for row in rows.as_array().unwrap() {
        assert!(row["n"] == 4096 && row["correct"] == true && row["rounds"] == 1, "{row}");
    }
}
