//! The session from which a joint secret was handed on, as an agreement names it.

use serde::{Deserialize, Serialize};
use sunzi::parties::{Party, Roster};
use sunzi::rlwe::KeyId;
use sunzi::rlwe::words::counted;

use super::fingerprint::{Fingerprint, of_digits};
use super::hashes::Hashes;

/// The session of before: its parties, those of them that deal, and the keys, which stay.
#[derive(Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Before {
    /// All digits of the fingerprint of the agreement of before.
    pub(super) agreement: String,
    pub(super) parties: Vec<String>,
    threshold: usize,
    /// All digits of the session in which the secret came to the parties of before, if it was handed on to them.
    origin: Option<String>,
    pub(super) dealers: Vec<String>,
    pub(super) keys: Hashes,
    /// Number of ciphertexts that any party had opened under the key.
    pub(super) opened: u64,
}

impl Before {
    /// Makes the entry for a roster of before, whose parties of the given names deal.
    pub(super) fn new(
        (agreement, roster): (String, &Roster),
        dealers: Vec<String>,
        keys: Hashes,
        opened: u64,
    ) -> Self {
        Self {
            agreement,
            parties: roster.names().map(str::to_owned).collect(),
            threshold: roster.threshold(),
            origin: roster.origin().map(|session| Fingerprint(*session).digits()),
            dealers,
            keys,
            opened,
        }
    }

    /// Returns the roster of before.
    pub(super) fn roster(&self) -> Result<Roster, String> {
        let roster = Roster::new(self.parties.iter().cloned());
        let roster = roster.and_then(|roster| roster.with_threshold(self.threshold));
        let roster = roster.map_err(|error| error.to_string())?;
        match &self.origin {
            None => Ok(roster),
            Some(origin) => {
                let session = of_digits(origin).ok_or("a session of before has not 64 hexadecimal digits")?;
                Ok(roster.handed_on(session))
            }
        }
    }

    /// Returns the parties of the roster of before that deal, as many as opened a result.
    pub(super) fn dealing(&self, roster: &Roster) -> Result<Vec<Party>, String> {
        let mut dealing = Vec::new();
        for name in &self.dealers {
            let party = roster.named(name).map_err(|error| error.to_string())?;
            if dealing.contains(&party) {
                return Err(format!("it names {name:?} twice among those that hand the key on"));
            }
            dealing.push(party);
        }
        if dealing.len() == roster.threshold() {
            return Ok(dealing);
        }
        let [expected, got] =
            [roster.threshold(), dealing.len()].map(|count| counted(count, "party", "parties"));
        Err(format!("{expected} of {} hand the key on, and it names {got}", self.parties.join(", ")))
    }

    /// Returns the name of the joint key.
    pub(super) fn key(&self) -> Result<KeyId, String> {
        let key = of_digits(&self.keys.key).ok_or("its key has not 32 hexadecimal digits")?;
        Ok(KeyId::from_bytes(key))
    }

    /// Returns all parties of the session as [`HandingOnSetup`](sunzi::parties::dealing::HandingOnSetup) numbers them: those that get shares, and behind them those that deal and leave.
    pub(super) fn everyone(&self, roster: &Roster) -> Result<Roster, String> {
        let deals = |name: &&String| self.dealers.contains(name);
        let dealing = self.parties.iter().filter(deals).map(String::as_str);
        let leaving = dealing.filter(|name| roster.named(name).is_err());
        Roster::new(roster.names().chain(leaving)).map_err(|error| error.to_string())
    }

    /// Says why the parties of `roster`, for the parameters of so many, do not follow those of before.
    pub(super) fn check(&self, roster: &Roster, (planned, queries): (usize, u64)) -> Result<(), String> {
        let from = self.roster()?;
        if !from.has_shares() {
            return Err("all parties of before open results together, and a key is handed on by shares of a threshold alone: \
                        only sessions that were created with --threshold can be followed by others".to_owned());
        }
        self.dealing(&from)?;
        self.key()?;
        if self.origin.is_none() && planned != from.len() {
            return Err(format!("its plan is for {planned} parties, and those of before are {}", from.len()));
        }
        // Every share of a result adds noise, for which parameters have the room of all parties they were planned for.
        if roster.threshold() > planned {
            return Err(format!(
                "{} would open a result, and its parameters have room for the noise of at most {planned}: choose a smaller --threshold",
                roster.threshold()
            ));
        }
        if self.opened > queries {
            return Err(format!(
                "{} ciphertexts were opened, and the parties of before agreed on {queries}",
                self.opened
            ));
        }
        Ok(())
    }
}
