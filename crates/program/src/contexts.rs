//! What parameters are in a running program: one scheme, one ring, a context for each plaintext modulus.
//!
//! Integers wider than one plaintext modulus t are spread over several coprime ones. They share ring and keys, so a column is
//! encrypted once for each t, and a program runs once for each; CKKS has one context.

mod codec;
mod files;
mod keys;

use sunzi_rlwe::{Ciphertext, KeyId, RlweContext, Scheme, memory};

pub use codec::{Codec, Slots};
pub use files::{GALOIS, LEDGER, PARAMETERS, PUBLIC, RELINEARIZATION, SECRET};
pub use keys::{EncryptionKey, PublicKey, SecretKey};

use crate::analysis::{Layout, Parameters, SchemeChoice};
use crate::{Column, ProgramError};

/// Ring, keys and tables of a set of parameters. Cheap to clone.
///
/// ```
/// use sunzi_program::contexts::{Contexts, EncryptionKey};
/// use sunzi_program::run::Cells;
/// use sunzi_program::{Column, Options, Plan, Program, Schema};
/// use sunzi_rlwe::{PublicKey, SecretKey, randomness};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let age = Column::integer("age", 0, 120);
/// let schema = Schema::new(3, vec![age.clone()])?;
/// let plan = Plan::new(&Program::parse("mean(age)", &schema)?, &Options::default())?;
///
/// let contexts = Contexts::new(&plan.parameters)?;
/// let mut rng = randomness::from_os()?;
/// let secret = SecretKey::generate(contexts.rlwe(), &mut rng)?;
/// let public = PublicKey::generate(contexts.rlwe(), &secret, &mut rng)?;
///
/// let codec = contexts.codec(&contexts.layout(schema.rows))?;
/// let cells = Cells::Units(vec![31, 65, 7]);
/// let chunk = codec.encrypt(&age, None, &cells, EncryptionKey::Public(&public), &mut rng)?;
/// let opened = codec.decrypt(&chunk, &secret)?;
/// assert_eq!(codec.cells(&age, None, &opened, 3)?, cells);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Contexts {
    parameters: Parameters,
    /// The RLWE context of the first plaintext modulus: the others share ring and keys.
    rlwe: RlweContext,
    parts: Parts,
}

/// A context for each plaintext modulus.
#[derive(Clone, Debug)]
pub enum Parts {
    /// Of BFV.
    Bfv(Vec<sunzi_bfv::Context>),
    /// Of BGV.
    Bgv(Vec<sunzi_bgv::Context>),
    /// Of CKKS, which has no plaintext modulus.
    Ckks(sunzi_ckks::Context),
}

/// The numbers of one chunk: a ciphertext for each plaintext modulus.
#[derive(Clone)]
pub enum Encrypted {
    /// Of BFV.
    Bfv(Vec<sunzi_bfv::Ciphertext>),
    /// Of BGV.
    Bgv(Vec<sunzi_bgv::Ciphertext>),
    /// Of CKKS.
    Ckks(Box<sunzi_ckks::Ciphertext>),
}

impl Encrypted {
    /// The deviation of the errors of slots, as CKKS estimates it; 0 for exact schemes.
    #[must_use]
    pub fn deviation(&self) -> f64 {
        if let Self::Ckks(ciphertext) = self { ciphertext.metadata().precision.deviation() } else { 0.0 }
    }

    /// The name of the secret key; none for no ciphertexts, and for those of several keys.
    #[must_use]
    pub fn key(&self) -> Option<KeyId> {
        fn of<S: Scheme>(parts: &[Ciphertext<S>]) -> Option<KeyId> {
            let first = parts.first()?.key();
            parts.iter().all(|part| part.key() == first).then_some(first)
        }
        match self {
            Self::Bfv(parts) => of(parts),
            Self::Bgv(parts) => of(parts),
            Self::Ckks(part) => Some(part.key()),
        }
    }

    /// How many ciphertexts there are.
    #[must_use]
    pub fn count(&self) -> usize {
        match self {
            Self::Bfv(parts) => parts.len(),
            Self::Bgv(parts) => parts.len(),
            Self::Ckks(_) => 1,
        }
    }
}

