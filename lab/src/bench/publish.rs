//! Results of a comparison with rivals, for people: a page and pictures for readers, and a page of bars for contributors.

pub mod bars;
mod factors;
mod picture;
mod readers;

pub use readers::{page, pictures};

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::bench::report::{About, Row};

/// A workload at one degree, with the rival that comes closest to Sunzi.
struct Workload<'a> {
    row: &'a Row,
    ratio: f64,
    bar: f64,
}

impl Workload<'_> {
    /// The workload's ratio over its bar: 1 is on the bar.
    fn over(&self) -> f64 {
        self.ratio / self.bar
    }

    fn met(&self) -> bool {
        self.row.met != Some(false)
    }
}

/// The rows of several runs in one list; among rows with equal subject the last counts.
pub fn merged(runs: Vec<Vec<Row>>) -> Vec<Row> {
    let mut all: Vec<Row> = Vec::new();
    for row in runs.into_iter().flatten() {
        let same = |other: &Row| {
            (&other.name, other.n, rival(other), &other.memory)
                == (&row.name, row.n, rival(&row), &row.memory)
        };
        match all.iter_mut().find(|other| same(other)) {
            Some(other) => *other = row,
            None => all.push(row),
        }
    }
    all
}

/// Name and version of the rival of a row.
fn rival(row: &Row) -> &str {
    row.peer.as_deref().unwrap_or_default()
}

/// The row with the largest ratio for each workload and degree, the furthest beyond its bar first.
fn workloads(rows: &[Row]) -> Vec<Workload<'_>> {
    let mut closest: BTreeMap<(&str, usize), Workload<'_>> = BTreeMap::new();
    for row in rows {
        let (Some(ratio), Some(bar)) = (row.ratio, row.bar) else { continue };
        let at = (row.name.as_str(), row.n);
        if closest.get(&at).is_none_or(|other| other.ratio < ratio) {
            closest.insert(at, Workload { row, ratio, bar });
        }
    }
    let mut all: Vec<_> = closest.into_values().collect();
    all.sort_by(|a, b| b.over().total_cmp(&a.over()));
    all
}

/// The page's table of parameters: a line for every library, scheme and degree.
fn parameters(rows: &[Row]) -> String {
    let mut lines: BTreeMap<(usize, String, String), String> = BTreeMap::new();
    for row in rows {
        let scheme = row.name.split(' ').next().unwrap_or_default().to_owned();
        let isa = row.isa.as_deref().unwrap_or_default();
        let ours = (row.about.as_ref(), "Sunzi", Some(row.log_q), row.log_key_modulus, isa);
        let features = row.peer_features.as_deref().unwrap_or_default();
        let theirs =
            (row.peer_about.as_ref(), rival(row), row.peer_log_q, row.peer_log_key_modulus, features);
        for (about, library, log_q, log_key_modulus, features) in [ours, theirs] {
            if let Some(about) = about {
                let line = side(about, log_q, log_key_modulus, features);
                lines.insert((row.n, scheme.clone(), library.to_owned()), line);
            }
        }
    }
    let mut text = String::from(
        "\n## Parameters and sizes\n\n| n | scheme | library | secret | security | log2 Q | log2 QP | moduli, bits | digits | ciphertext | relinearisation key | \
         rotation key | built |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for ((n, scheme, library), line) in lines {
        let _ = writeln!(text, "| 2^{} | {scheme} | {library} | {line} |", n.max(1).ilog2());
    }
    text
}

fn side(about: &About, log_q: Option<f64>, log_key_modulus: Option<f64>, features: &str) -> String {
    let bits = |bits: Option<f64>| bits.map_or_else(String::new, |bits| format!("{bits:.1}"));
    let bytes = |bytes: Option<usize>| bytes.map_or_else(String::new, |bytes| bytes.to_string());
    let security = about.security_bits.map_or_else(String::new, |bits| match bits {
        0 => "below 128".to_owned(),
        bits => bits.to_string(),
    });
    [
        about.secret.clone().unwrap_or_default(),
        security,
        bits(log_q),
        bits(log_key_modulus),
        about.moduli.clone().unwrap_or_default(),
        bytes(about.digits),
        bytes(about.ciphertext_bytes),
        bytes(about.relinearization_key_bytes),
        bytes(about.galois_key_bytes),
        features.to_owned(),
    ]
    .join(" | ")
}

