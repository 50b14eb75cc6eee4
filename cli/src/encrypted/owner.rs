//! The owner of the table: keys, packing, encryption.

use rayon::prelude::*;
use sunzi::bfv::{BatchEncoder, Encoder};
use sunzi::circuits::EvaluationKeys;
use sunzi::circuits::statistics::{EncryptedChunk, Input, Layout};

use sunzi::rlwe::{PublicKey, SecretKey, randomness};

use super::scheme::Scheme;
use crate::error::CliError;
use crate::job::Job;

/// All keys of the job; they serve every plaintext modulus.
pub(crate) struct Keys {
    /// Stays with the owner.
    pub(crate) secret: SecretKey,
    public: PublicKey,
    /// What the server receives.
    pub(crate) evaluation: EvaluationKeys,
}

impl Keys {
    /// Draws all keys that the layout needs.
    pub(crate) fn generate(context: &impl Scheme, layout: &Layout) -> Result<Self, CliError> {
        let rlwe = context.rlwe();
        let mut rng = randomness::from_os().map_err(CliError::failure)?;
        let secret = SecretKey::generate(rlwe, &mut rng).map_err(CliError::failure)?;
        let public = PublicKey::generate(rlwe, &secret, &mut rng).map_err(CliError::failure)?;
        let evaluation = EvaluationKeys::generate(rlwe, &secret, layout.required_rotations(), &mut rng)
            .map_err(CliError::failure)?;
        Ok(Self { secret, public, evaluation })
    }
}

/// The table, ready to be encrypted modulo one t.
pub(crate) struct Owner<'a, S: Scheme> {
    job: &'a Job,
    layout: &'a Layout,
    context: &'a S,
    encoder: BatchEncoder,
    /// Each column modulo t.
    residues: Vec<Vec<u64>>,
}

impl<'a, S: Scheme> Owner<'a, S> {
    /// Reduces the table modulo the context's t.
    pub(crate) fn new(job: &'a Job, layout: &'a Layout, context: &'a S) -> Result<Self, CliError> {
        let t = context.plain_modulus();
        let encoder = BatchEncoder::new(layout.degree(), t).map_err(CliError::failure)?;
        let reduce = |value: &i128| value.rem_euclid(i128::from(t)) as u64;
        let residues = job.columns.iter().map(|column| column.values.iter().map(reduce).collect()).collect();
        Ok(Self { job, layout, context, encoder, residues })
    }

    /// Encrypts all inputs of one chunk.
    pub(crate) fn encrypt(
        &self,
        chunk: usize,
        keys: &Keys,
    ) -> Result<EncryptedChunk<S::Ciphertext>, CliError> {
        let encrypt = |input| self.encrypt_input(input, chunk, keys);
        let packed = (0..self.layout.packed()).into_par_iter().map(Input::Packed);
        let repeated = (0..self.layout.repeated()).into_par_iter().map(Input::Repeated);
        Ok(EncryptedChunk {
            packed: packed.map(encrypt).collect::<Result<_, _>>()?,
            repeated: repeated.map(encrypt).collect::<Result<_, _>>()?,
        })
    }

    fn encrypt_input(&self, input: Input, chunk: usize, keys: &Keys) -> Result<S::Ciphertext, CliError> {
        let cell = |column: usize, group: usize, row: usize| {
            let row = self.job.groups.rows.get(group)?.get(row)?;
            self.residues.get(column)?.get(*row).copied()
        };
        let slots = self.layout.place(input, chunk, 1, cell);
        let plaintext = self.encoder.encode(&slots).map_err(CliError::failure)?;
        self.context.encrypt(&plaintext, &keys.public)
    }
}
