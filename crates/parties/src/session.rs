//! Sessions: runs of protocols, each named by a hash of all that its parties agreed on before.

use std::sync::Arc;

use sunzi_rlwe::RlweContext;
use sunzi_rlwe::wire::Fingerprint;

use crate::digest::{Digest, digest, hex};
use crate::{PartiesError, Roster};

/// A session: one run of a protocol. Its name is a hash of parameters, security, roster, purpose and terms: parties who agreed on something else are in another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    id: Digest,
    roster: Arc<Roster>,
    parameters: Fingerprint,
}

impl Session {
    /// Makes the session of a purpose and its terms.
    ///
    /// # Errors
    /// [`PartiesError::Setting`] unless the context is one for joint secrets of the parties of the roster, or of those who handed theirs on to them.
    pub(crate) fn new(
        context: &RlweContext,
        roster: Arc<Roster>,
        purpose: &str,
        terms: &[u8],
    ) -> Result<Self, PartiesError> {
        let parties = context.parties() as usize;
        if parties != roster.len() && roster.origin().is_none() {
            return Err(PartiesError::setting("the parties of the parameters", roster.len(), parties));
        }
        Ok(Self::of(context, roster, purpose, terms))
    }

    /// Makes the session of parties among whom there may be others than those of the context.
    pub(crate) fn of(context: &RlweContext, roster: Arc<Roster>, purpose: &str, terms: &[u8]) -> Self {
        let ring = context.ring_bytes();
        let security = context.security().bits().to_le_bytes();
        let parts = [&ring, &security[..], &roster.digest(), purpose.as_bytes(), terms];
        Self { id: digest("sunzi session", parts), roster, parameters: context.fingerprint() }
    }

    /// The hash that names the session.
    #[must_use]
    pub fn id(&self) -> &[u8; 32] {
        &self.id
    }

    /// The name of the session in hexadecimal digits.
    #[must_use]
    pub fn name(&self) -> String {
        hex(&self.id)
    }

    /// The parties of the session.
    #[must_use]
    pub fn roster(&self) -> &Roster {
        &self.roster
    }

    /// The fingerprint of the parameters, which every message has.
    #[must_use]
    pub fn parameters(&self) -> Fingerprint {
        self.parameters
    }
}
