//! The results page for readers: how many times as fast each operation is as each rival.

use std::fmt::Write;

use super::factors::{Factor, SCHEMES, beside_fastest, factors, names, range, short, words};
use super::{absent, parameters, picture, times, unequal};
use crate::bench::report::Row;

/// The results page in Markdown, beside the pictures of [`pictures`]: `about` says when, where and by which command.
pub fn page(rows: &[Row], about: &str, name: &str) -> String {
    let mut text = String::from("# Benchmarks\n\n");
    let _ = writeln!(
        text,
        "Sunzi beside other libraries; how, and what makes it fair: [peers/README.md](../peers/README.md). {about}\n"
    );
    let all = factors(rows);
    text.push_str(&summary(&all));
    for (scheme, heading) in SCHEMES {
        let own = of_scheme(&all, scheme);
        if !own.is_empty() {
            text.push_str(&section(scheme, heading, &own, name));
        }
    }
    text.push_str(
        "\n## All times\n\nA ratio is the median over rounds of our time over theirs, ± the distance between the quartiles. Every result was \
         decrypted and right, in every round. *stock* and *kept* say how a rival is given memory.\n\n\
         | workload | n | rival | ours | theirs | ratio | rounds |\n|---|---|---|---|---|---|---|\n",
    );
    for row in rows.iter().filter(|row| row.ratio.is_some()) {
        let _ = writeln!(
            text,
            "{} {:.3} ± {:.3} | {} |",
            times(row),
            row.ratio.unwrap_or_default(),
            row.spread.unwrap_or_default(),
            row.rounds
        );
    }
    text.push_str(&parameters(rows));
    text.push_str(&unequal(rows));
    text.push_str(&absent(rows));
    let _ = writeln!(
        text,
        "\nThe project's own bars, which ask for more than to be faster, are on [a page for contributors](notes/{name}-bars.md)."
    );
    text
}

/// The picture of each scheme that was compared: what follows the page's name in the file's name, and the picture.
pub fn pictures(rows: &[Row]) -> Vec<(&'static str, String)> {
    let all = factors(rows);
    let own = SCHEMES.iter().map(|(scheme, heading)| (*scheme, *heading, of_scheme(&all, scheme)));
    own.filter(|(_, _, own)| !own.is_empty())
        .map(|(scheme, heading, own)| (scheme, picture::scheme(heading, &own)))
        .collect()
}

fn of_scheme<'a>(all: &[Factor<'a>], scheme: &str) -> Vec<Factor<'a>> {
    all.iter().filter(|one| one.scheme == scheme).cloned().collect()
}

/// What all comparisons come to.
fn summary(all: &[Factor<'_>]) -> String {
    let mut fastest: Vec<f64> = beside_fastest(all).iter().map(|one| one.factor).collect();
    fastest.sort_by(f64::total_cmp);
    let faster = |factors: &[f64]| factors.iter().filter(|&&factor| factor > 1.0).count();
    let each: Vec<f64> = all.iter().map(|one| one.factor).collect();
    let median = fastest.get(fastest.len() / 2).copied().unwrap_or(1.0);
    format!(
        "Sunzi is faster in {} of {} comparisons of an operation at one ring degree with one rival, and faster than the fastest rival \
         in {} of {} operations at one degree, in half of them {} times as fast or more.\n\n\
         Tables say how many times as fast as a rival Sunzi is, from the least to the most over ring degrees; below 1 it is slower. \
         Of two ways to give a rival memory, that in which the rival is faster counts.\n",
        faster(&each),
        each.len(),
        faster(&fastest),
        fastest.len(),
        short(median)
    )
}

/// The part of the page on one scheme.
fn section(scheme: &str, heading: &str, own: &[Factor<'_>], name: &str) -> String {
    let mut text = format!("\n## {heading}\n\n");
    let fastest = beside_fastest(own);
    let faster = fastest.iter().filter(|one| one.factor > 1.0).count();
    let by_factor = |a: &&Factor<'_>, b: &&Factor<'_>| a.factor.total_cmp(&b.factor);
    if let (Some(best), Some(worst)) = (fastest.iter().max_by(by_factor), fastest.iter().min_by(by_factor)) {
        let _ = writeln!(
            text,
            "Faster than the fastest rival in {faster} of {}. Best: {}. Worst: {}.\n",
            fastest.len(),
            best.told(),
            worst.told()
        );
    }
    let _ = writeln!(text, "![{heading}: times as fast as other libraries]({name}-{scheme}.svg)\n");
    let rivals = names(own, |one| one.rival);
    let _ = writeln!(text, "| operation | {} |\n|---{}|", rivals.join(" | "), "|---".repeat(rivals.len()));
    for operation in names(own, |one| one.operation) {
        let cell = |rival: &&str| {
            let factors = own.iter().filter(|one| one.operation == operation && one.rival == *rival);
            match range(factors.map(|one| one.factor)) {
                None => String::new(),
                Some([least, most]) if short(least) == short(most) => short(least),
                Some([least, most]) => format!("{}–{}", short(least), short(most)),
            }
        };
        let cells: Vec<String> = rivals.iter().map(cell).collect();
        let _ = writeln!(text, "| {} | {} |", words(operation), cells.join(" | "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, n: usize, peer: &str, ratio: f64) -> Row {
        let (peer, ratio) = (Some(peer.into()), Some(ratio));
        Row {
            name: name.into(),
            n,
            peer,
            peer_us: Some(100.0),
            ratio,
            bar: Some(0.25),
            correct: true,
            ..Row::default()
        }
        .judged()
    }

    #[test]
    fn readers_see_factors_with_best_and_worst_and_no_bar() {
        let rows = [
            row("bfv add", 4096, "A 1", 0.5),
            row("bfv add", 8192, "A 1", 0.25),
            row("bfv add", 4096, "B 2", 1.25),
            row("bfv rotate", 4096, "A 1", 0.1),
            row("ckks add", 4096, "B 2", 0.4),
            row("forward", 4096, "B 2", 0.8),
        ];
        let page = page(&rows, "Somewhere.", "benchmarks");
        for part in [
            "faster in 5 of 6 comparisons",
            "faster than the fastest rival in 4 of 5 operations at one degree, in half of them 2.5 times",
            "Faster than the fastest rival in 2 of 3. Best: rotate, n = 2^12: 10 times as fast as A 1. Worst: add, n = 2^12: 0.80 times as fast as B 2.",
            "| operation | A 1 | B 2 |",
            "| add | 2.0–4.0 | 0.80 |",
            "| rotate | 10 |  |",
            "](benchmarks-bfv.svg)",
            "](benchmarks-ntt.svg)",
            "(notes/benchmarks-bars.md)",
            "Somewhere.",
        ] {
            assert!(page.contains(part), "{part}:\n{page}");
        }
        assert!(!page.contains("missed") && !page.contains("## BGV"), "{page}");
        let pictures = pictures(&rows);
        assert_eq!(pictures.iter().map(|(scheme, _)| *scheme).collect::<Vec<_>>(), ["bfv", "ckks", "ntt"]);
    }
}
