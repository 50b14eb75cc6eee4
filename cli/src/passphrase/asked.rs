//! Passphrases: from a file, of a command, or asked for at a terminal.

use std::io::{IsTerminal, stdin};
use std::path::{Path, PathBuf};

use sunzi_keystore::Passphrase;
use zeroize::Zeroizing;

use super::command::{LIMIT, printed};
use super::lock::Lock;
use crate::args::passphrase::{NewPassphraseArgs, PassphraseArgs};
use crate::error::CliError;
use crate::files::input::read_text;
use crate::files::named;
use crate::output;

/// Environment variable that names a file whose first line is the passphrase.
const FILE: &str = "SUNZI_PASSPHRASE_FILE";
/// Number of characters below which a passphrase is said to be short.
const SHORT: usize = 12;
/// Longest text of which a passphrase is the first line, in bytes.
const LONGEST_TEXT: u64 = 1 << 16;

/// Where a passphrase comes from.
#[derive(Debug)]
pub(super) enum Source {
    File(PathBuf),
    Command(String),
    Terminal,
}

impl Source {
    fn of(command: Option<&String>, file: Option<PathBuf>) -> Self {
        match (command, file) {
            (Some(command), _) => Self::Command(command.clone()),
            (None, Some(file)) => Self::File(file),
            (None, None) => Self::Terminal,
        }
    }

    /// Whether another passphrase may come where one was wrong.
    pub(super) fn may_be_asked_again(&self) -> bool {
        matches!(self, Self::Terminal)
    }

    /// Returns the passphrase of a file with a secret key; options begin with `prefix`.
    pub(super) fn passphrase(&self, file: &Path, prefix: &str) -> Result<Passphrase, CliError> {
        let options = format!("--{prefix}passphrase-file or --{prefix}passphrase-command");
        made(&self.text("Passphrase of", file, &options)?)
    }

    /// Returns the first line of what a source has. `options` say how it is given where there is no terminal.
    fn text(&self, what: &str, file: &Path, options: &str) -> Result<Zeroizing<String>, CliError> {
        let text = match self {
            Self::File(own) => Zeroizing::new(read_text(own, "a passphrase", LONGEST_TEXT)?),
            Self::Command(command) => {
                let output = printed((command, "the passphrase"), None, LIMIT)?;
                let text = std::str::from_utf8(&output).map(str::to_owned);
                let text =
                    text.map_err(|_| CliError::input("the command for the passphrase printed no text"))?;
                if text.trim().is_empty() {
                    return Err(CliError::input("the command for the passphrase printed nothing"));
                }
                Zeroizing::new(text)
            }
            Self::Terminal if stdin().is_terminal() => {
                let asked = rpassword::prompt_password(format!("{what} {}: ", named(file)));
                Zeroizing::new(asked.map_err(|error| CliError::io(format!("the terminal: {error}")))?)
            }
            Self::Terminal => {
                return Err(CliError::input(format!(
                    "{} takes a passphrase, and there is no terminal to ask: give {options}",
                    named(file)
                )));
            }
        };
        Ok(Zeroizing::new(text.lines().next().unwrap_or_default().to_owned()))
    }
}

/// Returns where the passphrase of a secret key comes from.
pub(super) fn known(args: &PassphraseArgs) -> Source {
    let of_system = || std::env::var_os(FILE).map(PathBuf::from);
    Source::of(args.passphrase_command.as_ref(), args.passphrase_file.clone().or_else(of_system))
}

/// Asks for what a secret is to be locked by.
pub(crate) fn lock(args: &NewPassphraseArgs, file: &Path) -> Result<Lock, CliError> {
    match (&args.new_wrap_command, &args.new_unwrap_command) {
        (Some(wrap), Some(unwrap)) => Ok(Lock::Service { wrap: wrap.clone(), unwrap: unwrap.clone() }),
        _ => new(args, file).map(Lock::Passphrase),
    }
}

/// Asks for a new passphrase, at a terminal twice.
fn new(args: &NewPassphraseArgs, file: &Path) -> Result<Passphrase, CliError> {
    let source = Source::of(args.new_passphrase_command.as_ref(), args.new_passphrase_file.clone());
    let options = "--new-passphrase-file or --new-passphrase-command";
    let first = source.text("New passphrase of", file, options)?;
    let passphrase = made(&first)?;
    if first.chars().count() < SHORT {
        output::warn(&format!(
            "a passphrase of fewer than {SHORT} characters: whoever copies the file may find it by trying"
        ));
    }
    if matches!(source, Source::Terminal) && *source.text("Again, that of", file, options)? != *first {
        return Err(CliError::input("the passphrases differ: nothing was done"));
    }
    Ok(passphrase)
}

fn made(text: &str) -> Result<Passphrase, CliError> {
    Passphrase::new(text).map_err(CliError::input)
}
