//! Tests of FastBconv against big integers.

use num_bigint::BigUint;
use sunzi_kernels::Modulus;
use sunzi_math::mul_mod;
use sunzi_ring::Basis;
use sunzi_ring::internals::{column, matrix_product, row_factors};

/// Checks that Eq. (2) gives x + α·q with 0 ≤ α < k.
#[test]
fn overflow_is_below_k() {
    for values in [vec![17, 97, 193], vec![250_199_979_294_721, (1 << 61) - 1, 3, 65_536]] {
        let basis = Basis::new(&values).unwrap();
        let targets: Vec<_> = [65_537, 1 << 16, (1 << 60) - 93].map(|p| Modulus::new(p).unwrap()).into();
        let columns: Vec<_> = targets.iter().map(|&p| column(&basis, p, 1)).collect();
        let conversion = matrix_product(basis.moduli(), &targets, &columns).unwrap();
        let rows = row_factors(&basis, |_| Ok(1)).unwrap();
        let q = basis.product();
        let points = [BigUint::ZERO, BigUint::from(1_u32), q - 1_u32, q / 2_u32, q / 3_u32];
        let inputs: Vec<Vec<u64>> = values
            .iter()
            .zip(&rows)
            .map(|(&m, &f)| {
                points.iter().map(|x| mul_mod((x % m).iter_u64_digits().next().unwrap_or(0), f, m)).collect()
            })
            .collect();
        let mut outputs = vec![vec![0; points.len()]; targets.len()];
        let inputs: Vec<&[u64]> = inputs.iter().map(Vec::as_slice).collect();
        let mut views: Vec<&mut [u64]> = outputs.iter_mut().map(Vec::as_mut_slice).collect();
        conversion.apply(&inputs, &mut views).unwrap();
        for (c, x) in points.iter().enumerate() {
            let found = (0..values.len() as u64).any(|alpha| {
                let lifted = x + q * alpha;
                targets.iter().zip(&outputs).all(|(p, out)| &lifted % p.value() == BigUint::from(out[c]))
            });
            assert!(found, "no overflow below k explains {x}");
        }
    }
}
