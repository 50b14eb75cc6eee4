//! Ciphertexts of every scheme.

use num_bigint::BigInt;
use sunzi_ring::{Evaluation, Poly, Ring, RingError};

use crate::encryption::Encryption;
use crate::{KeyId, NoiseBound, RlweError, Trace};

/// A scheme, as a type parameter of ciphertexts, so that ciphertexts of two schemes do not mix.
pub trait Scheme: Copy + std::fmt::Debug + Send + Sync + 'static {
    /// Data that a ciphertext of the scheme carries besides polynomials: the plaintext modulus for BFV, the
    /// correction factor too for BGV, the scale for CKKS.
    type Metadata: Clone + std::fmt::Debug + PartialEq + Send + Sync;
    /// Name of the scheme in texts of errors.
    const NAME: &'static str;
}

/// A ciphertext: a polynomial c_0 + c_1·Y + … over R_q whose value at Y = s hides a message.
///
/// The parts of a ciphertext are in evaluation form. Fresh and relinearised ciphertexts have two, a
/// product three.
#[derive(Clone)]
pub struct Ciphertext<S: Scheme> {
    parts: Vec<Poly<Evaluation>>,
    /// Seed from which part c_1 of a ciphertext follows, as long as no operation changed c_1.
    seed: Option<[u8; 32]>,
    metadata: S::Metadata,
    noise: NoiseBound,
    key: KeyId,
    trace: Trace,
}

impl<S: Scheme> Ciphertext<S> {
    /// Makes a ciphertext of its parts; for schemes, as users encrypt.
    ///
    /// # Errors
    /// [`RlweError::WrongPartCount`] for fewer than two parts.
    pub fn from_parts(
        parts: Vec<Poly<Evaluation>>,
        metadata: S::Metadata,
        noise: NoiseBound,
        key: KeyId,
    ) -> Result<Self, RlweError> {
        check_parts(&parts)?;
        Ok(Self { parts, seed: None, metadata, noise, key, trace: Trace::default() })
    }

    /// Makes a ciphertext of a fresh encryption; for schemes, as users encrypt.
    #[must_use]
    pub fn from_encryption(encryption: Encryption, metadata: S::Metadata, key: KeyId) -> Self {
        let Encryption { parts, noise, seed } = encryption;
        Self { parts: parts.into(), seed, metadata, noise, key, trace: Trace::default() }
    }

    /// The ciphertext that a file had; with a seed only where part c_1 follows from it.
    pub(crate) fn from_stored(
        parts: Vec<Poly<Evaluation>>,
        seed: Option<[u8; 32]>,
        metadata: S::Metadata,
        noise: NoiseBound,
        key: KeyId,
    ) -> Result<Self, RlweError> {
        Ok(Self { seed, ..Self::from_parts(parts, metadata, noise, key)? })
    }

    /// The seed of part c_1, as long as c_1 is as a fresh encryption under the secret key had it.
    #[must_use]
    pub fn seed(&self) -> Option<&[u8; 32]> {
        self.seed.as_ref()
    }

    /// Returns a ciphertext with the given parts and the metadata, noise bounds and key of this ciphertext.
    ///
    /// # Errors
    /// Every error of [`from_parts`](Self::from_parts).
    pub fn with_parts(&self, parts: Vec<Poly<Evaluation>>) -> Result<Self, RlweError> {
        check_parts(&parts)?;
        let (metadata, trace) = (self.metadata.clone(), self.trace.clone());
        Ok(Self { parts, seed: None, metadata, noise: self.noise, key: self.key, trace })
    }

    /// The parts c_0, c_1, … of a ciphertext, in evaluation form.
    #[must_use]
    pub fn parts(&self) -> &[Poly<Evaluation>] {
        &self.parts
    }

    /// The parts of a ciphertext, to be changed in place together with its noise bounds.
    pub fn parts_mut(&mut self) -> &mut Vec<Poly<Evaluation>> {
        self.seed = None;
        &mut self.parts
    }

