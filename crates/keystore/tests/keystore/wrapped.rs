//! Secret files under a wrapped data key are opened by that key, and by nothing else.

use sunzi_keystore::{DataKey, KeystoreError, LONGEST_WRAPPED, lock_under, unlock_under, wrapped_key};
use sunzi_ring::sampling::SeededRng;
use sunzi_rlwe::KeyId;
use sunzi_rlwe::wire::{Fingerprint, Header, Kind, WireError};

fn secret() -> Vec<u8> {
    let parameters = Fingerprint { ring: [1; 8], scheme: [2; 8] };
    let key = Some(KeyId::from_bytes([3; 16]));
    let header = Header { kind: Kind::SecretKey as u16, parameters, key, body_len: 200 };
    [header.to_bytes(), (0..200).collect()].concat()
}

fn rng() -> SeededRng {
    SeededRng::derive(&[5; 32], "wrapped", 0)
}

fn key() -> DataKey {
    DataKey::generate(&mut rng())
}

fn locked(wrapped: &[u8]) -> Vec<u8> {
    lock_under(&secret(), &key(), wrapped, &mut rng()).unwrap()
}

#[test]
fn a_data_key_opens_what_it_locked() {
    for wrapped in [&b"x"[..], &[7; LONGEST_WRAPPED]] {
        let file = locked(wrapped);
        let header = Header::read(&mut &file[..]).unwrap();
        assert_eq!((header.kind, header.key), (0x0204, Some(KeyId::from_bytes([3; 16]))));
        assert_eq!(wrapped_key(&file).unwrap(), wrapped);
        assert_eq!(*unlock_under(&file, &key()).unwrap(), secret());
        let other = DataKey::from_bytes(&[0; 32]).unwrap();
        assert!(matches!(unlock_under(&file, &other), Err(KeystoreError::DataKeyWrong)));
    }
    for got in [0, 31, 33] {
        let refused = DataKey::from_bytes(&vec![0; got]).unwrap_err();
        assert!(matches!(refused, KeystoreError::DataKeyLength { got: told } if told == got));
    }
    for len in [0, LONGEST_WRAPPED + 1] {
        let refused = lock_under(&secret(), &key(), &vec![0; len], &mut rng());
        assert!(matches!(refused, Err(KeystoreError::WrappedLength { got }) if got == len));
    }
    let twice = lock_under(&locked(b"x"), &key(), b"x", &mut rng());
    assert!(matches!(twice, Err(KeystoreError::NotSecret(_))));
}

#[test]
fn changed_files_stay_closed() {
    let file = locked(b"wrapped by somebody");
    for at in 0..file.len() {
        for bit in 0..8 {
            let mut changed = file.clone();
            changed[at] ^= 1 << bit;
            assert!(unlock_under(&changed, &key()).is_err(), "byte {at}");
        }
    }
    for len in 0..file.len() {
        assert!(unlock_under(&file[..len], &key()).is_err(), "{len}");
    }
    // A length of the wrapped key that no file has is refused before memory is taken.
    let mut long = file.clone();
    long[88..96].copy_from_slice(&u64::MAX.to_le_bytes());
    assert!(matches!(wrapped_key(&long), Err(KeystoreError::Wire(WireError::Value { .. }))));
}

/// The file format as it must stay.
#[test]
fn a_file_of_before_is_opened() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/keystore/wrapped.bin");
    let file = locked(b"wrapped by somebody");
    if std::env::var_os("SUNZI_GOLDEN").is_some_and(|word| word == "write") {
        std::fs::write(path, &file).unwrap();
    }
    assert_eq!(std::fs::read(path).unwrap(), file);
}
