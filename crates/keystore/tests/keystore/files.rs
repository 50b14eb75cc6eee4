//! Secret files under a passphrase are opened by it, and by nothing else.

use std::panic::{AssertUnwindSafe, catch_unwind};

use sunzi_keystore::{Cost, KeystoreError, LONGEST_PASSPHRASE, Passphrase, cost_of, lock, unlock};
use sunzi_ring::sampling::SeededRng;
use sunzi_rlwe::wire::{Fingerprint, Header, Kind, WireError, from_bytes, to_bytes};
use sunzi_rlwe::{KeyId, PublicKey, RlweContext, SecretKey, Security};

/// Cost of tests, which derive keys thousands of times.
const CHEAP: Cost = Cost { memory: 16, passes: 1, lanes: 2 };
/// Number of bytes before what is encrypted.
const PLAIN: usize = 64 + 12 + 16 + 24;

fn context() -> RlweContext {
    let ring = sunzi_ring::Ring::new(128, &sunzi_math::primes_below(1 << 47, 128, 2).unwrap()).unwrap();
    RlweContext::new(ring, Security::InsecureForResearchOnly).unwrap()
}

fn rng() -> SeededRng {
    SeededRng::derive(&[5; 32], "keystore", 0)
}

fn passphrase(text: &str) -> Passphrase {
    Passphrase::new(text).unwrap()
}

/// A secret key in bytes, and locked.
fn locked() -> (Vec<u8>, Vec<u8>) {
    let (context, mut rng) = (context(), rng());
    let secret = to_bytes(&context, &SecretKey::generate(&context, &mut rng).unwrap()).unwrap();
    let locked = lock(&secret, &passphrase("open sesame"), CHEAP, &mut rng).unwrap();
    (secret, locked)
}

#[test]
fn a_passphrase_opens_what_it_locked() {
    let (secret, locked) = locked();
    let own = Header::read(&mut &secret[..]).unwrap();
    let header = Header::read(&mut &locked[..]).unwrap();
    assert_eq!((header.kind, header.parameters, header.key), (0x0202, own.parameters, own.key));
    assert!(Kind::LockedSecret.is_secret() && cost_of(&locked).unwrap() == CHEAP);
    assert!(!locked.windows(16).any(|some| some == &secret[secret.len() - 16..]));
    let unlocked = unlock(&locked, &passphrase("open sesame")).unwrap();
    assert_eq!(*unlocked, secret);
    let key: SecretKey = from_bytes(&context(), &unlocked).unwrap();
    assert_eq!(Some(key.id()), header.key);
    for wrong in ["open sesam", "open sesame ", "Open sesame", "\0"] {
        assert!(
            matches!(unlock(&locked, &passphrase(wrong)), Err(KeystoreError::PassphraseWrong)),
            "{wrong:?}"
        );
    }
}

#[test]
fn equal_secrets_and_passphrases_give_other_files() {
    let (secret, first) = locked();
    let second =
        lock(&secret, &passphrase("open sesame"), CHEAP, &mut SeededRng::from_key(&[1; 32])).unwrap();
    assert!(
        first[76..92] != second[76..92] && first[PLAIN..] != second[PLAIN..] && first.len() == second.len()
    );
}

/// The file format with a fixed secret, salt and nonce, as it must stay.
#[test]
fn a_file_of_before_is_opened() {
    let body: Vec<u8> = (0..200).collect();
    let parameters = Fingerprint { ring: [1; 8], scheme: [2; 8] };
    let key = Some(KeyId::from_bytes([3; 16]));
    let header = Header { kind: Kind::SecretKey as u16, parameters, key, body_len: 200 };
    let secret = [header.to_bytes(), body].concat();
    let locked = lock(&secret, &passphrase("open sesame"), CHEAP, &mut rng()).unwrap();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/keystore/golden.bin");
    if std::env::var_os("SUNZI_GOLDEN").is_some_and(|word| word == "write") {
        std::fs::write(file, &locked).unwrap();
    }
    assert_eq!(std::fs::read(file).unwrap(), locked);
    assert_eq!(*unlock(&locked, &passphrase("open sesame")).unwrap(), secret);
}

