//! `sunzi party join`: an identity and a folder for one party, and its card for all others.

use std::fs;

use serde::Serialize;
use sunzi::parties::Identity;
use sunzi::rlwe::randomness;

use super::agreement::{Agreement, Terms};
use super::cards;
use super::home::{self, Home, IDENTITY};
use crate::args::party::JoinArgs;
use crate::error::{CliError, quoted};
use crate::fingerprint::{OF_PARTIES, expect};
use crate::output;

/// Report of `sunzi party join`.
#[derive(Serialize)]
struct Joined {
    name: String,
    home: String,
    card: String,
    address: Option<String>,
    #[serde(flatten)]
    terms: Terms,
}

/// Opens the home of this party in the session of before, which all parties of that have to give.
fn before(agreement: &Agreement, args: &JoinArgs) -> Result<Option<Home>, CliError> {
    let name = quoted(&args.name);
    let was_there = agreement.before.as_ref().filter(|before| before.parties.contains(&args.name));
    match (was_there, &args.from) {
        (Some(before), Some(folder)) => {
            Home::of_before(folder, &args.name, before).map(|(home, _)| Some(home))
        }
        (Some(_), None) => Err(CliError::input(format!(
            "{name} is a party of the session of before: give its home there by --from; who lost it joins under another name, in a session that is created for that"
        ))),
        (None, Some(_)) => Err(CliError::input(format!(
            "--from: {name} is no party of a session that this one follows: join without it"
        ))),
        (None, None) => Ok(None),
    }
}

/// Joins a session under a name that nobody has taken.
pub(super) fn join(args: &JoinArgs) -> Result<(), CliError> {
    let agreement = Agreement::load(&args.session)?;
    let fingerprint = agreement.fingerprint.to_string();
    expect(args.expect.as_deref(), &fingerprint, "the agreement", OF_PARTIES)?;
    let roster = &agreement.everyone;
    let me = roster.named(&args.name).map_err(|_| {
        let names: Vec<&str> = roster.parties().map(|party| roster.name(party)).collect();
        let (name, names) = (quoted(&args.name), names.join(", "));
        CliError::input(format!("the session has no party {name}: its parties are {names}"))
    })?;
    home::check_new(&args.home)?;
    if let Some(card) = cards::of_session(&args.session, roster, me)? {
        return Err(cards::taken(&args.name, &card));
    }
    let old = before(&agreement, args)?;
    let places = (&*args.session, args.from.as_deref());
    let card = Home::create(&args.home, places, (&agreement, me), |folder| {
        let identity = match &old {
            Some(old) => old.identity()?,
            None => {
                let mut rng = randomness::from_os().map_err(CliError::failure)?;
                Identity::generate(&args.name, &mut rng).map_err(super::refuse)?
            }
        };
        let card = identity.card(args.listen.as_deref()).map_err(super::refuse)?;
        identity.save(folder.join(IDENTITY)).map_err(super::refuse)?;
        let known = folder.join(home::CARDS);
        cards::keep(&known, me, &card)?;
        old.as_ref().map_or(Ok(()), |old| old.hand_cards_on(roster, (me, &known)))?;
        Ok(card)
    })?;
    if let Err(error) = cards::publish(&args.session, roster, me, &card) {
        // Nobody knows this identity: joining may be tried again.
        let _ = fs::remove_dir_all(&args.home);
        return Err(error);
    }
    let joined = Joined {
        name: args.name.clone(),
        home: args.home.display().to_string(),
        card: card.fingerprint(),
        address: args.listen.clone(),
        terms: agreement.terms(),
    };
    output::report(args.output.json, &joined, |joined| {
        format!(
            "{}card         {}  {}, whose folder is {}\n\
             next         read both fingerprints to the other parties, then: sunzi party keygen --home {3}\n",
            joined.terms.text(),
            joined.card,
            crate::error::one_line(&joined.name),
            joined.home,
        )
    })
}
