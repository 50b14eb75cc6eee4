//! Candidates for the ciphertext moduli.

use std::collections::BTreeMap;

use sunzi_math::{DEFAULT_PRIME_BOUND, primes_below};
use sunzi_rlwe::{Security, security::max_log2_modulus};

/// Limbs tried where no security limit ends the search.
const MAX_LIMBS: usize = 48;

/// The limit on log2 q at a ring degree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Limit {
    /// At most this many bits.
    Bits(u32),
    /// No limit: security was given up.
    Unlimited,
}

impl Limit {
    /// The limit of the security table; none where it has no secure entry.
    pub(super) fn of(log2_degree: u32, security: Security) -> Option<Self> {
        match security {
            Security::InsecureForResearchOnly => Some(Self::Unlimited),
            _ => max_log2_modulus(log2_degree, security).map(Self::Bits),
        }
    }

    /// The limit in bits, if there is one.
    pub(super) fn bits(self) -> Option<u32> {
        match self {
            Self::Bits(bits) => Some(bits),
            Self::Unlimited => None,
        }
    }

    /// The most limbs worth trying: all of full size, or a few smaller ones that use the limit up
    /// (smaller limbs make key switching less noisy).
    pub(super) fn max_limbs(self) -> usize {
        match self {
            Self::Bits(bits) => (f64::from(bits) / (DEFAULT_PRIME_BOUND as f64).log2()) as usize + 2,
            Self::Unlimited => MAX_LIMBS,
        }
    }

    /// Every limb must lie below this: ⌊2^52/18⌋, and `limbs` of them within the limit.
    fn bound(self, limbs: usize) -> u64 {
        match self {
            Self::Bits(bits) => {
                let share = (f64::from(bits) / limbs.max(1) as f64).exp2();
                DEFAULT_PRIME_BOUND.min(share as u64)
            }
            Self::Unlimited => DEFAULT_PRIME_BOUND,
        }
    }
}

/// Ciphertext moduli and special moduli.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Chain {
    /// The ciphertext moduli q_i.
    pub(super) moduli: Vec<u64>,
    /// The special moduli p_i, hardly smaller than the q_i.
    pub(super) special: Vec<u64>,
}

/// Moduli, found once and kept while a search runs.
#[derive(Debug, Default)]
pub(super) struct Chains {
    primes: BTreeMap<(u64, u64), Vec<u64>>,
}

impl Chains {
    /// `limbs` ciphertext moduli and `special` special ones within the limit together; none if there are too few
    /// primes.
    pub(super) fn split(
        &mut self,
        root_order: u64,
        limbs: usize,
        special: usize,
        limit: Limit,
        plain: &[u64],
    ) -> Option<Chain> {
        let mut moduli = self.get(root_order, limbs + special, limit, plain)?;
        let special = moduli.split_off(limbs);
        Some(Chain { moduli, special })
    }

    /// The `limbs` largest primes ≡ 1 (mod `root_order`) within the limit that do not divide a plaintext
    /// modulus, in descending order; none if there are too few.
    fn get(&mut self, root_order: u64, limbs: usize, limit: Limit, plain: &[u64]) -> Option<Vec<u64>> {
        let bound = limit.bound(limbs);
        // A plaintext modulus below 2^60 has few divisors of this size; one each in practice.
        let wanted = limbs + plain.len();
        let known = self.primes.entry((root_order, bound)).or_default();
        if known.len() < wanted {
            let count = wanted.max(if bound == DEFAULT_PRIME_BOUND { limit.max_limbs() } else { 0 });
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

    #[test]
    fn chains_stay_below_the_limit_and_use_it_up() {
        let mut chains = Chains::default();
        for log2_degree in 11..=16 {
            for security in [Security::Bits128, Security::Bits192, Security::Bits256] {
                let limit = Limit::of(log2_degree, security).unwrap();
                let bits = u64::from(limit.bits().unwrap());
                let longest = limit.max_limbs();
                for limbs in [1, longest - 2, longest - 1, longest] {
                    let Some(chain) = chains.get(2 << log2_degree, limbs, limit, &[]) else { continue };
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
        let free = chains.get(1 << 13, 2, Limit::Bits(106), &[]).unwrap();
        let avoided = chains.get(1 << 13, 2, Limit::Bits(106), &free[..1]).unwrap();
        assert_eq!(avoided[0], free[1]);
        let multiple = chains.get(1 << 13, 2, Limit::Bits(106), &[free[1] * 3]).unwrap();
        assert_eq!(multiple[0], free[0]);
        assert!(!multiple.contains(&free[1]));
    }

    #[test]
    fn the_table_has_gaps_and_the_opt_out_has_no_limit() {
        assert_eq!(Limit::of(10, Security::Bits192), None);
        assert_eq!(Limit::of(9, Security::Bits128), None);
        assert_eq!(Limit::of(6, Security::InsecureForResearchOnly), Some(Limit::Unlimited));
    }
}
