//! Wire format of plaintexts of the exact schemes, BFV and BGV.

use std::io::BufRead;

use sunzi_encoding::Plaintext;

use super::{Format, Header, Kind, SchemeFormat, Sink, Source, WireError};
use crate::Exact;

impl<C: SchemeFormat<Scheme = S>, S: Exact<Context = C>> Format<Plaintext> for C {
    const KIND: Kind = C::PLAINTEXT;

    fn put(&self, plaintext: &Plaintext, sink: &mut impl Sink) -> Result<(), WireError> {
        let degree = S::rlwe(self).ring().degree();
        plaintext.check(degree, S::plain_modulus(self)).map_err(WireError::scheme)?;
        sink.sealed(&plaintext.to_packed().map_err(WireError::scheme)?)
    }

    fn get(&self, _: &Header, source: &mut Source<impl BufRead>) -> Result<Plaintext, WireError> {
        let (degree, t) = (S::rlwe(self).ring().degree(), S::plain_modulus(self));
        let bytes = source.sealed("the plaintext", Plaintext::packed_len(degree, t))?;
        Plaintext::from_packed(&bytes, degree, t).map_err(WireError::scheme)
    }
}
