//! Schemes behind one interface: contexts, ciphertexts and plaintexts as Python sees them, dispatched by hand once.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use sunzi_bfv::Bfv;
use sunzi_bgv::Bgv;
use sunzi_circuits::ExactEvaluator;
use sunzi_ckks::Ckks;
use sunzi_encoding::{BatchEncoder, Encoder as _, GaloisEncoder};
use sunzi_ring::Ring;
use sunzi_rlwe::wire::{Fingerprint, NoContext, StoredParameters, to_bytes};
use sunzi_rlwe::{Exact as _, Homomorphic as _, RlweContext, Security};
use {sunzi_bfv as bfv, sunzi_bgv as bgv, sunzi_ckks as ckks};

use crate::error::Failure;

/// Parameters, tables and evaluator of an exact scheme.
pub(crate) struct Exact<P, E> {
    pub(crate) parameters: P,
    pub(crate) evaluator: E,
    pub(crate) encoder: Slots,
}

/// Encoder of the slots of an exact scheme, by the index of its ring.
pub(crate) enum Slots {
    /// Numbers modulo t, in a ring whose index is a power of two.
    Numbers(BatchEncoder),
    /// Elements of GF(p^d) or GR(p^r, d), in a ring of any other index.
    Elements(GaloisEncoder),
}

impl Slots {
    fn new(ring: &Ring, plain_modulus: u64) -> Result<Self, Failure> {
        if ring.index().is_power_of_two() {
            return Ok(Self::Numbers(BatchEncoder::new(ring.degree(), plain_modulus)?));
        }
        let encoder = GaloisEncoder::for_modulus(ring.index(), plain_modulus)?;
        Ok(Self::Elements(encoder.in_basis(ring.coefficient_basis())))
    }

    fn count(&self) -> usize {
        match self {
            Self::Numbers(encoder) => encoder.slots(),
            Self::Elements(encoder) => encoder.slots(),
        }
    }
}

impl<P, E: ExactEvaluator> Exact<P, E> {
    fn new(parameters: P, evaluator: E) -> Result<Self, Failure> {
        let (context, ring) = (evaluator.context(), E::Scheme::rlwe(evaluator.context()).ring());
        let encoder = Slots::new(ring, E::Scheme::plain_modulus(context))?;
        Ok(Self { parameters, evaluator, encoder })
    }
}

/// Parameters, tables and evaluator of CKKS, with the encoders of every number of slots used so far.
pub(crate) struct Reals {
    pub(crate) parameters: ckks::Parameters,
    pub(crate) evaluator: ckks::Evaluator,
    encoders: Mutex<BTreeMap<usize, Arc<ckks::Encoder>>>,
}

impl Reals {
    pub(crate) fn encoder(&self, slots: usize) -> Result<Arc<ckks::Encoder>, Failure> {
        let mut encoders = self.encoders.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(encoder) = encoders.get(&slots) {
            return Ok(Arc::clone(encoder));
        }
        let encoder = Arc::new(ckks::Encoder::new(self.evaluator.context(), slots)?);
        encoders.insert(slots, Arc::clone(&encoder));
        Ok(encoder)
    }
}

/// Scheme of a Python context, with its parameters and tables.
pub(crate) enum Scheme {
    Bfv(Exact<bfv::Parameters, bfv::Evaluator>),
    Bgv(Exact<bgv::Parameters, bgv::Evaluator>),
    Ckks(Reals),
}

/// A ciphertext of one of the schemes, shared between Python objects.
#[derive(Clone)]
pub(crate) enum Cipher {
    Bfv(Arc<bfv::Ciphertext>),
    Bgv(Arc<bgv::Ciphertext>),
    Ckks(Arc<ckks::Ciphertext>),
}

impl From<sunzi_rlwe::Ciphertext<Bfv>> for Cipher {
    fn from(ciphertext: bfv::Ciphertext) -> Self {
        Self::Bfv(Arc::new(ciphertext))
    }
}

impl From<sunzi_rlwe::Ciphertext<Bgv>> for Cipher {
    fn from(ciphertext: bgv::Ciphertext) -> Self {
        Self::Bgv(Arc::new(ciphertext))
    }
}

