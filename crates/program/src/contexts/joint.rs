//! Results that several parties open by shares: what each declares of them, what it makes shares of, and what the shares open.

use std::collections::BTreeMap;

use sunzi_encoding::Plaintext;
use sunzi_rlwe::joint::{DecryptionShare, JointContext, JointDecryption, Quorum};
use sunzi_rlwe::wire::{CiphertextOf, Format, to_bytes};
use sunzi_rlwe::{Ciphertext, DeclaredNoise, Homomorphic, KeyId, SecretKey, SharingPolicy};

use super::sharing::{bfv_noise, bgv_noise, of_node};
use super::{Contexts, Encrypted, Parts, Sharing};
use crate::analysis::Plan;
use crate::{NodeId, ProgramError};

/// What a party knows of the results of the program that all agreed on: plans that it made itself, the noise that follows from them, and the policy of
/// its ledger. Nothing in it comes from a file of results.
#[derive(Clone, Debug)]
pub struct Agreed {
    plans: Vec<Plan>,
    policy: SharingPolicy,
    noise: BTreeMap<NodeId, DeclaredNoise>,
}

impl Agreed {
    /// Makes what a party agreed to of the plans that the program may be run by: those of all layouts that its rows may have. For CKKS each is played, and
    /// the largest noise counts; in exact schemes the parameters determine what is declared.
    ///
    /// # Errors
    /// [`ProgramError::Mismatch`] without a plan, and for plans of parameters of a single holder; every error of
    /// [`Plan::declared_noise`].
    pub fn new(plans: impl Into<Vec<Plan>>, policy: SharingPolicy) -> Result<Self, ProgramError> {
        let plans = plans.into();
        let noise = Plan::noise_of_all(&plans)?;
        if plans.is_empty() || plans.iter().any(|plan| plan.parameters.parties() < 2) {
            let expected = "one for the secret of several parties";
            return Err(ProgramError::mismatch("the agreed plan", expected, "another or none"));
        }
        Ok(Self { plans, policy, noise })
    }

    /// Returns the plans that the program may be run by.
    #[must_use]
    pub fn plans(&self) -> &[Plan] {
        &self.plans
    }

    /// Returns the policy of the party's ledger.
    #[must_use]
    pub fn policy(&self) -> SharingPolicy {
        self.policy
    }
}

/// One ciphertext of results as the parties open it together.
#[derive(Clone)]
pub struct Subject {
    /// Place among all ciphertexts of the file, counted from 0.
    pub place: u64,
    /// Node whose result it is; of a packed table the first total.
    pub node: NodeId,
    /// Chunk of a column; none for totals.
    pub chunk: Option<usize>,
    /// Bytes of the ciphertext's object.
    pub bytes: Vec<u8>,
    /// Name of the joint secret.
    pub key: KeyId,
    /// Noise that this party declares.
    pub noise: DeclaredNoise,
    /// Parts and flooding noise that parties make shares of.
    pub decryption: JointDecryption,
}

/// Place of the chunk whose ciphertexts are opened: the number of ciphertexts before it, its node, and its chunk if it is one of a column.
pub(crate) type Placed = (u64, NodeId, Option<usize>);

/// Returns the ciphertexts of a chunk of results as the parties open them.
pub(crate) fn subjects(
    contexts: &Contexts,
    placed: Placed,
    chunk: &Encrypted,
    agreed: &Agreed,
) -> Result<Vec<Subject>, ProgramError> {
    let policy = agreed.policy;
    let each = || placed.0..;
    match (contexts.parts(), chunk) {
        (Parts::Bfv(contexts), Encrypted::Bfv(parts)) => {
            let own = contexts.iter().zip(parts).zip(each());
            let one = |((context, part), place): ((&sunzi_bfv::Context, _), _)| {
                let noise = bfv_noise(context, part, policy)?;
                subject(context, (place, placed), part, (noise, policy), ProgramError::of_bfv)
            };
            own.map(one).collect()
        }
        (Parts::Bgv(contexts), Encrypted::Bgv(parts)) => {
            let own = contexts.iter().zip(parts).zip(each());
            let one = |((context, part), place): ((&sunzi_bgv::Context, _), _)| {
                let noise = bgv_noise(context, part)?;
                subject(context, (place, placed), part, (noise, policy), ProgramError::of_bgv)
            };
            own.map(one).collect()
        }
        (Parts::Ckks(context), Encrypted::Ckks(part)) => {
            let noise = of_node(&agreed.noise, placed.1)?;
            let own = subject(context, (placed.0, placed), part, (noise, policy), ProgramError::of_ckks);
            Ok(vec![own?])
        }
        _ => Err(ProgramError::mismatch("the scheme", contexts.parameters().name(), "another")),
    }
}

