//! Targets for `cargo fuzz`, one for every kind of file: what is read is run through every operation.
//!
//! From this folder, with a nightly toolchain and `cargo install cargo-fuzz`:
//!
//! ```text
//! cargo +nightly fuzz run BfvCiphertext corpus/BfvCiphertext ../testing/golden/v1
//! ```
//!
//! The names are those of [`Kind`](sunzi_rlwe::wire::Kind). Checksums would stop a fuzzer at every step, so bytes are read twice: as they are, and with
//! the checksums and the length that they should have.
#![forbid(unsafe_code)]

use sunzi_rlwe::wire::{Fingerprint, Header, checksum};
use sunzi_testing::wire::{Specimen, every_specimen, mutation};

/// Of what is accepted, one in so many is put through every operation, which takes a hundred times as long as reading; the
/// mutants of `testing/tests/memory/wire_hostile.rs` all are. By the bytes alone, so that a crash repeats.
const OPERATED: u64 = 16;

/// A file with what it says of its parameters.
struct Known {
    kind: String,
    parameters: Fingerprint,
    specimen: Specimen,
}

thread_local! {
    static KNOWN: Vec<Known> = every_specimen().expect("specimens are made").into_iter().map(known).collect();
}

fn known(specimen: Specimen) -> Known {
    let parameters = Header::read(&mut &specimen.bytes[..]).expect("specimens have headers").parameters;
    Known { kind: format!("{:?}", specimen.kind), parameters, specimen }
}

/// Reads bytes as a kind of object, in the context that they name or else in the first that has such objects.
pub fn check(kind: &str, bytes: &[u8]) {
    KNOWN.with(|all| {
        let of_kind = || all.iter().filter(|known| known.kind == kind);
        let named = Header::read(&mut &bytes[..])
            .ok()
            .and_then(|header| of_kind().find(|known| known.parameters == header.parameters));
        let specimen = &named.or_else(|| of_kind().next()).expect("every kind has a specimen").specimen;
        let mut repaired = bytes.to_vec();
        mutation::repair(&mut repaired, &specimen.records, specimen.kind);
        for bytes in [bytes, &repaired] {
            if specimen.rewritten(bytes).is_ok() && checksum(bytes).is_multiple_of(OPERATED) {
                specimen.run(bytes).expect("what was read is read again");
            }
        }
    });
}
