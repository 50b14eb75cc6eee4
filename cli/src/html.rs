//! Pages of HTML that need nothing else: no script, no font and no picture of another place.

use std::fmt::Write;

use sunzi::rlwe::words::{bytes, counted};

use crate::svg::escaped;

/// Look of a page, on a light and on a dark screen, wide and narrow.
const STYLE: &str = ":root{--ink:#1f2328;--faint:#57606a;--back:#fff;--line:#d0d7de;--bar:#0072b2;--good:#00694f;--bad:#b3261e}\
    @media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--faint:#9da7b1;--back:#15191e;--line:#3d444d;--bar:#4aa3df;--good:#4cc38a;--bad:#ff8f85}}\
    body{font:16px/1.45 sans-serif;color:var(--ink);background:var(--back);max-width:62rem;margin:0 auto;padding:1rem}\
    h1{font-size:1.6rem;margin:.2rem 0}h2{font-size:1.2rem;margin:2rem 0 .4rem}h3{font-size:1rem;margin:1.2rem 0 .3rem}\
    p{margin:.3rem 0}.faint{color:var(--faint)}.good{color:var(--good);font-weight:bold}.bad{color:var(--bad);font-weight:bold}\
    summary{cursor:pointer;font-weight:bold;margin:.6rem 0}.wide{overflow-x:auto}table{border-collapse:collapse;font-size:.9rem}\
    th,td{padding:.25rem .7rem;border-bottom:1px solid var(--line);text-align:right;white-space:nowrap}\
    th:first-child,td:first-child{text-align:left;padding-left:0}td{font-variant-numeric:tabular-nums}\
    dl{display:grid;grid-template-columns:max-content 1fr;gap:.2rem 1rem;margin:.4rem 0}dt{color:var(--faint)}dd{margin:0;overflow-wrap:anywhere}\
    .bars{display:grid;grid-template-columns:max-content 1fr max-content;gap:.3rem .7rem;align-items:center;font-size:.9rem}\
    .bar{height:.9rem;background:var(--bar)}.sides{display:grid;grid-template-columns:1fr 1fr;gap:0 2rem}\
    @media(max-width:40rem){.sides{grid-template-columns:1fr}dl{grid-template-columns:1fr}dd{margin-bottom:.4rem}}";

/// Content security policy of a page: a browser may fetch nothing, and styles are in the page.
const POLICY: &str = "script-src 'none'; connect-src 'none'; img-src 'none'; font-src 'none'; media-src 'none'; object-src 'none'; frame-src 'none'; \
    base-uri 'none'; form-action 'none'";

/// Page that grows downwards; every text that it is given is shown as it is.
pub(crate) struct Page {
    title: String,
    body: String,
}

impl Page {
    /// Begins a page with a title, a line below it, and the outcome.
    pub(crate) fn new(title: &str, line: &str, (right, outcome): (bool, &str)) -> Self {
        let class = if right { "good" } else { "bad" };
        let mut page = Self { title: escaped(title), body: String::new() };
        let (title, line, outcome) = (escaped(title), escaped(line), escaped(outcome));
        page.write(format_args!(
            "<h1>{title}</h1>\n<p class=\"faint\">{line}</p>\n<p class=\"{class}\">{outcome}</p>"
        ));
        page
    }

    /// Begins a section.
    pub(crate) fn section(&mut self, heading: &str) {
        self.write(format_args!("<h2>{}</h2>", escaped(heading)));
    }

    /// Begins a part of a section.
    pub(crate) fn part(&mut self, heading: &str) {
        self.write(format_args!("<h3>{}</h3>", escaped(heading)));
    }

    /// Begins a part that is folded until its heading is chosen; [`unfold`](Self::unfold) ends it.
    pub(crate) fn fold(&mut self, heading: &str) {
        self.write(format_args!("<details><summary>{}</summary>", escaped(heading)));
    }

    /// Ends a folded part.
    pub(crate) fn unfold(&mut self) {
        self.write(format_args!("</details>"));
    }

    /// Writes a sentence.
    pub(crate) fn say(&mut self, text: &str) {
        self.write(format_args!("<p>{}</p>", escaped(text)));
    }

    /// Writes a table.
    pub(crate) fn table(&mut self, headers: &[&str], rows: impl IntoIterator<Item = Vec<String>>) {
        self.write(format_args!("<div class=\"wide\"><table>\n<thead><tr>{}</tr></thead>\n<tbody>", {
            headers.iter().map(|header| format!("<th>{}</th>", escaped(header))).collect::<String>()
        }));
        for row in rows {
            let cells: String = row.iter().map(|cell| format!("<td>{}</td>", escaped(cell))).collect();
            self.write(format_args!("<tr>{cells}</tr>"));
        }
        self.write(format_args!("</tbody>\n</table></div>"));
    }

