//! Setup of a dealing of the secrets of all parties.

use std::sync::Arc;

use rand_core::CryptoRng;
use sunzi_rlwe::joint::Reference;
use sunzi_rlwe::{KeyId, RlweContext, SecretKey};

use super::{Dealing, Terms};
use crate::journal::Store;
use crate::{Message, PartiesError, Party, Roster, Session};

/// All that parties agree on before they deal: parameters, roster with its threshold, the name of the joint secret, and a number for the session.
#[derive(Clone)]
pub struct DealingSetup(Terms);

impl DealingSetup {
    /// Makes the setup of a session that deals the joint secret of a name by the threshold of the roster.
    ///
    /// # Errors
    /// [`PartiesError::Setting`] unless the context is one for joint secrets of the parties of the roster, and where all of them decrypt.
    pub fn new(
        context: RlweContext,
        roster: Roster,
        key: KeyId,
        nonce: [u8; 32],
    ) -> Result<Self, PartiesError> {
        if !roster.has_shares() {
            let expected = format!("at most {}", roster.len() - 1);
            return Err(PartiesError::setting("the number of parties that decrypt", expected, roster.len()));
        }
        let terms = [&nonce[..], key.as_bytes()].concat();
        let receivers = Arc::new(roster);
        let dealers = receivers.parties().collect();
        let session = Session::new(&context, Arc::clone(&receivers), "dealing", &terms)?;
        Ok(Self(Terms { context, session, key, dealers, receivers }))
    }

    /// The session of the setup.
    #[must_use]
    pub fn session(&self) -> &Session {
        &self.0.session
    }

    /// The largest number of bytes of a message of the session, for transports.
    ///
    /// # Errors
    /// [`PartiesError::Rlwe`] for a ring that stores nothing.
    pub fn longest_message(&self) -> Result<u64, PartiesError> {
        self.0.longest_content().map(Message::bytes)
    }

    /// Deals the secret of a party, or goes on with the records that the party kept.
    ///
    /// # Errors
    /// [`PartiesError::Setting`] for a secret that is not the party's of the joint one; [`PartiesError::Aborted`] for a session that was given up; [`PartiesError::Journal`] for records of another
    /// session or party; [`PartiesError::Wire`] where records cannot be written.
    pub fn begin<S: Store>(
        &self,
        me: Party,
        secret: &SecretKey,
        store: S,
        rng: &mut dyn CryptoRng,
    ) -> Result<Dealing<S>, PartiesError> {
        self.0.session.roster().party(me.number().into())?;
        let expected = Reference::share_id(self.0.key, me.number());
        if secret.id() != expected {
            return Err(PartiesError::setting("the secret of this party", expected, secret.id()));
        }
        self.0.begin(me, Some(secret), store, rng)
    }
}
