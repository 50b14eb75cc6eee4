//! Attacks by an adversary who learns decryptions of known ciphertexts, that of [LM21] and similar ones, on plain decryption and on shared decryption.

use chacha20::ChaCha20Rng;
use num_bigint::{BigInt, BigUint};
use num_traits::{Signed, ToPrimitive};
use rand_core::SeedableRng;
use sunzi_bgv::Budget;
use sunzi_ckks::{Complex64, LevelRange};
use sunzi_ring::{Coefficient, Evaluation, Poly, Ring};
use sunzi_rlwe::sharing::Flooding;
use sunzi_rlwe::wire::{Fault, StoredParameters, WireError};
use sunzi_rlwe::{
    DeclaredNoise, KeyId, LedgerFile, NoiseBound, PublicKey, RlweError, SecretKey, Security, SharingLedger,
    SharingPolicy,
};

use sunzi_testing::Figure;

const SECURITY: Security = Security::InsecureForResearchOnly;
const LOG_N: u32 = 8;
const N: usize = 1 << LOG_N;

/// Returns a/b in a ring of one modulus, point by point: b^(q − 2) by squaring.
fn quotient(ring: &Ring, a: &Poly<Evaluation>, b: &Poly<Evaluation>) -> Vec<BigInt> {
    let exponent = ring.modulus() - BigUint::from(2_u32);
    let mut power = a.clone();
    let mut square = b.clone();
    for bit in 0..exponent.bits() {
        if exponent.bit(bit) {
            ring.mul_assign(&mut power, &square).unwrap();
        }
        let copy = square.clone();
        ring.mul_assign(&mut square, &copy).unwrap();
    }
    ring.to_integers(&ring.to_coefficient(power).unwrap()).unwrap()
}

fn is_ternary(candidate: &[BigInt]) -> bool {
    candidate.iter().all(|c| c.abs() <= BigInt::from(1)) && candidate.iter().any(|c| *c != BigInt::ZERO)
}

/// Returns s from c_0 + c_1·s = p, where p is known: modulo the first modulus.
fn solve(ring: &Ring, parts: &[Poly<Evaluation>], p: &Poly<Coefficient>) -> Vec<BigInt> {
    let one = ring.at_level(1).unwrap();
    let [c0, c1] = [0, 1].map(|i| ring.restrict(&parts[i], 1).unwrap());
    let mut numerator = one.to_evaluation(ring.restrict(p, 1).unwrap()).unwrap();
    one.sub_assign(&mut numerator, &c0).unwrap();
    quotient(&one, &numerator, &c1)
}

struct Approximate {
    context: sunzi_ckks::Context,
    encoder: sunzi_ckks::Encoder,
    secret: SecretKey,
    public: PublicKey,
    message: Vec<Complex64>,
    ledger: LedgerFile,
    rng: ChaCha20Rng,
}

impl Approximate {
    fn new(policy: SharingPolicy) -> Self {
        // Levels of 30 bits: doubles hold all of a message with its error.
        let ranges = [LevelRange { levels: 3, scale_bits: 30 }];
        let parameters = sunzi_ckks::Parameters::from_ranges(LOG_N, 40, &ranges, SECURITY).unwrap();
        let context = sunzi_ckks::Context::new(&parameters).unwrap();
        let mut rng = ChaCha20Rng::seed_from_u64(19);
        let secret = SecretKey::generate(context.rlwe(), &mut rng).unwrap();
        let public = PublicKey::generate(context.rlwe(), &secret, &mut rng).unwrap();
        let encoder = sunzi_ckks::Encoder::new(&context, N / 2).unwrap();
        let message = (0..N / 2).map(|i| Complex64::from_polar(0.9, i as f64)).collect();
        let ledger = LedgerFile::in_memory(SharingLedger::new(parameters.fingerprint(), secret.id(), policy));
        Self { context, encoder, secret, public, message, ledger, rng }
    }

    fn encrypt(&mut self) -> sunzi_ckks::Ciphertext {
        let message = self.encoder.encode(&self.message).unwrap();
        self.context.encrypt(&message, &self.public, &mut self.rng).unwrap()
    }

