//! Hashes of results: whether a run of one's own made the ciphertexts that are to be opened.

use std::io::BufRead;

use sha2::{Digest as _, Sha256};
use sunzi_ring::{Evaluation, Poly};
use sunzi_rlwe::wire::{Fields, WireError};
use sunzi_rlwe::{KeyId, RlweContext};

use super::text::Text;
use super::{Description, ResultsReader};
use crate::ProgramError;
use crate::contexts::{Contexts, Encrypted, Parts};
use crate::run::Answer;

/// A hash of results, output after output: of all that is opened. Those of a run of one's own, by the agreed program and on the agreed tables, have the hash of
/// a file exactly if the file has the same ciphertexts, since evaluation takes no randomness and gives the same bits on every machine and with any
/// number of threads.
///
/// Noise bounds and estimated errors are left out: logarithms may be rounded differently elsewhere, and nobody declares noise by a file.
pub struct ResultsDigest<'a> {
    contexts: &'a Contexts,
    hash: Sha256,
}

impl<'a> ResultsDigest<'a> {
    /// Begins the hash of results under a key.
    ///
    /// # Errors
    /// [`ProgramError::Scheme`] for a description that is no JSON.
    pub fn new(contexts: &'a Contexts, key: KeyId, description: &Description) -> Result<Self, ProgramError> {
        let Description { program, layout, filled, packed, openings: _ } = description;
        let described =
            serde_json::to_vec(&(program, layout, filled, packed)).map_err(ProgramError::scheme)?;
        let mut digest = Self { contexts, hash: Sha256::new() };
        digest.part(b"sunzi results");
        digest.part(key.as_bytes());
        digest.part(&described);
        Ok(digest)
    }

    /// Adds the next output, in the order of [`ResultsWriter::put`](super::ResultsWriter::put).
    ///
    /// # Errors
    /// [`WireError::Rlwe`] for ciphertexts of other parameters.
    pub fn put(&mut self, answer: &Answer) -> Result<(), WireError> {
        if let Some(text) = Text::of(answer) {
            let bytes = serde_json::to_vec(&text).map_err(WireError::scheme)?;
            self.part(&bytes);
        }
        let Answer::Encrypted(chunk) = answer else { return Ok(()) };
        match (self.contexts.parts(), chunk) {
            (Parts::Bfv(_), Encrypted::Bfv(parts)) => parts
                .iter()
                .try_for_each(|part| self.ciphertext(part.key(), &Fields::default(), part.parts())),
            (Parts::Bgv(_), Encrypted::Bgv(parts)) => parts.iter().try_for_each(|part| {
                let mut fields = Fields::default();
                fields.usize(part.metadata().level());
                self.ciphertext(part.key(), &fields, part.parts())
            }),
            (Parts::Ckks(_), Encrypted::Ckks(part)) => self.real(part),
            (Parts::Integers(_), Encrypted::Integers(digits)) => {
                digits.iter().try_for_each(|digit| self.real(digit))
            }
            _ => Err(WireError::Parameters { what: "scheme or plaintext moduli" }),
        }
    }

    /// Returns the hash.
    #[must_use]
    pub fn finish(self) -> [u8; 32] {
        self.hash.finalize().into()
    }

    fn real(&mut self, part: &sunzi_ckks::Ciphertext) -> Result<(), WireError> {
        let (metadata, mut fields) = (part.metadata(), Fields::default());
        fields.usize(metadata.level);
        fields.f64(metadata.scale);
        fields.usize(metadata.slots);
        self.ciphertext(part.key(), &fields, part.parts())
    }

    fn ciphertext(
        &mut self,
        key: KeyId,
        fields: &Fields,
        parts: &[Poly<Evaluation>],
    ) -> Result<(), WireError> {
        let contexts = self.contexts;
        let context: &RlweContext = contexts.rlwe();
        self.part(key.as_bytes());
        self.part(fields.as_bytes());
        self.part(&(parts.len() as u64).to_le_bytes());
        for part in parts {
            let level = context.ring().level_of(part)?;
            let mut packed = Vec::new();
            context.ring_at(level)?.pack(part, &mut packed)?;
            self.part(&(level as u64).to_le_bytes());
            self.part(&packed);
        }
        Ok(())
    }

    /// Adds bytes with their number, so that no two lists give the same.
    fn part(&mut self, bytes: &[u8]) {
        self.hash.update((bytes.len() as u64).to_le_bytes());
        self.hash.update(bytes);
    }
}

impl<I: BufRead> ResultsReader<'_, I> {
    /// Reads the file to its end, and returns the hash of the results: that of a [`ResultsDigest`] of the same outputs.
    ///
    /// # Errors
    /// Every error of [`next_answer`](Self::next_answer).
    pub fn digest(mut self) -> Result<[u8; 32], WireError> {
        let description = self.description.clone();
        let mut digest = ResultsDigest::new(self.contexts, self.key, &description)?;
        while let Some((_, _, answer)) = self.next_answer()? {
            digest.put(&answer)?;
        }
        Ok(digest.finish())
    }
}
