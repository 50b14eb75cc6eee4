//! X → X^k in both domains.

use std::collections::HashMap;
use std::sync::{Arc, RwLock};

use sunzi_kernels::{Modulus, evaluation_exponent};

use crate::RingError;

/// Tables kept; more exponents than this are recomputed, so that no caller can make a ring grow without end.
const CACHED_TABLES: usize = 64;

/// By (evaluation domain, exponent).
type Tables = HashMap<(bool, u64), Arc<[u32]>>;

/// The index tables of a ring, made at first use.
#[derive(Default)]
pub(crate) struct AutomorphismTables(RwLock<Tables>);

impl AutomorphismTables {
    /// The table of exponent k, an odd number below 2n.
    pub(crate) fn get(&self, n: usize, k: u64, evaluation: bool) -> Arc<[u32]> {
        if let Ok(tables) = self.0.read()
            && let Some(table) = tables.get(&(evaluation, k))
        {
            return Arc::clone(table);
        }
        let table: Arc<[u32]> =
            if evaluation { value_sources(n, k) } else { coefficient_sources(n, k) }.into();
        if let Ok(mut tables) = self.0.write()
            && tables.len() < CACHED_TABLES
        {
            tables.insert((evaluation, k), Arc::clone(&table));
        }
        table
    }
}

/// Position j of the image takes coefficient i, negated if the low bit of entry j = 2i + sign says so.
fn coefficient_sources(n: usize, k: u64) -> Vec<u32> {
    let mut sources = vec![0; n];
    let mask = 2 * n - 1;
    let mut exponent = 0_usize;
    for i in 0..n {
        if let Some(source) = sources.get_mut(exponent % n) {
            *source = (2 * i + usize::from(exponent >= n)) as u32;
        }
        exponent = (exponent + k as usize) & mask;
    }
    sources
}

/// The value of a(X^k) at ψ^e is the value of a at ψ^(ke).
fn value_sources(n: usize, k: u64) -> Vec<u32> {
    let mut position_of = vec![0_u32; n];
    for position in 0..n {
        if let Some(entry) = position_of.get_mut(evaluation_exponent(n, position) / 2) {
            *entry = position as u32;
        }
    }
    let mask = 2 * n - 1;
    (0..n)
        .map(|position| {
            let source = evaluation_exponent(n, position).wrapping_mul(k as usize) & mask;
            position_of.get(source / 2).copied().unwrap_or(0)
        })
        .collect()
}

/// The coefficients of a(X^k) modulo q; constant time in the coefficients.
pub(crate) fn apply_to_coefficients(
    q: Modulus,
    out: &mut [u64],
    input: &[u64],
    sources: &[u32],
) -> Result<(), RingError> {
    for (out, &source) in out.iter_mut().zip(sources) {
        let value = input.get((source >> 1) as usize).copied().unwrap_or(0);
        // −value = q − value unless value is 0, chosen by mask.
        let negated = q.value().wrapping_sub(value) & u64::from(value != 0).wrapping_neg();
        let sign = u64::from(source & 1).wrapping_neg();
        *out = value ^ ((value ^ negated) & sign);
    }
    Ok(())
}
