//! Wire format of objects as bytes: format version 1 of `docs/format.md`.
//!
//! A context that implements [`Format`] for a kind of objects reads and writes them: an [`RlweContext`](crate::RlweContext) keys, the
//! context of a scheme its plaintexts and ciphertexts.
//!
//! Bytes of objects may come from anybody. They are checked against the context before memory is allocated for them; no
//! key is generated; an object of another kind, of other parameters or of another key is an error. Checksums are
//! against accidents only: whoever can change a ciphertext can make another one, and a noise bound in a file is what
//! its sender says, never a reason to trust.
//!
//! A read allocates memory for the object, 8 bytes a residue where the file has the bits of its modulus, and one
//! polynomial; the uniform half that the file has as a seed doubles fresh ciphertexts, and keys when they are first
//! used.

mod ciphertext;
mod claim;
mod description;
mod encapsulation;
mod erasing;
mod error;
mod fault;
mod fields;
mod file;
mod format;
mod galois;
mod header;
mod joint;
mod keys;
mod kind;
mod ledger;
mod lengths;
mod lower;
mod parameters;
mod plaintext;
mod raising;
mod real_ring;
mod reencryption;
mod rekeying;
mod sink;
mod source;

pub use ciphertext::{CiphertextOf, Ciphertexts, SchemeFormat, joint_fingerprint};
pub use claim::SecurityClaim;
pub use description::{Fingerprint, RingPart, get_security, put_security, ring_bytes};
pub use erasing::ErasingReader;
pub use error::WireError;
pub use fault::Fault;
pub use fields::{FieldReader, Fields};
pub use file::{Unfinished, create, load, open_regular, remove_unfinished, replace, store, sync_folder};
pub use format::{Format, Reader, Scope, from_bytes, to_bytes, write};
pub use galois::GaloisFile;
pub use header::{HEADER_LEN, Header, checksum};
pub use kind::{Kind, MAGIC, VERSION};
pub use lengths::{evaluation_keys_len, switch_key_len};
pub use lower::{get_lower, put_lower};
pub use parameters::{Accept, NoContext, StoredParameters, claimed};
pub use real_ring::{get_real_ring, put_real_ring};
pub use sink::{CHECKSUM_LEN, Length, Output, Sink};
pub use source::Source;
pub use sunzi_ring::{Append, Block};