    /// The metadata of a ciphertext that its scheme defines.
    #[must_use]
    pub fn metadata(&self) -> &S::Metadata {
        &self.metadata
    }

    /// Replaces the metadata of a ciphertext, where an operation changes what the parts encode.
    pub fn set_metadata(&mut self, metadata: S::Metadata) {
        self.metadata = metadata;
    }

    /// The worst-case and the tail bound on the noise of a ciphertext.
    #[must_use]
    pub fn noise(&self) -> &NoiseBound {
        &self.noise
    }

    /// Replaces the noise bounds of a ciphertext.
    pub fn set_noise(&mut self, noise: NoiseBound) {
        self.noise = noise;
    }

    /// The trace of a ciphertext: the operations that spent its noise budget.
    #[must_use]
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// Records the operation that made the ciphertext, from `operands` or in place, and the bits left after it: see
    /// [`Trace::record`].
    pub fn record(&mut self, operation: &'static str, bits_left: f64, operands: &[&Trace]) {
        self.trace.record(operation, bits_left, operands);
    }

    /// The number of re-encryptions of the ciphertext, or of the operand with the most of them that it was computed from: operations pass it on.
    #[must_use]
    pub fn hops(&self) -> u32 {
        self.trace.hops()
    }

    /// Sets the number of re-encryptions of a ciphertext.
    pub(crate) fn set_hops(&mut self, hops: u32) {
        self.trace.set_hops(hops);
    }

    /// The name of the secret key that decrypts the ciphertext.
    #[must_use]
    pub fn key(&self) -> KeyId {
        self.key
    }

    /// Checks that `other` belongs to the secret key of this ciphertext.
    ///
    /// # Errors
    /// [`RlweError::KeyMismatch`] naming `what`.
    pub fn check_key(&self, other: KeyId, what: &'static str) -> Result<(), RlweError> {
        if self.key == other { Ok(()) } else { Err(RlweError::KeyMismatch { what }) }
    }

    /// Adds or subtracts ciphertexts: self ← self ± other, of any part counts, over `ring`. `finish` is given what the
    /// result carries besides its parts, with the metadata of `self`, and returns it as the scheme wants it. On an
    /// error, of `finish` too, `self` is not changed.
    ///
    /// # Errors
    /// [`RlweError::KeyMismatch`]; [`RlweError::Ring`] for parts of another ring or level; every error of `finish`.
    pub fn join_assign<E: From<RlweError>>(
        &mut self,
        ring: &Ring,
        other: &Self,
        sign: Sign,
        finish: impl FnOnce(Self) -> Result<Self, E>,
    ) -> Result<(), E> {
        let joined = finish(self.carried(ring, other)?)?;
        let mut parts = std::mem::take(&mut self.parts);
        let mut pairs = parts.iter_mut().zip(&other.parts);
        let added = pairs.try_for_each(|(part, other)| sign.apply(ring, part, other));
        let rest = rest(ring, &other.parts, parts.len(), sign);
        parts.extend(added.and(rest).map_err(RlweError::from)?);
        *self = Self { parts, ..joined };
        Ok(())
    }

    /// Adds or subtracts two ciphertexts into a new one, in one pass over the operands: see
    /// [`join_assign`](Self::join_assign).
    ///
    /// # Errors
    /// Every error of [`join_assign`](Self::join_assign).
    pub fn joined<E: From<RlweError>>(
        &self,
        ring: &Ring,
        other: &Self,
        sign: Sign,
        finish: impl FnOnce(Self) -> Result<Self, E>,
    ) -> Result<Self, E> {
        let joined = finish(self.carried(ring, other)?)?;
        let [plus, own] = [BigInt::from(1), sign.factor()];
        let both = self.parts.iter().zip(&other.parts);
        let both = both.map(|(a, b)| ring.linear_combination(&[(&plus, a), (&own, b)], ring.level()));
        let common = self.parts.len().min(other.parts.len());
        let alone = self.parts.iter().skip(common).cloned().map(Ok);
        let parts: Result<Vec<_>, RingError> = both.chain(alone).collect();
        let mut parts = parts.map_err(RlweError::from)?;
        parts.extend(rest(ring, &other.parts, self.parts.len(), sign).map_err(RlweError::from)?);
        Ok(Self { parts, ..joined })
    }

