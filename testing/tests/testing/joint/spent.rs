//! What three parties do with a ciphertext whose noise and levels are spent: two of them open it, it is refreshed, shared and handed on.

use chacha20::ChaCha20Rng;
use rand::RngExt;
use rand_core::SeedableRng;
use sunzi_circuits::Arithmetic as _;
use sunzi_encoding::{Encoder as _, Plaintext};
use sunzi_rlwe::joint::{
    KeySwitchShare, MaskedTransform, PublicKeySwitchShare, Reference, RefreshShare, joint_secret,
};
use sunzi_rlwe::sharing::Flooding;
use sunzi_rlwe::{PublicKey, SecretKey};
use sunzi_testing::scheme::Encrypted;
use sunzi_testing::{Party, joint_party};

use super::thresholds::Thresholds;
use super::{Joint, LOG_N, T, bfv, bgv, policy};

/// Three parties with a square whose noise and levels are spent, and its slots.
struct Spent<S: Joint> {
    party: Party<S>,
    secrets: Vec<SecretKey>,
    value: Encrypted<S>,
    slots: Vec<u64>,
    rng: ChaCha20Rng,
}

impl<S: Joint> Spent<S> {
    fn new(context: S) -> Self {
        let (party, secrets) = joint_party(context, 11, &[1]).unwrap();
        let slots: Vec<u64> = (0..1 << LOG_N).map(|i| i * i % T).collect();
        let fresh = party.encrypt(&slots, 3).unwrap();
        let value = party.evaluator.square(&fresh, &party.keys).unwrap();
        let slots = slots.iter().map(|x| x * x % T).collect();
        Self { party, secrets, value, slots, rng: ChaCha20Rng::seed_from_u64(11) }
    }

    /// Fails unless the ciphertext opens to the slots under a key, with noise below its bound.
    fn check(&self, value: &Encrypted<S>, key: &SecretKey) {
        let context = &self.party.context;
        let opened = context.decrypt(value, key).unwrap();
        assert_eq!(self.party.encoder.decode(&opened).unwrap(), self.slots);
        let message = self.party.encode(&self.slots).unwrap();
        let measured = context.measure_noise(value, &message, key).unwrap();
        assert!(measured <= value.noise().bound(context.rlwe().ring().expansion()).bits());
    }

    fn any_two_of_three_open(&mut self) {
        let Self { party, secrets, value, slots, rng } = self;
        let (context, rlwe) = (&party.context, party.context.rlwe());
        let thresholds = Thresholds::of(rlwe, secrets, rng).unwrap();
        let decryption = context.decryption(value).unwrap();
        for start in 0..3 {
            let quorum = thresholds.quorum(start);
            let made = thresholds.shares(rlwe, &decryption, &quorum, rng);
            let opened = context.open(value, Some(&quorum), &made).unwrap();
            assert_eq!(&party.encoder.decode(&opened).unwrap(), slots);
            assert!(context.open(value, Some(&quorum), &made[1..]).is_err());
        }
    }

    /// A refresh leaves the noise of an encryption.
    fn refreshes(&mut self) {
        let Self { party, secrets, value, rng, .. } = self;
        let context = &party.context;
        let shares: Vec<_> = secrets.iter().map(|secret| context.refreshing(value, secret, 7, rng)).collect();
        assert!(context.refreshed(value, 7, &shares[..2]).is_err());
        let refreshed = context.refreshed(value, 7, &shares).unwrap();
        assert!(context.left(&refreshed) >= context.left(value) + 1.0);
        self.check(&refreshed, &self.party.secret);
    }

