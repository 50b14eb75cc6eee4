//! Random circuits under keys of several parties: the results of a single key, opened by shares, and no noise above its bounds.

mod approximate;
mod spent;
mod thresholds;

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use rayon::prelude::*;
use sunzi_encoding::{Encoder as _, Plaintext};
use sunzi_rlwe::joint::{
    DecryptionShare, EncryptionShare, ExactJointContext, JointContext as _, JointDecryption, Quorum,
    RefreshShare,
};
use sunzi_rlwe::{DeclaredNoise, KeyId, RlweError, SecretDistribution, SecretKey, Security, SharingPolicy};
use sunzi_testing::scheme::Encrypted;
use sunzi_testing::{Circuit, Figure, LevelReport, Party, Scheme, joint_party};

use approximate::Approximate;
use thresholds::Thresholds;

const SECURITY: Security = Security::InsecureForResearchOnly;
const PARTIES: [u32; 4] = [2, 3, 5, 10];
const T: u64 = 65537;
const LOG_N: u32 = 6;

fn policy() -> SharingPolicy {
    SharingPolicy::new(20, 16).unwrap()
}

fn steps() -> Vec<i64> {
    (0..1 << (LOG_N - 1)).collect()
}

type Opened<S> = Result<Plaintext, <S as Scheme>::Error>;

/// Operations of several parties who declare the noise of what they computed themselves.
trait Joint: Scheme + ExactJointContext<Scheme = <Self as Scheme>::Own> {
    /// A number that a refresh makes larger: bits left, or levels.
    fn left(&self, a: &Encrypted<Self>) -> f64;
    /// The noise that all parties declare of a ciphertext that they computed.
    fn declared(&self, a: &Encrypted<Self>) -> DeclaredNoise {
        DeclaredNoise::of_own_run(a.noise(), self.rlwe().ring().expansion())
    }
    fn decryption(&self, a: &Encrypted<Self>) -> Result<JointDecryption, Self::Error> {
        self.joint_decryption(a, self.declared(a), policy())
    }
    fn open(&self, a: &Encrypted<Self>, quorum: Option<&Quorum>, shares: &[DecryptionShare]) -> Opened<Self> {
        self.open_shares(a, self.declared(a), policy(), quorum, shares)
    }
    fn masked(
        &self,
        a: &Encrypted<Self>,
        secret: &SecretKey,
        mask: &Plaintext,
        rng: Rng<'_>,
    ) -> DecryptionShare {
        self.masked_share(a, self.declared(a), policy(), secret, mask, rng).unwrap()
    }
    fn sealed(&self, mask: &Plaintext, secret: &SecretKey, seed: u8, rng: Rng<'_>) -> EncryptionShare {
        self.encryption_share(mask, secret, &[seed; 32], rng).unwrap()
    }
    fn encrypted(&self, key: KeyId, seed: u8, shares: &[EncryptionShare]) -> Encrypted<Self> {
        self.encrypt_by_shares(key, &[seed; 32], None, shares).unwrap()
    }
    fn refreshing(&self, a: &Encrypted<Self>, secret: &SecretKey, seed: u8, rng: Rng<'_>) -> RefreshShare {
        self.refresh_share(a, self.declared(a), policy(), secret, &[seed; 32], rng).unwrap()
    }
    fn refreshed(
        &self,
        a: &Encrypted<Self>,
        seed: u8,
        shares: &[RefreshShare],
    ) -> Result<Encrypted<Self>, Self::Error> {
        self.refresh(a, self.declared(a), policy(), None, &[seed; 32], shares)
    }
}

type Rng<'a> = &'a mut ChaCha20Rng;

impl Joint for sunzi_bfv::Context {
    fn left(&self, a: &Encrypted<Self>) -> f64 {
        self.bits_left(a)
    }
}

impl Joint for sunzi_bgv::Context {
    fn left(&self, a: &Encrypted<Self>) -> f64 {
        a.metadata().level() as f64
    }
}

