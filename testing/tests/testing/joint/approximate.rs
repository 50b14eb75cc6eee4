//! CKKS under keys of several parties.

use chacha20::ChaCha20Rng;
use rand::RngExt;
use rand_core::SeedableRng;
use sunzi_ckks::{AdditiveShare, Complex64, SharedMessage, SharedRest};
use sunzi_rlwe::joint::{
    AdditiveSecret, DecryptionShare, EncryptionShare, JointContext as _, Quorum, RefreshShare,
};
use sunzi_rlwe::{DeclaredNoise, Rotation, SecretKey};
use sunzi_testing::JointKeys;

use super::thresholds::Thresholds;
use super::{LOG_N, SECURITY, policy};

/// A context of CKKS with the keys of several parties.
pub(super) struct Approximate {
    context: sunzi_ckks::Context,
    keys: JointKeys,
    encoder: sunzi_ckks::Encoder,
    thresholds: Option<Thresholds>,
}

impl Approximate {
    const SLOTS: usize = 1 << (LOG_N - 1);

    pub(super) fn new(parties: u32) -> Self {
        let parameters = sunzi_ckks::Parameters::builder()
            .parties(parties)
            .depth(2)
            .precision(10)
            .log2_degree(LOG_N)
            .sharing(policy())
            .security(SECURITY)
            .build()
            .unwrap();
        let context = sunzi_ckks::Context::new(&parameters).unwrap();
        let rotations = [Rotation::Rows(1), Rotation::Columns];
        let keys = JointKeys::new(context.rlwe(), parties.into(), &rotations).unwrap();
        let encoder = sunzi_ckks::Encoder::new(&context, Self::SLOTS).unwrap();
        let rng = &mut ChaCha20Rng::seed_from_u64(u64::from(parties) << 32);
        let thresholds = Thresholds::of(context.rlwe(), &keys.secrets, rng);
        Self { context, keys, encoder, thresholds }
    }

    /// Runs a random circuit of two levels, and compares every value with the clear one: by the sum of the secrets, and the last one by shares.
    pub(super) fn circuit(&self, seed: u64) -> usize {
        let Self { context, keys, encoder, .. } = self;
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let evaluator = sunzi_ckks::Evaluator::new(context);
        let relinearization = keys.keys.relinearization.as_ref().unwrap();
        let galois = keys.keys.galois.as_ref().unwrap();
        let point = |rng: &mut ChaCha20Rng| {
            Complex64::from_polar(rng.random_range(0.0..1.0), rng.random_range(0.0..6.3))
        };
        let mut clear: Vec<Complex64> = (0..Self::SLOTS).map(|_| point(&mut rng)).collect();
        let mut value = context.encrypt(&encoder.encode(&clear).unwrap(), &keys.public, &mut rng).unwrap();
        let mut checked = 0;
        for _ in 0..6 {
            let next = match rng.random_range(0..5) {
                0 => evaluator
                    .multiply(&value, &value, relinearization)
                    .map(|v| (v, clear.iter().map(|c| c * c).collect())),
                1 => evaluator.rotate(&value, 1, galois).map(|v| {
                    let mut turned = clear.clone();
                    turned.rotate_left(1);
                    (v, turned)
                }),
                2 => {
                    evaluator.conjugate(&value, galois).map(|v| (v, clear.iter().map(|c| c.conj()).collect()))
                }
                3 => evaluator.negate(&value).map(|v| (v, clear.iter().map(|c| -c).collect())),
                _ => evaluator.add(&value, &value).map(|v| (v, clear.iter().map(|c| 2.0 * c).collect())),
            };
            // At the lowest level there are no more products.
            let Ok((next, expected)) = next else { continue };
            (value, clear) = (next, expected);
            let message = encoder.encode_at(&clear, value.metadata().level, value.metadata().scale).unwrap();
            let measured = context.measure_noise(&value, &message, &keys.secret).unwrap();
            let bound = value.noise().bound(context.ring().expansion()).bits();
            assert!(measured <= bound, "seed {seed}: noise {measured} above {bound}");
            checked += 1;
        }
        self.by_shares((&value, &clear), seed, &mut rng);
        checked
    }

