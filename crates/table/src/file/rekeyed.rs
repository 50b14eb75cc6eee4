//! Encrypted tables under the new key of their owner, chunk by chunk and without decryption.

use std::io::{BufRead, Seek, Write};

use sunzi_program::Contexts;
use sunzi_program::contexts::Encrypted;
use sunzi_rlwe::RekeyingKey;
use sunzi_rlwe::wire::WireError;

use super::{TableFile, TableWriter};
use crate::{EncryptedWriter, TableError};

impl<I: BufRead + Seek> TableFile<I> {
    /// Rekeys the table: writes it as one under the key that a rekeying key leads to, and returns the number of its ciphertexts. `done` is called after each input of a
    /// chunk.
    ///
    /// A table that was encrypted under the secret key has half the bytes of the one that is written.
    ///
    /// # Errors
    /// [`TableError::Program`] for ciphertexts without room for the noise; [`TableError::Wire`] for the key of another table, for other parameters, damaged bytes, and where writing fails.
    pub fn rekey(
        &mut self,
        contexts: &Contexts,
        key: &RekeyingKey,
        out: impl Write,
        done: &dyn Fn(),
    ) -> Result<u64, TableError> {
        self.belongs_to(contexts)?;
        if self.key() != key.source() {
            return Err(WireError::Key { expected: Some(key.source()), got: Some(self.key()) }.into());
        }
        // All inputs have one length, or as many bytes as their digits take: the first tells.
        let first = self.rekeyed(contexts, key, (0, 0))?;
        let first_len =
            first.map_or(Ok(0), |first| contexts.to_bytes(&first).map(|bytes| bytes.len() as u64))?;
        let shape = self.shape().with_first_len(first_len)?;
        let (chunks, inputs) = (shape.layout().chunks, shape.input_count());
        let mut writer = TableWriter::create(contexts, shape, key.target(), out)?;
        let mut count = 0;
        for chunk in 0..chunks {
            if self.shape().form().is_some() {
                writer.begin_packed_chunk()?;
            } else {
                writer.begin_chunk(&self.clear(chunk)?)?;
            }
            for at in 0..inputs {
                let Some(rekeyed) = self.rekeyed(contexts, key, (chunk, at))? else { continue };
                count += rekeyed.count() as u64;
                writer.put(&rekeyed)?;
                done();
            }
        }
        Box::new(writer).finish()?;
        Ok(count)
    }

    /// Reads the ciphertexts at a place of a chunk, and rekeys them; none for a place that the table does not have.
    fn rekeyed(
        &mut self,
        contexts: &Contexts,
        key: &RekeyingKey,
        (chunk, at): (usize, usize),
    ) -> Result<Option<Encrypted>, TableError> {
        if chunk >= self.shape().layout().chunks || at >= self.shape().input_count() {
            return Ok(None);
        }
        let encrypted = match self.shape().inputs().get(at).cloned() {
            Some(input) => self.encrypted(contexts, chunk, &input)?,
            None => self.packed(contexts, chunk, at)?,
        };
        Ok(Some(contexts.rekey(&encrypted, key)?))
    }
}
