//! Chooses BFV parameters from what is known of the computation.
//!
//! A BFV [`Request`] describes the circuit and the numbers; the search tries every ring degree and way to split the
//! plaintext space, predicts the noise with the formulas of [`noise`](crate::noise), and takes the cheapest set that
//! leaves a margin.

mod cost;
mod moduli;
mod predict;
mod relax;
mod search;
mod switching;
#[cfg(test)]
mod tests;

use num_bigint::BigUint;
use sunzi_encoding::{EncodingError, PlainRequest};
use sunzi_rlwe::reencryption::Reencryptions;
use sunzi_rlwe::{RingShape, SecretDistribution, Security, SharingPolicy};

use crate::algorithms::Algorithms;
use crate::error::BfvError;
use crate::explain::{Choice, Explanation};
use crate::parameters::{CrtParameters, Parameters};
use crate::request::{KeySwitching, Request};

/// Builder of BFV [`Parameters`] for a computation.
///
/// The BFV builder provides for this circuit: up to 2^`additions` fresh ciphertexts are summed; then, `depth` times,
/// two such results are multiplied and relinearised, up to 2^`additions` products are summed, `rotations` times the
/// sum is added to a rotation of itself, and `plain_products` times it is multiplied by a plaintext. With depth 0 the
/// rotations and plaintext products act on the sum of fresh ciphertexts. All operands may depend on each other.
///
/// The BFV builder cannot know how large the numbers grow: choose the plaintext space for the largest intermediate
/// result, sums included.
///
/// ```
/// use sunzi_bfv::Parameters;
///
/// let parameters = Parameters::builder().depth(1).plain_bits(20).additions(10).build()?;
/// assert!(parameters.supports_batching());
/// # Ok::<(), sunzi_bfv::BfvError>(())
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct ParametersBuilder {
    request: Request,
}

impl Parameters {
    /// Starts to choose BFV parameters from what is known of the computation.
    pub fn builder() -> ParametersBuilder {
        ParametersBuilder::default()
    }
}

impl ParametersBuilder {
    /// Sets how many ciphertext multiplications follow one another; 1 unless set.
    pub fn depth(self, depth: usize) -> Self {
        Self { request: Request { depth, ..self.request } }
    }

    /// Asks for one plaintext modulus of at least this many bits, t ≥ 2^(bits − 1); 1 to 60. The default is 17
    /// bits.
    pub fn plain_bits(self, bits: u32) -> Self {
        Self { request: Request { plain: PlainRequest::Bits(bits), ..self.request } }
    }

    /// Asks for exactly this plaintext modulus t.
    pub fn plain_modulus(self, plain_modulus: u64) -> Self {
        Self { request: Request { plain: PlainRequest::Modulus(plain_modulus), ..self.request } }
    }

    /// Asks for room for every integer from −`magnitude` to `magnitude`. It may take several plaintext moduli: use
    /// [`build_crt`](Self::build_crt).
    pub fn plain_range(self, magnitude: impl Into<BigUint>) -> Self {
        Self { request: Request { plain: PlainRequest::Range(magnitude.into()), ..self.request } }
    }

    /// Sets whether n numbers share a ciphertext, slot by slot; true unless set. Without batching any plaintext
    /// modulus will do.
    pub fn batching(self, batching: bool) -> Self {
        Self { request: Request { batching, ..self.request } }
    }

    /// Sets log2 of how many ciphertexts or products are summed at each level; 0 unless set.
    pub fn additions(self, log2_terms: u32) -> Self {
        Self { request: Request { additions: log2_terms, ..self.request } }
    }

    /// Sets the rotate-and-add steps at each level, log2 of the slots that are summed; 0 unless set.
    pub fn rotations(self, steps: u32) -> Self {
        Self { request: Request { rotations: steps, ..self.request } }
    }

    /// Sets the multiplications by plaintexts at each level; 0 unless set.
    pub fn plain_products(self, count: usize) -> Self {
        Self { request: Request { plain_products: count, ..self.request } }
    }

    /// Asks for a ring with at least this many slots in one ciphertext.
    pub fn slots(self, slots: usize) -> Self {
        Self { request: Request { slots, ..self.request } }
    }

    /// Asks for exactly this ring degree, as log2 n: the ring Z\[X\]/(X^n + 1).
    pub fn log2_degree(self, log2_degree: u32) -> Self {
        self.ring(RingShape::Log2Degree(log2_degree))
    }

    /// Asks for exactly the ring Z\[X\]/Φ_m(X) of index m, odd or a multiple of four;
    /// [`log2_degree`](Self::log2_degree) is for a power of two.
    ///
    /// With batching over a ring of index m, a plaintext modulus is a power p^r of a prime that does not divide m, and
    /// slots hold elements of GR(p^r, d), d the order of p modulo m: vectors over GF(2^16) for m = 21845 and t = 2.
    pub fn ring_index(self, m: u64) -> Self {
        self.ring(RingShape::of_index(m))
    }

