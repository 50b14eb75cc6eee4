//! The side of the server.

use curve25519_dalek::{RistrettoPoint, Scalar};
use rand_core::CryptoRng;
use rayon::prelude::*;
use sha2::{Digest, Sha512};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::hash::{length, to_group, to_key};
use crate::proof::{check_count, random};
use crate::{Element, MOST_BYTES, OprfError, Output, Proof, PublicKey};

/// The secret key of a server; erased when dropped.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct ServerKey {
    pub(crate) scalar: Scalar,
}

impl ServerKey {
    /// Number of bytes of a key.
    pub const BYTES: usize = 32;

    /// Draws a key.
    #[must_use]
    pub fn generate(rng: &mut dyn CryptoRng) -> Self {
        loop {
            let scalar = random(rng);
            if scalar != Scalar::ZERO {
                return Self { scalar };
            }
        }
    }

    /// Derives a key from 32 secret bytes and from a text that tells its keys apart (RFC 9497, section 3.2.1).
    ///
    /// # Errors
    /// [`OprfError::Input`] for a text that is too long; [`OprfError::Key`] never, but for one seed in 2^250.
    pub fn derive(seed: &[u8; 32], info: &[u8]) -> Result<Self, OprfError> {
        if info.len() > MOST_BYTES {
            return Err(OprfError::Input(info.len()));
        }
        let scalar = (0..=u8::MAX).map(|counter| to_key(&[seed, &length(info), info, &[counter]]));
        let scalar = scalar.into_iter().find(|scalar| *scalar != Scalar::ZERO).ok_or(OprfError::Key)?;
        Ok(Self { scalar })
    }

    /// Reads a key.
    ///
    /// # Errors
    /// [`OprfError::Key`] for bytes that are no key.
    pub fn from_bytes(bytes: &[u8; Self::BYTES]) -> Result<Self, OprfError> {
        match Option::<Scalar>::from(Scalar::from_canonical_bytes(*bytes)) {
            Some(scalar) if scalar != Scalar::ZERO => Ok(Self { scalar }),
            _ => Err(OprfError::Key),
        }
    }

    /// The bytes of a key, which are secret.
    #[must_use]
    pub fn to_bytes(&self) -> Zeroizing<[u8; Self::BYTES]> {
        Zeroizing::new(self.scalar.to_bytes())
    }

    /// The public key, which clients check proofs by.
    #[must_use]
    pub fn public_key(&self) -> PublicKey {
        PublicKey(Element::of(RistrettoPoint::mul_base(&self.scalar)))
    }

    /// Evaluates blinded elements, and proves that it was under this key.
    ///
    /// # Errors
    /// [`OprfError::Inputs`] for no elements, or more than [`MOST_INPUTS`](crate::MOST_INPUTS).
    pub fn evaluate(
        &self,
        blinded: &[Element],
        rng: &mut dyn CryptoRng,
    ) -> Result<(Vec<Element>, Proof), OprfError> {
        check_count(blinded.len())?;
        let evaluated: Vec<Element> =
            blinded.par_iter().map(|one| Element::of(one.point * self.scalar)).collect();
        let nonce = random(rng);
        let keys = (&self.scalar, &self.public_key());
        let proof = Proof::new(keys, blinded, &evaluated, &nonce);
        Ok((evaluated, proof))
    }

    /// The output for an input, for whoever has the key: what a client gets.
    ///
    /// # Errors
    /// [`OprfError::Input`] for an input that is too long.
    pub fn output(&self, input: impl AsRef<[u8]>) -> Result<Output, OprfError> {
        let input = input.as_ref();
        Ok(finished(input, &Element::of(hashed(input)? * self.scalar)))
    }
}

/// Hashes an input to an element that is not neutral.
pub(crate) fn hashed(input: &[u8]) -> Result<RistrettoPoint, OprfError> {
    use curve25519_dalek::traits::IsIdentity as _;

    let point = to_group(input);
    if input.len() > MOST_BYTES || point.is_identity() {
        return Err(OprfError::Input(input.len()));
    }
    Ok(point)
}

/// The output for an input and its evaluated element (RFC 9497, section 3.3.1).
pub(crate) fn finished(input: &[u8], element: &Element) -> Output {
    let bytes = element.as_bytes();
    let hash = Sha512::new_with_prefix(length(input)).chain_update(input).chain_update(length(bytes));
    Zeroizing::new(hash.chain_update(bytes).chain_update(b"Finalize").finalize().into())
}
