//! Decryption by shares: a request, an answer of every party that is asked, and the collection of answers.
//!
//! A party answers with its share s_i·c_1 + E_i ([`DecryptionShare`](sunzi_rlwe::joint::DecryptionShare)). What it guards:
//!
//! * **The flooding noise E_i is as wide as its own declared noise asks**, for its own policy. A bound that stands in a request or in a ciphertext never makes it narrower: a request that
//!   says more is refused.
//! * **Every c_1 gets one E_i** for each quorum. Two draws would halve the variance, so a share is kept, and asked again the party sends the same.
//! * **Every share counts** in the ledger, before it leaves, for whichever parties it was made.
//!
//! Before the parties answer, they judge what results tell about inputs: a [`Request`] names a program, and a party should answer for ciphertexts alone that it computed itself,
//! or that parties it trusts computed. Nothing here checks that.
//!
//! Sums of shares are opened by the schemes, or by [`combined_phase`](sunzi_rlwe::joint::combined_phase).

mod answer;
mod collect;
mod holding;
mod request;

use sunzi_rlwe::wire::HEADER_LEN;
use sunzi_rlwe::{KeyId, RlweContext};

use crate::digest::digest;
use crate::{Message, PartiesError, lengths};

pub use answer::{Decryptor, Reviewed};
pub(crate) use answer::{quorum_hash, record};
pub use collect::Collector;
pub use holding::{HeldSecret, Holding};
pub use request::{Request, Subject};

/// Returns the name of the channel on which parties of a joint secret ask one another: a request says itself in which session it is answered.
#[must_use]
pub fn channel(key: KeyId) -> [u8; 32] {
    digest("sunzi channel of requests", [&key.as_bytes()[..]])
}

/// Returns the largest number of bytes of a request or an answer, for transports.
///
/// # Errors
/// [`PartiesError::Wire`] never: nothing is written.
pub fn longest_message(context: &RlweContext) -> Result<u64, PartiesError> {
    let request = (HEADER_LEN + request::MOST) as u64;
    Ok(Message::bytes(lengths::polynomial(context.ring())?).max(request))
}
