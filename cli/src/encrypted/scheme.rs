//! The two schemes, as the job sees them.

use serde::Serialize;
use sunzi::bfv::{self, CrtParameters, Plaintext};
use sunzi::bgv;
use sunzi::circuits::{Arithmetic, EvaluationKeys};
use sunzi::ring::GadgetOptions;
use sunzi::rlwe::{PublicKey, RlweContext, SecretKey, Security, randomness};

use crate::error::CliError;

/// A scheme by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) enum Name {
    /// Any number of operations, as long as noise allows.
    #[serde(rename = "BFV")]
    Bfv,
    /// The operations that were declared, with less work for each.
    #[serde(rename = "BGV")]
    Bgv,
}

impl std::fmt::Display for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Bfv => "BFV",
            Self::Bgv => "BGV",
        })
    }
}

/// The parameters of one scheme for every plaintext modulus; ring and keys are shared.
#[derive(Clone, Debug)]
pub(crate) enum Parameters {
    /// Those of BFV.
    Bfv(CrtParameters),
    /// Those of BGV, made for the largest of these plaintext moduli.
    Bgv(bgv::Parameters, Vec<u64>),
}

impl Parameters {
    pub(crate) fn scheme(&self) -> Name {
        match self {
            Self::Bfv(_) => Name::Bfv,
            Self::Bgv(..) => Name::Bgv,
        }
    }

    pub(crate) fn degree(&self) -> usize {
        match self {
            Self::Bfv(parameters) => parameters.degree(),
            Self::Bgv(parameters, _) => parameters.degree(),
        }
    }

    pub(crate) fn moduli(&self) -> &[u64] {
        match self {
            Self::Bfv(parameters) => parameters.moduli(),
            Self::Bgv(parameters, _) => parameters.moduli(),
        }
    }

    pub(crate) fn key_switching(&self) -> &GadgetOptions {
        match self {
            Self::Bfv(parameters) => &parameters.algorithms().key_switching,
            Self::Bgv(parameters, _) => parameters.key_switching(),
        }
    }

    pub(crate) fn plain_moduli(&self) -> &[u64] {
        match self {
            Self::Bfv(parameters) => parameters.plain_moduli(),
            Self::Bgv(_, plain_moduli) => plain_moduli,
        }
    }

    pub(crate) fn security(&self) -> Security {
        match self {
            Self::Bfv(parameters) => parameters.security(),
            Self::Bgv(parameters, _) => parameters.security(),
        }
    }

    /// Ciphertext moduli that a product has.
    pub(crate) fn product_limbs(&self) -> usize {
        match self {
            Self::Bfv(parameters) => parameters.moduli().len(),
            Self::Bgv(parameters, _) => parameters.limbs(parameters.depth()).len(),
        }
    }
}

/// What the job asks of a scheme besides its arithmetic.
pub(crate) trait Scheme: Sized + Sync {
    /// Encrypted slots.
    type Ciphertext: Clone + Send + Sync;
    /// What computes on them.
    type Evaluator: Arithmetic<Ciphertext = Self::Ciphertext, Keys = EvaluationKeys>;

    /// Ring and security.
    fn rlwe(&self) -> &RlweContext;
    /// The plaintext modulus t.
    fn plain_modulus(&self) -> u64;
    /// What computes, without any secret.
    fn evaluator(&self) -> Self::Evaluator;
    /// Encrypts under the public key.
    fn encrypt(&self, plaintext: &Plaintext, key: &PublicKey) -> Result<Self::Ciphertext, CliError>;
    /// Opens a ciphertext.
    fn decrypt(&self, ciphertext: &Self::Ciphertext, key: &SecretKey) -> Result<Plaintext, CliError>;
}

/// The methods of a context under the names of the trait.
macro_rules! scheme {
    ($scheme:ident) => {
        impl Scheme for $scheme::Context {
            type Ciphertext = $scheme::Ciphertext;
            type Evaluator = $scheme::Evaluator;

            fn rlwe(&self) -> &RlweContext {
                Self::rlwe(self)
            }

            fn plain_modulus(&self) -> u64 {
                Self::plain_modulus(self)
            }

            fn evaluator(&self) -> Self::Evaluator {
                $scheme::Evaluator::new(self)
            }

            fn encrypt(&self, plaintext: &Plaintext, key: &PublicKey) -> Result<Self::Ciphertext, CliError> {
                let mut rng = randomness::from_os().map_err(CliError::failure)?;
                Self::encrypt(self, plaintext, key, &mut rng).map_err(CliError::failure)
            }

            fn decrypt(&self, ciphertext: &Self::Ciphertext, key: &SecretKey) -> Result<Plaintext, CliError> {
                Self::decrypt(self, ciphertext, key).map_err(CliError::failure)
            }
        }
    };
}

scheme!(bfv);
scheme!(bgv);

/// One context for each plaintext modulus, over one ring.
pub(crate) fn bfv_contexts(parameters: &CrtParameters) -> Result<Vec<bfv::Context>, CliError> {
    let mut contexts: Vec<bfv::Context> = Vec::new();
    for part in parameters.parts() {
        let context = match contexts.first() {
            Some(first) => first.with_plain_modulus(part.plain_modulus()),
            None => bfv::Context::new(&part),
        };
        contexts.push(context.map_err(CliError::failure)?);
    }
    Ok(contexts)
}

/// One context for each plaintext modulus, over one ring.
pub(crate) fn bgv_contexts(
    parameters: &bgv::Parameters,
    plain_moduli: &[u64],
) -> Result<Vec<bgv::Context>, CliError> {
    let mut contexts: Vec<bgv::Context> = Vec::new();
    for &plain_modulus in plain_moduli {
        let settings = bgv::Settings { plain_modulus, ..bgv::Settings::from(parameters) };
        let ring = match contexts.first() {
            Some(first) => first.ring().clone(),
            None => parameters.poly_ring().map_err(CliError::failure)?,
        };
        contexts.push(bgv::Context::with_ring(ring, &settings).map_err(CliError::failure)?);
    }
    Ok(contexts)
}
