//! Report of the demonstration as one page of HTML.

use sunzi::rlwe::words::{bytes, counted};

use super::Report;
use super::checks::Value;
use super::human::{Look, MOST_PAIRS, brief, show};
use crate::html::{Page, Run};

/// Most groups with a table of their own.
const MOST_GROUPS: usize = 12;
/// Most results that are listed because they differ.
const MOST_DIFFERENT: usize = 100;

/// Returns the whole report of the demonstration as a page.
pub(crate) fn render(report: &Report) -> String {
    let equal = report.checks.iter().filter(|check| check.equal).count();
    let by = report.group_by.as_ref().map_or_else(String::new, |by| format!(", by {by}"));
    let line = format!(
        "{}: {}, {}{by}",
        report.source,
        counted(report.rows, "row", "rows"),
        counted(report.columns.len(), "column", "columns")
    );
    let outcome = format!("{equal} of {} encrypted results equal those in the clear", report.checks.len());
    let mut page = Page::new("Statistics of an encrypted table", &line, (report.ok, &outcome));
    let look = Look::new(report);
    page.section("Results");
    page.say("Computed from sums that the server made under encryption, beside the same statistics in the clear. Variances have the divisor n − 1.");
    page.part(&heading(&look, "total", "All rows"));
    columns(&mut page, &look, report, "total");
    if report.groups.len() > 1 {
        for group in report.groups.iter().take(MOST_GROUPS) {
            page.fold(&heading(&look, group, group));
            columns(&mut page, &look, report, group);
            page.unfold();
        }
        if report.groups.len() > MOST_GROUPS {
            page.say(&format!(
                "{} more groups are in the report of --json.",
                report.groups.len() - MOST_GROUPS
            ));
        }
    }
    pairs(&mut page, &look);
    differences(&mut page, report);
    sizes(&mut page, report);
    times(&mut page, report);
    seen(&mut page, report);
    page.finish()
}

/// Returns the name of a set of rows with its count, as decrypted.
fn heading(look: &Look<'_>, set: &str, name: &str) -> String {
    match look.check(&format!("count/{set}")).map(|check| &check.encrypted) {
        Some(Value::Count(1)) => format!("{name}: 1 row"),
        Some(count) => format!("{name}: {} rows", show(count)),
        None => name.to_owned(),
    }
}

/// Writes mean and variance of every column over one set of rows.
fn columns(page: &mut Page, look: &Look<'_>, report: &Report, set: &str) {
    let row = |column: &String| {
        let mut cells = vec![column.clone()];
        for statistic in ["mean", "variance"] {
            cells.extend(compared(look, &format!("{statistic}/{set}/{column}")));
        }
        cells
    };
    let headers =
        ["column", "mean, encrypted", "clear", "difference", "variance, encrypted", "clear", "difference"];
    page.table(&headers, report.columns.iter().map(row));
}

/// Returns a result, that in the clear, and the difference.
fn compared(look: &Look<'_>, name: &str) -> [String; 3] {
    let (encrypted, plain, _) = look.pair(name);
    let difference =
        look.check(name).map_or_else(String::new, |check| difference(&check.encrypted, &check.plain));
    [encrypted, plain, difference]
}

fn difference(encrypted: &Value, plain: &Value) -> String {
    match (encrypted, plain) {
        (Value::Derived(Some(a)), Value::Derived(Some(b))) => brief((a - b).abs()),
        (a, b) if a == b => "0".to_owned(),
        (Value::Count(a), Value::Count(b)) => a.abs_diff(*b).to_string(),
        _ => "differs".to_owned(),
    }
}

/// Writes the pairs of columns with the largest correlations over all rows.
fn pairs(page: &mut Page, look: &Look<'_>) {
    let pairs = look.by_correlation();
    if pairs.is_empty() {
        return;
    }
    page.part("Strongest pairs of columns, over all rows");
    let row = |(_, columns): &(f64, &str)| {
        let mut cells = vec![columns.replace('/', ", ")];
        for statistic in ["correlation", "covariance"] {
            cells.extend(compared(look, &format!("{statistic}/total/{columns}")));
        }
        cells
    };
    let headers = [
        "columns",
        "correlation, encrypted",
        "clear",
        "difference",
        "covariance, encrypted",
        "clear",
        "difference",
    ];
    page.table(&headers, pairs.iter().take(MOST_PAIRS).map(row));
    page.say("All pairs and exact sums are in the report of --json.");
}

