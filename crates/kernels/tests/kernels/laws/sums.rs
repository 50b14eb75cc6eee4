//! Sums of two words against 128-bit arithmetic.

use sunzi_kernels::{KernelError, Modulus, WideSums};

use crate::oracle::{Words, hard_vectors, isas};

#[test]
fn sums_are_exact_at_the_ends_of_every_range() {
    let bases: [fn(usize) -> u64; 5] = [
        |_| 1 << 48,
        |_| (1 << 49) - 1,
        |i| [97, (1 << 49) - 1, 2, 1 << 40][i % 4],
        |_| 1 << 49,
        |_| (1 << 62) - 57,
    ];
    for (base, bits) in bases.iter().flat_map(|base| [48, 51, 52].map(|bits| (base, bits))) {
        for terms in [0, 1, 2, 3, 8, 345, 512, 513] {
            for columns in [1, 2, 4, 7] {
                let len = [1, 16, 23, 64][columns % 4];
                let from: Vec<u64> = (0..terms).map(base).collect();
                let mut words = Words((terms + columns) as u64);
                // Random words, and the largest of all.
                let constants: Vec<u64> = (0..terms * columns)
                    .map(|at| if at % 3 == 0 { (1 << bits) - 1 } else { words.word() >> (64 - bits) })
                    .collect();
                let rows: Vec<Vec<u64>> = (0..terms)
                    .map(|i| {
                        let mut row = hard_vectors(from[i] - 1, len).swap_remove(i % 2);
                        row[0] = from[i] - 1;
                        row
                    })
                    .collect();
                let rows: Vec<&[u64]> = rows.iter().map(Vec::as_slice).collect();
                let moduli: Vec<Modulus> = from.iter().map(|&q| Modulus::new(q).unwrap()).collect();
                let entry = |i: usize, j: usize| constants[i * columns + j];
                let expected: Vec<Vec<u128>> = (0..columns)
                    .map(|j| {
                        let sum =
                            |k| (0..terms).map(|i| u128::from(rows[i][k]) * u128::from(entry(i, j))).sum();
                        (0..len).map(sum).collect()
                    })
                    .collect();
                for isa in isas() {
                    let sums = WideSums::new(isa, &moduli, columns, entry).unwrap();
                    let mut out = vec![vec![7; len]; 2 * columns];
                    sums.apply(&rows, &mut out.iter_mut().map(Vec::as_mut_slice).collect::<Vec<_>>())
                        .unwrap();
                    for (expected, out) in expected.iter().zip(out.chunks(2)) {
                        for (k, &sum) in expected.iter().enumerate() {
                            let got = u128::from(out[1][k]) << 64 | u128::from(out[0][k]);
                            assert_eq!(got, sum, "{isa}: {terms} terms, {columns} columns, {bits} bits");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let from = [Modulus::new(97).unwrap(); 2];
    for isa in isas() {
        let bound = WideSums::new(isa, &from, 1, |_, _| 1 << 52);
        assert!(matches!(bound, Err(KernelError::NotReduced { value, .. }) if value == 1 << 52));
        let many = vec![from[0]; 5000];
        assert!(matches!(WideSums::new(isa, &many, 1, |_, _| 1), Err(KernelError::TooManyTerms { .. })));
        let sums = WideSums::new(isa, &from, 1, |_, _| 1).unwrap();
        let (mut low, mut high, mut short) = ([0; 2], [0; 2], [0; 1]);
        let one = [1; 2];
        assert!(sums.apply(&[&one], &mut [&mut low, &mut high]).is_err());
        assert!(sums.apply(&[&one, &one], &mut [&mut low]).is_err());
        assert!(sums.apply(&[&one, &one[..1]], &mut [&mut low, &mut high]).is_err());
        assert!(sums.apply(&[&one, &one], &mut [&mut low, &mut short]).is_err());
    }
}
