//! Tests of identities and cards: what comes back, and what is refused.

use std::fs;

use sunzi_parties::{Card, Contacts, Identity};

use crate::places::identity;

#[test]
fn identities_come_back_from_files_that_their_owner_alone_can_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ada.id");
    let ada = identity("Ada", 1);
    ada.save(&path).unwrap();
    assert!(ada.save(&path).is_err(), "an identity is never replaced");
    let again = Identity::load(&path).unwrap();
    assert_eq!(again.card(None).unwrap(), ada.card(None).unwrap());
    assert_eq!(format!("{again:?}"), "Identity { name: \"Ada\", .. }");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        assert!(Identity::load(&path).err().unwrap().to_string().contains("0640"));
        Identity::load_anyway(&path).unwrap();
    }
    let bytes = fs::read(&path).unwrap();
    for at in 0..bytes.len() {
        let mut other = bytes.clone();
        other[at] ^= 1;
        fs::write(&path, &other).unwrap();
        assert!(Identity::load_anyway(&path).is_err(), "byte {at}");
        fs::write(&path, &bytes[..at]).unwrap();
        assert!(Identity::load_anyway(&path).is_err(), "{at} bytes");
    }
    assert!(Identity::load_anyway(folder.path()).is_err());
}

#[test]
fn cards_come_back_and_others_are_refused() {
    let card = identity("Ada", 1).card(Some("ada.example:7100")).unwrap();
    let text = card.to_json();
    assert_eq!(Card::from_json(&text).unwrap(), card);
    // The keys of a seed, and so its fingerprint, never change.
    assert_eq!(card.fingerprint(), "f71f cda2 d72c 4bef cd22 13b0 ddb0 72d5");
    assert_eq!(identity("Ada", 1).card(None).unwrap().fingerprint(), card.fingerprint());
    assert_ne!(identity("Bo", 1).card(None).unwrap().fingerprint(), card.fingerprint());
    let signatures = text.split('"').nth(9).unwrap().to_owned();
    for (what, other) in [
        ("version", text.replace("\"sunzi_card\":1", "\"sunzi_card\":2")),
        ("unknown field", text.replace("\"name\"", "\"more\":1,\"name\"")),
        ("no key", text.replace(&signatures, "")),
        ("short key", text.replace(&signatures, &signatures[2..])),
        ("not hexadecimal", text.replace(&signatures, &format!("g{}", &signatures[1..]))),
        ("key of small order", text.replace(&signatures, &format!("01{}", "0".repeat(62)))),
        ("name", text.replace("\"Ada\"", "\" Ada\"")),
        ("port", text.replace(":7100", ":71000")),
        ("host", text.replace("ada.example:", ":")),
        ("long", text.clone() + &" ".repeat(5000)),
        ("cut", text[..text.len() / 2].to_owned()),
        ("empty", String::new()),
    ] {
        assert!(Card::from_json(&other).is_err(), "{what}: {other}");
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ada.card");
    card.save(&path).unwrap();
    assert_eq!(Card::load(&path).unwrap(), card);
}

#[test]
fn contacts_have_different_names_and_keys_in_one_order() {
    let card = |name: &str, seed: u64| identity(name, seed).card(None).unwrap();
    let contacts = Contacts::new([card("Ada", 1), card("Bo", 2)]).unwrap();
    let other = Contacts::new([card("Bo", 2), card("Ada", 1)]).unwrap();
    assert_ne!(contacts.fingerprint(), other.fingerprint());
    assert_eq!(contacts.me(&identity("Bo", 2)).unwrap().number(), 2);
    let wrong = contacts.me(&identity("Bo", 3)).err().unwrap().to_string();
    assert!(wrong.contains(&card("Bo", 2).fingerprint()), "{wrong}");
    assert!(contacts.me(&identity("Cy", 3)).is_err());
    assert!(Contacts::new([card("Ada", 1), card("Ada", 2)]).is_err());
    let same = Contacts::new([card("Ada", 1), card("Bo", 1)]).err().unwrap().to_string();
    assert!(same.contains("the same key for Ada and Bo"), "{same}");
    assert!(Contacts::new([card("Ada", 1)]).is_err());
}
