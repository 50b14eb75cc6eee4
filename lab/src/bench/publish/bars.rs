//! The page of bars for contributors: the ratio of every workload to its fastest rival beside the bar that the project has set itself.

use std::fmt::Write;

use super::{Workload, picture, rival, workloads};
use crate::bench::report::Row;

/// The page of bars in Markdown, beside `name`-bars.svg.
pub fn page(rows: &[Row], about: &str, name: &str) -> String {
    let (all, about) = (workloads(rows), from_below(about));
    let met = all.iter().filter(|workload| workload.met()).count();
    let mut text = format!(
        "# Bars of the comparison\n\n\
         For contributors; readers find factors in [{name}.md](../{name}.md), and times of all rivals. {about}\n\n\
         A ratio is our time over that of the fastest rival; a bar is the largest that the project wants, and being faster is a ratio \
         below 1. A workload that is as fast as memory allows (bandwidth {} or more) holds its bar too. {met} of {} workloads hold their \
         bar; **bold** ratios miss it. What each line waits for: [speed.md](speed.md).\n\n\
         ![Ratios beside their bars, the furthest beyond first]({name}-bars.svg)\n\n",
        crate::bench::report::BANDWIDTH_BAR,
        all.len()
    );
    let mut degrees: Vec<usize> = all.iter().map(|workload| workload.row.n).collect();
    degrees.sort_unstable();
    degrees.dedup();
    let heads: Vec<String> = degrees.iter().map(|n| format!("2^{}", n.max(&1).ilog2())).collect();
    let _ =
        writeln!(text, "| workload | bar | {} |\n|---|---{}|", heads.join(" | "), "|---".repeat(heads.len()));
    let mut names: Vec<&str> = Vec::new();
    for workload in &all {
        if !names.contains(&workload.row.name.as_str()) {
            names.push(&workload.row.name);
        }
    }
    for name in names {
        let own: Vec<&Workload<'_>> = all.iter().filter(|workload| workload.row.name == name).collect();
        let bar = own.first().map_or(0.0, |workload| workload.bar);
        let cells: Vec<String> =
            degrees.iter().map(|&n| cell(own.iter().find(|one| one.row.n == n))).collect();
        let _ = writeln!(text, "| {name} | {bar:.2} | {} |", cells.join(" | "));
    }
    text
}

/// A text of the folder above, with its links as they are from here.
fn from_below(text: &str) -> String {
    text.replace("](", "](../").replace("](../http", "](http")
}

/// A ratio with the first word of the rival's name.
fn cell(workload: Option<&&Workload<'_>>) -> String {
    let Some(workload) = workload else { return String::new() };
    let library = rival(workload.row).split(' ').next().unwrap_or_default();
    let bandwidth =
        workload.row.bandwidth.map_or_else(String::new, |share| format!(", bandwidth {share:.2}"));
    let ratio = format!("{:.3}", workload.ratio);
    let ratio = if workload.met() { ratio } else { format!("**{ratio}**") };
    format!("{ratio} {library}{bandwidth}")
}

/// The picture of bars: a bar for every workload, the furthest beyond first.
pub fn picture(rows: &[Row]) -> String {
    picture::bars(rows)
}
