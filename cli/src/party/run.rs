//! One run of the protocols of a party: its home, with whom it speaks, and where its records are.

use sunzi::parties::{Contacts, PartiesError, Party};
use sunzi::rlwe::wire::WireError;

use super::fingerprint::Fingerprint;
use super::home::Home;
use super::link::Speaker;
use crate::error::CliError;
use crate::progress::Progress;

/// Folder of records of the six rounds.
pub(super) const ROUNDS: &str = "records-keys";
/// Folder of records of the dealing of a threshold.
pub(super) const DEALING: &str = "records-dealing";
/// One run of the protocols of this party.
pub(super) struct Run<'a> {
    pub(super) home: &'a Home,
    pub(super) speaker: Speaker<'a>,
    pub(super) progress: &'a Progress,
    pub(super) quiet: bool,
}

impl Run<'_> {
    /// Returns the command-line error for an error of a protocol; one of records names the folder of this party.
    pub(super) fn refuse(&self, error: PartiesError) -> CliError {
        let is_own = matches!(error, PartiesError::Wire(_));
        let refused = super::refuse(error);
        if is_own { refused.in_place(&self.home.place()) } else { refused }
    }

    pub(super) fn members(&self) -> Vec<Party> {
        self.home.agreement.everyone.parties().collect()
    }

    pub(super) fn in_records(&self, records: &str, error: WireError) -> CliError {
        crate::files::refuse(&self.home.path(records), error)
    }
}

/// Returns the hash of the agreement and the cards of all parties.
pub(super) fn number(home: &Home, contacts: &Contacts) -> [u8; 32] {
    let agreement = &home.agreement;
    let cards = agreement.everyone.parties().filter_map(|party| contacts.card(party));
    let cards: Vec<String> = cards.map(|card| card.fingerprint()).collect();
    let parts = [&agreement.fingerprint.0[..]].into_iter().chain(cards.iter().map(String::as_bytes));
    Fingerprint::of("sunzi session of parties", parts).0
}
