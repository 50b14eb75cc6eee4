//! Tests that parties generate keys that act as those of the sum of their secrets, within the stated noise.

use num_bigint::BigInt;
use sunzi_parties::keys::{JointKeys, KeyPlan, KeySetup};
use sunzi_parties::{PartiesError, Roster};
use sunzi_rlwe::encryption::zero_public;
use sunzi_rlwe::wire::{Kind, Reader, to_bytes};
use sunzi_rlwe::{Ciphertext, NoiseBound, RlweContext, Scheme, SecretKey, galois, relinearization};

use crate::common::{
    context, distance, gadgets, joint_phase, rng, roster, run, run_with, setup, setup_with, stores,
};

/// A scheme without metadata.
#[derive(Clone, Copy, Debug)]
struct Bare;

impl Scheme for Bare {
    type Metadata = ();
    const NAME: &'static str = "bare RLWE";
}

#[test]
fn keys_of_all_parties_are_equal_and_act_as_those_of_the_sum_of_secrets() {
    for (at, parties) in [2, 3, 5, 10].into_iter().enumerate() {
        for (way, options) in gadgets().iter().enumerate() {
            let setup = setup_with(context(parties, options), parties, Some(4 - way), 1);
            let all = run(&setup, 10 + at as u64);
            let context = setup.context();
            let bytes = |keys: &JointKeys| {
                let relinearization = keys.relinearization.as_ref().unwrap();
                let written = [
                    to_bytes(context, &keys.public).unwrap(),
                    to_bytes(context, &keys.galois).unwrap(),
                    to_bytes(context, relinearization).unwrap(),
                ];
                (written, keys.transcript)
            };
            assert!(all.iter().all(|keys| bytes(keys) == bytes(&all[0])));
            let secrets: Vec<&SecretKey> = all.iter().map(|keys| &keys.secret).collect();
            act(context, &all[0], &secrets, 4 - way);
        }
    }
}

/// Checks the noise of encryptions, automorphisms and relinearisations.
fn act(context: &RlweContext, keys: &JointKeys, secrets: &[&SecretKey], key_level: usize) {
    let mut rng = rng(3);
    let zero = zero_public(context, &keys.public, &mut rng).unwrap();
    let phase = joint_phase(context, secrets, &zero.parts);
    let error = distance(&phase, &vec![BigInt::ZERO; phase.len()], context.ring().modulus());
    assert!(error <= zero.noise.bound(context.ring().expansion()).bits());
    let mut random = |parts: usize, level: usize| {
        let ring = context.ring_at(level).unwrap();
        let parts = (0..parts).map(|_| ring.uniform(&mut rng)).collect();
        Ciphertext::<Bare>::from_parts(parts, (), NoiseBound::none(), keys.public.id()).unwrap()
    };
    for (exponent, level) in [(3, 4), (3, 1), (255, 2)] {
        let before = random(2, level);
        let after = galois::automorphism(context, &before, exponent, &keys.galois).unwrap();
        let ring = context.ring_at(level).unwrap();
        let clear = ring.from_integers(&joint_phase(context, secrets, before.parts())).unwrap();
        let clear = ring.to_integers(&ring.automorphism(&clear, exponent).unwrap()).unwrap();
        let error = distance(&clear, &joint_phase(context, secrets, after.parts()), ring.modulus());
        let noise = galois::added_noise_at(context, level).unwrap();
        assert!(error <= NoiseBound::none().plus(noise).bound(ring.expansion()).bits());
        assert!(error >= noise.deviation.bits() - 1.5);
    }
    for level in [key_level, 1] {
        let before = random(3, level);
        let key = keys.relinearization.as_ref().unwrap();
        let after = relinearization::relinearize(context, &before, key).unwrap();
        let ring = context.ring_at(level).unwrap();
        let [before, after] = [&before, &after].map(|c| joint_phase(context, secrets, c.parts()));
        let error = distance(&before, &after, ring.modulus());
        let noise = relinearization::added_noise_at(context, level).unwrap();
        assert!(error <= NoiseBound::none().plus(noise).bound(ring.expansion()).bits());
        assert!(error >= noise.deviation.bits() - 2.5);
    }
}

