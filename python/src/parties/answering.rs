//! Answers to requests of operations for Python: shares that are made, counted and kept.

use std::sync::Arc;

use pyo3::prelude::*;
use sunzi_parties::PartiesError;
use sunzi_parties::decryption::Decryptor;
use sunzi_parties::operations::{Given, Making, OperationRequest};
use sunzi_rlwe::sharing::{DeclaredNoise, SharingPolicy};

use super::Records;
use super::decryption::{PartyDecryptor, opened};
use super::work::{Case, Deed, Part, Work};
use crate::ciphertext::Ciphertext;
use crate::compute::run;
use crate::error::{Failure, Told as _};

/// A request of an operation, and the ciphertext that a party has.
struct Asked<O> {
    case: Case,
    request: OperationRequest<O>,
    part: Part,
}

impl<O: Deed> Asked<O> {
    /// Reads a request for a ciphertext, whose noise this party declares.
    fn new(case: Case, request: &[u8], noise: DeclaredNoise, policy: SharingPolicy) -> Result<Self, Failure> {
        let request: OperationRequest<O> = <O as Work>::read(case.rlwe(), request)?;
        let part = <O as Work>::part(&case, noise, policy)?;
        Ok(Self { case, request, part })
    }

    /// Fails where the noise of the request opens the ciphertext at another level than the declared one: shares of several levels are of no use.
    fn check(&self, noise: DeclaredNoise, policy: SharingPolicy) -> Result<(), Failure> {
        let asked = DeclaredNoise::from_bits(self.request.request().noise_bits());
        O::check_noise(asked, noise)?;
        let (own, got) = (self.part.level, <O as Work>::part(&self.case, asked, policy)?.level);
        if own == got {
            return Ok(());
        }
        let expected = format!("{own}, by the declared noise");
        let got = format!("{got}, by the 2^{:.1} of the request", asked.bits());
        let what = "the level at which the ciphertext is opened";
        Err(Failure::party(PartiesError::Refused { what, expected, got }))
    }
}

impl PartyDecryptor {
    /// Answers requests to do an operation with ciphertexts whose noise is at most 2^noise by what this party knows, for a target. All are looked at before one is answered.
    pub(super) fn operate<O: Deed>(
        &self,
        py: Python<'_>,
        ciphertexts: &[PyRef<'_, Ciphertext>],
        requests: Vec<Vec<u8>>,
        noise: f64,
        target: Arc<<O as Work>::Target>,
    ) -> PyResult<Vec<Given>> {
        let cases: Vec<Case> = ciphertexts.iter().map(|one| Case::of(one)).collect();
        let (decryptor, policy) = (Arc::clone(&self.decryptor), self.policy);
        run(py, move || {
            let noise = DeclaredNoise::from_bits(noise);
            let mut asked: Vec<Asked<O>> = Vec::new();
            for (case, request) in cases.iter().zip(&requests) {
                asked.push(Asked::new(case.clone(), request, noise, policy)?);
            }
            opened(&decryptor, |decryptor| answered(decryptor, &asked, noise, &target))
        })
    }
}

/// Answers requests of an operation. All are looked at before one is answered.
fn answered<O: Deed>(
    decryptor: &mut Decryptor<Records>,
    asked: &[Asked<O>],
    noise: DeclaredNoise,
    target: &<O as Work>::Target,
) -> Result<Vec<Given>, Failure> {
    let policy = decryptor.ledger().ledger().policy();
    let mut reviewed = Vec::new();
    for one in asked {
        reviewed.push(decryptor.review_operation(&one.request, one.part.subject(), noise, target).told()?);
        one.check(noise, policy)?;
    }
    let mut answers = Vec::new();
    for (one, reviewed) in asked.iter().zip(reviewed) {
        let make = |making: &Making<'_>| O::share(&one.case, target, making).map_err(Unmade);
        answers.push(decryptor.answer_operation(reviewed, make).map_err(|Unmade(failure)| failure)?);
    }
    Ok(answers)
}

/// Failure of an answer: errors of the protocol have classes of their own.
struct Unmade(Failure);

impl From<PartiesError> for Unmade {
    fn from(error: PartiesError) -> Self {
        Self(Failure::party(error))
    }
}
