//! BFV in files: the records of `docs/format.md` other than keys.

mod parameters;

use sunzi_rlwe::RlweContext;
use sunzi_rlwe::wire::{CiphertextOf, FieldReader, Fields, Kind, SchemeFormat, WireError};

use crate::{Bfv, Context};

/// Writes the plaintext modulus, on which BFV messages depend.
fn describe(plain_modulus: u64, fields: &mut Fields) {
    fields.bytes(b"BFV\0");
    fields.u64(plain_modulus);
}

impl SchemeFormat for Context {
    type Scheme = Bfv;
    const CIPHERTEXT: Kind = Kind::BfvCiphertext;
    const CIPHERTEXTS: Kind = Kind::BfvCiphertexts;
    const PLAINTEXT: Kind = Kind::BfvPlaintext;
    const METADATA_LEN: usize = 0;

    fn rlwe(&self) -> &RlweContext {
        self.rlwe()
    }

    fn describe(&self, fields: &mut Fields) {
        describe(self.plain_modulus(), fields);
    }

    fn put_metadata(&self, _: &u64, _: &mut Fields) {}

    fn get_metadata(&self, _: &mut FieldReader<'_>) -> Result<u64, WireError> {
        Ok(self.plain_modulus())
    }

    fn accept(&self, ciphertext: CiphertextOf<Self>) -> Result<CiphertextOf<Self>, WireError> {
        self.check(&ciphertext).map_err(WireError::scheme)?;
        Ok(self.record(ciphertext, "load", &[]))
    }
}
