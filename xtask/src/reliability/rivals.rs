//! Row of reliability of random circuits in other libraries.

use std::path::Path;

use serde_json::Value;

use super::{Outcome, record};
use crate::{peers, step};

const CIRCUITS: usize = 1000;

pub(super) fn run(file: &Path, row: u8) -> Outcome {
    let command = format!("cargo xtask peers --circuits {CIRCUITS} --json");
    step::announce(&command);
    let error = peers::circuits_json(CIRCUITS).and_then(|text| note(file, row, &text)).err();
    Outcome { row, error }
}

/// Records a figure of wrong circuits for every library; absent ones are named in the error.
fn note(file: &Path, row: u8, text: &str) -> Result<(), String> {
    let reports: Vec<Value> =
        serde_json::from_str(text).map_err(|error| format!("no report of the circuits: {error}"))?;
    let mut absent = Vec::new();
    for report in &reports {
        let word = |name: &str| report.get(name).and_then(Value::as_str).unwrap_or_default();
        let count = |name: &str| report.get(name).and_then(Value::as_u64).unwrap_or_default();
        if !word("failed").is_empty() {
            absent.push(format!("{}: {}", word("rival"), word("failed")));
        }
        if count("circuits") > 0 {
            let what = format!("circuits that open to other slots than in {}", word("rival"));
            let wrong = count("ours_wrong") + count("theirs_wrong");
            record(file, row, &what, wrong, count("circuits"), CIRCUITS as u64)?;
        }
    }
    if absent.is_empty() { Ok(()) } else { Err(absent.join("; ")) }
}
