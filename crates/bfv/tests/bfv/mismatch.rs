//! Tests that BFV objects of different parameters never mix silently, even where shapes and key names agree.

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use sunzi_bfv::{
    BfvError, Ciphertext, CoefficientEncoder, Context, Encoder, Evaluator, Parameters, Plaintext,
};
use sunzi_ring::RingError;
use sunzi_rlwe::{
    GaloisKeys, KeyId, PublicKey, RelinearizationKey, RlweError, SecretKey, Security, galois, relinearization,
};

struct Owner {
    context: Context,
    secret: SecretKey,
    public: PublicKey,
    relinearization: RelinearizationKey,
    galois: GaloisKeys,
    plaintext: Plaintext,
    ciphertext: Ciphertext,
}

impl Owner {
    /// Makes owners of BFV keys that draw from one random stream, so that rings of one shape even give equal key
    /// names.
    fn new(log2_degree: u32, moduli: &[u64], t: u64) -> Self {
        let parameters = Parameters::new(log2_degree, moduli.to_vec(), t, Security::InsecureForResearchOnly);
        let context = Context::new(&parameters).unwrap();
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let secret = SecretKey::generate(context.rlwe(), &mut rng).unwrap();
        let public = PublicKey::generate(context.rlwe(), &secret, &mut rng).unwrap();
        let plaintext = CoefficientEncoder::new(context.degree(), t).unwrap().encode(&[1, 1, 0, 1]).unwrap();
        Self {
            relinearization: RelinearizationKey::generate(context.rlwe(), &secret, &mut rng).unwrap(),
            galois: GaloisKeys::generate(context.rlwe(), &secret, [3], &mut rng).unwrap(),
            ciphertext: context.encrypt(&plaintext, &public, &mut rng).unwrap(),
            plaintext,
            public,
            secret,
            context,
        }
    }

    fn key(&self) -> KeyId {
        self.secret.id()
    }
}

fn owners() -> (Owner, Vec<Owner>) {
    let primes = sunzi_math::primes_below(1 << 45, 1 << 8, 5).unwrap();
    let base = Owner::new(6, &primes[..3], 257);
    let others = vec![
        Owner::new(6, &[primes[0], primes[1], primes[3]], 257),
        Owner::new(6, &[primes[1], primes[0], primes[2]], 257),
        Owner::new(6, &primes[..2], 257),
        Owner::new(7, &primes[..3], 257),
        Owner::new(6, &primes[..3], 256),
    ];
    (base, others)
}

fn refused<T>(result: Result<T, BfvError>) {
    let error = result.err().unwrap();
    let named = matches!(
        error,
        BfvError::PlainModulusMismatch { .. }
            | BfvError::LevelMismatch { .. }
            | BfvError::LevelMissing { .. }
            | BfvError::Encoding(sunzi_encoding::EncodingError::PlaintextMismatch { .. })
            | BfvError::Ring(RingError::ShapeMismatch { .. } | RingError::OtherModulus { .. })
            | BfvError::Ring(RingError::LengthMismatch { .. })
            | BfvError::Rlwe(RlweError::Ring(_) | RlweError::KeyMismatch { .. } | RlweError::KeyLevel { .. })
    );
    assert!(named, "{error:?}");
}

#[test]
fn every_operation_refuses_ciphertexts_of_other_parameters() {
    let (base, others) = owners();
    let evaluator = Evaluator::new(&base.context);
    let own = &base.ciphertext;
    for other in &others {
        let alien = &other.ciphertext;
        refused(evaluator.add(own, alien));
        refused(evaluator.add(alien, own));
        refused(evaluator.add(alien, alien));
        refused(evaluator.sub(own, alien));
        refused(evaluator.sub(alien, own));
        refused(evaluator.sum([own, alien]));
        refused(evaluator.negate(alien));
        refused(evaluator.multiply(own, alien, &base.relinearization));
        refused(evaluator.multiply(alien, alien, &base.relinearization));
        refused(evaluator.square(alien, &base.relinearization));
        refused(evaluator.multiply_unrelinearized(alien, own));
        let product = Evaluator::new(&other.context).multiply_unrelinearized(alien, alien).unwrap();
        refused(evaluator.relinearize(&product, &base.relinearization));
        refused(evaluator.add_plain(alien, &base.plaintext));
        refused(evaluator.sub_plain(alien, &base.plaintext));
        refused(evaluator.multiply_plain(alien, &base.plaintext));
        refused(evaluator.multiply_scalar(alien, 3));
        refused(evaluator.rotate_rows(alien, 1, &base.galois));
        refused(base.context.decrypt(alien, &base.secret));
        refused(base.context.decrypt_unchecked(alien, &other.secret));
        let extended = Evaluator::new(&other.context).extend(alien).unwrap();
        refused(evaluator.multiply_extended(&extended, &extended, &base.relinearization));
    }
}

#[test]
fn every_operation_refuses_keys_of_other_rings() {
    let (base, others) = owners();
    let evaluator = Evaluator::new(&base.context);
    let mut rng = ChaCha20Rng::seed_from_u64(2);
    for other in others.iter().filter(|other| other.context.plain_modulus() == 257) {
        refused(base.context.encrypt(&base.plaintext, &other.public, &mut rng));
        refused(base.context.encrypt_secret(&base.plaintext, &other.secret, &mut rng));
        refused(base.context.decrypt(&base.ciphertext, &other.secret));
        refused(evaluator.square(&base.ciphertext, &other.relinearization));
        refused(evaluator.rotate_rows(&base.ciphertext, 1, &other.galois));
        let rlwe = base.context.rlwe();
        assert!(PublicKey::generate(rlwe, &other.secret, &mut rng).is_err());
        assert!(RelinearizationKey::generate(rlwe, &other.secret, &mut rng).is_err());
        assert!(GaloisKeys::generate(rlwe, &other.secret, [3], &mut rng).is_err());
        assert!(galois::automorphism(rlwe, &base.ciphertext, 3, &other.galois).is_err());
        let product = evaluator.multiply_unrelinearized(&base.ciphertext, &base.ciphertext).unwrap();
        assert!(relinearization::relinearize(rlwe, &product, &other.relinearization).is_err());
    }
}

/// Tests two contexts with equal key names, drawn from equal streams: names of keys alone would not tell them apart.
#[test]
fn key_names_may_agree() {
    let (base, others) = owners();
    assert_eq!(others.iter().filter(|other| other.key() == base.key()).count(), 4);
}

/// Tests that BFV contexts that differ in t alone share keys, but not ciphertexts.
#[test]
fn one_key_serves_several_plaintext_moduli() {
    let (base, _) = owners();
    let second = base.context.with_plain_modulus(65537).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(3);
    let message = CoefficientEncoder::new(64, 65537).unwrap().encode(&[60_000]).unwrap();
    let ciphertext = second.encrypt(&message, &base.public, &mut rng).unwrap();
    let square = Evaluator::new(&second).square(&ciphertext, &base.relinearization).unwrap();
    let opened = second.decrypt(&square, &base.secret).unwrap();
    assert_eq!(opened.coefficients()[0], 60_000_u64.pow(2) % 65537);
    refused(base.context.decrypt(&square, &base.secret));
    refused(Evaluator::new(&second).add(&square, &base.ciphertext));
    refused(second.encrypt(&base.plaintext, &base.public, &mut rng));
}
