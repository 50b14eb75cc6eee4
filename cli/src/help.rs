//! Completions of commands for shells, and pages of the manual for man.

use clap::CommandFactory;

use crate::args::Cli;
use crate::error::{CliError, quoted};
use crate::{output, reference};

/// Prints the completions of a shell.
pub(crate) fn completions(shell: clap_complete::Shell) -> Result<(), CliError> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "sunzi", &mut script);
    output::print(&String::from_utf8_lossy(&script))
}

/// Prints the help of a command, or the language of programs.
pub(crate) fn help(args: &reference::HelpArgs) -> Result<(), CliError> {
    reference::help(args, Cli::command())
}

/// Prints a page of the manual.
pub(crate) fn manual(command: Option<&str>) -> Result<(), CliError> {
    if command == Some(reference::LANGUAGE) {
        return reference::manual();
    }
    let mut all = Cli::command();
    all.build();
    let chosen = match command {
        None => all,
        Some(name) => match all.find_subcommand(name) {
            Some(command) => command.clone(),
            None => {
                return Err(CliError::input(format!(
                    "there is no command {}; see sunzi --help",
                    quoted(name)
                )));
            }
        },
    };
    let mut page = Vec::new();
    clap_mangen::Man::new(chosen).render(&mut page).map_err(CliError::failure)?;
    output::print(&String::from_utf8_lossy(&page))
}
