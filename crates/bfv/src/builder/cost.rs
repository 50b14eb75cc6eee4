//! Cost of a BFV parameter set, by which candidates are ranked.

use sunzi_ring::GadgetOptions;
use sunzi_rlwe::switch_cost::{SwitchCost, transforms};

use crate::request::Request;

/// Time of a base conversion from k to k moduli, over that of k² transforms (0.52 of eight transforms at k = 8).
const CONVERSION: f64 = 0.065;

/// Counts the butterflies of one run of the requested circuit, for every plaintext modulus.
///
/// One BFV product (BEHZ Alg. 3) takes 4k transforms out of the evaluation domain, 4(k + 1) into the wide one, 3(2k +
/// 1) back, ten base conversions, and relinearisation.
pub(super) fn butterflies(
    degree: usize,
    moduli: &[u64],
    key_switching: &GadgetOptions,
    plain_moduli: usize,
    request: &Request,
) -> f64 {
    let (k, limbs) = (moduli.len() as f64, transforms(moduli));
    let each = limbs / k.max(1.0);
    let switch = SwitchCost::new(key_switching, moduli, moduli.len(), degree).unwrap_or_default();
    let switch = switch.in_transforms(degree);
    let levels = request.depth as f64;
    let hybrid = !key_switching.special_moduli.is_empty();
    let encryption = 3.0 * limbs + if hybrid { 3.0 * each } else { 0.0 };
    let encryptions = 2.0 * encryption + 2.0 * limbs;
    // The two parts that relinearisation leaves alone: a division by P takes them along.
    let others = if hybrid { 0.0 } else { 2.0 * limbs };
    let product = switch + others + k * k * 10.0 * CONVERSION + 14.0 * limbs + 7.0 * each;
    let rotations = f64::from(request.rotations) * switch;
    let plain_products = request.plain_products as f64 * 2.0 * limbs;
    let transforms = encryptions + levels * product + levels.max(1.0) * (rotations + plain_products);
    let n = degree as f64;
    transforms * n / 2.0 * n.log2() * plain_moduli as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn larger_sets_cost_more() {
        let request = Request { depth: 2, rotations: 3, ..Request::default() };
        let q = sunzi_math::primes_below(1 << 47, 1 << 15, 5).unwrap();
        let cost = |log2_degree: u32, limbs: usize, plain| {
            butterflies(1_usize << log2_degree, &q[..limbs], &GadgetOptions::default(), plain, &request)
        };
        let base = cost(13, 4, 1);
        assert!(cost(14, 4, 1) > 2.0 * base);
        assert!(cost(13, 5, 1) > base);
        assert!((cost(13, 4, 3) - 3.0 * base).abs() < 1e-3);
        assert!(cost(12, 2, 3) < cost(13, 4, 1) * 1.2);
    }
}