    /// Opens a ciphertext by the shares of all parties, and of a quorum.
    fn by_shares(
        &self,
        (value, clear): (&sunzi_ckks::Ciphertext, &[Complex64]),
        seed: u64,
        rng: &mut ChaCha20Rng,
    ) {
        let Self { context, keys, encoder, thresholds } = self;
        let noise = DeclaredNoise::of_own_run(value.noise(), context.ring().expansion());
        let decryption = context.joint_decryption(value, noise, policy()).unwrap();
        let check = |quorum: Option<&Quorum>, shares: &[DecryptionShare]| {
            let opened = context.open_shares(value, noise, policy(), quorum, shares).unwrap();
            let error = opened.precision().deviation() * 14.0;
            for (found, clear) in encoder.decode(&opened).unwrap().iter().zip(clear) {
                assert!((found - clear).norm() <= error, "{found} for {clear}, ± {error}");
            }
            assert!(context.open_shares(value, noise, policy(), quorum, &shares[1..]).is_err());
        };
        check(None, &keys.shares(context.rlwe(), &decryption, rng).unwrap());
        if let Some(thresholds) = thresholds {
            let quorum = thresholds.quorum(seed);
            check(Some(&quorum), &thresholds.shares(context.rlwe(), &decryption, &quorum, rng));
        }
    }
}

/// A refresh brings a CKKS ciphertext of the lowest level to the highest one, with the error that it had and that of an encryption.
#[test]
fn parties_of_ckks_refresh() {
    let run = Approximate::new(3);
    let Approximate { context, keys, encoder, .. } = &run;
    let mut rng = ChaCha20Rng::seed_from_u64(5);
    let clear: Vec<Complex64> =
        (0..Approximate::SLOTS).map(|i| Complex64::from_polar(0.9, i as f64)).collect();
    let message =
        encoder.encode_at(&clear, context.depth(), context.scale(context.depth()).unwrap()).unwrap();
    let high = context.encrypt(&message, &keys.public, &mut rng).unwrap();
    for level in 0..context.depth() {
        let value = sunzi_ckks::Evaluator::new(context).drop_to(&high, level).unwrap();
        let noise = DeclaredNoise::of_own_run(value.noise(), context.ring().expansion());
        let make = |secret: &SecretKey, rng: &mut ChaCha20Rng| {
            context.refresh_share(&value, noise, policy(), secret, &[level as u8; 32], rng)
        };
        let Ok(first) = make(&keys.secrets[0], &mut rng) else {
            assert_eq!(level, 0, "only the lowest level may have no room for masks");
            continue;
        };
        let rest = keys.secrets[1..].iter().map(|secret| make(secret, &mut rng).unwrap());
        let shares: Vec<RefreshShare> = std::iter::once(first).chain(rest).collect();
        let fresh = context.refresh(&value, noise, policy(), None, &[level as u8; 32], &shares).unwrap();
        assert_eq!(fresh.metadata().level, context.depth());
        let opened = encoder.decode(&context.decrypt(&fresh, &keys.secret).unwrap()).unwrap();
        let bound = fresh.metadata().precision.deviation() * 14.0;
        let worst = opened.iter().zip(&clear).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
        assert!(worst <= bound && bound < 1e-2, "{worst} of {bound}");
        assert!(context.refresh(&value, noise, policy(), None, &[level as u8; 32], &shares[1..]).is_err());
    }
}

