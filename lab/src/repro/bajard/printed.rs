//! The values printed in `[BEHMSZ17]`. Digits that its archived text lost are missing.

/// One row of Tables 1 and 2 of `[BEHMSZ17]`.
pub(super) struct Reductions {
    pub(super) m: u64,
    pub(super) n: u64,
    pub(super) alpha: u64,
    /// Number of slots, deg Q_sp, Hamming weight, log2 A and log2 N of the row.
    pub(super) sizes: [Option<u64>; 5],
    /// Theoretical speed-up of `[BEHMSZ17, Alg. 2]`, in Table 1.
    pub(super) sparse: Option<f64>,
    /// Theoretical speed-up of `[BEHMSZ17, Alg. 3]`, in Table 2.
    pub(super) montgomery: f64,
}

/// Tables 1 and 2 of `[BEHMSZ17]`: m, n, α; slots, deg Q_sp, Hamming weight, log2 A, log2 N; speed-ups. 0
/// stands for what is not legible.
const LINES: [([u64; 3], [u64; 5], [f64; 2]); 6] = [
    ([3855, 2048, 7], [128, 2056, 7, 0, 12], [0.0, 2.62]),
    ([4369, 4096, 15], [256, 4112, 17, 0, 13], [0.0, 2.62]),
    ([13107, 8192, 545], [0, 8738, 0, 11, 0], [0.0, 2.63]),
    ([21845, 16384, 1091], [1024, 17476, 5, 12, 15], [1.86, 2.63]),
    ([32767, 27000, 1085], [0, 0, 0, 12, 0], [0.0, 2.63]),
    ([65535, 32768, 2183], [2048, 34952, 7, 13, 16], [1.85, 2.63]),
];

/// The rows of Tables 1 and 2 of `[BEHMSZ17]`.
pub(super) fn reductions() -> impl Iterator<Item = Reductions> {
    LINES.into_iter().map(|([m, n, alpha], sizes, [sparse, montgomery])| Reductions {
        m,
        n,
        alpha,
        sizes: sizes.map(|size| (size > 0).then_some(size)),
        sparse: (sparse > 0.0).then_some(sparse),
        montgomery,
    })
}

/// One row of Table 3 of `[BEHMSZ17]`: theoretical depths, and observed ones.
#[derive(Clone, Copy)]
pub(super) struct Depths {
    pub(super) m: u64,
    /// Number of 62-bit moduli in a row of Table 3 of `[BEHMSZ17]`.
    pub(super) moduli: usize,
    /// Norms ‖M‖ and ‖M⁻¹‖ of Montgomery's factor, and δ_R/n.
    pub(super) norms: [u64; 3],
    /// Theoretical depths of BGV, BGV with Montgomery, FV, FV with Montgomery.
    pub(super) theory: [u64; 4],
    pub(super) observed: [u64; 4],
}

const fn depths(m: u64, moduli: usize, norms: [u64; 3], theory: [u64; 4], observed: [u64; 4]) -> Depths {
    Depths { m, moduli, norms, theory, observed }
}

/// Rows of Table 3 of `[BEHMSZ17]`.
pub(super) const DEPTHS: [Depths; 5] = [
    depths(4369, 2, [1, 1, 35], [1, 1, 1, 1], [1, 1, 4, 3]),
    depths(13107, 5, [2, 1, 205], [4, 4, 6, 4], [4, 4, 17, 10]),
    depths(21845, 11, [2, 1, 739], [10, 6, 13, 8], [10, 10, 40, 22]),
    depths(32767, 18, [1, 9, 2621], [8, 7, 19, 12], [17, 17, 66, 39]),
    depths(65535, 22, [4, 1, 9886], [7, 7, 22, 14], [21, 21, 80, 45]),
];
