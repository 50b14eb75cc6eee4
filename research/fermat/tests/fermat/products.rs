//! Tests of products modulo every component, by both algorithms, at the ends of the range.

use sunzi_fermat::{FermatRing, Products};
use sunzi_ring::{Evaluation, GadgetOptions, Poly, Ring, ScalerOptions};

use crate::common::*;

#[test]
fn both_ways_agree_up_to_the_largest_modulus() {
    for bits in [64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384] {
        let storage = FermatRing::new(128, bits).unwrap();
        let kronecker = Ring::of(storage.with_products(Products::Kronecker));
        let ring = Ring::of(storage);
        let all = samples(&mut rng("ways"), 64, ring.modulus());
        for pair in all.windows(2).skip(usize::from(bits > 4096)) {
            let [a, b] = [0, 1].map(|i| evaluated(&ring, &pair[i]));
            let product = |ring: &Ring| {
                let mut product = a.clone();
                ring.mul_assign(&mut product, &b).unwrap();
                integers(ring, product)
            };
            assert_eq!(product(&ring), product(&kronecker), "g = {bits}");
        }
        // Against the definition: a product with X is a rotation.
        let mut x = vec![num_bigint::BigInt::ZERO; 64];
        x[1] = 1.into();
        let (a, mut moved) = (&all[6], evaluated(&ring, &x));
        ring.mul_assign(&mut moved, &evaluated(&ring, a)).unwrap();
        let expected: Vec<_> = (0..64).map(|i| if i == 0 { -&a[63] } else { a[i - 1].clone() }).collect();
        assert_eq!(integers(&ring, moved), centered(&expected, &int(ring.modulus())), "g = {bits}");
    }
}

/// Checks the largest sums of products, of coefficients that are all at the ends of the range.
#[test]
fn the_largest_sums_are_recovered() {
    for bits in [64, 256, 1024] {
        let ring = Ring::of(FermatRing::new(2048, bits).unwrap());
        let mut top: Vec<_> = vec![int(ring.modulus()) - 1_u32; 1024];
        top[1023] = 0.into();
        // 2^h is the largest residue modulo 2^h + 1: −1 modulo each of them.
        let (a, one) = (evaluated(&ring, &vec![(-1).into(); 1024]), evaluated(&ring, &vec![1.into(); 1024]));
        for (a, b) in [(&a, &a), (&a, &one), (&evaluated(&ring, &top), &a)] {
            let [c0, c1, c2] = ring.tensor([a, b], [a, b], 1).unwrap();
            let product = |a, b: &Poly<Evaluation>| {
                negacyclic(&integers(&ring, Clone::clone(a)), &integers(&ring, b.clone()))
            };
            let q = int(ring.modulus());
            let twice: Vec<_> = product(a, b).iter().map(|x| x * 2_u32).collect();
            assert_eq!(integers(&ring, c0), centered(&product(a, a), &q));
            assert_eq!(integers(&ring, c1), centered(&twice, &q));
            assert_eq!(integers(&ring, c2), centered(&product(b, b), &q));
        }
    }
}

#[test]
fn threads_change_no_bit() {
    let ring = Ring::of(FermatRing::new(2048, 512).unwrap());
    let scaler = ring.scaler(786_433, &ScalerOptions::default()).unwrap();
    let mut rng = rng("threads");
    let [a, b] = [0, 1].map(|_| ring.uniform(&mut rng));
    for radix_bits in [None, Some(50)] {
        let gadget = ring.gadget(&GadgetOptions { radix_bits, ..GadgetOptions::default() }).unwrap();
        let mut key = || (0..gadget.digit_count()).map(|_| ring.uniform(&mut rng)).collect::<Vec<_>>();
        let (first, second) = (key(), key());
        let kept = |half: &[Poly<Evaluation>]| kept(&gadget, half).unwrap();
        let key = [&kept(&first)[..], &kept(&second)];
        let run = |threads| {
            rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| {
                let wide = scaler.wide_top();
                let parts = [&a, &b].map(|part| scaler.lift(part).unwrap());
                let [product, ..] = wide.tensor([&parts[0], &parts[1]], [&parts[0], &parts[1]], 1).unwrap();
                let scaled = scaler.scale_top(product).unwrap();
                let plain = scaler.decrypt(&scaled).unwrap();
                let scaled = ring.to_evaluation(scaled).unwrap();
                let digits = gadget.decompose(&scaled).unwrap();
                // The first product lifts the key.
                let switched = [0, 1].map(|_| gadget.product(&digits, key).unwrap());
                let switched = switched.map(|halves| halves.map(|half| integers(&ring, half)));
                assert_eq!(switched[0], switched[1]);
                let mut restricted = scaled.clone();
                ring.mul_restricted_assign(&mut restricted, &b).unwrap();
                (integers(&ring, scaled), plain, switched, integers(&ring, restricted))
            })
        };
        let alone = run(1);
        assert!(alone == run(3), "{radix_bits:?}");
        // A lift is dropped where residues change.
        let digits = gadget.decompose(&a).unwrap();
        let doubled = |half: &[Poly<Evaluation>]| {
            let twice = |part: &Poly<Evaluation>| {
                let mut twice = part.clone();
                ring.add_assign(&mut twice, part).unwrap();
                twice
            };
            kept(&half.iter().map(twice).collect::<Vec<_>>())
        };
        let [once, _] = gadget.product(&digits, key).unwrap();
        let [twice, _] = gadget.product(&digits, [&doubled(&first), &doubled(&second)]).unwrap();
        let mut sum = once.clone();
        ring.add_assign(&mut sum, &once).unwrap();
        assert_eq!(integers(&ring, sum), integers(&ring, twice));
    }
}
