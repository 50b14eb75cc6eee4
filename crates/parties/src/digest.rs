//! Hashes of what parties agree on.

use sha2::{Digest as _, Sha256};

/// A hash, SHA-256.
pub(crate) type Digest = [u8; 32];

/// Returns the hash of parts in a domain. The length of each part is hashed before it, so that no two lists of parts give the same bytes.
pub(crate) fn digest<'a>(domain: &'a str, parts: impl IntoIterator<Item = &'a [u8]>) -> Digest {
    let mut hash = Sha256::new();
    for part in [domain.as_bytes()].into_iter().chain(parts) {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

/// Returns bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the first digits of a hash, to tell it from others.
pub(crate) fn short(hash: &Digest) -> String {
    hex(hash.first_chunk::<8>().unwrap_or(&[0; 8]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_kept_apart() {
        let of = |parts: &[&[u8]]| digest("test", parts.iter().copied());
        assert_eq!(of(&[b"ab", b"c"]), of(&[b"ab", b"c"]));
        for other in [&[&b"a"[..], b"bc"][..], &[b"abc"], &[b"ab", b"c", b""], &[b"ab"], &[]] {
            assert_ne!(of(&[b"ab", b"c"]), of(other), "{other:?}");
        }
        assert_ne!(digest("test", [&b"ab"[..]]), digest("tes", [&b"tab"[..]]));
        assert_eq!(hex(&[0, 10, 255]), "000aff");
    }
}