    /// Returns the noise that the key holder declares of fresh ciphertexts: from one of their own.
    fn declared(&mut self) -> DeclaredNoise {
        DeclaredNoise::of_own_run(self.encrypt().noise(), self.context.ring().expansion())
    }

    fn share(&mut self, ciphertext: &sunzi_ckks::Ciphertext, declared: DeclaredNoise) -> Vec<Complex64> {
        let Self { context, secret, ledger, rng, .. } = self;
        let opened = context.decrypt_for_sharing(ciphertext, secret, declared, ledger, rng).unwrap();
        self.encoder.decode(&opened).unwrap()
    }

    /// Attacks: slots are encoded again, rounded, and give the secret if they were not changed.
    fn attack(&self, ciphertext: &sunzi_ckks::Ciphertext, slots: &[Complex64]) -> bool {
        let metadata = ciphertext.metadata();
        let level = metadata.level;
        let guess = self.encoder.encode_at(slots, level, metadata.scale).unwrap();
        let ring = self.context.ring_at(level).unwrap();
        is_ternary(&solve(ring, ciphertext.parts(), &ring.to_coefficient(guess.poly().clone()).unwrap()))
    }
}

#[test]
fn plain_decryption_of_ckks_gives_the_secret_away_and_shared_decryption_does_not() {
    let mut party = Approximate::new(SharingPolicy::new(20, 64).unwrap());
    let (ciphertext, declared) = (party.encrypt(), party.declared());
    let plain = party.encoder.decode(&party.context.decrypt(&ciphertext, &party.secret).unwrap()).unwrap();
    let found = party.attack(&ciphertext, &plain);
    Figure::new(19, "keys found from one plain decryption of CKKS").at_least(f64::from(u8::from(found)), 1.0);

    // The mean of all shared results is no help either.
    let mut mean = vec![Complex64::ZERO; N / 2];
    let mut keys = 0;
    for _ in 0..64 {
        let shared = party.share(&ciphertext, declared);
        keys += usize::from(party.attack(&ciphertext, &shared));
        mean.iter_mut().zip(&shared).for_each(|(mean, slot)| *mean += slot / 64.0);
    }
    keys += usize::from(party.attack(&ciphertext, &mean));
    Figure::new(19, "keys found from shared decryptions of CKKS and their mean")
        .cases(65, 65)
        .none_wrong(keys);
    let spent = party.context.decrypt_for_sharing(
        &ciphertext,
        &party.secret,
        declared,
        &mut party.ledger,
        &mut party.rng,
    );
    assert!(matches!(spent, Err(sunzi_ckks::CkksError::Rlwe(RlweError::SharingSpent { queries: 64 }))));
}

/// Checks that the added noise has the size that the plaintext requires, whatever a ciphertext claims of itself.
#[test]
fn a_forged_low_bound_changes_nothing() {
    let mut party = Approximate::new(SharingPolicy::new(16, 100).unwrap());
    let declared = party.declared();
    let honest = party.encrypt();
    let mut forged = honest.clone();
    forged.set_noise(NoiseBound::none());
    let policy = party.ledger.ledger().policy();
    let flooding = Flooding::new(policy, declared, N).unwrap();
    let expected = flooding.log2_deviation() - honest.metadata().scale.log2() + (N as f64).log2() / 2.0;
    for ciphertext in [&honest, &forged] {
        let mut square = 0.0;
        for _ in 0..20 {
            let shared = party.share(ciphertext, declared);
            square += shared.iter().zip(&party.message).map(|(a, b)| (a - b).norm_sqr()).sum::<f64>();
        }
        let deviation = (square / (20 * N / 2) as f64).sqrt().log2();
        assert!((deviation - expected).abs() < 0.1, "{deviation} instead of {expected}");
        let Approximate { context, secret, ledger, rng, .. } = &mut party;
        let opened = context.decrypt_for_sharing(ciphertext, secret, declared, ledger, rng).unwrap();
        assert!((opened.precision().deviation().log2() - expected).abs() < 0.1);
    }
    let low = DeclaredNoise::from_bits(declared.bits() - 1.0);
    let Approximate { context, secret, ledger, rng, .. } = &mut party;
    let refused = context.decrypt_for_sharing(&honest, secret, low, ledger, rng);
    assert!(matches!(refused, Err(sunzi_ckks::CkksError::Rlwe(RlweError::NoiseDeclaredTooLow { .. }))));
    let used = ledger.ledger().used();
    let largest = context.log2_largest_shareable_noise(policy, 3).unwrap();
    let too_high = DeclaredNoise::from_bits(largest + 2.0);
    let refused = context.decrypt_for_sharing(&honest, secret, too_high, ledger, rng);
    assert!(matches!(refused, Err(sunzi_ckks::CkksError::Rlwe(RlweError::SharingRoom { .. }))));
    let fits = DeclaredNoise::from_bits(largest - 1.0);
    context.decrypt_for_sharing(&honest, secret, fits, ledger, rng).unwrap();
    assert_eq!(ledger.ledger().used(), used + 1, "what is refused is not counted");
}

