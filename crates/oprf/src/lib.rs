//! Verifiable oblivious pseudorandom function over ristretto255 with SHA-512, as RFC 9497 has it: mode VOPRF.
//!
//! A client [blinds](Blinded::new) its inputs and sends [elements](Element); the server [evaluates](ServerKey::evaluate) them under its key and learns nothing;
//! the client [finishes](Blinded::finish) with an output of 64 bytes for every input, once a proof showed that the key is the one that the server published: so a server cannot mark
//! a client by a key of its own.
//!
//! ```
//! use sunzi_oprf::{Blinded, ServerKey};
//!
//! # use rand_core::SeedableRng;
//! # let mut rng = chacha20::ChaCha20Rng::from_seed([7; 32]);
//! let key = ServerKey::generate(&mut rng);
//! let inputs = ["alice@example.org", "bob@example.org"];
//! let blinded = Blinded::new(&inputs, &mut rng)?;
//! let (evaluated, proof) = key.evaluate(blinded.elements(), &mut rng)?;
//! let outputs = blinded.finish(&evaluated, &proof, &key.public_key())?;
//! assert_eq!(outputs[1], key.output("bob@example.org")?);
//! # Ok::<(), sunzi_oprf::OprfError>(())
//! ```
#![forbid(unsafe_code)]

mod client;
mod element;
mod hash;
mod proof;
mod server;

pub use client::Blinded;
pub use element::{Element, PublicKey};
pub use proof::Proof;
pub use server::ServerKey;

/// Number of bytes of an output.
pub const OUTPUT: usize = 64;
/// Largest number of inputs that are evaluated with one proof.
pub const MOST_INPUTS: usize = 1 << 15;
/// Largest number of bytes of an input.
pub const MOST_BYTES: usize = u16::MAX as usize;

/// An output of the function, which is secret to whoever has no use for it.
pub type Output = zeroize::Zeroizing<[u8; OUTPUT]>;

/// An error of an oblivious pseudorandom function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OprfError {
    /// An input is too long, or is one of the few that have no element.
    #[error("an input of {0} bytes: expected one of at most {MOST_BYTES} bytes")]
    Input(usize),
    /// A number of inputs or elements that is not evaluated together.
    #[error("{got} elements: expected {expected}")]
    Count {
        /// Expected number of elements.
        expected: usize,
        /// Number of elements that came.
        got: usize,
    },
    /// More inputs than are evaluated together, or none.
    #[error("{0} inputs: expected 1 to {MOST_INPUTS} at a time")]
    Inputs(usize),
    /// Bytes that are no element of the group but the neutral one.
    #[error("32 bytes that are no element of ristretto255: they were changed, or are of another protocol")]
    Element,
    /// Bytes that are no key.
    #[error("32 bytes that are no key of ristretto255: they were changed, or are of another protocol")]
    Key,
    /// A proof that does not show that the published key evaluated the elements.
    #[error("the elements were not evaluated under the published key: do not use this server's answers")]
    Proof,
}