fn subject<C>(
    context: &C,
    (place, (_, node, chunk)): (u64, Placed),
    part: &CiphertextOf<C>,
    (noise, policy): (DeclaredNoise, SharingPolicy),
    refused: fn(<<C as JointContext>::Scheme as Homomorphic>::Error) -> ProgramError,
) -> Result<Subject, ProgramError>
where
    C: JointContext
        + sunzi_rlwe::wire::SchemeFormat<Scheme = <C as JointContext>::Scheme>
        + Format<CiphertextOf<C>>,
{
    let decryption = context.joint_decryption(part, noise, policy).map_err(refused)?;
    let bytes = to_bytes(context, part).map_err(ProgramError::scheme)?;
    Ok(Subject { place, node, chunk, bytes, key: part.key(), noise, decryption })
}

/// Shares of the next ciphertext, one ciphertext after the other.
pub(crate) type NextShares<'a> = dyn FnMut() -> Result<Vec<DecryptionShare>, ProgramError> + 'a;

/// How the ciphertexts of a chunk are opened.
pub(crate) enum Way<'a> {
    /// By the key holder, for nobody else to see.
    Own(&'a SecretKey),
    /// By the key holder, for sharing the result of a node.
    Sharing(NodeId, &'a SecretKey, &'a mut Sharing),
    /// By shares of all parties or of a quorum, of a node's result.
    Shares(NodeId, &'a Agreed, Option<&'a Quorum>, &'a mut NextShares<'a>),
}

impl Way<'_> {
    pub(crate) fn bfv(
        &mut self,
        context: &sunzi_bfv::Context,
        part: &sunzi_bfv::Ciphertext,
    ) -> Result<Plaintext, ProgramError> {
        match self {
            Self::Own(secret) => context.decrypt(part, secret).map_err(ProgramError::scheme),
            Self::Sharing(_, secret, sharing) => sharing.bfv(context, part, secret),
            Self::Shares(_, agreed, quorum, shares) => {
                let noise = bfv_noise(context, part, agreed.policy)?;
                opened(context, part, (noise, agreed.policy), *quorum, *shares, ProgramError::of_bfv)
            }
        }
    }

    pub(crate) fn bgv(
        &mut self,
        context: &sunzi_bgv::Context,
        part: &sunzi_bgv::Ciphertext,
    ) -> Result<Plaintext, ProgramError> {
        match self {
            Self::Own(secret) => context.decrypt(part, secret).map_err(ProgramError::scheme),
            Self::Sharing(_, secret, sharing) => sharing.bgv(context, part, secret),
            Self::Shares(_, agreed, quorum, shares) => {
                let noise = bgv_noise(context, part)?;
                opened(context, part, (noise, agreed.policy), *quorum, *shares, ProgramError::of_bgv)
            }
        }
    }

    /// Opens a ciphertext of CKKS; also returns the deviation of the errors of its slots.
    pub(crate) fn ckks(
        &mut self,
        context: &sunzi_ckks::Context,
        part: &sunzi_ckks::Ciphertext,
    ) -> Result<(sunzi_ckks::Plaintext, f64), ProgramError> {
        let plaintext = match self {
            Self::Own(secret) => {
                let plaintext = context.decrypt(part, secret).map_err(ProgramError::scheme)?;
                return Ok((plaintext, part.metadata().precision.deviation()));
            }
            Self::Sharing(id, secret, sharing) => sharing.ckks(context, *id, part, secret),
            Self::Shares(id, agreed, quorum, shares) => {
                let noise = of_node(&agreed.noise, *id)?;
                opened(context, part, (noise, agreed.policy), *quorum, *shares, ProgramError::of_ckks)
            }
        }?;
        let deviation = plaintext.precision().deviation();
        Ok((plaintext, deviation))
    }
}

fn opened<C: JointContext>(
    context: &C,
    part: &Ciphertext<C::Scheme>,
    (noise, policy): (DeclaredNoise, SharingPolicy),
    quorum: Option<&Quorum>,
    shares: &mut NextShares<'_>,
    refused: fn(<C::Scheme as Homomorphic>::Error) -> ProgramError,
) -> Result<<C::Scheme as Homomorphic>::Plaintext, ProgramError> {
    let shares = shares()?;
    context.open_shares(part, noise, policy, quorum, &shares).map_err(refused)
}
