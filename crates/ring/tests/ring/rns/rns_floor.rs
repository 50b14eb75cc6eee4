//! Tests of fastRNSFloor on every integer around zero.

use sunzi_kernels::Modulus;
use sunzi_math::mod_inv;
use sunzi_ring::Basis;
use sunzi_ring::internals::{floor_column, matrix_product, row_factors};

/// Checks Lemma 5 for every |a| ≤ 5q: the error lies in [−k, 0] and meets both ends.
#[test]
fn the_error_is_at_most_k() {
    let values = [17, 19, 23];
    let basis = Basis::new(&values).unwrap();
    let q = 17 * 19 * 23_i64;
    let p = Modulus::new(250_199_979_294_721).unwrap();
    let floor = matrix_product(basis.moduli(), &[p], &[floor_column(&basis, p, 1).unwrap()]).unwrap();
    let factors = row_factors(&basis, |_| Ok(1)).unwrap();
    let points: Vec<i64> = (-5 * q..=5 * q).collect();
    let row = |(&m, &f): (&u64, &u64)| -> Vec<u64> {
        points.iter().map(|a| a.rem_euclid(m as i64) as u64 * f % m).collect()
    };
    let rows: Vec<Vec<u64>> = values.iter().zip(&factors).map(row).collect();
    let rows: Vec<&[u64]> = rows.iter().map(Vec::as_slice).collect();
    let mut floored = vec![0; points.len()];
    floor.apply(&rows, &mut [&mut floored]).unwrap();
    let inverse = mod_inv(q as u64, p.value()).unwrap();
    let mut errors: Vec<i64> = points
        .iter()
        .zip(&floored)
        .map(|(&a, &correction)| {
            let rounded = (2 * a + q).div_euclid(2 * q);
            let floor = p.add(p.mul(p.reduce_i64(a), inverse), correction);
            let error = p.sub(floor, p.reduce_i64(rounded));
            if error > p.value() / 2 { error as i64 - p.value() as i64 } else { error as i64 }
        })
        .collect();
    errors.sort_unstable();
    assert_eq!((errors[0], errors[errors.len() - 1]), (-3, 0));
}
