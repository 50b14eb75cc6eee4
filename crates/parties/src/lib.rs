//! Protocols of several parties: keys of a joint secret, and decryption by shares.
//!
//! The arithmetic of shares is in [`sunzi_rlwe::joint`]. Here are rounds, messages, and what a restart needs. Rounds open no connection: a round has a
//! message to send to all, and takes messages of others as bytes, with the name of the sender that an authenticated channel told.
//!
//! * A [`Roster`] names the parties. A [`Session`] is one run of a protocol, bound to parameters, roster and terms.
//! * [`keys`] generates keys in typed rounds: what is out of order does not compile.
//! * [`dealing`] turns the secrets of all parties into shares of a threshold.
//! * [`decryption`] answers requests with shares, counts them, and collects them.
//! * [`operations`] does the same with shares of refreshes, of switches to another public key, and of additive shares.
//! * An [`Inbox`] takes the messages of one round. A wrong message is an error that names its sender.
//! * A [`Store`] keeps every message before it is sent, so that a restart sends the same bytes again.
//! * A [`Driver`](driver::Driver) runs a protocol over a [`Transport`](driver::Transport): among threads, and with the feature `net` over TLS (`driver::tls`) or a shared folder
//!   (`driver::folder`), between parties who have exchanged cards (`Identity`, `Card`, `Contacts`).
//!
//! **What is assumed.** Channels tell who sent a message and hide it from nobody but outsiders: all messages but the secrets of a [`Store`] may be public. Parties may stop,
//! and may send what they like: what can be checked without proofs is checked, that a share was made from a short secret and short errors is not. See `SECURITY.md`.
#![forbid(unsafe_code)]

mod answers;
pub mod dealing;
pub mod decryption;
mod digest;
pub mod driver;
mod error;
#[cfg(feature = "net")]
mod identity;
mod inbox;
mod journal;
pub mod keys;
mod lengths;
mod message;
pub mod operations;
mod roster;
mod round;
mod session;

pub use answers::Answers;
pub use error::{ChannelFault, Fault, PartiesError};
#[cfg(feature = "net")]
pub use identity::{Card, Contacts, Identity};
pub use inbox::{Inbox, Receipt};
pub use journal::{FolderStore, MemoryStore, Store};
pub use message::{Message, Step};
pub use roster::{Party, Roster};
pub use round::{Round, Stage};
pub use session::Session;
