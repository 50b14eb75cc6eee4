//! Floor of a quotient, fastRNSFloor_q [BEHZ16, 4.3].

use sunzi_kernels::Modulus;
use sunzi_math::{mod_inv, mul_mod};

use crate::{Basis, RingError};

/// Returns the column that subtracts FastBconv(|a|_q, q, p) and divides by q: fastRNSFloor_q(a, p)·c for a factor c
/// is a·q^-1·c plus Σ y_i·(−q_i^-1·c), since (q/q_i)/q = 1/q_i modulo p.
///
/// The quotient is ⌊a/q⌋ − α with 0 ≤ α < k: off from ⌊a/q⌉ by k at most [BEHZ16, Lemma 5].
pub fn column(basis: &Basis, target: Modulus, factor: u64) -> Result<Vec<u64>, RingError> {
    let p = target.value();
    let entry = |&q: &u64| Ok(target.neg(mul_mod(mod_inv(q, p)?, factor, p)));
    basis.values().iter().map(entry).collect()
}