/// A flooded refresh begins anew with the noise of a CKKS ciphertext, and leaves flooding noise in the message that is as wide as its precision says.
#[test]
fn flooded_refreshes_hide_the_noise_of_before() {
    let run = Approximate::new(3);
    let Approximate { context, keys, encoder, .. } = &run;
    let mut rng = ChaCha20Rng::seed_from_u64(6);
    let clear: Vec<Complex64> =
        (0..Approximate::SLOTS).map(|i| Complex64::from_polar(0.9, i as f64)).collect();
    let high = context.encrypt(&encoder.encode(&clear).unwrap(), &keys.public, &mut rng).unwrap();
    let relinearization = keys.keys.relinearization.as_ref().unwrap();
    let value = sunzi_ckks::Evaluator::new(context).square(&high, relinearization).unwrap();
    let clear: Vec<Complex64> = clear.iter().map(|slot| slot * slot).collect();
    let bound = |value: &sunzi_ckks::Ciphertext| value.noise().bound(context.ring().expansion()).bits();
    let noise = DeclaredNoise::of_own_run(value.noise(), context.ring().expansion());
    let share = |noise: DeclaredNoise, secret: &SecretKey, rng: &mut ChaCha20Rng| {
        context.flooded_refresh_share(&value, noise, policy(), secret, &[7; 32], rng)
    };
    let shares: Vec<RefreshShare> =
        keys.secrets.iter().map(|secret| share(noise, secret, &mut rng).unwrap()).collect();
    let refresh =
        |shares: &[RefreshShare]| context.flooded_refresh(&value, noise, policy(), None, &[7; 32], shares);
    let fresh = refresh(&shares).unwrap();
    assert_eq!(fresh.metadata().level, context.depth());
    assert!(bound(&fresh) < bound(&value), "{} of {}", bound(&fresh), bound(&value));
    let opened = encoder.decode(&context.decrypt(&fresh, &keys.secret).unwrap()).unwrap();
    let squares: f64 = opened.iter().zip(&clear).map(|(a, b)| (a - b).norm_sqr()).sum();
    let (found, told) = ((squares / clear.len() as f64).sqrt(), fresh.metadata().precision.deviation());
    // A cell of flooding noise is uniform, so that it is a little narrower than told.
    assert!((0.5 * told..1.1 * told).contains(&found), "{found} for {told}");
    let other = DeclaredNoise::from_bits(noise.bits() - 1.0);
    assert!(share(other, &keys.secrets[0], &mut rng).is_err(), "less noise than the ciphertext has");
    assert!(refresh(&shares[1..]).is_err());
    // Noise decides the level at which a refresh opens the ciphertext, and whether there is one.
    let level_for = |bits: f64| {
        let declared = DeclaredNoise::from_bits(noise.bits() + bits);
        context.flooded_refresh_level(&value, declared, policy())
    };
    assert!(level_for(0.0).unwrap() <= value.metadata().level);
    assert!(level_for(0.0).unwrap() <= level_for(8.0).unwrap_or(context.depth()));
    let error = level_for(4000.0).unwrap_err().to_string();
    assert!(error.contains("2^4"), "{error}");
}

/// Three parties of CKKS with a ciphertext of slots on a circle, and what opens it.
struct Circle {
    run: Approximate,
    value: sunzi_ckks::Ciphertext,
    clear: Vec<Complex64>,
    phase: Vec<i128>,
}

impl Circle {
    fn new(rng: &mut ChaCha20Rng) -> Self {
        let run = Approximate::new(3);
        let Approximate { context, keys, encoder, .. } = &run;
        let clear: Vec<Complex64> =
            (0..Approximate::SLOTS).map(|i| Complex64::from_polar(0.9, i as f64)).collect();
        let value = context.encrypt(&encoder.encode(&clear).unwrap(), &keys.public, rng).unwrap();
        let phase = coefficients(context, &context.decrypt(&value, &keys.secret).unwrap());
        Self { run, value, clear, phase }
    }

    fn noise(&self) -> DeclaredNoise {
        DeclaredNoise::of_own_run(self.value.noise(), self.run.context.ring().expansion())
    }

    /// Makes additive shares under the secrets of those who act, and opens what is left.
    fn shared(
        &self,
        quorum: Option<&Quorum>,
        secrets: &[&impl AdditiveSecret],
        rng: &mut ChaCha20Rng,
    ) -> (SharedRest, Vec<AdditiveShare>) {
        let (context, value, noise) = (&self.run.context, &self.value, self.noise());
        let make = |secret: &&_| context.additive_share(value, noise, policy(), *secret, rng).unwrap();
        let (openings, own): (Vec<_>, Vec<_>) = secrets.iter().map(make).unzip();
        assert!(context.open_rest(value, noise, policy(), quorum, &openings[1..]).is_err());
        (context.open_rest(value, noise, policy(), quorum, &openings).unwrap(), own)
    }

    /// Fails unless shares and rest add up to the scaled message and its noise, modulo a power of two.
    fn adds_up(&self, rest: &SharedRest, own: &[AdditiveShare], bits: u32) {
        let mut sum = rest.modulo(&self.run.context, bits).unwrap().to_vec();
        for share in own {
            let share = AdditiveShare::from_bytes(&share.to_bytes()).unwrap().modulo(bits).unwrap();
            assert_ne!(share[..], sum[..]);
            sum.iter_mut().zip(&*share).for_each(|(sum, own)| *sum = sum.wrapping_add(*own));
        }
        let centred = |word: u128| (word << (128 - bits)) as i128 >> (128 - bits);
        assert!(sum.into_iter().map(centred).eq(self.phase.iter().copied()), "{bits} bits");
    }