impl From<sunzi_rlwe::Ciphertext<Ckks>> for Cipher {
    fn from(ciphertext: ckks::Ciphertext) -> Self {
        Self::Ckks(Arc::new(ciphertext))
    }
}

/// A plaintext of one of the schemes, shared between Python objects.
#[derive(Clone)]
pub(crate) enum Plain {
    Exact(Arc<sunzi_encoding::Plaintext>),
    Ckks(Arc<ckks::Plaintext>),
}

impl Scheme {
    pub(crate) fn bfv(parameters: bfv::Parameters) -> Result<Self, Failure> {
        let context = bfv::Context::new(&parameters)?;
        Ok(Self::Bfv(Exact::new(parameters, bfv::Evaluator::new(&context))?))
    }

    /// Makes a BFV scheme for each plaintext modulus; they share ring, tables and keys.
    pub(crate) fn bfv_of(parameters: &bfv::CrtParameters) -> Result<Vec<Self>, Failure> {
        let (contexts, parts) = (parameters.contexts()?, parameters.parts());
        let each = contexts.iter().zip(parts);
        each.map(|(context, part)| Ok(Self::Bfv(Exact::new(part, bfv::Evaluator::new(context))?))).collect()
    }

    pub(crate) fn bgv(parameters: bgv::Parameters) -> Result<Self, Failure> {
        let context = bgv::Context::new(&parameters)?;
        Ok(Self::Bgv(Exact::new(parameters, bgv::Evaluator::new(&context))?))
    }

    /// Makes a BGV scheme for each plaintext modulus; they share ring, tables and keys.
    pub(crate) fn bgv_of(parameters: &bgv::Parameters, plain_moduli: &[u64]) -> Result<Vec<Self>, Failure> {
        let contexts = parameters.contexts(plain_moduli)?;
        let scheme = |context: &bgv::Context| {
            let part = parameters.clone().with_plain_modulus(context.plain_modulus());
            Ok(Self::Bgv(Exact::new(part, bgv::Evaluator::new(context))?))
        };
        contexts.iter().map(scheme).collect()
    }

    pub(crate) fn ckks(parameters: ckks::Parameters) -> Result<Self, Failure> {
        let context = ckks::Context::new(&parameters)?;
        let evaluator = ckks::Evaluator::new(&context);
        Ok(Self::Ckks(Reals { parameters, evaluator, encoders: Mutex::default() }))
    }

    pub(crate) fn bfv_parameters(&self) -> Option<&bfv::Parameters> {
        if let Self::Bfv(exact) = self { Some(&exact.parameters) } else { None }
    }

