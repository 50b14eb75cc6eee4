//! Re-encryption from owner to owner: values, noise and counts over all hops, computing after a hop, and refusals before any work.

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use sunzi_circuits::Arithmetic as _;
use sunzi_encoding::Plaintext;
use sunzi_rlwe::evaluator::PreparedMatrix;
use sunzi_rlwe::reencryption::{ReencryptionContext, ReencryptionKey, ReencryptionPublicKey, Reencryptions};
use sunzi_rlwe::wire::{self, CiphertextOf, SchemeFormat};
use sunzi_rlwe::{
    Ciphertext, DeclaredNoise, Evaluator, Exact as _, LedgerFile, RlweError, SecretKey, Security,
    SharingLedger, SharingPolicy,
};
use sunzi_testing::scheme::Encrypted;
use sunzi_testing::{Figure, Party, Scheme};

const SECURITY: Security = Security::InsecureForResearchOnly;
const T: u64 = 257;
const LOG_N: u32 = 6;
const HOPS: u32 = 3;

fn policy() -> SharingPolicy {
    SharingPolicy::new(12, 16).unwrap()
}

/// A scheme whose ciphertexts owners hand on.
trait HandedOn: Scheme + ReencryptionContext<Scheme = <Self as Scheme>::Own> {
    fn ledger(&self, secret: &SecretKey) -> LedgerFile {
        LedgerFile::in_memory(SharingLedger::new(self.rlwe().fingerprint(), secret.id(), policy()))
    }
    fn own_run(&self, a: &Encrypted<Self>) -> DeclaredNoise {
        DeclaredNoise::of_own_run(a.noise(), self.rlwe().ring().expansion())
    }
    /// Makes the key from one secret to another, by the public key of the second alone.
    fn key(&self, from: &SecretKey, to: &SecretKey, rng: &mut ChaCha20Rng) -> ReencryptionKey {
        let public = ReencryptionPublicKey::generate(self.rlwe(), to, rng).unwrap();
        ReencryptionKey::generate(self.rlwe(), from, &public, rng).unwrap()
    }
    fn message(&self, seed: u64) -> Plaintext {
        let (n, t) = (self.rlwe().ring().degree() as u64, Self::Own::plain_modulus(self));
        Plaintext::new((0..n).map(|i| (i * i * 31 + seed) % t).collect(), t).unwrap()
    }
}

impl HandedOn for sunzi_bfv::Context {}
impl HandedOn for sunzi_bgv::Context {}

/// Hands a ciphertext on as often as its modulus has room: equal messages at every hop, noise below its bound and near it, counts that go up by one.
fn all_hops<S: HandedOn>(
    context: &S,
    message: &Plaintext,
    mut value: Encrypted<S>,
    mut owner: SecretKey,
    seed: u64,
) -> u32 {
    let (rlwe, mut rng) = (context.rlwe(), ChaCha20Rng::seed_from_u64(!seed));
    let ring = rlwe.ring().expansion();
    let mut declared = context.own_run(&value);
    let left = context.hops_left(&value, declared, policy()).unwrap();
    for hops in 1..=left {
        // The most that a proxy may declare for so many hops leaves room for these, and for no more.
        let most = context.largest_declared(&value, Reencryptions { hops, policy: policy() }).unwrap();
        assert!(most.bits() >= declared.bits(), "{most:?} below {declared:?}");
        assert_eq!(context.hops_left(&value, most, policy()).unwrap(), hops);
        let more = DeclaredNoise::from_bits(most.bits() + 0.1);
        assert!(context.hops_left(&value, more, policy()).unwrap() < hops, "{most:?} is not the most");
    }
    let beyond = context.largest_declared(&value, Reencryptions { hops: left + 1, policy: policy() });
    let words = format!("re-encryption number {} takes", left + 1);
    assert!(beyond.err().unwrap().to_string().contains(&words));
    for hop in 1..=left {
        let next = SecretKey::generate(rlwe, &mut rng).unwrap();
        let (key, mut ledger) = (context.key(&owner, &next, &mut rng), context.ledger(&owner));
        let after = context.declared_after_hop(&value, declared, policy()).unwrap();
        value = context.reencrypt(&value, &key, declared, &mut ledger, &mut rng).unwrap();
        assert_eq!((value.hops(), value.key(), ledger.ledger().used()), (hop, next.id(), 1));
        assert!(context.own_run(&value).bits() <= after.bits() + 1e-9, "the bound is what is declared");
        assert_eq!(&context.decrypt(&value, &next).unwrap(), message);
        let measured = context.measure_noise(&value, message, &next).unwrap();
        assert!(measured <= value.noise().bound(ring).bits(), "{measured} above {:?}", value.noise());
        assert!(measured >= value.noise().deviation.bits() - 2.5, "{measured} below {:?}", value.noise());
        assert!(context.decrypt(&value, &owner).is_err());
        (declared, owner) = (after, next);
    }
    // One more has no room, and costs no count.
    let next = SecretKey::generate(rlwe, &mut rng).unwrap();
    let (key, mut ledger) = (context.key(&owner, &next, &mut rng), context.ledger(&owner));
    let refused = context.reencrypt(&value, &key, declared, &mut ledger, &mut rng).err().unwrap();
    let words = format!("re-encryption number {} takes", left + 1);
    assert!(refused.to_string().contains(&words), "{refused}");
    assert_eq!(ledger.ledger().used(), 0);
    left
}

