//! Auxiliary basis B_sk = B ∪ {m_sk} [BEHZ16, 4.2 and Prop. 2]: word-size primes, as for any other q.

use std::sync::Arc;

use num_bigint::BigUint;
use num_traits::{One, ToPrimitive};
use sunzi_kernels::NttPlan;
use sunzi_ring::{Backend, RingError};

use crate::FermatRing;

/// Number of products that can be summed before they are scaled.
const CAPACITY: u64 = 256;

/// Returns the primes of the auxiliary basis B, m_sk last, and the number of products that may be summed.
///
/// The primes satisfy eq. (14) of `[BEHZ16]`: λM > s·δt(q/2)(1 + ρ)² + 1/2 + k for s products, m_sk ≥ 2(|B| +
/// ⌈λ⌉), and ρ = k/m̃.
pub(crate) fn choose(
    ring: &FermatRing,
    t: u64,
    m_tilde_bits: u32,
) -> Result<(Vec<Arc<NttPlan>>, u64), RingError> {
    let k = ring.fermat_modulus().level() as u64;
    let m_tilde = BigUint::one() << m_tilde_bits;
    let lift = &m_tilde + k;
    // The bound is 2m̃²·(one product).
    let product = ring.modulus() * t * ring.degree() * &lift * &lift;
    let scale = BigUint::from(2_u32) * &m_tilde * &m_tilde;
    let shortest = product.bits().saturating_sub(scale.bits()) / 48;
    let mut size = shortest.saturating_sub(1).max(1) as usize;
    loop {
        let plans = ring.0.shared.plans.coprime_to(t, size + 1)?;
        let mut values = plans.iter().map(|plan| plan.modulus().value()).rev();
        let lambda = (values.next().unwrap_or(0) / 2).saturating_sub(size as u64);
        let room = values.fold(BigUint::from(lambda), |room, m| room * m);
        let slack = BigUint::from(k + 2);
        if room > slack {
            let products = ((room - slack) * &scale / &product).to_u64().unwrap_or(u64::MAX);
            if products >= CAPACITY {
                return Ok((plans, products));
            }
        }
        size += 1;
    }
}
