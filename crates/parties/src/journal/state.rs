//! Wire format of what a party keeps for itself: parts of bytes under one header, of a kind that is secret.

use sunzi_rlwe::wire::Fingerprint;
use sunzi_rlwe::wire::{CHECKSUM_LEN, FieldReader, HEADER_LEN, Header, Kind, Source, WireError, checksum};
use zeroize::Zeroizing;

/// Returns parts of bytes as one object of the kind [`Kind::PartyState`]: for each part a record with its length and a record with its bytes.
pub(crate) fn seal_state(parameters: Fingerprint, parts: &[&[u8]]) -> Zeroizing<Vec<u8>> {
    let body_len: usize = parts.iter().map(|part| part.len() + 8 + 2 * CHECKSUM_LEN).sum();
    // All room is there from the start: a buffer that grows leaves copies.
    let mut bytes = Zeroizing::new(Vec::with_capacity(HEADER_LEN + body_len));
    let header = Header { kind: Kind::PartyState as u16, parameters, key: None, body_len: body_len as u64 };
    bytes.extend_from_slice(&header.to_bytes());
    for part in parts {
        for record in [&(part.len() as u64).to_le_bytes()[..], part] {
            bytes.extend_from_slice(record);
            bytes.extend_from_slice(&checksum(record).to_le_bytes());
        }
    }
    bytes
}

/// Reads as many parts as asked for.
///
/// # Errors
/// Any [`WireError`].
pub(crate) fn open_state<const N: usize>(
    parameters: Fingerprint,
    bytes: &[u8],
) -> Result<[Zeroizing<Vec<u8>>; N], WireError> {
    let mut body = bytes;
    let header = Header::read(&mut body)?;
    if header.kind != Kind::PartyState as u16 {
        return Err(WireError::Kind { expected: Kind::PartyState, got: header.kind });
    }
    header.without_key()?;
    parameters.check(&header.parameters)?;
    match (body.len() as u64).checked_sub(header.body_len) {
        Some(0) => {}
        Some(extra) => return Err(WireError::Trailing { extra }),
        None => return Err(WireError::Truncated),
    }
    let mut source = Source::new(body, header.body_len);
    let mut parts = std::array::from_fn(|_| Zeroizing::new(Vec::new()));
    for part in &mut parts {
        let record = source.sealed("the length of a part", 8)?;
        let length = FieldReader::new(&record).usize_in("bytes of a part", 0..=bytes.len())?;
        *part = source.sealed("a part", length)?;
    }
    source.finish()?;
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_come_back_and_damage_is_refused() {
        let parameters = Fingerprint { ring: [1; 8], scheme: [0; 8] };
        let bytes = seal_state(parameters, &[b"secret", b""]);
        let [first, second] = open_state(parameters, &bytes).unwrap();
        assert_eq!((&**first, &**second), (&b"secret"[..], &b""[..]));
        assert!(open_state::<1>(parameters, &bytes).is_err());
        assert!(open_state::<3>(parameters, &bytes).is_err());
        assert!(open_state::<2>(Fingerprint::default(), &bytes).is_err());
        for at in 0..bytes.len() {
            let mut other = bytes.to_vec();
            other[at] ^= 1;
            assert!(open_state::<2>(parameters, &other).is_err(), "byte {at}");
            assert!(open_state::<2>(parameters, &bytes[..at]).is_err(), "{at} bytes");
        }
    }
}
