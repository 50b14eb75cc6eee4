//! Proofs that elements were evaluated under one key (RFC 9497, section 2.2).

use curve25519_dalek::{RistrettoPoint, Scalar};
use rand_core::CryptoRng;
use sha2::{Digest, Sha512};

use crate::hash::{CONTEXT, length, to_scalar};
use crate::{Element, MOST_INPUTS, OprfError, PublicKey};

/// A proof that elements were evaluated under a published key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Proof {
    challenge: Scalar,
    response: Scalar,
}

/// Draws a scalar.
pub(crate) fn random(rng: &mut dyn CryptoRng) -> Scalar {
    let mut bytes = zeroize::Zeroizing::new([0; 64]);
    rng.fill_bytes(&mut *bytes);
    Scalar::from_bytes_mod_order_wide(&bytes)
}

/// Fails for a number of elements that one proof is not for.
pub(crate) fn check_count(count: usize) -> Result<(), OprfError> {
    if (1..=MOST_INPUTS).contains(&count) { Ok(()) } else { Err(OprfError::Inputs(count)) }
}

impl Proof {
    /// Number of bytes of a proof.
    pub const BYTES: usize = 64;

    /// Reads a proof.
    ///
    /// # Errors
    /// [`OprfError::Proof`] for bytes that are no proof.
    pub fn from_bytes(bytes: &[u8; Self::BYTES]) -> Result<Self, OprfError> {
        let scalar = |half: Option<&[u8; 32]>| {
            half.and_then(|bytes| Option::from(Scalar::from_canonical_bytes(*bytes))).ok_or(OprfError::Proof)
        };
        Ok(Self { challenge: scalar(bytes.first_chunk())?, response: scalar(bytes.last_chunk())? })
    }

    /// The bytes of a proof.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        let halves = self.challenge.to_bytes().into_iter().chain(self.response.to_bytes());
        bytes.iter_mut().zip(halves).for_each(|(to, byte)| *to = byte);
        bytes
    }

    /// Proves that elements were evaluated under a key: the nonce is random, and used once.
    pub(crate) fn new(
        (key, public): (&Scalar, &PublicKey),
        blinded: &[Element],
        evaluated: &[Element],
        nonce: &Scalar,
    ) -> Self {
        let blind = composite(public, blinded, evaluated).0;
        // Whoever has the key needs no second composite.
        let result = blind * key;
        let commitments = [RistrettoPoint::mul_base(nonce), blind * nonce];
        let challenge = challenge(public, [blind, result], commitments);
        Self { challenge, response: nonce - challenge * key }
    }

    /// Checks a proof.
    pub(crate) fn verify(
        &self,
        key: &PublicKey,
        blinded: &[Element],
        evaluated: &[Element],
    ) -> Result<(), OprfError> {
        check_count(blinded.len())?;
        let (blind, result) = composite(key, blinded, evaluated);
        let commitments = [
            RistrettoPoint::mul_base(&self.response) + key.0.point * self.challenge,
            blind * self.response + result * self.challenge,
        ];
        if challenge(key, [blind, result], commitments) == self.challenge {
            Ok(())
        } else {
            Err(OprfError::Proof)
        }
    }
}

/// Returns random sums of blinded and of evaluated elements, with factors that follow from all of them.
fn composite(
    key: &PublicKey,
    blinded: &[Element],
    evaluated: &[Element],
) -> (RistrettoPoint, RistrettoPoint) {
    let (key, domain) = (key.as_bytes(), [b"Seed-", CONTEXT].concat());
    let seed = Sha512::new_with_prefix(length(key)).chain_update(key).chain_update(length(&domain));
    let seed: [u8; 64] = seed.chain_update(&domain).finalize().into();
    let factor = |(at, (blinded, evaluated)): (u16, (&Element, &Element))| {
        let (blinded, evaluated) = (blinded.as_bytes(), evaluated.as_bytes());
        let (of_blinded, of_evaluated) = (length(blinded), length(evaluated));
        let parts: [&[u8]; 8] = [
            &length(&seed),
            &seed,
            &at.to_be_bytes(),
            &of_blinded,
            blinded,
            &of_evaluated,
            evaluated,
            b"Composite",
        ];
        to_scalar(&parts)
    };
    let factors: Vec<Scalar> = (0..).zip(blinded.iter().zip(evaluated)).map(factor).collect();
    // Elements and factors were sent, so that times tell nothing secret.
    let sum = |elements: &[Element]| {
        use curve25519_dalek::traits::VartimeMultiscalarMul as _;
        RistrettoPoint::vartime_multiscalar_mul(&factors, elements.iter().map(|element| element.point))
    };
    (sum(blinded), sum(evaluated))
}

/// Hashes what a proof is about to its challenge.
fn challenge(key: &PublicKey, composites: [RistrettoPoint; 2], commitments: [RistrettoPoint; 2]) -> Scalar {
    let points = composites.into_iter().chain(commitments).map(|point| point.compress().to_bytes());
    let mut message = Vec::new();
    for bytes in std::iter::once(*key.as_bytes()).chain(points) {
        message.extend(length(&bytes));
        message.extend(bytes);
    }
    to_scalar(&[&message, b"Challenge"])
}