    /// Writes names with what they stand for.
    pub(crate) fn facts(&mut self, facts: &[(&str, String)]) {
        let each =
            |(name, value): &(&str, String)| format!("<dt>{}</dt><dd>{}</dd>", escaped(name), escaped(value));
        let all: String = facts.iter().map(each).collect();
        self.write(format_args!("<dl>{all}</dl>"));
    }

    /// Draws bars: the name of each, its length and the length in words.
    pub(crate) fn bars(&mut self, bars: &[(&str, f64, String)]) {
        let most = bars.iter().map(|bar| bar.1).fold(f64::MIN_POSITIVE, f64::max);
        self.write(format_args!("<div class=\"bars\">"));
        for (name, length, told) in bars {
            let (name, told, share) = (escaped(name), escaped(told), 100.0 * length.max(0.0) / most);
            self.write(format_args!(
                "<span>{name}</span><div><div class=\"bar\" style=\"width:{share:.1}%\"></div></div><span>{told}</span>"
            ));
        }
        self.write(format_args!("</div>"));
    }

    /// Draws the times of a run's steps in seconds, and says what the whole run took.
    pub(crate) fn times(&mut self, steps: &[(&str, f64)], run: &Run<'_>) {
        self.section("Times");
        let bars: Vec<_> = steps.iter().map(|&(name, time)| (name, time, seconds(time))).collect();
        self.bars(&bars);
        let memory = run.peak.map_or_else(String::new, |peak| format!(", {} of memory at most", bytes(peak)));
        self.say(&format!(
            "{} in all, on {} with {} kernels{memory}.",
            seconds(run.seconds),
            counted(run.threads, "thread", "threads"),
            run.isa
        ));
    }

    /// Writes what the server saw beside what it did not see.
    pub(crate) fn seen(&mut self, seen: &[String], unseen: &[String]) {
        self.section("What the server saw");
        self.say(
            "Owner, server and key holder ran in one process here. The lists say what the server is given, and what stays with the others.",
        );
        let list = |heading: &str, lines: &[String]| {
            let lines: String = lines.iter().map(|line| format!("<li>{}</li>", escaped(line))).collect();
            format!("<div><h3>{heading}</h3><ul>{lines}</ul></div>")
        };
        let (saw, did_not) = (list("It saw", seen), list("It did not see", unseen));
        self.write(format_args!("<div class=\"sides\">{saw}{did_not}</div>"));
    }

    /// Returns the whole page, which ends with the version that made it.
    pub(crate) fn finish(mut self) -> String {
        self.write(format_args!(
            "<p class=\"faint\">Made by sunzi {}, without anything from another place.</p>",
            env!("CARGO_PKG_VERSION")
        ));
        let Self { title, body } = self;
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\"/>\n\
             <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n{body}</body>\n</html>\n"
        )
    }

    fn write(&mut self, line: std::fmt::Arguments<'_>) {
        // Writing to a string does not fail.
        let _ = writeln!(self.body, "{line}");
    }
}

/// Time and machine of a whole run.
pub(crate) struct Run<'a> {
    pub(crate) seconds: f64,
    pub(crate) threads: usize,
    /// Name of the table of kernels.
    pub(crate) isa: &'a str,
    /// Most bytes of memory, where the system tells.
    pub(crate) peak: Option<u64>,
}

/// Returns seconds in words.
fn seconds(seconds: f64) -> String {
    if seconds < 10.0 { format!("{seconds:.3} s") } else { format!("{seconds:.1} s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_is_escaped_and_nothing_is_fetched() {
        let text = "</p><script src=\"http://x\">'&";
        let mut page = Page::new(text, text, (false, text));
        page.section(text);
        page.part(text);
        page.fold(text);
        page.unfold();
        page.say(text);
        page.table(&[text], [vec![text.to_owned()]]);
        page.facts(&[(text, text.to_owned())]);
        page.bars(&[(text, f64::NAN, text.to_owned()), ("none", 0.0, String::new())]);
        page.seen(&[text.to_owned()], &[text.to_owned()]);
        let html = page.finish();
        let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
        let document = roxmltree::Document::parse_with_options(&html, options).unwrap();
        let has = |tag: &str| document.descendants().any(|node| node.has_tag_name(tag));
        assert!(!["script", "link", "img", "iframe"].into_iter().any(has));
        let texts = document.descendants().filter(|node| node.is_text() && node.text() == Some(text));
        // The title twice; line, outcome, section, part, folded part, sentence; two of the table, of facts, of a bar, of the lists.
        assert_eq!(texts.count(), 16);
        assert!(!html.contains("NaN"), "{html}");
        assert!(!document.descendants().any(|node| node.has_attribute("src") || node.has_attribute("href")));
    }
}
