//! Auxiliary bases of products, beside q: B_sk = B ∪ {m_sk} [BEHZ16, 4.2 and Prop. 2], P [KPZ21, Alg. 1 to 3].

use num_bigint::BigUint;
use num_traits::ToPrimitive;
use sunzi_kernels::Modulus;
use sunzi_math::{DEFAULT_PRIME_BOUND, MathError, RingIndex, WIDE_PRIME_BOUND, primes_below};

use super::fast_base_conversion::Overflow;
use crate::error::part;
use crate::{Auxiliary, Basis, Expansion, RingError, ScalerOptions};

/// Primes of B, the prime m_sk, and the number of ciphertext products that may be summed.
#[derive(Debug)]
pub struct AuxiliaryBasis {
    /// Primes of the basis B.
    pub b: Vec<u64>,
    /// Prime m_sk of B_sk, redundant beside B.
    pub m_sk: u64,
    /// Number of ciphertext products that may be summed, at least 1.
    pub products: u64,
}

/// Chooses the smallest B of primes with roots of unity for which eq. (14) holds, and λ as large as m_sk allows: of
/// default size with room for sums of 256 products, or no longer than the moduli of q with room for one.
///
/// Eq. (14): λM > s·δt(q/2)(1 + ρ)² + 1/2 + k for a sum of s ciphertext products, whose middle term adds two
/// products of lifts below (q/2)(1 + ρ); m_sk ≥ 2(|B| + ⌈λ⌉).
///
/// # Errors
/// [`RingError::OutOfRange`]; [`RingError::Math`] where there are too few primes.
pub fn choose(
    basis: &Basis,
    index: &RingIndex,
    t: u64,
    options: &ScalerOptions,
) -> Result<AuxiliaryBasis, RingError> {
    let k = basis.len();
    let overflow = Overflow::new(k, options.m_tilde);
    let (bound, least) = (prime_bound(basis, options.auxiliary), capacity(options.auxiliary));
    // Scaled lift, 2d²·(one product) = δ·t·q·(1 + ρ)²·d², for the denominator d of ρ.
    let lift = overflow.numerator + overflow.denominator;
    let product = basis.product() * t * Expansion::new(index)?.factor() as u64 * lift * lift;
    let scale = BigUint::from(2 * overflow.denominator * overflow.denominator);
    // The bound λM is shorter than |B| + 1 primes.
    let bits = u64::from(u64::BITS - (bound - 1).leading_zeros());
    let primes_needed = product.bits().saturating_sub(scale.bits()) / bits;
    let mut known = Candidates::new(basis, index, t, bound);
    for size in primes_needed.saturating_sub(1).max(1) as usize.. {
        let mut primes = known.first(size + 1)?.to_vec();
        let Some(m_sk) = primes.pop() else { break };
        let lambda = (m_sk / 2).saturating_sub(size as u64);
        let room = primes.iter().fold(BigUint::from(lambda), |room, &m| room * m);
        let slack = BigUint::from(k as u64 + 1);
        if room > slack {
            // Products lie strictly below the limit: at most (room − k − 1 − 1)·2m̃²/product.
            let products = ((room - slack - 1_u32) * &scale / &product).to_u64().unwrap_or(u64::MAX);
            if products >= least {
                return Ok(AuxiliaryBasis { b: primes, m_sk, products });
            }
        }
    }
    Err(RingError::out_of_range("modulus", "one that auxiliary primes can cover", basis.product()))
}

/// Chooses P for products that are scaled by t/q [KPZ21, Alg. 1], and the number of them that may be summed: as few
/// primes as hold ⌊(t/q)·a⌉ between ±P/2 for sums of as many products as the options ask for.
///
/// The middle part of a product adds two products of lifts below (q/2)(1 + ρ), so P > s·δtq for s of them, and a
/// 2^-20th more for ρ and for the quotients of both conversions.
pub(crate) fn holding_products(
    basis: &Basis,
    index: &RingIndex,
    t: u64,
    options: &ScalerOptions,
) -> Result<(Vec<u64>, u64), RingError> {
    let bound = prime_bound(basis, options.auxiliary);
    let product = basis.product() * t * Expansion::new(index)?.factor() as u64;
    let product = &product + (&product >> 20_u32) + 4_u32;
    let mut known = Candidates::new(basis, index, t, bound);
    // Fewer primes than this, all below the bound, have a smaller product.
    let least = product.bits() / u64::from(u64::BITS - (bound - 1).leading_zeros());
    for size in least.max(1) as usize.. {
        let primes = known.first(size)?;
        let room = primes.iter().fold(BigUint::from(1_u32), |room, &p| room * p);
        let products = ((&room - (&room >> 20_u32)) / &product).to_u64().unwrap_or(u64::MAX);
        if products >= capacity(options.auxiliary) {
            return Ok((primes.to_vec(), products));
        }
    }
    Err(RingError::out_of_range("modulus", "one that auxiliary primes can cover", basis.product()))
}

