//! Tests of FastBconvSK on every integer up to its bound, and beyond.

use sunzi_kernels::Modulus;
use sunzi_ring::Basis;
use sunzi_ring::internals::{BLOCK, ShenoyKumaresan, sk_row_factors};

/// Checks that FastBconvSK is right for every |x| < λM for small bases with m_sk = 2(|B| + ⌈λ⌉) or one more;
/// beyond, it fails.
#[test]
fn conversion_is_exact_up_to_the_bound() {
    let targets = [17_u64, 64, 251].map(|q| Modulus::new(q).unwrap());
    for (b, m_sk) in [(vec![11, 13], 29_u64), (vec![13], 5), (vec![3, 5, 7], 11)] {
        let basis = Basis::new(&b).unwrap();
        let product: i64 = b.iter().product::<u64>() as i64;
        let sk = Modulus::new(m_sk).unwrap();
        let bound = (m_sk as i64 / 2 - b.len() as i64) * product;
        let wrong = |points: &[i64]| -> usize {
            let table = ShenoyKumaresan::new(&basis, sk, &targets).unwrap();
            let moduli = b.iter().chain([&m_sk]);
            let row = |(&m, &f): (&u64, &u64)| -> Vec<u64> {
                points.iter().map(|x| x.rem_euclid(m as i64) as u64 * f % m).collect()
            };
            let rows: Vec<Vec<u64>> = moduli.zip(&sk_row_factors(&basis, sk).unwrap()).map(row).collect();
            let rows: Vec<&[u64]> = rows.iter().map(Vec::as_slice).collect();
            let mut output = vec![vec![0; points.len()]; targets.len()];
            table.apply(&rows, &mut output.iter_mut().map(Vec::as_mut_slice).collect::<Vec<_>>()).unwrap();
            let right = |(q, out): (&Modulus, &Vec<u64>)| {
                points.iter().zip(out).filter(|(x, y)| q.reduce_i64(**x) != **y).count()
            };
            targets.iter().zip(&output).map(right).sum()
        };
        let inside: Vec<i64> = (1 - bound..bound).collect();
        assert!(!inside.is_empty());
        assert!(inside.chunks(BLOCK).all(|points| wrong(points) == 0), "{b:?}");
        let outside: Vec<i64> = (0..100).map(|i| (m_sk as i64 + 3) * product + i).collect();
        assert!(wrong(&outside) > 0, "{b:?}");
    }
}
