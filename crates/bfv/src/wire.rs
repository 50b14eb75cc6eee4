//! BFV in files: what `docs/format.md` has beside keys.

mod parameters;

use std::io::BufRead;

use sunzi_rlwe::RlweContext;
use sunzi_rlwe::wire::{
    CiphertextOf, FieldReader, Fields, Format, Header, Kind, SchemeFormat, Sink, Source, WireError,
};

use crate::{Bfv, Context, Plaintext};

/// Describes what messages depend on: the plaintext modulus.
fn describe(plain_modulus: u64, fields: &mut Fields) {
    fields.bytes(b"BFV\0");
    fields.u64(plain_modulus);
}

impl SchemeFormat for Context {
    type Scheme = Bfv;
    const CIPHERTEXT: Kind = Kind::BfvCiphertext;
    const CIPHERTEXTS: Kind = Kind::BfvCiphertexts;
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

impl Format<Plaintext> for Context {
    const KIND: Kind = Kind::BfvPlaintext;

    fn put(&self, plaintext: &Plaintext, sink: &mut impl Sink) -> Result<(), WireError> {
        self.check_plaintext(plaintext).map_err(WireError::scheme)?;
        sink.sealed(&plaintext.to_packed().map_err(WireError::scheme)?)
    }

    fn get(&self, _: &Header, source: &mut Source<impl BufRead>) -> Result<Plaintext, WireError> {
        let (degree, t) = (self.degree(), self.plain_modulus());
        let bytes = source.sealed("the plaintext", Plaintext::packed_len(degree, t))?;
        Plaintext::from_packed(&bytes, degree, t).map_err(WireError::scheme)
    }
}
