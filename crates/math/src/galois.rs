//! The group (Z/m)* for m = 2n a power of two: ⟨3⟩ × ⟨−1⟩, of order n/2 times 2.
//!
//! The n plaintext slots form two rows of n/2. Slot i of the first row is the value at ζ^(3^i), slot i of
//! the second row at ζ^(−3^i): X → X^3 then rotates both rows by one, and X → X^(−1) swaps them.

use crate::{MathError, mod_pow};

/// Generator 3 of (Z/m)*/⟨−1⟩ for every m = 2^k.
pub const GENERATOR: u64 = 3;

fn check_index(m: u64) -> Result<(), MathError> {
    if !(4..=1 << 62).contains(&m) || !m.is_power_of_two() {
        return Err(MathError::OutOfRange {
            what: "ring index",
            expected: "a power of two from 4 to 2^62",
            got: m,
        });
    }
    Ok(())
}

/// Returns the exponent k for which X → X^k moves every row left by `steps` slots (negative: right).
///
/// # Errors
/// [`MathError::OutOfRange`] unless m is a power of two from 4 on.
pub fn rotation_exponent(steps: i64, m: u64) -> Result<u64, MathError> {
    check_index(m)?;
    let order = (m / 4).cast_signed();
    Ok(mod_pow(GENERATOR, steps.rem_euclid(order).cast_unsigned(), m))
}

/// Returns the exponent m − 1, for which X → X^k swaps the two rows.
///
/// # Errors
/// [`MathError::OutOfRange`] unless m is a power of two from 4 on.
pub fn conjugation_exponent(m: u64) -> Result<u64, MathError> {
    check_index(m)?;
    Ok(m - 1)
}

/// Returns the exponents e of the slots in order: slot i holds the value at ζ^e, e = 3^i for i < n/2, then −3^(i−n/2).
///
/// # Errors
/// [`MathError::OutOfRange`] unless m is a power of two from 4 to 2^32.
pub fn slot_exponents(m: u64) -> Result<Vec<u64>, MathError> {
    check_index(m)?;
    if m > 1 << 32 {
        return Err(MathError::OutOfRange { what: "ring index", expected: "at most 2^32", got: m });
    }
    let half = (m / 4) as usize;
    let row: Vec<u64> = std::iter::successors(Some(1_u64), |e| Some(e.wrapping_mul(GENERATOR) & (m - 1)))
        .take(half)
        .collect();
    Ok(row.iter().copied().chain(row.iter().map(|e| m - e)).collect())
}

/// Returns the slot at which exponent e stands: the discrete logarithm inverse to [`slot_exponents`].
///
/// # Errors
/// [`MathError::OutOfRange`] for a bad m or an e that is even or not below m.
pub fn slot_of_exponent(e: u64, m: u64) -> Result<u64, MathError> {
    check_index(m)?;
    if e & 1 == 0 || e >= m {
        return Err(MathError::OutOfRange {
            what: "exponent",
            expected: "odd and below the ring index",
            got: e,
        });
    }
    // 3^i is 1 or 3 modulo 8 and −3^i is 7 or 5: that tells the row (modulo 4 below m = 8).
    let negative = if m >= 8 { e & 4 != 0 } else { e & 2 != 0 };
    let target = if negative { m - e } else { e };
    let mut log = 0_u64;
    let mut power = 1_u64;
    // Bit by bit: 3^(2^b) = 1 + 2^(b+2)·odd (b ≥ 1), so each bit of the logarithm fixes one more bit of e.
    let mut step = GENERATOR;
    let mut bit = 0_u32;
    while power != target && (1_u64 << bit) < m {
        let mask = if bit == 0 { 7 } else { (8_u64 << bit) - 1 } & (m - 1);
        if power & mask != target & mask {
            power = power.wrapping_mul(step) & (m - 1);
            log |= 1 << bit;
        }
        step = step.wrapping_mul(step) & (m - 1);
        bit += 1;
    }
    Ok(if negative { log + m / 4 } else { log })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_list_every_unit_once() {
        for m in [4_u64, 8, 16, 128, 4096] {
            let exponents = slot_exponents(m).unwrap();
            let mut sorted = exponents.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..m / 2).map(|i| 2 * i + 1).collect::<Vec<_>>());
            for (slot, &e) in exponents.iter().enumerate() {
                assert_eq!(slot_of_exponent(e, m).unwrap(), slot as u64, "m {m} e {e}");
            }
        }
    }

    #[test]
    fn rotations_move_rows_and_conjugation_swaps_them() {
        let m = 64;
        let half = 16;
        let exponents = slot_exponents(m).unwrap();
        for steps in [-17_i64, -16, -1, 0, 1, 5, 15, 16, i64::MAX, i64::MIN] {
            let k = rotation_exponent(steps, m).unwrap();
            for (slot, &e) in exponents.iter().enumerate() {
                // The value of a(X^k) at ζ^e is the value of a at ζ^(ke).
                let source = slot_of_exponent(e * k % m, m).unwrap() as usize;
                let column = (slot as i64 + steps.rem_euclid(half)).rem_euclid(half) as usize;
                assert_eq!(source, slot / 16 * 16 + column);
            }
        }
        let k = conjugation_exponent(m).unwrap();
        for (slot, &e) in exponents.iter().enumerate() {
            assert_eq!(slot_of_exponent(e * k % m, m).unwrap() as usize, (slot + 16) % 32);
        }
    }

    #[test]
    fn refuses_other_indices() {
        for m in [0, 1, 2, 3, 12, 1 << 63] {
            assert!(rotation_exponent(1, m).is_err() && slot_exponents(m).is_err());
            assert!(slot_of_exponent(1, m).is_err() && conjugation_exponent(m).is_err());
        }
        assert!(slot_of_exponent(2, 16).is_err() && slot_of_exponent(17, 16).is_err());
        assert!(slot_exponents(1 << 40).is_err());
    }
}
