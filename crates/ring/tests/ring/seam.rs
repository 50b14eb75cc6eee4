//! Tests of mixed storages: a value of one storage is refused by a ring of another, whatever the operation.

use sunzi_big::{BigRing, MultiPrecision};
use sunzi_math::{DEFAULT_PRIME_BOUND, primes_below};
use sunzi_ring::{
    Addends, Coefficient, Domain, Evaluation, GadgetOptions, HollowRing, Multiplier, PackingError, Poly,
    Ring, RingError, Rotation, ScalerOptions, Side, SwitchInput,
};

use crate::common::*;

const M: u64 = 128;
const N: usize = 64;

fn moduli(count: usize) -> Vec<u64> {
    primes_below(DEFAULT_PRIME_BOUND, M, count).unwrap()
}

/// Returns rings of equal moduli: of words, dry, and of big integers.
fn rings() -> [Ring; 3] {
    let words = Ring::new(M, &moduli(3)).unwrap();
    let [dry, big] = [Ring::dry(M, &moduli(3), &[]).unwrap(), twin(&words)];
    [words, dry, big]
}

/// Runs a law for every ring with every ring of another storage.
fn for_every_mix(law: impl Fn(&Ring, &Ring)) {
    let rings = rings();
    for (i, own) in rings.iter().enumerate() {
        for (_, alien) in rings.iter().enumerate().filter(|(j, _)| *j != i) {
            law(own, alien);
        }
    }
}

/// Checks that the error names another storage or another ring, which is a caller's mistake.
#[track_caller]
fn refused<T>(result: Result<T, RingError>) {
    let error = result.err();
    let typed = matches!(
        error,
        Some(RingError::ShapeMismatch { .. } | RingError::OtherModulus { .. } | RingError::OtherStorage)
    );
    assert!(typed, "{error:?}");
}

#[track_caller]
fn dry<T>(result: Result<T, RingError>) {
    let error = result.err().unwrap();
    assert!(matches!(error, RingError::Dry(_)), "{error:?}");
    assert!(error.to_string().contains("dry ring"), "{error}");
}

