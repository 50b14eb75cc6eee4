//! Tests of key switches at every level, by keys of that level and of higher levels, within the stated noise.

#[cfg(test)]
use crate::storage::stored;
use chacha20::ChaCha20Rng;
use num_bigint::BigInt;
use num_traits::{Signed, ToPrimitive};
use rand_core::SeedableRng;
use sunzi_big::{BigRing, MultiPrecision};
use sunzi_math::primes_with_bits;
use sunzi_ring::{Addends, Coefficient, Evaluation, GadgetOptions, Poly, Ring, Storage, SwitchInput};
use sunzi_rlwe::encryption::phase;
use sunzi_rlwe::{
    Ciphertext, GaloisKeys, NoiseBound, NoiseTerm, RelinearizationKey, RlweContext, RlweError, SecretKey,
    Security, galois, relinearization,
};

use crate::common::Bare;

const RESEARCH: Security = Security::InsecureForResearchOnly;
const DEGREE: usize = 128;
const INDEX: u64 = 256;

fn ring(bits: u32, count: usize) -> Ring {
    Ring::new(INDEX, &primes_with_bits(bits, INDEX, count).unwrap()).unwrap()
}

fn big(ring: &Ring) -> Ring {
    let moduli: Vec<_> = ring.words().unwrap().basis().values().iter().map(|&q| q.into()).collect();
    stored(BigRing::with_chain(INDEX, &moduli).unwrap(), Storage::Big)
}

/// Gadget options with digits over special moduli that are not among the moduli of the rings of these tests.
fn options(digits: Option<usize>, special: usize) -> GadgetOptions {
    let special_moduli = primes_with_bits(47, INDEX, special).unwrap();
    GadgetOptions { digits: digits.filter(|_| special > 0), special_moduli, ..GadgetOptions::default() }
}

fn methods(k: usize) -> Vec<GadgetOptions> {
    let hybrid =
        [(Some(1), k + 1), (Some(k.min(2)), k.div_ceil(2) + 1), (Some(k), 2), (Some(k), 1), (None, 2)];
    let mut all: Vec<_> = hybrid.map(|(digits, special)| options(digits, special)).into();
    all.push(GadgetOptions::default());
    all.push(GadgetOptions { radix_bits: Some(20), ..GadgetOptions::default() });
    all
}

struct Party {
    context: RlweContext,
    secret: SecretKey,
    rng: ChaCha20Rng,
}

impl Party {
    fn new(ring: &Ring, options: &GadgetOptions) -> Self {
        let context = RlweContext::with_gadget(ring.clone(), RESEARCH, options).unwrap();
        let mut rng = ChaCha20Rng::seed_from_u64(7);
        let secret = SecretKey::generate(&context, &mut rng).unwrap();
        Self { context, secret, rng }
    }

    fn random(&mut self, parts: usize, level: usize) -> Ciphertext<Bare> {
        let ring = self.context.ring_at(level).unwrap();
        let parts = (0..parts).map(|_| ring.uniform(&mut self.rng)).collect();
        self.wrap(parts)
    }

    fn wrap(&self, parts: Vec<Poly<Evaluation>>) -> Ciphertext<Bare> {
        Ciphertext::from_parts(parts, (), NoiseBound::none(), self.secret.id()).unwrap()
    }

    /// Ciphertexts whose parts have equal coefficients, at and next to the ends of the range modulo Q.
    fn extremes(&self, parts: usize, level: usize) -> Vec<Ciphertext<Bare>> {
        let ring = self.context.ring_at(level).unwrap();
        let q = BigInt::from(ring.modulus().clone());
        let half: BigInt = &q >> 1_u32;
        let lists: [fn(&BigInt, &BigInt, usize) -> BigInt; 5] = [
            |_, _, _| BigInt::from(0),
            |q, _, _| q - 1_u32,
            |_, half, _| half.clone(),
            |_, half, i| if i % 2 == 0 { half.clone() } else { half + 1_u32 },
            |q, half, i| if i % 3 == 0 { q - 1_u32 } else { half / (i + 1) },
        ];
        let part = |f: &fn(&BigInt, &BigInt, usize) -> BigInt| {
            let coefficients: Vec<BigInt> = (0..DEGREE).map(|i| f(&q, &half, i)).collect();
            ring.to_evaluation(ring.from_integers(&coefficients).unwrap()).unwrap()
        };
        lists.iter().map(|f| self.wrap((0..parts).map(|_| part(f)).collect())).collect()
    }