/// Checks failing decryptions: doubled until noise times t fills the modulus, an encryption of 0 decrypts to its noise, digit by digit; the noise gives the secret.
#[test]
fn failing_decryptions_of_bfv_give_the_secret_away_and_shared_ones_do_not_fail() {
    let t = 65537;
    let moduli = sunzi_math::primes_with_bits(36, 2 * N as u64, 3).unwrap();
    let parameters = sunzi_bfv::Parameters::new(LOG_N, moduli, t, SECURITY);
    let context = sunzi_bfv::Context::new(&parameters).unwrap();
    let evaluator = sunzi_bfv::Evaluator::new(&context);
    let mut rng = ChaCha20Rng::seed_from_u64(20);
    let secret = SecretKey::generate(context.rlwe(), &mut rng).unwrap();
    let public = PublicKey::generate(context.rlwe(), &secret, &mut rng).unwrap();
    let zero = sunzi_encoding::Plaintext::new(vec![0; N], t).unwrap();
    let fresh = context.encrypt(&zero, &public, &mut rng).unwrap();
    let doublings = (context.ring().modulus() / t).bits() as usize;
    let mut doubled = fresh.clone();
    for _ in 0..doublings {
        doubled = evaluator.add(&doubled, &doubled).unwrap();
    }
    // r·v modulo t, with r = t·2^doublings/q from 1 to 2.
    let modulus = context.ring().modulus().to_f64().unwrap();
    let factor = t as f64 * (doublings as f64).exp2() / modulus;
    let attack = |opened: &sunzi_encoding::Plaintext| {
        let noise = |&m: &u64| {
            let centred = if m > t / 2 { m as f64 - t as f64 } else { m as f64 };
            (centred / factor).round() as i64
        };
        let noise: Vec<i64> = opened.coefficients().iter().map(noise).collect();
        let noise = context.ring().from_signed(&noise).unwrap();
        is_ternary(&solve(context.ring(), fresh.parts(), &noise))
    };
    let unchecked = context.decrypt_unchecked(&doubled, &secret).unwrap();
    let found = f64::from(u8::from(attack(&unchecked)));
    Figure::new(19, "keys found from one failing decryption of BFV").at_least(found, 1.0);

    assert!(matches!(context.decrypt(&doubled, &secret), Err(sunzi_bfv::BfvError::NoiseExhausted { .. })));
    let policy = SharingPolicy::new(20, 3).unwrap();
    let mut ledger = LedgerFile::in_memory(SharingLedger::new(parameters.fingerprint(), secret.id(), policy));
    let declared = DeclaredNoise::from_bits(context.log2_largest_shareable_noise(policy).unwrap());
    let shared = context.decrypt_for_sharing(&doubled, &secret, declared, &mut ledger, &mut rng);
    assert!(matches!(shared, Err(sunzi_bfv::BfvError::Rlwe(RlweError::NoiseDeclaredTooLow { .. }))));
    let above = DeclaredNoise::from_bits(declared.bits() + 0.01);
    let shared = context.decrypt_for_sharing(&fresh, &secret, above, &mut ledger, &mut rng);
    assert!(matches!(shared, Err(sunzi_bfv::BfvError::Rlwe(RlweError::SharingRoom { .. }))));
    let mut keys = 0;
    for noise in [declared, DeclaredNoise::of_own_run(fresh.noise(), context.ring().expansion())] {
        let shared = context.decrypt_for_sharing(&fresh, &secret, noise, &mut ledger, &mut rng).unwrap();
        assert_eq!(shared, zero);
        keys += usize::from(attack(&shared));
    }
    Figure::new(19, "keys found from shared decryptions of BFV").cases(2, 2).none_wrong(keys);
}

