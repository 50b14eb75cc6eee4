//! Arguments of the process: what is asked, and errors in one line.

use std::env;

use anstream::ColorChoice;
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};

use super::{Cli, Command};
use crate::error::{CliError, one_line};

/// Manner in which a process is asked to tell what happens, also where its arguments are wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Manner {
    /// Whether programs read it.
    pub(crate) json: bool,
    /// When texts have colours.
    pub(crate) color: ColorChoice,
}

/// Request that the arguments of the process make.
pub(crate) enum Asked {
    /// Run this command, on this number of threads if given.
    Run(Box<Command>, Option<u16>),
    /// Show this text, which is help or the version.
    Show(String),
}

impl Manner {
    /// Looks for the options among the arguments of the process.
    pub(crate) fn of_process() -> Self {
        Self::of(&arguments())
    }

    fn of(arguments: &[String]) -> Self {
        let color = arguments.iter().enumerate().find_map(|(at, argument)| {
            match argument.strip_prefix("--color")? {
                "" => arguments.get(at + 1).map(String::as_str),
                value => value.strip_prefix('='),
            }
        });
        let color = match color {
            Some("always") => ColorChoice::Always,
            Some("never") => ColorChoice::Never,
            _ => ColorChoice::Auto,
        };
        Self { json: arguments.iter().any(|argument| argument == "--json"), color }
    }
}

/// Returns the arguments of the process up to `--`, behind which there are no options.
fn arguments() -> Vec<String> {
    let all = env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned());
    all.take_while(|argument| argument != "--").collect()
}

/// Reads the arguments of the process.
pub(crate) fn read() -> Result<Asked, CliError> {
    match Cli::try_parse() {
        Ok(cli) => Ok(Asked::Run(Box::new(cli.command), cli.threads)),
        Err(error) if !error.use_stderr() => Ok(Asked::Show(error.render().ansi().to_string())),
        Err(error) => Err(CliError::Input(in_one_line(&error, &arguments()))),
    }
}

/// Returns the names of all commands in one text.
fn commands() -> String {
    let command = Cli::command();
    let shown = command.get_subcommands().filter(|command| !command.is_hide_set());
    let names: Vec<&str> = shown.map(clap::Command::get_name).collect();
    match names.split_last() {
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}

/// Returns the command line that shows the help of the command among these arguments.
fn help(arguments: &[String]) -> String {
    let command = Cli::command();
    let named = |argument: &&String| command.get_subcommands().any(|own| own.get_name() == **argument);
    match arguments.iter().find(named) {
        Some(name) => format!("sunzi {name} --help"),
        None => "sunzi --help".to_owned(),
    }
}

/// Returns the parser's message, which spans several lines, in one line.
fn in_one_line(error: &clap::Error, arguments: &[String]) -> String {
    let message = match error.kind() {
        ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            format!("no command: expected {}", commands())
        }
        _ => joined(&error.render().to_string()),
    };
    one_line(&format!("{message}; for more information, try '{}'", help(arguments)))
}

/// Joins the lines of a message that say what is wrong.
fn joined(text: &str) -> String {
    let useful = text.lines().map(str::trim).filter(|line| {
        !line.is_empty() && !line.starts_with("Usage:") && !line.starts_with("For more information")
    });
    let joined = useful.fold(String::new(), |text, line| {
        let between = match text.as_bytes().last() {
            None => "",
            Some(b':') => " ",
            Some(_) => "; ",
        };
        text + between + line
    });
    joined.strip_prefix("error: ").unwrap_or(&joined).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(line: &str) -> String {
        let arguments: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let error = Cli::try_parse_from([&["sunzi".to_owned()], &arguments[..]].concat()).unwrap_err();
        in_one_line(&error, &arguments)
    }

    #[test]
    fn what_is_missing_follows_its_colon() {
        let message = message("check a.sz");
        assert!(message.contains("not provided: --params <FILE>; for more"), "{message}");
    }

    #[test]
    fn a_parser_message_becomes_one_line_that_names_the_help_of_the_command() {
        let line = message("demo --thread 2");
        assert!(!line.contains('\n') && line.contains("--thread") && line.contains("--threads"), "{line}");
        assert!(line.ends_with("try 'sunzi demo --help'"), "{line}");
        assert!(message("--threads 2 plan --tabel x").ends_with("try 'sunzi plan --help'"));
        assert!(message("dmeo").ends_with("try 'sunzi --help'"));
    }

    #[test]
    fn the_manner_is_found_where_arguments_are_wrong() {
        let of = |line: &str| Manner::of(&line.split(' ').map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(of("plan --json --nothing"), Manner { json: true, color: ColorChoice::Auto });
        assert_eq!(of("--color never demo --x"), Manner { json: false, color: ColorChoice::Never });
        assert_eq!(of("demo --color=always --json"), Manner { json: true, color: ColorChoice::Always });
        assert_eq!(of("demo --color --json"), Manner { json: true, color: ColorChoice::Auto });
        assert_eq!(of("demo --colour --jsonl"), Manner { json: false, color: ColorChoice::Auto });
    }
}
