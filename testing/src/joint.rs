//! Keys that several parties make together, in one process that knows all of their secrets.

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use sunzi_circuits::{Arithmetic, EvaluationKeys, Rotation};
use sunzi_encoding::BatchEncoder;
use sunzi_rlwe::joint::{
    DecryptionShare, GaloisShares, JointDecryption, PublicKeyShare, Reference, RelinearizationShare,
    RelinearizationSum, RoundTwoShare, joint_secret,
};
use sunzi_rlwe::{PublicKey, RlweContext, RlweError, SecretKey};

use crate::Party;
use crate::party::lift;
use crate::scheme::{Failure, Scheme};

/// The secrets of several parties and what they make of them together, for tests only.
pub struct JointKeys {
    /// Secret of each party.
    pub secrets: Vec<SecretKey>,
    /// Sum of the secrets, which no real party knows.
    pub secret: SecretKey,
    /// Public key of the joint secret.
    pub public: PublicKey,
    /// Relinearisation and Galois keys of the joint secret.
    pub keys: EvaluationKeys,
}

impl JointKeys {
    /// Makes the keys of all parties of a context from a seed, with Galois keys for these rotations.
    ///
    /// # Errors
    /// [`RlweError::Shares`] in a context of one key holder; [`RlweError::NoRows`] for rotations in a ring without rows.
    pub fn new(context: &RlweContext, seed: u64, rotations: &[Rotation]) -> Result<Self, RlweError> {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let rng = &mut rng;
        let reference = Reference::new([seed as u8; 32]);
        let parties = 0..context.parties();
        let secrets: Vec<SecretKey> =
            parties.map(|_| SecretKey::generate_share(context, rng)).collect::<Result<_, _>>()?;
        let public: Vec<_> = secrets
            .iter()
            .map(|secret| PublicKeyShare::new(context, secret, &reference, rng))
            .collect::<Result<_, _>>()?;
        let exponents = rotations.iter().map(|rotation| rotation.exponent(context.ring().index()));
        let exponents: Vec<u64> = exponents.collect::<Result<_, _>>()?;
        let pairs = || exponents.iter().map(|&exponent| (exponent, context.level()));
        let galois: Vec<_> = secrets
            .iter()
            .map(|secret| GaloisShares::new(context, secret, &reference, pairs(), rng))
            .collect::<Result<_, _>>()?;
        let first: Vec<_> = secrets
            .iter()
            .map(|secret| RelinearizationShare::new(context, secret, &reference, context.level(), rng))
            .collect::<Result<_, _>>()?;
        let (first, ephemeral): (Vec<_>, Vec<_>) = first.into_iter().unzip();
        let sum = RelinearizationSum::of(context, &first)?;
        let second: Vec<_> = ephemeral
            .into_iter()
            .zip(&secrets)
            .map(|(ephemeral, secret)| ephemeral.second_round(context, secret, &reference, &sum, rng))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            secret: joint_secret(context, &reference, &secrets)?,
            public: PublicKeyShare::combine(context, &reference, &public)?,
            keys: EvaluationKeys {
                relinearization: Some(RoundTwoShare::combine(context, &reference, &second)?),
                galois: Some(GaloisShares::combine(context, &reference, &galois)?),
            },
            secrets,
        })
    }

    /// Makes the shares of all parties of a decryption.
    ///
    /// # Errors
    /// [`RlweError::Ring`] for a decryption of another context.
    pub fn shares(
        &self,
        context: &RlweContext,
        decryption: &JointDecryption,
        rng: &mut ChaCha20Rng,
    ) -> Result<Vec<DecryptionShare>, RlweError> {
        self.secrets.iter().map(|secret| decryption.share(context, secret, rng)).collect()
    }
}

/// Makes a party whose keys are those of several parties together, and which measures noise by the sum of their secrets; Galois keys for
/// these rotations of rows and the swap of rows.
///
/// # Errors
/// Every error of [`JointKeys::new`] and of encoding.
pub fn joint_party<S: Scheme>(
    context: S,
    seed: u64,
    steps: &[i64],
) -> Result<(Party<S>, Vec<SecretKey>), Failure<S>> {
    let rotations = steps.iter().map(|&steps| Rotation::Rows(steps)).chain([Rotation::Columns]);
    let evaluator = context.evaluator();
    let made = JointKeys::new(context.rlwe(), seed, &rotations.collect::<Vec<_>>()).map_err(lift)?;
    let encoder = BatchEncoder::new(2 * evaluator.row_length(), evaluator.plain_modulus()).map_err(lift)?;
    let JointKeys { secrets, secret, public, keys } = made;
    Ok((Party { context, evaluator, secret, public, keys, encoder }, secrets))
}