#[test]
fn sessions_without_a_relinearization_key_leave_its_round_out() {
    let setup = setup_with(context(3, &gadgets()[0]), 3, None, 1);
    let (keys, messages) = run_with(&setup, &stores(3), 1);
    assert!(keys.iter().all(|keys| keys.relinearization.is_none()));
    assert_eq!(messages.len(), 5);
    let bare = KeyPlan::new(setup.context(), None, []).unwrap();
    let bare = KeySetup::new(setup.context().clone(), roster(3), bare, [1; 32]).unwrap();
    let (keys, messages) = run_with(&bare, &stores(3), 1);
    assert_eq!(keys[0].galois.exponents().count(), 0);
    assert!(messages[3][0].len() < 20_000);
}

#[test]
fn every_round_has_a_kind_of_messages_of_its_own() {
    let (_, messages) = run_with(&setup(2, 1), &stores(2), 1);
    let kind = |message: &[u8]| Kind::of(Reader::new(message).unwrap().header().kind).unwrap();
    let kinds: Vec<Kind> = messages.iter().map(|round| kind(&round[0])).collect();
    let expected = [
        Kind::ReferenceCommitment,
        Kind::ReferenceContribution,
        Kind::KeyCommitment,
        Kind::KeyShares,
        Kind::SecondShares,
        Kind::KeyConfirmation,
    ];
    assert_eq!(kinds, expected);
}

#[test]
fn sessions_of_other_terms_have_other_names_and_references() {
    let base = setup(3, 1);
    let other = context(3, &gadgets()[1]);
    let names = ["Ada", "Cy", "Bo"];
    let plan = |galois| KeyPlan::new(base.context(), Some(4), galois).unwrap();
    let with = |context: &RlweContext, roster: Roster, plan: KeyPlan, nonce| {
        KeySetup::new(context.clone(), roster, plan, [nonce; 32]).unwrap()
    };
    let threshold = roster(3).with_threshold(2).unwrap();
    let others = [
        with(base.context(), roster(3), base.plan().clone(), 2),
        with(base.context(), Roster::new(names).unwrap(), base.plan().clone(), 1),
        with(base.context(), threshold, base.plan().clone(), 1),
        with(base.context(), roster(3), plan([(3, 4)]), 1),
        with(base.context(), roster(3), KeyPlan::new(base.context(), None, base.plan().galois()).unwrap(), 1),
        with(&other, roster(3), base.plan().clone(), 1),
    ];
    for (at, setup) in others.iter().enumerate() {
        assert_ne!(setup.session().id(), base.session().id(), "{at}");
    }
    assert_eq!(setup(3, 1).session(), base.session());
    // The same session begun twice by parties without records is another reference, and another joint secret.
    assert_ne!(run(&base, 1)[0].public.id(), run(&base, 2)[0].public.id());
}

#[test]
fn settings_that_cannot_be_are_refused_by_name() {
    let refused = |error: Option<PartiesError>, words: &str| {
        let text = error.unwrap().to_string();
        assert!(text.contains(words), "{text}");
    };
    refused(Roster::new(["Ada"]).err(), "the number of parties: expected 2 to 1024, got 1");
    refused(Roster::new(["Ada", "Ada"]).err(), "names of parties: expected different ones, got Ada");
    refused(Roster::new((0..1025).map(|i| format!("{i}"))).err(), "at most 1024");
    for name in ["", " Ada", "A\nB", &"A".repeat(65)] {
        refused(Roster::new([name, "Bo"]).err(), "the name of a party");
    }
    for threshold in [0, 1, 4] {
        refused(roster(3).with_threshold(threshold).err(), "the number of parties that decrypt");
    }
    refused(roster(3).named("Zoe").err(), "expected Ada, Bo, Cy, got Zoe");
    refused(roster(3).party(4).err(), "the number of a party: expected 1 to 3, got 4");
    let two = context(2, &gadgets()[0]);
    refused(KeyPlan::new(&two, Some(5), []).err(), "the level of a key: expected 1..=4, got 5");
    refused(KeyPlan::new(&two, None, [(3, 0)]).err(), "the level of a key");
    for exponent in [2, 256, 257, u64::MAX] {
        refused(KeyPlan::new(&two, None, [(exponent, 1)]).err(), "the exponent of a Galois key");
    }
    let plan = KeyPlan::new(&two, None, []).unwrap();
    refused(KeySetup::new(two, roster(3), plan, [0; 32]).err(), "the parties of the parameters");
}
