//! Label and expiry of keys: authentic to the holder of the secret, and refused where they are anything else.

use sunzi_keystore::{KeystoreError, LONGEST_PROPERTIES, Label, Properties, StoredProperties, Time};
use sunzi_rlwe::KeyId;
use sunzi_rlwe::wire::{Fingerprint, Header, Kind, checksum};

/// The file of a secret key, as far as anybody looks at it here.
fn secret(byte: u8) -> Vec<u8> {
    let parameters = Fingerprint { ring: [1; 8], scheme: [0; 8] };
    let key = Some(KeyId::from_bytes([3; 16]));
    let header = Header { kind: Kind::SecretKey as u16, parameters, key, body_len: 200 };
    [header.to_bytes(), vec![byte; 200]].concat()
}

fn properties() -> Properties {
    let expires = Some("2027-06-01".parse().unwrap());
    Properties {
        label: Some("payroll, 2026 (Ümläut 給与)".parse().unwrap()),
        set: time("2026-01-01"),
        expires,
    }
}

fn time(text: &str) -> Time {
    text.parse().unwrap()
}

#[test]
fn properties_come_back_and_are_those_of_one_secret() {
    let longest: Label = "給".repeat(64).parse().unwrap();
    let none = Properties { label: None, set: time("1970-01-01"), expires: None };
    let long = Properties {
        label: Some(longest),
        set: time("9999-12-31T23:59:59Z"),
        expires: Some(time("9999-12-31")),
    };
    for own in [properties(), none, long] {
        let file = own.sealed(&secret(1)).unwrap();
        assert!(file.len() as u64 <= LONGEST_PROPERTIES);
        let stored = StoredProperties::read(&file).unwrap();
        assert_eq!((stored.properties(), stored.key()), (&own, KeyId::from_bytes([3; 16])));
        stored.check(&secret(1)).unwrap();
        assert!(matches!(stored.check(&secret(2)), Err(KeystoreError::PropertiesChanged)));
    }
    let public = Header { kind: Kind::PublicKey as u16, ..Header::read(&mut &secret(1)[..]).unwrap() };
    assert!(matches!(properties().sealed(&public.to_bytes()), Err(KeystoreError::NotSecret(_))));
    let end = time("2027-06-01");
    assert!(!properties().is_expired(Time::from_seconds(end.seconds() - 1).unwrap()));
    assert!(properties().is_expired(end) && properties().is_expired(time("9999-01-01")));
}

/// Every changed byte is found: by the checksum, or where that was made anew by the code of the secret.
#[test]
fn changed_files_are_found() {
    let file = properties().sealed(&secret(1)).unwrap();
    for at in 0..file.len() {
        for bit in 0..8 {
            let mut changed = file.clone();
            changed[at] ^= 1 << bit;
            assert!(StoredProperties::read(&changed).is_err(), "byte {at}");
            if at < 64 {
                let header = checksum(&changed[..56]);
                changed[56..64].copy_from_slice(&header.to_le_bytes());
            }
            let body = changed.len() - 8;
            let sum = checksum(&changed[64..body]);
            changed[body..].copy_from_slice(&sum.to_le_bytes());
            let forged =
                StoredProperties::read(&changed).is_ok_and(|stored| stored.check(&secret(1)).is_ok());
            assert!(!forged || changed == file, "byte {at}, bit {bit}");
        }
    }
    for len in 0..file.len() {
        assert!(StoredProperties::read(&file[..len]).is_err(), "{len}");
    }
    assert!(StoredProperties::read(&[&file[..], &[0]].concat()).is_err());
}

#[test]
fn labels_steer_nothing_and_hide_nothing() {
    for good in ["a", "Müller & Co. (2026)", "給与", "נתונים", "x".repeat(64).as_str()] {
        assert_eq!(good.parse::<Label>().unwrap().to_string(), good);
    }
    let long = "x".repeat(65);
    let hidden = [
        "a\u{202e}b",
        "a\u{2066}b",
        "a\u{200b}b",
        "a\u{200f}b",
        "\u{feff}a",
        "a\u{ad}b",
        "a\u{2028}b",
        "a\u{a0}b",
        "a\u{3164}b",
    ];
    let plain = ["", " ", " a", "a ", "a\nb", "a\tb", "a\0b", "a\u{1b}[31mb", "a\u{7f}", "a\u{85}b", &long];
    for bad in hidden.iter().chain(&plain) {
        assert!(bad.parse::<Label>().is_err(), "{bad:?}");
    }
    // Nor do those of a file whose writer has the secret.
    let own = Properties { label: Some("aaa".parse().unwrap()), ..properties() };
    let mut file = own.sealed(&secret(1)).unwrap();
    let at = file.windows(3).position(|some| some == b"aaa").unwrap();
    file[at..at + 3].copy_from_slice("\u{202e}".as_bytes());
    let body = file.len() - 8;
    let sum = checksum(&file[64..body]);
    file[body..].copy_from_slice(&sum.to_le_bytes());
    assert!(StoredProperties::read(&file).unwrap_err().to_string().contains("label"));
}

/// The file format as it must stay.
#[test]
fn a_file_of_before_is_read() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/keystore/properties.bin");
    let file = properties().sealed(&secret(1)).unwrap();
    if std::env::var("SUNZI_GOLDEN").is_ok_and(|mode| mode == "write") {
        std::fs::write(path, &file).unwrap();
    }
    assert_eq!(std::fs::read(path).unwrap(), file);
}