fn fresh<S: HandedOn>(context: &S, seed: u64) -> (Plaintext, Encrypted<S>, SecretKey) {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let secret = SecretKey::generate(context.rlwe(), &mut rng).unwrap();
    let message = context.message(seed);
    let value = context.encrypt_secret(&message, &secret, &mut rng).unwrap();
    (message, value, secret)
}

fn bfv() -> Vec<sunzi_bfv::Context> {
    use sunzi_bfv::KeySwitching::{Automatic, Bv, Ghs, Hybrid};
    let builder = || {
        let builder = sunzi_bfv::Parameters::builder().security(SECURITY).depth(0);
        builder.reencryptions(HOPS, policy())
    };
    let ways = [Automatic, Bv, Ghs, Hybrid(1), Hybrid(2)];
    let mut all: Vec<_> = ways
        .map(|way| builder().log2_degree(LOG_N).plain_modulus(T).key_switching(way).build().unwrap())
        .into();
    // Rings of index 3·5·13 and 4·9·7.
    for (index, t) in [(195, 2), (252, 25)] {
        all.push(builder().ring_index(index).plain_modulus(t).batching(false).build().unwrap());
    }
    all.iter().map(|parameters| sunzi_bfv::Context::new(parameters).unwrap()).collect()
}

fn bgv_builder(depth: usize, t: u64) -> sunzi_bgv::ParametersBuilder {
    let builder = sunzi_bgv::Parameters::builder().security(SECURITY).depth(depth).plain_modulus(t);
    builder.fresh_additions(1).additions_per_level(1).reencryptions(HOPS, policy())
}

fn bgv() -> Vec<sunzi_bgv::Context> {
    let in_ring = |builder: sunzi_bgv::ParametersBuilder| builder.log2_degree(LOG_N);
    let all = [
        in_ring(bgv_builder(0, T)),
        in_ring(bgv_builder(0, T)).digits(1),
        in_ring(bgv_builder(0, T)).digits(2),
        in_ring(bgv_builder(0, T)).dynamic_switching(true),
        bgv_builder(0, 2).ring_index(195).batching(false),
        bgv_builder(0, 25).ring_index(252).batching(false),
    ];
    all.map(|builder| sunzi_bgv::Context::new(&builder.build().unwrap()).unwrap()).into()
}

#[test]
fn values_stay_equal_over_all_hops_in_bfv() {
    for (seed, context) in bfv().iter().enumerate() {
        let (message, value, secret) = fresh(context, seed as u64);
        assert!(all_hops(context, &message, value, secret, seed as u64) >= HOPS);
    }
}

#[test]
fn values_stay_equal_over_all_hops_in_bgv() {
    for (seed, context) in bgv().iter().enumerate() {
        let (message, value, secret) = fresh(context, seed as u64);
        assert!(all_hops(context, &message, value, secret, seed as u64) >= HOPS);
    }
}

