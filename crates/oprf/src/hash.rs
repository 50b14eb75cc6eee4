//! Hashes to the group and to its scalars (RFC 9380, section 5.3.1; RFC 9497, section 4.1).

use curve25519_dalek::{RistrettoPoint, Scalar};
use sha2::{Digest, Sha512};

/// The string that tells this function from others: mode 1, verifiable.
pub(crate) const CONTEXT: &[u8] = b"OPRFV1-\x01-ristretto255-SHA512";

/// Expands a message, whose parts follow one another, to 64 uniform bytes: expand_message_xmd for one block of SHA-512.
fn expanded(message: &[&[u8]], domain: &[&[u8]]) -> [u8; 64] {
    const BLOCK: [u8; 128] = [0; 128];
    let mut domain = domain.concat();
    domain.push(domain.len() as u8);
    let mut first = Sha512::new_with_prefix(BLOCK);
    message.iter().for_each(|part| first.update(part));
    let first = first.chain_update([0, 64, 0]).chain_update(&domain).finalize();
    Sha512::new_with_prefix(first).chain_update([1]).chain_update(&domain).finalize().into()
}

/// Hashes an input to the group.
pub(crate) fn to_group(input: &[u8]) -> RistrettoPoint {
    RistrettoPoint::from_uniform_bytes(&expanded(&[input], &[b"HashToGroup-", CONTEXT]))
}

/// Hashes a message to a scalar.
pub(crate) fn to_scalar(message: &[&[u8]]) -> Scalar {
    Scalar::from_bytes_mod_order_wide(&expanded(message, &[b"HashToScalar-", CONTEXT]))
}

/// Hashes a message to a scalar that is a key.
pub(crate) fn to_key(message: &[&[u8]]) -> Scalar {
    Scalar::from_bytes_mod_order_wide(&expanded(message, &[b"DeriveKeyPair", CONTEXT]))
}

/// Returns a length as messages have it, in two bytes.
pub(crate) fn length(bytes: &[u8]) -> [u8; 2] {
    (bytes.len() as u16).to_be_bytes()
}
