//! Operations of several parties over requests and answers, with the arithmetic of each scheme: refreshes, switches to a public key, additive shares.

use std::cell::Cell;
use std::error::Error;
use std::sync::Arc;

use sunzi::bgv;
use sunzi::ckks;
use sunzi::parties::decryption::{Collector, Decryptor, Request, Subject};
use sunzi::parties::operations::{
    Additive, JointSwitch, Made, Making, Operation, OperationCollector, OperationRequest, Refresh, Switch,
};
use sunzi::parties::{MemoryStore, Roster};
use sunzi::prelude::*;
use sunzi::ring::{Evaluation, Poly};
use sunzi::rlwe::joint::{
    ExactJointContext as _, JointContext as _, KeySwitchShare, PublicKeyShare, PublicKeySwitchShare,
    Reference, joint_secret,
};
use sunzi::rlwe::sharing::Flooding;
use sunzi::rlwe::wire::{from_bytes, to_bytes};
use sunzi::rlwe::{DeclaredNoise, KeyId, LedgerFile, RlweContext, SharingLedger, SharingPolicy};

type Failure = Box<dyn Error + Send + Sync>;

/// Three parties with secrets of one joint secret, and its public key.
struct Parties {
    roster: Arc<Roster>,
    context: RlweContext,
    key: KeyId,
    public: PublicKey,
    all: Vec<Decryptor<MemoryStore>>,
}

fn policy() -> SharingPolicy {
    SharingPolicy::new(20, 4).unwrap()
}

fn parties(context: &RlweContext) -> Result<Parties, Failure> {
    let reference = Reference::new([5; 32]);
    let key = reference.key_id();
    let roster = Arc::new(Roster::new(["north", "south", "west"])?);
    let mut rng = randomness::from_os()?;
    let (mut all, mut shares) = (Vec::new(), Vec::new());
    for me in roster.parties() {
        let name = Reference::share_id(key, me.number());
        let secret = SecretKey::generate_share_named(context, name, &mut rng)?;
        shares.push(PublicKeyShare::new(context, &secret, &reference, &mut rng)?);
        let ledger = LedgerFile::in_memory(SharingLedger::new(context.fingerprint(), key, policy()));
        let store = MemoryStore::default();
        all.push(Decryptor::new(context.clone(), Arc::clone(&roster), me, secret, ledger, store)?);
    }
    let public = PublicKeyShare::combine(context, &reference, &shares)?;
    Ok(Parties { roster, context: context.clone(), key, public, all })
}

/// Shares of all parties, what each keeps, and the seed.
type Collected<O> = (Vec<<O as Operation>::Share>, Vec<Vec<u8>>, [u8; 32]);

impl Parties {
    /// Has all parties answer a request, each twice, and returns what they made.
    fn operate<O: Operation>(
        &mut self,
        file: &[u8],
        linear: &Poly<Evaluation>,
        noise: DeclaredNoise,
        target: &O::Target,
        make: impl Fn(&Making<'_>) -> Result<Made<O::Share>, Failure>,
    ) -> Result<Collected<O>, Failure> {
        let subject = Subject { bytes: file, linear, key: self.key };
        let request =
            Request::new(&self.context, subject, noise.bits(), self.roster.parties(), [0; 32], O::NAME)?;
        let request = OperationRequest::<O>::new(&self.context, request, target)?;
        // The request goes as bytes.
        let request: OperationRequest<O> = from_bytes(&self.context, &to_bytes(&self.context, &request)?)?;
        let mut collector = OperationCollector::<O>::new(self.context.clone(), &self.roster, &request)?;
        let mut own = Vec::new();
        for party in &mut self.all {
            let used = party.ledger().ledger().used();
            let reviewed = party.review_operation(&request, subject, noise, target)?;
            let first = party.answer_operation(reviewed, &make)?;
            let reviewed = party.review_operation(&request, subject, noise, target)?;
            let again =
                party.answer_operation(reviewed, |_| Err::<Made<O::Share>, Failure>("it is kept".into()))?;
            assert!(first.message == again.message && first.own == again.own);
            assert_eq!(party.ledger().ledger().used(), used + 1);
            collector.accept(party.me(), &first.message)?;
            own.push(first.own.to_vec());
        }
        let seed = *collector.seed();
        assert_eq!(seed, request.seed(&self.context, &self.roster)?);
        Ok((collector.finish()?, own, seed))
    }
}

fn boxed(error: impl Error + Send + Sync + 'static) -> Failure {
    Box::new(error)
}

/// The sum modulo t of what was opened and of what every party keeps.
fn sum_of(rest: &Plaintext, kept: &[Vec<u8>], t: u64) -> Result<Plaintext, Failure> {
    let mut sum = rest.coefficients().to_vec();
    for own in kept {
        for (x, bytes) in sum.iter_mut().zip(own.chunks_exact(8)) {
            *x = (*x + u64::from_le_bytes(bytes.try_into()?)) % t;
        }
    }
    Ok(Plaintext::new(sum, t)?)
}

/// Three parties of BGV with a ciphertext of eight slots, as they open it.
struct Exact {
    context: bgv::Context,
    parties: Parties,
    encoder: BatchEncoder,
    values: Vec<u64>,
    encrypted: bgv::Ciphertext,
}

impl Exact {
    fn new() -> Result<Self, Failure> {
        let builder = bgv::Parameters::builder().parties(3).depth(2).plain_bits(17);
        let context = bgv::Context::new(&builder.sharing(policy()).build()?)?;
        let parties = parties(context.rlwe())?;
        let encoder = BatchEncoder::new(context.degree(), context.plain_modulus())?;
        let values: Vec<u64> = (0..8).map(|x| x * x + 1).collect();
        let plaintext = encoder.encode(&values)?;
        let encrypted = context.encrypt(&plaintext, &parties.public, &mut randomness::from_os()?)?;
        Ok(Self { context, parties, encoder, values, encrypted })
    }

