//! Which automorphisms move the 2 × n/2 slots.

/// The exponent k of the automorphism X → X^k that moves slot i + `steps` of each row to slot i
/// in a power-of-two ring of degree `degree`: 3^steps modulo 2n. 1, the identity, for any other degree.
#[must_use]
pub fn row_rotation_exponent(degree: usize, steps: i64) -> u64 {
    // Fails for what is no degree: below 2, where there is nothing to rotate, or no power of two.
    sunzi_math::rotation_exponent(steps, index(degree)).unwrap_or(1)
}

/// The exponent of the automorphism that swaps the two rows: −1 modulo 2n. 1, the identity, for what is no
/// power of two.
#[must_use]
pub fn row_swap_exponent(degree: usize) -> u64 {
    sunzi_math::conjugation_exponent(index(degree)).unwrap_or(1)
}

/// m = 2n; u64::MAX, which is no index, for a degree beyond the word.
fn index(degree: usize) -> u64 {
    (degree as u64).saturating_mul(2)
}

/// The exponents that sums over segments of `length` slots need; for `length` = n, those of the sum of all slots.
#[must_use]
pub fn slot_sum_exponents(degree: usize, length: usize) -> Vec<u64> {
    let row = degree / 2;
    let mut exponents: Vec<u64> = std::iter::successors(Some(1_usize), |step| step.checked_mul(2))
        .take_while(|&step| step < length.min(row))
        .map(|step| row_rotation_exponent(degree, step as i64))
        .collect();
    if length > row {
        exponents.push(row_swap_exponent(degree));
    }
    exponents
}
