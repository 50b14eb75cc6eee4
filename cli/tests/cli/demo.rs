//! The demonstration against numbers known from elsewhere.

use crate::common::{assert_refused, json, stdout, sunzi_with};
use serde_json::Value;

fn check<'a>(report: &'a Value, name: &str) -> &'a Value {
    let checks = report["checks"].as_array().unwrap();
    checks.iter().find(|check| check["name"] == name).unwrap_or_else(|| panic!("no check {name}"))
}

fn assert_all_equal(report: &Value, checks: usize) {
    assert_eq!(report["ok"], true);
    let all = report["checks"].as_array().unwrap();
    assert_eq!(all.len(), checks);
    for check in all {
        assert_eq!(check["equal"], true, "{check}");
        assert_eq!(check["encrypted"], check["plain"], "{check}");
    }
}

#[test]
fn both_schemes_give_the_same_exact_results_and_auto_says_why_it_chose() {
    let run = |scheme: &str| {
        let report = json(&sunzi_with(
            &format!("scheme-{scheme}"),
            &[],
            &["demo", "--json", "--scheme", scheme, "--columns", "mean_radius,mean_area,worst_texture"],
        ));
        assert_all_equal(&report, 3 * (1 + 3 + 6 + 3 + 6 + 3));
        assert!(report["bits_left"].as_f64().unwrap() >= 0.0);
        report
    };
    let (bfv, bgv, auto) = (run("bfv"), run("bgv"), run("auto"));
    assert_eq!((&bfv["params"]["scheme"], &bgv["params"]["scheme"]), (&"BFV".into(), &"BGV".into()));
    assert_eq!(bfv["checks"], bgv["checks"]);
    assert!(bfv["params"]["scheme_reason"].is_null() && bgv["params"]["scheme_reason"].is_null());
    let reason = auto["params"]["scheme_reason"].as_str().unwrap();
    let chosen = auto["params"]["scheme"].as_str().unwrap();
    assert!(reason.starts_with(chosen) && reason.contains("transforms"), "{reason}");
    let work = |report: &Value| report["params"]["predicted"]["butterflies"].as_f64().unwrap();
    assert_eq!(work(&auto), work(&bfv).min(work(&bgv)));
}

#[test]
fn a_model_trained_on_the_encrypted_table_is_the_clear_one() {
    let report = json(&sunzi_with(
        "regression",
        &[],
        &["demo", "--job", "regression", "--quick", "--iterations", "4", "--json"],
    ));
    assert_eq!((&report["ok"], &report["class"]), (&true.into(), &"malignant".into()));
    assert_eq!((&report["rows_trained_on"], &report["rows_held_out"]), (&456.into(), &113.into()));
    assert_eq!((&report["iterations"], &report["refreshes"]), (&4.into(), &1.into()));
    assert_eq!(report["encrypted"], report["clear"]);
    assert!(report["encrypted"]["held_out"].as_f64().unwrap() > 0.9);
    assert!(report["largest_difference"].as_f64().unwrap() < 1e-4);
    let coefficients = report["coefficients"].as_array().unwrap();
    assert_eq!(coefficients.len(), 31);
    assert_eq!(coefficients[1]["feature"], "mean_radius");
}

#[test]
fn a_secret_word_is_found_where_it_stands() {
    let run = |name: &str, arguments: &[&str]| {
        let report =
            json(&sunzi_with(name, &[], &[&["demo", "--job", "lookup", "--json"], arguments].concat()));
        assert_eq!((&report["ok"], &report["letters"]), (&true.into(), &9609.into()));
        assert_eq!(report["positions"], report["plain_positions"]);
        report
    };
    let report = run("lookup", &[]);
    assert_eq!(report["positions"], serde_json::json!([6664]), "the gene pla");
    let params = &report["params"];
    assert_eq!((&params["ring_index"], &params["bit_slots"]), (&21845.into(), &16384.into()));
    assert_eq!((&params["slots"], &params["slot_degree"]), (&1024.into(), &16.into()));
    assert_eq!(report["work"]["blocks"], 10);
    assert!(report["bits_left"].as_f64().unwrap() > 0.0);
    // The word may go around the end of the circle, and be given in small letters; a word that is not there is not
    // found.
    let report = run("lookup-around", &["--word", "ccctgtgtaacgaacg"]);
    assert_eq!(report["positions"], serde_json::json!([9605]));
    let report = run("lookup-absent", &["--word", "AAAAAAAAAAAAAAAA"]);
    assert_eq!(report["positions"], serde_json::json!([]));
}

