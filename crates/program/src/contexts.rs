//! Contexts of a running program's parameters: one scheme, one ring, and a context for each plaintext modulus.
//!
//! Integers wider than one plaintext modulus t are represented by residues modulo several coprime t. All of them
//! share ring and keys, so a column is encrypted once for each t, and a program runs once for each; CKKS has one
//! context.

mod codec;
mod files;
mod integers;
mod joint;
mod keys;
mod proxy;
mod rekeying;
mod rows;
mod sharing;

use sunzi_rlwe::{Ciphertext, KeyId, RlweContext, Scheme, memory};

pub use codec::{Codec, Slots};
pub use files::{BOOTSTRAPPING, GALOIS, LEDGER, PARAMETERS, PUBLIC, RELINEARIZATION, SECRET};
pub use integers::{Digits, IntegerContext, digits_of};
pub(crate) use integers::{Form, kind_holding};
pub use joint::{Agreed, Subject};
pub(crate) use joint::{Way, subjects};
pub use keys::{EncryptionKey, JointKeyLevels, PublicKey, SecretKey};
pub use proxy::Proxy;
pub use rows::ChunkPart;
pub(crate) use rows::rows_of_both;
pub use sharing::Sharing;
pub(crate) use sharing::check_shareable;

use crate::analysis::{Layout, Parameters, SchemeChoice};
use crate::{Column, ProgramError};

/// Ring, keys and tables of a set of encryption parameters; cloning shares them.
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
    parts: Parts,
}

/// Contexts of one scheme, one for each plaintext modulus.
#[derive(Clone, Debug)]
pub enum Parts {
    /// Contexts of BFV, one for each plaintext modulus.
    Bfv(sunzi_bfv::CrtContext),
    /// Contexts of BGV, one for each plaintext modulus.
    Bgv(sunzi_bgv::CrtContext),
    /// Context of CKKS, which has no plaintext modulus.
    Ckks(sunzi_ckks::Context),
    /// Context of encrypted integers, and their set.
    Integers(Box<IntegerContext>),
}

/// Encrypted numbers of one chunk: a ciphertext for each plaintext modulus.
#[derive(Clone)]
pub enum Encrypted {
    /// Ciphertexts of BFV, one for each plaintext modulus.
    Bfv(Vec<sunzi_bfv::Ciphertext>),
    /// Ciphertexts of BGV, one for each plaintext modulus.
    Bgv(Vec<sunzi_bgv::Ciphertext>),
    /// Ciphertext of CKKS.
    Ckks(Box<sunzi_ckks::Ciphertext>),
    /// Ciphertexts of the digits of integers, the least first.
    Integers(Vec<sunzi_ckks::Ciphertext>),
}

/// Conversions of a chunk to ciphertexts of one scheme, and of these to a chunk.
pub(crate) type Conversions<C> = (fn(Encrypted) -> Option<Vec<C>>, fn(Vec<C>) -> Encrypted);

impl Encrypted {
    /// Returns the standard deviation of the errors of slots, as CKKS estimates it; 0 for exact schemes.
    #[must_use]
    pub fn deviation(&self) -> f64 {
        if let Self::Ckks(ciphertext) = self { ciphertext.metadata().precision.deviation() } else { 0.0 }
    }

    /// Returns the identifier of the secret key of the ciphertexts; `None` for no ciphertexts, and for those of
    /// several keys.
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
            Self::Integers(digits) => of(digits),
        }
    }

    /// Returns the number of ciphertexts of the chunk.
    #[must_use]
    pub fn count(&self) -> usize {
        match self {
            Self::Bfv(parts) => parts.len(),
            Self::Bgv(parts) => parts.len(),
            Self::Ckks(_) => 1,
            Self::Integers(digits) => digits.len(),
        }
    }
}

impl Contexts {
    /// Builds the tables of encryption parameters.
    ///
    /// # Errors
    /// [`ProgramError::Memory`], before any work, where the machine cannot hold the tables; [`ProgramError::Scheme`]
    /// for parameters that are invalid or not secure.
    pub fn new(parameters: &Parameters) -> Result<Self, ProgramError> {
        memory::require(parameters.table_bytes()).map_err(ProgramError::Memory)?;
        let parts = match parameters {
            Parameters::Bfv(parameters) => {
                parameters.contexts().map(Parts::Bfv).map_err(ProgramError::scheme)
            }
            Parameters::Bgv { parameters, plain_moduli } => {
                parameters.contexts(plain_moduli).map(Parts::Bgv).map_err(ProgramError::scheme)
            }
            Parameters::Ckks(parameters) => {
                sunzi_ckks::Context::new(parameters).map(Parts::Ckks).map_err(ProgramError::scheme)
            }
            Parameters::Bootstrapped(parameters) => {
                sunzi_ckks::Context::new(parameters.ckks()).map(Parts::Ckks).map_err(ProgramError::scheme)
            }
            Parameters::Integers(parameters) => {
                IntegerContext::new(parameters).map(Box::new).map(Parts::Integers)
            }
        };
        Ok(Self { parameters: parameters.clone(), parts: parts? })
    }

    /// Returns the contexts of the scheme.
    #[must_use]
    pub fn parts(&self) -> &Parts {
        &self.parts
    }

    /// Returns the parameters that the contexts were built from.
    #[must_use]
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Returns the scheme of the contexts.
    #[must_use]
    pub fn scheme(&self) -> SchemeChoice {
        self.parameters.scheme()
    }

    /// Returns the context of ring and keys, which all plaintext moduli share.
    #[must_use]
    pub fn rlwe(&self) -> &RlweContext {
        match &self.parts {
            Parts::Bfv(contexts) => contexts.rlwe(),
            Parts::Bgv(contexts) => contexts.rlwe(),
            Parts::Ckks(context) => context.rlwe(),
            Parts::Integers(own) => own.context().rlwe(),
        }
    }

    /// Returns the layout of a table's rows in slots: it depends on the number of rows and on the parameters alone.
    #[must_use]
    pub fn layout(&self, rows: u64) -> Layout {
        self.parameters.layout(usize::try_from(rows).unwrap_or(usize::MAX), 1)
    }

    /// Returns the layout of a table's rows in chunks that fill all slots, so that results can be re-encrypted for another owner; none in schemes that have no
    /// re-encryption.
    #[must_use]
    pub fn filling_layout(&self, rows: u64) -> Option<Layout> {
        let rows = usize::try_from(rows).unwrap_or(usize::MAX);
        let handed_on = matches!(self.parts, Parts::Bfv(_) | Parts::Bgv(_));
        handed_on.then(|| Layout::filling(rows, self.parameters.slots(), 1))
    }

    /// Makes the codec that encodes and encrypts chunks of a layout.
    ///
    /// # Errors
    /// [`ProgramError::Scheme`] for a span that does not fit the ring, and for plaintext moduli without slots.
    pub fn codec(&self, layout: &Layout) -> Result<Codec, ProgramError> {
        Codec::new(self, layout)
    }

    /// Returns log2 of the number that a column's cells, or the indicator of a label or of cells, are divided by before
    /// CKKS encrypts them: it depends on the column alone.
    #[must_use]
    pub fn exponent(column: &Column, label: Option<usize>) -> i32 {
        crate::analysis::stored_exponent(column, label.is_some())
    }
}
