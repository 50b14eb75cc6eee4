//! Where 2^g − 1 beats words in a whole multiplication: a map over (n, g), with one thread and with several.

use super::Options;
use super::subject::{BOTH, Operation, Subject, WORDS};
use crate::report::Curve;
use crate::repro::{Figure, Panel, Result, Row, Run, Series, Table, Timed, alternate_timed, on_threads};

/// Reason why the map has nothing printed beside it.
const NOT_COMPARED: &str =
    "the paper compares its versions with one another, never with words, and on one thread";

/// The points (log2 n, log2 g) of the map.
pub(super) fn points(options: &Options) -> Vec<(u32, u32)> {
    let least = options.least_log2_degree;
    let most = options.most_bits.clamp(128, 16_384).ilog2();
    let limit = options.most_map.ilog2();
    let degrees = least..=(least + 5).min(limit.saturating_sub(7).max(least));
    let of = |n| (7..=most).filter(move |g| n + g <= limit.max(least + 7)).map(move |g| (n, g));
    degrees.flat_map(of).collect()
}

/// Measures the map, one line of the picture for every degree.
pub(super) fn compute(options: &Options, run: &mut Run<'_>) -> Result<()> {
    let (mut rows, mut panels) = (Vec::new(), Vec::new());
    let counts: Vec<usize> = if options.threads > 1 { vec![1, options.threads] } else { vec![1] };
    for &threads in &counts {
        let label = if threads == 1 { "one thread".to_owned() } else { format!("{threads} threads") };
        panels.push(Panel::new(&label, false));
    }
    for (n, g) in points(options) {
        run.progress.begin(format!("map: n = 2^{n}, bit(q) = 2^{g}"));
        let (degree, bits) = (1_usize << n, 1_usize << g);
        let subject = Subject::with_versions(degree, bits, &[BOTH])?;
        let mut alone = [f64::NAN; 2];
        for (&threads, panel) in counts.iter().zip(&mut panels) {
            let times = on_threads(threads, || products(&subject, options, degree * bits))?;
            let [both, words] = [0, 1].map(|i| times.get(i).map_or(f64::NAN, Series::median_ms));
            if threads == 1 {
                alone = [both, words];
            }
            let ratio = match times.as_slice() {
                [both, words] => words.over(both).median,
                _ => f64::NAN,
            };
            add(panel, n, (f64::from(g), ratio));
            let row = Row::default().key("n", degree).key("bit(q)", bits).key("threads", threads);
            let row =
                row.ours("both ms", (both, 3)).ours("words ms", (words, 3)).ours("words / both", (ratio, 2));
            let row = row.ours("threads gain, both x", (alone[0] / both, 2));
            rows.push(row.ours("threads gain, words x", (alone[1] / words, 2)).because(Some(NOT_COMPARED)));
        }
    }
    let title = "time of a multiplication over words by that over 2^g - 1: above 1, 2^g - 1 is faster";
    let source = format!("medians of alternating rounds; {}", run.machine);
    let labels = ["log2 of bit(q)", "words / both"];
    run.figures.push(Figure {
        reason: Some(NOT_COMPARED),
        ..Figure::new("Figure Map", title, source, labels, panels)
    });
    run.tables.push(Table::new("Map", title, rows));
    Ok(())
}

/// Times of a multiplication over 2^g − 1 with both shortcuts, and over words.
fn products(subject: &Subject, options: &Options, size: usize) -> Result<Vec<Series>> {
    let timed = |version| -> Timed<'_> { Box::new(move || subject.time(Operation::Multiplication, version)) };
    alternate_timed(options.budget_at(size), &mut [timed(BOTH), timed(WORDS)])
}

/// Adds a point to the line of a degree.
fn add(panel: &mut Panel, log2_degree: u32, point: (f64, f64)) {
    let name = format!("n = 2^{log2_degree}");
    match panel.series.iter_mut().find(|line| line.name == name) {
        Some(line) => line.points.push(point),
        None => {
            let colour = panel.series.len();
            panel.series.push(Curve { name, colour, dashed: false, points: vec![point] });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repro::Paper;

    #[test]
    fn the_map_has_every_degree_and_no_point_above_its_limit() {
        let options = Options { most_map: 1 << 24, ..Options::full() };
        let points = points(&options);
        assert_eq!(points.first(), Some(&(10, 7)));
        assert!(points.contains(&(10, 14)) && points.contains(&(15, 9)) && !points.contains(&(15, 10)));
        assert!(points.iter().all(|(n, g)| n + g <= 24));
    }
}
