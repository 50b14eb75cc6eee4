//! What a parameter set costs, to rank candidates.

use sunzi_ring::RnsDigits;

use super::Request;

/// Time of a base conversion from k to k moduli, over k² transforms (0.52 of eight transforms at k = 8).
const CONVERSION: f64 = 0.065;

/// Butterflies of one pass through the requested circuit, for every plaintext modulus.
///
/// One product (BEHZ Alg. 3): 4k transforms out of the evaluation domain, 4(k + 1) into the wide
/// one, 3(2k + 1) back, k² for the digits of relinearisation, 2k for the rest, and ten base
/// conversions. A rotation or a relinearisation transforms k digits to k moduli, or as many as a key's limbs.
pub(super) fn butterflies(log2_degree: u32, moduli: &[u64], plain_moduli: usize, request: &Request) -> f64 {
    let k = moduli.len() as f64;
    let digits = RnsDigits::new(&request.algorithms.key_switching, moduli);
    let switch = digits.map_or(k * k, |digits| (digits.count() * digits.key_limbs()) as f64);
    let levels = f64::from(request.depth);
    let encryptions = 2.0 * 4.0 * k + 2.0 * k;
    let product = switch + k * k * 10.0 * CONVERSION + 16.0 * k + 7.0;
    let rotations = f64::from(request.rotations) * (switch + 2.0 * k);
    let plain_products = f64::from(request.plain_products) * 2.0 * k;
    let transforms = encryptions + levels * product + levels.max(1.0) * (rotations + plain_products);
    let log2_n = f64::from(log2_degree);
    transforms * (log2_n - 1.0).exp2() * log2_n * plain_moduli as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn larger_sets_cost_more() {
        let request = Request { depth: 2, rotations: 3, ..Request::default() };
        let q = sunzi_math::primes_below(1 << 47, 1 << 15, 5).unwrap();
        let base = butterflies(13, &q[..4], 1, &request);
        assert!(butterflies(14, &q[..4], 1, &request) > 2.0 * base);
        assert!(butterflies(13, &q[..5], 1, &request) > base);
        assert!((butterflies(13, &q[..4], 3, &request) - 3.0 * base).abs() < 1e-3);
        assert!(butterflies(12, &q[..2], 3, &request) < butterflies(13, &q[..4], 1, &request) * 1.2);
    }
}