    fn phase(&self, a: &Ciphertext<Bare>) -> Poly<Coefficient> {
        (*phase(&self.context, a.parts(), &self.secret).unwrap()).clone()
    }

    /// Returns log2 of the largest coefficient of the difference of two phases at a level.
    fn distance(&self, level: usize, a: &Poly<Coefficient>, b: &Poly<Coefficient>) -> f64 {
        let ring = self.context.ring_at(level).unwrap();
        let mut difference = a.clone();
        ring.sub_assign(&mut difference, b).unwrap();
        largest(&ring.to_integers(&difference).unwrap())
    }
}

fn largest(a: &[BigInt]) -> f64 {
    a.iter().map(BigInt::abs).max().unwrap().to_f64().unwrap().log2()
}

/// Checks that the largest noise of random ciphertexts is near the tail bound and below it, and that constructed noise
/// stays below the worst case. Noise of more bits than the modulus shows nothing.
fn judge(name: &str, log2_modulus: f64, noise: NoiseTerm, random: &[f64], constructed: &[f64]) {
    let bound = NoiseBound::none().plus(noise).bound(DEGREE).bits();
    let largest = |list: &[f64]| list.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    assert!(largest(random) <= bound, "{name}: {} above {bound}", largest(random));
    let visible = bound < log2_modulus - 1.0;
    assert!(!visible || largest(random) >= bound - 3.2, "{name}: {} far below {bound}", largest(random));
    assert!(largest(constructed) <= noise.worst.bits(), "{name}: {}", largest(constructed));
}

fn law(ring: &Ring, options: &GadgetOptions) {
    let mut party = Party::new(ring, options);
    let (k, exponent) = (ring.level(), 5);
    let context = party.context.clone();
    for key_level in [k, k.div_ceil(2)] {
        let (secret, rng) = (&party.secret, &mut party.rng);
        let key = RelinearizationKey::generate_at_level(&context, secret, key_level, rng).unwrap();
        let turns = GaloisKeys::generate_at_level(&context, secret, [exponent], key_level, rng).unwrap();
        assert_eq!(key.key().level(), key_level);
        for level in (1..=key_level).filter(|&level| ring.is_nested(level, key_level)) {
            let name = format!("{options}, key of level {key_level}, level {level} of {k}");
            let at = context.ring_at(level).unwrap();
            let log2_modulus = context.log2_modulus_at(level).unwrap();
            let relinearized = |party: &Party, before: &Ciphertext<Bare>| {
                let after = relinearization::relinearize(&context, before, &key).unwrap();
                assert_eq!(context.ring().level_of(&after.parts()[0]).unwrap(), level);
                party.distance(level, &party.phase(before), &party.phase(&after))
            };
            let random: Vec<_> = (0..3).map(|_| party.random(3, level)).collect();
            let random: Vec<f64> = random.iter().map(|a| relinearized(&party, a)).collect();
            let constructed: Vec<f64> =
                party.extremes(3, level).iter().map(|a| relinearized(&party, a)).collect();
            let noise = relinearization::added_noise_at(&context, level).unwrap();
            judge(&format!("relinearised, {name}"), log2_modulus, noise, &random, &constructed);

            let turned = |party: &Party, before: &Ciphertext<Bare>| {
                let after = galois::automorphism(&context, before, exponent, &turns).unwrap();
                let clear = at.automorphism(&party.phase(before), exponent).unwrap();
                party.distance(level, &clear, &party.phase(&after))
            };
            let random: Vec<_> = (0..3).map(|_| party.random(2, level)).collect();
            let random: Vec<f64> = random.iter().map(|a| turned(&party, a)).collect();
            let constructed: Vec<f64> = party.extremes(2, level).iter().map(|a| turned(&party, a)).collect();
            let noise = galois::added_noise_at(&context, level).unwrap();
            judge(&format!("turned, {name}"), log2_modulus, noise, &random, &constructed);
        }
    }
}

