//! The reproduced tables as a page in Markdown: every value of the paper, Sunzi's, and the verdict.

use std::fmt::Write;

use lab::repro::report::{Quantity, Report, Row, Table, Value, Verdict};

/// The page of a report; its figures stand in the folder `figures`, seen from the page.
pub(crate) fn render(report: &Report, command: &str, figures: &str) -> String {
    let mut text =
        format!("# [{}] again\n\nWritten by `{command}`; no figure is typed in by hand.\n\n", report.paper);
    let _ =
        writeln!(text, "* Machine: {}.\n* Timed: {}; every result checked.", report.machine, report.effort);
    let _ = writeln!(
        text,
        "* Values that the paper prints: {}.\n",
        counts(report.tables.iter().flat_map(|table| &table.rows))
    );
    text.push_str(
        "Verdicts: *equal* to as many decimals as are printed; *within* the tolerance of the quantity; *better*; \
         *missing*, not computed here; *differs*, where none is better; *worse*. The last three have a reason below \
         their table. A value without a verdict is not in the paper.\n",
    );
    for one in &report.tables {
        table(&mut text, one);
    }
    for figure in &report.figures {
        let _ = write!(
            text,
            "\n## {}: {}\n\n![{}]({figures}/{})\n",
            figure.name,
            figure.title,
            figure.name,
            figure.file()
        );
        if let Some(reason) = figure.reason {
            let _ = writeln!(text, "\nPoints of the paper are missing: {reason}.");
        }
    }
    text
}

fn table(text: &mut String, table: &Table) {
    let _ = write!(text, "\n## {}: {}\n\n{}.\n", table.name, table.title, counts(&table.rows));
    for grid in table.grids() {
        if text.ends_with("|\n") {
            text.push('\n');
        }
        self::grid(text, grid);
    }
    let reasons: Vec<String> =
        table.reasons().into_iter().map(|(rows, reason)| format!("* {rows}: {reason}")).collect();
    if !reasons.is_empty() {
        let _ = write!(text, "\n{}\n", reasons.join("\n"));
    }
}

/// The columns of one quantity: whether the paper has values, and whether Sunzi has.
fn sides(rows: &[Row], index: usize) -> [bool; 2] {
    let mut all = rows.iter().filter_map(|row| row.quantities.get(index));
    [all.clone().any(|one| one.paper.is_some()), all.any(|one| one.ours.is_some())]
}

fn grid(text: &mut String, rows: &[Row]) {
    let Some(first) = rows.first() else { return };
    let mut headings: Vec<String> = first.keys.iter().map(|(name, _)| words(name)).collect();
    for (index, one) in first.quantities.iter().enumerate() {
        let name = words(one.name);
        match sides(rows, index) {
            [true, _] => headings.extend([format!("{name}, paper"), "ours".to_owned(), "verdict".to_owned()]),
            [false, true] => headings.push(name),
            [false, false] => {}
        }
    }
    line(text, &headings);
    line(text, &vec!["---"; headings.len()]);
    for row in rows {
        let mut cells: Vec<String> = row.keys.iter().map(|(_, value)| value.to_string()).collect();
        for (index, one) in row.quantities.iter().enumerate() {
            match sides(rows, index) {
                [true, _] => cells.extend([show(&one.paper), show(&one.ours), verdict(one)]),
                [false, true] => cells.push(show(&one.ours)),
                [false, false] => {}
            }
        }
        line(text, &cells);
    }
}

fn words(name: &str) -> String {
    name.replace('_', " ")
}

pub(super) fn show(value: &Option<Value>) -> String {
    value.as_ref().map_or_else(|| "–".to_owned(), Value::to_string)
}

fn verdict(one: &Quantity) -> String {
    one.verdict().map_or_else(|| "–".to_owned(), |verdict| verdict.word().to_owned())
}

fn line(text: &mut String, cells: &[impl AsRef<str>]) {
    if text.ends_with(".\n") {
        text.push('\n');
    }
    for cell in cells {
        let _ = write!(text, "| {} ", cell.as_ref().replace('|', "\\|"));
    }
    text.push_str("|\n");
}

/// Numbers of printed values by verdict, in words.
pub(super) fn counts<'a>(rows: impl IntoIterator<Item = &'a Row>) -> String {
    let verdicts: Vec<Verdict> =
        rows.into_iter().flat_map(|row| row.quantities.iter().filter_map(Quantity::verdict)).collect();
    let count = |verdict: Verdict| verdicts.iter().filter(|other| **other == verdict).count();
    let counts = Verdict::ALL.map(|verdict| (count(verdict), verdict.word()));
    let counts = counts.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}"));
    match verdicts.len() {
        0 => "the paper prints none of these values".to_owned(),
        all => format!("of {all} printed values {}", counts.collect::<Vec<_>>().join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use lab::repro::{Paper, behz, run};

    use super::*;

    #[test]
    fn a_page_has_every_value_and_verdict() {
        let options = behz::Options { parts: vec![behz::Part::Table1, behz::Part::Table3], ..Paper::quick() };
        let report = run(&options, &mut |_, _, _| {}).unwrap();
        let page = render(&report, "lab repro behz", "behz");
        assert!(page.contains("| n | k | t | L RNS, paper | ours | verdict |"), "{page}");
        assert!(
            page.contains("differs |") && page.contains("* n = 32768, k = 53, t = 2: ρ = 1/20"),
            "{page}"
        );
        let rows = page.lines().filter(|line| line.starts_with("| ") && line.contains("equal")).count();
        assert_eq!(rows, 20, "{page}");
    }
}