/// The square of slots, handed on as often as was asked for; then computed on under the key of the last owner.
#[test]
fn results_are_handed_on_and_computed_on_in_bfv() {
    let parameters = sunzi_bfv::Parameters::builder().depth(2).plain_modulus(T).rotations(1).additions(1);
    let parameters = parameters.log2_degree(LOG_N).reencryptions(HOPS, policy()).security(SECURITY);
    let context = sunzi_bfv::Context::new(&parameters.build().unwrap()).unwrap();
    // Before the computation, in the middle of it, and behind it.
    for first in 0..=2 {
        computed(&context, first, 2 - first);
    }
}

#[test]
fn results_are_handed_on_and_computed_on_in_bgv() {
    let shared = bgv_builder(3, T).log2_degree(LOG_N).build().unwrap();
    assert!(shared.shares().iter().any(|&share| share > 0), "levels share words");
    let several = bgv_builder(2, 65537).log2_degree(LOG_N).digits(2).build().unwrap();
    for parameters in [shared, several] {
        let context = sunzi_bgv::Context::new(&parameters).unwrap();
        for squares in 0..=context.depth() {
            computed(&context, squares, 0);
        }
    }
    // A product after a hop takes moduli for what the flooding noise spends.
    let moduli = sunzi_math::primes_with_bits(45, 2 << LOG_N, 9).unwrap();
    let (moduli, special) = moduli.split_at(8);
    let gadget = sunzi_ring::GadgetOptions { special_moduli: special.to_vec(), ..Default::default() };
    let parameters = sunzi_bgv::Parameters::new(LOG_N, moduli.to_vec(), T, SECURITY)
        .with_key_switching(gadget)
        .with_budget(sunzi_bgv::Budget::UNLIMITED);
    let prefixes = parameters.clone().with_levels(vec![4, 8]);
    // Levels that are sets of moduli, none of them nested in the next.
    let rungs = vec![vec![0, 1, 2, 4], vec![0, 1, 2, 3, 5], (0..8).collect()];
    let sets = parameters.with_rungs(rungs).with_levels(vec![1, 2]);
    for parameters in [prefixes, sets] {
        let context = sunzi_bgv::Context::new(&parameters).unwrap();
        computed(&context, 0, 1);
        computed(&context, 1, 0);
    }
}

/// Squares slots, hands the result on, and squares it again under the keys of the last owner.
fn computed<S: HandedOn + Clone>(context: &S, before: usize, after: usize) {
    let mut party = Party::with_rotations(context.clone(), 3, &[1]).unwrap();
    let t = party.evaluator.plain_modulus();
    let mut rng = ChaCha20Rng::seed_from_u64((before * 8 + after) as u64);
    let mut slots: Vec<u64> = (0..1 << LOG_N).map(|i| (i * 7 + 3) % t).collect();
    let square = |slots: &mut Vec<u64>| {
        for x in slots {
            *x = (u128::from(*x) * u128::from(*x) % u128::from(t)) as u64;
        }
    };
    let mut value = party.context.encrypt(&party.encode(&slots).unwrap(), &party.public, &mut rng).unwrap();
    for _ in 0..before {
        value = party.evaluator.square(&value, &party.keys).unwrap();
        square(&mut slots);
    }
    let mut declared = context.own_run(&value);
    let hops = if after > 0 { 1 } else { HOPS };
    for hop in 1..=hops {
        let next = Party::with_rotations(context.clone(), 100 + u64::from(hop), &[1]).unwrap();
        let (key, mut ledger) =
            (context.key(&party.secret, &next.secret, &mut rng), context.ledger(&party.secret));
        let after = context.declared_after_hop(&value, declared, policy()).unwrap();
        value = context.reencrypt(&value, &key, declared, &mut ledger, &mut rng).unwrap();
        (party, declared) = (next, after);
        assert_eq!(party.decrypt(&value).unwrap(), slots);
    }
    // The second operand was never handed on: the result counts the hops of the other.
    let other: Vec<u64> = (0..1 << LOG_N).map(|i| (i + 1) % t).collect();
    let fresh = party.encrypt(&other, 9).unwrap();
    let sum = party.evaluator.add(&fresh, &value).unwrap();
    assert_eq!((sum.hops(), fresh.hops()), (hops, 0));
    let expected: Vec<u64> = slots.iter().zip(&other).map(|(a, b)| (a + b) % t).collect();
    assert_eq!(party.decrypt(&sum).unwrap(), expected);
    for _ in 0..after {
        value = party.evaluator.square(&value, &party.keys).unwrap();
        square(&mut slots);
        assert_eq!((value.hops(), party.decrypt(&value).unwrap()), (hops, slots.clone()));
    }
}