/// Opens a ciphertext by the shares of all parties; one share less, or one twice, opens nothing.
fn by_shares<S: Joint>(
    party: &Party<S>,
    secrets: &[SecretKey],
    value: &Encrypted<S>,
    rng: Rng<'_>,
) -> Vec<u64> {
    let (context, rlwe) = (&party.context, party.context.rlwe());
    let decryption = context.decryption(value).unwrap();
    let shares: Vec<_> = secrets.iter().map(|secret| decryption.share(rlwe, secret, rng).unwrap()).collect();
    for wrong in [&shares[1..], &[&shares[..], &shares[..1]].concat()] {
        let error = context.open(value, None, wrong).unwrap_err();
        assert!(error.to_string().contains("shares"), "{error}");
    }
    party.encoder.decode(&context.open(value, None, &shares).unwrap()).unwrap()
}

fn bfv(parties: u32) -> sunzi_bfv::Context {
    let parameters = sunzi_bfv::Parameters::builder()
        .parties(parties)
        .depth(2)
        .plain_modulus(T)
        .rotations(2)
        .additions(2)
        .log2_degree(LOG_N)
        .sharing(policy())
        .margin(10)
        .security(SECURITY)
        .build()
        .unwrap();
    assert_eq!(parameters.secrets(), SecretDistribution::of_parties(parties));
    sunzi_bfv::Context::new(&parameters).unwrap()
}

fn bgv(parties: u32) -> sunzi_bgv::Context {
    let parameters = sunzi_bgv::Parameters::builder()
        .parties(parties)
        .depth(3)
        .plain_modulus(T)
        .fresh_additions(3)
        .fresh_rotations(2)
        .additions_per_level(3)
        .rotations_per_level(2)
        .log2_degree(LOG_N)
        .sharing(policy())
        .security(SECURITY)
        .build()
        .unwrap();
    sunzi_bgv::Context::new(&parameters).unwrap()
}

/// Makes parties, their secrets, and their shares of a threshold.
fn parties_of<S: Joint>(context: S, parties: u32) -> (Party<S>, Vec<SecretKey>, Option<Thresholds>) {
    let (party, secrets) = joint_party(context, u64::from(parties), &steps()).unwrap();
    let rng = &mut ChaCha20Rng::seed_from_u64(u64::from(parties) << 32);
    let thresholds = Thresholds::of(party.context.rlwe(), &secrets, rng);
    (party, secrets, thresholds)
}

/// Runs a circuit as far as nothing is refused, and opens its last value by shares of all parties, and of a quorum.
fn open_last<S: Joint>(
    (party, secrets, thresholds): &(Party<S>, Vec<SecretKey>, Option<Thresholds>),
    circuit: &Circuit,
    seed: u64,
) {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let mut values: Vec<Option<Encrypted<S>>> = Vec::new();
    for operation in &circuit.operations {
        let value = |i: usize| values.get(i).and_then(Option::as_ref);
        let value = party.step(circuit, operation, value, &mut rng).ok();
        values.push(value);
    }
    let expected = circuit.run_clear();
    let last =
        values.iter().zip(expected).rev().find_map(|(value, expected)| Some((value.as_ref()?, expected)));
    let (value, expected) = last.unwrap();
    assert_eq!(by_shares(party, secrets, value, &mut rng), expected, "seed {seed}");
    if let Some(thresholds) = thresholds {
        let (context, quorum) = (&party.context, thresholds.quorum(seed));
        let decryption = context.decryption(value).unwrap();
        let shares = thresholds.shares(context.rlwe(), &decryption, &quorum, &mut rng);
        let opened = context.open(value, Some(&quorum), &shares).unwrap();
        assert_eq!(party.encoder.decode(&opened).unwrap(), expected, "seed {seed}, {quorum:?}");
    }
}

/// Runs circuits of BFV; panics where a value is wrong or above a bound. Returns how many were checked.
fn bfv_circuits(parties: u32, count: u64) -> usize {
    let all = parties_of(bfv(parties), parties);
    let party = &all.0;
    let run = |seed: u64| {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let circuit = Circuit::random(&mut rng, 1 << LOG_N, T, 2, 9);
        let report = party.check(&circuit, seed).unwrap();
        let case = format!("{parties} parties, seed {seed}: {report:?}");
        assert!(report.wrong.is_empty(), "{case}");
        assert!(report.above_worst.is_empty() && report.above_deviation.is_empty(), "{case}");
        open_last(&all, &circuit, seed);
        report.gaps.len()
    };
    (0..count).into_par_iter().map(run).sum()
}

