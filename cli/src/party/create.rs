//! `sunzi party create` and `sunzi party show`: what parties agree on, in a folder for all of them.

use std::fs;
use std::path::Path;

use serde::Serialize;
use sunzi::parties::Roster;
use sunzi::program::Contexts;
use sunzi::rlwe::wire::WireError;
use sunzi::rlwe::{SharingPolicy, randomness};

use super::agreement::{AGREEMENT, Agreement, Terms};
use super::cards::{self, CARDS};
use super::home::write_text;
use super::link::MESSAGES;
use crate::args::party::{CreateArgs, ShowArgs};
use crate::error::CliError;
use crate::files::folder::{Entry, whole};
use crate::files::{check_parent, named, refuse};
use crate::{files, output, program};

/// Report of `sunzi party create`.
#[derive(Serialize)]
struct Made {
    session: String,
    #[serde(flatten)]
    terms: Terms,
}

/// Report of `sunzi party show`.
#[derive(Serialize)]
struct Shown {
    #[serde(flatten)]
    terms: Terms,
    joined: Vec<Joined>,
}

/// A party whose card is in the session.
#[derive(Serialize)]
struct Joined {
    name: String,
    card: String,
    address: Option<String>,
}

/// Makes the folder of a session: all of it, or nothing.
pub(super) fn create(args: &CreateArgs) -> Result<(), CliError> {
    let session = &args.session;
    if fs::symlink_metadata(session).is_ok() {
        let name = named(session);
        return Err(CliError::input(format!(
            "{name} is there already: choose another folder for a new session"
        )));
    }
    check_parent(session)?;
    let roster = Roster::new(args.parties.iter().cloned()).map_err(super::refuse)?;
    let threshold = args.threshold.unwrap_or(roster.len());
    let roster = roster.with_threshold(threshold).map_err(super::refuse)?;
    let policy = SharingPolicy::new(args.statistical_bits, args.share).map_err(CliError::input)?;
    let plan = program::read_plan(&args.plan)?;
    let number = randomness::public_seed(&mut randomness::from_os().map_err(CliError::failure)?);
    let agreement = Agreement::new(plan, &roster, policy, number)?;
    agreement.check_room()?;
    write(session, &agreement)?;
    let made = Made { session: session.display().to_string(), terms: agreement.terms() };
    output::report(args.output.json, &made, |made| {
        let next =
            "each party: sunzi party join, and compares the fingerprint of the agreement with all others";
        format!("session      {}\n{}next         {next}\n", made.session, made.terms.text())
    })
}

fn write(session: &Path, agreement: &Agreement) -> Result<(), CliError> {
    whole(session, Entry::Usual, |made| {
        write_text(&made.join(AGREEMENT), agreement.text())?;
        let mut folders = [CARDS, MESSAGES].iter();
        let make = |own: &&str| fs::create_dir(made.join(own));
        folders.try_for_each(make).map_err(|error| refuse(session, WireError::Io(error)))
    })
}

/// Says what the parties of a session agree on, and who has joined.
pub(super) fn show(args: &ShowArgs) -> Result<(), CliError> {
    let agreement = Agreement::load(&args.session)?;
    let mut joined = Vec::new();
    for party in agreement.roster.parties() {
        let Some(card) = cards::of_session(&args.session, &agreement.roster, party)? else { continue };
        let name = agreement.roster.name(party).to_owned();
        let address = card.address().map(str::to_owned);
        joined.push(Joined { name, card: card.fingerprint(), address });
    }
    let shown = Shown { terms: agreement.terms(), joined };
    output::report(args.output.json, &shown, |shown| {
        let mut text = shown.terms.text();
        for Joined { name, card, address } in &shown.joined {
            let address = address.as_ref().map_or(String::new(), |address| format!("  at {address}"));
            text.push_str(&crate::error::one_line(&format!("joined       {card}  {name}{address}")));
            text.push('\n');
        }
        text
    })
}

impl Agreement {
    /// Makes the contexts of the parameters that are agreed on.
    pub(super) fn contexts(&self) -> Result<Contexts, CliError> {
        files::tell_tables(self.plan.parameters.table_bytes());
        Contexts::new(&self.plan.parameters).map_err(program::refuse)
    }

    /// Fails unless the parameters have room for the noise that hides what is opened.
    fn check_room(&self) -> Result<(), CliError> {
        super::opening::check_room(self)
    }
}
