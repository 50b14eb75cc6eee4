//! Products modulo every component, by both ways, at the ends of the range.

use sunzi_fermat::{FermatRing, Products};
use sunzi_ring::{Evaluation, PolyRing};

use crate::common::*;

#[test]
fn both_ways_agree_up_to_the_largest_modulus() {
    for bits in [64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384] {
        let ring = FermatRing::new(128, bits).unwrap();
        let kronecker = ring.with_products(Products::Kronecker).unwrap();
        let all = samples(&mut rng("ways"), 64, ring.modulus());
        for pair in all.windows(2).skip(usize::from(bits > 4096)) {
            let [a, b] = [0, 1].map(|i| evaluated(&ring, &pair[i]));
            let product = |ring: &FermatRing| {
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

/// All coefficients at the ends make the largest sums of products there are.
#[test]
fn the_largest_sums_are_recovered() {
    for bits in [64, 256, 1024] {
        let ring = FermatRing::new(2048, bits).unwrap();
        let mut top: Vec<_> = vec![int(ring.modulus()) - 1_u32; 1024];
        top[1023] = 0.into();
        // 2^h is the largest residue modulo 2^h + 1: −1 modulo each of them.
        let (a, one) = (evaluated(&ring, &vec![(-1).into(); 1024]), evaluated(&ring, &vec![1.into(); 1024]));
        for (a, b) in [(&a, &a), (&a, &one), (&evaluated(&ring, &top), &a)] {
            let [c0, c1, c2] = ring.tensor([a, b], [a, b], 1).unwrap();
            let product = |a, b: &sunzi_fermat::FermatPoly<Evaluation>| {
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
