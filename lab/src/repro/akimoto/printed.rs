//! The values printed in Tables 1 and 2 of `[AS19]`, section 5. N = 2^16, q_0 ≈ 2^61, q_i ≈ 2^55, L = 32, h =
//! 64, all slots, an Intel Xeon E5-4627 v3 at 2.6 GHz.

/// log2 of the ring degree N in `[AS19]`.
pub(super) const LOG2_DEGREE: u32 = 16;
/// log2 of the first modulus q_0 and of the other moduli q_i in `[AS19]`.
pub(super) const FIRST_BITS: u32 = 61;
pub(super) const SCALE_BITS: u32 = 55;
/// Depth L in Tables 1 and 2 and in Figure 2 of `[AS19]`, and in Figure 1.
pub(super) const DEPTH: usize = 32;
pub(super) const FIGURE1_LEVEL: usize = 16;
/// Bits of precision, and levels, after bootstrapping `[AS19, 5.1]`.
pub(super) const PRECISION_BITS: f64 = 11.0;
pub(super) const LEVELS_LEFT: u64 = 7;

/// Table 1 of `[AS19]`: scheme, and milliseconds on one thread of Add, CMult, Mult, Rescale, LeftRot,
/// Bootstrapping.
pub(super) const TABLE1: [(&str, [f64; 6]); 2] = [
    (HEAAN, [34.743, 31.385, 8956.36, 10.563, 3854.39, 494_082.0]),
    (FULL_RNS, [57.59, 97.25, 3246.3, 460.39, 3018.38, 224_006.0]),
];

/// Names of the two schemes of `[AS19]`; the second computes with residues, as Sunzi does.
pub(super) const HEAAN: &str = "HEAAN";
pub(super) const FULL_RNS: &str = "FullRNS-HEAAN";

/// Table 2 of `[AS19]`: scheme, strategy of sharing work, threads; milliseconds of a bootstrapping, and for
/// each of 2^15 slots.
pub(super) const TABLE2: [(&str, &str, u64, [f64; 2]); 6] = [
    (HEAAN, "None", 1, [490_445.0, 14.97]),
    (HEAAN, "NTL", 32, [132_281.0, 4.04]),
    (FULL_RNS, "None", 1, [224_006.0, 6.84]),
    (FULL_RNS, "Coefficient-wise", 32, [131_247.0, 4.01]),
    (FULL_RNS, "Modulus-wise", 32, [38_098.0, 1.16]),
    (FULL_RNS, "Coef&Mod-wise", 32, [30_034.0, 0.92]),
];

/// Numbers of products and of rotations at the highest level that a bootstrapping amounts to, by both rows of Table 1 of `[AS19]`: its text
/// says that these take most of the time.
pub(super) fn mix() -> [f64; 2] {
    let [[a, b, x], [c, d, y]] = TABLE1.map(|(_, row)| [row[2], row[4], row[5]]);
    let determinant = a * d - b * c;
    [(x * d - b * y) / determinant, (a * y - c * x) / determinant]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mix_gives_both_printed_bootstrappings() {
        let [products, rotations] = mix();
        for (scheme, row) in TABLE1 {
            let sum = products * row[2] + rotations * row[4];
            assert!((sum / row[5] - 1.0).abs() < 1e-9, "{scheme}");
        }
        assert!((products - 43.2).abs() < 0.1 && (rotations - 27.7).abs() < 0.1, "{products} {rotations}");
    }

    #[test]
    fn amortised_times_are_those_of_2_15_slots() {
        for (_, parallel, _, [milliseconds, amortised]) in TABLE2 {
            assert!((milliseconds / 32768.0 - amortised).abs() < 0.006, "{parallel}");
        }
        let [_, (_, full_rns)] = TABLE1;
        assert_eq!(full_rns[5], TABLE2[2].3[0]);
    }
}
