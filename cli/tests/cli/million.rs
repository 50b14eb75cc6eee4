//! A million rows of four columns within 4 GiB and five minutes, every step a process of its own.

use std::fmt::Write;
use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{Folder, json};

const ROWS: u64 = 1_000_000;
const COLUMNS: [&str; 4] = ["age", "visits", "height", "cost"];
/// Decimals of the columns.
const DECIMALS: [i32; 4] = [0, 0, 2, 2];
const PROGRAM: &str =
    "mean(age); mean(visits); mean(height); mean(cost); var(age); var(visits); var(height); var(cost)";

/// Numbers of a row in units of the last decimal.
fn row(i: u64) -> [i128; 4] {
    let mixed = (i + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let part = |shift: u32, count: u64| i128::from((mixed >> shift) % count);
    [part(3, 100), part(17, 40), part(29, 81) + 120, part(11, 99_999)]
}

fn table() -> String {
    let mut text = COLUMNS.join(",") + "\n";
    for i in 0..ROWS {
        let [age, visits, height, cost] = row(i);
        let [height, cost] = [height, cost].map(|v| format!("{}.{:02}", v / 100, v % 100));
        writeln!(text, "{age},{visits},{height},{cost}").unwrap();
    }
    text
}

/// Runs a step and gives the most memory it had, in KiB, where the system says so.
fn step(folder: &Folder, arguments: &[&str]) -> u64 {
    let mut child = Command::new(env!("CARGO_BIN_EXE_sunzi"))
        .args(arguments)
        .current_dir(folder.path("."))
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let (status, mut peak) = (format!("/proc/{}/status", child.id()), 0);
    loop {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let most = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        peak = most.and_then(|most| most.trim().strip_suffix(" kB")?.parse().ok()).unwrap_or(peak);
        if let Some(ended) = child.try_wait().unwrap() {
            assert!(ended.success(), "{arguments:?}");
            return peak;
        }
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
#[ignore = "long: a million rows"]
fn a_million_rows_take_five_minutes_and_little_memory() {
    let folder = Folder::new("million");
    fs::write(folder.path("t.csv"), table()).unwrap();
    let steps: [&[&str]; 5] = [
        &["schema", "--table", "t.csv", "-o", "s.json"],
        &["plan", PROGRAM, "--schema", "s.json", "-o", "job.params", "--no-time"],
        &["keygen", "job.params", "-d", "keys", "--for", PROGRAM, "--schema", "s.json", "--quiet"],
        &[
            "encrypt",
            "--keys",
            "keys/public",
            "--table",
            "t.csv",
            "--schema",
            "s.json",
            "-o",
            "t.sz",
            "--quiet",
        ],
        &["eval", PROGRAM, "--keys", "keys/eval", "t.sz", "-o", "out.sz", "--quiet"],
    ];
    let begin = Instant::now();
    for arguments in steps {
        let started = Instant::now();
        let peak = step(&folder, arguments);
        println!("{}: {:.1} s, {} MiB", arguments[0], started.elapsed().as_secs_f64(), peak / 1024);
        assert!(peak < 4 << 20, "{} took {peak} KiB", arguments[0]);
    }
    let results = json(&folder.run("decrypt --keys keys/secret out.sz --json"))["results"].clone();
    let time = begin.elapsed();
    println!(
        "all: {:.1} s, {} MiB of table",
        time.as_secs_f64(),
        fs::metadata(folder.path("t.sz")).unwrap().len() >> 20
    );
    assert!(time < Duration::from_secs(300), "{time:?}");
    let n = i128::from(ROWS);
    for (column, &decimals) in DECIMALS.iter().enumerate() {
        let (sum, squares) = (0..ROWS).map(|i| row(i)[column]).fold((0, 0), |(s, q), v| (s + v, q + v * v));
        let unit = 10_f64.powi(-decimals);
        let number = |at: usize| results[at]["number"]["value"].as_f64().unwrap();
        let near = |got: f64, expected: f64| {
            assert!((got - expected).abs() <= 1e-14 * expected, "{got}, {expected}")
        };
        near(number(column), sum as f64 * unit / n as f64);
        near(number(column + 4), (n * squares - sum * sum) as f64 * unit * unit / (n * (n - 1)) as f64);
    }
}