impl Contexts {
    /// Builds the tables of parameters.
    ///
    /// # Errors
    /// [`ProgramError::Memory`], before any work, where the machine cannot hold the tables; [`ProgramError::Scheme`] for parameters that are none, or not
    /// secure.
    pub fn new(parameters: &Parameters) -> Result<Self, ProgramError> {
        memory::require(parameters.table_bytes()).map_err(ProgramError::Memory)?;
        let parts = match parameters {
            Parameters::Bfv(parameters) => Parts::Bfv(bfv(parameters)?),
            Parameters::Bgv { parameters, plain_moduli } => Parts::Bgv(bgv(parameters, plain_moduli)?),
            Parameters::Ckks(parameters) => {
                Parts::Ckks(sunzi_ckks::Context::new(parameters).map_err(ProgramError::scheme)?)
            }
        };
        let rlwe = match &parts {
            Parts::Bfv(contexts) => contexts.first().map(sunzi_bfv::Context::rlwe),
            Parts::Bgv(contexts) => contexts.first().map(sunzi_bgv::Context::rlwe),
            Parts::Ckks(context) => Some(context.rlwe()),
        };
        let none = || ProgramError::scheme(sunzi_encoding::EncodingError::NoPlainModuli);
        let rlwe = rlwe.ok_or_else(none)?.clone();
        Ok(Self { parameters: parameters.clone(), rlwe, parts })
    }

    /// The contexts of the scheme.
    #[must_use]
    pub fn parts(&self) -> &Parts {
        &self.parts
    }

    /// What they were built from.
    #[must_use]
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// The scheme.
    #[must_use]
    pub fn scheme(&self) -> SchemeChoice {
        self.parameters.scheme()
    }

    /// Ring and keys: those of the first plaintext modulus, which the others share.
    #[must_use]
    pub fn rlwe(&self) -> &RlweContext {
        &self.rlwe
    }

    /// Where the rows of a table stand: it depends on the number of rows and on the ring alone.
    #[must_use]
    pub fn layout(&self, rows: u64) -> Layout {
        Layout::new(usize::try_from(rows).unwrap_or(usize::MAX), self.parameters.slots())
    }

    /// What encodes chunks of this layout.
    ///
    /// # Errors
    /// [`ProgramError::Scheme`] for a span that the ring has not, and for plaintext moduli without slots.
    pub fn codec(&self, layout: &Layout) -> Result<Codec, ProgramError> {
        Codec::new(self, layout)
    }

    /// log2 of what numbers are divided by before CKKS encrypts them: it depends on the column alone, never on a program.
    #[must_use]
    pub fn exponent(column: &Column) -> i32 {
        crate::analysis::stored_exponent(column)
    }
}

fn bfv(parameters: &sunzi_bfv::CrtParameters) -> Result<Vec<sunzi_bfv::Context>, ProgramError> {
    parameters.validate().map_err(ProgramError::scheme)?;
    let mut contexts: Vec<sunzi_bfv::Context> = Vec::new();
    for part in parameters.parts() {
        let context = match contexts.first() {
            Some(first) => first.with_plain_modulus(part.plain_modulus()),
            None => sunzi_bfv::Context::new(&part),
        };
        contexts.push(context.map_err(ProgramError::scheme)?);
    }
    Ok(contexts)
}

fn bgv(
    parameters: &sunzi_bgv::Parameters,
    plain_moduli: &[u64],
) -> Result<Vec<sunzi_bgv::Context>, ProgramError> {
    sunzi_encoding::check_pairwise_coprime(plain_moduli).map_err(ProgramError::scheme)?;
    let mut contexts: Vec<sunzi_bgv::Context> = Vec::new();
    for &plain_modulus in plain_moduli {
        let own = parameters.clone().with_plain_modulus(plain_modulus);
        own.validate().map_err(ProgramError::scheme)?;
        let context = match contexts.first() {
            Some(first) => first.with_plain_modulus(plain_modulus),
            None => sunzi_bgv::Context::new(&own),
        };
        contexts.push(context.map_err(ProgramError::scheme)?);
    }
    Ok(contexts)
}
