//! Lengths of messages, told before there are any: transports take nothing longer.

use sunzi_ring::{Evaluation, Ring};
use sunzi_rlwe::wire::{HEADER_LEN, Length, Sink};

use crate::PartiesError;

/// Returns the number of bytes of an object with one polynomial behind one number: pieces, and shares of decryptions.
///
/// # Errors
/// [`PartiesError::Wire`] never: nothing is written.
pub(crate) fn polynomial(ring: &Ring) -> Result<u64, PartiesError> {
    polynomials([ring])
}

/// Returns the number of bytes of an object with polynomials, each behind one number.
///
/// # Errors
/// [`PartiesError::Wire`] never: nothing is written.
pub(crate) fn polynomials<'a>(rings: impl IntoIterator<Item = &'a Ring>) -> Result<u64, PartiesError> {
    let mut length = Length::default();
    for ring in rings {
        length.sealed(&[0; 8])?;
        length.poly(ring, &ring.zero::<Evaluation>())?;
        length.seal()?;
    }
    Ok(length.bytes() + HEADER_LEN as u64)
}