#[test]
fn a_secret_cell_is_found_in_a_table_of_ones_own() {
    let table = "id,drug\n1,aspirin\n2,ibuprofen\n3, aspirin \n4,\n5,Aspirin\n6,\u{e9}\n".as_bytes();
    let run = |word: &str, more: &[&str]| {
        let line = ["demo", "--job", "lookup", "--input", "t.csv", "--columns", "drug", "--word", word];
        sunzi_with("lookup-table", &[("t.csv", table)], &[&line, more].concat())
    };
    let report = json(&run("aspirin", &["--json"]));
    assert_eq!(
        (&report["ok"], &report["rows"], &report["column"]),
        (&true.into(), &6.into(), &"drug".into())
    );
    assert_eq!(report["positions"], serde_json::json!([1, 3]));
    // Five elements of two bytes: depth 4 for an element, 3 for a word.
    assert_eq!((&report["params"]["depth"], &report["sizes"]["query_ciphertexts"]), (&7.into(), &5.into()));
    let text = stdout(&run("\u{e9}", &["-q"]));
    assert!(text.contains("at row 6") && text.contains("in which of 6 public rows"), "{text}");
    assert_refused(&run("paracetamol", &[]), &["paracetamol", "longest cell", "drug"]);
    let without = ["demo", "--job", "lookup", "--input", "t.csv", "--columns", "drug"];
    assert_refused(&sunzi_with("lookup-table", &[("t.csv", table)], &without), &["--word is missing"]);
    let long = format!("a\n{}\n", "x".repeat(33));
    let line = ["demo", "--job", "lookup", "--input", "t.csv", "--columns", "a", "--word", "x"];
    let refused = sunzi_with("lookup-table", &[("t.csv", long.as_bytes())], &line);
    assert_refused(&refused, &["line 2", "32 bytes"]);
}

#[test]
fn options_of_another_job_are_refused() {
    assert_refused(&sunzi_with("word", &[], &["demo", "--word", "ACGT"]), &["--job lookup"]);
    let lookup = |more: &[&str]| sunzi_with("word", &[], &[&["demo", "--job", "lookup"], more].concat());
    assert_refused(&lookup(&["--word", "ACGT"]), &["ACGT", "16 letters"]);
    assert_refused(&lookup(&["--scheme", "bfv"]), &["BGV"]);
    assert_refused(&lookup(&["--input", "t.csv"]), &["one column", "--columns"]);
    assert_refused(&lookup(&["--columns", "a"]), &["--columns", "--input"]);
    assert_refused(&lookup(&["--group-by", "a"]), &["--group-by"]);

    assert_refused(&sunzi_with("job", &[], &["demo", "--quick"]), &["--job regression"]);
    assert_refused(
        &sunzi_with("job", &[], &["demo", "--job", "regression", "--scheme", "bfv"]),
        &["--scheme", "CKKS"],
    );
    let table = b"x,y,g\n1,2,a\n3,5,b\n4,4,c\n".as_slice();
    let three = ["demo", "--job", "regression", "--quick", "--input", "t.csv", "--group-by", "g"];
    assert_refused(&sunzi_with("groups", &[("t.csv", table)], &three), &["two groups", "3"]);
}

#[test]
fn the_embedded_table_gives_the_known_statistics() {
    let report = json(&sunzi_with("known", &[], &["demo", "--json", "--threads", "2"]));
    // Three sets of rows: count, 30 sums, 465 sums of products; 30 means, 465 covariances, 435 correlations.
    assert_all_equal(&report, 3 * (1 + 30 + 465 + 30 + 465 + 435));
    // The expected numbers were computed with exact rationals from the table.
    for (name, value) in [
        ("mean/total/mean_radius", 14.127291739894552),
        ("variance/total/mean_radius", 12.418920129526722),
        ("mean/malignant/mean_radius", 17.462830188679245),
        ("variance/benign/mean_area", 18033.030100242344),
        ("variance/total/worst_fractal_dimension", 0.00032620937824822397),
        ("covariance/total/mean_radius/mean_perimeter", 85.44714165573406),
    ] {
        assert_eq!(check(&report, name)["encrypted"].as_f64(), Some(value), "{name}");
    }
    let correlation =
        check(&report, "correlation/total/mean_radius/mean_perimeter")["encrypted"].as_f64().unwrap();
    assert!((correlation - 0.9978552814938109).abs() < 1e-15);
    for (set, count) in [("total", 569), ("malignant", 212), ("benign", 357)] {
        assert_eq!(check(&report, &format!("count/{set}"))["encrypted"], count);
    }
    assert_eq!(check(&report, "sum/total/mean_radius")["encrypted"], "8038.429");
    assert!(report["seconds"].as_f64().unwrap() > 0.0);
    assert!(report["bits_left"].as_f64().unwrap() >= 0.0);
    assert!(["portable", "neon", "avx2", "avx512ifma"].contains(&report["isa"].as_str().unwrap()));
    assert_eq!(report["threads"], 2);
    assert!(report["params"]["degree"].as_u64().unwrap() >= 4096);
    assert!(report["params"]["plain_bits"].as_u64() >= report["params"]["needed_bits"].as_u64());
    assert!(report["params"]["log2_qp"].as_f64() <= report["params"]["log2_qp_limit"].as_f64());
    assert!(report["sizes"]["ciphertext"].as_u64().unwrap() > 0);
    assert_eq!(report["loss"].as_array().unwrap().len(), 30);
    if let Some(peak) = report["peak_memory_bytes"].as_u64() {
        assert!(peak < 1 << 30, "{peak}");
    }
}