    pub(crate) fn bgv_parameters(&self) -> Option<&bgv::Parameters> {
        if let Self::Bgv(exact) = self { Some(&exact.parameters) } else { None }
    }

    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Bfv(_) => "bfv",
            Self::Bgv(_) => "bgv",
            Self::Ckks(_) => "ckks",
        }
    }

    pub(crate) fn rlwe(&self) -> &RlweContext {
        match self {
            Self::Bfv(exact) => exact.evaluator.context().rlwe(),
            Self::Bgv(exact) => exact.evaluator.context().rlwe(),
            Self::Ckks(reals) => reals.evaluator.context().rlwe(),
        }
    }

    /// Number of words of one of the two polynomials of a fresh ciphertext.
    pub(crate) fn words(&self) -> usize {
        self.rlwe().ring().degree() * self.moduli().0.len()
    }

    /// Number of slots of one ciphertext.
    pub(crate) fn slots(&self) -> usize {
        match self {
            Self::Bfv(exact) => exact.encoder.count(),
            Self::Bgv(exact) => exact.encoder.count(),
            Self::Ckks(reals) => reals.evaluator.context().max_slots(),
        }
    }

    fn encoders(&self) -> Option<&Slots> {
        match self {
            Self::Bfv(exact) => Some(&exact.encoder),
            Self::Bgv(exact) => Some(&exact.encoder),
            Self::Ckks(_) => None,
        }
    }

    /// Encoder of numbers in the slots of an exact scheme.
    pub(crate) fn encoder(&self) -> Result<&BatchEncoder, Failure> {
        match self.encoders() {
            Some(Slots::Numbers(encoder)) => Ok(encoder),
            Some(Slots::Elements(_)) => Err(Failure::new(
                "WrongScheme",
                "slots of numbers; this context has slots of field elements: encrypt_elements and decrypt_elements take those",
            )),
            None => Err(wrong_scheme("a plaintext modulus", "bfv or bgv", "ckks")),
        }
    }

    /// Encoder of elements in the slots of a ring whose index is no power of two.
    pub(crate) fn elements(&self) -> Result<&GaloisEncoder, Failure> {
        match self.encoders() {
            Some(Slots::Elements(encoder)) => Ok(encoder),
            _ => Err(Failure::new(
                "WrongScheme",
                "slots of field elements; this context has slots of numbers: make one with Context.for_field",
            )),
        }
    }

    /// Plaintext modulus of an exact scheme.
    pub(crate) fn plain_modulus(&self) -> Option<u64> {
        match self {
            Self::Bfv(exact) => Some(exact.parameters.plain_modulus()),
            Self::Bgv(exact) => Some(exact.parameters.plain_modulus()),
            Self::Ckks(_) => None,
        }
    }

    pub(crate) fn reals(&self) -> Result<&Reals, Failure> {
        match self {
            Self::Ckks(reals) => Ok(reals),
            other => Err(wrong_scheme("this operation", "ckks", other.name())),
        }
    }

    /// Multiplicative depth of the parameters; `None` for BFV, whose levels are not counted.
    pub(crate) fn depth(&self) -> Option<usize> {
        match self {
            Self::Bfv(_) => None,
            Self::Bgv(exact) => Some(exact.parameters.depth()),
            Self::Ckks(reals) => Some(reals.parameters.depth()),
        }
    }

    /// Level of the ring up to which keys serve ciphertexts of a level of CKKS: the highest one unless given, and for integers.
    pub(crate) fn key_level(&self, level: Option<usize>) -> Result<usize, Failure> {
        match (level, self) {
            (Some(level), Self::Ckks(reals)) => Ok(reals.evaluator.context().key_level(level)?),
            _ => Ok(self.rlwe().level()),
        }
    }

    pub(crate) fn security(&self) -> Security {
        self.rlwe().security()
    }

    pub(crate) fn moduli(&self) -> (&[u64], &[u64]) {
        match self {
            Self::Bfv(exact) => (exact.parameters.moduli(), exact.parameters.special_moduli()),
            Self::Bgv(exact) => {
                (exact.parameters.moduli(), exact.parameters.key_switching().special_moduli.as_slice())
            }
            Self::Ckks(reals) => {
                (reals.parameters.moduli(), reals.parameters.key_switching().special_moduli.as_slice())
            }
        }
    }

    /// Fingerprint that identifies the parameters in files.
    pub(crate) fn fingerprint(&self) -> Fingerprint {
        match self {
            Self::Bfv(exact) => exact.parameters.fingerprint(),
            Self::Bgv(exact) => exact.parameters.fingerprint(),
            Self::Ckks(reals) => reals.parameters.fingerprint(),
        }
    }

    /// Returns the parameters of the scheme as the bytes of a file.
    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>, Failure> {
        fn bytes<P: StoredParameters>(parameters: &P) -> Result<Vec<u8>, Failure> {
            Ok(to_bytes(&NoContext, parameters)?)
        }
        match self {
            Self::Bfv(exact) => bytes(&exact.parameters),
            Self::Bgv(exact) => bytes(&exact.parameters),
            Self::Ckks(reals) => bytes(&reals.parameters),
        }
    }
}

pub(crate) fn wrong_scheme(what: &str, expected: &str, got: &str) -> Failure {
    Failure::new("WrongScheme", format!("{what} is of {expected}; this context is of {got}"))
}

/// Makes the error for two objects of different schemes.
pub(crate) fn mixed() -> Failure {
    Failure::new("WrongScheme", "the operands belong to contexts of different schemes: encrypt both in one")
}
