//! The reference as Markdown, which the book has, and as plain text, which a terminal shows.

use super::page::{one, page};
use super::{Block, Way, function, instead_of, instead_of_word, synonym};

/// Number of characters of a line of Markdown, links and code included.
const MARKDOWN_WIDTH: usize = 118;

/// Returns the reference as a page of the book.
#[must_use]
pub fn markdown() -> String {
    let mut page: Vec<String> = page().iter().map(block_in_markdown).collect();
    page.insert(
        1,
        "<!-- Written by `cargo xtask book --record` from crates/program/src/language: change it there. -->"
            .to_owned(),
    );
    page.join("\n\n") + "\n"
}

fn block_in_markdown(block: &Block) -> String {
    match block {
        Block::Heading(level, text) => format!("{} {text}", "#".repeat(*level)),
        Block::Text(text) => wrapped(text, MARKDOWN_WIDTH, "", ""),
        Block::Points(all) => {
            all.iter().map(|point| wrapped(point, MARKDOWN_WIDTH, "* ", "  ")).collect::<Vec<_>>().join("\n")
        }
        Block::Code(language, text) => format!("```{language}\n{text}\n```"),
        Block::Table(rows) => {
            let line = |row: &Vec<String>| {
                let cells: Vec<String> = row.iter().map(|cell| cell.replace('|', "\\|")).collect();
                format!("| {} |", cells.join(" | "))
            };
            let mut lines: Vec<String> = rows.iter().map(line).collect();
            let columns = rows.first().map_or(0, Vec::len);
            lines.insert(1.min(lines.len()), format!("|{}", "---|".repeat(columns)));
            lines.join("\n")
        }
    }
}

/// Returns the reference as plain text of lines no wider than `width`, except where a word is wider.
#[must_use]
pub fn text(width: usize) -> String {
    page().iter().map(|block| block_in_text(block, width)).collect::<Vec<_>>().join("\n\n") + "\n"
}

/// Returns what the reference says of one function, or of a function of another language; `None` for a word that it
/// does not know.
#[must_use]
pub fn lines(name: &str, width: usize) -> Option<String> {
    if let Some(entry) = function(name) {
        let blocks = one(entry);
        return Some(
            blocks.iter().map(|block| block_in_text(block, width)).collect::<Vec<_>>().join("\n") + "\n",
        );
    }
    let no_ways: &[Way] = &[];
    let (answer, ways) = match (synonym(name), instead_of(name)) {
        (Some(own), _) => (format!("write {own}"), no_ways),
        (None, Some(entry)) => (entry.answer.to_owned(), entry.ways),
        (None, None) => (instead_of_word(name)?.to_owned(), no_ways),
    };
    let mut text = wrapped(&format!("There is no {name}: {answer}."), width, "", "") + "\n";
    for way in ways {
        text.push_str(&format!("    {name}({}) is written {}\n", way.arguments.join(", "), way.program));
    }
    Some(text)
}

fn block_in_text(block: &Block, width: usize) -> String {
    match block {
        Block::Heading(1, text) => text.to_uppercase(),
        Block::Heading(2, text) => format!("\n{text}\n{}", "-".repeat(text.chars().count())),
        Block::Heading(_, text) => plain(text),
        Block::Text(text) => wrapped(&plain(text), width, "", ""),
        Block::Points(all) => {
            let point = |point: &String| wrapped(&plain(point), width, "  * ", "    ");
            all.iter().map(point).collect::<Vec<_>>().join("\n")
        }
        Block::Code(_, text) => text.lines().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n"),
        // The first cell stands above the others, which a terminal has no room for beside it.
        Block::Table(rows) => {
            rows.iter().skip(1).map(|row| row_in_text(row, width)).collect::<Vec<_>>().join("\n")
        }
    }
}

fn row_in_text(row: &[String], width: usize) -> String {
    let Some((first, others)) = row.split_first() else { return String::new() };
    let mut text = wrapped(&plain(first), width, "  ", "    ");
    for cell in others {
        text.push('\n');
        text.push_str(&wrapped(&plain(cell), width, "      ", "      "));
    }
    text
}

/// Returns a text without the marks of code and the targets of links.
#[must_use]
pub fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['`', '[']) {
        let (before, marked) = rest.split_at(at);
        plain.push_str(before);
        let (inside, after) = if let Some(inner) = marked.strip_prefix("`` ") {
            inner.split_once(" ``").unwrap_or((inner, ""))
        } else if let Some(inner) = marked.strip_prefix('`') {
            inner.split_once('`').unwrap_or((inner, ""))
        } else {
            let link = marked.strip_prefix('[').and_then(|inner| inner.split_once("]("));
            let link = link.and_then(|(name, after)| Some((name, after.split_once(')')?.1)));
            link.unwrap_or(("[", marked.get(1..).unwrap_or_default()))
        };
        plain.push_str(inside);
        rest = after;
    }
    plain + rest
}

/// Returns the lines of a text that is broken at blanks outside of code, with these beginnings of lines.
fn wrapped(text: &str, width: usize, first: &str, others: &str) -> String {
    let mut lines = vec![first.to_owned()];
    let mut filled = false;
    for word in pieces(text) {
        let Some(line) = lines.last_mut() else { break };
        let wide = line.chars().count() + usize::from(filled) + word.chars().count();
        if filled && wide > width {
            lines.push(format!("{others}{word}"));
            continue;
        }
        if filled {
            line.push(' ');
        }
        line.push_str(&word);
        filled = true;
    }
    lines.join("\n")
}

/// Returns the words of a text; a span of code and a link are one word.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    let (mut code, mut link) = (false, false);
    for word in text.split(' ') {
        let inside = code || link;
        if word.matches('`').count() % 2 == 1 {
            code = !code;
        }
        link = !code && (link || word.contains('[')) && !word.contains(')');
        match pieces.last_mut() {
            Some(last) if inside => {
                last.push(' ');
                last.push_str(word);
            }
            _ => pieces.push(word.to_owned()),
        }
    }
    pieces
}
