//! Additive shares of messages for Python: requests, shares, and the class that opens what is left of a message. Those of CKKS, which need masks of another kind, have their place in
//! [`exact`], [`Additive::share`](Deed::share) and [`kept`].

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sunzi_parties::PartiesError;
use sunzi_parties::operations::{Additive, Made, Making};
use sunzi_ring::sampling;
use sunzi_rlwe::joint::{DecryptionShare, ExactJointContext as _};
use sunzi_rlwe::randomness::from_os;
use sunzi_rlwe::sharing::{DeclaredNoise, SharingPolicy};
use sunzi_rlwe::wire::WireError;
use zeroize::Zeroizing;

use super::Roster;
use super::collecting::collection_class;
use super::opening::opened;
use super::work::{self, Case, Deed, Part, Shared, Terms, opened_part};
use crate::ciphertext::Ciphertext;
use crate::error::Failure;
use crate::plaintext::Plaintext;
use crate::scheme::{Cipher, Plain, Scheme, mixed, wrong_scheme};

/// Bytes of a residue that a party keeps.
const RESIDUE: usize = 8;

/// Returns the plaintext modulus of a ciphertext; fails for one of CKKS.
fn exact(scheme: &Scheme) -> Result<u64, Failure> {
    let wrong = || wrong_scheme("what has additive shares modulo t", "bfv or bgv", scheme.name());
    scheme.plain_modulus().ok_or_else(wrong)
}

/// Draws the residues modulo t that a party keeps of a message: uniform in every coefficient.
fn mask(scheme: &Scheme) -> Result<sunzi_encoding::Plaintext, Failure> {
    let t = exact(scheme)?;
    let mut residues = vec![0; scheme.rlwe().ring().degree()];
    sampling::uniform_residues(&mut residues, t, &mut from_os()?);
    // A plaintext is erased when dropped.
    Ok(sunzi_encoding::Plaintext::new(residues, t)?)
}

/// Returns the bytes of a mask, as a party keeps them.
fn bytes(mask: &sunzi_encoding::Plaintext) -> Zeroizing<Vec<u8>> {
    let mut bytes = Zeroizing::new(Vec::with_capacity(RESIDUE * mask.coefficients().len()));
    mask.coefficients().iter().for_each(|residue| bytes.extend_from_slice(&residue.to_le_bytes()));
    bytes
}

/// Reads what a party keeps of a message.
pub(super) fn kept(scheme: &Arc<Scheme>, own: &[u8]) -> Result<Plaintext, Failure> {
    let (t, expected) = (exact(scheme)?, RESIDUE * scheme.rlwe().ring().degree());
    if own.len() != expected {
        let error = WireError::value("bytes of the own share of a message", expected, own.len());
        return Err(Failure::party(PartiesError::Wire(error)));
    }
    let residues = own
        .chunks_exact(RESIDUE)
        .map(|residue| residue.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)));
    let value = sunzi_encoding::Plaintext::new(residues.collect(), t)?;
    Ok(Plaintext::new(scheme, Plain::Exact(Arc::new(value))))
}

impl Deed for Additive {
    type Given = Plain;
    const WORDS: &'static str = "sharing";

    fn part(case: &Case, noise: DeclaredNoise, policy: SharingPolicy) -> Result<Part, Failure> {
        exact(&case.scheme)?;
        opened_part(case, noise, policy, "additive shares")
    }

    fn share(case: &Case, (): &(), making: &Making<'_>) -> Result<Made<DecryptionShare>, Failure> {
        let Making { declared, policy, secret, .. } = making;
        let (rng, mask) = (&mut from_os()?, mask(&case.scheme)?);
        let share = match (&*case.scheme, &case.value) {
            (Scheme::Bfv(exact), Cipher::Bfv(c)) => {
                exact.evaluator.context().masked_share(c, *declared, *policy, secret, &mask, rng)?
            }
            (Scheme::Bgv(exact), Cipher::Bgv(c)) => {
                exact.evaluator.context().masked_share(c, *declared, *policy, secret, &mask, rng)?
            }
            _ => return Err(mixed()),
        };
        Ok(Made { share, own: bytes(&mask) })
    }

    fn given(
        shared: &Shared<'_>,
        (): &(),
        _: &[u8; 32],
        shares: &[DecryptionShare],
    ) -> Result<Plain, Failure> {
        opened(shared, shares)
    }
}

/// Makes the request of additive shares of the message of a ciphertext.
#[pyfunction]
pub(crate) fn additive_request<'py>(
    py: Python<'py>,
    ciphertext: &Ciphertext,
    roster: &Roster,
    terms: Terms,
) -> PyResult<Bound<'py, PyBytes>> {
    work::request::<Additive>(py, ciphertext, roster, terms, Arc::new(()))
}

collection_class! {
    /// The additive shares of the message of one ciphertext, by the answers of those who were asked.
    PartySharing(Additive) for Arc::new(());
    /// Returns what is left of the message once all answers are there.
    rest -> Plaintext
}
