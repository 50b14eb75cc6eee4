//! Automorphisms of evaluated polynomials: where values come from, and what is refused.

use sunzi_kernels::internals::apply_on;
use sunzi_kernels::{Automorphism, Isa, KernelError, evaluation_exponent};

/// Checks every position of the given exponents of small rings, and the ends of large ones, on every instruction set: `exponent`
/// gives that of a position, and `order` the number of exponents of roots of unity.
fn check_sources(
    order: impl Fn(usize) -> usize,
    exponent: impl Fn(usize, usize) -> usize,
    exponents: impl Fn(usize) -> Vec<u64>,
    make: impl Fn(usize, u64) -> Automorphism,
) {
    for n in [64_usize, 128, 256, 1 << 12, 1 << 17] {
        let order = order(n);
        let mut position_of = vec![0; order];
        (0..n).for_each(|position| position_of[exponent(n, position)] = position);
        let input: Vec<u64> = (0..n as u64).map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect();
        for k in exponents(n) {
            let turn = make(n, k);
            let source = |position| position_of[(exponent(n, position) as u64 * k % order as u64) as usize];
            let expected: Vec<u64> = (0..n).map(|position| input[source(position)]).collect();
            assert!((0..n).all(|position| turn.source(position) == source(position)), "{n}, {k}");
            for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
                let mut out = vec![0; n];
                apply_on(&turn, isa, &mut out, 0, &input, 0).unwrap();
                assert_eq!(out, expected, "{n}, {k}, {isa}");
            }
        }
    }
}

#[test]
fn values_come_from_where_their_exponents_say() {
    let exponents = |n: usize| {
        let (all, ends) = (1..2 * n as u64, [1, 3, 5, 25, 2 * n as u64 - 1, n as u64 + 1, n as u64 - 1]);
        if n < 256 { all.step_by(2).collect() } else { ends.to_vec() }
    };
    check_sources(|n| 2 * n, evaluation_exponent, exponents, |n, k| Automorphism::new(n, k).unwrap());
}

/// Does the same for real rings, whose exponents are 1 modulo 4.
#[test]
fn values_of_real_elements_come_from_where_their_exponents_say() {
    let exponents = |n: usize| {
        let all = (1..4 * n as u64).step_by(4);
        let ends = [1, 5, 25, 4 * n as u64 - 3, 2 * n as u64 + 1, 2 * n as u64 - 3];
        if n < 256 { all.collect() } else { ends.to_vec() }
    };
    let make = |n: usize, k: u64| {
        let turn = Automorphism::real(n, k).unwrap();
        assert_eq!(turn, Automorphism::real(n, k + 4 * n as u64).unwrap());
        turn
    };
    check_sources(|n| 4 * n, |n, position| 2 * evaluation_exponent(n, position) - 1, exponents, make);
    for k in [3, 7, 255, 2] {
        let refused = KernelError::NotAnAutomorphism { exponent: k };
        assert_eq!(Automorphism::real(64, k).err(), Some(refused));
    }
}

#[test]
fn parts_come_from_parts() {
    let n = 1 << 12;
    let input: Vec<u64> = (0..n as u64).collect();
    let turn = Automorphism::new(n, 5 + 2 * n as u64).unwrap();
    assert_eq!(turn, Automorphism::new(n, 5).unwrap());
    for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
        let mut whole = vec![0; n];
        apply_on(&turn, isa, &mut whole, 0, &input, 0).unwrap();
        for (from, len) in [(0, 64), (1024, 1024), (3072, 512)] {
            let start = turn.source(from) / len * len;
            let mut part = vec![0; len];
            apply_on(&turn, isa, &mut part, from, &input[start..start + len], start).unwrap();
            assert_eq!(part, whole[from..from + len]);
        }
    }
}

#[test]
fn refuses_what_it_cannot_reach() {
    assert_eq!(Automorphism::new(96, 5).err(), Some(KernelError::UnsupportedLength { n: 96 }));
    assert_eq!(Automorphism::new(64, 6).err(), Some(KernelError::NotAnAutomorphism { exponent: 6 }));
    let turn = Automorphism::new(256, 5).unwrap();
    let input = [0; 256];
    for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
        let refused = |out: usize, from, input: &[u64], start| {
            apply_on(&turn, isa, &mut vec![0; out], from, input, start).is_err()
        };
        assert!(refused(63, 0, &input, 0) && refused(64, 8, &input, 0) && refused(64, 0, &input[1..], 0));
        assert!(refused(64, 256, &input, 0) && refused(64, usize::MAX / 64 * 64, &input, 0));
        assert!(refused(256, 0, &input[..128], 0) && refused(256, 0, &input[64..], 64));
        assert!(refused(256, 0, &input, 64) && refused(64, 0, &[], 0));
        assert!(!refused(0, 256, &[], 0) && !refused(256, 0, &input, 0));
    }
}
