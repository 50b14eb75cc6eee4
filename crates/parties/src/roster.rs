//! Rosters: the parties of a session, by name and number.

use std::fmt;

use sunzi_rlwe::SecretDistribution;

use crate::PartiesError;
use crate::digest::{Digest, digest};

/// Largest number of bytes of the name of a party.
const MOST_NAME: usize = 64;
/// Least number of parties of a roster.
const FEWEST: usize = 2;

/// A party of a roster, by its number from 1 on. [`Roster::party`] makes one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Party(u32);

impl Party {
    /// The number of a party, from 1 on.
    #[must_use]
    pub fn number(self) -> u32 {
        self.0
    }
}

impl fmt::Display for Party {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// A roster: the parties of a session in their order, and how many of them decrypt.
///
/// ```
/// use sunzi_parties::Roster;
///
/// let roster = Roster::new(["north", "south", "west"])?;
/// let south = roster.named("south")?;
/// assert_eq!((south.number(), roster.name(south)), (2, "south"));
/// assert_eq!((roster.len(), roster.threshold()), (3, 3));
/// assert!(Roster::new(["north", "north"]).is_err());
/// # Ok::<(), sunzi_parties::PartiesError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roster {
    names: Vec<String>,
    threshold: usize,
    /// Session in which the joint secret was handed on to these parties, if it was.
    origin: Option<Digest>,
}

impl Roster {
    /// Makes a roster of parties in the given order, all of whom decrypt.
    ///
    /// # Errors
    /// [`PartiesError::Setting`] unless there are 2 to 1024 parties of different names of 1 to 64 bytes, without control characters and without spaces at their ends.
    pub fn new<N: Into<String>>(names: impl IntoIterator<Item = N>) -> Result<Self, PartiesError> {
        let most = SecretDistribution::MOST_PARTIES as usize;
        let mut kept: Vec<String> = Vec::new();
        for name in names.into_iter().map(Into::into) {
            check_name(&name)?;
            if kept.contains(&name) {
                return Err(PartiesError::setting("names of parties", "different ones", name));
            }
            if kept.len() == most {
                return Err(PartiesError::setting(
                    "the number of parties",
                    format!("at most {most}"),
                    "more",
                ));
            }
            kept.push(name);
        }
        if kept.len() < FEWEST {
            let expected = format!("{FEWEST} to {most}");
            return Err(PartiesError::setting("the number of parties", expected, kept.len()));
        }
        Ok(Self { threshold: kept.len(), names: kept, origin: None })
    }

    /// Returns the roster with the number of parties that decrypt.
    ///
    /// # Errors
    /// [`PartiesError::Setting`] unless the threshold is from 2 to the number of parties.
    pub fn with_threshold(self, threshold: usize) -> Result<Self, PartiesError> {
        if (FEWEST..=self.len()).contains(&threshold) {
            return Ok(Self { threshold, ..self });
        }
        let expected = format!("{FEWEST} to {}", self.len());
        Err(PartiesError::setting("the number of parties that decrypt", expected, threshold))
    }

    /// Returns the roster of parties to whom a joint secret was handed on in the session of a name: programs that keep rosters keep that name beside them.
    #[must_use]
    pub fn handed_on(self, session: [u8; 32]) -> Self {
        Self { origin: Some(session), ..self }
    }

    /// The name of the session in which the joint secret was handed on to these parties, if it was.
    #[must_use]
    pub fn origin(&self) -> Option<&[u8; 32]> {
        self.origin.as_ref()
    }

    /// Whether the parties decrypt by shares of a threshold, and not each by its own secret.
    #[must_use]
    pub fn has_shares(&self) -> bool {
        self.origin.is_some() || self.threshold < self.names.len()
    }

    /// The number of parties.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "no roster is empty")]
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// The number of parties that decrypt.
    #[must_use]
    pub fn threshold(&self) -> usize {
        self.threshold
    }

    /// Returns how many parties decrypt, and how many there are.
    pub(crate) fn counts(&self) -> [u32; 2] {
        [self.threshold, self.names.len()].map(|count| u32::try_from(count).unwrap_or(u32::MAX))
    }

    /// All parties, by ascending number.
    pub fn parties(&self) -> impl Iterator<Item = Party> + '_ {
        (1..).zip(&self.names).map(|(number, _)| Party(number))
    }

    /// The names of all parties, by ascending number.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// Returns the party with a number.
    ///
    /// # Errors
    /// [`PartiesError::Setting`] for a number that no party has.
    pub fn party(&self, number: u64) -> Result<Party, PartiesError> {
        match u32::try_from(number) {
            Ok(small) if (1..=self.len()).contains(&(small as usize)) => Ok(Party(small)),
            _ => Err(PartiesError::setting("the number of a party", format!("1 to {}", self.len()), number)),
        }
    }

    /// Returns the party with a name.
    ///
    /// # Errors
    /// [`PartiesError::Setting`] for a name that no party has.
    pub fn named(&self, name: &str) -> Result<Party, PartiesError> {
        let found = (1..).zip(&self.names).find(|(_, own)| *own == name);
        found
            .map(|(number, _)| Party(number))
            .ok_or_else(|| PartiesError::setting("the name of a party", self.names.join(", "), name))
    }

    /// The name of a party; "nobody" for a party of a longer roster.
    #[must_use]
    pub fn name(&self, party: Party) -> &str {
        let at = (party.0 as usize).checked_sub(1);
        at.and_then(|at| self.names.get(at)).map_or("nobody", String::as_str)
    }

    /// Whether a party is on the roster.
    pub(crate) fn has(&self, party: Party) -> bool {
        self.party(party.0.into()).is_ok()
    }

    /// Returns the hash of the roster.
    pub(crate) fn digest(&self) -> Digest {
        let threshold = (self.threshold as u64).to_le_bytes();
        let names = self.names.iter().map(String::as_bytes);
        let roster = digest("sunzi roster", [&threshold[..]].into_iter().chain(names));
        match &self.origin {
            Some(origin) => digest("sunzi roster of a secret that was handed on", [&roster[..], origin]),
            None => roster,
        }
    }
}

/// Fails for a name that no party may have.
pub(crate) fn check_name(name: &str) -> Result<(), PartiesError> {
    if (1..=MOST_NAME).contains(&name.len()) && name.trim() == name && !name.chars().any(char::is_control) {
        return Ok(());
    }
    let expected = format!("1 to {MOST_NAME} bytes of text");
    Err(PartiesError::setting("the name of a party", expected, format!("{name:?}")))
}
