//! Ciphertexts of every scheme.

use sunzi_ring::{Evaluation, PolyRing, RingError};

use crate::{KeyId, NoiseBound, RlweError, Trace};

/// A scheme, as a type: ciphertexts of two schemes do not mix.
pub trait Scheme: Copy + std::fmt::Debug + Send + Sync + 'static {
    /// What a ciphertext of the scheme carries besides polynomials: the plaintext modulus for BFV, the
    /// correction factor too for BGV, the scale for CKKS.
    type Metadata: Clone + std::fmt::Debug + PartialEq + Send + Sync;
    /// The scheme's name in messages.
    const NAME: &'static str;
}

/// A polynomial c_0 + c_1·Y + … over R_q whose value at Y = s hides a message.
///
/// Parts are kept in evaluation form. Fresh and relinearised ciphertexts have two parts, a
/// product three.
#[derive(Clone)]
pub struct Ciphertext<S: Scheme, R: PolyRing> {
    parts: Vec<R::Poly<Evaluation>>,
    metadata: S::Metadata,
    noise: NoiseBound,
    key: KeyId,
    trace: Trace,
}

impl<S: Scheme, R: PolyRing> Ciphertext<S, R> {
    /// Joins parts to a ciphertext. For schemes; users encrypt.
    ///
    /// # Errors
    /// [`RlweError::WrongPartCount`] for fewer than two parts.
    pub fn from_parts(
        parts: Vec<R::Poly<Evaluation>>,
        metadata: S::Metadata,
        noise: NoiseBound,
        key: KeyId,
    ) -> Result<Self, RlweError> {
        if parts.len() < 2 {
            return Err(RlweError::WrongPartCount {
                operation: "a ciphertext",
                expected: "at least two",
                got: parts.len(),
                remedy: "a single polynomial is a plaintext",
            });
        }
        Ok(Self { parts, metadata, noise, key, trace: Trace::default() })
    }

    /// The parts c_0, c_1, ….
    #[must_use]
    pub fn parts(&self) -> &[R::Poly<Evaluation>] {
        &self.parts
    }

    /// The parts, to be changed in place together with the noise bound that follows from it.
    pub fn parts_mut(&mut self) -> &mut Vec<R::Poly<Evaluation>> {
        &mut self.parts
    }

    /// The scheme's metadata.
    #[must_use]
    pub fn metadata(&self) -> &S::Metadata {
        &self.metadata
    }

    /// Replaces the scheme's metadata, where an operation changes what the parts stand for.
    pub fn set_metadata(&mut self, metadata: S::Metadata) {
        self.metadata = metadata;
    }

    /// Both noise bounds.
    #[must_use]
    pub fn noise(&self) -> &NoiseBound {
        &self.noise
    }

    /// Replaces the noise bounds.
    pub fn set_noise(&mut self, noise: NoiseBound) {
        self.noise = noise;
    }

    /// Which operations spent its noise budget.
    #[must_use]
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// Notes the operation that made it, from `operands` or in place, and the bits left after it: see
    /// [`Trace::record`].
    pub fn record(&mut self, operation: &'static str, bits_left: f64, operands: &[&Trace]) {
        self.trace.record(operation, bits_left, operands);
    }

    /// The name of the secret key that opens it.
    #[must_use]
    pub fn key(&self) -> KeyId {
        self.key
    }

    /// Fails unless `other` belongs to the same secret key.
    ///
    /// # Errors
    /// [`RlweError::KeyMismatch`] naming `what`.
    pub fn check_key(&self, other: KeyId, what: &'static str) -> Result<(), RlweError> {
        if self.key == other { Ok(()) } else { Err(RlweError::KeyMismatch { what }) }
    }

    /// self ← self + other, of any part counts: parts and noise bounds. What metadata means for a sum the scheme knows. On an
    /// error `self` is not to be used.
    ///
    /// # Errors
    /// [`RlweError::KeyMismatch`]; [`RlweError::Ring`] for parts of another ring or level.
    pub fn add_assign(&mut self, ring: &R, other: &Self) -> Result<(), RlweError> {
        self.join(ring, other, R::add_assign, |_, _| Ok(()))
    }

    /// self ← self − other, as [`add_assign`](Self::add_assign).
    ///
    /// # Errors
    /// As [`add_assign`](Self::add_assign).
    pub fn sub_assign(&mut self, ring: &R, other: &Self) -> Result<(), RlweError> {
        self.join(ring, other, R::sub_assign, R::neg_assign)
    }

    /// `both` joins what both have, `rest` turns what only `other` has into a part of the result.
    fn join(
        &mut self,
        ring: &R,
        other: &Self,
        both: impl Fn(&R, &mut R::Poly<Evaluation>, &R::Poly<Evaluation>) -> Result<(), RingError>,
        rest: impl Fn(&R, &mut R::Poly<Evaluation>) -> Result<(), RingError>,
    ) -> Result<(), RlweError> {
        self.check_key(other.key, "the second summand")?;
        for (part, other) in self.parts.iter_mut().zip(&other.parts) {
            both(ring, part, other)?;
        }
        for part in other.parts.iter().skip(self.parts.len()) {
            let mut part = part.clone();
            rest(ring, &mut part)?;
            self.parts.push(part);
        }
        self.noise = self.noise.sum(&other.noise);
        Ok(())
    }

    /// c_0 and c_1 of a ciphertext of exactly two parts.
    ///
    /// # Errors
    /// [`RlweError::WrongPartCount`].
    pub fn two_parts(&self, operation: &'static str) -> Result<[&R::Poly<Evaluation>; 2], RlweError> {
        match self.parts.as_slice() {
            [c0, c1] => Ok([c0, c1]),
            parts => Err(RlweError::WrongPartCount {
                operation,
                expected: "two",
                got: parts.len(),
                remedy: "relinearize it first",
            }),
        }
    }
}

/// So that whoever asks for noise takes a ciphertext as well as its bounds.
impl<S: Scheme, R: PolyRing> AsRef<NoiseBound> for Ciphertext<S, R> {
    fn as_ref(&self) -> &NoiseBound {
        &self.noise
    }
}
