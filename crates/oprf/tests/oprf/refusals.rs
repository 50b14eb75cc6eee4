//! What is refused: proofs of other keys, bytes that are no elements, and numbers of inputs.

use rand_core::SeedableRng;
use sunzi_oprf::{Blinded, Element, MOST_BYTES, MOST_INPUTS, OprfError, Proof, PublicKey, ServerKey};

type Rng = chacha20::ChaCha20Rng;

#[test]
fn another_key_or_element_has_no_proof() {
    let mut rng = Rng::seed_from_u64(1);
    let (key, other) = (ServerKey::generate(&mut rng), ServerKey::generate(&mut rng));
    let blinded = Blinded::new(&["a", "b", "c"], &mut rng).unwrap();
    let (evaluated, proof) = key.evaluate(blinded.elements(), &mut rng).unwrap();
    assert_eq!(blinded.finish(&evaluated, &proof, &key.public_key()).unwrap().len(), 3);
    assert_eq!(blinded.finish(&evaluated, &proof, &other.public_key()).unwrap_err(), OprfError::Proof);
    let (others, other_proof) = other.evaluate(blinded.elements(), &mut rng).unwrap();
    assert_eq!(blinded.finish(&others, &other_proof, &key.public_key()).unwrap_err(), OprfError::Proof);
    // One element under another key among many, and elements in another order.
    let marked = [evaluated[0], others[1], evaluated[2]];
    assert_eq!(blinded.finish(&marked, &proof, &key.public_key()).unwrap_err(), OprfError::Proof);
    let turned = [evaluated[1], evaluated[0], evaluated[2]];
    assert_eq!(blinded.finish(&turned, &proof, &key.public_key()).unwrap_err(), OprfError::Proof);
    let short = blinded.finish(&evaluated[..2], &proof, &key.public_key()).unwrap_err();
    assert_eq!(short, OprfError::Count { expected: 3, got: 2 });
    for at in 0..Proof::BYTES {
        let mut bytes = proof.to_bytes();
        bytes[at] ^= 1;
        let refused =
            Proof::from_bytes(&bytes).and_then(|proof| blinded.finish(&evaluated, &proof, &key.public_key()));
        assert_eq!(refused.unwrap_err(), OprfError::Proof, "{at}");
    }
}

#[test]
fn bytes_that_are_no_elements_are_refused() {
    assert_eq!(Element::from_bytes([0; 32]), Err(OprfError::Element), "the neutral element");
    assert_eq!(Element::from_bytes([0xff; 32]), Err(OprfError::Element));
    assert_eq!(PublicKey::from_bytes([0; 32]), Err(OprfError::Key));
    for bytes in [[0; 32], [0xff; 32]] {
        assert_eq!(ServerKey::from_bytes(&bytes).map(drop), Err(OprfError::Key));
    }
    let key = ServerKey::generate(&mut Rng::seed_from_u64(2));
    assert_eq!(ServerKey::from_bytes(&key.to_bytes()).unwrap().public_key(), key.public_key());
}

#[test]
fn numbers_and_lengths_are_limited() {
    let mut rng = Rng::seed_from_u64(3);
    let key = ServerKey::generate(&mut rng);
    let none: [&str; 0] = [];
    assert_eq!(Blinded::new(&none, &mut rng).map(drop), Err(OprfError::Inputs(0)));
    assert_eq!(key.evaluate(&[], &mut rng).map(drop), Err(OprfError::Inputs(0)));
    let element = Blinded::new(&["x"], &mut rng).unwrap().elements()[0];
    let many = vec![element; MOST_INPUTS + 1];
    assert_eq!(key.evaluate(&many, &mut rng).map(drop), Err(OprfError::Inputs(MOST_INPUTS + 1)));
    let long = vec![0_u8; MOST_BYTES + 1];
    assert_eq!(Blinded::new(&[&long], &mut rng).map(drop), Err(OprfError::Input(MOST_BYTES + 1)));
    assert_eq!(key.output(&long).map(drop), Err(OprfError::Input(MOST_BYTES + 1)));
    assert_eq!(key.output(&long[1..]).map(|output| output.len()), Ok(64));
    assert_eq!(Blinded::again(&["x"], &[]).map(drop), Err(OprfError::Count { expected: 1, got: 0 }));
}