/// No operation and no file forgets a hop; a changed file can, and says so of itself alone.
#[test]
fn every_operation_and_file_passes_the_count_of_hops_on() {
    let parameters = sunzi_bfv::Parameters::builder().depth(1).plain_modulus(T).log2_degree(LOG_N);
    let parameters = parameters.reencryptions(2, policy()).security(SECURITY).build().unwrap();
    counted(&sunzi_bfv::Context::new(&parameters).unwrap());
    let moduli = sunzi_math::primes_with_bits(45, 2 << LOG_N, 8).unwrap();
    let parameters = sunzi_bgv::Parameters::new(LOG_N, moduli, T, SECURITY)
        .with_levels(vec![4, 8])
        .with_budget(sunzi_bgv::Budget::UNLIMITED);
    counted(&sunzi_bgv::Context::new(&parameters).unwrap());
}

fn counted<S: HandedOn + Clone + SchemeFormat<Scheme = <S as Scheme>::Own>>(context: &S) {
    let party = Party::new(context.clone(), 1).unwrap();
    let mut rng = ChaCha20Rng::seed_from_u64(2);
    let before = SecretKey::generate(Scheme::rlwe(context), &mut rng).unwrap();
    let slots: Vec<u64> = (0..1 << LOG_N).collect();
    let plain = party.encode(&slots).unwrap();
    let fresh = context.encrypt_secret(&plain, &before, &mut rng).unwrap();
    let (key, mut ledger) = (context.key(&before, &party.secret, &mut rng), context.ledger(&before));
    let a = context.reencrypt(&fresh, &key, context.own_run(&fresh), &mut ledger, &mut rng).unwrap();
    let b = party.encrypt(&slots, 5).unwrap();
    let (evaluator, keys) = (&party.evaluator, &party.keys);
    let e: &Evaluator<<S as Scheme>::Own> = evaluator;
    let galois = party.keys.galois.as_ref().unwrap();
    let prepared = e.prepare_plain(&plain).unwrap();
    let mut made = vec![
        e.add(&a, &b).unwrap(),
        e.add(&b, &a).unwrap(),
        e.sub(&b, &a).unwrap(),
        e.negate(&b).and_then(|b| e.sum([&b, &a, &b])).unwrap(),
        evaluator.square(&a, keys).unwrap(),
        evaluator.multiply(&b, &a, keys).unwrap(),
        e.add_plain(&a, &plain).unwrap(),
        e.sub_plain(&a, &plain).unwrap(),
        e.multiply_plain(&a, &plain).unwrap(),
        e.multiply_scalar(&a, -3).unwrap(),
        e.automorphism(&a, 3, galois).unwrap(),
        e.hoist(&a).and_then(|hoisted| hoisted.automorphism(3, galois)).unwrap(),
        e.sum_of_plain_products([(&b, &prepared), (&a, &prepared)]).unwrap(),
    ];
    let matrix = PreparedMatrix::new(2, 3, &[1, 2, 0, 3, 1, 1]).unwrap();
    made.extend(e.multiply_matrix(&matrix, &[&b, &a, &b]).unwrap());
    let bytes = wire::to_bytes::<CiphertextOf<S>, S>(context, &a).unwrap();
    made.push(wire::from_bytes::<CiphertextOf<S>, S>(context, &bytes).unwrap());
    let array = wire::to_bytes::<Vec<CiphertextOf<S>>, S>(context, &vec![a.clone(), b.clone()]).unwrap();
    let array: Vec<Ciphertext<_>> = wire::from_bytes::<Vec<CiphertextOf<S>>, S>(context, &array).unwrap();
    assert_eq!(array.iter().map(Ciphertext::hops).collect::<Vec<_>>(), [1, 0]);
    assert!(
        made.iter().all(|made| made.hops() == 1),
        "{:?}",
        made.iter().map(Ciphertext::hops).collect::<Vec<_>>()
    );
    changed_files(context, &party.secret, &before, &bytes);
}