#[test]
fn other_files_and_passphrases_are_refused() {
    let (secret, locked) = locked();
    let (context, mut rng) = (context(), rng());
    let word = passphrase("x");
    let key = SecretKey::generate(&context, &mut rng).unwrap();
    let public = to_bytes(&context, &PublicKey::generate(&context, &key, &mut rng).unwrap()).unwrap();
    for none in [&public, &locked] {
        let refused = lock(none, &word, CHEAP, &mut rng).unwrap_err();
        assert!(matches!(refused, KeystoreError::NotSecret(_)), "{refused}");
    }
    assert!(matches!(lock(b"nothing", &word, CHEAP, &mut rng), Err(KeystoreError::Wire(_))));
    let kind = unlock(&secret, &word).unwrap_err();
    assert!(matches!(
        kind,
        KeystoreError::Wire(WireError::Kind { expected: Kind::LockedSecret, got: 0x0200 })
    ));
    for got in [0, LONGEST_PASSPHRASE + 1] {
        let refused = Passphrase::new(vec![b'x'; got]).unwrap_err();
        assert_eq!(refused.to_string(), format!("a passphrase of {got} bytes: expected 1 to 1024"));
    }
    assert!(Passphrase::new([0xFF; LONGEST_PASSPHRASE]).is_ok());
    assert_eq!(format!("{word:?}"), "Passphrase");
    for (cost, what) in [
        (Cost { lanes: 0, ..CHEAP }, "lanes"),
        (Cost { lanes: 17, ..CHEAP }, "lanes"),
        (Cost { passes: 0, ..CHEAP }, "passes"),
        (Cost { passes: 65, ..CHEAP }, "passes"),
        (Cost { memory: 15, ..CHEAP }, "memory"),
        (Cost { memory: (1 << 22) + 1, ..CHEAP }, "memory"),
    ] {
        let refused = lock(&secret, &word, cost, &mut rng).unwrap_err();
        assert!(refused.to_string().starts_with(what), "{refused}");
    }
}

/// A file of a stranger that asks for more memory, passes or lanes than are taken is refused before anything is derived.
#[test]
fn hostile_costs_are_refused() {
    let (_, locked) = locked();
    for (at, number) in [(64, u32::MAX), (64, 0), (68, u32::MAX), (68, 0), (72, u32::MAX), (72, 0)] {
        let mut hostile = locked.clone();
        hostile[at..at + 4].copy_from_slice(&number.to_le_bytes());
        assert!(
            matches!(unlock(&hostile, &passphrase("x")), Err(KeystoreError::DerivationCost { .. })),
            "{at} {number}"
        );
    }
}

/// Every cut, and every bit of a file that is not the cost: nothing but an error, whatever was changed.
#[test]
fn changed_files_stay_closed() {
    let (_, locked) = locked();
    let word = passphrase("open sesame");
    for len in 0..locked.len() {
        assert!(unlock(&locked[..len], &word).is_err(), "{len}");
    }
    assert!(unlock(&[&locked[..], b"x"].concat(), &word).is_err());
    for bit in (0..8 * locked.len()).filter(|bit| !(8 * 64..8 * 76).contains(bit)) {
        let mut changed = locked.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        assert!(unlock(&changed, &word).is_err(), "{bit}");
    }
}

fn mutants(count: usize) {
    let (_, locked) = locked();
    let word = passphrase("open sesame");
    let mut rng = SeededRng::derive(&[6; 32], "mutants", 0);
    for mutant in 0..count {
        let mut bytes = locked.clone();
        for _ in 0..=rand_core::Rng::next_u32(&mut rng) % 3 {
            let at = rand_core::Rng::next_u32(&mut rng) as usize % bytes.len();
            // A cost of its own would be derived as it says: it is drawn from those that are refused or cheap.
            if !(64..76).contains(&at) {
                bytes[at] = rand_core::Rng::next_u32(&mut rng) as u8;
            }
        }
        bytes.truncate(bytes.len() - (rand_core::Rng::next_u32(&mut rng) as usize % 8) * (mutant % 2));
        let opened = catch_unwind(AssertUnwindSafe(|| unlock(&bytes, &word)));
        let opened = opened.unwrap_or_else(|_| panic!("mutant {mutant} panics"));
        assert!(opened.is_err() || bytes == locked, "mutant {mutant}");
    }
}

#[test]
fn mutants_stay_closed() {
    mutants(3000);
}

#[test]
#[ignore = "long: a million mutants"]
fn a_million_mutants_stay_closed() {
    mutants(1_000_000);
}

/// The default derivation takes the time and the memory that its documentation says.
#[test]
fn the_default_cost_is_that_of_its_documentation() {
    let Cost { memory, passes, lanes } = Cost::default();
    assert_eq!((memory, passes, lanes), (262_144, 3, 1));
    let (secret, _) = locked();
    let locked = lock(&secret, &passphrase("slow"), Cost::default(), &mut rng()).unwrap();
    assert_eq!(*unlock(&locked, &passphrase("slow")).unwrap(), secret);
}
