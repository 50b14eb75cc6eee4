//! Public cards: in the folder of the session, and as each party saw them first.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use sunzi::parties::{Card, Contacts, PartiesError, Party, Roster};
use sunzi::rlwe::wire::WireError;

use super::home::{self, Home};
use crate::error::{CliError, quoted};
use crate::files::{named, refuse};

/// Folder of the cards in a session.
pub(super) const CARDS: &str = "cards";

/// Path of the card of a party in a folder: names may have signs that no file may have.
fn path(folder: &Path, party: Party) -> PathBuf {
    folder.join(format!("{party}.json"))
}

/// Reads the card of a party in the folder of a session; `None` if it is not there yet.
pub(super) fn of_session(session: &Path, roster: &Roster, party: Party) -> Result<Option<Card>, CliError> {
    load(&path(&session.join(CARDS), party), roster, party)
}

/// Reads a card, which must be the party's; `None` if there is none.
fn load(file: &Path, roster: &Roster, party: Party) -> Result<Option<Card>, CliError> {
    match fs::symlink_metadata(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(refuse(file, WireError::Io(error))),
        // What a link leads to may be another file tomorrow.
        Ok(metadata) if metadata.is_symlink() => {
            let place = named(file);
            return Err(CliError::input(format!("{place} is a link: put the card itself there")));
        }
        Ok(_) => {}
    }
    let card = Card::load(file).map_err(|error| in_file(file, error))?;
    let name = roster.name(party);
    if card.name() == name {
        return Ok(Some(card));
    }
    Err(CliError::mismatch(format!(
        "{}: expected the card of {}, got that of {}: put the right one there",
        named(file),
        quoted(name),
        quoted(card.name())
    )))
}

/// Puts the own card into the session, where nobody's card may be in its place.
pub(super) fn publish(session: &Path, roster: &Roster, me: Party, card: &Card) -> Result<(), CliError> {
    match of_session(session, roster, me)? {
        Some(there) if there == *card => return Ok(()),
        Some(there) => return Err(taken(roster.name(me), &there)),
        None => {}
    }
    match keep(&session.join(CARDS), me, card) {
        Ok(()) => Ok(()),
        // Somebody else made the file in the meantime.
        Err(error) => match of_session(session, roster, me) {
            Ok(Some(there)) if there != *card => Err(taken(roster.name(me), &there)),
            _ => Err(error),
        },
    }
}

/// Writes the card of a party to a folder, where none of that party may be.
pub(super) fn keep(folder: &Path, party: Party, card: &Card) -> Result<(), CliError> {
    home::write_text(&path(folder, party), &card.to_json())
}

/// The error of a name under which somebody has joined.
pub(super) fn taken(name: &str, card: &Card) -> CliError {
    CliError::input(format!(
        "{} has joined already, with card {}: if that was not you, tell the other parties and create another session",
        quoted(name),
        card.fingerprint()
    ))
}

/// The cards of all parties of a session, as far as they are there.
pub(super) enum Known {
    /// Cards of all parties, and whether this party sees any of them for the first time.
    All(Contacts, bool),
    /// Names of parties that have not joined.
    Missing(Vec<String>),
}

impl Home {
    /// Compares the cards of the session with those that this party saw first.
    pub(super) fn cards(&self) -> Result<Known, CliError> {
        let roster = &self.agreement.everyone;
        let (mut cards, mut missing, mut news) = (Vec::new(), Vec::new(), false);
        for party in roster.parties() {
            let first = self.first_card(party)?;
            let now = of_session(self.session(), roster, party)?;
            news |= first.is_none();
            match (first, now) {
                (Some(first), Some(now)) if first.fingerprint() != now.fingerprint() => {
                    return Err(self.changed(&first, &now));
                }
                // Keys are those of the first card; an address may change. A card that was seen is known, wherever the session's folder is.
                (_, Some(card)) | (Some(card), None) => cards.push(card),
                (None, None) => missing.push(roster.name(party).to_owned()),
            }
        }
        if !missing.is_empty() {
            return Ok(Known::Missing(missing));
        }
        let contacts = Contacts::new(cards).map_err(super::refuse)?;
        Ok(Known::All(contacts, news))
    }

    fn first_card(&self, party: Party) -> Result<Option<Card>, CliError> {
        load(&path(&self.path(home::CARDS), party), &self.agreement.everyone, party)
    }

    /// Keeps the cards that this party saw first.
    pub(super) fn keep_cards(&self, contacts: &Contacts) -> Result<(), CliError> {
        for party in self.agreement.everyone.parties() {
            let folder = self.path(home::CARDS);
            let known = path(&folder, party).exists();
            if let Some(card) = contacts.card(party).filter(|_| !known) {
                keep(&folder, party, card)?;
            }
        }
        Ok(())
    }

    /// Keeps the cards of other parties that this one knows for the session that follows, in the folder of a home in the making.
    pub(super) fn hand_cards_on(&self, next: &Roster, (me, folder): (Party, &Path)) -> Result<(), CliError> {
        for party in next.parties().filter(|party| *party != me) {
            let Ok(known) = self.agreement.everyone.named(next.name(party)) else { continue };
            if let Some(card) = self.first_card(known)? {
                keep(folder, party, &card)?;
            }
        }
        Ok(())
    }

    fn changed(&self, first: &Card, now: &Card) -> CliError {
        CliError::mismatch(format!(
            "the card of {} in {} is {}, and was {} when this party saw it first: somebody changed it; ask {0} for its fingerprint, and go on only with the first card",
            quoted(first.name()),
            named(self.session()),
            now.fingerprint(),
            first.fingerprint()
        ))
    }

    /// Puts the own card into the session, if it is not there.
    pub(super) fn announce(&self) -> Result<(), CliError> {
        let roster = &self.agreement.everyone;
        match (self.first_card(self.me)?, of_session(self.session(), roster, self.me)?) {
            (Some(card), None) => publish(self.session(), roster, self.me, &card),
            _ => Ok(()),
        }
    }
}

/// The error of a file of a card or an identity.
pub(super) fn in_file(file: &Path, error: PartiesError) -> CliError {
    match error {
        PartiesError::Wire(error) => refuse(file, error),
        other => {
            let place = named(file);
            super::refuse(other).in_place(&place)
        }
    }
}