#[track_caller]
fn dry_file<T>(result: Result<T, PackingError>) {
    match result.err() {
        Some(PackingError::Ring(error)) => {
            assert!(error.to_string().contains("files"), "{error}");
            dry::<()>(Err(error));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn rings_of_the_same_moduli_differ_in_storage() {
    let [words, dry, big] = rings();
    assert_eq!([words.modulus(), dry.modulus()], [big.modulus(); 2]);
    assert!(words.words().is_ok() && dry.storage::<HollowRing>().is_some());
    for other in [dry, big] {
        assert!(matches!(other.words(), Err(RingError::OtherStorage)));
    }
}

#[test]
fn polynomials_of_another_storage_are_refused_in_both_domains() {
    fn law<D: Domain>(ring: &Ring, alien: &Ring) {
        let (own, other) = (ring.zero::<D>(), alien.zero::<D>());
        assert!(ring.add_assign(&mut own.clone(), &own).is_ok());
        refused(ring.add_assign(&mut own.clone(), &other));
        refused(ring.add_assign(&mut other.clone(), &own));
        refused(ring.add_assign(&mut other.clone(), &other));
        refused(ring.sub_assign(&mut own.clone(), &other));
        refused(ring.sub_assign(&mut other.clone(), &own));
        refused(ring.neg_assign(&mut other.clone()));
        refused(ring.mul_integer_assign(&mut other.clone(), &3.into()));
        refused(ring.automorphism(&other, 3));
        refused(ring.level_of(&other));
        for level in 1..=3 {
            assert!(ring.restrict(&own, level).is_ok());
            refused(ring.restrict(&other, level));
            refused(ring.linear_combination(&[(&2.into(), &own), (&3.into(), &other)], level));
        }
        refused(ring.add_linear_combination_assign(&mut own.clone(), &[(&3.into(), &other)]));
        refused(ring.add_linear_combination_assign(&mut other.clone(), &[(&3.into(), &own)]));
        match ring.pack(&other, &mut Vec::new()) {
            Err(PackingError::Ring(RingError::Dry(_))) => assert!(ring.storage::<HollowRing>().is_some()),
            Err(PackingError::Ring(error)) => refused::<()>(Err(error)),
            result => panic!("{result:?}"),
        }
    }
    for_every_mix(law::<Coefficient>);
    for_every_mix(law::<Evaluation>);
}

#[test]
fn values_of_another_storage_are_refused() {
    for_every_mix(|ring, alien| {
        let (own, other): (Poly<Evaluation>, Poly<Evaluation>) = (ring.zero(), alien.zero());
        assert!(ring.mul_assign(&mut own.clone(), &own).is_ok());
        refused(ring.mul_assign(&mut own.clone(), &other));
        refused(ring.mul_assign(&mut other.clone(), &own));
        refused(ring.mul_assign(&mut other.clone(), &other));
        for [acc, a, b] in [[&other, &own, &own], [&own, &other, &own], [&own, &own, &other]] {
            refused(ring.mul_add_assign(&mut acc.clone(), a, b));
            refused(ring.mul_add_restricted(a, b, acc, 2));
        }
        refused(ring.mul_restricted_assign(&mut own.clone(), &other));
        refused(ring.mul_restricted_assign(&mut other.clone(), &own));
        refused(ring.add_integer_assign(&mut other.clone(), &3.into()));
        refused(ring.mul_monomial_assign(&mut other.clone(), 3));
        for level in 1..=3 {
            refused(ring.mod_switch(&other, level));
            refused(ring.mod_switch_all(&[&own, &other], level));
            refused(ring.mod_switch_sum(&other, &ring.zero(), level));
            refused(ring.mod_switch_sum(&own, &alien.zero(), level));
            refused(ring.tensor_at([&own, &own], [&own, &other], 1, level));
            refused(ring.inner_products(&[vec![[&own, &own], [&other, &own]]], level));
            refused(ring.sum_of_tensors(
                &[[[&own, &own], [&own, &own]], [[&own, &other], [&own, &own]]],
                1,
                level,
            ));
            refused(ring.masked([&own, &other], None, level, &mut rng("mix")));
            refused(ring.masked([&own, &own], Some(&alien.zero()), level, &mut rng("mix")));
        }
        refused(ring.tensor([&other, &own], [&own, &own], 1));
        refused(ring.scale_up(&other));
        refused(ring.mod_raise(&other));
        refused(ring.divide_by_factor(&other, moduli(3)[2], 1));
        refused(ring.to_coefficient(other));
        refused(ring.to_evaluation(alien.zero()));
        refused(ring.to_integers(&alien.zero()));
        refused(ring.to_floats(&alien.zero()));
    });
}

/// Returns gadget options with the special modulus P and without.
fn options() -> [GadgetOptions; 2] {
    let special_moduli = moduli(5)[3..].to_vec();
    [GadgetOptions::default(), GadgetOptions { special_moduli, digits: Some(2), ..GadgetOptions::default() }]
}

#[test]
fn keys_and_digits_of_another_storage_are_refused() {
    for options in options() {
        for_every_mix(|ring, alien| {
            let gadgets = [ring, alien].map(|ring| ring.gadget(&options).unwrap());
            let zeros = [ring, alien].map(Ring::zero::<Evaluation>);
            let parts = gadgets.each_ref().map(|gadget| gadget.key_ring().zero::<Evaluation>());
            let keys =
                [0, 1].map(|i| kept(&gadgets[i], &vec![parts[i].clone(); gadgets[i].digit_count()]).unwrap());
            let digits = [0, 1].map(|i| gadgets[i].decompose(&zeros[i]).unwrap());
            let (gadget, [own, other]) = (&gadgets[0], keys.each_ref().map(|key| &key[..]));
            assert!(gadget.product(&digits[0], [own, own]).is_ok());
            refused(gadget.product(&digits[1], [own, own]));
            let values = [0, 1].map(|i| SwitchInput::Values(&zeros[i]));
            let cut = [0, 1].map(|i| SwitchInput::Digits(&digits[i]));
            let none = [None, None];
            let switch = |input, added, key| gadget.switch(input, Addends::Values(added), key, 2, 3);
            for key in [[own, other], [other, own], [other, other]] {
                refused(gadget.product(&digits[0], key));
                for input in [values[0], cut[0]] {
                    refused(switch(input, none, key));
                    refused(gadget.switch_extended(input, None, key, 3));
                }
            }
            let own = [own, own];
            refused(switch(values[1], none, own));
            refused(switch(values[0], [Some(&zeros[1]), None], own));
            refused(switch(values[0], [None, Some(&zeros[1])], own));
            refused(switch(cut[1], none, own));
            refused(gadget.switch_extended(cut[0], Some(&zeros[1]), own, 3));
            for i in 0..3 {
                let [c0, c1, c] = [0, 1, 2].map(|j| if i == j { alien.zero() } else { ring.zero() });
                let added = Addends::Coefficients([&c0, &c1]);
                refused(gadget.switch(SwitchInput::Coefficients(&c), added, own, gadget.level(), 1));
            }
            refused(gadget.decompose(&zeros[1]));
            refused(gadget.pack_part(parts[1].clone(), 0));
            refused(gadget.unpack_part(&keys[1][0], 0));
            assert!(gadget.unpack_part(&keys[0][0], 0).is_ok());
            refused(gadget.sum_parts(&[&keys[0][0], &keys[1][0]], 0));
            refused(gadget.sum_parts(&[&keys[1][0], &keys[0][0]], 0));
            refused(gadget.key_ring().sum([&parts[0], &parts[1]]));
            refused(gadget.key_ring().sum([&parts[1], &parts[0]]));
            for i in 0..3 {
                let [b, a, source] = [0, 1, 2].map(|j| parts[usize::from(i == j)].clone());
                refused(gadget.key_part([b, a], &source, 0));
            }
            refused(gadget.uniform_part(parts[1].clone(), 0));
            refused(gadget.restrict_key(&parts[1]));
            refused(gadget.at_level(2).unwrap().restrict_key(&parts[1]));
            refused(gadget.mod_down(&parts[1], 2));
        });
    }
}

#[test]
fn multipliers_of_another_storage_are_refused() {
    for options in options() {
        for_every_mix(|ring, alien| {
            let gadgets = [ring, alien].map(|ring| ring.gadget(&options).unwrap());
            let zeros = [ring, alien].map(Ring::zero::<Evaluation>);
            let parts = gadgets.each_ref().map(|gadget| gadget.key_ring().zero::<Evaluation>());
            let multipliers = [0, 1].map(|i| gadgets[i].multiplier(parts[i].clone()).unwrap());
            let gadget = &gadgets[0];
            refused(gadget.multiplier(parts[1].clone()));
            assert!(gadget.multiplied(&multipliers[0]).is_ok());
            refused(gadget.multiplied(&multipliers[1]));
            let key =
                [0, 1].map(|i| kept(&gadgets[i], &vec![parts[i].clone(); gadgets[i].digit_count()]).unwrap());
            let digits = [0, 1].map(|i| gadgets[i].decompose(&zeros[i]).unwrap());
            let sums = |ciphertext: [usize; 2], digit: usize, half: usize, list: &[&Multiplier]| {
                let switch = Some((&digits[digit], [&key[0][..], &key[half]]));
                let turns = [Rotation { exponent: 3, switch }, Rotation { exponent: 1, switch: None }];
                let list = (0..).zip(list.iter().copied()).collect();
                gadget.sums_of_rotations(ciphertext.map(|i| &zeros[i]), &turns, &[list])
            };
            let [own, other] = multipliers.each_ref();
            assert!(sums([0, 0], 0, 0, &[own, own]).is_ok());
            refused(sums([0, 0], 0, 0, &[other, own]));
            refused(sums([0, 0], 0, 0, &[own, other]));
            refused(sums([1, 0], 0, 0, &[own, own]));
            refused(sums([0, 1], 0, 0, &[own, own]));
            refused(sums([0, 0], 1, 0, &[own, own]));
            refused(sums([0, 0], 0, 1, &[own, own]));
        });
    }
}

#[test]
fn ciphertexts_of_another_storage_are_refused_by_scalers() {
    for_every_mix(|ring, alien| {
        let scalers = [ring, alien].map(|ring| ring.scaler(3, &ScalerOptions::default()).unwrap());
        let (scaler, level) = (&scalers[0], ring.level());
        let (own, other): (Poly<Evaluation>, Poly<Evaluation>) = (ring.zero(), alien.zero());
        for side in [Side::Left, Side::Right] {
            assert!(scaler.extend(&own, side, level).is_ok());
            refused(scaler.extend(&other, side, level));
        }
        let wide = scalers[1].wide_top().zero::<Evaluation>();
        refused(scaler.scale(wide.clone(), level));
        refused(scaler.scale_apart(wide.clone(), level));
        let parts = [scaler.wide_top().zero(), wide, scaler.wide_top().zero()];
        refused(scaler.scale_parts(parts, level, true));
        refused(scaler.multiply([&own, &own], [&own, &other], level, true));
        refused(scaler.multiply([&other, &own], [&own, &own], level, false));
        refused(scaler.decrypt(&alien.zero()));
        refused(scaler.decrypt_values(ring, other.into()));
    });
}

#[test]
fn tables_need_their_storage() {
    let [words, dry, big] = rings();
    let mixes = [
        words.with_tables(dry.storage::<HollowRing>().unwrap().clone()),
        big.with_tables(dry.storage::<HollowRing>().unwrap().clone()),
        words.with_tables(big.storage::<BigRing>().unwrap().clone()),
        MultiPrecision::over(&dry),
    ];
    for mix in mixes {
        assert!(matches!(mix.scaler(3, &ScalerOptions::default()), Err(RingError::OtherStorage)));
        assert!(matches!(mix.gadget(&GadgetOptions::default()), Err(RingError::OtherStorage)));
        assert!(mix.description().is_empty());
    }
}

/// Checks that a dry key of a higher level is taken at the levels at which a key in words is.
#[test]
fn dry_keys_know_their_level() {
    let rungs = [&[0][..], &[1, 2], &[0, 1, 2], &[0, 1, 2, 3]].map(<[_]>::to_vec);
    let words = Ring::with_rungs(M, &moduli(4), &rungs).unwrap();
    let dry = Ring::dry(M, &moduli(4), &rungs).unwrap();
    let options = GadgetOptions { special_moduli: moduli(6)[4..].to_vec(), ..GadgetOptions::default() };
    let gadgets = [&words, &dry].map(|ring| ring.gadget(&options).unwrap());
    for from in 1..=4 {
        for to in 1..=4 {
            let [of_words, of_dry] = gadgets.each_ref().map(|gadget| {
                let [upper, lower] = [from, to].map(|level| gadget.at_level(level).unwrap());
                let part = upper.key_ring().zero::<Evaluation>();
                let key = kept(&upper, &vec![part.clone(); upper.digit_count()]).unwrap();
                let digits = lower.decompose(&lower.key_ring().at_level(to).unwrap().zero()).unwrap();
                let product = lower.product(&digits, [&key, &key]);
                [lower.restrict_key(&part).is_ok(), product.is_ok()]
            });
            assert_eq!(of_words, of_dry, "from {from} to {to}");
            assert_eq!(of_dry, [words.is_nested(to, from); 2], "from {from} to {to}");
        }
    }
}

#[test]
fn dry_rings_have_no_numbers_and_no_files() {
    let prefixes = Ring::dry(M, &moduli(3), &[]).unwrap();
    let sets = Ring::dry(M, &moduli(3), &[vec![2], vec![0, 1], vec![0, 1, 2]]).unwrap();
    for ring in [prefixes.at_level(2).unwrap(), prefixes, sets] {
        let (coefficients, values) = (ring.zero::<Coefficient>(), ring.zero::<Evaluation>());
        let mut bytes = Vec::new();
        dry_file(ring.pack(&coefficients, &mut bytes));
        dry_file(ring.pack(&values, &mut bytes));
        assert!(bytes.is_empty());
        let zeros = vec![0; ring.packed_len()];
        dry_file(ring.unpack::<Coefficient>(&mut &zeros[..]));
        dry_file(ring.unpack::<Evaluation>(&mut &zeros[..]));
        dry(ring.to_integers(&coefficients));
        dry(ring.to_floats(&coefficients));
        let one = ring.from_signed(&[1; N]).unwrap();
        dry(ring.to_integers(&one));
        if let Ok(scaler) = ring.scaler(3, &ScalerOptions::default()) {
            dry(scaler.decrypt(&coefficients));
            dry(scaler.decrypt_values(&ring, values.into()));
            assert!(scaler.decrypt(&one).unwrap_err().to_string().contains("decrypt"));
        } else {
            assert!(ring.storage::<HollowRing>().is_some() && !ring.is_nested(1, 2));
        }
        assert!(ring.description().is_empty());
    }
}
