//! Tests of exact lifts of every residue of small moduli.

use sunzi_kernels::Modulus;
use sunzi_ring::Basis;
use sunzi_ring::internals::{BLOCK, ExactExtension, row_factors};

/// Checks that every x modulo a small q is lifted to [x]_q itself, ends included.
#[test]
fn every_residue_is_centred() {
    for values in [&[65_537][..], &[769, 1153], &[17, 97, 193], &[64, 19, 23, 97], &[11, 13, 17, 19, 23]] {
        let basis = Basis::new(values).unwrap();
        let q: u64 = values.iter().product();
        let targets = [250_199_979_294_721, 1 << 40].map(|p| Modulus::new(p).unwrap());
        let extension = ExactExtension::new(&basis, &targets).unwrap();
        let factors = row_factors(&basis, |_| Ok(1)).unwrap();
        let points: Vec<u64> = (0..q).collect();
        for points in points.chunks(BLOCK) {
            let digits: Vec<Vec<u64>> = values
                .iter()
                .zip(&factors)
                .map(|(&m, f)| points.iter().map(|x| x % m * f % m).collect())
                .collect();
            let rows: Vec<&[u64]> = digits.iter().map(Vec::as_slice).collect();
            let mut lifted = vec![vec![0; points.len()]; 2];
            let mut views: Vec<&mut [u64]> = lifted.iter_mut().map(Vec::as_mut_slice).collect();
            extension.apply(&rows, &mut views).unwrap();
            for (target, lifted) in targets.iter().zip(&lifted) {
                for (&x, &lift) in points.iter().zip(lifted) {
                    let centred = if 2 * x > q { x as i64 - q as i64 } else { x as i64 };
                    let next = centred - q as i64;
                    let tie = 2 * x == q && lift == target.reduce_i64(next);
                    assert!(lift == target.reduce_i64(centred) || tie, "{values:?}: {x}");
                }
            }
        }
    }
}
