//! Switches to the public key of somebody else, by shares, for Python: requests, shares, and the class that puts answers together to a ciphertext under that key.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sunzi_parties::PartiesError;
use sunzi_parties::operations::{Made, Making, Switch};
use sunzi_rlwe::joint::{JointContext as _, PublicKeySwitchShare};
use sunzi_rlwe::randomness::from_os;
use sunzi_rlwe::sharing::{DeclaredNoise, SharingPolicy};

use super::Roster;
use super::collecting::collection_class;
use super::work::{self, Case, Deed, Part, Shared, Terms, jointly, opened_part};
use crate::ciphertext::Ciphertext;
use crate::error::Failure;
use crate::keys::PublicKey;
use crate::scheme::Cipher;

/// Name of the operation in errors of the scheme.
const SWITCH: &str = "switch to another key by shares";

impl Deed for Switch {
    type Given = Cipher;
    const WORDS: &'static str = "switch";

    fn part(case: &Case, noise: DeclaredNoise, policy: SharingPolicy) -> Result<Part, Failure> {
        opened_part(case, noise, policy, SWITCH)
    }

    /// Fails for a request of less noise: the result would be told to have less than it has.
    fn check_noise(asked: DeclaredNoise, own: DeclaredNoise) -> Result<(), Failure> {
        if asked == own {
            return Ok(());
        }
        Err(Failure::party(PartiesError::Refused {
            what: "the noise of the request",
            expected: format!("the declared 2^{:.3}, on which the noise of the result depends", own.bits()),
            got: format!("2^{:.3}", asked.bits()),
        }))
    }

    fn share(
        case: &Case,
        target: &sunzi_rlwe::PublicKey,
        making: &Making<'_>,
    ) -> Result<Made<PublicKeySwitchShare>, Failure> {
        let rng = &mut from_os()?;
        let share = jointly!(case, |context, c| {
            let opening = context.opening(c, making.declared, making.policy)?;
            let [_, linear] = opening.ciphertext.two_parts(SWITCH)?;
            let (rlwe, secret) = (context.rlwe(), &making.secret);
            PublicKeySwitchShare::new(rlwe, linear, secret, target, &opening.flooding, rng)?
        });
        Ok(share.into())
    }

    fn given(
        shared: &Shared<'_>,
        target: &sunzi_rlwe::PublicKey,
        _: &[u8; 32],
        shares: &[PublicKeySwitchShare],
    ) -> Result<Cipher, Failure> {
        let Shared { case, noise, policy, quorum } = *shared;
        Ok(jointly!(case, |context, c| {
            let opening = context.opening(c, noise, policy)?;
            let (opened, flooding) = (&*opening.ciphertext, &opening.flooding);
            PublicKeySwitchShare::combine(context, opened, target.id(), flooding, quorum, shares)?.into()
        }))
    }
}

/// Makes the request to switch a ciphertext to a public key.
#[pyfunction]
pub(crate) fn switch_request<'py>(
    py: Python<'py>,
    ciphertext: &Ciphertext,
    roster: &Roster,
    terms: Terms,
    target: &PublicKey,
) -> PyResult<Bound<'py, PyBytes>> {
    work::request::<Switch>(py, ciphertext, roster, terms, Arc::clone(&target.key))
}

collection_class! {
    /// The switch of one ciphertext by the answers of those who were asked.
    PartySwitching(Switch, target: &PublicKey) for Arc::clone(&target.key);
    /// Returns the ciphertext under the public key once all answers are there.
    switched -> Ciphertext
}
