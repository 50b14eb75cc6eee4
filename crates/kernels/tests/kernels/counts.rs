//! Counts of vector instructions.

use sunzi_kernels::counts::{count_forward, count_inverse};
use sunzi_kernels::{Modulus, NttPlan};

fn default_plan(n: usize) -> NttPlan {
    let prime = (1..)
        .map(|k| (1_u64 << 52) / 18 - k)
        .find(|q| q % (2 * n as u64) == 1 && Modulus::new(*q).is_ok_and(|q| NttPlan::new(q, n).is_ok()));
    NttPlan::new(Modulus::new(prime.unwrap()).unwrap(), n).unwrap()
}

#[test]
fn butterflies_make_most_of_the_counts() {
    for log_n in [6, 8, 10] {
        let n = 1 << log_n;
        let plan = default_plan(n);
        let butterflies = n as u64 / 2 / 8 * log_n;
        let (forward, inverse) = (count_forward(&plan).unwrap(), count_inverse(&plan).unwrap());
        for counts in [forward, inverse] {
            // Three multiplications each, and a renormalisation of half the words every few levels.
            assert!(counts.multiplies >= 3 * butterflies, "{n}: {counts:?}");
            assert!(counts.multiplies <= 4 * butterflies, "{n}: {counts:?}");
            assert!(counts.others >= 2 * butterflies + 24 * n as u64 / 64, "{n}: {counts:?}");
        }
    }
}

#[test]
fn wide_moduli_have_no_counts() {
    let wide =
        (1_u64 << 49..).find(|&q| q % 128 == 1 && Modulus::new(q).is_ok_and(|q| NttPlan::new(q, 64).is_ok()));
    let plan = NttPlan::new(Modulus::new(wide.unwrap()).unwrap(), 64).unwrap();
    assert_eq!((count_forward(&plan), count_inverse(&plan)), (None, None));
}
