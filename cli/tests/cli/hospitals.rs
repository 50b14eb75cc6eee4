//! The demonstration of three hospitals: joint keys, a threshold, exact sums and a regression with refreshes.

use std::fmt::Write;

use crate::common::{assert_json_error, assert_refused, json, stdout, sunzi_with};
use serde_json::Value;

const JOB: [&str; 3] = ["demo", "--job", "hospitals"];

/// Runs the job on small rings.
fn quick(name: &str, table: Option<&str>, more: &[&str]) -> std::process::Output {
    let files: Vec<(&str, &[u8])> = table.map(|text| ("t.csv", text.as_bytes())).into_iter().collect();
    let input: &[&str] = if table.is_some() { &["--input", "t.csv", "--group-by", "g"] } else { &[] };
    sunzi_with(name, &files, &[&JOB[..], &["--quick"], input, more].concat())
}

/// Asserts that everything is within its bound, and that ledgers count what was opened and no more.
fn assert_holds(report: &Value, iterations: u64) {
    assert_eq!(report["ok"], true, "{report}");
    assert!(report["seconds"].as_f64().unwrap() > 0.0);
    let statistics = report["statistics"].as_array().unwrap();
    for check in statistics {
        assert_eq!((&check["error"], &check["bound"]), (&0.0.into(), &0.0.into()), "{check}");
        assert_eq!(check["opened"], check["plain"], "{check}");
    }
    for check in report["model"]["weights"].as_array().unwrap() {
        let number = |key: &str| check[key].as_f64().unwrap();
        assert!(number("error") <= number("bound") && number("bound") <= 0.03, "{check}");
        let error = (number("opened") - number("plain")).abs();
        assert!((error - number("error")).abs() <= 1e-12, "{check}");
    }
    assert_eq!(report["model"]["refreshes"], iterations - 1);
    let results = [&report["sums"]["sizes"]["results"], &report["regression"]["sizes"]["results"]];
    assert_eq!(results[1], iterations);
    for hospital in report["hospitals"].as_array().unwrap() {
        let counted = hospital["counted"].as_array().unwrap();
        match hospital["opened"].as_bool().unwrap() {
            true => assert_eq!((&counted[0], &counted[1]), (results[0], results[1]), "{hospital}"),
            false => assert_eq!((counted[0].as_u64(), counted[1].as_u64()), (Some(0), Some(0)), "{hospital}"),
        }
        assert!(hospital["ciphertexts"][0].as_u64().unwrap() > 0, "{hospital}");
    }
}

#[test]
fn three_hospitals_open_what_the_clear_table_says() {
    let report = json(&quick("hospitals", None, &["--json", "--iterations", "4"]));
    assert_holds(&report, 4);
    assert_eq!((&report["class"], &report["rows"]), (&"malignant".into(), &569.into()));
    let rows: Vec<u64> =
        report["hospitals"].as_array().unwrap().iter().map(|one| one["rows"].as_u64().unwrap()).collect();
    assert_eq!(rows, [284, 170, 115]);
    let find = |name: &str| {
        let all = report["statistics"].as_array().unwrap();
        all.iter().find(|check| check["name"] == name).unwrap()["opened"].as_f64().unwrap()
    };
    // The known statistics of the table, which `demo` opens too.
    assert_eq!(find("count"), 569.0);
    assert_eq!(find("mean/mean_radius"), 14.127291739894552);
    assert_eq!(find("variance/mean_radius"), 12.418920129526722);
    assert!((find("correlation/mean_radius/mean_texture") - 0.3237818909).abs() < 1e-9);
    let accuracy = &report["model"]["accuracy"];
    assert!(accuracy["opened"].as_f64().unwrap() > 0.85, "{accuracy}");
    assert_eq!(report["sums"]["ring"]["scheme"], "BFV");
    assert_eq!(report["regression"]["ring"]["scheme"], "CKKS");
    assert!(report["regression"]["sizes"]["keys"]["sent"].as_u64().unwrap() > 1_000_000);
}

