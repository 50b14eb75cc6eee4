//! Operations of parties on a ciphertext, each party by one share: traits by which requests, answers and collections are written once, and the requests themselves.

use std::ops::DerefMut;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sunzi_parties::decryption::{Request, Subject};
use sunzi_parties::operations::{Made, Making, Operation, OperationCollector, OperationRequest};
use sunzi_parties::{self as parties, Answers};
use sunzi_ring::{Evaluation, Poly};
use sunzi_rlwe::joint::{JointContext as _, Quorum};
use sunzi_rlwe::sharing::{DeclaredNoise, SharingPolicy};
use sunzi_rlwe::wire::{from_bytes, to_bytes};
use sunzi_rlwe::{KeyId, RlweContext};

use super::{Roster, policy};
use crate::ciphertext::Ciphertext;
use crate::compute::run;
use crate::error::{Failure, Told as _};
use crate::scheme::{Cipher, Scheme};

/// Does the same with the context and the ciphertext of one scheme.
macro_rules! jointly {
    ($case:expr, |$context:ident, $c:ident| $body:expr) => {
        match (&*$case.scheme, &$case.value) {
            (crate::scheme::Scheme::Bfv(exact), crate::scheme::Cipher::Bfv($c)) => {
                let $context = exact.evaluator.context();
                $body
            }
            (crate::scheme::Scheme::Bgv(exact), crate::scheme::Cipher::Bgv($c)) => {
                let $context = exact.evaluator.context();
                $body
            }
            (crate::scheme::Scheme::Ckks(reals), crate::scheme::Cipher::Ckks($c)) => {
                let $context = reals.evaluator.context();
                $body
            }
            _ => return Err(crate::scheme::mixed()),
        }
    };
}
pub(super) use jointly;

/// A ciphertext with its scheme.
#[derive(Clone)]
pub(super) struct Case {
    pub(super) scheme: Arc<Scheme>,
    pub(super) value: Cipher,
}

impl Case {
    pub(super) fn of(ciphertext: &Ciphertext) -> Self {
        Self { scheme: Arc::clone(ciphertext.scheme()), value: ciphertext.value() }
    }

    pub(super) fn rlwe(&self) -> &RlweContext {
        self.scheme.rlwe()
    }
}

/// A ciphertext as parties make shares of it: its file, the part c_1 that is opened, the name of its key, and the level at which it is opened under some noise.
pub(super) struct Part {
    pub(super) bytes: Vec<u8>,
    pub(super) linear: Poly<Evaluation>,
    pub(super) key: KeyId,
    pub(super) level: usize,
}

impl Part {
    pub(super) fn subject(&self) -> Subject<'_> {
        Subject { bytes: &self.bytes, linear: &self.linear, key: self.key }
    }
}

/// Work that parties do together with a ciphertext: how it is asked for, how answers are collected, and what they give.
pub(super) trait Work: 'static {
    /// Request for one ciphertext.
    type Request: Send + Sync + 'static;
    /// Whom the result is for, besides the ciphertext.
    type Target: Send + Sync + 'static;
    /// Share of a party.
    type Share;
    /// Collection of the answers to a request.
    type Answers: DerefMut<Target = Answers<Self::Share>> + Send + 'static;
    /// Result of all shares.
    type Given: Clone + Send + 'static;
    /// Name of the work in errors.
    const NAME: &'static str;

    /// Returns what parties make shares of; fails where a ciphertext has no room for what hides its noise.
    fn part(case: &Case, noise: DeclaredNoise, policy: SharingPolicy) -> Result<Part, Failure>;
    /// Returns the bytes of the request for the ciphertext of a request.
    fn asked(rlwe: &RlweContext, request: Request, target: &Self::Target) -> Result<Vec<u8>, Failure>;
    fn read(rlwe: &RlweContext, bytes: &[u8]) -> Result<Self::Request, Failure>;
    /// Returns what a request says of the ciphertext, its noise and the parties.
    fn terms(request: &Self::Request) -> &Request;
    fn answers(
        rlwe: &RlweContext,
        roster: &Arc<parties::Roster>,
        request: &Self::Request,
    ) -> Result<Self::Answers, Failure>;
    /// Returns what the shares of all who were asked give.
    fn given(
        shared: &Shared<'_>,
        target: &Self::Target,
        answers: Self::Answers,
    ) -> Result<Self::Given, Failure>;
}

/// A ciphertext whose answers are all there: what they are put together with.
pub(super) struct Shared<'a> {
    pub(super) case: &'a Case,
    pub(super) noise: DeclaredNoise,
    pub(super) policy: SharingPolicy,
    pub(super) quorum: Option<&'a Quorum>,
}

