//! `sunzi remote login`: address and token in a file that its owner alone can read.

use std::fs;

use serde::Serialize;
use sunzi::rlwe::wire::{WireError, replace};

use super::client::Client;
use super::kept::{LONGEST, Login, file};
use crate::args::service::LoginArgs;
use crate::error::CliError;
use crate::files::input::read_text;
use crate::files::refuse;
use crate::output;

/// Report of a login.
#[derive(Serialize)]
struct Kept {
    server: String,
    account: String,
    file: String,
}

/// Tries a token and keeps it.
pub(super) fn run(args: &LoginArgs) -> Result<(), CliError> {
    let token = read_text(&args.token, "a token", LONGEST)?.trim().to_owned();
    let ca = match &args.ca {
        Some(file) => Some(fs::canonicalize(file).map_err(|error| refuse(file, WireError::Io(error)))?),
        None => None,
    };
    let login = Login { server: args.server.trim_end_matches('/').to_owned(), token, ca };
    let account = Client::of(&login)?.get("/v1/account")?;
    let file = file()?;
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).map_err(|error| refuse(folder, WireError::Io(error)))?;
    }
    let text = serde_json::to_string(&login).map_err(CliError::failure)? + "\n";
    let write = |kept: &mut fs::File| std::io::Write::write_all(kept, text.as_bytes()).map_err(WireError::Io);
    replace(&file, true, write).map_err(|error| refuse(&file, error))?;
    let kept = Kept {
        server: login.server,
        account: account.get("name").and_then(|name| name.as_str()).unwrap_or_default().to_owned(),
        file: file.display().to_string(),
    };
    output::report(args.json, &kept, |Kept { server, account, file }| {
        crate::error::one_line(&format!("account {account} of {server}, kept in {file}"))
    })
}
