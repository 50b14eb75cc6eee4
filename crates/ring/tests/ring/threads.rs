//! Tests that results do not depend on the number of threads, nor on the instruction set.

use sunzi_kernels::{Isa, active_isa};
use sunzi_math::{DEFAULT_PRIME_BOUND, RingIndex, primes_below};
use sunzi_ring::{
    Addends, Evaluation, Gadget, GadgetOptions, PackedPoly, Parallelism, Poly, Ring, RingError, Rotation,
    ScalerOptions, SwitchInput,
};

use crate::common::{TopLevel, kept, rng, switched};

/// Returns sums of products with rotated ciphertexts, in one go and step by step, by multipliers of this level and of
/// the highest.
fn sums_of_rotations(
    ring: &Ring,
    gadget: &Gadget,
    [c, b]: [&Poly<Evaluation>; 2],
    keys: [&[PackedPoly]; 2],
) -> Vec<[Poly<Evaluation>; 2]> {
    let (wide, b) = (gadget.key_ring(), ring.restrict(b, gadget.level()).unwrap());
    let digits = gadget.decompose(c).unwrap();
    let highest = gadget.at_level(ring.level()).unwrap();
    let factor = highest.key_ring().uniform(&mut rng("multiplier"));
    let own = gadget.restrict_key(&factor).unwrap();
    let kept = [gadget.multiplier(own.clone()), highest.multiplier(factor)].map(Result::unwrap);
    let turns = [
        Rotation { exponent: turn(ring), switch: Some((&digits, keys)) },
        Rotation { exponent: 1, switch: None },
    ];
    let [sums, from_above] = kept.each_ref().map(|kept| {
        let lists = [vec![(0, kept), (1, kept)], vec![], vec![(1, kept)]];
        gadget.sums_of_rotations([c, &b], &turns, &lists).unwrap()
    });
    let turned = gadget.switch_extended(SwitchInput::Digits(&digits), Some(c), keys, turn(ring)).unwrap();
    let identity = [wide.scale_up(c).unwrap(), wide.scale_up(&b).unwrap()];
    let lists: [&[&[Poly<Evaluation>; 2]]; 3] = [&[&turned, &identity], &[], &[&identity]];
    for (list, (sum, other)) in lists.into_iter().zip(sums.iter().zip(&from_above)) {
        for half in [0, 1] {
            let mut expected = wide.zero();
            list.iter().for_each(|term| wide.mul_add_assign(&mut expected, &term[half], &own).unwrap());
            assert!(sum[half].words() == expected.words() && other[half].words() == expected.words());
        }
    }
    sums
}

/// Returns the exponent of an automorphism.
fn turn(ring: &Ring) -> u64 {
    if ring.ring_index().is_real() { 5 } else { 3 }
}

/// Returns the whole and the real ring of this degree.
fn indices(degree: usize) -> [RingIndex; 2] {
    [RingIndex::new(2 * degree as u64), RingIndex::real(degree)].map(Result::unwrap)
}