/// An operation of `crates/parties` in Python: the work of parties whose shares are made of what [`Making`] says.
pub(super) trait Deed:
    Operation<Target: Send + Sync + 'static, Share: Send + 'static> + 'static
{
    /// Result of all shares.
    type Given: Clone + Send + 'static;
    /// Name of the operation in errors.
    const WORDS: &'static str;

    fn part(case: &Case, noise: DeclaredNoise, policy: SharingPolicy) -> Result<Part, Failure>;
    /// Fails for a request of less noise than the own one, where that makes the result another one. More is refused before.
    fn check_noise(_asked: DeclaredNoise, _own: DeclaredNoise) -> Result<(), Failure> {
        Ok(())
    }
    /// Makes this party's share, and what it keeps for itself.
    fn share(case: &Case, target: &Self::Target, making: &Making<'_>) -> Result<Made<Self::Share>, Failure>;
    /// Returns what the shares of all who were asked give; `seed` is that of an encryption by shares.
    fn given(
        shared: &Shared<'_>,
        target: &Self::Target,
        seed: &[u8; 32],
        shares: &[Self::Share],
    ) -> Result<Self::Given, Failure>;
}

impl<O: Deed> Work for O {
    type Request = OperationRequest<O>;
    type Target = <O as Operation>::Target;
    type Share = <O as Operation>::Share;
    type Answers = OperationCollector<O>;
    type Given = <O as Deed>::Given;
    const NAME: &'static str = O::WORDS;

    fn part(case: &Case, noise: DeclaredNoise, policy: SharingPolicy) -> Result<Part, Failure> {
        <O as Deed>::part(case, noise, policy)
    }

    fn asked(rlwe: &RlweContext, request: Request, target: &Self::Target) -> Result<Vec<u8>, Failure> {
        Ok(to_bytes(rlwe, &OperationRequest::<O>::new(rlwe, request, target).told()?)?)
    }

    fn read(rlwe: &RlweContext, bytes: &[u8]) -> Result<Self::Request, Failure> {
        Ok(from_bytes(rlwe, bytes)?)
    }

    fn terms(request: &Self::Request) -> &Request {
        request.request()
    }

    fn answers(
        rlwe: &RlweContext,
        roster: &Arc<parties::Roster>,
        request: &Self::Request,
    ) -> Result<Self::Answers, Failure> {
        OperationCollector::new(rlwe.clone(), roster, request).told()
    }

    fn given(
        shared: &Shared<'_>,
        target: &Self::Target,
        answers: Self::Answers,
    ) -> Result<Self::Given, Failure> {
        let seed = *answers.seed();
        <O as Deed>::given(shared, target, &seed, &answers.finish().told()?)
    }
}

/// Returns a ciphertext as it is opened for others to see; `what` names the work in errors.
pub(super) fn opened_part(
    case: &Case,
    noise: DeclaredNoise,
    policy: SharingPolicy,
    what: &'static str,
) -> Result<Part, Failure> {
    Ok(jointly!(case, |context, c| {
        let opening = context.opening(c, noise, policy)?;
        let [_, linear] = opening.ciphertext.two_parts(what)?;
        let (linear, level) = (linear.clone(), opening.level);
        Part { bytes: to_bytes(context, &**c)?, linear, key: c.key(), level }
    }))
}

/// Terms of a request besides the ciphertext, as Python gives them: names of the parties, log2 of the noise, shared results and statistical bits of the policy, hash of the
/// program, purpose.
pub(crate) type Terms = (Vec<String>, f64, u64, u32, [u8; 32], String);

/// Makes the request of some work for a ciphertext, of the parties of these names.
pub(super) fn request<'py, W: Work>(
    py: Python<'py>,
    ciphertext: &Ciphertext,
    roster: &Roster,
    terms: Terms,
    target: Arc<W::Target>,
) -> PyResult<Bound<'py, PyBytes>> {
    let (members, noise, queries, statistical_bits, program, purpose) = terms;
    let members = members.iter().map(|name| roster.party(py, name)).collect::<PyResult<Vec<_>>>()?;
    let (case, roster) = (Case::of(ciphertext), Arc::clone(&roster.inner));
    let bytes = run(py, move || {
        let (rlwe, noise) = (case.rlwe(), DeclaredNoise::from_bits(noise));
        let part = W::part(&case, noise, policy(queries, statistical_bits)?)?;
        let request = Request::new(rlwe, part.subject(), noise.bits(), members, program, purpose).told()?;
        // What no party would answer is not asked.
        request.members(&roster).told()?;
        W::asked(rlwe, request, &target)
    })?;
    Ok(PyBytes::new(py, &bytes))
}
