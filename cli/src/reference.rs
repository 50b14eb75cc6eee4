//! `sunzi help`: the help of a command, and the reference of the language of programs.

use clap::Args;
use clap_mangen::roff::{Roff, bold, roman};
use serde::Serialize;
use sunzi::program::language::{self, Block};

use crate::error::{CliError, quoted};
use crate::output;

/// Name of the reference of the language among the subjects of `sunzi help` and `sunzi manual`.
pub(crate) const LANGUAGE: &str = "language";
/// Number of characters of a line of the reference, as of the help of commands.
const WIDTH: usize = 100;

/// Options of `sunzi help`.
#[derive(Debug, Args)]
pub(crate) struct HelpArgs {
    /// `language` for the language of programs, or the name of a command
    subject: Option<String>,
    /// With `language`: a function or a word alone, such as sum or max. With `party`: one of its commands
    word: Option<String>,
    /// With `language`: print one JSON object
    #[arg(long)]
    json: bool,
}

/// The reference for programs that read it.
#[derive(Serialize)]
struct Reference {
    functions: &'static [language::Entry],
    synonyms: Vec<Synonym>,
    elsewhere: &'static [language::Elsewhere],
    words: &'static [language::Word],
    signs: &'static [language::Sign],
}

/// Name of a function in other languages, with its name in the language of programs.
#[derive(Serialize)]
struct Synonym {
    name: &'static str,
    function: &'static str,
}

/// Prints the help of a subject, which may be one of these commands.
pub(crate) fn help(args: &HelpArgs, mut commands: clap::Command) -> Result<(), CliError> {
    // Commands of commands have their whole names once all are built.
    commands.build();
    match (args.subject.as_deref(), args.word.as_deref()) {
        (Some(LANGUAGE), None) if args.json => output::print_json(&reference()),
        (Some(LANGUAGE), None) => output::print(&language::text(WIDTH)),
        (Some(LANGUAGE), Some(word)) => match language::lines(word, WIDTH) {
            Some(text) => output::print(&text),
            None => {
                let names: Vec<&str> = language::FUNCTIONS.iter().map(|entry| entry.name).collect();
                let word = quoted(word);
                let names = names.join(", ");
                Err(CliError::input(format!("the language has no function {word}; there are: {names}")))
            }
        },
        (Some(name), Some(word)) if !args.json => match commands.find_subcommand(name) {
            Some(command) if command.has_subcommands() => of_command(word, command.clone()),
            _ => Err(second_word()),
        },
        (_, Some(_)) => Err(second_word()),
        (subject, None) if args.json => {
            let subject = quoted(subject.unwrap_or_default());
            Err(CliError::input(format!("--json is for `sunzi help language`, not for {subject}")))
        }
        (None, None) => {
            let help = commands.render_help();
            output::print(&format!("{help}\nThe language of programs: sunzi help {LANGUAGE}"))
        }
        (Some(name), None) => of_command(name, commands),
    }
}

fn second_word() -> CliError {
    CliError::input("only `sunzi help language`, and commands with commands of their own, take a second word")
}

/// Prints the help of a command.
fn of_command(name: &str, mut commands: clap::Command) -> Result<(), CliError> {
    commands.build();
    match commands.find_subcommand_mut(name) {
        Some(command) => output::print(&command.render_help().to_string()),
        None => Err(CliError::input(format!(
            "there is no command {}; see sunzi --help, and sunzi help {LANGUAGE} for programs",
            quoted(name)
        ))),
    }
}

fn reference() -> Reference {
    Reference {
        functions: &language::FUNCTIONS,
        synonyms: language::SYNONYMS.iter().map(|&(name, function)| Synonym { name, function }).collect(),
        elsewhere: &language::ELSEWHERE,
        words: &language::WORDS,
        signs: &language::SIGNS,
    }
}

/// Prints the reference as a page of the manual.
pub(crate) fn manual() -> Result<(), CliError> {
    let mut page = Roff::new();
    page.control("TH", ["sunzi-language", "7"]);
    page.control("SH", ["NAME"]);
    page.text([roman("sunzi-language - the language of programs over encrypted tables")]);
    for block in language::page() {
        match block {
            Block::Heading(1, _) => page.control("SH", ["DESCRIPTION"]),
            Block::Heading(2, text) => page.control("SH", [text.to_uppercase().as_str()]),
            Block::Heading(_, text) => page.control("SS", [text.as_str()]),
            Block::Text(text) => page.control("PP", []).text([roman(language::plain(&text))]),
            Block::Points(points) => points.iter().fold(&mut page, |page, point| {
                page.control("IP", ["\\(bu", "2"]).text([roman(language::plain(point))])
            }),
            Block::Code(_, code) => {
                page.control("PP", []).control("nf", []).text([roman(code)]).control("fi", [])
            }
            Block::Table(rows) => rows.iter().skip(1).fold(&mut page, |page, row| {
                let mut cells = row.iter().map(|cell| language::plain(cell));
                page.control("TP", []).text([bold(cells.next().unwrap_or_default())]);
                page.text([roman(cells.collect::<Vec<_>>().join(": "))])
            }),
        };
    }
    output::print(&page.render())
}