/// Checks that with the largest noise that may be declared, and noise as large as that in a ciphertext, answers stay right.
#[test]
fn exact_answers_stay_right_up_to_the_largest_noise() {
    let t = 257;
    let moduli = sunzi_math::primes_with_bits(40, 2 * N as u64, 4).unwrap();
    let parameters = sunzi_bfv::Parameters::new(LOG_N, moduli, t, SECURITY);
    let context = sunzi_bfv::Context::new(&parameters).unwrap();
    let evaluator = sunzi_bfv::Evaluator::new(&context);
    let mut rng = ChaCha20Rng::seed_from_u64(21);
    let secret = SecretKey::generate(context.rlwe(), &mut rng).unwrap();
    let message = sunzi_encoding::Plaintext::new((0..N as u64).collect(), t).unwrap();
    let mut ciphertext = context.encrypt_secret(&message, &secret, &mut rng).unwrap();
    let policy = SharingPolicy::new(40, 200).unwrap();
    let declared = DeclaredNoise::from_bits(context.log2_largest_shareable_noise(policy).unwrap());
    let mut doublings = 0;
    while ciphertext.noise().bound(context.ring().expansion()).bits() + 1.0 < declared.bits() {
        ciphertext = evaluator.add(&ciphertext, &ciphertext).unwrap();
        doublings += 1;
    }
    assert!(doublings > 20, "{doublings}");
    let expected = context.decrypt(&ciphertext, &secret).unwrap();
    let mut ledger = LedgerFile::in_memory(SharingLedger::new(parameters.fingerprint(), secret.id(), policy));
    for _ in 0..policy.queries() {
        let shared = context.decrypt_for_sharing(&ciphertext, &secret, declared, &mut ledger, &mut rng);
        assert_eq!(shared.unwrap(), expected);
    }
}

#[test]
fn bgv_shares_what_its_parameters_leave_room_for() {
    let t = 257;
    let moduli = sunzi_math::primes_with_bits(46, 2 * N as u64, 4).unwrap();
    let parameters = sunzi_bgv::Parameters::new(LOG_N, moduli, t, SECURITY).with_budget(Budget::default());
    let context = sunzi_bgv::Context::new(&parameters).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(22);
    let secret = SecretKey::generate(context.rlwe(), &mut rng).unwrap();
    let public = PublicKey::generate(context.rlwe(), &secret, &mut rng).unwrap();
    let message = sunzi_encoding::Plaintext::new((0..N as u64).collect(), t).unwrap();
    let fresh = context.encrypt(&message, &public, &mut rng).unwrap();
    let policy = SharingPolicy::new(40, 8).unwrap();
    let mut ledger = LedgerFile::in_memory(SharingLedger::new(parameters.fingerprint(), secret.id(), policy));
    let declared = context.declared_noise(context.depth()).unwrap();
    for noise in [declared, DeclaredNoise::of_own_run(fresh.noise(), context.ring().expansion())] {
        assert_eq!(
            context.decrypt_for_sharing(&fresh, &secret, noise, &mut ledger, &mut rng).unwrap(),
            message
        );
    }
    let refused =
        context.decrypt_for_sharing(&fresh, &secret, DeclaredNoise::from_bits(150.0), &mut ledger, &mut rng);
    assert!(
        matches!(refused, Err(sunzi_bgv::BgvError::Rlwe(RlweError::SharingRoom { .. }))),
        "{:?}",
        refused.err()
    );
    assert!(context.declared_noise(99).is_err());
    assert_eq!(ledger.ledger().used(), 2);
}

