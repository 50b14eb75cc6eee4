//! The noise of re-encryptions: what is hidden, and what hides it.

use std::fmt;

use serde::{Deserialize, Serialize};
use sunzi_ring::Expansion;

use crate::sharing::Flooding;
use crate::{DeclaredNoise, Log2, NoiseBound, NoiseTerm, RlweError, SharingPolicy};

/// Largest number of re-encryptions of one ciphertext: more than any modulus has room for.
pub const MOST_HOPS: u32 = 1024;

/// A number of re-encryptions in a row, and the policy under which each of them hides what it is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reencryptions {
    /// Number of re-encryptions in a row.
    pub hops: u32,
    /// Policy of every one of them.
    pub policy: SharingPolicy,
}

/// The noise of one re-encryption: what the key switch and the encryption of zero add, and the flooding noise that hides it with the noise of the ciphertext.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hop {
    added: NoiseTerm,
    flooding: Flooding,
    hidden: Log2,
    ring: Expansion,
}

impl Hop {
    /// Returns the noise of one re-encryption of a ciphertext with noise as declared, to which the key switch and the encryption of zero add `added`.
    ///
    /// # Errors
    /// Every error of [`Flooding::new`].
    pub fn new(
        policy: SharingPolicy,
        noise: DeclaredNoise,
        added: NoiseTerm,
        ring: impl Into<Expansion>,
    ) -> Result<Self, RlweError> {
        let ring = ring.into();
        let hidden = Log2::from_bits(noise.bits()) + NoiseBound::dependent(added, 0).bound(ring);
        let flooding = Flooding::new(policy, DeclaredNoise::from_bits(hidden.bits()), ring.degree())?;
        Ok(Self { added, flooding, hidden, ring })
    }

    /// The flooding noise of the re-encryption.
    #[must_use]
    pub fn flooding(&self) -> &Flooding {
        &self.flooding
    }

    /// The bound on every coefficient of what the flooding noise hides.
    #[must_use]
    pub fn hidden(&self) -> Log2 {
        self.hidden
    }

    /// Returns the noise that the re-encryption adds to a ciphertext.
    #[must_use]
    pub fn noise(&self) -> NoiseTerm {
        self.added.plus(self.spread())
    }

    /// The flooding noise with the bound that follows from its deviation for the worst case: it is above the largest value, and adds up as deviations do.
    fn spread(&self) -> NoiseTerm {
        let own = self.flooding.noise_of(1, self.ring);
        let wide = NoiseTerm { worst: NoiseTerm::unbounded().worst, ..own };
        NoiseTerm { worst: NoiseBound::dependent(wide, 0).bound(self.ring), ..own }
    }

    /// Returns the noise to declare for the re-encrypted ciphertext: a bound on it except with probability 2^-128, where the one that was declared is one.
    #[must_use]
    pub fn declared(&self) -> DeclaredNoise {
        let flooding = NoiseBound::dependent(self.spread(), 0).bound(self.ring);
        DeclaredNoise::from_bits((self.hidden + flooding).bits())
    }
}

impl fmt::Display for Reencryptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { hops, policy } = self;
        write!(
            f,
            "room for {hops} re-encryptions in a row, {} of one owner at 2^-{}",
            policy.queries(),
            policy.statistical_bits()
        )
    }
}

impl Reencryptions {
    /// Checks the number of re-encryptions.
    ///
    /// # Errors
    /// [`RlweError::Sharing`] unless there are 1 to [`MOST_HOPS`] hops.
    pub fn check(&self) -> Result<(), RlweError> {
        if (1..=MOST_HOPS).contains(&self.hops) { Ok(()) } else { Err(refused(self.hops)) }
    }

    /// Returns the noise to declare for a ciphertext after all re-encryptions, from what is declared for it before the first.
    ///
    /// # Errors
    /// Every error of [`Hop::new`].
    pub fn declared_after(
        &self,
        noise: DeclaredNoise,
        added: NoiseTerm,
        ring: impl Into<Expansion>,
    ) -> Result<DeclaredNoise, RlweError> {
        let ring = ring.into();
        (0..self.hops.min(MOST_HOPS))
            .try_fold(noise, |noise, _| Ok(Hop::new(self.policy, noise, added, ring)?.declared()))
    }

    /// Returns the noise of a ciphertext after all re-encryptions, each of which declares the noise bound that the one before left; unbounded noise where there is no bound.
    #[must_use]
    pub fn after(&self, noise: &NoiseBound, added: NoiseTerm, ring: impl Into<Expansion>) -> NoiseBound {
        let ring = ring.into();
        let (mut noise, mut declared) = (*noise, DeclaredNoise::of_own_run(noise, ring));
        for _ in 0..self.hops.min(MOST_HOPS) {
            let Ok(hop) = Hop::new(self.policy, declared, added, ring) else {
                return NoiseBound::dependent(NoiseTerm::unbounded(), noise.secret_degree);
            };
            (noise, declared) = (noise.plus(hop.noise()), hop.declared());
        }
        noise
    }
}

/// The error of a number of hops that is not possible.
pub(super) fn refused(hops: u32) -> RlweError {
    RlweError::Sharing {
        what: "the number of re-encryptions of one ciphertext",
        expected: format!("1 to {MOST_HOPS}"),
        got: hops.to_string(),
    }
}