    /// Makes the parties' shares of an encryption of what they have.
    fn sealed(&self, own: &[AdditiveShare], seed: &[u8; 32], rng: &mut ChaCha20Rng) -> Vec<EncryptionShare> {
        let Approximate { context, keys, .. } = &self.run;
        let pairs = keys.secrets.iter().zip(own);
        pairs.map(|(secret, share)| context.encryption_share(share, secret, seed, rng).unwrap()).collect()
    }

    /// Fails unless a ciphertext of the highest level has these slots within its precision.
    fn check(&self, sealed: &sunzi_ckks::Ciphertext, clear: &[Complex64]) {
        let Approximate { context, keys, encoder, .. } = &self.run;
        assert_eq!(sealed.metadata().level, context.depth());
        let opened = encoder.decode(&context.decrypt(sealed, &keys.secret).unwrap()).unwrap();
        let worst = opened.iter().zip(clear).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
        let bound = sealed.metadata().precision.deviation() * 14.0;
        assert!(worst <= bound && bound < 1e-2, "{worst} of {bound}");
    }
}

/// Additive shares of CKKS add up to the scaled message modulo powers of two, hide it each, and are encrypted again.
#[test]
fn parties_of_ckks_turn_messages_into_additive_shares_and_back() {
    let mut rng = ChaCha20Rng::seed_from_u64(8);
    let circle = Circle::new(&mut rng);
    let Approximate { context, keys, thresholds, .. } = &circle.run;
    let (rest, own) = circle.shared(None, &keys.secrets.iter().collect::<Vec<_>>(), &mut rng);
    [64, 100, 128].into_iter().for_each(|bits| circle.adds_up(&rest, &own, bits));

    let (message, seed) = (SharedMessage::of(&circle.value), [1; 32]);
    let sealed = circle.sealed(&own, &seed, &mut rng);
    let combine = |shares: &[EncryptionShare]| {
        context.encrypt_by_shares(circle.value.key(), &message, Some(&rest), (None, &seed), shares)
    };
    circle.check(&combine(&sealed).unwrap(), &circle.clear);
    assert!(combine(&sealed[1..]).is_err());

    // Two of three share for all.
    let thresholds = thresholds.as_ref().unwrap();
    let quorum = thresholds.quorum(1);
    let secrets = thresholds.secrets(context.rlwe(), &quorum);
    let (rest, own) = circle.shared(Some(&quorum), &secrets.iter().collect::<Vec<_>>(), &mut rng);
    circle.adds_up(&rest, &own, 128);
}

/// Integers that were computed on shares elsewhere, three times a message in all, are encrypted by shares.
#[test]
fn parties_of_ckks_encrypt_what_shares_became() {
    let mut rng = ChaCha20Rng::seed_from_u64(9);
    let circle = Circle::new(&mut rng);
    let mut draw =
        || -> Vec<i128> { circle.phase.iter().map(|_| i128::from(rng.random::<i64>()) << 40).collect() };
    let (first, second) = (draw(), draw());
    let pairs = circle.phase.iter().zip(first.iter().zip(&second));
    let last: Vec<i128> = pairs.map(|(x, (a, b))| 3 * x - a - b).collect();
    let own = [first, second, last].map(|own| AdditiveShare::from_integers(&own).unwrap());
    let sealed = circle.sealed(&own, &[2; 32], &mut rng);
    let clear: Vec<Complex64> = circle.clear.iter().map(|slot| slot * 3.0).collect();
    let metadata = circle.value.metadata();
    let precision = metadata.precision.with_magnitude(3.0).with_deviation(1e-4);
    let message = SharedMessage::exact(sunzi_ckks::Metadata { precision, ..metadata.clone() });
    let (context, key) = (&circle.run.context, circle.value.key());
    let result = context.encrypt_by_shares(key, &message, None, (None, &[2; 32]), &sealed).unwrap();
    circle.check(&result, &clear);
}

/// The coefficients of a plaintext as integers.
fn coefficients(context: &sunzi_ckks::Context, message: &sunzi_ckks::Plaintext) -> Vec<i128> {
    let ring = context.ring_at(message.level()).unwrap();
    let values = ring.to_coefficient(message.poly().clone()).unwrap();
    ring.to_integers(&values).unwrap().iter().map(|x| x.try_into().unwrap()).collect()
}
