//! `sunzi account`: who may use a server.

use serde::Serialize;
use sunzi::rlwe::words::{bytes, counted};
use sunzi_service::records::Account;
use sunzi_service::store::{add_account, rotate_token};
use sunzi_service::{Name, Token};

use super::state::records;
use super::{name, refuse};
use crate::args::service::{AccountArgs, AccountCommand, OneAccountArgs};
use crate::error::CliError;
use crate::output;

/// Report of an account that got a token.
#[derive(Serialize)]
struct Given {
    account: Name,
    token: String,
}

/// Report of an account that was removed.
#[derive(Serialize)]
struct Removed {
    removed: Name,
}

/// Report of all accounts.
#[derive(Serialize)]
struct Listed {
    accounts: Vec<Account>,
}

/// Runs a command for accounts.
pub(crate) fn run(args: &AccountArgs) -> Result<(), CliError> {
    match &args.command {
        AccountCommand::Add(args) => {
            let name = name(&args.name)?;
            let records = records(&args.accounts)?;
            let token = add_account(&*records, &name).map_err(refuse)?;
            let there = || {
                CliError::input(format!(
                    "there is an account {name} already: choose another name, or sunzi account rotate for another token"
                ))
            };
            give(args, token.ok_or_else(there)?, &name)
        }
        AccountCommand::Rotate(args) => {
            let name = name(&args.name)?;
            let records = records(&args.accounts)?;
            give(args, rotate_token(&*records, &name).map_err(refuse)?.ok_or_else(|| absent(&name))?, &name)
        }
        AccountCommand::Remove(args) => {
            let name = name(&args.name)?;
            let records = records(&args.accounts)?;
            if !records.remove_account(&name).map_err(refuse)? {
                return Err(absent(&name));
            }
            let removed = Removed { removed: name };
            output::report(args.accounts.json, &removed, |Removed { removed }| {
                format!("removed {removed} with all that it stored")
            })
        }
        AccountCommand::List(args) => {
            let accounts = records(args)?.accounts().map_err(refuse)?;
            output::report(args.json, &Listed { accounts }, |Listed { accounts }| {
                let line = |account: &Account| {
                    format!("{}: {}, {}", account.name, bytes(account.bytes), jobs(account.jobs))
                };
                let lines: Vec<String> = accounts.iter().map(line).collect();
                if lines.is_empty() { "no accounts: sunzi account add".to_owned() } else { lines.join("\n") }
            })
        }
    }
}

/// Prints a token. Standard output has it alone, so that it can go to a file.
fn give(args: &OneAccountArgs, token: Token, name: &Name) -> Result<(), CliError> {
    let given = Given { account: name.clone(), token: token.reveal() };
    output::report(args.accounts.json, &given, |given| given.token.clone())?;
    if !args.accounts.json {
        output::remark(&format!(
            "this is the token of {name}, shown this once: give it to its owner, for sunzi remote login"
        ));
    }
    Ok(())
}

fn absent(name: &Name) -> CliError {
    CliError::input(format!("there is no account {name}: sunzi account list shows all"))
}

fn jobs(count: u64) -> String {
    counted(usize::try_from(count).unwrap_or(usize::MAX), "job", "jobs")
}
