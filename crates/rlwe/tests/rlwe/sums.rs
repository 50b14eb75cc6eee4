//! Tests that sums and differences of ciphertexts of any part counts hide the sums and differences of messages.

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use sunzi_ring::{Evaluation, Poly, Ring};
use sunzi_rlwe::encryption::{encrypt_secret, phase};
use sunzi_rlwe::{
    Ciphertext, NoiseBound, NoiseModel, RlweContext, RlweError, Scheme, SecretDistribution, SecretKey,
    Security, Sign,
};

#[derive(Clone, Copy, Debug)]
struct Plain;

impl Scheme for Plain {
    type Metadata = ();
    const NAME: &'static str = "plain";
}

/// A ciphertext of the given parts, with the noise bounds of a modulus switch.
fn ciphertext(polynomials: &[Poly<Evaluation>], parts: usize, key: &SecretKey) -> Ciphertext<Plain> {
    let noise = NoiseBound::none().plus(NoiseModel::new(64, SecretDistribution::Ternary).mod_switch(parts));
    Ciphertext::from_parts(polynomials.to_vec(), (), noise, key.id()).unwrap()
}

#[test]
fn parts_that_only_one_has_are_taken_over_with_their_sign() {
    let ring = Ring::new(128, &sunzi_math::primes_below(1 << 36, 128, 2).unwrap()).unwrap();
    let context = RlweContext::new(ring.clone(), Security::InsecureForResearchOnly).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let [secret, other] = [(); 2].map(|()| SecretKey::generate(&context, &mut rng).unwrap());
    let mut polynomials = Vec::new();
    while polynomials.len() < 8 {
        let fresh = encrypt_secret(&context, &secret, &[1; 64], 17, &mut rng).unwrap();
        polynomials.extend(fresh.parts);
    }
    let value = |c: &Ciphertext<Plain>| (*phase(&context, c.parts(), &secret).unwrap()).clone();
    let integers = |p| ring.to_integers(&p).unwrap();
    for (left, right) in (2..5).flat_map(|left| (2..5).map(move |right| (left, right))) {
        let a = ciphertext(&polynomials[..left], left, &secret);
        let b = ciphertext(&polynomials[8 - right..], right, &secret);
        let [sum, difference] = [Sign::Plus, Sign::Minus].map(|sign| {
            let joined = a.joined(&ring, &b, sign, Ok::<_, RlweError>).unwrap();
            let mut assigned = a.clone();
            assigned.join_assign(&ring, &b, sign, Ok::<_, RlweError>).unwrap();
            assert_eq!(integers(value(&joined)), integers(value(&assigned)));
            let refused = assigned
                .join_assign(&ring, &b, sign, |_| Err(RlweError::KeyMismatch { what: "whoever finishes" }));
            assert!(refused.is_err());
            assert_eq!(integers(value(&joined)), integers(value(&assigned)), "not changed by an error");
            joined
        });
        let (mut plus, mut minus) = (value(&a), value(&a));
        ring.add_assign(&mut plus, &value(&b)).unwrap();
        ring.sub_assign(&mut minus, &value(&b)).unwrap();
        assert_eq!(integers(value(&sum)), integers(plus), "{left} and {right} parts");
        assert_eq!(integers(value(&difference)), integers(minus), "{left} and {right} parts");
        for result in [sum, difference] {
            assert_eq!(result.parts().len(), left.max(right));
            assert_eq!(result.noise(), &a.noise().sum(b.noise()));
        }
    }
    let a = ciphertext(&polynomials[..2], 2, &secret);
    let alien = ciphertext(&polynomials[..2], 2, &other);
    for sign in [Sign::Plus, Sign::Minus] {
        let results = [
            a.clone().join_assign(&ring, &alien, sign, Ok::<_, RlweError>),
            a.joined(&ring, &alien, sign, Ok::<_, RlweError>).map(drop),
        ];
        assert!(results.iter().all(|result| matches!(result, Err(RlweError::KeyMismatch { .. }))));
    }
}
