//! Products of matrices against sums of products of big integers.

use sunzi_kernels::{IntegerMatrix, KernelError, MAX_MATRIX_COLUMNS, MatrixKernel, Modulus};

/// Numbers that look random.
fn mix(i: usize) -> u64 {
    let x = (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (x ^ x >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9)
}

/// Kernels that this processor has; the portable one always.
fn kernels() -> impl Iterator<Item = MatrixKernel> {
    MatrixKernel::ALL.into_iter().filter(|kernel| kernel.is_available())
}

/// Σ_k m_ik·x_kc mod q, term by term.
fn slow(q: u64, columns: usize, entries: &[i64], input: &[Vec<u64>]) -> Vec<Vec<u64>> {
    let sum = |row: &[i64], c: usize| {
        let terms = row.iter().zip(input).map(|(&m, x)| i128::from(m) * i128::from(x[c]) % i128::from(q));
        terms.sum::<i128>().rem_euclid(i128::from(q)) as u64
    };
    let width = input[0].len();
    entries.chunks(columns).map(|row| (0..width).map(|c| sum(row, c)).collect()).collect()
}

fn fast(
    q: u64,
    shape: [usize; 2],
    entries: &[i64],
    input: &[Vec<u64>],
    kernel: MatrixKernel,
) -> Vec<Vec<u64>> {
    let matrix = IntegerMatrix::with_kernel(shape[0], shape[1], entries, kernel).unwrap();
    let mut out = vec![vec![u64::MAX; input[0].len()]; shape[0]];
    let mut rows: Vec<&mut [u64]> = out.iter_mut().map(Vec::as_mut_slice).collect();
    let input: Vec<&[u64]> = input.iter().map(Vec::as_slice).collect();
    matrix.multiply(&Modulus::new(q).unwrap(), &mut rows, &input).unwrap();
    out
}

fn compare(q: u64, [rows, columns, width]: [usize; 3], entries: &[i64], input: &[Vec<u64>]) {
    let expected = slow(q, columns, entries, input);
    for kernel in kernels() {
        let got = fast(q, [rows, columns], entries, input, kernel);
        assert!(got == expected, "{rows} x {columns} x {width} modulo {q} by {kernel}");
    }
}

/// Moduli next to the lengths at which the number of digits changes, and others.
const MODULI: [u64; 16] = [
    2,
    3,
    251,
    255,
    256,
    257,
    65537,
    2 * 0x7F_7F7F + 1,
    2 * 0x7F_7F7F + 2,
    (1 << 26) - 5,
    (1 << 51) - 129,
    (1 << 51) + 1,
    250_199_979_302_911,
    2 * 0x7F7F_7F7F_7F7F + 1,
    2 * 0x7F7F_7F7F_7F7F + 2,
    (1 << 62) - 57,
];

#[test]
fn products_of_all_shapes() {
    let shapes =
        [[1, 1, 1], [2, 3, 5], [12, 64, 32], [13, 65, 33], [32, 4, 64], [33, 130, 97], [70, 257, 65]];
    for (s, [rows, columns, width]) in shapes.into_iter().enumerate() {
        for q in MODULI {
            let entries: Vec<i64> = (0..rows * columns).map(|i| i64::from(mix(i + s) as i16)).collect();
            let input: Vec<Vec<u64>> =
                (0..columns).map(|k| (0..width).map(|c| mix(k * width + c) % q).collect()).collect();
            compare(q, [rows, columns, width], &entries, &input);
        }
    }
}

/// The ends of all digits: entries next to ±2^(8d−1) and ±2^(16d−1), residues next to 0, q/2 and q.
#[test]
fn ends_of_every_range() {
    for q in MODULI {
        let residues = [0, 1, q / 2 - q / 2 % 2, q / 2, q.div_ceil(2) % q, (q / 2 + 1) % q, q - 1];
        for bits in [7, 8, 15, 16, 23, 31, 39, 47, 48, 55, 62, 63] {
            let end = (1_u64 << bits) as i64;
            let entries =
                [end, end.wrapping_sub(1), end.wrapping_neg(), end.wrapping_neg().wrapping_add(1), -1, 0];
            for first in 0..entries.len() {
                // One row of equal entries, one of all.
                let mut matrix = vec![entries[first]; 70];
                matrix.extend((0..70).map(|i| entries[(i + first) % entries.len()]));
                let input: Vec<Vec<u64>> = (0..70)
                    .map(|k| residues.iter().map(|&x| if k % 3 == 2 { q - 1 } else { x }).collect())
                    .collect();
                compare(q, [2, 70, residues.len()], &matrix, &input);
            }
        }
    }
}

/// Sums of the largest products over several blocks of terms, where accumulators are as full as they become.
#[test]
fn largest_sums() {
    for columns in [1023, 1024, 1025, 4095, 4096, 4097, 9000] {
        for q in [(1 << 62) - 57, 250_199_979_302_911, (1 << 51) - 129] {
            for entry in [i64::from(i16::MIN), i64::from(i16::MAX), i64::MIN, i64::MAX] {
                let (matrix, input) = (vec![entry; columns], vec![vec![q / 2, q / 2 + 1, q - 1, 0]; columns]);
                compare(q, [1, columns, 4], &matrix, &input);
            }
        }
    }
}

/// Moduli next to the lengths at which digits of two residues change, beside [`MODULI`].
fn moduli_of_pairs() -> impl Iterator<Item = u64> {
    let ends = [21, 22, 28, 30, 31, 32, 33, 36, 39, 40, 42, 43, 44, 54, 55, 56];
    MODULI.into_iter().chain(ends.into_iter().flat_map(|bits| [(1 << bits) - 1, (1 << bits) + 1]))
}

/// Compares products of matrices of residues, the left one given by columns, with sums of 128 bits, by all kernels.
fn compare_residues(q: u64, columns: &[Vec<u64>], input: &[Vec<u64>]) {
    let (rows, width) = (columns[0].len(), input[0].len());
    let sum = |i: usize, c: usize| {
        let terms =
            columns.iter().zip(input).map(|(l, r)| u128::from(l[i]) * u128::from(r[c]) % u128::from(q));
        (terms.sum::<u128>() % u128::from(q)) as u64
    };
    let expected: Vec<Vec<u64>> = (0..rows).map(|i| (0..width).map(|c| sum(i, c)).collect()).collect();
    let modulus = Modulus::new(q).unwrap();
    let left: Vec<&[u64]> = columns.iter().map(Vec::as_slice).collect();
    let right: Vec<&[u64]> = input.iter().map(Vec::as_slice).collect();
    for kernel in kernels() {
        let matrix = IntegerMatrix::of_residues_with_kernel(&modulus, &left, kernel).unwrap();
        assert_eq!((matrix.rows(), matrix.columns()), (rows, columns.len()));
        let mut out = vec![vec![u64::MAX; width]; rows];
        let mut refs: Vec<&mut [u64]> = out.iter_mut().map(Vec::as_mut_slice).collect();
        matrix.multiply(&modulus, &mut refs, &right).unwrap();
        assert!(out == expected, "{rows} x {} x {width} residues modulo {q} by {kernel}", columns.len());
        for i in [0, rows - 1] {
            let signed = |column: &Vec<u64>| column[i] as i64 - if column[i] > q / 2 { q as i64 } else { 0 };
            assert_eq!(matrix.row(i).unwrap(), columns.iter().map(signed).collect::<Vec<_>>(), "{kernel}");
        }
    }
}

#[test]
fn products_of_residues_of_all_shapes() {
    for [rows, columns, width] in [[1, 1, 1], [5, 3, 2], [12, 64, 32], [33, 65, 33], [70, 130, 65]] {
        for q in moduli_of_pairs() {
            let residue = |k: usize, i: usize| mix(k * 977 + i) % q;
            let left: Vec<Vec<u64>> =
                (0..columns).map(|k| (0..rows).map(|i| residue(k, i)).collect()).collect();
            let right: Vec<Vec<u64>> =
                (0..columns).map(|k| (0..width).map(|c| residue(k + 1, c + 500)).collect()).collect();
            compare_residues(q, &left, &right);
        }
    }
}

/// Sums of the largest products of residues next to ±q/2 over several blocks of terms, where accumulators are fullest.
#[test]
fn largest_sums_of_residues() {
    for q in moduli_of_pairs() {
        let ends = [0, 1 % q, q / 2, q.div_ceil(2) % q, (q / 2 + 1) % q, q - 1];
        for columns in [1023, 1025, 4097] {
            compare_residues(q, &vec![ends.to_vec(); columns], &vec![ends.to_vec(); columns]);
        }
    }
}

#[test]
fn refusals_of_residues() {
    let q = Modulus::new(97).unwrap();
    let shape = |rows, columns| KernelError::MatrixShape { rows, columns, most: MAX_MATRIX_COLUMNS };
    assert_eq!(IntegerMatrix::of_residues(&q, &[]).unwrap_err(), shape(0, 0));
    assert_eq!(IntegerMatrix::of_residues(&q, &[&[], &[]]).unwrap_err(), shape(0, 2));
    let many = vec![&[1_u64][..]; MAX_MATRIX_COLUMNS + 1];
    assert_eq!(IntegerMatrix::of_residues(&q, &many).unwrap_err(), shape(1, many.len()));
    let length = KernelError::LengthMismatch { expected: 2, got: 1 };
    assert_eq!(IntegerMatrix::of_residues(&q, &[&[1, 2], &[3]]).unwrap_err(), length);
}

/// Rows come back as they were given.
#[test]
fn entries_survive() {
    let ends = [0, 1, -1, 127, -128, 128, 32767, -32768, 32768, i64::MAX, i64::MIN, 0x7FFF_8000_7FFF_8000];
    let entries: Vec<i64> =
        (0..14 * 1100).map(|i| ends[i % ends.len()] ^ (mix(i) as i64 >> (i % 3 * 31))).collect();
    for kernel in kernels() {
        for bits in [0, 7, 15, 31, 63] {
            let entries: Vec<i64> = entries.iter().map(|entry| entry >> (63 - bits)).collect();
            let matrix = IntegerMatrix::with_kernel(14, 1100, &entries, kernel).unwrap();
            let rows: Vec<Vec<i64>> = (0..14).map(|i| matrix.row(i).unwrap()).collect();
            assert_eq!(rows.concat(), entries, "{kernel}");
            assert_eq!(matrix.row(14), None);
        }
    }
}

#[test]
fn refusals() {
    let q = Modulus::new(97).unwrap();
    let shape = |rows, columns| KernelError::MatrixShape { rows, columns, most: MAX_MATRIX_COLUMNS };
    for (rows, columns) in [(0, 1), (1, 0), (0, 0), (1, MAX_MATRIX_COLUMNS + 1), (usize::MAX, 2)] {
        assert_eq!(IntegerMatrix::new(rows, columns, &[]).unwrap_err(), shape(rows, columns));
    }
    let wrong = IntegerMatrix::new(2, 2, &[1; 3]).unwrap_err();
    assert_eq!(wrong, KernelError::LengthMismatch { expected: 4, got: 3 });
    let matrix = IntegerMatrix::new(1, 2, &[1; 2]).unwrap();
    let (mut a, mut b, mut c) = ([0; 3], [0; 3], [0; 2]);
    let (x, y): (&[u64], &[u64]) = (&[1; 3], &[1; 2]);
    let count = |expected, got| Err(KernelError::CountMismatch { expected, got });
    assert_eq!(matrix.multiply(&q, &mut [&mut a, &mut b], &[x; 2]), count(1, 2));
    assert_eq!(matrix.multiply(&q, &mut [&mut a], &[x]), count(2, 1));
    let length = Err(KernelError::LengthMismatch { expected: 3, got: 2 });
    assert_eq!(matrix.multiply(&q, &mut [&mut c], &[x; 2]), length);
    assert_eq!(matrix.multiply(&q, &mut [&mut a], &[x, y]), length);
    // No columns of residues are no work.
    assert_eq!(matrix.multiply(&q, &mut [&mut []], &[&[], &[]]), Ok(()));
}

/// Prepared matrices take 2 bytes for an entry of 16 bits in bytes and 8 in doubles, beside padding.
#[test]
fn memory_of_digits() {
    for kernel in kernels() {
        let matrix = IntegerMatrix::with_kernel(96, 128, &[-5000; 96 * 128], kernel).unwrap();
        let entry = if matches!(kernel, MatrixKernel::Amx | MatrixKernel::Vnni) { 2 } else { 8 };
        assert_eq!(matrix.byte_len(), 96 * 128 * entry, "{kernel}");
        assert_eq!((matrix.rows(), matrix.columns(), matrix.kernel()), (96, 128, kernel));
    }
}
