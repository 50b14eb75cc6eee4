//! Openings by shares for Python: requests, and the class that opens a ciphertext by the answers.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sunzi_parties as parties;
use sunzi_parties::decryption::{Collector, Request};
use sunzi_rlwe::RlweContext;
use sunzi_rlwe::joint::{DecryptionShare, JointContext as _};
use sunzi_rlwe::sharing::{DeclaredNoise, SharingPolicy};
use sunzi_rlwe::wire::{from_bytes, to_bytes};

use super::Roster;
use super::collecting::collection_class;
use super::work::{self, Case, Part, Shared, Terms, Work, jointly};
use crate::ciphertext::Ciphertext;
use crate::error::{Failure, Told as _};
use crate::plaintext::Plaintext;
use crate::scheme::{Cipher, Plain, Scheme, mixed};

/// The decryption of a ciphertext by shares.
pub(super) enum Open {}

impl Work for Open {
    type Request = Request;
    type Target = ();
    type Share = DecryptionShare;
    type Answers = Box<Collector>;
    type Given = Plain;
    const NAME: &'static str = "opening";

    /// Returns the parts at the level that holds the result.
    fn part(case: &Case, noise: DeclaredNoise, policy: SharingPolicy) -> Result<Part, Failure> {
        Ok(jointly!(case, |context, c| {
            let linear = context.joint_decryption(c, noise, policy)?.linear().clone();
            let level = context.ring().level_of(&linear)?;
            Part { bytes: to_bytes(context, &**c)?, linear, key: c.key(), level }
        }))
    }

    fn asked(rlwe: &RlweContext, request: Request, (): &()) -> Result<Vec<u8>, Failure> {
        Ok(to_bytes(rlwe, &request)?)
    }

    fn read(rlwe: &RlweContext, bytes: &[u8]) -> Result<Request, Failure> {
        Ok(from_bytes(rlwe, bytes)?)
    }

    fn terms(request: &Request) -> &Request {
        request
    }

    fn answers(
        rlwe: &RlweContext,
        roster: &Arc<parties::Roster>,
        request: &Request,
    ) -> Result<Self::Answers, Failure> {
        Ok(Box::new(Collector::new(rlwe.clone(), roster, request).told()?))
    }

    fn given(shared: &Shared<'_>, (): &(), answers: Self::Answers) -> Result<Plain, Failure> {
        opened(shared, &answers.finish().told()?)
    }
}

/// Opens a ciphertext by the shares of all who were asked.
pub(super) fn opened(shared: &Shared<'_>, shares: &[DecryptionShare]) -> Result<Plain, Failure> {
    let Shared { case, noise, policy, quorum } = *shared;
    Ok(match (&*case.scheme, &case.value) {
        (Scheme::Bfv(exact), Cipher::Bfv(c)) => {
            let context = exact.evaluator.context();
            Plain::Exact(Arc::new(context.open_shares(c, noise, policy, quorum, shares)?))
        }
        (Scheme::Bgv(exact), Cipher::Bgv(c)) => {
            let context = exact.evaluator.context();
            Plain::Exact(Arc::new(context.open_shares(c, noise, policy, quorum, shares)?))
        }
        (Scheme::Ckks(reals), Cipher::Ckks(c)) => {
            let context = reals.evaluator.context();
            Plain::Ckks(Arc::new(context.open_shares(c, noise, policy, quorum, shares)?))
        }
        _ => return Err(mixed()),
    })
}

/// Makes the request to decrypt a ciphertext.
#[pyfunction]
pub(crate) fn decryption_request<'py>(
    py: Python<'py>,
    ciphertext: &Ciphertext,
    roster: &Roster,
    terms: Terms,
) -> PyResult<Bound<'py, PyBytes>> {
    work::request::<Open>(py, ciphertext, roster, terms, Arc::new(()))
}

collection_class! {
    /// The opening of one ciphertext by the answers of those who were asked.
    PartyOpening(Open) for Arc::new(());
    /// Opens the ciphertext once all answers are there.
    open -> Plaintext
}