    /// Returns what a sum or difference of ciphertexts carries besides its parts; no step after this one fails.
    fn carried(&self, ring: &Ring, other: &Self) -> Result<Self, RlweError> {
        self.check_key(other.key, "the second summand")?;
        for part in self.parts.iter().chain(&other.parts) {
            let (got, expected) = (ring.level_of(part)?, ring.level());
            if got != expected {
                return Err(RingError::NoSuchLevel { got: expected, highest: got }.into());
            }
        }
        let (metadata, trace) = (self.metadata.clone(), self.trace.clone());
        let noise = self.noise.sum(&other.noise);
        Ok(Self { parts: Vec::new(), seed: None, metadata, noise, key: self.key, trace })
    }

    /// Adds a message to a ciphertext or subtracts it: c_0 ← c_0 ± message, in the ring of the parts.
    ///
    /// # Errors
    /// [`RlweError::Ring`] for a message of another ring or level.
    pub fn shift(&mut self, ring: &Ring, message: &Poly<Evaluation>, sign: Sign) -> Result<(), RlweError> {
        for c0 in self.parts_mut().iter_mut().take(1) {
            sign.apply(ring, c0, message)?;
        }
        Ok(())
    }

    /// Multiplies the parts and noise bounds of a ciphertext by a constant c: self ← c·self, over the ring of the
    /// parts.
    ///
    /// # Errors
    /// [`RlweError::Ring`] for a ring that is not the ring of the parts.
    pub fn scale_assign(&mut self, ring: &Ring, constant: i64) -> Result<(), RlweError> {
        if constant != 1 {
            for part in self.parts_mut() {
                ring.mul_integer_assign(part, &constant.into())?;
            }
            self.noise = self.noise.times_norm(constant.unsigned_abs() as f64);
        }
        Ok(())
    }

    /// The parts c_0 and c_1 of a ciphertext of exactly two parts.
    ///
    /// # Errors
    /// [`RlweError::WrongPartCount`] for a ciphertext of more parts.
    pub fn two_parts(&self, operation: &'static str) -> Result<[&Poly<Evaluation>; 2], RlweError> {
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

fn check_parts(parts: &[Poly<Evaluation>]) -> Result<(), RlweError> {
    if parts.len() >= 2 {
        return Ok(());
    }
    Err(RlweError::WrongPartCount {
        operation: "a ciphertext",
        expected: "at least two",
        got: parts.len(),
        remedy: "a single polynomial is a plaintext",
    })
}

/// Returns the parts of a sum from part `first` on, which only the second operand has.
fn rest(
    ring: &Ring,
    parts: &[Poly<Evaluation>],
    first: usize,
    sign: Sign,
) -> Result<Vec<Poly<Evaluation>>, RingError> {
    let rest = parts.iter().skip(first);
    rest.map(|part| ring.linear_combination(&[(&sign.factor(), part)], ring.level())).collect()
}

/// Sign of the second operand of a sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// Sign of an addition, a + b.
    Plus,
    /// Sign of a subtraction, a − b.
    Minus,
}

impl Sign {
    /// Adds polynomials or subtracts them: a ← a ± b.
    fn apply(self, ring: &Ring, a: &mut Poly<Evaluation>, b: &Poly<Evaluation>) -> Result<(), RingError> {
        match self {
            Self::Plus => ring.add_assign(a, b),
            Self::Minus => ring.sub_assign(a, b),
        }
    }

    fn factor(self) -> BigInt {
        match self {
            Self::Plus => 1.into(),
            Self::Minus => (-1).into(),
        }
    }
}

/// Dereferences a ciphertext to its noise bounds, so that functions of noise bounds take ciphertexts.
impl<S: Scheme> AsRef<NoiseBound> for Ciphertext<S> {
    fn as_ref(&self) -> &NoiseBound {
        &self.noise
    }
}
