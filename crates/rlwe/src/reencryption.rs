//! Proxy re-encryption: a ciphertext of one owner A becomes one of another, B, without the secret of B and without any exchange `[CCGKPR25]`.
//!
//! * B publishes a [`ReencryptionPublicKey`], one sample (−(a·s_B + e), a) modulo QP, the modulus of key switching.
//! * A makes a [`ReencryptionKey`] from its own secret and that public key: encryptions of g_i·s_A under B, one for every digit of the gadget.
//! * A proxy has the key, and [re-encrypts](ReencryptionContext::reencrypt): a key switch, plus an encryption of zero under B, plus flooding noise.
//!
//! **What the two additions are for.** B knows s_B, and may know the ciphertext of A and its message. After the key switch alone, c_1′ = Σ d_i·a_i for digits d_i of c_1
//! tells the a_i, and the phase tells the noise of A's ciphertext, from which s_A follows. The encryption of zero hides c_1′: p_1·u + e_2 is a sample of ring learning
//! with errors under the u of this hop, for B too. The flooding noise hides what is left in the phase: the noise v of the ciphertext, that of the key
//! switch, and that of the encryption of zero. So B can make by itself, from the message, what it is given: security against honest re-encryption attacks `[Coh19]`.
//! `SECURITY.md` has the argument.
//!
//! **How wide the noise is**: as in [`sharing`](crate::sharing), for a bound B on all that is hidden, which follows from the noise that the proxy
//! [declares](crate::DeclaredNoise), and for the policy of a ledger that counts the re-encryptions from the key of A. What a ciphertext says of itself never counts.
//!
//! **Hops.** The noise of a hop is that of the next one's ciphertext, so every hop takes its bits of the modulus. Ciphertexts carry the number of
//! their [hops](crate::Ciphertext::hops) through operations and files; a hop without room is refused before any work.
//!
//! CKKS is not here: its results carry their noise, and flooding noise that hides it leaves no precision worth having.

mod contexts;
mod hop;
mod key;
#[cfg(test)]
mod tests;

pub use contexts::{Departure, ReencryptionContext};
pub use hop::{Hop, MOST_HOPS, Reencryptions};
pub use key::{ReencryptionKey, ReencryptionPublicKey, added_noise_at};
