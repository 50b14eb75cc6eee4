//! Results for another owner: a file under one key becomes one under another.

use std::io::{BufRead, Write};

use sunzi_rlwe::RekeyingKey;
use sunzi_rlwe::wire::WireError;

use super::{ResultsReader, ResultsWriter};
use crate::ProgramError;
use crate::contexts::Proxy;
use crate::run::Answer;

impl<I: BufRead> ResultsReader<'_, I> {
    /// Reads the file to its end, checks that a proxy can re-encrypt all of it, and returns the number of ciphertexts, each of which the ledger counts. Nothing is
    /// counted yet.
    ///
    /// # Errors
    /// Every error of [`next_answer`](Self::next_answer) and [`Proxy::check`]; [`ProgramError::Mismatch`] for results of another key, for those that are under
    /// the key of the new owner already, for sums that are not in every slot, and for results of a packed table.
    pub fn check_reencryptable<E: From<WireError> + From<ProgramError>>(
        mut self,
        proxy: &Proxy<'_>,
    ) -> Result<u64, E> {
        self.check_handed_on(proxy)?;
        let mut count = 0;
        while let Some((_, _, answer)) = self.next_answer()? {
            let Answer::Encrypted(chunk) = answer else { continue };
            proxy.check(self.contexts, &chunk)?;
            count += chunk.count() as u64;
        }
        Ok(count)
    }

    /// Re-encrypts all remaining outputs, and writes them as a file of results of the new owner. `done` is called after each ciphertext of all plaintext moduli.
    ///
    /// # Errors
    /// Every error of [`check_reencryptable`](Self::check_reencryptable), [`Proxy::reencrypt`] and [`ResultsWriter::put`].
    pub fn reencrypt<E: From<WireError> + From<ProgramError>>(
        &mut self,
        proxy: &mut Proxy<'_>,
        out: impl Write,
        done: &dyn Fn(),
    ) -> Result<(), E> {
        self.check_handed_on(proxy)?;
        let target = proxy.key().target();
        let mut writer = ResultsWriter::new(self.contexts, target, self.description.clone(), out)?;
        while let Some((_, _, answer)) = self.next_answer()? {
            let Answer::Encrypted(chunk) = answer else {
                writer.put(&answer)?;
                continue;
            };
            writer.put(&Answer::Encrypted(proxy.reencrypt(self.contexts, &chunk)?))?;
            done();
        }
        Ok(())
    }

    /// Rekeys all remaining outputs, and writes them as a file of results under the key that a rekeying key leads to; returns the number of ciphertexts. `done` is called
    /// after each ciphertext of all plaintext moduli.
    ///
    /// # Errors
    /// [`ProgramError::Mismatch`] for results of another key; every error of [`next_answer`](Self::next_answer), [`Contexts::rekey`](crate::Contexts::rekey) and
    /// [`ResultsWriter::put`].
    pub fn rekey<E: From<WireError> + From<ProgramError>>(
        &mut self,
        key: &RekeyingKey,
        out: impl Write,
        done: &dyn Fn(),
    ) -> Result<u64, E> {
        if self.key != key.source() {
            return Err(ProgramError::mismatch("the key of the results", key.source(), self.key).into());
        }
        let mut writer = ResultsWriter::new(self.contexts, key.target(), self.description.clone(), out)?;
        let mut count = 0;
        while let Some((_, _, answer)) = self.next_answer()? {
            let Answer::Encrypted(chunk) = answer else {
                writer.put(&answer)?;
                continue;
            };
            count += chunk.count() as u64;
            writer.put(&Answer::Encrypted(self.contexts.rekey(&chunk, key)?))?;
            done();
        }
        Ok(count)
    }

    /// Checks what can be told of all outputs together.
    fn check_handed_on(&self, proxy: &Proxy<'_>) -> Result<(), ProgramError> {
        self.contexts.check_reencryption()?;
        let (source, target) = (proxy.key().source(), proxy.key().target());
        if self.key == target {
            let got = format!("{target}, where the re-encryption key leads: they are re-encrypted already");
            return Err(ProgramError::mismatch("the key of the results", source, got));
        }
        if self.key != source {
            return Err(ProgramError::mismatch("the key of the results", source, self.key));
        }
        if self.outputs.packed().is_some() {
            let expected = "one whose columns have ciphertexts of their own: other slots of packed ones hold sums of fewer rows";
            return Err(ProgramError::mismatch("the table of the results", expected, "a packed one"));
        }
        let (slots, span) = (self.contexts.parameters().slots(), self.description.layout.span);
        if self.outputs.has_encrypted_totals() && span != slots {
            let expected = format!(
                "all {slots}: the new owner sees all of them, and here other slots than the first hold sums of fewer rows; encrypt the \
                 table by a plan with room for re-encryptions"
            );
            return Err(ProgramError::mismatch("slots that a chunk fills", expected, span));
        }
        Ok(())
    }
}