/// Runs every operation that is shared among threads, at a size at which it is.
fn everything(ring: &Ring) -> Vec<Vec<u64>> {
    let mut rng = rng("threads");
    let scaler = ring.scaler(65_537, &ScalerOptions::default()).unwrap();
    let mut a = ring.uniform(&mut rng);
    let b = ring.uniform(&mut rng);
    ring.mul_add_assign(&mut a, &b, &b).unwrap();
    let a = ring.automorphism(&a, turn(ring)).unwrap();
    let mut extended = scaler.lift(&a).unwrap();
    let other = scaler.lift(&b).unwrap();
    scaler.wide_top().mul_assign(&mut extended, &other).unwrap();
    let scaled = scaler.scale_top(extended.clone()).unwrap();
    let message = scaler.decrypt(&scaled).unwrap();
    let mut words = [a.words(), extended.words(), scaled.words(), &message].map(<[u64]>::to_vec).to_vec();
    for (digits, special) in [(1, 3), (2, 2), (3, 1)] {
        let moduli = primes_below(DEFAULT_PRIME_BOUND, ring.index(), ring.level() + special).unwrap();
        let special_moduli = moduli[ring.level()..].to_vec();
        let options = GadgetOptions { digits: Some(digits), special_moduli, ..GadgetOptions::default() };
        let gadget = ring.gadget(&options).unwrap().at_level(ring.level() - 1).unwrap();
        let c = ring.restrict(&a, ring.level() - 1).unwrap();
        let mut part = || gadget.key_ring().uniform(&mut rng);
        let key = [0, 1].map(|_| (0..gadget.digit_count()).map(|_| part()).collect::<Vec<_>>());
        let key = key.map(|half| kept(&gadget, &half).unwrap());
        let keys = [&key[0][..], &key[1]];
        let digits = gadget.decompose(&c).unwrap();
        let sums = sums_of_rotations(ring, &gadget, [&c, &b], keys);
        let extended =
            gadget.switch_extended(SwitchInput::Digits(&digits), Some(&c), keys, turn(ring)).unwrap();
        words.extend(sums.iter().flatten().chain(&extended).map(|half| half.words().to_vec()));
        words.extend(gadget.product(&digits, keys).unwrap().map(|half| half.words().to_vec()));
        let mut turned = c.clone();
        let monomial = if ring.ring_index().is_real() { ring.index() / 2 } else { 3 << 11 };
        let lower = gadget.key_ring().at_level(ring.level() - 1).unwrap();
        lower.mul_monomial_assign(&mut turned, monomial).unwrap();
        words.push(turned.words().to_vec());
        for level in [1, ring.level() - 1] {
            let rest = [Some(&c), None];
            let switched = gadget
                .switch(SwitchInput::Values(&c), Addends::Values(rest), [&key[0], &key[1]], level, 5)
                .unwrap();
            words.extend(switched.map(|half| half.words().to_vec()));
            words.push(ring.mod_switch(&b, level).unwrap().words().to_vec());
        }
    }
    for (radix_bits, dropped_limbs) in
        [(None, 0), (None, ring.words().unwrap().basis().len() - 1), (Some(30), 2)]
    {
        let gadget =
            ring.gadget(&GadgetOptions { radix_bits, dropped_limbs, ..GadgetOptions::default() }).unwrap();
        let part = |i| gadget.key_part([a.clone(), b.clone()], &b, i).unwrap();
        let (first, second): (Vec<_>, Vec<_>) = (0..gadget.digit_count()).map(|i| part(i).into()).unzip();
        let switched = switched(ring, &gadget, &scaled, [&first, &second]).unwrap();
        words.extend(switched.map(|half| half.words().to_vec()));
    }
    let raised = ring.mod_raise(&ring.restrict(&a, 2).unwrap()).unwrap();
    let floats = ring.to_floats(&ring.to_coefficient(raised.clone()).unwrap()).unwrap();
    let wide: Vec<i128> =
        floats.iter().map(|x| x.to_bits().into()).map(|x: i128| x.wrapping_mul(x)).collect();
    words.extend([raised.words().to_vec(), ring.from_signed_wide(&wide).unwrap().words().to_vec()]);
    words
}

#[test]
fn one_two_and_four_threads_agree() {
    for index in indices(1 << 12) {
        let moduli = primes_below(DEFAULT_PRIME_BOUND, index.value(), 17).unwrap();
        let ring = Ring::new(&index, &moduli).unwrap();
        let run = |threads, parallelism| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let ring = ring.with_parallelism(parallelism);
            assert_eq!(ring.at_level(3).unwrap().words().unwrap().parallelism(), parallelism);
            pool.install(|| everything(&ring))
        };
        let one = run(1, Parallelism::Collapsed);
        for parallelism in [Parallelism::CoefficientWise, Parallelism::ModulusWise, Parallelism::Collapsed] {
            for threads in [1, 2, 4] {
                assert!(one == run(threads, parallelism), "{threads} threads, {parallelism:?}");
            }
        }
    }
}

#[test]
fn every_instruction_set_gives_the_same_words() {
    for index in indices(1 << 10) {
        let moduli = primes_below(DEFAULT_PRIME_BOUND, index.value(), 5).unwrap();
        let of = |isa| Ring::with_isa(&index, &moduli, isa).unwrap();
        let portable = everything(&of(Isa::Portable));
        assert!(portable == everything(&Ring::new(&index, &moduli).unwrap()));
        if Isa::Avx512Ifma.is_available() {
            assert!(portable == everything(&of(Isa::Avx512Ifma)));
        }
    }
}

#[test]
fn rings_keep_their_instruction_set() {
    let m = 256;
    let moduli = primes_below(DEFAULT_PRIME_BOUND, m, 6).unwrap();
    assert_eq!(Ring::new(m, &moduli).unwrap().words().unwrap().isa(), active_isa().unwrap());
    for isa in [Isa::Portable, Isa::Avx512Ifma].into_iter().filter(|isa| isa.is_available()) {
        let ring = Ring::with_isa(m, &moduli[..3], isa).unwrap();
        let other = Ring::with_isa(m, &moduli[3..], isa).unwrap();
        let wide = ring.scaler(65_537, &ScalerOptions::default()).unwrap().wide_top();
        let [words, other, wide] = [&ring, &other, &wide].map(|ring| ring.words().unwrap());
        for derived in [&words.concat(other).unwrap(), &words.sub_ring(1..3).unwrap(), wide, words] {
            assert_eq!(derived.isa(), isa);
            assert!(derived.basis().moduli().iter().all(|q| q.isa() == isa));
        }
    }
    if !Isa::Avx512Ifma.is_available() {
        assert!(matches!(Ring::with_isa(m, &moduli, Isa::Avx512Ifma), Err(RingError::Kernel(_))));
    }
}