#[test]
fn every_method_switches_keys_at_every_level() {
    for ring in [ring(48, 5), ring(30, 4), ring(48, 1)] {
        for options in methods(ring.level()) {
            law(&ring, &options);
        }
    }
    let mixed = [48, 30, 62, 20, 40].map(|bits| primes_with_bits(bits, INDEX, 1).unwrap()[0]);
    law(&Ring::new(INDEX, &mixed).unwrap(), &options(Some(2), 4));
    let mut chain = primes_with_bits(29, INDEX, 6).unwrap();
    chain.splice(2..2, primes_with_bits(40, INDEX, 2).unwrap());
    chain.extend(primes_with_bits(48, INDEX, 2).unwrap());
    let ring = Ring::new(INDEX, &chain).unwrap();
    let context = RlweContext::with_gadget(ring.clone(), RESEARCH, &options(None, 2)).unwrap();
    assert_eq!(context.gadget().digit_count(), 5, "29 + 29, 40 + 40, 3 of 29, 29 + 48, 48 bits");
    law(&ring, &options(None, 2));
}

/// Levels that share some of their moduli, as sets of long primes and two short primes.
fn ladder() -> (Vec<u64>, Vec<Vec<usize>>) {
    let mut moduli = [24, 36].map(|bits| primes_with_bits(bits, INDEX, 1).unwrap()[0]).to_vec();
    moduli.extend(primes_with_bits(46, INDEX, 5).unwrap());
    let rungs = [&[2][..], &[0, 1], &[0, 2, 3], &[1, 2, 3, 4], &[2, 3, 4, 5, 6], &[0, 1, 2, 3, 4, 5, 6]];
    (moduli, rungs.map(<[usize]>::to_vec).into())
}

fn ladder_ring() -> Ring {
    let (moduli, rungs) = ladder();
    Ring::with_rungs(INDEX, &moduli, &rungs).unwrap()
}

#[test]
fn levels_of_any_moduli_follow_the_same_laws() {
    for options in [options(Some(2), 4), options(Some(4), 3), options(None, 2), options(Some(7), 1)] {
        law(&ladder_ring(), &options);
    }
    let (moduli, rungs) = ladder();
    let moduli: Vec<_> = moduli.into_iter().map(num_bigint::BigUint::from).collect();
    law(&stored(BigRing::with_rungs(INDEX, &moduli, &rungs).unwrap(), Storage::Big), &options(Some(2), 4));
}

/// Tests relinearisations from every level to every lower one with sums of the key, where a lower level may have moduli that
/// the higher one lacks and that may be further special ones there.
#[test]
fn sums_of_keys_serve_levels_of_any_moduli() {
    let mut moduli = primes_with_bits(46, INDEX, 10).unwrap();
    moduli.sort_unstable();
    let mut rungs: Vec<Vec<usize>> = (6..10).map(|other| vec![0, 1, 2, 3, other]).collect();
    rungs.extend([(0..6).collect(), (0..10).collect()]);
    let ring = Ring::with_rungs(INDEX, &moduli, &rungs).unwrap();
    let mut party = Party::new(&ring, &options(None, 1));
    let context = party.context.clone();
    let key = RelinearizationKey::generate(&context, &party.secret, &mut party.rng).unwrap();
    let summed = key.clone().with_merged_digits(&context).unwrap();
    let mut merged = 0;
    for (from, to) in (1..=6).flat_map(|from| (1..=from).map(move |to| (from, to))) {
        let before = party.random(3, from);
        let [own, sum] =
            [&key, &summed].map(|key| relinearization::relinearize_to(&context, &before, key, to).unwrap());
        merged += usize::from(own.parts()[0].words() != sum.parts()[0].words());
        let distance = party.distance(to, &party.phase(&own), &party.phase(&sum));
        let bound = |after: &Ciphertext<Bare>| after.noise().bound(DEGREE).bits();
        assert_eq!(bound(&own), bound(&sum));
        assert!(distance <= bound(&own) + 1.0, "{from} to {to}: {distance} above {}", bound(&own));
    }
    assert!(merged >= 5, "{merged} relinearisations merge digits");
}

#[test]
fn big_integers_and_multi_precision_follow_the_same_laws() {
    let ring = ring(48, 3);
    for options in &methods(3)[..3] {
        law(&big(&ring), options);
    }
    law(&stored(MultiPrecision::over(&ring), Storage::MultiPrecision), &GadgetOptions::default());
}