/// Writes results that differ, and what fixed point loses against double precision.
fn differences(page: &mut Page, report: &Report) {
    page.section("Differences");
    let different: Vec<_> = report.checks.iter().filter(|check| !check.equal).collect();
    if different.is_empty() {
        page.say("No result under encryption differs from the one in the clear in any digit.");
    } else {
        page.say(&format!(
            "{} differ; up to {MOST_DIFFERENT} are listed.",
            counted(different.len(), "result", "results")
        ));
        let row = |check: &&super::Check| {
            vec![
                check.name.clone(),
                show(&check.encrypted),
                show(&check.plain),
                difference(&check.encrypted, &check.plain),
            ]
        };
        page.table(
            &["result", "encrypted", "clear", "difference"],
            different.iter().take(MOST_DIFFERENT).map(row),
        );
    }
    page.say("Numbers are encrypted as decimals, so they are compared with the usual formulas in double precision too:");
    let relative = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), brief);
    let row = |loss: &crate::loss::ColumnLoss| {
        vec![
            loss.column.clone(),
            format!("{} of {}", loss.decimals, loss.decimals_written),
            brief(loss.max_abs_error),
            relative(loss.mean_relative_difference),
            relative(loss.variance_relative_difference),
        ]
    };
    let headers =
        ["column", "decimals kept", "largest error of a cell", "mean, relative", "variance, relative"];
    page.table(&headers, report.loss.iter().map(row));
}

fn sizes(page: &mut Page, report: &Report) {
    let sizes = &report.sizes;
    page.section("Sizes");
    let galois = counted(sizes.galois_key_count, "key for rotations", "keys for rotations");
    let inputs = counted(sizes.input_ciphertexts, "ciphertext to the server", "ciphertexts to the server");
    let results = counted(sizes.result_ciphertexts, "ciphertext back", "ciphertexts back");
    let bar = |name, size: u64| (name, size as f64, bytes(size));
    page.bars(&[
        bar("public key", sizes.public_key),
        bar("key for products", sizes.relinearization_key),
        bar(&galois, sizes.galois_keys),
        bar(&inputs, sizes.inputs),
        bar(&results, sizes.results),
    ]);
}

fn times(page: &mut Page, report: &Report) {
    let times = &report.times;
    let run = Run {
        seconds: report.seconds,
        threads: report.threads,
        isa: &report.isa,
        peak: report.peak_memory_bytes,
    };
    let steps = [
        ("read the table", times.read),
        ("choose parameters", times.parameters),
        ("make keys", times.keys),
        ("encrypt", times.encrypt),
        ("server computes", times.server),
        ("decrypt", times.decrypt),
        ("compare with the clear", times.compare),
    ];
    page.times(&steps, &run);
}

fn seen(page: &mut Page, report: &Report) {
    let Report { params, sizes, .. } = report;
    let security = format!("{}; {:.0} bits of key modulus", params.security, params.log2_qp);
    page.section("Parameters");
    page.facts(&[
        ("scheme", params.scheme.to_owned()),
        ("ring degree", params.degree.to_string()),
        ("security", security),
        (
            "moduli",
            format!("{} of ciphertexts, {} more of keys", params.moduli.len(), params.special_moduli.len()),
        ),
        ("plaintexts", format!("{} bits; the largest sum takes {}", params.plain_bits, params.needed_bits)),
        ("noise", format!("{:.1} bits left in the worst result", report.bits_left)),
    ]);
    page.seen(
        &[
            format!("the parameters: {}, ring degree {}, all moduli", params.scheme, params.degree),
            format!(
                "the plan: sums and sums of products of {}, their ranges, {}, the numbers of rows and of groups",
                counted(report.columns.len(), "column", "columns"),
                counted(params.chunks, "chunk", "chunks")
            ),
            format!("an upper bound on the rows of the largest group: {}", params.segment * params.chunks),
            format!(
                "keys that compute and cannot decrypt: {}",
                bytes(sizes.relinearization_key + sizes.galois_keys)
            ),
            format!(
                "{}, {}, all of one size",
                counted(sizes.input_ciphertexts, "ciphertext", "ciphertexts"),
                bytes(sizes.inputs)
            ),
        ],
        &[
            "any cell of the table, or the group of any row".to_owned(),
            "the names of columns and groups, which the plan has as numbers".to_owned(),
            "how many rows each group has".to_owned(),
            "any sum, mean, variance or correlation: results went back as ciphertexts".to_owned(),
            "the secret key".to_owned(),
        ],
    );
}
