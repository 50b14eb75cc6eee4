//! Table 1 of `[TSKJ20]`: components of q.

use sunzi_fermat::FermatModulus;
use sunzi_math::DEFAULT_PRIME_BOUND;

use crate::repro::{Result, Row, Table};

/// Bits of a machine word.
const WORD: u64 = 64;

/// Numbers of components by the formulas of `[TSKJ20, 4.4]`, beside those that there are.
pub(super) fn compute() -> Result<Table> {
    let mut rows = Vec::new();
    for log2 in 6..=14 {
        let bits = 1_u64 << log2;
        let regular = bits.div_ceil(WORD);
        let components = FermatModulus::new(bits as usize)?.level() as u64;
        let printed = 1 + u64::from(regular.ilog2());
        let row = Row::default().key("bit(q)", bits).printed("k optimised", printed, Some(components));
        let row = row.ours("k regular, words of 64 bits", regular);
        rows.push(row.ours("k regular, our primes", primes(bits)));
    }
    Ok(Table::new("Table 1", "components of q; the paper's by the formula of 4.4", rows))
}

/// Number of default primes that have `bits` bits together.
pub(super) fn primes(bits: u64) -> u64 {
    (bits as f64 / (DEFAULT_PRIME_BOUND as f64).log2()).ceil() as u64
}
