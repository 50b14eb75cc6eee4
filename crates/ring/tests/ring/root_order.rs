//! Tests of the number modulo which moduli of a ring must be 1.

use sunzi_ring::Ring;

#[test]
fn powers_of_two_need_no_other_roots() {
    for log2 in 2..=18 {
        assert_eq!(Ring::root_order(1 << log2).unwrap(), 1 << log2);
    }
    for m in [9, 15, 21, 4369, 13107, 21845, 32767, 65535] {
        assert_eq!(Ring::root_order(m).unwrap() % m, 0, "{m}");
    }
    for (m, primes) in [(128, [257, 641]), (85, [8161, 9521])] {
        let product = primes.iter().product();
        assert!(primes.iter().all(|p| sunzi_math::is_prime(*p) && p % Ring::root_order(m).unwrap() == 1));
        assert_eq!(Ring::takes_products_of_primes(m), Ring::new(m, &[product]).is_ok(), "{m}");
    }
    assert!(Ring::root_order(0).is_err() && Ring::root_order(u64::MAX).is_err());
}