/// Whoever changes a file lowers the count of that file, and no reader takes a count that cannot be.
fn changed_files<S>(context: &S, own: &SecretKey, other: &SecretKey, bytes: &[u8])
where
    S: HandedOn + SchemeFormat<Scheme = <S as Scheme>::Own>,
{
    let mut rng = ChaCha20Rng::seed_from_u64(3);
    // The third word of a ciphertext: a seed and a count, of which a reader takes no more than can be.
    let at = wire::HEADER_LEN + 16;
    let said = |word: u64| {
        let mut changed = bytes.to_vec();
        changed[at..at + 8].copy_from_slice(&word.to_le_bytes());
        let end = at - 16 + context_record(context);
        let sum = wire::checksum(&changed[at - 16..end]);
        changed[end..end + 8].copy_from_slice(&sum.to_le_bytes());
        wire::from_bytes::<CiphertextOf<S>, S>(context, &changed)
    };
    assert_eq!(u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()), 2);
    assert_eq!(said(0).unwrap().hops(), 0, "whoever changes a file lowers the count of that file");
    assert_eq!(said(2048).unwrap().hops(), 1024);
    let (most, ledger) = (said(2048).unwrap(), &mut context.ledger(own));
    let onwards = context.key(own, other, &mut rng);
    let refused = context.reencrypt(&most, &onwards, context.own_run(&most), ledger, &mut rng);
    assert!(refused.err().unwrap().to_string().contains("number of re-encryptions of one ciphertext"));
    for word in [3, 2050, u64::MAX] {
        assert!(said(word).is_err(), "{word}");
    }
}

/// Length of the first record of a ciphertext without its checksum.
fn context_record<S: SchemeFormat>(_: &S) -> usize {
    3 * 8 + 32 + 8 * 8 + S::METADATA_LEN
}

#[test]
fn what_does_not_belong_together_is_refused_by_name() {
    let contexts = bfv();
    let [context, other] = &contexts[..2] else { panic!("there are several") };
    let (_, value, secret) = fresh(context, 1);
    let (_, of_another, another) = fresh(context, 2);
    let mut rng = ChaCha20Rng::seed_from_u64(4);
    let to = SecretKey::generate(context.rlwe(), &mut rng).unwrap();
    let key = context.key(&secret, &to, &mut rng);
    let noise = context.own_run(&value);
    let mut hand_on =
        |value: &Encrypted<sunzi_bfv::Context>, key: &ReencryptionKey, noise, ledger: &mut LedgerFile| {
            let result = context.reencrypt(value, key, noise, ledger, &mut rng);
            (result.err().map(|error| error.to_string()), ledger.ledger().used())
        };
    let mut refused = |value, key: &ReencryptionKey, noise, ledger: &mut LedgerFile, words: &str| {
        let (error, used) = hand_on(value, key, noise, ledger);
        assert!(error.as_ref().is_some_and(|error| error.contains(words)), "{error:?}, not {words}");
        assert_eq!(used, 0, "nothing is counted");
    };
    let ledger = || context.ledger(&secret);
    refused(&of_another, &key, noise, &mut ledger(), "the re-encryption key belongs to another secret key");
    refused(&value, &key, noise, &mut context.ledger(&another), "the sharing ledger belongs to another");
    refused(&value, &key, DeclaredNoise::from_bits(1.0), &mut ledger(), "declare the bound of the program");
    refused(&value, &key, DeclaredNoise::from_bits(1e3), &mut ledger(), "re-encryption number 1 takes");
    refused(&value, &key, DeclaredNoise::from_bits(f64::NAN), &mut ledger(), "log2 of the declared noise");
    let (_, foreign, foreign_secret) = fresh(other, 1);
    let foreign_key = other.key(
        &foreign_secret,
        &SecretKey::generate(other.rlwe(), &mut ChaCha20Rng::seed_from_u64(9)).unwrap(),
        &mut ChaCha20Rng::seed_from_u64(8),
    );
    let (error, _) = hand_on(&foreign, &foreign_key, noise, &mut other.ledger(&foreign_secret));
    assert!(error.is_some());
    // A policy is spent by as many re-encryptions as it allows.
    let mut short = LedgerFile::in_memory(SharingLedger::new(
        context.rlwe().fingerprint(),
        secret.id(),
        SharingPolicy::new(12, 2).unwrap(),
    ));
    for used in 1..=2 {
        assert_eq!(hand_on(&value, &key, noise, &mut short), (None, used));
    }
    let (error, used) = hand_on(&value, &key, noise, &mut short);
    assert!(error.unwrap().contains("all 2 decryptions"));
    assert_eq!(used, 2);
}

