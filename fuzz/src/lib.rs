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

use sunzi_rlwe::wire::Header;
use sunzi_testing::wire::{Specimen, every_specimen, mutation};

thread_local! {
    static SPECIMENS: Vec<Specimen> = every_specimen().expect("specimens are made");
}

/// Reads bytes as a kind of object, in the context that they name or else in the first that has such objects.
pub fn check(kind: &str, bytes: &[u8]) {
    SPECIMENS.with(|specimens| {
        let of_kind = || specimens.iter().filter(|specimen| format!("{:?}", specimen.kind) == kind);
        let named = Header::read(&mut &bytes[..]).ok().and_then(|header| {
            of_kind().find(|one| Header::read(&mut &one.bytes[..]).is_ok_and(|own| own.parameters == header.parameters))
        });
        let specimen = named.or_else(|| of_kind().next()).expect("every kind has a specimen");
        let mut repaired = bytes.to_vec();
        mutation::repair(&mut repaired, &specimen.records, specimen.kind);
        for bytes in [bytes, &repaired] {
            if specimen.rewritten(bytes).is_ok() {
                specimen.run(bytes).expect("what was read is read again");
            }
        }
    });
}