/// Chooses P for products that are scaled by t/P [KPZ21, Alg. 2 and 3]: primes, of which level ℓ takes the first c_ℓ,
/// and c_1, …, c_k. P_ℓ ≥ (15/16)·q_1⋯q_ℓ, so that the rounding of a switch to P_ℓ weighs hardly more than one to
/// q_1⋯q_ℓ [eq. (11)].
pub(crate) fn as_long_as_levels(
    basis: &Basis,
    index: &RingIndex,
    t: u64,
    options: &ScalerOptions,
) -> Result<(Vec<u64>, Vec<usize>), RingError> {
    let bound = prime_bound(basis, options.auxiliary);
    let mut known = Candidates::new(basis, index, t, bound);
    let mut room = known.first(1)?.iter().fold(BigUint::from(16_u32), |room, &p| room * p);
    let (mut size, mut counts) = (1, Vec::with_capacity(basis.len()));
    let mut target = BigUint::from(15_u32);
    for &q in basis.values() {
        target *= q;
        while room < target {
            size += 1;
            room = known.first(size)?.last().map_or(room.clone(), |&p| &room * p);
        }
        counts.push(size);
    }
    Ok((known.first(size)?.to_vec(), counts))
}

/// The bound below which the primes of auxiliary bases are searched. Beside wide moduli they are wide: as few then hold
/// as much.
fn prime_bound(basis: &Basis, auxiliary: Auxiliary) -> u64 {
    let widest = basis.values().iter().copied().max().unwrap_or(0);
    match auxiliary {
        Auxiliary::Standard if (DEFAULT_PRIME_BOUND..WIDE_PRIME_BOUND).contains(&widest) => WIDE_PRIME_BOUND,
        Auxiliary::Standard => DEFAULT_PRIME_BOUND,
        Auxiliary::LikeModulus => 1 << basis.moduli().iter().map(Modulus::bits).max().unwrap_or(0),
    }
}

/// The number of products of ciphertexts whose sum must fit the auxiliary basis.
fn capacity(auxiliary: Auxiliary) -> u64 {
    match auxiliary {
        Auxiliary::Standard => 256,
        Auxiliary::LikeModulus => 1,
    }
}

/// The largest usable primes of an auxiliary basis, searched as they are asked for.
struct Candidates<'a> {
    basis: &'a Basis,
    index: &'a RingIndex,
    t: u64,
    bound: u64,
    primes: Vec<u64>,
}

impl<'a> Candidates<'a> {
    fn new(basis: &'a Basis, index: &'a RingIndex, t: u64, bound: u64) -> Self {
        Self { basis, index, t, bound, primes: Vec::new() }
    }

    /// Returns the `count` largest usable primes: the first of however many were found.
    fn first(&mut self, count: usize) -> Result<&[u64], RingError> {
        if self.primes.len() < count {
            let find = |count| candidates(self.basis, self.index, self.t, self.bound, count);
            // The search asks for twice as many, so that it is not begun for each; where there are not as many, for
            // those that are needed.
            self.primes = find(2 * count).or_else(|_| find(count))?;
        }
        part("auxiliary prime", &self.primes, 0..count, self.primes.len())
    }
}

/// Finds the `count` largest usable primes: distinct from the q_i and coprime to t.
fn candidates(
    basis: &Basis,
    index: &RingIndex,
    t: u64,
    bound: u64,
    count: usize,
) -> Result<Vec<u64>, RingError> {
    let step = index.root_order();
    // Each q_i and t has at most eight of these primes, unless they are very small, as factors.
    let spare = 8 * (basis.len() + 1);
    let usable = |p: &u64| basis.values().iter().chain([&t]).all(|q| !q.is_multiple_of(*p));
    let primes = match primes_below(bound, step, count + spare) {
        Err(MathError::NotEnoughPrimes { found, .. }) => primes_below(bound, step, found)?,
        primes => primes?,
    };
    let primes: Vec<u64> = primes.into_iter().filter(usable).take(count).collect();
    if primes.len() < count {
        let found = primes.len();
        return Err(MathError::NotEnoughPrimes { bound, step, requested: count, found }.into());
    }
    Ok(primes)
}
