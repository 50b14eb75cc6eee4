//! What keys a session generates, and for whom.

use std::collections::BTreeMap;
use std::sync::Arc;

use rand_core::CryptoRng;
use sunzi_rlwe::wire::{self, Fields};
use sunzi_rlwe::{RlweContext, randomness};

use crate::{Message, PartiesError, Roster, Session, lengths};

/// The keys of a session besides the public key: all parties must plan the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyPlan {
    relinearization: Option<usize>,
    galois: BTreeMap<u64, usize>,
}

impl KeyPlan {
    /// Plans a relinearisation key up to a level, if any, and Galois keys, each an exponent and the level up to which it serves; the identity takes none, and of an exponent listed
    /// twice the higher level counts.
    ///
    /// # Errors
    /// [`PartiesError::Setting`] for a level that is not there, and for an exponent that is no automorphism of the ring.
    pub fn new(
        context: &RlweContext,
        relinearization: Option<usize>,
        galois: impl IntoIterator<Item = (u64, usize)>,
    ) -> Result<Self, PartiesError> {
        let (highest, index) = (context.level(), context.ring().ring_index());
        let check = |level: usize| {
            let range = 1..=highest;
            let error = || PartiesError::setting("the level of a key", format!("{range:?}"), level);
            if range.contains(&level) { Ok(()) } else { Err(error()) }
        };
        relinearization.map_or(Ok(()), check)?;
        let mut levels: BTreeMap<u64, usize> = BTreeMap::new();
        for (exponent, level) in galois.into_iter().filter(|&(exponent, _)| exponent != 1) {
            check(level)?;
            if exponent >= index.value() || !index.is_automorphism(exponent) {
                let expected = format!("exponents of automorphisms, below {}", index.value());
                return Err(PartiesError::setting("the exponent of a Galois key", expected, exponent));
            }
            let highest = levels.entry(exponent).or_default();
            *highest = level.max(*highest);
        }
        Ok(Self { relinearization, galois: levels })
    }

    /// The level up to which the relinearisation key serves; `None` for no such key.
    #[must_use]
    pub fn relinearization(&self) -> Option<usize> {
        self.relinearization
    }

    /// The exponents of Galois keys, ascending, each with the level up to which its key serves.
    pub fn galois(&self) -> impl ExactSizeIterator<Item = (u64, usize)> + '_ {
        self.galois.iter().map(|(&exponent, &level)| (exponent, level))
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut fields = Fields::default();
        fields.option(self.relinearization.map(|level| level as u64));
        fields.usize(self.galois.len());
        for (exponent, level) in self.galois() {
            fields.u64(exponent);
            fields.usize(level);
        }
        fields.into_bytes()
    }
}

/// All that parties agree on before they generate keys.
#[derive(Clone)]
pub struct KeySetup {
    pub(super) context: RlweContext,
    pub(super) plan: Arc<KeyPlan>,
    pub(super) session: Session,
}

impl KeySetup {
    /// Draws the number that tells sessions of equal terms apart, for whoever calls the parties together.
    #[must_use]
    pub fn nonce(rng: &mut dyn CryptoRng) -> [u8; 32] {
        randomness::public_seed(rng)
    }

    /// Makes the setup of a session. `nonce` tells sessions of equal terms apart: whoever calls the parties together draws it.
    ///
    /// # Errors
    /// [`PartiesError::Setting`] unless the context is one for joint secrets of the parties of the roster.
    pub fn new(
        context: RlweContext,
        roster: Roster,
        plan: KeyPlan,
        nonce: [u8; 32],
    ) -> Result<Self, PartiesError> {
        let terms = [&nonce[..], &plan.to_bytes()].concat();
        let session = Session::new(&context, Arc::new(roster), "key generation", &terms)?;
        Ok(Self { context, plan: Arc::new(plan), session })
    }

    /// A number of bytes that no message of the session has more of, for transports: at most twice that of the longest.
    ///
    /// # Errors
    /// [`PartiesError::Wire`] never: nothing is written.
    pub fn longest_message(&self) -> Result<u64, PartiesError> {
        let public = lengths::polynomial(self.context.key_ring())?;
        // A first share of a relinearisation key has two polynomials where a key has one, and every other share has no more than its key.
        let levels = self.plan.galois().map(|(_, level)| level);
        let keys = wire::evaluation_keys_len(self.context.gadget(), levels)?;
        Ok(Message::bytes(public.saturating_add(keys.saturating_mul(2))))
    }

    /// The session of the setup.
    #[must_use]
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// The parties of the setup.
    #[must_use]
    pub fn roster(&self) -> &Roster {
        self.session.roster()
    }

    /// The keys of the setup.
    #[must_use]
    pub fn plan(&self) -> &KeyPlan {
        &self.plan
    }

    /// The context of the keys.
    #[must_use]
    pub fn context(&self) -> &RlweContext {
        &self.context
    }
}
