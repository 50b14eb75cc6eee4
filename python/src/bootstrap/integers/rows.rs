//! Results across the rows of a batch of encrypted integers.

use sunzi_circuits::integers::{IntegerError, IntegerEvaluator, IntegerKind, Integers, RowEvaluator};

/// Computes across the rows of a batch; what is the same in all rows is one integer.
pub(super) fn across(
    e: &RowEvaluator<'_>,
    operation: &str,
    a: &Integers,
    k: usize,
) -> Result<Vec<Integers>, IntegerError> {
    let one = |a: Integers| vec![a.first(1)];
    Ok(match operation {
        "sum" => one(e.sum(a)?),
        "min" => one(e.min(a)?),
        "max" => one(e.max(a)?),
        "kth" => one(e.kth(a, k)?),
        "argmin" => e.argmin(a)?.map(|a| a.first(1)).into(),
        "argmax" => e.argmax(a)?.map(|a| a.first(1)).into(),
        "ranks" => vec![e.ranks(a)?],
        _ => vec![e.sorted(a)?],
    })
}

/// Returns integers by their places in ascending order, the first of them in the first slot, by one search for all.
pub(super) fn at_places(
    e: &IntegerEvaluator<'_>,
    a: &Integers,
    places: &[usize],
) -> Result<Integers, IntegerError> {
    let (rows, count) = (RowEvaluator::new(*e), places.len());
    let bit = IntegerKind::new(4, false).unwrap_or(IntegerKind::U8);
    let mut different = places.to_vec();
    different.sort_unstable();
    different.dedup();
    let mut parts = Vec::with_capacity(different.len());
    for (place, found) in different.iter().copied().zip(rows.kth_many(a, &different)?) {
        // What is the same in all slots is so in as many as are asked for.
        let found = found.read_as(count);
        let own: Vec<i128> = places.iter().map(|&other| i128::from(other == place)).collect();
        if different.len() == 1 {
            return Ok(found);
        }
        let own = e.clear_batch(&found, bit, &own)?;
        parts.push(e.masked(&e.conditions_of(&own)?, &found)?);
    }
    let terms: Vec<(i128, &Integers)> = parts.iter().map(|part| (1, part)).collect();
    e.linear_combination(&terms, 0, a.kind(), a.bounds())
}
