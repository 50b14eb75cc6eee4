//! `sunzi party create` and `sunzi party show`: what parties agree on, in a folder for all of them.

use std::fs;
use std::path::Path;

use serde::Serialize;
use sunzi::parties::{Party, Roster};
use sunzi::program::Contexts;
use sunzi::rlwe::wire::WireError;
use sunzi::rlwe::{SharingPolicy, randomness};

use super::agreement::{AGREEMENT, Agreement, Terms};
use super::before::Before;
use super::cards::{self, CARDS};
use super::home::{Home, write_text};
use super::keys;
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
    let number = randomness::public_seed(&mut randomness::from_os().map_err(CliError::failure)?);
    let agreement = match (&args.from, &args.plan, args.share) {
        (Some(from), _, _) => {
            let old = Home::open_alone(from)?;
            let agreement = following(&old, args, (&roster, number))?;
            write(session, &agreement, |made| keys::copy(&old, made))?;
            agreement
        }
        (None, Some(plan), Some(share)) => {
            let policy = SharingPolicy::new(args.statistical_bits, share).map_err(CliError::input)?;
            let agreement = Agreement::new(program::read_plan(plan)?, &roster, policy, number, None)?;
            agreement.check_room()?;
            write(session, &agreement, |_| Ok(()))?;
            agreement
        }
        _ => return Err(CliError::input("give --plan and --share, or --from")),
    };
    let made = Made { session: session.display().to_string(), terms: agreement.terms() };
    output::report(args.output.json, &made, |made| {
        let next =
            "each party: sunzi party join, and compares the fingerprint of the agreement with all others";
        format!("session      {}\n{}next         {next}\n", made.session, made.terms.text())
    })
}

/// Makes the agreement of parties to whom the key of an earlier session is handed on.
fn following(
    old: &Home,
    args: &CreateArgs,
    (roster, number): (&Roster, [u8; 32]),
) -> Result<Agreement, CliError> {
    old.check_kept()?;
    let from = match &old.agreement.before {
        None => old.agreement.roster.clone(),
        Some(_) => old.roster(&old.agreement.contexts()?, &old.known_cards()?)?,
    };
    let used = old.ledger()?.ledger().used();
    let opened = args.opened.unwrap_or(used);
    if opened < used {
        return Err(CliError::input(format!("--opened {opened}: this party opened {used} itself")));
    }
    let named = |party: &Party| from.name(*party).to_owned();
    let (staying, leaving): (Vec<Party>, Vec<Party>) =
        from.parties().partition(|party| roster.named(from.name(*party)).is_ok());
    let dealers = match &args.dealers[..] {
        [] => staying.iter().chain(&leaving).take(from.threshold()).map(named).collect(),
        named => named.to_vec(),
    };
    let before = Before::new((old.agreement.fingerprint.digits(), &from), dealers, old.hashes()?, opened);
    let Agreement { plan, policy, .. } = &old.agreement;
    Agreement::new(plan.clone(), roster, *policy, number, Some(before))
}

/// Writes the folder of a session; `fill` writes what else belongs there.
fn write(
    session: &Path,
    agreement: &Agreement,
    fill: impl FnOnce(&Path) -> Result<(), CliError>,
) -> Result<(), CliError> {
    whole(session, Entry::Usual, |made| {
        write_text(&made.join(AGREEMENT), agreement.text())?;
        let mut folders = [CARDS, MESSAGES].iter();
        let make = |own: &&str| fs::create_dir(made.join(own));
        folders.try_for_each(make).map_err(|error| refuse(session, WireError::Io(error)))?;
        fill(made)
    })
}

/// Says what the parties of a session agree on, and who has joined.
pub(super) fn show(args: &ShowArgs) -> Result<(), CliError> {
    let agreement = Agreement::load(&args.session)?;
    let mut joined = Vec::new();
    for party in agreement.everyone.parties() {
        let Some(card) = cards::of_session(&args.session, &agreement.everyone, party)? else { continue };
        let name = agreement.everyone.name(party).to_owned();
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
