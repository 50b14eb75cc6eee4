//! Messages of a hash and ciphertexts: queries name what they ask, and answers what they are to.

use std::io::BufRead;

use sunzi_rlwe::Ciphertext;
use sunzi_rlwe::wire::{
    CHECKSUM_LEN, FieldReader, Format, HEADER_LEN, Header, SchemeFormat, Sink, Source, WireError,
};

/// Bytes that the records of a ciphertext take at most beside its polynomials.
const NUMBERS: u64 = 1 << 10;

/// Ciphertexts of a context.
type Ciphertexts<C> = Vec<Ciphertext<<C as SchemeFormat>::Scheme>>;

/// Writes a hash, then ciphertexts.
pub(crate) fn put<C: SchemeFormat>(
    context: &C,
    hash: &[u8; 32],
    ciphertexts: &Ciphertexts<C>,
    sink: &mut impl Sink,
) -> Result<(), WireError> {
    sink.sealed(hash)?;
    Format::<Ciphertexts<C>>::put(context, ciphertexts, sink)
}

/// Largest number of bytes of a body with a hash and so many ciphertexts of two polynomials.
fn most_of_body(context: &impl SchemeFormat, count: usize) -> u64 {
    let one = (2 * context.rlwe().ring().packed_len() as u64).saturating_add(NUMBERS);
    (count as u64).saturating_mul(one).saturating_add(NUMBERS + CHECKSUM_LEN as u64)
}

/// Largest number of bytes of a file with a hash and so many ciphertexts of two polynomials.
pub(crate) fn most(context: &impl SchemeFormat, count: usize) -> u64 {
    most_of_body(context, count).saturating_add(HEADER_LEN as u64)
}

/// Reads a hash, then so many ciphertexts of two polynomials: a body that is longer than these is refused before they are read.
pub(crate) fn get<C: SchemeFormat>(
    context: &C,
    (what, count): (&'static str, usize),
    header: &Header,
    source: &mut Source<impl BufRead>,
) -> Result<([u8; 32], Ciphertexts<C>), WireError> {
    let most = most_of_body(context, count);
    if header.body_len > most {
        return Err(WireError::Length { expected: most, got: header.body_len });
    }
    let hash = FieldReader::new(&source.sealed("a hash", 32)?).array()?;
    let ciphertexts = <C as Format<Ciphertexts<C>>>::get(context, header, source)?;
    if ciphertexts.len() != count {
        return Err(WireError::value(what, count, ciphertexts.len()));
    }
    if let Some(other) = ciphertexts.iter().find(|one| one.parts().len() != 2) {
        return Err(WireError::value("the polynomials of a ciphertext", 2, other.parts().len()));
    }
    Ok((hash, ciphertexts))
}
