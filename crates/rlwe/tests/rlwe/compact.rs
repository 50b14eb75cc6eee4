//! Tests that keys whose uniform halves are drawn when needed give results equal to those of newly made keys,
//! from half of the memory.

#[cfg(test)]
use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use sunzi_math::primes_with_bits;
use sunzi_ring::{Evaluation, GadgetOptions, Poly, Ring};
use sunzi_rlwe::wire::{Format, from_bytes, to_bytes};
use sunzi_rlwe::{
    Ciphertext, GaloisKeys, NoiseBound, PublicKey, RelinearizationKey, RlweContext, SecretKey, Security,
    encryption, extended, galois, relinearization,
};

use crate::common::Bare;

const DEGREE: usize = 256;
const EXPONENTS: [u64; 3] = [3, 5, 9];

fn again<T, C: Format<T>>(context: &C, object: &T) -> T {
    from_bytes(context, &to_bytes(context, object).unwrap()).unwrap()
}

/// Returns results of keys on random ciphertexts: a relinearisation, automorphisms with each key, and a linear map.
fn results(
    context: &RlweContext,
    relinearization: &RelinearizationKey,
    galois_keys: &GaloisKeys,
) -> Vec<Poly<Evaluation>> {
    let ring = context.ring();
    let mut rng = ChaCha20Rng::seed_from_u64(7);
    let mut random = |parts: usize| -> Ciphertext<Bare> {
        let parts = (0..parts).map(|_| ring.uniform(&mut rng)).collect();
        Ciphertext::from_parts(parts, (), NoiseBound::none(), galois_keys.id()).unwrap()
    };
    let (three, two) = (random(3), random(2));
    let mut found = vec![
        relinearization::relinearize(context, &three, relinearization).unwrap(),
        galois::automorphism(context, &two, 3, galois_keys).unwrap(),
        galois::automorphism(context, &two, 5, galois_keys).unwrap(),
        galois::hoist(context, &two).unwrap().automorphism(9, galois_keys).unwrap(),
    ];
    if !context.gadget().options().special_moduli.is_empty() {
        let any = context.key_ring().uniform(&mut ChaCha20Rng::seed_from_u64(9));
        let one = context.gadget().multiplier(any).unwrap();
        let giants = vec![(1, vec![(0, &one), (1, &one)]), (5, vec![(1, &one)])];
        let sum = extended::linear_map(context, &two, &[1, 3], giants, galois_keys).unwrap().unwrap();
        found.push(sum.mod_down(context, ring.level(), (), NoiseBound::none()).unwrap());
    }
    found.into_iter().flat_map(|ciphertext| ciphertext.parts().to_vec()).collect()
}

#[test]
fn results_do_not_depend_on_what_is_kept() {
    let moduli = primes_with_bits(48, 512, 5).unwrap();
    let special =
        GadgetOptions { digits: Some(2), special_moduli: moduli[3..].to_vec(), ..GadgetOptions::default() };
    let dropped = GadgetOptions { dropped_limbs: 1, ..GadgetOptions::default() };
    for options in [special, dropped] {
        let ring = Ring::new(2 * DEGREE as u64, &moduli[..3]).unwrap();
        let context = RlweContext::with_gadget(ring, Security::InsecureForResearchOnly, &options).unwrap();
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let secret = SecretKey::generate(&context, &mut rng).unwrap();
        let key = RelinearizationKey::generate(&context, &secret, &mut rng).unwrap();
        let keys = GaloisKeys::generate(&context, &secret, EXPONENTS, &mut rng).unwrap();
        let expected: Vec<_> = results(&context, &key, &keys).iter().map(|a| a.words().to_vec()).collect();
        let (read, all_read) = (again(&context, &key), again(&context, &keys));
        assert_eq!((2 * read.byte_len(), 2 * all_read.byte_len()), (key.byte_len(), keys.byte_len()));
        let compact = (key.clone().compact(), keys.clone().compact());
        for (key, keys) in [(&read, &all_read), (&compact.0, &compact.1)] {
            let found = results(&context, key, keys);
            assert!(found.iter().map(|poly| poly.words()).eq(expected.iter().map(Vec::as_slice)));
        }
        // The halves that were used are kept, but not by compact keys.
        assert_eq!((read.byte_len(), all_read.byte_len()), (key.byte_len(), keys.byte_len()));
        assert_eq!(2 * compact.0.byte_len(), key.byte_len());
        assert_eq!(2 * compact.1.byte_len(), keys.byte_len());
    }
}

#[test]
fn public_keys_from_files_encrypt_alike() {
    let ring = Ring::new(2 * DEGREE as u64, &primes_with_bits(48, 512, 2).unwrap()).unwrap();
    let context = RlweContext::new(ring, Security::InsecureForResearchOnly).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(2);
    let secret = SecretKey::generate(&context, &mut rng).unwrap();
    let public = PublicKey::generate(&context, &secret, &mut rng).unwrap();
    let encrypt = |key: &PublicKey| {
        let rng = &mut ChaCha20Rng::seed_from_u64(3);
        encryption::encrypt_public(&context, key, &[1; DEGREE], 2, rng).unwrap().parts
    };
    let (made, read) = (encrypt(&public), encrypt(&again(&context, &public)));
    assert!(made.iter().map(|poly| poly.words()).eq(read.iter().map(|poly| poly.words())));
}