    fn noise(&self) -> DeclaredNoise {
        DeclaredNoise::of_own_run(self.encrypted.noise(), self.context.ring().expansion())
    }

    /// Has the parties do an operation on the ciphertext as it is opened, whose part c_1 and flooding noise `make` gets.
    fn operate<O: Operation>(
        &mut self,
        target: &O::Target,
        make: impl Fn(&Making<'_>, &bgv::Ciphertext, &Flooding) -> Result<Made<O::Share>, Failure>,
    ) -> Result<Collected<O>, Failure> {
        let (noise, Self { context, parties, encrypted, .. }) = (self.noise(), self);
        let opening = context.opening(encrypted, noise, policy())?;
        let linear = opening.ciphertext.parts()[1].clone();
        parties.operate::<O>(&to_bytes(&*context, &*encrypted)?, &linear, noise, target, |making| {
            let opening = context.opening(encrypted, making.declared, making.policy).map_err(boxed)?;
            make(making, &opening.ciphertext, &opening.flooding)
        })
    }

    /// Fails unless a plaintext has the slots.
    fn check(&self, opened: &Plaintext) -> Result<(), Failure> {
        assert_eq!(self.encoder.decode(opened)?[..8], self.values);
        Ok(())
    }
}

#[test]
fn bgv_ciphertexts_are_refreshed_and_shared() -> Result<(), Failure> {
    let mut exact = Exact::new()?;
    let (context, encrypted) = (exact.context.clone(), exact.encrypted.clone());
    let (noise, linear) = (exact.noise(), encrypted.parts()[1].clone());
    let file = to_bytes(&context, &encrypted)?;
    let (shares, _, seed) = exact.parties.operate::<Refresh>(&file, &linear, noise, &(), |making| {
        let mut rng = randomness::from_os()?;
        let (declared, policy, seed) = (making.declared, making.policy, &making.seed);
        let share = context.refresh_share(&encrypted, declared, policy, &making.secret, seed, &mut rng);
        Ok(share.map_err(boxed)?.into())
    })?;
    let refreshed = context.refresh(&encrypted, noise, policy(), None, &seed, &shares)?;
    assert_ne!(to_bytes(&context, &refreshed)?, file);

    // Each party keeps a share modulo t of the refreshed message, and the rest is opened.
    exact.encrypted = refreshed.clone();
    let t = context.plain_modulus();
    let (shares, own, _) = exact.operate::<Additive>(&(), |making, _, _| {
        let mut rng = randomness::from_os()?;
        let mut mask = vec![0; context.degree()];
        sunzi::ring::sampling::uniform_residues(&mut mask, t, &mut rng);
        let own: Vec<u8> = mask.iter().flat_map(|residue| residue.to_le_bytes()).collect();
        let mask = Plaintext::new(mask, t)?;
        let (declared, policy) = (making.declared, making.policy);
        let share = context.masked_share(&refreshed, declared, policy, &making.secret, &mask, &mut rng);
        Ok(Made { share: share.map_err(boxed)?, own: own.into() })
    })?;
    let rest = context.open_shares(&refreshed, exact.noise(), policy(), None, &shares)?;
    exact.check(&sum_of(&rest, &own, t)?)?;
    assert!(exact.parties.all.iter().all(|party| party.ledger().ledger().used() == 2));
    Ok(())
}

#[test]
fn bgv_ciphertexts_are_switched_to_other_keys() -> Result<(), Failure> {
    let mut exact = Exact::new()?;
    let (context, rlwe) = (exact.context.clone(), exact.context.rlwe().clone());
    let (encrypted, noise, mut rng) = (exact.encrypted.clone(), exact.noise(), randomness::from_os()?);
    let opening = context.opening(&encrypted, noise, policy())?;
    let (ciphertext, flooding) = (&*opening.ciphertext, &opening.flooding);

    // Somebody else gets the ciphertext under a key of its own.
    let other = SecretKey::generate(&rlwe, &mut rng)?;
    let target = PublicKey::generate(&rlwe, &other, &mut rng)?;
    let (shares, _, _) = exact.operate::<Switch>(&target, |making, opened, flooding| {
        let (linear, rng) = (&opened.parts()[1], &mut randomness::from_os()?);
        Ok(PublicKeySwitchShare::new(&rlwe, linear, &making.secret, &target, flooding, rng)?.into())
    })?;
    let key = target.id();
    let switched = PublicKeySwitchShare::combine(&context, ciphertext, key, flooding, None, &shares)?;
    exact.check(&context.decrypt(&switched, &other)?)?;

    // The parties go on with another joint secret, of which each has a secret too.
    let reference = Reference::new([6; 32]);
    let others = (0..3).map(|_| SecretKey::generate_share(&rlwe, &mut rng)).collect::<Result<Vec<_>, _>>()?;
    let (at, key) = (Cell::new(0), reference.key_id());
    let (shares, _, _) = exact.operate::<JointSwitch>(&key, |making, opened, flooding| {
        let to = &others[at.replace(at.get() + 1)];
        let (linear, rng) = (&opened.parts()[1], &mut randomness::from_os()?);
        Ok(KeySwitchShare::new(&rlwe, linear, &making.secret, to, flooding, rng)?.into())
    })?;
    let switched = KeySwitchShare::combine(&context, ciphertext, key, flooding, None, &shares)?;
    exact.check(&context.decrypt(&switched, &joint_secret(&rlwe, &reference, &others)?)?)?;
    assert!(exact.parties.all.iter().all(|party| party.ledger().ledger().used() == 2));
    Ok(())
}

#[test]
fn ckks_ciphertexts_are_refreshed_to_the_highest_level() -> Result<(), Failure> {
    let builder = ckks::Parameters::builder().parties(3).depth(2).precision(10).slots(1024);
    let context = ckks::Context::new(&builder.sharing(policy()).build()?)?;
    let mut parties = parties(context.rlwe())?;
    let mut rng = randomness::from_os()?;
    let encoder = ckks::Encoder::new(&context, 8)?;
    let values = [-0.9, -0.5, -0.25, 0.0, 0.125, 0.4, 0.7, 1.0];
    let high = context.encrypt(&encoder.encode_real(&values)?, &parties.public, &mut rng)?;
    let low = ckks::Evaluator::new(&context).drop_to(&high, 1)?;
    let noise = DeclaredNoise::of_own_run(low.noise(), context.ring().expansion());
    let (file, linear) = (to_bytes(&context, &low)?, low.parts()[1].clone());
    let (shares, _, seed) = parties.operate::<Refresh>(&file, &linear, noise, &(), |making| {
        let mut rng = randomness::from_os()?;
        let (declared, policy, seed) = (making.declared, making.policy, &making.seed);
        let share = context.refresh_share(&low, declared, policy, &making.secret, seed, &mut rng);
        Ok(share.map_err(boxed)?.into())
    })?;
    let refreshed = context.refresh(&low, noise, policy(), None, &seed, &shares)?;
    assert_eq!(refreshed.metadata().level, context.depth());

    // Each party keeps an additive share of the message, and all encrypt it again.
    let (shares, own, _) = parties.operate::<Additive>(&file, &linear, noise, &(), |making| {
        let mut rng = randomness::from_os()?;
        let (declared, policy) = (making.declared, making.policy);
        let (share, own) =
            context.additive_share(&low, declared, policy, &making.secret, &mut rng).map_err(boxed)?;
        Ok(Made { share, own: own.to_bytes() })
    })?;
    let rest = context.open_rest(&low, noise, policy(), None, &shares)?;
    let mut words = rest.modulo(&context, 64)?.to_vec();
    for own in &own {
        let own = ckks::AdditiveShare::from_bytes(own)?.modulo(64)?;
        words.iter_mut().zip(&*own).for_each(|(sum, own)| *sum = (*sum + own) % (1 << 64));
    }
    let scaled: Vec<i128> = words.into_iter().map(|word| (word as u64 as i64).into()).collect();
    let scale = low.metadata().scale;
    let found = ckks::Plaintext::from_coefficients(&context, &scaled, 1, scale, 8, 1.0)?;
    let found = encoder.decode_real(&found)?;
    let worst = found.iter().zip(values).map(|(got, expected)| (got - expected).abs()).fold(0.0, f64::max);
    assert!(worst < 0.01, "{worst}");

    // The parties open it by shares.
    let noise = DeclaredNoise::of_own_run(refreshed.noise(), context.ring().expansion());
    let decryption = context.joint_decryption(&refreshed, noise, policy())?;
    let file = to_bytes(&context, &refreshed)?;
    let subject = Subject { bytes: &file, linear: decryption.linear(), key: parties.key };
    let members = parties.roster.parties();
    let request = Request::new(&parties.context, subject, noise.bits(), members, [0; 32], "")?;
    let mut collector = Collector::new(parties.context.clone(), &parties.roster, &request)?;
    for party in &mut parties.all {
        let reviewed = party.review(&request, subject, noise)?;
        collector.accept(party.me(), &party.answer(reviewed, &mut rng)?)?;
    }
    let opened = context.open_shares(&refreshed, noise, policy(), None, &collector.finish()?)?;
    let opened = encoder.decode_real(&opened)?;
    let worst = opened.iter().zip(values).map(|(got, expected)| (got - expected).abs()).fold(0.0, f64::max);
    assert!(worst < 0.01, "{worst}");
    Ok(())
}