#[test]
fn negative_numbers_many_groups_and_every_dialect() {
    // Groups of one row have no variance; a constant column has no correlation.
    let text = "\u{feff}\"x\",flat, g \r\n-1.5,2,b\r\n\r\n2.25,2,a\r\n1e-1,2,\"a\"\r\n-7,2,c\r\n";
    let arguments = ["demo", "--input", "t.csv", "--group-by", "g", "--json"];
    let report = json(&sunzi_with("dialect", &[("t.csv", text.as_bytes())], &arguments));
    assert_all_equal(&report, 4 * (1 + 2 + 3 + 2 + 3 + 1));
    assert_eq!(report["groups"], serde_json::json!(["a", "b", "c"]));
    assert_eq!(check(&report, "sum/total/x")["encrypted"], "-6.15");
    assert_eq!(check(&report, "sum_of_squares/a/x")["encrypted"], "5.0725");
    assert_eq!(check(&report, "variance/b/x")["encrypted"], Value::Null);
    assert_eq!(check(&report, "correlation/total/x/flat")["encrypted"], Value::Null);
    assert_eq!(check(&report, "variance/total/flat")["encrypted"], 0.0);
}

#[test]
fn wide_numbers_take_several_plaintext_moduli() {
    let text = "x,y\n-812345678.123456789,0.1\n700000000.987654321,-0.25\n1.000000001,3\n";
    let report =
        json(&sunzi_with("wide", &[("t.csv", text.as_bytes())], &["demo", "--input", "t.csv", "--json"]));
    assert_all_equal(&report, 1 + 2 + 3 + 2 + 3 + 1 + 1 + 2 + 3 + 2 + 3 + 1);
    assert!(report["params"]["plain_moduli"].as_array().unwrap().len() > 1);
    assert_eq!(check(&report, "sum/total/x")["encrypted"], "-112345676.13580247");
}

#[test]
fn fewer_decimals_report_what_was_lost() {
    let text = "x,y\n0.125,1\n0.375,2\n";
    let arguments = ["demo", "--input", "t.csv", "--json", "--decimals", "2"];
    let report = json(&sunzi_with("loss", &[("t.csv", text.as_bytes())], &arguments));
    let x = &report["loss"][0];
    assert_eq!((&x["exact"], &x["decimals"], &x["decimals_written"]), (&false.into(), &2.into(), &3.into()));
    assert_eq!(x["max_abs_error"], 0.005);
    assert_eq!(check(&report, "sum/total/x")["encrypted"], "0.51");
    assert_eq!(report["loss"][1]["exact"], true);
}

#[test]
fn every_table_of_kernels_and_thread_count_gives_the_same_numbers() {
    let run = |isa: Option<&str>, threads: &str| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_sunzi"));
        command.args(["demo", "--columns", "mean_radius,mean_area", "--json", "--threads", threads]);
        match isa {
            Some(isa) => command.env("SUNZI_ISA", isa),
            None => command.env_remove("SUNZI_ISA"),
        };
        let report = json(&command.output().unwrap());
        if let Some(isa) = isa {
            assert_eq!(report["isa"], isa);
        }
        report["checks"].clone()
    };
    let checks = run(None, "1");
    assert_eq!(checks, run(None, "3"));
    assert_eq!(checks, run(Some("portable"), "2"));
}

#[test]
fn people_see_tables() {
    let arguments = ["demo", "--columns", "mean_radius,mean_area", "--threads", "1"];
    let output = sunzi_with("people", &[], &arguments);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stderr.is_empty());
    for part in [
        "mean_radius",
        "14.12729174",
        "12.41892013",
        "malignant: count 212 encrypted",
        "1 of 1 correlations",
        "bits left",
        "all equal",
    ] {
        assert!(text.contains(part), "{part} is missing:\n{text}");
    }
}
