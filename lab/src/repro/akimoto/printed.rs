//! What the paper prints: Tables 1 and 2, of `[AS19]`, section 5. N = 2^16, q_0 ≈ 2^61, q_i ≈ 2^55, L = 32, h = 64, all slots,
//! an Intel Xeon E5-4627 v3 at 2.6 GHz.

use sunzi_ring::Parallelism;

/// log2 N.
pub(super) const LOG2_DEGREE: u32 = 16;
/// log2 q_0 and log2 q_i.
pub(super) const FIRST_BITS: u32 = 61;
pub(super) const SCALE_BITS: u32 = 55;
/// L in Tables 1 and 2 and in Figure 2, and in Figure 1.
pub(super) const DEPTH: usize = 32;
pub(super) const FIGURE1_LEVEL: usize = 16;
/// Bits of precision, and levels, after bootstrapping: 5.1.
pub(super) const PRECISION_BITS: f64 = 11.0;
pub(super) const LEVELS_LEFT: u64 = 7;

/// One row of Table 1: milliseconds on one thread of Add, CMult, Mult, Rescale, LeftRot, Bootstrapping.
pub(super) struct Times {
    pub(super) scheme: &'static str,
    pub(super) milliseconds: [f64; 6],
}

/// Table 1.
pub(super) const TABLE1: [Times; 2] = [
    Times { scheme: "HEAAN", milliseconds: [34.743, 31.385, 8956.36, 10.563, 3854.39, 494_082.0] },
    Times { scheme: "FullRNS-HEAAN", milliseconds: [57.59, 97.25, 3246.3, 460.39, 3018.38, 224_006.0] },
];

/// One row of Table 2: a bootstrapping, and its time for each of 2^15 slots.
pub(super) struct Strategy {
    pub(super) scheme: &'static str,
    /// As the paper calls it.
    pub(super) parallel: &'static str,
    /// What is the same here; none where nothing is.
    pub(super) ours: Option<Parallelism>,
    pub(super) threads: u64,
    pub(super) milliseconds: f64,
    pub(super) amortised: f64,
}

const fn row(
    scheme: &'static str,
    parallel: &'static str,
    ours: Option<Parallelism>,
    threads: u64,
    [milliseconds, amortised]: [f64; 2],
) -> Strategy {
    Strategy { scheme, parallel, ours, threads, milliseconds, amortised }
}

/// The two schemes.
const HEAAN: &str = "HEAAN";
const FULL_RNS: &str = "FullRNS-HEAAN";

/// Table 2.
pub(super) const TABLE2: [Strategy; 6] = [
    row(HEAAN, "None", None, 1, [490_445.0, 14.97]),
    row(HEAAN, "NTL", None, 32, [132_281.0, 4.04]),
    row(FULL_RNS, "None", Some(Parallelism::Collapsed), 1, [224_006.0, 6.84]),
    row(FULL_RNS, "Coefficient-wise", Some(Parallelism::CoefficientWise), 32, [131_247.0, 4.01]),
    row(FULL_RNS, "Modulus-wise", Some(Parallelism::ModulusWise), 32, [38_098.0, 1.16]),
    row(FULL_RNS, "Coef&Mod-wise", Some(Parallelism::Collapsed), 32, [30_034.0, 0.92]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amortised_times_are_those_of_2_15_slots() {
        for row in TABLE2 {
            assert!((row.milliseconds / 32768.0 - row.amortised).abs() < 0.006, "{}", row.parallel);
        }
        let [_, full_rns] = TABLE1;
        assert_eq!(full_rns.milliseconds[5], TABLE2[2].milliseconds);
    }
}