/// Hoisted key switches, key switches from coefficients and key switches step by step give equal polynomials.
#[test]
fn all_ways_to_switch_agree_bit_for_bit() {
    for ring in [ring(48, 5), ring(62, 3), ladder_ring()] {
        for options in methods(ring.level()) {
            let mut party = Party::new(&ring, &options);
            let context = party.context.clone();
            let turns = GaloisKeys::generate(&context, &party.secret, [3, 5], &mut party.rng).unwrap();
            let key = RelinearizationKey::generate(&context, &party.secret, &mut party.rng).unwrap();
            for level in 1..=ring.level() {
                let before = party.random(2, level);
                let hoisted = galois::hoist(&context, &before).unwrap();
                for exponent in [1, 3, 5] {
                    let plain = galois::automorphism(&context, &before, exponent, &turns).unwrap();
                    let from_digits = hoisted.automorphism(exponent, &turns).unwrap();
                    assert_eq!(plain.noise(), from_digits.noise());
                    for (a, b) in plain.parts().iter().zip(from_digits.parts()) {
                        assert!(a.words() == b.words(), "{options}, level {level}");
                    }
                }
                let at = context.ring_at(level).unwrap();
                let three = party.random(3, level);
                let [c0, c1, c2] = three.parts() else { panic!() };
                let direct = key.apply(&context, [c0, c1, c2], level).unwrap();
                let parts = [c0, c1, c2].map(|c| at.to_coefficient(c.clone()).unwrap());
                let from_coefficients = key.apply_to_coefficients(&context, parts).unwrap();
                for (a, b) in direct.iter().zip(&from_coefficients) {
                    assert!(a.words() == b.words(), "{options}, level {level}");
                }
            }
        }
    }
}

/// The steps of a key switch by the gadget, one after the other, equal the fused key switch.
#[test]
fn decompose_product_and_mod_down_make_a_switch() {
    for ring in [ring(48, 5), ladder_ring()] {
        steps_make_a_switch(&ring);
    }
}

fn steps_make_a_switch(ring: &Ring) {
    for options in methods(5) {
        let gadget = ring.gadget(&options).unwrap().at_level(4).unwrap();
        let mut rng = ChaCha20Rng::seed_from_u64(3);
        let top = ring.gadget(&options).unwrap();
        let mut part = |_| top.key_ring().uniform(&mut rng);
        let key: [Vec<_>; 2] = [0, 1].map(|_| (0..top.digit_count()).map(&mut part).collect());
        let c = ring.at_level(4).unwrap().uniform(&mut rng);
        let keep = |(i, part)| top.pack_part(part, i).unwrap();
        let key = key.map(|half: Vec<_>| half.into_iter().enumerate().map(keep).collect::<Vec<_>>());
        let key = [&key[0][..], &key[1][..]];
        let product = gadget.product(&gadget.decompose(&c).unwrap(), key).unwrap();
        for level in 1..=4 {
            let fused = gadget.switch(SwitchInput::Values(&c), Addends::NONE, key, level, 1).unwrap();
            for (fused, product) in fused.iter().zip(&product) {
                assert!(gadget.mod_down(product, level).unwrap().words() == fused.words(), "{options}");
            }
        }
    }
}

/// Relinearisation with a modulus switch has one rounding.
#[test]
fn switching_down_at_once_stays_within_the_noise() {
    for ring in [ring(48, 4), ladder_ring()] {
        down_at_once(&ring);
    }
}

fn down_at_once(ring: &Ring) {
    for options in methods(4) {
        let mut party = Party::new(ring, &options);
        let context = party.context.clone();
        let key = RelinearizationKey::generate(&context, &party.secret, &mut party.rng).unwrap();
        for (from, to, parts) in [(4, 3, 3), (4, 1, 3), (3, 2, 3), (3, 2, 2), (2, 2, 2)] {
            let before = party.random(parts, from);
            let after = relinearization::relinearize_to(&context, &before, &key, to).unwrap();
            let [from, at] = [from, to].map(|level| context.ring_at(level).unwrap());
            // The phase at the lower level is compared with the exact quotient, times the divisor.
            let [q, lower] = [&from, &at].map(|ring| BigInt::from(ring.modulus().clone()));
            let log2_divisor = sunzi_math::log2(from.modulus()) - sunzi_math::log2(at.modulus());
            // The whole comparison is multiplied by Q_to.
            let whole: BigInt = &q * &lower;
            let [old, new] = [
                from.to_integers(&party.phase(&before)).unwrap(),
                at.to_integers(&party.phase(&after)).unwrap(),
            ];
            let error: Vec<BigInt> = old
                .iter()
                .zip(&new)
                .map(|(x, y)| {
                    let error: BigInt = (y * &q - x * &lower) % &whole;
                    let half: BigInt = &whole >> 1_u32;
                    if error > half {
                        error - &whole
                    } else if error < -half {
                        error + &whole
                    } else {
                        error
                    }
                })
                .collect();
            let log2_lower = sunzi_math::log2(at.modulus());
            let measured = largest(&error) - log2_lower - log2_divisor;
            let bound = after.noise().bound(DEGREE).bits();
            assert!(measured <= bound, "{options}: {measured} above {bound}");
            assert!(to == from.level() || measured >= bound - 4.5, "{options}: {measured} far below {bound}");
        }
    }
}

