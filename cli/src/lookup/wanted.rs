//! The row that a client asks for, from the arguments of a command or from a file.

use std::path::Path;

use sunzi::table::lookup::{By, Description, MOST_KEYWORD, Wanted};

use crate::args::lookup::WantedArgs;
use crate::error::{CliError, quoted};
use crate::files::input::read_text;
use crate::files::named;

/// Returns the row that is asked for; messages call the description `file`.
pub(super) fn wanted(args: &WantedArgs, description: &Description, file: &Path) -> Result<Wanted, CliError> {
    let text = match (&args.keyword, &args.wanted) {
        (Some(keyword), _) => keyword.clone(),
        (None, Some(file)) => {
            let text = read_text(file, "a keyword or a number", MOST_KEYWORD as u64 + 2)?;
            without_end(&text).to_owned()
        }
        (None, None) => String::new(),
    };
    match description.by() {
        By::Keyword(_) => Ok(Wanted::Keyword(text.into_bytes())),
        By::Number => {
            let number = text.trim().parse().map_err(|_| {
                CliError::input(format!(
                    "the rows of {} are asked by their numbers, 1 to {}, got {}",
                    named(file),
                    description.rows(),
                    quoted(&text)
                ))
            })?;
            Ok(Wanted::Number(number))
        }
    }
}

/// Returns a text without the end of its last line.
fn without_end(text: &str) -> &str {
    let text = text.strip_suffix('\n').unwrap_or(text);
    text.strip_suffix('\r').unwrap_or(text)
}
