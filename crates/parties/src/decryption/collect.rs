//! Collection of the answers to a request.

use std::sync::Arc;

use sunzi_rlwe::RlweContext;
use sunzi_rlwe::joint::DecryptionShare;
use sunzi_rlwe::wire::{self, WireError};

use super::Request;
use crate::lengths;
use crate::{Answers, PartiesError, Roster, Step};

/// Collection of the answers to the request of a decryption.
pub type Collector = Answers<DecryptionShare>;

impl Answers<DecryptionShare> {
    /// Makes the empty collection of answers to the request of a decryption.
    ///
    /// # Errors
    /// [`PartiesError::Setting`] unless the context is one for joint secrets of the parties of the roster; [`PartiesError::Refused`] for parties that are not on it.
    pub fn new(context: RlweContext, roster: &Arc<Roster>, request: &Request) -> Result<Self, PartiesError> {
        let (session, level) = (request.session(&context, roster)?, request.level());
        let most = lengths::polynomial(&context.ring_at(level)?)?;
        let members = request.members(roster)?;
        Ok(Self::of((context, session), Step::Answer, members, (level, most), read))
    }
}

fn read(context: &RlweContext, level: usize, content: &[u8]) -> Result<DecryptionShare, WireError> {
    let share: DecryptionShare = wire::from_bytes(context, content)?;
    let got = share.level(context)?;
    if got == level { Ok(share) } else { Err(WireError::value("level of a share", level, got)) }
}