    /// A masked transform gives a fresh ciphertext of what a linear map makes of the message; a map that one party does not take is told by nobody.
    fn is_transformed(&mut self) {
        let Self { party, secrets, value, slots, rng } = self;
        let context = &party.context;
        // Neighbours in the opposite order: slot i becomes 3·x_(n-1-i) + x_(n-2-i).
        let mapped = |slots: &[u64]| -> Vec<u64> {
            let next = slots.iter().rev().cycle().skip(1);
            slots.iter().rev().zip(next).map(|(x, y)| (3 * x + y) % T).collect()
        };
        let map = |message: Plaintext| party.encoder.encode(&mapped(&party.encoder.decode(&message)?));
        let transform = MaskedTransform::new(&[8; 32], &map);
        let (declared, policy) = (context.declared(value), policy());
        let mut made = |secret, transform: &MaskedTransform<'_>| {
            context.transform_share(value, declared, policy, secret, transform, rng).unwrap()
        };
        let mut shares: Vec<_> = secrets.iter().map(|secret| made(secret, &transform)).collect();
        let combine =
            |shares: &[RefreshShare]| context.transform(value, declared, policy, None, &transform, shares);
        let expected = mapped(slots);
        let result = combine(&shares).unwrap();
        assert_eq!(party.decrypt(&result).unwrap(), expected);
        assert!(context.left(&result) >= context.left(value) + 1.0);
        let noise = context.measure_noise(&result, &party.encode(&expected).unwrap(), &party.secret).unwrap();
        assert!(noise <= result.noise().bound(context.rlwe().ring().expansion()).bits());
        assert!(combine(&shares[..2]).is_err());
        shares[0] = made(&secrets[0], &MaskedTransform::new(&[8; 32], &|message| Ok(message)));
        assert_ne!(party.decrypt(&combine(&shares).unwrap()).unwrap(), expected);
    }

    /// Additive shares modulo t are what is opened and all masks, and they become a ciphertext again.
    fn turns_into_additive_shares_and_back(&mut self) {
        let Self { party, secrets, value, slots, rng } = self;
        let context = &party.context;
        let random = |_: &SecretKey| (0..1 << LOG_N).map(|_| rng.random_range(0..T)).collect();
        let masks: Vec<Vec<u64>> = secrets.iter().map(random).collect();
        let masks: Vec<_> = masks.into_iter().map(|mask| Plaintext::new(mask, T).unwrap()).collect();
        let pairs = || secrets.iter().zip(&masks);
        let made: Vec<_> = pairs().map(|(secret, mask)| context.masked(value, secret, mask, rng)).collect();
        let opened = context.open(value, None, &made).unwrap();
        assert_ne!(&party.encoder.decode(&opened).unwrap(), slots);
        let mut sum = opened.coefficients().to_vec();
        for mask in &masks {
            sum.iter_mut().zip(mask.coefficients()).for_each(|(sum, m)| *sum = (*sum + m) % T);
        }
        assert_eq!(&party.encoder.decode(&Plaintext::new(sum, T).unwrap()).unwrap(), slots);
        let made: Vec<_> = pairs().map(|(secret, mask)| context.sealed(mask, secret, 8, rng)).collect();
        let masked = context.encrypted(party.secret.id(), 8, &made);
        let again = party.evaluator.add_plain(&masked, &opened).unwrap();
        self.check(&again, &self.party.secret);
    }

    /// A ciphertext is handed to the holder of a public key, and to another joint secret of the same parties.
    fn is_handed_on(&mut self) {
        let Self { party, secrets, value, rng, .. } = self;
        let (context, rlwe) = (&party.context, party.context.rlwe());
        let flooding = Flooding::new(policy(), context.declared(value), 1 << LOG_N).unwrap();
        let linear = value.parts()[1].clone();
        let receiver = SecretKey::generate_share(rlwe, rng).unwrap();
        let target = PublicKey::generate(rlwe, &receiver, rng).unwrap();
        let share =
            |secret| PublicKeySwitchShare::new(rlwe, &linear, secret, &target, &flooding, rng).unwrap();
        let made: Vec<_> = secrets.iter().map(share).collect();
        let combine = |shares: &[PublicKeySwitchShare]| {
            PublicKeySwitchShare::combine::<S::Own>(context, value, target.id(), &flooding, None, shares)
        };
        assert!(combine(&made[1..]).is_err());
        let to_receiver = combine(&made).unwrap();

        let reference = Reference::new([99; 32]);
        let others: Vec<_> = secrets.iter().map(|_| SecretKey::generate_share(rlwe, rng).unwrap()).collect();
        let pairs = secrets.iter().zip(&others);
        let share = |(from, to)| KeySwitchShare::new(rlwe, &linear, from, to, &flooding, rng).unwrap();
        let made: Vec<_> = pairs.map(share).collect();
        let combine = |shares: &[KeySwitchShare]| {
            KeySwitchShare::combine::<S::Own>(context, value, reference.key_id(), &flooding, None, shares)
        };
        assert!(combine(&made[1..]).is_err());
        let to_others = combine(&made).unwrap();
        let joint = joint_secret(rlwe, &reference, &others).unwrap();
        assert!(self.party.context.decrypt(&to_receiver, &self.party.secret).is_err());
        self.check(&to_receiver, &receiver);
        self.check(&to_others, &joint);
    }

    fn all(context: S) {
        let mut spent = Self::new(context);
        spent.any_two_of_three_open();
        spent.refreshes();
        spent.is_transformed();
        spent.turns_into_additive_shares_and_back();
        spent.is_handed_on();
    }
}

#[test]
fn parties_of_bfv_refresh_share_and_hand_on() {
    Spent::all(bfv(3));
}

#[test]
fn parties_of_bgv_refresh_share_and_hand_on() {
    Spent::all(bgv(3));
}
