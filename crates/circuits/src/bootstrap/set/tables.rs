//! Sets for tables of messages modulo 2^w.

use sunzi_ckks::LevelRange;

use super::{Chain, Order, Set};
use crate::bootstrap::eval_mod::{ApproximationForm, EvalModParameters};
use crate::bootstrap::functional::InterpolationOrder;

/// Sets for tables of 1, 2, … bits: name, order of the tables, log2 of the scales of tables and of SlotsToCoeffs, digits of key switching. Up to 8 bits scales are as
/// small as the noise of results allows that go through another table; for more they are as large as the security limit allows. Digits
/// are the fewest.
const SETS: [(&str, InterpolationOrder, [u32; 2], usize); 10] = [
    ("n16-table-1", InterpolationOrder::First, [40, 40], 1),
    ("n16-table-2", InterpolationOrder::First, [40, 40], 1),
    ("n16-table-3", InterpolationOrder::First, [40, 40], 1),
    ("n16-table-4", InterpolationOrder::First, [40, 42], 2),
    ("n16-table-5", InterpolationOrder::First, [44, 46], 2),
    ("n16-table-6", InterpolationOrder::First, [47, 46], 2),
    ("n16-table-7", InterpolationOrder::First, [50, 48], 3),
    ("n16-table-8", InterpolationOrder::First, [54, 50], 4),
    ("n16-table-9", InterpolationOrder::First, [56, 50], 6),
    ("n16-table-10", InterpolationOrder::Third, [50, 46], 6),
];

impl Set {
    /// Set for tables of messages modulo 2^w at full packing, 2^16 messages in a ciphertext, for w from 1 to 10: 128 bits of security at n = 2^16. `None` for
    /// another w.
    ///
    /// Results have a level more than another table takes. Up to 8 bits their noise is so small that another table of the set removes it again, for ever; bounds on
    /// results of 9 bits double about every second table, and those of 10 bits go to smaller tables or are decrypted: the modulus has no more room. x = m/p + I is beyond the range of the
    /// exponential with probability 2^-131 in any slot.
    ///
    /// ```
    /// use sunzi_circuits::bootstrap::Set;
    ///
    /// let set = Set::for_tables(8).expect("8 bits are among those possible");
    /// assert_eq!(set.to_string(), "n16-table-8");
    /// assert_eq!(set.tables.map(|range| range.levels), Some(8));
    /// assert!(set.log2_failure(1 << 15) < -128.0);
    /// ```
    #[must_use]
    pub fn for_tables(bits: usize) -> Option<Self> {
        let &(name, order, [scale_bits, low], digits) = SETS.get(bits.checked_sub(1)?)?;
        let tables = LevelRange { levels: order.depth(1 << bits), scale_bits };
        let low = LevelRange { levels: 4, scale_bits: low };
        Some(Self { name, digits, ..Self::of_tables(tables, low) })
    }

    /// Set for [integers](crate::integers) in digits of 4 bits, 2^16 integers in as many ciphertexts as they have digits: 128 bits of security at n = 2^16. Tables of 4
    /// bits have third order, and results have two levels more than another table takes: one for a product, one for carries. There are keys of rotations of results by all
    /// powers of two.
    ///
    /// ```
    /// use sunzi_circuits::bootstrap::Set;
    ///
    /// let set = Set::for_integers();
    /// assert_eq!(Set::named("n16-integer"), Some(set.clone()));
    /// assert_eq!(set.residual.levels, set.lowest_level() + 2);
    /// assert!(set.log2_failure(1 << 15) < -128.0);
    /// ```
    #[must_use]
    pub fn for_integers() -> Self {
        let tables = LevelRange { levels: InterpolationOrder::Third.depth(16), scale_bits: 50 };
        let low = LevelRange { levels: 5, scale_bits: 50 };
        Self { name: "n16-integer", digits: 2, ..Self::of_tables(tables, low) }
    }

    /// Returns a small and INSECURE set for tests, with the levels of that [for integers](Self::for_integers).
    #[must_use]
    pub fn insecure_for_integers(log2_degree: u32) -> Self {
        let levels = InterpolationOrder::Third.depth(16);
        let small = Self::insecure_for_tables(log2_degree, levels);
        let low = LevelRange { levels: 5, ..small.residual };
        Self { residual: low, ..small }
    }

    /// Returns a small and INSECURE set for tests, with n = 2^`log2_degree` and these levels of tables, prefixes of moduli, and a key switch back from the sparse
    /// secret.
    #[must_use]
    pub fn insecure_for_tables(log2_degree: u32, levels: usize) -> Self {
        let tables = LevelRange { levels, scale_bits: 45 };
        let small = Self::insecure_for_tests(log2_degree);
        let low = LevelRange { levels: 4, ..small.residual };
        let eval_mod = EvalModParameters { doublings: 3, ..Self::of_tables(tables, low).eval_mod };
        Self {
            order: Order::First,
            eval_mod_bits: 56,
            eval_mod,
            tables: Some(tables),
            residual: low,
            message_bits: 1,
            ..small
        }
    }

    /// Returns the set at n = 2^16 with these levels of tables, and these below.
    fn of_tables(tables: LevelRange, low: LevelRange) -> Self {
        // Roundings grow in the exponential by 2^9 and a little; |E| = 1 at the scale of tables.
        Self {
            first_bits: low.scale_bits + 3,
            chain: Chain::Sets,
            residual: low,
            slots_to_coeffs: LevelRange { levels: 3, ..low },
            eval_mod_bits: tables.scale_bits + 8,
            eval_mod: EvalModParameters {
                form: ApproximationForm::JacobiAnger { degree: 31 },
                doublings: if tables.levels > 8 { 4 } else { 3 },
                range: 15,
                ratio_bits: 1.0,
                weight: 32,
            },
            tables: Some(tables),
            coeffs_to_slots: LevelRange { levels: 3, scale_bits: 44 },
            order: Order::First,
            message_bits: 1,
            ..Self::fast_128()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_width_has_a_secure_set() {
        for bits in 1..=SETS.len() {
            let set = Set::for_tables(bits).unwrap();
            let parameters = set.parameters().unwrap();
            assert!(parameters.log2_key_modulus() <= 1746.5 && set.log2_failure(1 << 15) < -128.0);
            let possible = |digits: &usize| Set { digits: *digits, ..set.clone() }.parameters().is_ok();
            assert_eq!((1..=set.digits).find(possible), Some(set.digits), "{set}");
            assert_eq!(Set::named(&set.to_string()), Some(set));
        }
        assert!(Set::for_tables(0).is_none() && Set::for_tables(11).is_none());
    }
}