/// Checks that two holders of one file share what the policy allows together; an old copy, another key and a full ledger are errors.
#[test]
fn ledgers_count_on_the_disk() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.sz");
    let (key, other) = (KeyId::from_bytes([1; 16]), KeyId::from_bytes([2; 16]));
    let parameters = sunzi_bfv::Parameters::new(LOG_N, vec![], 257, SECURITY).fingerprint();
    let new = || SharingLedger::new(parameters, key, SharingPolicy::new(30, 5).unwrap());
    let mut first = LedgerFile::create(&path, new()).unwrap();
    assert!(LedgerFile::create(&path, new()).is_err(), "a ledger is not overwritten");
    let mut second = LedgerFile::open(&path).unwrap();
    let early = std::fs::read(&path).unwrap();
    first.spend(key).unwrap();
    second.spend(key).unwrap();
    second.spend(key).unwrap();
    assert!(matches!(first.spend(other), Err(RlweError::KeyMismatch { .. })));
    first.spend(key).unwrap();
    assert_eq!((first.ledger().used(), second.ledger().used()), (4, 3));
    second.spend(key).unwrap();
    assert!(matches!(first.spend(key), Err(RlweError::SharingSpent { queries: 5 })));
    std::fs::write(&path, &early).unwrap();
    let Err(RlweError::Ledger(error)) = first.spend(key) else { panic!("an old copy counts again") };
    assert_eq!(error.fault(), Fault::Damage);
    std::fs::write(&path, &early[..early.len() - 1]).unwrap();
    assert!(LedgerFile::open(&path).is_err());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let path = folder.path().join("other.sz");
        LedgerFile::create(&path, new()).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

/// Checks that a ledger is made with the key, gets its policy once, and is not made again where it is missing.
#[test]
fn a_ledger_begins_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.sz");
    let (key, other) = (KeyId::from_bytes([1; 16]), KeyId::from_bytes([2; 16]));
    let parameters = sunzi_bfv::Parameters::new(LOG_N, vec![], 257, SECURITY).fingerprint();
    let policy = SharingPolicy::new(30, 2).unwrap();
    let missing = || {
        let Err(WireError::Io(error)) = LedgerFile::begin(&path, key, policy) else { return false };
        error.kind() == std::io::ErrorKind::NotFound && std::fs::read_dir(folder.path()).unwrap().count() < 2
    };
    assert!(missing());
    LedgerFile::prepare(&path, parameters, key).unwrap();
    assert!(LedgerFile::prepare(&path, parameters, key).is_err(), "a ledger is not overwritten");
    assert!(LedgerFile::open(&path).is_err(), "it has no policy");
    assert!(matches!(LedgerFile::begin(&path, other, policy), Err(WireError::Key { .. })));
    let mut first = LedgerFile::begin(&path, key, policy).unwrap();
    first.spend(key).unwrap();
    // A second policy changes nothing.
    let wider = SharingPolicy::new(10, 100).unwrap();
    let mut second = LedgerFile::begin(&path, key, wider).unwrap();
    assert_eq!((second.ledger().policy(), second.ledger().used()), (policy, 1));
    second.spend(key).unwrap();
    assert!(matches!(first.spend(key), Err(RlweError::SharingSpent { queries: 2 })));
    std::fs::remove_file(&path).unwrap();
    assert!(missing());
    assert!(matches!(first.spend(key), Err(RlweError::Ledger(_))));
    assert!(!path.exists());
}

#[test]
fn policies_have_ends() {
    for (bits, queries) in [(0, 1), (81, 1), (1, 0), (1, SharingPolicy::MOST_QUERIES + 1)] {
        assert!(matches!(SharingPolicy::new(bits, queries), Err(RlweError::Sharing { .. })));
    }
    for (bits, queries) in [(1, 1), (80, SharingPolicy::MOST_QUERIES)] {
        let policy = SharingPolicy::new(bits, queries).unwrap();
        for noise in [f64::NEG_INFINITY, 0.0, 30.5, 900.0] {
            let flooding = Flooding::new(policy, DeclaredNoise::from_bits(noise), 1 << 17).unwrap();
            // σ = B·√(nτ)·2^(s − 1) and little more, where B is not next to 1.
            let least = noise.max(0.0) + (17.0 + (queries as f64).log2()) / 2.0 + f64::from(bits - 1);
            let (got, more) = (flooding.log2_deviation(), if noise > 10.0 { 0.11 } else { 2.6 });
            assert!((least..least + more).contains(&got), "{bits}, {queries}, {noise}: {got}, {least}");
        }
        for noise in [f64::NAN, f64::INFINITY, 2e6] {
            assert!(Flooding::new(policy, DeclaredNoise::from_bits(noise), 64).is_err());
        }
    }
}