/// Runs circuits of BGV as [`bfv_circuits`] does.
fn bgv_circuits(parties: u32, count: u64) -> usize {
    let all = parties_of(bgv(parties), parties);
    let party = &all.0;
    let run = |seed: u64| {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let circuit = Circuit::random(&mut rng, 1 << LOG_N, T, 3, 9);
        let LevelReport { failures, inside, .. } = party.check_budget(&circuit, seed).unwrap();
        assert!(failures.is_empty(), "{parties} parties, seed {seed}: {failures:?}");
        open_last(&all, &circuit, seed);
        inside
    };
    (0..count).into_par_iter().map(run).sum()
}

fn ckks_circuits(parties: u32, count: u64) -> usize {
    let run = Approximate::new(parties);
    (0..count).into_par_iter().map(|seed| run.circuit(seed)).sum()
}

fn record(scheme: &str, circuits: u64) {
    let what = format!("values of circuits under keys of 2 to 10 parties wrong or above a bound, {scheme}");
    Figure::new(5, what).cases(circuits as usize * PARTIES.len(), 1_000).none_wrong(0);
}

#[test]
fn several_parties_have_the_results_of_one() {
    for parties in PARTIES {
        assert!(bfv_circuits(parties, 10) > 50);
        assert!(bgv_circuits(parties, 10) > 50);
        assert!(ckks_circuits(parties, 10) > 30);
    }
}

#[test]
#[ignore = "long: 10^3 circuits of each scheme and number of parties"]
fn a_thousand_circuits_of_several_parties_have_the_results_of_one() {
    for parties in PARTIES {
        assert!(bfv_circuits(parties, 1_000) > 5_000);
        assert!(bgv_circuits(parties, 1_000) > 5_000);
        assert!(ckks_circuits(parties, 1_000) > 3_000);
    }
    ["BFV", "BGV", "CKKS"].into_iter().for_each(|scheme| record(scheme, 1_000));
}

/// Room for shared results grows by a bit for twice the parties, whose noise has a largest value each, until their independence tells: from about 22 parties on by half a
/// bit, to 14 deviations.
#[test]
fn room_grows_with_parties() {
    for degree in [1 << 10, 1 << 13, 1 << 15] {
        let room = |parties| policy().room_of(degree, parties);
        assert_eq!(room(1), policy().room(degree));
        for (parties, bits) in [(2_u32, 1.0), (4, 2.0), (16, 4.0), (64, 5.22), (1024, 7.22)] {
            let grown = room(parties) - room(1);
            assert!((bits - 0.05..bits + 0.05).contains(&grown), "{parties} parties: {grown}");
        }
    }
}

/// A declared noise that is too low for what ciphertexts claim is refused, and so is one that leaves no room.
#[test]
fn joint_decryptions_follow_what_is_declared() {
    let (party, secrets) = joint_party(bfv(3), 7, &[1]).unwrap();
    let context = &party.context;
    let value = party.encrypt(&[1, 2, 3], 1).unwrap();
    let refused = |bits| {
        let noise = DeclaredNoise::from_bits(bits);
        context.joint_decryption(&value, noise, policy()).err().unwrap()
    };
    assert!(matches!(refused(1.0), sunzi_bfv::BfvError::Rlwe(RlweError::NoiseDeclaredTooLow { .. })));
    let capacity = context.log2_noise_capacity();
    assert!(matches!(refused(capacity - 20.0), sunzi_bfv::BfvError::Rlwe(RlweError::SharingRoom { .. })));
    // As much as may be shared is shared.
    let largest = context.log2_largest_shareable_noise(policy()).unwrap();
    let decryption = context.joint_decryption(&value, DeclaredNoise::from_bits(largest), policy()).unwrap();
    assert!(decryption.flooding().bound_of(3).bits() < capacity);
    assert_eq!(secrets.len(), 3);
    let more = DeclaredNoise::from_bits(largest + 0.1);
    assert!(context.joint_decryption(&value, more, policy()).is_err());
}
