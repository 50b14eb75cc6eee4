use super::*;
use crate::{Clear, ClearError, ClearKeys};

const T: u64 = 65_537;
const ROW: usize = 16;

type Entry = fn(usize, usize) -> u64;

const DENSE: Entry = |i, j| (100 * i + 7 * j * j + 1) as u64 % T;
const BAND: Entry = |i, j| if i.abs_diff(j) < 2 { DENSE(i, j) } else { 0 };
const ZERO: Entry = |_, _| 0;

fn expected(rows: usize, columns: usize, entry: Entry, v: &[u64]) -> Vec<u64> {
    (0..rows).map(|i| (0..columns).map(|j| entry(i, j) * v[j]).sum::<u64>() % T).collect()
}

fn assert_product(product: &crate::ClearCiphertext, rows: [&[u64]; 2]) {
    for (half, wanted) in rows.into_iter().enumerate() {
        let slots = &product.slots()[half * ROW..(half + 1) * ROW];
        assert_eq!(slots[..wanted.len()], *wanted);
        // The product repeats, padding included, so it may be multiplied again.
        let period = wanted.len().next_power_of_two();
        assert!(slots.iter().enumerate().all(|(i, x)| *x == slots[i % period]));
        assert!(slots[wanted.len()..period].iter().all(|x| *x == 0));
    }
}

#[test]
fn every_shape_multiplies_both_rows_at_the_stated_cost() {
    let vectors: [Vec<u64>; 2] =
        [(0..16).map(|i| 3 * i + 1).collect(), (0..16).map(|i| T - 1 - i * i).collect()];
    for rows in 1..=ROW {
        for columns in 1..=ROW {
            for (entry, dense) in [(DENSE, true), (BAND, false), (ZERO, false)] {
                let clear = Clear::new(ROW, T);
                let encode = |slots: &[u64]| Ok::<_, ClearError>(clear.encode(slots));
                let matrix = Matrix::encode(&clear, rows, columns, entry, encode).unwrap();
                let keys = ClearKeys::for_rotations(matrix.required_rotations().iter().copied(), ROW);
                let [first, second] = [&vectors[0][..columns], &vectors[1][..columns]];
                let vector = clear.encrypt(&pack(columns, ROW, first, second));
                let product = multiply(&clear, &matrix, &vector, &keys).unwrap();
                let wanted = [first, second].map(|v| expected(rows, columns, entry, v));
                assert_product(&product, [&wanted[0], &wanted[1]]);

                let counts = clear.counts();
                assert_eq!((counts.products, product.depth()), (0, 0));
                assert_eq!(counts.plain_products, matrix.diagonals());
                assert!(counts.rotated_by.iter().all(|r| matrix.required_rotations().contains(r)));
                if dense {
                    assert_eq!(
                        required_rotations(&clear, rows, columns).unwrap(),
                        matrix.required_rotations()
                    );
                    let (r, c) = (rows.next_power_of_two(), columns.next_power_of_two());
                    let (d, b) = (r.min(c), matrix.baby_steps());
                    assert_eq!(matrix.diagonals(), d);
                    let folds = (c / r).max(1).ilog2() as usize;
                    assert_eq!(counts.rotations, (b - 1) + (d / b - 1) + folds);
                    assert_eq!(counts.hoisted, if b > 2 { b - 1 } else { 0 });
                    assert!(b * b >= d && b * b <= 4 * d, "{b} baby steps of {d}");
                }
            }
        }
    }
}

#[test]
fn a_matrix_may_be_encrypted() {
    for (rows, columns) in [(1, 1), (5, 5), (16, 16), (3, 16), (16, 3), (1, 13)] {
        let clear = Clear::new(ROW, T);
        let encrypt = |slots: &[u64]| Ok::<_, ClearError>(clear.encrypt(slots));
        let matrix = Matrix::encrypt(&clear, rows, columns, BAND, encrypt).unwrap();
        assert_eq!(matrix.required_rotations(), required_rotations(&clear, rows, columns).unwrap());
        let keys = ClearKeys::for_rotations(matrix.required_rotations().iter().copied(), ROW);
        let v: Vec<u64> = (2..2 + columns as u64).collect();
        let product =
            multiply_encrypted(&clear, &matrix, &clear.encrypt(&pack(columns, ROW, &v, &[])), &keys);
        let product = product.unwrap();
        assert_product(&product, [&expected(rows, columns, BAND, &v), &vec![0; rows]]);
        let counts = clear.counts();
        assert_eq!((counts.products, product.depth()), (matrix.diagonals(), 1));
        assert_eq!(counts.relinearizations, matrix.diagonals() / matrix.baby_steps());
    }
}

#[test]
fn products_chain() {
    let clear = Clear::new(ROW, T);
    let encode = |slots: &[u64]| Ok::<_, ClearError>(clear.encode(slots));
    let first = Matrix::encode(&clear, 5, 16, DENSE, encode).unwrap();
    let second = Matrix::encode(&clear, 11, 5, DENSE, encode).unwrap();
    let v: Vec<u64> = (0..16).collect();
    let keys = ClearKeys::all();
    let between = multiply(&clear, &first, &clear.encrypt(&pack(16, ROW, &v, &v)), &keys).unwrap();
    let product = multiply(&clear, &second, &between, &keys).unwrap();
    let wanted = expected(11, 5, DENSE, &expected(5, 16, DENSE, &v));
    assert_product(&product, [&wanted, &wanted]);
}

#[test]
fn what_does_not_fit_is_refused_before_any_work() {
    let clear = Clear::new(ROW, T);
    let encode = |slots: &[u64]| Ok::<_, ClearError>(clear.encode(slots));
    for (rows, columns) in [(0, 1), (1, 0), (17, 1), (1, 17), (usize::MAX, 2)] {
        let error = Matrix::encode(&clear, rows, columns, DENSE, encode).unwrap_err();
        assert!(matches!(error, CircuitError::MatrixShape { row_length: ROW, .. }), "{error}");
        assert!(required_rotations(&clear, rows, columns).is_err());
    }
    let matrix = Matrix::encode(&clear, 9, 9, DENSE, encode).unwrap();
    let few = ClearKeys::for_rotations(matrix.required_rotations().iter().copied().skip(1), ROW);
    let v = clear.encrypt(&[1]);
    let error = multiply(&clear, &matrix, &v, &few).unwrap_err();
    assert!(matches!(error, CircuitError::MissingRotation { rotation: Rotation::Rows(1) }), "{error}");
    let other = Clear::new(2 * ROW, T);
    let error = multiply(&other, &matrix, &v, &ClearKeys::all()).unwrap_err();
    assert!(matches!(error, CircuitError::PlanMismatch { expected: 16, got: 32, .. }), "{error}");
    assert_eq!(clear.counts(), crate::clear::Counts::default());
}