/// What a ciphertext says of its noise never makes the flooding noise smaller: the declared bound alone counts.
#[test]
fn a_false_noise_bound_does_not_narrow_the_flooding_noise() {
    let context = bfv().remove(0);
    let (message, value, secret) = fresh(&context, 1);
    let mut rng = ChaCha20Rng::seed_from_u64(4);
    let to = SecretKey::generate(context.rlwe(), &mut rng).unwrap();
    let key = context.key(&secret, &to, &mut rng);
    let mut forged = value.clone();
    forged.set_noise(sunzi_rlwe::NoiseBound::none());
    let mut noise = |value: &Encrypted<sunzi_bfv::Context>, declared: f64| {
        let mut ledger = context.ledger(&secret);
        let declared = DeclaredNoise::from_bits(declared);
        let handed_on = context.reencrypt(value, &key, declared, &mut ledger, &mut rng).unwrap();
        context.measure_noise(&handed_on, &message, &to).unwrap()
    };
    for declared in [20.0, 30.0] {
        let (honest, forged) = (noise(&value, declared), noise(&forged, declared));
        assert!((honest - forged).abs() < 1.5, "{honest} {forged}");
        assert!(honest > declared + 11.0, "{honest} for {declared}");
    }
}

#[test]
fn hops_that_no_modulus_holds_are_refused_by_builders() {
    let none = sunzi_bfv::Parameters::builder().reencryptions(0, policy()).build();
    assert!(none.err().unwrap().to_string().contains("the number of re-encryptions"));
    let none = sunzi_bgv::Parameters::builder().reencryptions(2000, policy()).build();
    assert!(none.err().unwrap().to_string().contains("the number of re-encryptions"));
    let wide = SharingPolicy::new(40, 1 << 20).unwrap();
    let bits = |hops| {
        let builder = sunzi_bfv::Parameters::builder().depth(0).reencryptions(hops, wide).log2_degree(14);
        builder.build().map(|parameters| parameters.log2_modulus())
    };
    // Every hop takes s − 1 + log2(nτ)/2 bits and the reach of a Gaussian.
    let [one, two, three] = [1, 2, 3].map(|hops| bits(hops).unwrap());
    assert!(two - one > 39.0 && three - one > 78.0 && three < 300.0, "{one} {two} {three}");
    assert!(bits(9).is_err());
    let typed: RlweError =
        sunzi_rlwe::reencryption::Reencryptions { hops: 0, policy: wide }.check().unwrap_err();
    assert!(matches!(typed, RlweError::Sharing { .. }));
}

#[test]
#[ignore = "long: 10^4 re-encryptions"]
fn noise_of_re_encryptions_stays_below_its_bound() {
    let mut done = 0;
    let mut run = |hops: u32| done += hops as usize;
    for round in 0..300 {
        for (seed, context) in bfv().iter().enumerate() {
            let (message, value, secret) = fresh(context, round * 100 + seed as u64);
            run(all_hops(context, &message, value, secret, round * 100 + seed as u64));
        }
        for (seed, context) in bgv().iter().enumerate() {
            let (message, value, secret) = fresh(context, round * 100 + seed as u64);
            run(all_hops(context, &message, value, secret, round * 100 + seed as u64));
        }
    }
    Figure::new(5, "values above a bound or wrong after re-encryptions").cases(done, 10_000).none_wrong(0);
}
