//! `sunzi party status`: what one party has.

use std::fmt::Write as _;

use serde::Serialize;
use sunzi::rlwe::LedgerFile;

use super::agreement::Terms;
use super::cards::Known;
use super::home::{Home, LEDGER};
use crate::args::party::StatusArgs;
use crate::error::{CliError, one_lines};
use crate::files::{named, refuse};
use crate::output;

/// Report of `sunzi party status`.
#[derive(Serialize)]
struct Status {
    name: String,
    session: String,
    /// Fingerprint of the cards of all parties, once all are there.
    cards: Option<String>,
    /// Parties that have not joined.
    missing: Vec<String>,
    /// Name of the joint key, once it is made.
    key: Option<String>,
    /// Number of ciphertexts that this party opened.
    used: Option<u64>,
    #[serde(flatten)]
    terms: Terms,
}

/// Says what a party has.
pub(super) fn run(args: &StatusArgs) -> Result<(), CliError> {
    let home = Home::look(&args.home)?;
    let (cards, missing) = match home.cards()? {
        Known::All(contacts, _) => (Some(contacts.fingerprint()), Vec::new()),
        Known::Missing(names) => (None, names),
    };
    let key = home.joint_key()?;
    let status = Status {
        name: home.name().to_owned(),
        session: home.session().display().to_string(),
        cards,
        missing,
        used: key.as_ref().map(|_| used(&home)).transpose()?.flatten(),
        key,
        terms: home.agreement.terms(),
    };
    output::report(args.output.json, &status, |status| one_lines(&text(&home, status)))
}

/// Returns how many ciphertexts a party has opened; `None` before it has a share of a key.
fn used(home: &Home) -> Result<Option<u64>, CliError> {
    let file = home.path(LEDGER);
    if !file.exists() && !home.has_holding() {
        return Ok(None);
    }
    let ledger = LedgerFile::peek(&file).map_err(|error| refuse(&file, error))?;
    Ok(ledger.map(|ledger| ledger.used()))
}

fn text(home: &Home, status: &Status) -> String {
    let mut text = format!("party        {}\nsession      {}\n", status.name, named(home.session()));
    text.push_str(&status.terms.text());
    let lines = [
        ("all cards", status.cards.clone()),
        ("not joined", (!status.missing.is_empty()).then(|| status.missing.join(", "))),
        ("key", status.key.clone()),
        (
            "opened",
            status.used.map(|used| format!("{used} of {} ciphertexts", home.agreement.policy.queries())),
        ),
    ];
    for (name, value) in lines {
        let _ = value.map_or(Ok(()), |value| writeln!(text, "{name:<12} {value}"));
    }
    text
}
