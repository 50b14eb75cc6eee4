//! The counts that `[KPZ21]` prints: Table 1, the totals of B.3 and their short forms in Table 4.
//!
//! Multiplications and floating-point operations are counted in units of n.

use super::reference::Counts;
use super::reference::key_switching::Scheme;

/// Counts of MultOld `[KPZ21, Table 1]`: Q of k moduli, P of k + 1.
pub(super) fn original(k: u64) -> Counts {
    Counts { transforms: 14 * k + 7, products: 10 * k * k + 26 * k + 9, floats: 10 * k + 3 }
}

/// Counts of MultNew `[KPZ21, Table 1]`: Q and P of k moduli.
pub(super) fn over_auxiliary(k: u64) -> Counts {
    Counts { transforms: 14 * k, products: 9 * k * k + 15 * k, floats: 7 * k }
}

/// Counts of MultNewLeveled `[KPZ21, Table 1]` at level ℓ of k, as printed.
pub(super) fn leveled(k: u64, l: u64) -> Counts {
    let products = 4 * k * l + 5 * l * l + 2 * k + 18 * l;
    Counts { transforms: 14 * l, products, floats: 2 * k + 5 * l }
}

/// Counts of BV key switching with w digits for each of ℓ residues.
pub(super) fn bv(scheme: Scheme, l: u64, w: u64) -> Counts {
    let around = if scheme == Scheme::Bfv { 2 } else { 1 };
    Counts { transforms: l * (l * w + around), products: 2 * w * l * l, floats: 0 }
}

/// Counts of GHS key switching with ℓ moduli of Q and k of P `[KPZ21, B.3]`.
pub(super) fn ghs(scheme: Scheme, l: u64, k: u64) -> Counts {
    let products = match scheme {
        Scheme::Bfv => 3 * l * k + 5 * l + 4 * k,
        Scheme::Bgv { .. } => 3 * l * k + 7 * l + 6 * k,
    };
    Counts { transforms: 3 * (l + k), products, floats: 0 }
}

/// Counts of GHS key switching with as many moduli in P as in Q `[KPZ21, Table 4]`.
pub(super) fn ghs_short(scheme: Scheme, l: u64) -> Counts {
    let constant = if scheme == Scheme::Bfv { 9 } else { 13 };
    Counts { transforms: 6 * l, products: l * (3 * l + constant), floats: 0 }
}

/// Counts of hybrid key switching with d digits of α moduli each `[KPZ21, B.3]`.
pub(super) fn hybrid(scheme: Scheme, l: u64, k: u64, d: u64, alpha: u64) -> Counts {
    match scheme {
        Scheme::Bfv => Counts {
            transforms: 2 * (l + k) + d * (l + k),
            products: l * l + (3 * k + 2 * d + 3) * l + 2 * d * k + 2 * k - alpha * l,
            floats: 0,
        },
        Scheme::Bgv { .. } => Counts {
            transforms: 3 * l + 2 * k + d * (l + k - alpha),
            products: l * l + (3 * k + 2 * d + 5) * l + 2 * d * k + 4 * k - alpha * l,
            floats: 0,
        },
    }
}

/// Counts of hybrid key switching with P as wide as a digit, as printed in `[KPZ21, Table 4]`.
pub(super) fn hybrid_short(scheme: Scheme, l: u64, d: u64, alpha: u64) -> Counts {
    match scheme {
        Scheme::Bfv => Counts {
            transforms: 2 * l + alpha * (d * d + 3),
            products: (l + 2 * alpha + 2 * d + 5) * l + 2 * alpha,
            floats: 0,
        },
        Scheme::Bgv { .. } => Counts {
            transforms: 3 * l + alpha * (d * d + 2),
            products: (l + 2 * alpha + 2 * d + 7) * l + 4 * alpha,
            floats: 0,
        },
    }
}

/// Corrected forms of the three formulas of `[KPZ21]` that do not hold as printed; equal to them elsewhere.
pub(super) mod corrected {
    use super::{Counts, Scheme};

    /// Corrected counts of MultNewLeveled: from Q to P_ℓ every one of the k residues is scaled, not ℓ of
    /// them: 2(k − ℓ) more.
    pub(crate) fn leveled(k: u64, l: u64) -> Counts {
        let printed = super::leveled(k, l);
        Counts { products: printed.products + 2 * (k - l), ..printed }
    }

    /// Corrected counts of hybrid key switching: d·α stands for ℓ and α·ℓ for the sum of squares of the
    /// digits' widths, which holds only if all digits are equal.
    pub(crate) fn hybrid(scheme: Scheme, l: u64, k: u64, widths: &[u64]) -> Counts {
        let d = widths.len() as u64;
        let squares: u64 = widths.iter().map(|w| w * w).sum();
        match scheme {
            Scheme::Bfv => Counts {
                transforms: 2 * (l + k) + d * (l + k),
                products: l * l + (3 * k + 2 * d + 3) * l + 2 * d * k + 2 * k - squares,
                floats: 0,
            },
            Scheme::Bgv { .. } => Counts {
                transforms: 3 * l + 2 * k + d * (l + k) - l,
                products: l * l + (3 * k + 2 * d + 5) * l + 2 * d * k + 4 * k - squares,
                floats: 0,
            },
        }
    }

    /// Corrected counts of hybrid key switching for BFV: 3ℓ + α(d² + 2) transforms; the printed 2ℓ + α(d² +
    /// 3) takes α for ℓ.
    pub(crate) fn hybrid_short(scheme: Scheme, l: u64, d: u64, alpha: u64) -> Counts {
        let printed = super::hybrid_short(scheme, l, d, alpha);
        match scheme {
            Scheme::Bfv => Counts { transforms: printed.transforms + l - alpha, ..printed },
            Scheme::Bgv { .. } => printed,
        }
    }
}
