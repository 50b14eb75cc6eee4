//! Chunks under the new key of their owner, without decryption.

use sunzi_rlwe::{Ciphertext, CrtContext, Evaluator, Exact, RekeyingKey};

use super::{Contexts, Encrypted, Parts};
use crate::ProgramError;

impl Contexts {
    /// Rekeys a chunk: returns one of the same message under the key that a rekeying key leads to. Its noise grows by that of one key switch.
    ///
    /// # Errors
    /// [`ProgramError::Mismatch`] for a chunk of another scheme; [`ProgramError::Scheme`] for one of another key or other parameters, or without room for the noise.
    pub fn rekey(&self, chunk: &Encrypted, key: &RekeyingKey) -> Result<Encrypted, ProgramError> {
        let real = |context: &sunzi_ckks::Context, a: &_| {
            sunzi_ckks::Evaluator::new(context).rekey(a, key).map_err(ProgramError::of_ckks)
        };
        match (&self.parts, chunk) {
            (Parts::Bfv(contexts), Encrypted::Bfv(parts)) => {
                each(contexts, parts, key).map_err(ProgramError::of_bfv).map(Encrypted::Bfv)
            }
            (Parts::Bgv(contexts), Encrypted::Bgv(parts)) => {
                each(contexts, parts, key).map_err(ProgramError::of_bgv).map(Encrypted::Bgv)
            }
            (Parts::Ckks(context), Encrypted::Ckks(part)) => {
                real(context, part).map(Box::new).map(Encrypted::Ckks)
            }
            (Parts::Integers(parts), Encrypted::Integers(digits)) => {
                let digits = digits.iter().map(|digit| real(parts.context(), digit));
                digits.collect::<Result<_, _>>().map(Encrypted::Integers)
            }
            _ => Err(ProgramError::mismatch("the scheme of a chunk", self.parameters.name(), "another one")),
        }
    }
}

/// Rekeys the ciphertexts of all plaintext moduli.
fn each<S: Exact>(
    contexts: &CrtContext<S>,
    parts: &[Ciphertext<S>],
    key: &RekeyingKey,
) -> Result<Vec<Ciphertext<S>>, S::Error> {
    let pairs = contexts.pairs(parts)?;
    pairs.map(|(context, part)| Evaluator::<S>::new(context).rekey(part, key)).collect()
}