#[test]
fn keys_for_lower_levels_are_smaller_and_do_not_reach_higher() {
    let ring = ring(48, 6);
    let mut party = Party::new(&ring, &options(Some(3), 2));
    let context = party.context.clone();
    for level in 1..=6 {
        let (secret, rng) = (&party.secret, &mut party.rng);
        let key = RelinearizationKey::generate_at_level(&context, secret, level, rng).unwrap();
        // The length counts 6 bytes a residue, and 64 a polynomial.
        assert_eq!(key.byte_len(), 2 * level.div_ceil(2) * (6 * DEGREE * (level + 2) + 64));
        if level < 6 {
            let three = party.random(3, level + 1);
            let error = relinearization::relinearize(&context, &three, &key).err().unwrap();
            assert!(
                matches!(error, RlweError::KeyLevel { key, ciphertext } if key == level && ciphertext == level + 1)
            );
        }
    }
    for level in [0, 7] {
        let key = RelinearizationKey::generate_at_level(&context, &party.secret, level, &mut party.rng);
        assert!(matches!(key, Err(RlweError::Ring(_))));
    }
}

#[test]
fn what_does_not_go_together_is_refused() {
    let ring = ring(48, 4);
    let special = options(Some(2), 2);
    let both = |change: &dyn Fn(&mut GadgetOptions)| {
        let mut options = special.clone();
        change(&mut options);
        let context = RlweContext::with_gadget(ring.clone(), RESEARCH, &options);
        matches!(context, Err(RlweError::Ring(_)))
            && RlweContext::with_gadget(big(&ring), RESEARCH, &options).is_err()
    };
    assert!(both(&|options| options.radix_bits = Some(20)));
    assert!(both(&|options| options.dropped_limbs = 1));
    assert!(both(&|options| options.digits = Some(0)));
    assert!(both(&|options| options.digits = Some(5)));
    assert!(both(&|options| options.special_moduli.clear()));
    assert!(both(&|options| options.special_moduli.push(ring.words().unwrap().basis().values()[0])));
    assert!(!both(&|_| {}));
    let insecure = Ring::new(1 << 14, &primes_with_bits(48, 1 << 14, 4).unwrap()).unwrap();
    assert!(RlweContext::new(insecure.clone(), Security::Bits128).is_ok());
    let special_moduli = primes_with_bits(47, 1 << 14, 1).unwrap();
    let options = GadgetOptions { special_moduli, ..GadgetOptions::default() };
    let error = RlweContext::with_gadget(insecure, Security::Bits128, &options).err().unwrap();
    assert!(matches!(error, RlweError::Insecure { .. }), "security counts QP: {error}");
    let multi = stored(MultiPrecision::over(&ring), Storage::MultiPrecision);
    assert!(RlweContext::with_gadget(multi, RESEARCH, &special).is_err());
    // The keys with dropped limbs are for the highest level.
    let dropped = GadgetOptions { dropped_limbs: 1, ..GadgetOptions::default() };
    let mut party = Party::new(&ring, &dropped);
    let (context, rng) = (party.context.clone(), &mut party.rng);
    assert!(RelinearizationKey::generate_at_level(&context, &party.secret, 3, rng).is_err());
    let key = RelinearizationKey::generate(&context, &party.secret, rng).unwrap();
    let before = party.random(3, 2);
    let after = relinearization::relinearize(&context, &before, &key).unwrap();
    let error = party.distance(2, &party.phase(&before), &party.phase(&after));
    assert!(error <= relinearization::added_noise_at(&context, 2).unwrap().worst.bits());
}