    fn ring(self, ring: RingShape) -> Self {
        let (log2_degree, ring_index) = ring.names();
        Self { request: Request { log2_degree, ring_index, ..self.request } }
    }

    /// Sets the bits of noise that must be left after the last level; 2 unless set.
    pub fn margin(self, bits: u32) -> Self {
        Self { request: Request { margin: bits, ..self.request } }
    }

    /// Leaves room for `decrypt_for_sharing` under this sharing policy after the last level, for results that have
    /// used all that was asked for.
    pub fn sharing(self, policy: SharingPolicy) -> Self {
        Self { request: Request { sharing: Some(policy), ..self.request } }
    }

    /// Leaves room for so many re-encryptions in a row under this policy, of fresh ciphertexts before the computation or of what has used all that was
    /// asked for. What is [shared](Self::sharing) may have been re-encrypted as often.
    pub fn reencryptions(self, hops: u32, policy: SharingPolicy) -> Self {
        let reencryptions = Some(Reencryptions { hops, policy });
        Self { request: Request { reencryptions, ..self.request } }
    }

    /// Sets how many parties have the secret together, 2 to 1024; 1 unless set. Their keys have the errors of all, and shared results the
    /// flooding noise of all.
    pub fn parties(self, parties: u32) -> Self {
        Self { request: Request { secrets: SecretDistribution::of_parties(parties), ..self.request } }
    }

    /// Sets the security that parameters must reach; 128 bits unless set.
    pub fn security(self, security: Security) -> Self {
        Self { request: Request { security, ..self.request } }
    }

    /// Sets the algorithms of BFV products, decryption and key switching; the fastest unless set.
    pub fn algorithms(self, algorithms: Algorithms) -> Self {
        Self { request: Request { algorithms, ..self.request } }
    }

    /// Sets the method of key switching: the cheapest unless set. Digits and special moduli in
    /// [`algorithms`](Self::algorithms) come first.
    pub fn key_switching(self, key_switching: KeySwitching) -> Self {
        Self { request: Request { key_switching, ..self.request } }
    }

    /// The request that the settings of the BFV builder make.
    #[must_use]
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// Returns the cheapest BFV parameters with one plaintext modulus.
    ///
    /// # Errors
    /// [`BfvError::Request`] for a setting out of range; [`BfvError::NothingFits`], saying what to relax.
    pub fn build(&self) -> Result<Parameters, BfvError> {
        let parameters = self.choose(true)?.parameters;
        Ok(parameters.parts().into_iter().next().ok_or(EncodingError::NoPlainModuli)?)
    }

    /// Returns the cheapest BFV parameters, with as many plaintext moduli as the request takes.
    ///
    /// # Errors
    /// Every error of [`build`](Self::build).
    pub fn build_crt(&self) -> Result<CrtParameters, BfvError> {
        Ok(self.choose(false)?.parameters)
    }

    /// Lists every candidate that [`build_crt`](Self::build_crt) considers, and its choice if there is one.
    ///
    /// # Errors
    /// [`BfvError::Request`] for a setting out of range.
    pub fn explain(&self) -> Result<Explanation, BfvError> {
        self.explain_with(false)
    }

    /// Predicts the bits of noise that the computation leaves in given BFV parameters, whatever was asked of ring and
    /// plaintext space: it fits if they are at least the [margin](Self::margin).
    ///
    /// # Errors
    /// [`BfvError::Request`] for a setting out of range; [`BfvError::Ring`] for algorithms that the moduli do not allow.
    pub fn bits_left(&self, parameters: &CrtParameters) -> Result<f64, BfvError> {
        let (algorithms, secrets) = (parameters.algorithms().clone(), parameters.secrets());
        let request = Request { algorithms, secrets, ..self.request.clone() };
        request.check()?;
        let largest = parameters.plain_moduli().iter().copied().max().ok_or(EncodingError::NoPlainModuli)?;
        let (ring, options) = (parameters.ring().expansion(), &parameters.algorithms().key_switching);
        let left = predict::bits_left(ring, parameters.moduli(), options, largest, &request)?;
        Ok(left.last().copied().unwrap_or(f64::NEG_INFINITY))
    }

    fn explain_with(&self, single: bool) -> Result<Explanation, BfvError> {
        self.request.check()?;
        Ok(search::Search::new(&self.request, single, &mut moduli::Chains::default()).explain())
    }

    fn choose(&self, single: bool) -> Result<Choice, BfvError> {
        let explanation = self.explain_with(single)?;
        match explanation.chosen {
            Some(choice) => Ok(choice),
            None => Err(BfvError::NothingFits(Box::new(relax::advise(&explanation, single)))),
        }
    }
}