/// Tables whose last hospital has extreme rows, rows that are all equal, or one row.
#[test]
fn adversarial_rows_of_one_hospital_hold() {
    let row = |text: &mut String, x: f64, y: f64, class: bool| {
        writeln!(text, "{x},{y},{}", if class { "yes" } else { "no" }).unwrap();
    };
    let ordinary = |text: &mut String, rows: usize| {
        for i in 0..rows {
            row(text, (i * 7 % 10) as f64, (i * 3 % 11) as f64 - 5.0, i * 7 % 10 > 4);
        }
    };
    let table = |others: usize, own: &dyn Fn(usize) -> (f64, f64, bool), rows: usize| {
        let mut text = String::from("x,y,g\n");
        ordinary(&mut text, others);
        (0..rows).map(own).for_each(|(x, y, class)| row(&mut text, x, y, class));
        text
    };
    let extremes = table(32, &|i| (if i % 2 == 0 { 1e6 } else { -1e6 }, 1e6, i % 2 == 0), 8);
    let wrong = table(32, &|_| (9.0, 5.0, false), 8);
    let single = table(4, &|_| (-4e7, 4e7, true), 1);
    let equal = String::from("x,y,g\n") + &"1,-2,yes\n".repeat(6) + &"1,-2,no\n".repeat(3);
    for (name, text) in [("extremes", extremes), ("wrong", wrong), ("single", single), ("equal", equal)] {
        let report = json(&quick(name, Some(&text), &["--json", "--iterations", "3"]));
        assert_holds(&report, 3);
        if name == "equal" {
            let correlation = report["statistics"].as_array().unwrap().last().unwrap();
            assert_eq!(correlation["name"], "correlation/x/y");
            assert_eq!((&correlation["opened"], &correlation["plain"]), (&Value::Null, &Value::Null));
        }
    }
}

#[test]
fn the_text_says_who_holds_what() {
    let table = "x,g\n1,a\n5,b\n2,a\n6,b\n";
    let text = stdout(&quick("words", Some(table), &["-q", "--iterations", "2"]));
    for words in [
        "over 4 rows of three hospitals",
        "Nobody has a whole secret key",
        "here north and west did",
        "no row of another",
        "north and west refreshed it 1 time",
        "within 2^-40",
        "keys that cannot decrypt",
        "mean/x",
        "weight/constant",
        "2 of 2",
        "are within their bounds",
    ] {
        assert!(text.contains(words), "{words:?} is missing in {text}");
    }
}

#[test]
fn the_page_is_whole() {
    let table = "x,g\n1,<a>\n5,<b>\n2,<a>\n6,<b>\n";
    let page = stdout(&quick("page", Some(table), &["-q", "--iterations", "1", "--html", "-"]));
    let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
    let document = roxmltree::Document::parse_with_options(&page, options).unwrap();
    let texts: String = document.descendants().filter_map(|node| node.text()).collect();
    for words in ["Three hospitals", "\"<b>\"", "What the server saw", "six rounds for keys", "weight/x"] {
        assert!(texts.contains(words), "{words:?} is missing");
    }
}

#[test]
fn what_does_not_fit_is_refused_by_name() {
    let run = |files: &[(&str, &[u8])], more: &[&str]| {
        sunzi_with("hospitals-refused", files, &[&JOB[..], &["--quick"], more].concat())
    };
    assert_refused(
        &run(&[], &["--columns", "mean_raduis"]),
        &["mean_raduis", "did you mean \"mean_radius\""],
    );
    assert_refused(&run(&[], &["--group-by", "mean_radius"]), &["mean_radius", "groups"]);
    assert_refused(&run(&[], &["--scheme", "bfv"]), &["--scheme", "hospitals"]);
    assert_refused(&run(&[], &["--iterations", "17"]), &["--iterations 17", "at most 16"]);
    assert_refused(&run(&[], &["--word", "ACGT"]), &["--word", "lookup"]);
    let missing = run(&[], &["--json", "--input", "no.csv", "--group-by", "g"]);
    assert_json_error(&missing, 6, &["no.csv"]);
    let table = |text: &'static str| [("t.csv", text.as_bytes())];
    let input = ["--input", "t.csv", "--group-by", "g"];
    assert_refused(&run(&table("x,g\n1,a\n2,b\n"), &input), &["2 rows", "at least 3"]);
    assert_refused(&run(&table("x,g\n1,a\n2,b\n3,c\n"), &input), &["two groups", "there are 3"]);
    assert_refused(&run(&table("x,g\n1,a\n2,b\n3,b\n"), &input[..2]), &["--group-by"]);
    assert_refused(
        &run(&table("a,b,c,d,e,f,h,i,g\n1,1,1,1,1,1,1,1,a\n1,1,1,1,1,1,1,1,b\n1,1,1,1,1,1,1,1,b\n"), &input),
        &["8 columns", "at most 7", "--columns"],
    );
    assert_refused(&run(&table("x,g\n1e9,a\n2,b\n3,b\n"), &input), &["61 bits", "at most 59", "--decimals"]);
    assert_refused(&run(&table("x,g\n1,a\nzwei,b\n3,b\n"), &input), &["line 3", "\"x\"", "zwei"]);
}
