//! Tests of uniform residues: their ends, and rejection word by word.

use sunzi_ring::sampling::{SeededRng, uniform_residues};

#[test]
fn residues_are_below_the_modulus_and_reach_its_ends() {
    for q in [1, 2, 3, 4, 5, 17, 255, 256, 257] {
        let mut out = vec![u64::MAX; 20_000];
        uniform_residues(&mut out, q, &mut SeededRng::derive(&[1; 32], "uniform", q));
        assert!(out.iter().all(|&x| x < q));
        assert!((0..q).all(|x| out.contains(&x)), "{q}");
    }
    let mut out = vec![0; 1000];
    uniform_residues(&mut out, 0, &mut SeededRng::derive(&[1; 32], "uniform", 0));
    assert!(out.iter().any(|&x| x >> 63 == 1));
    uniform_residues(&mut [], 5, &mut SeededRng::derive(&[1; 32], "uniform", 0));
}

#[test]
fn agrees_with_word_by_word_rejection() {
    use rand_core::Rng;
    let q = (1 << 40) + 15;
    let mut out = vec![0; 3000];
    uniform_residues(&mut out, q, &mut SeededRng::derive(&[2; 32], "uniform", q));
    let mut rng = SeededRng::derive(&[2; 32], "uniform", q);
    let mut expected = Vec::new();
    while expected.len() < out.len() {
        let word = rng.next_u64() & ((1 << 41) - 1);
        if word < q {
            expected.push(word);
        }
    }
    assert_eq!(out, expected);
}
