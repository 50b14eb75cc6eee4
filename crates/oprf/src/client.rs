//! The side of the client.

use curve25519_dalek::Scalar;
use rand_core::CryptoRng;
use rayon::prelude::*;
use zeroize::{Zeroize as _, ZeroizeOnDrop};

use crate::proof::check_count;
use crate::server::{finished, hashed};
use crate::{Element, OprfError, Output, Proof, PublicKey, ServerKey};

/// Inputs of a client, blinded: the server sees elements at random. Inputs and blinds are secret, and erased when dropped.
#[derive(ZeroizeOnDrop)]
pub struct Blinded {
    inputs: Vec<Vec<u8>>,
    blinds: Vec<Scalar>,
    #[zeroize(skip)]
    elements: Vec<Element>,
}

impl Blinded {
    /// Blinds inputs.
    ///
    /// # Errors
    /// [`OprfError::Inputs`] for none, or more than [`MOST_INPUTS`](crate::MOST_INPUTS); [`OprfError::Input`] for one that is too long.
    pub fn new(inputs: &[impl AsRef<[u8]> + Sync], rng: &mut dyn CryptoRng) -> Result<Self, OprfError> {
        let blinds = inputs.iter().map(|_| ServerKey::generate(rng).scalar).collect();
        Self::with_blinds(inputs, blinds)
    }

    /// Blinds inputs by given numbers, for notes of what was asked before.
    fn with_blinds(inputs: &[impl AsRef<[u8]> + Sync], blinds: Vec<Scalar>) -> Result<Self, OprfError> {
        check_count(inputs.len())?;
        let blinded = inputs.par_iter().zip(&blinds);
        let elements = blinded.map(|(input, blind)| Ok(Element::of(hashed(input.as_ref())? * blind)));
        let elements = elements.collect::<Result<_, OprfError>>()?;
        let inputs = inputs.iter().map(|input| input.as_ref().to_vec()).collect();
        Ok(Self { inputs, blinds, elements })
    }

    /// Blinds inputs by the blinds of before, which a note has.
    ///
    /// # Errors
    /// Every error of [`new`](Self::new); [`OprfError::Key`] for bytes that are no blind; [`OprfError::Count`] for another number of them.
    pub fn again(
        inputs: &[impl AsRef<[u8]> + Sync],
        blinds: &[[u8; ServerKey::BYTES]],
    ) -> Result<Self, OprfError> {
        if inputs.len() != blinds.len() {
            return Err(OprfError::Count { expected: inputs.len(), got: blinds.len() });
        }
        let blinds = blinds.iter().map(|bytes| Ok(ServerKey::from_bytes(bytes)?.scalar));
        Self::with_blinds(inputs, blinds.collect::<Result<_, OprfError>>()?)
    }

    /// The elements that the server evaluates.
    #[must_use]
    pub fn elements(&self) -> &[Element] {
        &self.elements
    }

    /// The blinds of the inputs, for a note: they are secret.
    #[must_use]
    pub fn blinds(&self) -> Vec<[u8; ServerKey::BYTES]> {
        self.blinds.iter().map(Scalar::to_bytes).collect()
    }

    /// Checks the proof of a server, and returns the outputs for all inputs.
    ///
    /// # Errors
    /// [`OprfError::Count`] for another number of elements than there are inputs; [`OprfError::Proof`] for elements that were not evaluated under this key.
    pub fn finish(
        &self,
        evaluated: &[Element],
        proof: &Proof,
        key: &PublicKey,
    ) -> Result<Vec<Output>, OprfError> {
        if evaluated.len() != self.elements.len() {
            return Err(OprfError::Count { expected: self.elements.len(), got: evaluated.len() });
        }
        proof.verify(key, &self.elements, evaluated)?;
        let mut inverses = self.blinds.clone();
        Scalar::invert_batch_alloc(&mut inverses);
        let outputs = self.inputs.par_iter().zip(&inverses).zip(evaluated);
        let outputs = outputs
            .map(|((input, inverse), one)| finished(input, &Element::of(one.point * inverse)))
            .collect();
        inverses.zeroize();
        Ok(outputs)
    }
}
