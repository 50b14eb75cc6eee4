//! Candidates for the ciphertext moduli of BFV parameters.

use std::collections::BTreeMap;

use sunzi_math::{DEFAULT_PRIME_BOUND, WIDE_PRIME_BOUND, primes_below};

/// Number of ciphertext moduli tried where no security limit ends the search.
const MAX_LIMBS: usize = 48;
/// Number of primes found at once below a bound that many numbers of moduli share.
const AT_ONCE: usize = 24;

/// The largest number of ciphertext moduli worth trying within `limit` bits: all of full size, or a few smaller ones
/// that use the limit up (smaller moduli make key switching less noisy).
pub(super) fn max_limbs(limit: f64) -> usize {
    if limit.is_finite() { (limit / (DEFAULT_PRIME_BOUND as f64).log2()) as usize + 2 } else { MAX_LIMBS }
}

/// The bounds below which every modulus may lie: ⌊2^52/18⌋, or less for `limbs` of them within the limit, and 2^49 where
/// the limit has room for wider ones.
pub(super) fn bounds(limit: f64, limbs: usize) -> impl Iterator<Item = u64> {
    let most = (limit / limbs.max(1) as f64).exp2() as u64;
    let wide = (most > DEFAULT_PRIME_BOUND).then_some(most.min(WIDE_PRIME_BOUND));
    std::iter::once(most.min(DEFAULT_PRIME_BOUND)).chain(wide)
}

/// Lists of primes found during a search, by root order and bound.
#[derive(Debug, Default)]
pub(super) struct Chains {
    primes: BTreeMap<(u64, u64), Vec<u64>>,
}

impl Chains {
    /// Finds `limbs` ciphertext moduli and `special` special moduli, hardly smaller, below a bound; none if there are
    /// too few primes.
    pub(super) fn split(
        &mut self,
        root_order: u64,
        [limbs, special]: [usize; 2],
        bound: u64,
        plain: &[u64],
    ) -> Option<[Vec<u64>; 2]> {
        let mut moduli = self.get(root_order, limbs + special, bound, plain)?;
        let special = moduli.split_off(limbs);
        Some([moduli, special])
    }

    /// Finds the `limbs` largest primes ≡ 1 (mod `root_order`) below a bound that do not divide a plaintext modulus, in
    /// descending order; none if there are too few.
    fn get(&mut self, root_order: u64, limbs: usize, bound: u64, plain: &[u64]) -> Option<Vec<u64>> {
        // A plaintext modulus below 2^60 has few divisors of this size; one each in practice.
        let wanted = limbs + plain.len();
        let known = self.primes.entry((root_order, bound)).or_default();
        if known.len() < wanted {
            // The bounds of words serve many numbers of limbs.
            let shared = [DEFAULT_PRIME_BOUND, WIDE_PRIME_BOUND].contains(&bound);
            let count = if shared { wanted.next_multiple_of(AT_ONCE) } else { wanted };
            *known = primes_below(bound, root_order, count).ok()?;
        }
        let coprime = known.iter().copied().filter(|q| plain.iter().all(|t| t % q != 0));
        let chain: Vec<u64> = coprime.take(limbs).collect();
        (chain.len() == limbs).then_some(chain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigUint;
    use sunzi_rlwe::security::limit_of;
    use sunzi_rlwe::{SecretDistribution, Security};

    #[test]
    fn chains_stay_below_the_limit_and_use_it_up() {
        let mut chains = Chains::default();
        for log2_degree in 11..=16 {
            for security in [Security::Bits128, Security::Bits192, Security::Bits256] {
                let limit = limit_of(SecretDistribution::Ternary, log2_degree, security);
                let (bits, longest) = (limit as u64, max_limbs(limit));
                for limbs in [1, longest - 2, longest - 1, longest] {
                    let bound = bounds(limit, limbs).next().unwrap();
                    let Some(chain) = chains.get(2 << log2_degree, limbs, bound, &[]) else { continue };
                    let product: BigUint = chain.iter().product();
                    assert!(product.bits() <= bits, "2^{log2_degree}, {limbs} limbs");
                    assert!(chain.windows(2).all(|pair| pair[0] > pair[1]));
                    assert!(chain.iter().all(|q| q % (2 << log2_degree) == 1 && *q < DEFAULT_PRIME_BOUND));
                    if limbs == longest - 1 {
                        assert!(product.bits() + 1 >= bits, "2^{log2_degree}: {} of {bits}", product.bits());
                    }
                }
            }
        }
    }

    #[test]
    fn a_plain_modulus_is_never_a_limb() {
        let mut chains = Chains::default();
        let free = chains.get(1 << 13, 2, DEFAULT_PRIME_BOUND, &[]).unwrap();
        let avoided = chains.get(1 << 13, 2, DEFAULT_PRIME_BOUND, &free[..1]).unwrap();
        assert_eq!(avoided[0], free[1]);
        let multiple = chains.get(1 << 13, 2, DEFAULT_PRIME_BOUND, &[free[1] * 3]).unwrap();
        assert_eq!(multiple[0], free[0]);
        assert!(!multiple.contains(&free[1]));
    }

    #[test]
    fn the_table_has_gaps_and_the_opt_out_has_no_limit() {
        let limit = |log2_degree, security| limit_of(SecretDistribution::Ternary, log2_degree, security);
        assert_eq!(limit(10, Security::Bits192), 0.0);
        assert_eq!(limit(9, Security::Bits128), 0.0);
        assert_eq!(limit(6, Security::InsecureForResearchOnly), f64::INFINITY);
        assert_eq!(max_limbs(f64::INFINITY), MAX_LIMBS);
    }
}
