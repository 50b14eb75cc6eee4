//! Entries behind a checksum, by which whoever reads an answer knows that it opened to an entry of the database.
//!
//! The noise of an answer is what the server says that it is. Where it was more, or the answer is to another query, an answer opens to other bytes:
//! these would be taken for an entry, or for the place of another keyword.

use sha2::{Digest, Sha256};

use super::RetrievalError;

/// Number of bytes of the checksum before an entry: other bytes have the right one once in 2^64.
pub const SEAL: usize = 8;

/// Returns the entry of a place with its checksum before it, filled up with zeros to `entry_bytes`, the checksum included. The seed tells databases apart.
#[must_use]
pub fn sealed(seed: &[u8; 32], place: u64, content: &[u8], entry_bytes: usize) -> Vec<u8> {
    let mut entry = vec![0; SEAL];
    entry.extend_from_slice(content);
    entry.resize(entry_bytes.max(entry.len()), 0);
    let seal = seal(seed, place, &entry);
    entry.iter_mut().zip(seal).for_each(|(to, byte)| *to = byte);
    entry
}

/// Returns what stands behind the checksum of an entry.
///
/// # Errors
/// [`RetrievalError::Unsealed`] for bytes that are not the entry of this place.
pub fn opened<'a>(seed: &[u8; 32], place: u64, entry: &'a [u8]) -> Result<&'a [u8], RetrievalError> {
    match entry.split_at_checked(SEAL) {
        Some((checksum, content)) if checksum == seal(seed, place, entry) => Ok(content),
        _ => Err(RetrievalError::Unsealed),
    }
}

/// The checksum of an entry, without regard to the one that it has.
fn seal(seed: &[u8; 32], place: u64, entry: &[u8]) -> [u8; SEAL] {
    let hash = Sha256::new_with_prefix(b"sunzi entry").chain_update(seed).chain_update(place.to_le_bytes());
    let hash: [u8; 32] = hash.chain_update(entry.get(SEAL..).unwrap_or_default()).finalize().into();
    hash.first_chunk().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_opens_at_its_place_alone() {
        let seed = [3; 32];
        let entry = sealed(&seed, 5, b"content", 20);
        assert_eq!(entry.len(), 20);
        assert_eq!(opened(&seed, 5, &entry).unwrap(), b"content\0\0\0\0\0");
        assert!(opened(&seed, 6, &entry).is_err() && opened(&[4; 32], 5, &entry).is_err());
        for at in 0..entry.len() {
            let mut other = entry.clone();
            other[at] ^= 1;
            assert!(matches!(opened(&seed, 5, &other), Err(RetrievalError::Unsealed)), "{at}");
        }
        assert!(opened(&seed, 5, &entry[..7]).is_err() && opened(&seed, 5, &[0; 20]).is_err());
    }
}
