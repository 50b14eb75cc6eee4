//! Whole kernels on 52-bit words, run on lanes in plain Rust: every machine checks them, whatever instructions it has.

#[cfg(target_arch = "x86_64")]
use sunzi_kernels::Conversion;
#[cfg(target_arch = "x86_64")]
use sunzi_kernels::internals::convert52;
use sunzi_kernels::internals::{
    Arithmetic, Constants, Portable, Word52, forward52, inverse52, packed_products,
};
use sunzi_kernels::{Isa, Modulus, NttPlan};

use super::word52_extremes::Plain;
use crate::oracle::{hard_vectors, mul, prime_below};

/// Tests both transforms modulo the largest prime of a period, and modulo those near it, for the ends of their inputs.
fn transforms<const PERIOD: usize>() {
    let widest = <Word52<Plain, PERIOD> as Arithmetic>::WIDEST;
    // Passes of one, two and three levels, alone and one after the other.
    for n in [64, 128, 256, 512, 1 << 11, 1 << 12, 1 << 13] {
        let top = prime_below(widest + 1, 2 * n as u64);
        for q in [top, prime_below(top, 2 * n as u64)] {
            let plan = NttPlan::new(Modulus::with_isa(q, Isa::Portable).unwrap(), n).unwrap();
            let scale = plan.scale(n as u64).unwrap();
            for input in hard_vectors(2 * q - 1, n) {
                let (mut ours, mut expected) = (input.clone(), input);
                forward52::<_, PERIOD>(Plain(Portable), &plan, &mut ours);
                plan.forward(&mut expected).unwrap();
                assert!(ours == expected, "forward, n = {n}, q = {q}");
            }
            for input in hard_vectors(q - 1, n) {
                let (mut ours, mut expected) = (input.clone(), input);
                inverse52::<_, PERIOD>(Plain(Portable), &plan, &mut ours);
                plan.inverse_scaled(&mut expected, &scale).unwrap();
                assert!(ours == expected, "inverse, n = {n}, q = {q}");
            }
        }
    }
}

#[test]
fn transforms_hold_at_the_widest_moduli() {
    transforms::<4>();
    transforms::<2>();
    transforms::<1>();
}

/// Tests sums of products with keys in bytes, with fewer and more terms than are reduced at once.
#[test]
fn products_with_keys_hold_at_the_widest_moduli() {
    let most = <Word52<Plain, 1> as Arithmetic>::MAX_TERMS;
    for q in [prime_below(1 << 49, 1 << 13), (1 << 49) - 1, prime_below((1 << 52) / 18, 1 << 13)] {
        let modulus = Modulus::with_isa(q, Isa::Portable).unwrap();
        for terms in [1, 3, most, most + 1, 3 * most - 1] {
            for (x, y) in [(q - 1, q - 1), (q - 1, 1), (q / 2, q - 1)] {
                let words = vec![x; 100];
                let mut bytes = vec![0; modulus.packed_residues_len(100)];
                modulus.pack_residues(&mut bytes, &[y; 100]).unwrap();
                let (inputs, keys) = (vec![&words[..]; terms], vec![&bytes[..]; terms]);
                let (mut first, mut second) = (vec![u64::MAX; 100], vec![u64::MAX; 100]);
                let arithmetic = Word52::<_, 1>::new(Plain(Portable), &Constants::new(q));
                packed_products(arithmetic, [&mut first, &mut second], &inputs, [&keys, &keys]);
                let expected = vec![mul(mul(x, y, q), terms as u64, q); 100];
                assert!(first == expected && second == expected, "{terms} terms {x}·{y} modulo {q}");
            }
        }
    }
}

/// Tests conversions from and to the widest moduli, for the largest words and matrix entries.
#[cfg(target_arch = "x86_64")]
#[test]
fn conversions_hold_at_the_widest_moduli() {
    let mut primes = vec![prime_below(1 << 49, 1 << 13)];
    while primes.len() < 40 {
        primes.push(prime_below(primes[primes.len() - 1], 1 << 13));
    }
    for terms in [1, 2, 3, 8, 33] {
        let (from, to) = (&primes[..terms], &primes[33..]);
        let bind = |moduli: &[u64]| -> Vec<Modulus> {
            moduli.iter().map(|&q| Modulus::with_isa(q, Isa::Portable).unwrap()).collect()
        };
        let entries: [fn(u64) -> u64; 3] = [|q| q - 1, |q| q / 2, |_| 1];
        for entry in entries {
            let matrix = |_: usize, j: usize| entry(to[j]);
            let rows: Vec<Vec<u64>> = from.iter().map(|q| vec![q - 1; 37]).collect();
            let rows: Vec<&[u64]> = rows.iter().map(Vec::as_slice).collect();
            let [mut ours, mut expected] = [0, 1].map(|_| vec![vec![u64::MAX; 37]; to.len()]);
            let mut views: Vec<&mut [u64]> = ours.iter_mut().map(Vec::as_mut_slice).collect();
            convert52(Plain(Portable), from, to, matrix, &rows, &mut views).unwrap();
            let mut views: Vec<&mut [u64]> = expected.iter_mut().map(Vec::as_mut_slice).collect();
            Conversion::new(&bind(from), &bind(to), matrix).unwrap().apply(&rows, &mut views).unwrap();
            assert!(ours == expected, "{terms} terms");
        }
    }
    assert!(
        convert52(Plain(Portable), &[1 << 49], &primes[..1], |_, _| 1, &[&[0]], &mut [&mut [0]]).is_none()
    );
}
