//! Tests of rounded divisions of every integer around zero.

use sunzi_kernels::Modulus;
use sunzi_math::mod_inv;
use sunzi_ring::internals::{BLOCK, RoundedDivision, row_factors};
use sunzi_ring::{Basis, ModulusSwitching};

/// Checks a/q rounded for every |a| ≤ 3q: ⌊a/q⌉ if exact, else within k/2 of a/q, and nearly that far somewhere.
#[test]
fn every_integer_is_divided_within_the_error() {
    let values = [17, 19, 23];
    let basis = Basis::new(&values).unwrap();
    let q = 17 * 19 * 23_i64;
    let (p, f) = (Modulus::new(250_199_979_294_721).unwrap(), 12_345);
    let factors = row_factors(&basis, |_| Ok(1)).unwrap();
    for switching in [ModulusSwitching::Exact, ModulusSwitching::Approximate] {
        let division = RoundedDivision::new(&basis, &[(p, f)], switching).unwrap();
        let mut largest = 0.0_f64;
        let points: Vec<i64> = (-3 * q..=3 * q).collect();
        for points in points.chunks(BLOCK) {
            let row = |(&m, &c): (&u64, &u64)| -> Vec<u64> {
                points.iter().map(|a| a.rem_euclid(m as i64) as u64 * c % m).collect()
            };
            let mut digits: Vec<u64> = values.iter().zip(&factors).flat_map(row).collect();
            division.prepare(&mut digits, points.len()).unwrap();
            let rows: Vec<&[u64]> = digits.chunks_exact(points.len()).collect();
            let mut out = vec![0; points.len()];
            division.apply(&rows, &mut [&mut out]).unwrap();
            let inverse = mod_inv(q as u64, p.value()).unwrap();
            for (&a, &r) in points.iter().zip(&out) {
                let quotient = p.mul(p.mul(p.reduce_i64(a), inverse), f);
                let scaled = p.mul(p.add(quotient, r), mod_inv(f, p.value()).unwrap());
                let rounded =
                    if scaled > p.value() / 2 { scaled as i64 - p.value() as i64 } else { scaled as i64 };
                let error = (rounded as f64 - a as f64 / q as f64).abs();
                assert!(error <= division.error(), "{switching:?} {a}: {rounded}");
                largest = largest.max(error);
            }
        }
        assert!(largest > 0.9 * division.error(), "{switching:?}: {largest}");
    }
}
