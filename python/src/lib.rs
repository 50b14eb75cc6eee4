//! Native module `sunzi._native` of Sunzi for Python. The arrays that users meet are Python, in `sunzi/`.
#![forbid(unsafe_code)]
// The Python documentation of these classes is in the stubs, and nothing of this crate is public in Rust.
#![allow(missing_docs, reason = "PyO3 makes items without documentation")]

mod batch;
mod bootstrap;
mod ciphertext;
mod compute;
mod context;
mod error;
mod field;
mod keys;
mod linear;
mod matrix;
mod ops;
mod parties;
mod plaintext;
mod reencryption;
mod request;
mod scheme;
mod series;
mod several;
mod sharing;
mod table;
mod tape;
mod unified;
mod wire;

use pyo3::prelude::*;

#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::batch::{MatrixBatch, MatrixKeys};
    #[pymodule_export]
    use crate::bootstrap::{
        BootstrapKeys, Bootstrapper, IntegerBatch, IntegerEvaluator, MessageTable, bootstrap_context,
        bootstrap_levels_left, bootstrap_set, bootstrap_sets, bootstrap_slots, decode_messages,
        encode_messages, has_integers, integer_set, table_bits, table_set,
    };
    #[pymodule_export]
    use crate::ciphertext::Ciphertext;
    #[pymodule_export]
    use crate::compute::{Threads, seconds_of_work};
    #[pymodule_export]
    use crate::context::Context;
    #[pymodule_export]
    use crate::field::{Field, SlotRotation};
    #[pymodule_export]
    use crate::keys::{EvaluationKeys, PublicKey, SecretKey};
    #[pymodule_export]
    use crate::linear::LinearTransform;
    #[pymodule_export]
    use crate::matrix::PlainMatrix;
    #[pymodule_export]
    use crate::parties::{
        Card, Contacts, Identity, PartyDealing, PartyDecryptor, PartyHandingOn, PartyKeySession, PartyLink,
        PartyOpening, PartyRefreshing, PartySecret, PartySharing, PartySwitching, Roster, additive_request,
        decryption_request, party_ledger, read_party_request, refresh_request, request_channel,
        session_nonce, switch_request,
    };
    #[pymodule_export]
    use crate::plaintext::Plaintext;
    #[pymodule_export]
    use crate::reencryption::{ReencryptionKey, ReencryptionPublicKey};
    #[pymodule_export]
    use crate::series::Series;
    #[pymodule_export]
    use crate::sharing::SharingLedger;
    #[pymodule_export]
    use crate::table::{TableBytes, TableKeys, TablePlan, TableProgram, TableResults, TableSchema};
    #[pymodule_export]
    use crate::tape::{Rehearsal, Tape};
    #[pymodule_export]
    use crate::wire::{checksum, header, kind_is_secret, kind_name, read_header, write_file};
}
