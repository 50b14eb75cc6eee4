//! Decryption.

use sunzi_ring::PolyRing;
use sunzi_rlwe::{SecretKey, encryption::phase_values};

use crate::{Ciphertext, CkksError, Context, Metadata, Plaintext};

/// Bits of room above the declared magnitude when a message is opened modulo fewer moduli than it has.
const ROOM: f64 = 20.0;

impl<R: PolyRing> Context<R> {
    /// Opens a ciphertext: the message with its error. The plaintext stands at the lowest level that holds it.
    ///
    /// The error depends on the secret key. Whoever learns decrypted slots of a ciphertext they made or chose can
    /// compute the key from them (Li, Micciancio 2021): see `SECURITY.md` before sharing a result.
    ///
    /// # Errors
    /// [`sunzi_rlwe::RlweError::KeyMismatch`] for another key's ciphertext; [`CkksError::LevelMismatch`] or
    /// [`CkksError::Ring`] for one of another context.
    pub fn decrypt(&self, ciphertext: &Ciphertext<R>, key: &SecretKey<R>) -> Result<Plaintext<R>, CkksError> {
        self.check(ciphertext)?;
        ciphertext.check_key(key.id(), "the secret key")?;
        let metadata = ciphertext.metadata();
        let (top, scale) = (metadata.level, metadata.scale);
        let needed = metadata.precision.magnitude().log2().max(0.0) + scale.log2() + 1.0 + ROOM;
        let holds = |&level: &usize| self.log2_modulus_at(level).is_ok_and(|bits| bits >= needed);
        let level = (0..top).find(holds).unwrap_or(top);
        let values = if level == top {
            phase_values(self.rlwe(), ciphertext.parts(), key)?
        } else {
            let limbs = self.limbs(level)?;
            let mut parts = Vec::with_capacity(ciphertext.parts().len());
            for part in ciphertext.parts() {
                parts.push(self.ring().restrict(part, limbs)?);
            }
            phase_values(self.rlwe(), &parts, key)?
        };
        Ok(Plaintext::from_parts(values, Metadata { level, ..metadata.clone() }))
    }
}