/// The page's list of rivals whose log2 QP is not within 3 % of Sunzi's: one line for each.
fn unequal(rows: &[Row]) -> String {
    let mut lines = BTreeSet::new();
    for row in rows {
        if let Some(reason) = &row.unequal {
            let scheme = row.name.split(' ').next().unwrap_or_default();
            lines.insert(format!("| {} | {scheme} | 2^{} | {reason} |", rival(row), row.n.max(1).ilog2()));
        }
    }
    if lines.is_empty() {
        return String::new();
    }
    let lines: Vec<String> = lines.into_iter().collect();
    format!(
        "\n## log2 QP that differ by more than 3 %\n\n| rival | scheme | n | reason |\n|---|---|---|---|\n{}\n",
        lines.join("\n")
    )
}

/// The page's list of operations without a time: one line for each reason.
fn absent(rows: &[Row]) -> String {
    let mut reasons: BTreeMap<(&str, &str), Vec<String>> = BTreeMap::new();
    for row in rows {
        if let Some(reason) = &row.failed {
            let n = if row.n == 0 { String::new() } else { format!(" (2^{})", row.n.ilog2()) };
            reasons.entry((rival(row), reason.as_str())).or_default().push(format!("{}{n}", row.name));
        }
    }
    if reasons.is_empty() {
        return String::new();
    }
    let mut text = String::from("\n## Not compared\n\n| rival | reason | workloads |\n|---|---|---|\n");
    for ((rival, reason), names) in reasons {
        let reason = reason.replace(['\n', '|'], " ");
        let _ = writeln!(text, "| {rival} | {reason} | {} |", names.join(", "));
    }
    text
}

fn memory(row: &Row) -> String {
    row.memory.as_ref().map_or_else(String::new, |memory| format!(", {memory}"))
}

/// The first columns of both tables of the page: workload, n, rival, the times of both.
fn times(row: &Row) -> String {
    let (ours, theirs) = (milliseconds(Some(row.ours_us)), milliseconds(row.peer_us));
    let log_n = row.n.max(1).ilog2();
    format!("| {} | 2^{log_n} | {}{} | {ours} | {theirs} |", row.name, rival(row), memory(row))
}

fn milliseconds(micros: Option<f64>) -> String {
    micros.map_or_else(String::new, |micros| match micros / 1e3 {
        small if small < 10.0 => format!("{small:.3} ms"),
        large => format!("{large:.1} ms"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, peer: &str, ratio: f64) -> Row {
        Row {
            name: name.into(),
            n: 1 << 13,
            peer: Some(peer.into()),
            peer_us: Some(100.0),
            ratio: Some(ratio),
            bar: Some(0.25),
            correct: true,
            ..Row::default()
        }
        .judged()
    }

    #[test]
    fn the_fastest_rival_counts_and_the_worst_workload_comes_first() {
        let rows = [row("bfv add", "A 1", 0.1), row("bfv add", "B & 2", 0.3), row("bfv rotate", "A 1", 0.2)];
        let page = bars::page(&rows, "Somewhere: [there](a.md), [far](https://a.org).", "benchmarks");
        assert!(page.contains("| bfv add | 0.25 | **0.300** B |\n| bfv rotate | 0.25 | 0.200 A |"), "{page}");
        assert!(
            page.contains("1 of 2 workloads hold their bar") && page.contains("](benchmarks-bars.svg)"),
            "{page}"
        );
        assert!(
            page.contains("(../benchmarks.md)") && page.contains("[there](../a.md), [far](https://a.org)."),
            "{page}"
        );
        let picture = bars::picture(&rows);
        assert_eq!((picture.matches("#cc3311").count(), picture.matches("#4477aa").count()), (1, 1));
        assert!(picture.contains("B &amp; 2") && picture.ends_with("</svg>\n"));
        assert!(picture.find("bfv add").unwrap() < picture.find("bfv rotate").unwrap());
    }

    #[test]
    fn later_rows_replace_earlier_ones() {
        let failed = Row { failed: Some("gone".into()), ratio: None, ..row("bfv add", "A 1", 0.0) };
        let rows =
            merged(vec![vec![row("bfv add", "A 1", 0.1)], vec![row("bfv add", "A 1", 0.2), failed.clone()]]);
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].failed.as_deref(), Some("gone"));
        assert!(page(&[failed], "", "benchmarks").contains("| A 1 | gone | bfv add (2^13) |"));
    }
}
