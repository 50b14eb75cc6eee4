//! Refreshes by shares for Python: requests, shares, and the class that puts answers together to a fresh ciphertext.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sunzi_parties::operations::{Made, Making, Refresh};
use sunzi_rlwe::joint::{ExactJointContext as _, RefreshShare};
use sunzi_rlwe::randomness::from_os;
use sunzi_rlwe::sharing::{DeclaredNoise, SharingPolicy};
use sunzi_rlwe::wire::to_bytes;

use super::Roster;
use super::collecting::collection_class;
use super::work::{self, Case, Deed, Part, Shared, Terms, opened_part};
use crate::ciphertext::Ciphertext;
use crate::error::Failure;
use crate::scheme::{Cipher, Scheme, mixed};

impl Deed for Refresh {
    type Given = Cipher;
    const WORDS: &'static str = "refresh";

    fn part(case: &Case, noise: DeclaredNoise, policy: SharingPolicy) -> Result<Part, Failure> {
        if let (Scheme::Ckks(reals), Cipher::Ckks(c)) = (&*case.scheme, &case.value) {
            let context = reals.evaluator.context();
            let level = context.flooded_refresh_level(c, noise, policy)?;
            let [_, linear] = c.two_parts("refresh by shares")?;
            return Ok(Part { bytes: to_bytes(context, &**c)?, linear: linear.clone(), key: c.key(), level });
        }
        opened_part(case, noise, policy, "refresh by shares")
    }

    /// Makes this party's share of a refresh. In CKKS the noise of before becomes part of the message, hidden by flooding noise as in an opened result.
    fn share(case: &Case, (): &(), making: &Making<'_>) -> Result<Made<RefreshShare>, Failure> {
        let Making { declared, policy, seed, secret } = making;
        let rng = &mut from_os()?;
        let share = match (&*case.scheme, &case.value) {
            (Scheme::Bfv(exact), Cipher::Bfv(c)) => {
                exact.evaluator.context().refresh_share(c, *declared, *policy, secret, seed, rng)?
            }
            (Scheme::Bgv(exact), Cipher::Bgv(c)) => {
                exact.evaluator.context().refresh_share(c, *declared, *policy, secret, seed, rng)?
            }
            (Scheme::Ckks(reals), Cipher::Ckks(c)) => {
                reals.evaluator.context().flooded_refresh_share(c, *declared, *policy, secret, seed, rng)?
            }
            _ => return Err(mixed()),
        };
        Ok(share.into())
    }

    fn given(
        shared: &Shared<'_>,
        (): &(),
        seed: &[u8; 32],
        shares: &[RefreshShare],
    ) -> Result<Cipher, Failure> {
        let Shared { case, noise, policy, quorum } = *shared;
        Ok(match (&*case.scheme, &case.value) {
            (Scheme::Bfv(exact), Cipher::Bfv(c)) => {
                exact.evaluator.context().refresh(c, noise, policy, quorum, seed, shares)?.into()
            }
            (Scheme::Bgv(exact), Cipher::Bgv(c)) => {
                exact.evaluator.context().refresh(c, noise, policy, quorum, seed, shares)?.into()
            }
            (Scheme::Ckks(reals), Cipher::Ckks(c)) => {
                reals.evaluator.context().flooded_refresh(c, noise, policy, quorum, seed, shares)?.into()
            }
            _ => return Err(mixed()),
        })
    }
}

/// Makes the request to refresh a ciphertext.
#[pyfunction]
pub(crate) fn refresh_request<'py>(
    py: Python<'py>,
    ciphertext: &Ciphertext,
    roster: &Roster,
    terms: Terms,
) -> PyResult<Bound<'py, PyBytes>> {
    work::request::<Refresh>(py, ciphertext, roster, terms, Arc::new(()))
}

collection_class! {
    /// The refresh of one ciphertext by the answers of those who were asked.
    PartyRefreshing(Refresh) for Arc::new(());
    /// Returns the fresh ciphertext once all answers are there.
    refreshed -> Ciphertext
}
